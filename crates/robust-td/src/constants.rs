//! Builds the table of problem constants for a page.

use robust_td_core::Constants;
use robust_td_report::{Cell, Column, Table, Text};

/// The constants of problems as a table, each problem under its name.
pub fn constants_table(problems: &[(String, Constants)]) -> Table {
    let row = |(name, constants): &(String, Constants)| {
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
                    " is the largest feature norm; f(0) is the error of θ = 0, which every useful output must beat.",
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
