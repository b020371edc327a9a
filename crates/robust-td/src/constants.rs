//! Gathers the constants that the theory of a problem is written in.

use robust_td_core::Problem;
use robust_td_report::{Cell, Column, Table, Text};
use serde::Serialize;

/// The constants of a problem, under the names and in the order of the JSON output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Constants<'a> {
    /// Number of states.
    pub states: usize,
    /// Number of features.
    pub dimension: usize,
    /// The discount.
    pub discount: f64,
    /// The largest feature norm.
    pub phi_inf: f64,
    /// The largest absolute reward.
    pub r_inf: f64,
    /// Smallest eigenvalue of Phi' D Phi.
    pub omega: f64,
    /// Condition number of Phi' D Phi.
    pub kappa: f64,
    /// The stationary distribution.
    pub stationary: &'a [f64],
    /// The TD fixed point.
    pub theta_star: &'a [f64],
    /// Its norm.
    pub theta_star_norm: f64,
    /// f(0), what doing nothing achieves.
    pub f_zero: f64,
    /// Modulus of the second eigenvalue, where it is known.
    pub lambda2: Option<f64>,
    /// The mixing time, where it is known.
    pub t_mix: Option<u64>,
}

impl<'a> Constants<'a> {
    /// The constants of a problem; `mixing` is `(|lambda_2|, t_mix)` where that is known.
    pub fn new(problem: &'a Problem, mixing: Option<(f64, u64)>) -> Self {
        Self {
            states: problem.states(),
            dimension: problem.dimension(),
            discount: problem.discount(),
            phi_inf: problem.phi_inf(),
            r_inf: problem.r_inf(),
            omega: problem.omega(),
            kappa: problem.kappa(),
            stationary: problem.stationary(),
            theta_star: problem.theta_star(),
            theta_star_norm: problem.theta_star_norm(),
            f_zero: problem.f_zero(),
            lambda2: mixing.map(|(lambda2, _)| lambda2),
            t_mix: mixing.map(|(_, t_mix)| t_mix),
        }
    }
}

/// The constants of problems as a table of a page, each problem under its name.
pub fn constants_table(problems: &[(String, Constants<'_>)]) -> Table {
    let row = |(name, constants): &(String, Constants<'_>)| {
        vec![
            Cell::word(name),
            Cell::number(Some(constants.omega)),
            Cell::number(Some(constants.kappa)),
            Cell::number(Some(constants.theta_star_norm.powi(2))),
            Cell::number(Some(constants.phi_inf.powi(2))),
            Cell::number(Some(constants.f_zero)),
            Cell::count(constants.t_mix),
            Cell::digits(constants.lambda2, 5),
        ]
    };
    Table {
        title: "Problem constants".into(),
        link: "Constants".into(),
        text: vec![
            Text::plain("ω and κ are the smallest eigenvalue and the condition number of Φ")
                .superscript("⊤")
                .upright("DΦ; φ")
                .subscript("∞")
                .upright(
                    " is the largest feature norm; f(0) is the suboptimality gap of the start, which every useful output must beat.",
                ),
        ],
        columns: vec![
            Column::words("problem"),
            Column::numbers("ω"),
            Column::numbers("κ"),
            Column::numbers(Text::plain("|θ*|").superscript("2")),
            Column::numbers(Text::plain("φ").subscript("∞").superscript("2")),
            Column::numbers("f(0)"),
            Column::numbers(Text::plain("t").subscript("mix")),
            Column::numbers(Text::plain("|λ").subscript("2").upright("|")),
        ],
        rows: problems.iter().map(row).collect(),
    }
}
