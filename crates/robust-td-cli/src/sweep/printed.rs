//! Compares a run with the points printed in the paper's figures.

use robust_td_report::{Agreement, AgreementPoint, Quantity, SweepPoint};

use super::row::Row;
use super::spec::Mode;
use super::study::Study;

/// The points of the figure files that we know, to about seven digits.
const POINTS: &str = include_str!("../../../../experiments/printed_points.csv");

/// Where the drawing clamps ratio and gap.
pub const CLAMP: (f64, f64) = (1e-6, 1e12);

/// Relative difference up to which a printed number agrees.
const TOLERANCE: f64 = 1e-6;

/// One printed point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedPoint {
    figure: usize,
    scale: f64,
    c_index: usize,
    /// Infinite where the figure shows the clamp.
    ratio: Option<f64>,
    divergence_rate: Option<f64>,
    gap: Option<f64>,
}

/// All known points.
pub fn points() -> Vec<PrintedPoint> {
    let value = |text: &str| match text {
        "clamped" => Some(f64::INFINITY),
        text => text.parse().ok(),
    };
    let point = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [figure, scale, c_index, ratio, divergence_rate, gap] = fields[..] else {
            return None;
        };
        Some(PrintedPoint {
            figure: figure.parse().ok()?,
            scale: scale.parse().ok()?,
            c_index: c_index.parse().ok()?,
            ratio: value(ratio),
            divergence_rate: value(divergence_rate),
            gap: value(gap),
        })
    };
    POINTS.lines().skip(1).filter_map(point).collect()
}

/// Whether a study is the published experiment, so that its numbers are comparable with the printed ones.
fn comparable(study: &Study) -> bool {
    study.mode == Mode::Published
        && study.problem_name == "paper-ring"
        && (study.steps, study.simulate, study.runs) == (10_000_000, 10_000_000, 48)
}

fn row_of<'a>(study: &Study, rows: &'a [Row], point: &PrintedPoint) -> Option<&'a Row> {
    rows.iter().find(|row| {
        row.figure == point.figure
            && row.c_index == Some(point.c_index)
            && study.variants[row.variant].scale == point.scale
    })
}

/// The agreement in numbers, when the study is the published one.
pub fn agreement(study: &Study, rows: &[Row]) -> Option<Agreement> {
    if !comparable(study) {
        return None;
    }
    let mut compared = Vec::new();
    for point in points() {
        let Some(row) = row_of(study, rows, &point) else {
            continue;
        };
        let quantities = [
            (Quantity::Ratio, point.ratio, Some(row.found.ratio)),
            (
                Quantity::DivergenceRate,
                point.divergence_rate,
                row.found.divergence_rate,
            ),
            (Quantity::Gap, point.gap, Some(row.found.gap)),
        ];
        for (quantity, printed, ours) in quantities {
            if let (Some(printed), Some(ours)) = (printed, ours) {
                compared.push(compare(&point, row.c, quantity, printed, ours));
            }
        }
    }
    (!compared.is_empty()).then_some(Agreement {
        tolerance: TOLERANCE,
        points: compared,
    })
}

fn compare(
    point: &PrintedPoint,
    c: f64,
    quantity: Quantity,
    printed: f64,
    ours: f64,
) -> AgreementPoint {
    let clamped = printed.is_infinite();
    let comparable = match quantity {
        // Rates are printed with six decimals.
        Quantity::DivergenceRate => (ours * 1e6).round() / 1e6,
        Quantity::Ratio | Quantity::Gap => ours,
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
        figure: point.figure.to_string(),
        problem: format!("scale {}", point.scale),
        c,
        quantity,
        printed: (!clamped).then_some(printed),
        ours,
        relative_difference: (!clamped && relative.is_finite()).then_some(relative),
        agrees,
    }
}

/// The printed points of one row of a figure, to be drawn over it.
pub fn overlay(study: &Study, rows: &[Row], figure: usize, variant: usize) -> Vec<SweepPoint> {
    if !comparable(study) {
        return Vec::new();
    }
    let here = |point: &PrintedPoint| {
        point.figure == figure && point.scale == study.variants[variant].scale
    };
    let draw = |point: PrintedPoint| {
        row_of(study, rows, &point).map(|row| SweepPoint {
            c: row.c,
            ratio: point.ratio,
            divergence_rate: point.divergence_rate,
            gap: point.gap,
        })
    };
    points().into_iter().filter(here).filter_map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_point() {
        let points = points();
        assert_eq!(points.len(), POINTS.lines().count() - 1);
        let known = |p: &PrintedPoint| p.ratio.is_some() && p.divergence_rate.is_some();
        assert!(points.iter().all(known));
    }

    #[test]
    fn agreement_is_to_the_printed_digit() {
        let point = points()[4];
        let agrees = |quantity, printed, ours| compare(&point, 1.0, quantity, printed, ours).agrees;
        assert!(agrees(Quantity::Gap, 4339941.9, 4339942.0));
        assert!(!agrees(Quantity::Gap, 4339941.9, 4339952.0));
        assert!(agrees(Quantity::DivergenceRate, 0.354167, 17.0 / 48.0));
        assert!(!agrees(Quantity::DivergenceRate, 0.354167, 18.0 / 48.0));
        assert!(agrees(Quantity::Ratio, f64::INFINITY, 2e12));
        assert!(agrees(Quantity::Ratio, f64::INFINITY, f64::NAN));
        assert!(!agrees(Quantity::Ratio, f64::INFINITY, 1e11));
    }
}
