//! Shows how the feature map was chosen.

use robust_td_data::{FeatureCandidate, FeatureChoice, Unit};
use robust_td_report::{Block, Cell, Column, Section, Table};

use super::parts::{count, paragraph, section};

/// The section on the comparison of feature maps.
pub fn features(choice: &FeatureChoice) -> Section {
    let units = match choice.unit {
        Unit::Time => "block",
        Unit::Episode => "episode",
        Unit::Cluster => "cluster",
    };
    let mut text = format!(
        "Each map was fitted to three quarters of the {} and predicted the returns of the rest, four times. The simplest map whose error is \
         within one standard error of the smallest was taken. Intervals on this page do not include the choice.",
        count(choice.units, units)
    );
    if choice.closed >= 0.005 {
        text += &format!(
            " {:.0} % of the returns lie behind a cut; the median prediction there replaces them for all maps.",
            100.0 * choice.closed
        );
    }
    let compared = |candidate: &&FeatureCandidate| candidate.left_out.is_none();
    let rows = (choice.candidates.iter().enumerate()).filter(|(_, candidate)| compared(candidate));
    let table = Table {
        title: "Maps".into(),
        columns: vec![
            Column::words("features"),
            Column::numbers("number"),
            Column::numbers("error"),
            Column::numbers("difference"),
            Column::numbers("standard error"),
            Column::words(""),
        ],
        rows: rows.map(|(k, candidate)| row(k, candidate)).collect(),
        ..Table::default()
    };
    let mut blocks = vec![paragraph(text), Block::Table(table)];
    let left_out: Vec<String> = (choice.candidates.iter())
        .filter_map(|candidate| {
            Some(format!(
                "{} ({})",
                candidate.features,
                candidate.left_out.as_ref()?
            ))
        })
        .collect();
    if !left_out.is_empty() {
        blocks.push(paragraph(format!("Left out: {}.", left_out.join("; "))));
    }
    section("Features", "Which features?", blocks)
}

fn row(k: usize, candidate: &FeatureCandidate) -> Vec<Cell> {
    let key = |name: &str| format!("feature_choice.candidates.{k}.{name}");
    vec![
        Cell::word(candidate.features.clone()),
        Cell::exact_count(candidate.dimension.unwrap_or(0), key("dimension")),
        Cell::exact(candidate.error, key("error")),
        Cell::exact(candidate.difference, key("difference")),
        Cell::exact(candidate.stderr, key("stderr")),
        match candidate.chosen {
            true => Cell::Mark {
                text: "chosen".into(),
                good: true,
            },
            false => Cell::word(match candidate.is_near_best() {
                true => "within one standard error, more features",
                false => "",
            }),
        },
    ]
}
