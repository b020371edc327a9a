//! Compares a run with the points printed in the paper's figures.

use robust_td_core::catalog;
use robust_td_engine::{Family, Projection};
use robust_td_report::{Cell, Column, GridPoint, Table, Text, number};

use super::row::SweepRow;
use super::spec::Mode;
use super::study::{Figure, Study, Variant};
use crate::number::short;
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
        let rule = (figure.number, figure.family, figure.projection);
        [
            (1, Family::Decaying, Projection::None),
            (2, Family::Constant, Projection::None),
        ]
        .contains(&rule)
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
            if let Some(ours) = ours {
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
    let clamped = diagnostic != Diagnostic::DivergenceRate && clamp(printed) != Clamped::Inside;
    let shown = match diagnostic {
        // Rates are printed with six decimals.
        Diagnostic::DivergenceRate => (ours * 1e6).round() / 1e6,
        Diagnostic::Ratio | Diagnostic::Gap => ours,
    };
    let difference = (shown - printed).abs();
    let agrees = match clamped {
        // Just inside the clamp, seven printed digits may round to it.
        true => clamp(ours) == clamp(printed) || difference <= TOLERANCE * printed.abs(),
        false => difference <= TOLERANCE * printed.abs(),
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

/// Where the figures draw a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clamped {
    Below,
    Inside,
    Above,
}

fn clamp(value: f64) -> Clamped {
    if value <= CLAMP.0 {
        Clamped::Below
    } else if value < CLAMP.1 {
        Clamped::Inside
    } else {
        // NaN follows an overflow.
        Clamped::Above
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
        Table {
            title: "Agreement with the printed points".into(),
            link: "Printed points".into(),
            text: vec![summary],
            columns: vec![
                Column::words("figure"),
                Column::words("problem"),
                Column::words("quantity"),
                Column::numbers("printed values"),
                Column::numbers("clamped"),
                Column::numbers("agree"),
                Column::numbers("largest relative difference"),
                Column::words("differ at c ="),
            ],
            rows: self.by_panel().map(panel).collect(),
        }
    }

    /// The points of each panel of the figures.
    fn by_panel(&self) -> impl Iterator<Item = Vec<&AgreementPoint>> {
        let mut panels: Vec<Vec<&AgreementPoint>> = Vec::new();
        let key = |p: &AgreementPoint| (p.figure, p.scale.to_bits(), p.diagnostic as u8);
        for point in &self.points {
            match panels.iter_mut().find(|panel| key(panel[0]) == key(point)) {
                Some(panel) => panel.push(point),
                None => panels.push(vec![point]),
            }
        }
        panels.into_iter()
    }
}

/// One panel of a figure as a row.
fn panel(points: Vec<&AgreementPoint>) -> Vec<Cell> {
    let first = points[0];
    let count = |of: &dyn Fn(&AgreementPoint) -> bool| {
        let found = points.iter().filter(|point| of(point)).count();
        Cell::count(Some(found as u64))
    };
    let differences = points.iter().filter_map(|p| p.relative_difference);
    let apart: Vec<String> = points
        .iter()
        .filter(|point| !point.agrees)
        .map(|point| short(point.c))
        .collect();
    vec![
        Cell::word(first.figure.to_string()),
        Cell::word(format!("scale {}", first.scale)),
        Cell::word(match first.diagnostic {
            Diagnostic::Ratio => "ratio",
            Diagnostic::DivergenceRate => "divergence rate",
            Diagnostic::Gap => "gap",
        }),
        count(&|_| true),
        count(&|point| point.printed.is_none()),
        count(&|point| point.agrees),
        Cell::digits(differences.reduce(f64::max), 2),
        Cell::prose(apart.join(", ")),
    ]
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
            values: vec![
                Some(point.ratio),
                Some(point.divergence_rate),
                Some(point.gap),
            ],
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
        assert!(agrees(Diagnostic::Ratio, 1e12, 2e12));
        assert!(agrees(Diagnostic::Ratio, 1e12, f64::NAN));
        assert!(!agrees(Diagnostic::Ratio, 1e12, 1e11));
        assert!(agrees(Diagnostic::Gap, 1e-6, 3e-9));
        assert!(!agrees(Diagnostic::Gap, 1e-6, 2e-6));
        assert!(!agrees(Diagnostic::Ratio, 1e-6, f64::NAN));
        assert!(agrees(Diagnostic::DivergenceRate, 0.0, 0.0));
        assert!(!agrees(Diagnostic::DivergenceRate, 0.0, 1.0 / 48.0));
        assert!(!agrees(Diagnostic::DivergenceRate, 1.0, 47.0 / 48.0));
    }
}
