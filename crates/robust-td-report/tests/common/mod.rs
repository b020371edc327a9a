//! Builds the shared input of this crate's tests.

use robust_td_report::{
    Clamp, GridAxis, GridColumn, GridFigure, GridPoint, GridRow, GridSeries, Look, Text, number,
};

/// A share between two values of the same size, at x: beyond the clamp for x < 1e-4 (infinite below 1e-6), and below it for
/// x > 1e7.
pub fn point(x: f64) -> GridPoint {
    let value = match x {
        x if x < 1e-6 => f64::INFINITY,
        x if x < 1e-4 => 1e15,
        x if x > 1e7 => 1e-9,
        x => 1.0 / (1.0 + x),
    };
    let share = f64::from(u8::from(x < 1e-4));
    GridPoint {
        x,
        values: vec![Some(value), Some(share), Some(value)],
    }
}

/// A figure with `rows` rows over x = 1e-8 .. 1e8.
pub fn grid_figure(rows: usize) -> GridFigure {
    let row = |i: usize| {
        let values: Vec<GridPoint> = (-48..=48)
            .map(|k| point(10f64.powf(f64::from(k) / 6.0)))
            .collect();
        GridRow {
            label: format!("problem {i}"),
            detail: Text::default()
                .italic("ω")
                .upright(" = ")
                .then(number::text(0.0338, 4)),
            series: vec![
                values.clone(),
                values[40..50].to_vec(),
                values[44..49].to_vec(),
            ],
            lines: vec![Some(40.455_844_122_715_71), Some(7.1e-4)],
            levels: vec![Some(1.0), None, Some(0.5)],
        }
    };
    let column = |title: &str, axis, level: &str| GridColumn {
        heading: [title.into(), Text::plain("E x").superscript("2")],
        axis,
        level: level.into(),
    };
    let series = |label: &str, look| GridSeries {
        label: label.to_owned(),
        look,
    };
    GridFigure {
        title: "A sweep".to_owned(),
        x: Text::plain("scale ").italic("c"),
        columns: vec![
            column("Boundedness ratio", GridAxis::Log, "ratio 1"),
            column("Divergence rate", GridAxis::Rate, ""),
            column("Suboptimality gap", GridAxis::Log, "gap 0.5"),
        ],
        series: vec![
            series("mean of 48 runs", Look::Dotted),
            series("exact expectation", Look::Line),
            series("printed in the paper", Look::Rings),
        ],
        lines: vec![
            Text::plain("c").subscript("0").upright(" = 40.46"),
            "threshold".into(),
        ],
        rows: (0..rows).map(row).collect(),
        clamp: Clamp::default(),
    }
}
