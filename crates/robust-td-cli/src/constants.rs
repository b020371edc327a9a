//! Prints the constants of a problem.

use robust_td::Constants;

use crate::text;

/// The constants as aligned lines.
pub fn table(constants: &Constants) -> String {
    let (smallest, largest) = constants.stationary_range();
    let mut rows = vec![
        (
            "size",
            format!(
                "{}, {}",
                text::count(constants.states, "state"),
                text::count(constants.dimension, "feature")
            ),
        ),
        ("discount", constants.discount.to_string()),
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
                text::number(constants.phi_inf),
                text::number(constants.r_inf)
            ),
        ),
        (
            "omega, kappa",
            format!(
                "{}, {} (smallest eigenvalue and condition number of Phi' D Phi)",
                text::number(constants.omega),
                text::number(constants.kappa)
            ),
        ),
        ("theta*", text::list(&constants.theta_star)),
        ("|theta*|", text::number(constants.theta_star_norm)),
        (
            "f(0)",
            format!(
                "{} (the error of theta = 0)",
                text::number(constants.f_zero)
            ),
        ),
    ];
    if let (Some(lambda2), Some(t_mix)) = (constants.lambda2, constants.t_mix) {
        rows.push((
            "mixing",
            format!("|lambda_2| = {lambda2:.6}, t_mix = {t_mix} (first t with dbar(t) <= 1/2)"),
        ));
    }
    text::definitions(&rows)
}
