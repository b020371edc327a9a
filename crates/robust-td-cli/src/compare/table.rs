//! Prints a comparison as a page: the ranking, then inputs, conditions that fail and bounds.

use robust_td_core::registry::Standing;
use robust_td_engine::contest::Score;

use crate::text::{self, number, whole};
use robust_td::compare::{ComparisonResults, input_words, quantity_words, share};
use robust_td::contest::field::{Contestant, Skipped};

/// The whole page.
pub fn page(comparison: &ComparisonResults) -> String {
    let length = comparison.length;
    let mut page = format!(
        "{}, T = {}, {}, seed {}\nf(0) = {}, the error of theta = 0\n\n",
        comparison.problem_words(),
        whole(length.horizon),
        text::count(length.runs as usize, "run"),
        length.seed,
        number(comparison.problem.f_zero()),
    );
    let ranked = comparison.ranked();
    let mut rows = vec![
        [
            "method",
            "f",
            "+-",
            "|V-V*|_D^2",
            "max E|theta|^2",
            "diverged",
            "updates",
            "remarks",
        ]
        .map(String::from),
    ];
    rows.extend(
        ranked
            .iter()
            .map(|&(contestant, score)| row(contestant, score)),
    );
    page.push_str(&text::columns(&rows));
    page.push_str("\nInputs of each method\n");
    let inputs = |&(contestant, _): &(&Contestant, &Score)| {
        let words: Vec<String> = contestant.prepared.inputs.iter().map(input_words).collect();
        let words = match words.is_empty() {
            true => "none".into(),
            false => words.join(", "),
        };
        (contestant.label.clone(), words)
    };
    page.push_str(&text::definitions(
        &ranked.iter().map(inputs).collect::<Vec<_>>(),
    ));
    let notes: Vec<(String, String)> = ranked
        .iter()
        .filter(|(contestant, _)| !contestant.prepared.notes.is_empty())
        .map(|(contestant, _)| {
            (
                contestant.label.clone(),
                contestant.prepared.notes.join("; "),
            )
        })
        .collect();
    if !notes.is_empty() {
        page.push_str("\nConditions that do not hold here\n");
        page.push_str(&text::definitions(&notes));
    }
    let proved: Vec<(String, String)> = ranked
        .iter()
        .filter_map(|(contestant, _)| {
            let guarantee = contestant.prepared.guarantee.as_ref()?;
            let words = format!(
                "{} <= {} ({})",
                quantity_words(guarantee.quantity),
                number(guarantee.bound),
                guarantee.statement
            );
            Some((contestant.label.clone(), words))
        })
        .collect();
    if !proved.is_empty() {
        page.push_str("\nProved here\n");
        page.push_str(&text::definitions(&proved));
    }
    page
}

/// The methods that do not apply, with the reasons; nothing when there are none.
pub fn skipped(skipped: &[Skipped]) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let rows: Vec<(&str, String)> = skipped.iter().map(|s| (s.id, s.why.clone())).collect();
    format!("\nNot applicable here\n{}", text::definitions(&rows))
}

fn row(contestant: &Contestant, score: &Score) -> [String; 8] {
    [
        contestant.label.clone(),
        number(score.f.mean),
        format!("{:.1e}", score.f.standard_error),
        number(score.d_norm_sq.mean),
        number(score.max_mean_theta_norm_sq),
        share(score.divergence_rate),
        whole(score.updates),
        remarks(contestant, score).join(", "),
    ]
}

/// Remarks on how the result came about.
pub fn remarks(contestant: &Contestant, score: &Score) -> Vec<String> {
    let mut remarks = Vec::new();
    if contestant.prepared.oracle() {
        remarks.push("oracle".into());
    }
    let standing = contestant.method.standing;
    if standing == Standing::Experimental {
        remarks.push(standing.word().into());
    }
    match score.projections {
        Some(0.0) => remarks.push("never projected".into()),
        Some(projections) => remarks.push(format!("projected {} times", number(projections))),
        None => {}
    }
    remarks
}
