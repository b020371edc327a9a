//! Prints the comparison of feature maps.

use robust_td_data::{FeatureCandidate, FeatureChoice, Unit};

use crate::text::{self, number};

/// The choice in one line.
pub fn summary(choice: &FeatureChoice) -> String {
    let compared = (choice.candidates.iter()).filter(|candidate| candidate.error.is_some());
    format!(
        "{}, the simplest within one standard error of the best of {}",
        choice.chosen,
        text::count(compared.count(), "map")
    )
}

/// The table.
pub fn page(choice: &FeatureChoice) -> String {
    let mut page = String::from("\nWhich features? Predictions of held-out returns\n");
    let head = ["features", "number", "error", "difference", "stderr", ""];
    let mut rows = vec![head.map(String::from)];
    let compared = (choice.candidates.iter()).filter(|candidate| candidate.left_out.is_none());
    rows.extend(compared.map(row));
    page += &text::columns(&rows);
    for candidate in &choice.candidates {
        if let Some(why) = &candidate.left_out {
            page += &text::wrap(
                "  - ",
                4,
                &format!("{}: left out: {why}", candidate.features),
            );
        }
    }
    page + &text::wrap("  ", 2, &explanation(choice))
}

fn explanation(choice: &FeatureChoice) -> String {
    let units = match choice.unit {
        Unit::Time => "block",
        Unit::Episode => "episode",
        Unit::Cluster => "cluster",
    };
    let mut words = format!(
        "error: root mean square of prediction - return, on a quarter of the {} at a time, after a fit to the others; difference: to the \
         best, on returns with less noise; stderr: by {units}.",
        text::count(choice.units as usize, units),
    );
    if choice.closed >= 0.005 {
        words += &format!(
            " {} % of the returns lie behind a cut and are replaced by the median prediction there.",
            number((100.0 * choice.closed).round())
        );
    }
    words + " The intervals on this page do not include the choice."
}

fn row(candidate: &FeatureCandidate) -> [String; 6] {
    let shown = |x: Option<f64>| x.map_or("-".into(), number);
    [
        candidate.features.clone(),
        (candidate.dimension).map_or("-".into(), |n| n.to_string()),
        shown(candidate.error),
        shown(candidate.difference),
        shown(candidate.stderr),
        match (candidate.chosen, candidate.is_near_best()) {
            (true, _) => "chosen",
            (false, true) => "within one standard error, more features",
            (false, false) => "",
        }
        .into(),
    ]
}
