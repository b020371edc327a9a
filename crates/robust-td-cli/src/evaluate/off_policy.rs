//! Prints the estimates of the value of a policy that was not followed.

use robust_td_data::{OffPolicyEstimate, OffPolicyReport, TargetKind};

use crate::text;

/// The table: one line per estimator.
pub fn page(report: &OffPolicyReport, confidence: f64) -> String {
    let percent = text::number(100.0 * confidence);
    let mut page =
        String::from("\nThe value of a policy that was not followed, by several estimators\n");
    let head = ["estimator", "value", "", "episodes", "effective"].map(String::from);
    let mut rows = vec![head];
    rows[0][2] = format!("{percent} % interval");
    rows.extend(report.estimates.iter().map(row));
    page += &text::columns(&rows);
    for note in notes(report) {
        page += &text::wrap("  ", 2, &note);
    }
    page
}

fn row(found: &OffPolicyEstimate) -> [String; 5] {
    let interval = match found.upper.is_finite() {
        true => format!(
            "{} to {}",
            text::number(found.lower),
            text::number(found.upper)
        ),
        false => "unknown".into(),
    };
    [
        found.method.name().into(),
        text::number(found.value),
        interval,
        found.episodes.to_string(),
        found
            .effective_sample_size
            .map_or("-".into(), |x| text::number((10.0 * x).round() / 10.0)),
    ]
}

fn notes(report: &OffPolicyReport) -> Vec<String> {
    let mut notes = vec![match report.target {
        TargetKind::Ratios => {
            "The policy is known by importance ratios only (rho); a doubly robust estimate needs actions.".to_owned()
        }
        TargetKind::Actions => {
            format!(
                "The policy is known by its actions, out of {}.",
                text::count(report.actions.len(), "action")
            )
        }
        _ => format!(
            "The policy is known by its probabilities of {}.",
            text::count(report.actions.len(), "action")
        ),
    }];
    notes.extend(report.unknown_intervals());
    match report.estimates.len() {
        0 | 1 => notes.push(
            "Importance sampling needs the probability of each logged action (behaviour_prob) or rho, and episodes to their end.".to_owned(),
        ),
        _ if report.target == TargetKind::Ratios => notes.push(
            "Effective: the number of episodes of the policy itself that would weigh as much. Least squares needs features that fit; importance sampling \
             needs none. Both need the right ratios."
                .to_owned(),
        ),
        _ => notes.push(
            "Effective: the number of episodes of the policy itself that would weigh as much. Least squares needs no propensities, but features that fit; \
             importance sampling needs no features, but propensities; doubly robust is right if either is."
                .to_owned(),
        ),
    }
    notes
}
