//! Compares a run with the points printed in the paper's figures.

use robust_td_core::catalog;
use robust_td_engine::Family;
use robust_td_report::{Cell, Column, GridPoint, Table, Text, number};

use super::row::SweepRow;
use super::spec::Mode;
use super::study::{Figure, Study, Variant};
use crate::paper::{CLAMP, PrintedPoint, printed_points};

/// The largest relative difference at which a value agrees.
const TOLERANCE: f64 = 1e-6;

/// Results next to the points that are printed in the paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreement {
    /// The points.
    pub points: Vec<AgreementPoint>,
}

/// A diagnostic of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagnostic {
    /// Boundedness ratio.
    Ratio,
    /// Divergence rate.
    DivergenceRate,
    /// Suboptimality gap.
    Gap,
}

/// One printed value and ours.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementPoint {
    /// Number of the figure.
    pub figure: usize,
    /// Feature scaling.
    pub scale: f64,
    /// Step size constant.
    pub c: f64,
    /// Which diagnostic.
    pub diagnostic: Diagnostic,
    /// The printed value; `None` where the figure shows the clamp.
    pub printed: Option<f64>,
    /// Our value.
    pub ours: f64,
    /// |ours - printed| / |printed|; `None` where it is not defined (clamped).
    pub relative_difference: Option<f64>,
    /// Whether the two agree.
    pub agrees: bool,
}

/// Whether a study is the published experiment, so that its numbers are comparable with the printed ones.
fn comparable(study: &Study) -> bool {
    let printed = |figure: &Figure| {
        [(1, Family::Decaying), (2, Family::Constant)].contains(&(figure.number, figure.family))
    };
    let of_the_paper = |variant: &Variant| {
        let ring = catalog::problem("paper-ring", &[("scale", variant.scale)]);
        ring.is_ok_and(|ring| ring == variant.problem)
    };
    study.mode == Mode::Published
        && (study.steps, study.simulate, study.runs) == (10_000_000, 10_000_000, 48)
        && study.figures.iter().all(printed)
        && study.variants.iter().all(of_the_paper)
}

fn row_of<'a>(rows: &'a [SweepRow], point: &PrintedPoint) -> Option<&'a SweepRow> {
    rows.iter().find(|row| {
        row.figure == point.figure && row.c_index == Some(point.c_index) && row.scale == point.scale
    })
}

/// The agreement in numbers, when the study is the published one.
pub(super) fn agreement(study: &Study, rows: &[SweepRow]) -> Option<Agreement> {
    if !comparable(study) {
        return None;
    }
    let mut compared = Vec::new();
    for point in printed_points() {
        let Some(row) = row_of(rows, &point) else {
            continue;
        };
        let diagnostics = [
            (Diagnostic::Ratio, point.ratio, Some(row.ratio())),
            (
                Diagnostic::DivergenceRate,
                point.divergence_rate,
                row.divergence_rate(),
            ),
            (Diagnostic::Gap, point.gap, Some(row.gap())),
        ];
        for (diagnostic, printed, ours) in diagnostics {
            if let (Some(printed), Some(ours)) = (printed, ours) {
                compared.push(compare(&point, row.c(), diagnostic, printed, ours));
            }
        }
    }
    (!compared.is_empty()).then_some(Agreement { points: compared })
}

fn compare(
    point: &PrintedPoint,
    c: f64,
    diagnostic: Diagnostic,
    printed: f64,
    ours: f64,
) -> AgreementPoint {
    let clamped = printed.is_infinite();
    let comparable = match diagnostic {
        // Rates are printed with six decimals.
        Diagnostic::DivergenceRate => (ours * 1e6).round() / 1e6,
        Diagnostic::Ratio | Diagnostic::Gap => ours,
    };
    let difference = (comparable - printed).abs();
    let agrees = if clamped {
        !(ours < CLAMP.1)
    } else {
        difference <= TOLERANCE * printed.abs()
    };
    let relative = if difference == 0.0 {
        0.0
    } else {
        difference / printed.abs()
    };
    AgreementPoint {
        figure: point.figure,
        scale: point.scale,
        c,
        diagnostic,
        printed: (!clamped).then_some(printed),
        ours,
        relative_difference: (!clamped && relative.is_finite()).then_some(relative),
        agrees,
    }
}

impl Agreement {
    /// The comparison as a table of a page.
    pub(super) fn table(&self) -> Table {
        let agreeing = self.points.iter().filter(|point| point.agrees).count();
        let differences = self.points.iter().filter_map(|p| p.relative_difference);
        let mut summary = Text::plain(format!(
            "{agreeing} of {} printed values agree",
            self.points.len()
        ));
        if let Some(largest) = differences.reduce(f64::max) {
            summary = summary
                .upright("; the largest relative difference is ")
                .then(number::text(largest, 2));
        }
        let summary = summary
            .upright(". A value agrees when it differs by at most ")
            .then(number::text(TOLERANCE, 2))
            .upright(" (relative), or is clamped on both sides.");
        let row = |point: &AgreementPoint| {
            vec![
                Cell::word(point.figure.to_string()),
                Cell::word(format!("scale {}", point.scale)),
                Cell::number(Some(point.c)),
                Cell::word(match point.diagnostic {
                    Diagnostic::Ratio => "ratio",
                    Diagnostic::DivergenceRate => "divergence rate",
                    Diagnostic::Gap => "gap",
                }),
                match point.printed {
                    Some(printed) => Cell::digits(Some(printed), 8),
                    None => Cell::word("clamped"),
                },
                Cell::digits(Some(point.ours), 8),
                Cell::digits(point.relative_difference, 2),
                Cell::yes_or_no(point.agrees),
            ]
        };
        Table {
            title: "Agreement with the printed points".into(),
            link: "Printed points".into(),
            text: vec![summary],
            columns: vec![
                Column::words("figure"),
                Column::words("problem"),
                Column::numbers("c"),
                Column::words("quantity"),
                Column::numbers("printed"),
                Column::numbers("ours"),
                Column::numbers("relative difference"),
                Column::words("agrees"),
            ],
            rows: self.points.iter().map(row).collect(),
        }
    }
}

/// The printed points of one row of a figure, to be drawn over it.
pub(super) fn overlay(
    study: &Study,
    rows: &[SweepRow],
    figure: usize,
    scale: f64,
) -> Vec<GridPoint> {
    if !comparable(study) {
        return Vec::new();
    }
    let here = |point: &PrintedPoint| point.figure == figure && point.scale == scale;
    let draw = |point: PrintedPoint| {
        row_of(rows, &point).map(|row| GridPoint {
            x: row.c(),
            values: vec![point.ratio, point.divergence_rate, point.gap],
        })
    };
    printed_points()
        .into_iter()
        .filter(here)
        .filter_map(draw)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{FIGURE_1, FIGURE_2};
    use crate::sweep::Sweep;

    #[test]
    fn only_the_papers_experiment_is_compared() {
        let compared = |text: &str, number| {
            let sweep = Sweep::from_toml(text, "").unwrap().numbered_from(number);
            comparable(&Study::new(&sweep.request).unwrap())
        };
        assert!(compared(FIGURE_1, 1) && compared(FIGURE_2, 2));
        assert!(!compared(FIGURE_2, 1));
        for (from, to) in [
            ("\"paper-ring\"", "\"two-state\""),
            ("\"paper-ring\"", "\"paper-ring\"\nset = { scale = 0.5 }"),
            ("10_000_000", "1_000_000"),
            ("\"published\"", "\"algorithm\""),
        ] {
            assert!(!compared(&FIGURE_1.replace(from, to), 1), "{to}");
        }
    }

    #[test]
    fn agreement_is_to_the_printed_digit() {
        let point = printed_points()[4];
        let agrees =
            |diagnostic, printed, ours| compare(&point, 1.0, diagnostic, printed, ours).agrees;
        assert!(agrees(Diagnostic::Gap, 4339941.9, 4339942.0));
        assert!(!agrees(Diagnostic::Gap, 4339941.9, 4339952.0));
        assert!(agrees(Diagnostic::DivergenceRate, 0.354167, 17.0 / 48.0));
        assert!(!agrees(Diagnostic::DivergenceRate, 0.354167, 18.0 / 48.0));
        assert!(agrees(Diagnostic::Ratio, f64::INFINITY, 2e12));
        assert!(agrees(Diagnostic::Ratio, f64::INFINITY, f64::NAN));
        assert!(!agrees(Diagnostic::Ratio, f64::INFINITY, 1e11));
    }
}
