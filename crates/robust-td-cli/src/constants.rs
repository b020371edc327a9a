//! Presents the constants that the theory of a problem is written in.

use robust_td_core::Problem;
use serde::Serialize;

use crate::text;

/// The constants of a problem, under the names and in the order of the JSON output.
#[derive(Debug, Serialize)]
pub struct Constants<'a> {
    states: usize,
    dimension: usize,
    discount: f64,
    phi_inf: f64,
    r_inf: f64,
    omega: f64,
    kappa: f64,
    stationary: &'a [f64],
    theta_star: &'a [f64],
    theta_star_norm: f64,
    f_zero: f64,
    lambda2: Option<f64>,
    t_mix: Option<u64>,
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

    /// The same as aligned lines.
    pub fn table(&self) -> String {
        let smallest = self
            .stationary
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let largest = self.stationary.iter().copied().fold(0.0, f64::max);
        let mut rows = vec![
            (
                "size",
                format!(
                    "{}, {}",
                    text::count(self.states, "state"),
                    text::count(self.dimension, "feature")
                ),
            ),
            ("discount", self.discount.to_string()),
            (
                "pi",
                format!(
                    "from {} to {} (stationary distribution)",
                    text::number(smallest),
                    text::number(largest)
                ),
            ),
            (
                "phi_inf, r_inf",
                format!(
                    "{}, {} (largest feature norm, largest |reward|)",
                    text::number(self.phi_inf),
                    text::number(self.r_inf)
                ),
            ),
            (
                "omega, kappa",
                format!(
                    "{}, {} (smallest eigenvalue and condition number of Phi' D Phi)",
                    text::number(self.omega),
                    text::number(self.kappa)
                ),
            ),
            ("theta*", text::list(self.theta_star)),
            ("|theta*|", text::number(self.theta_star_norm)),
            (
                "f(0)",
                format!(
                    "{} (what doing nothing achieves)",
                    text::number(self.f_zero)
                ),
            ),
        ];
        if let (Some(lambda2), Some(t_mix)) = (self.lambda2, self.t_mix) {
            rows.push((
                "mixing",
                format!("|lambda_2| = {lambda2:.6}, t_mix = {t_mix} (first t with dbar(t) <= 1/2)"),
            ));
        }
        text::definitions(&rows)
    }
}
