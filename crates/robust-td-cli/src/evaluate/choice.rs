//! Prints the constant that the data chose, and the result for each candidate.

use robust_td_data::ConstantChoice;

use crate::text;

/// The choice in one line.
pub fn summary(choice: &ConstantChoice) -> String {
    let bounded = choice.portfolio.iter().filter(|lane| lane.bounded).count();
    let retired = choice.portfolio.len() - bounded;
    if bounded == 0 {
        return format!("all {retired} constants were retired: the answer is not reliable");
    }
    format!(
        "c = {}, the smallest score of the {bounded} that stayed bounded ({retired} retired), over {}",
        text::number(choice.c),
        text::count(choice.samples as usize, "transition")
    )
}

/// The table of all candidates.
pub fn table(choice: &ConstantChoice) -> String {
    let mut page = String::from("\nc          score      largest |theta|^2\n");
    for lane in &choice.portfolio {
        let words = match (lane.retired_at, lane.score) {
            (Some(step), _) => format!("retired by step {step}"),
            (None, Some(score)) => {
                let mark = if lane.c == choice.c { " <" } else { "" };
                let norm = text::number(lane.max_theta_norm_sq);
                format!("{:<10} {norm}{mark}", text::number(score))
            }
            (None, None) => "not measured yet".into(),
        };
        page += &format!("{:<10} {words}\n", text::number(lane.c));
    }
    page + &text::wrap(
        "",
        0,
        "score: |mean of delta phi| with every feature scaled to mean square 1, on transitions not learned from yet",
    )
}
