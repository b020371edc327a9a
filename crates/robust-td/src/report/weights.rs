//! Shows the weights of the features, largest effect first.

use robust_td_data::{EvaluationReport, Fit};
use robust_td_report::{Block, Cell, Column, IntervalFigure, IntervalRow, Section, Table, Tone};

use super::parts::{count, figure, paragraph, percent, range, section, short};
use crate::error::Result;

/// The number of weights that the picture shows,
const DRAWN: usize = 15;
/// that the table shows at once,
const SHOWN: usize = 40;
/// and that it lists in all.
const LISTED: usize = 1000;

/// A weight with the deviation of its feature.
struct Weight {
    index: usize,
    name: String,
    weight: f64,
    ends: Option<(f64, f64)>,
    deviation: Option<f64>,
}

impl Weight {
    /// The change of the value with one standard deviation of the feature.
    fn effect(&self) -> Option<f64> {
        self.deviation.map(|deviation| self.weight * deviation)
    }

    fn size(&self) -> f64 {
        self.effect().unwrap_or(self.weight).abs()
    }
}

/// The section of the weights.
///
/// # Errors
/// When a figure cannot be drawn.
pub fn weights(fit: &Fit, report: &EvaluationReport) -> Result<Section> {
    let list = ordered(fit, report);
    let deviations = fit.sample().is_some();
    let mut blocks = vec![paragraph(match deviations {
        true => {
            "The value of a row is the sum of its features times their weights. The effect is the weight times the standard deviation \
             of the feature: how much the value changes with a typical change of that feature, all others fixed. Largest effect first."
        }
        false => {
            "The value of a row is the sum of its features times their weights. Largest weight first."
        }
    })];
    let (first, rest) = list.split_at(list.len().min(SHOWN));
    let table = |part: &[Weight], title: &str| table(part, title, fit, deviations);
    let drawing = picture(&list, fit.confidence()).draw();
    let shown = table(first, "Weights");
    blocks.push(match figure("Largest effects", "", drawing)? {
        Some(picture) => Block::Beside(picture, shown),
        None => Block::Table(shown),
    });
    if !rest.is_empty() {
        let listed = &rest[..rest.len().min(LISTED)];
        let title = match listed.len() == rest.len() {
            true => format!("The other {}", count(rest.len() as u64, "weight")),
            false => format!(
                "{LISTED} of the other {} weights; the JSON output lists all",
                rest.len()
            ),
        };
        blocks.push(Block::Folded(table(listed, &title)));
    }
    Ok(section("Weights", "Weights of the features", blocks))
}

fn ordered(fit: &Fit, report: &EvaluationReport) -> Vec<Weight> {
    let deviations = fit.sample().map(|sample| &sample.deviations);
    let intervals = report.intervals.as_ref();
    let mut list: Vec<Weight> = (report.theta_bar.iter().enumerate())
        .map(|(index, &weight)| Weight {
            index,
            name: (report.feature_names.get(index).cloned())
                .unwrap_or_else(|| format!("feature {index}")),
            weight,
            ends: intervals
                .and_then(|found| Some((*found.lower.get(index)?, *found.upper.get(index)?))),
            deviation: deviations.and_then(|list| list.get(index).copied()),
        })
        .collect();
    list.sort_by(|a, b| b.size().total_cmp(&a.size()));
    list
}

fn picture(list: &[Weight], confidence: f64) -> IntervalFigure {
    let effects = list.iter().filter(|weight| weight.size() > 0.0).take(DRAWN);
    IntervalFigure {
        title: "Weights times standard deviations, with intervals".into(),
        x: format!("effect on the value, {} interval", percent(confidence)),
        rows: effects
            .map(|weight| {
                let scale = weight.deviation.unwrap_or(1.0);
                let ends = weight.ends.map(|(low, high)| (low * scale, high * scale));
                let interval = ends.map_or(String::new(), |(low, high)| {
                    format!(", interval {}", range(low, high))
                });
                IntervalRow {
                    label: weight.name.clone(),
                    value: weight.weight * scale,
                    ends,
                    hint: format!(
                        "{}: effect {}{interval}; weight {}",
                        weight.name,
                        short(weight.weight * scale),
                        short(weight.weight)
                    ),
                    tone: Tone::First,
                }
            })
            .collect(),
        zero: true,
    }
}

fn table(list: &[Weight], title: &str, fit: &Fit, deviations: bool) -> Table {
    let percent = percent(fit.confidence());
    let has_ends = list.iter().any(|weight| weight.ends.is_some());
    let mut columns = vec![Column::words("feature"), Column::numbers("weight")];
    if has_ends {
        columns.push(Column::numbers(format!("{percent} from")));
        columns.push(Column::numbers("to"));
    }
    if deviations {
        columns.push(Column::numbers("effect of one standard deviation"));
    }
    let rows = list.iter().map(|weight| {
        let i = weight.index;
        let mut row = vec![
            Cell::word(&weight.name),
            Cell::exact(Some(weight.weight), format!("theta_bar.{i}")),
        ];
        if has_ends {
            let ends = [
                ("lower", weight.ends.map(|ends| ends.0)),
                ("upper", weight.ends.map(|ends| ends.1)),
            ];
            row.extend(ends.map(|(side, end)| Cell::exact(end, format!("intervals.{side}.{i}"))));
        }
        if deviations {
            row.push(Cell::number(weight.effect()));
        }
        row
    });
    Table {
        title: title.into(),
        rows: rows.collect(),
        columns,
        ..Table::default()
    }
}
