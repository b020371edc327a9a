//! Prints the result of an evaluation.

use robust_td_core::learner::DIVERGENCE_THRESHOLD;
use robust_td_data::{EvaluationReport, Warning};

use super::{choice, intervals, returns};
use crate::text;

/// The whole page.
pub fn page(report: &EvaluationReport) -> String {
    let mut rows = vec![
        (
            "algorithm",
            format!("{}, discount {}", report.algorithm, report.discount),
        ),
        (
            "data",
            format!(
                "{} from {}; {} without a successor, {} skipped",
                text::count(report.steps as usize, "transition"),
                text::count(report.rows as usize, "row"),
                text::count(report.left_out as usize, "row"),
                text::count(report.bad_rows as usize, "bad row")
            ),
        ),
        (
            "features",
            format!(
                "{}: dimension {}, norm at most {}",
                report.features,
                report.dimension,
                text::number(report.phi_inf)
            ),
        ),
        ("theta_bar", text::list(&report.theta_bar)),
        ("iterates", iterates(report)),
        (
            "TD error",
            format!(
                "mean {}, root mean square {}, largest {}",
                text::number(report.td_error.mean),
                text::number(report.td_error.rms),
                text::number(report.td_error.max)
            ),
        ),
    ];
    if let Some(residual) = report.residual {
        let value = text::number(residual);
        let meaning = "|mean of delta phi| on blocks not learned from yet; 0 at the TD fixed point";
        rows.push(("TD residual", format!("{value} ({meaning})")));
    }
    if let Some(choice) = &report.choice {
        rows.insert(1, ("constant", choice::summary(choice)));
    }
    if let Some(projections) = report.projections {
        rows.push(("projections", projections.to_string()));
    }
    if let Some(suggestion) = report.suggestion {
        rows.push(("suggestion", suggestion.into()));
    }
    if report.too_short {
        rows.push(("intervals", Warning::TooFewRows.to_string()));
    }
    rows.push(("seconds", format!("{:.2}", report.seconds)));
    let mut page = text::definitions(&rows);
    if let Some(choice) = &report.choice {
        page += &choice::table(choice);
    }
    if let Some(intervals) = &report.intervals {
        page += &intervals::table(intervals, &report.theta_bar);
    }
    if let Some(check) = &report.monte_carlo_check {
        page += &returns::page(check);
    }
    page
}

/// How far the iterates went.
fn iterates(report: &EvaluationReport) -> String {
    let largest = text::number(report.max_theta_norm_sq);
    match (report.solved, report.diverged_at) {
        // A solver has no step size to diverge with; a nearly singular matrix can make theta large for a while.
        (true, None) => {
            format!("none, solved directly: largest |theta|^2 so far {largest}")
        }
        (true, Some(step)) => format!(
            "none, solved directly: |theta|^2 reached {largest} and first exceeded {DIVERGENCE_THRESHOLD:e} at step \
                 {step}, where the matrix was nearly singular"
        ),
        (false, Some(step)) => format!("diverged at step {step}"),
        (false, None) => format!("bounded: largest |theta|^2 {largest}"),
    }
}
