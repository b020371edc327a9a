//! Prints the confidence-interval section of the report.

use robust_td_data::{Uncertainty, Warning};

use crate::text;

/// The number of coordinates that a page shows.
const SHOWN: usize = 12;

/// The intervals, one line per coordinate, and how they were computed.
pub fn table(found: &Uncertainty, theta_bar: &[f64]) -> String {
    let percent = text::number(100.0 * found.confidence);
    let mut page = format!("\n{percent} % intervals ({})\n", found.meaning);
    for (j, x) in theta_bar.iter().enumerate().take(SHOWN) {
        let [x, low, high] = [*x, found.lower[j], found.upper[j]].map(text::number);
        page += &format!("  theta_{j:<4} {x:<12} {low} to {high}");
        if let (Some(_), Some(lstd)) = (&found.bootstrap, &found.lstd) {
            let own = lstd.theta.as_ref().map_or(f64::NAN, |theta| theta[j]);
            let [x, low, high] = [own, lstd.lower[j], lstd.upper[j]].map(text::number);
            page += &format!(" (least squares: {x}, {low} to {high})");
        }
        page.push('\n');
    }
    if theta_bar.len() > SHOWN {
        page += &format!("  ... {} in all; --json lists them\n", theta_bar.len());
    }
    for route in [&found.bootstrap, &found.lstd].into_iter().flatten() {
        let replicates = route
            .replicates
            .map_or(String::new(), |n| format!(", {n} replicates"));
        page += &format!(
            "{}{replicates}, blocks of {} transitions\n",
            route.method, route.block
        );
    }
    if let Some(ratio) = found.width_ratio {
        page += &format!(
            "ratio of widths, first to second: {}\n",
            text::number(ratio)
        );
    }
    if let Some(distance) = found.distance_from_lstd.filter(|d| d.is_finite()) {
        let distance = text::number(distance);
        page += &format!("theta_bar is at most {distance} standard errors from least squares\n");
    }
    for warning in found.warnings() {
        let first = match warning {
            Warning::OneRoute => "",
            _ => "Warning: ",
        };
        page += &text::wrap(first, 0, &warning.to_string());
    }
    page
}
