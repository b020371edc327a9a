//! Builds the input that the tests of this crate share.

use robust_td_report::{Clamp, SweepFigure, SweepPoint, SweepRow};

/// Ratio and gap at the 97 values of c: beyond the clamp for c < 1e-4 (infinite below 1e-6), and below it for c > 1e7.
pub fn sweep_point(c: f64) -> SweepPoint {
    let value = match c {
        c if c < 1e-6 => f64::INFINITY,
        c if c < 1e-4 => 1e15,
        c if c > 1e7 => 1e-9,
        c => 1.0 / (1.0 + c),
    };
    SweepPoint {
        c,
        ratio: Some(value),
        divergence_rate: Some(f64::from(u8::from(c < 1e-4))),
        gap: Some(value),
    }
}

/// A figure with `rows` rows over c = 1e-8 .. 1e8.
pub fn sweep_figure(rows: usize) -> SweepFigure {
    let row = |i: usize| {
        let values: Vec<SweepPoint> = (-48..=48)
            .map(|k| sweep_point(10f64.powf(f64::from(k) / 6.0)))
            .collect();
        SweepRow {
            label: format!("problem {i}"),
            omega: Some(0.0338),
            kappa: Some(2987.0),
            exact: values[40..50].to_vec(),
            printed: values[44..49].to_vec(),
            values,
            mean_square_threshold: Some(7.1e-4),
            gap_at_zero: Some(0.5),
        }
    };
    SweepFigure {
        title: "A sweep".to_owned(),
        values_label: "mean of 48 runs".to_owned(),
        exact_label: "exact expectation".to_owned(),
        printed_label: "printed in the paper".to_owned(),
        rows: (0..rows).map(row).collect(),
        clamp: Clamp::default(),
        theory_threshold: Some(40.455_844_122_715_71),
    }
}
