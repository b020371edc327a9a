//! Draws figures and a report from made-up numbers in the shape of the paper's experiment.
//!
//! `cargo run -p robust-td-report --example demo [DIR]` writes them into DIR; without DIR it only checks them.

use std::path::Path;

use robust_td_report::{
    AxisLabel, BandPoint, Cell, Clamp, Column, Curve, Drawing, Fact, GridAxis, GridColumn,
    GridFigure, GridPoint, GridRow, GridSeries, Key, LineFigure, Look, Page, PageFigure, Pattern,
    Reference, Rerun, Scale, Table, Text, number,
};

/// Divergence below c = 1e-3, best c near 5e-3, then back to the start: ratio to 0, gap to f(0).
fn point(c: f64, f_zero: f64, floor: f64) -> GridPoint {
    let excess = (1e-3 / c).log10();
    let blow_up = if excess > -0.35 {
        10f64.powf(5.0 + 45.0 * excess)
    } else {
        0.0
    };
    let learned = 1.0 / (1.0 + 0.4 * c.sqrt() + 0.02 * c);
    let wiggle = 1.0 + 0.2 * (7.0 * c.ln()).sin();
    GridPoint {
        x: c,
        values: vec![
            Some(blow_up + 1.1 * learned * learned),
            Some((1.5 + 8.0 * (excess - 0.28)).clamp(0.0, 1.0)),
            Some(1e-4 * blow_up + f_zero * (1.0 - learned).powi(2) + floor * wiggle * learned),
        ],
    }
}

fn row((scale, omega, f_zero, floor): (f64, f64, f64, f64)) -> GridRow {
    let grid = (-48..=48).map(|i| 10f64.powf(f64::from(i) / 6.0));
    let values: Vec<GridPoint> = grid.map(|c| point(c, f_zero, floor)).collect();
    let exact = values[26..36].iter().map(|p| GridPoint {
        x: p.x,
        values: vec![p.values[0].map(|ratio| 4.0 * ratio), None, p.values[2]],
    });
    let omega = Text::default()
        .italic("ω")
        .upright(" = ")
        .then(number::text(omega, 4));
    GridRow {
        label: format!("scale {scale}"),
        detail: omega,
        series: vec![values.clone(), exact.collect(), values[28..33].to_vec()],
        lines: vec![Some(15.0 + 18.0 * 2f64.sqrt()), Some(7.1e-4)],
        levels: vec![Some(1.0), None, Some(f_zero)],
    }
}

fn figure(title: &str) -> GridFigure {
    let column = |title: &str, formula: &str, axis, level: &str| GridColumn {
        heading: [title.into(), formula.into()],
        axis,
        level: level.into(),
    };
    let series = |label: &str, look| GridSeries {
        label: label.to_owned(),
        look,
    };
    GridFigure {
        title: title.to_owned(),
        x: Text::plain("step size scale ").italic("c"),
        columns: vec![
            column("Boundedness", "largest mean square", GridAxis::Log, "1"),
            column("Divergence", "share of runs", GridAxis::Rate, ""),
            column("Gap", "of the average", GridAxis::Log, "f(0)"),
        ],
        series: vec![
            series("mean of 48 runs", Look::Dotted),
            series("exact expectation", Look::Line),
            series("printed", Look::Rings),
        ],
        lines: vec![
            Text::default().italic("c").subscript("0"),
            "mean-square threshold".into(),
        ],
        rows: [
            (0.0625, 0.0338, 14.2, 1e-2),
            (1.0, 5.542, 17.1, 6e-6),
            (16.0, 1419.0, 17.1, 6e-6),
        ]
        .map(row)
        .into(),
        clamp: Clamp::default(),
    }
}

fn learning_curves() -> LineFigure {
    let curve = |(label, level): (&str, f64)| {
        let steps: Vec<f64> = (0..=60).map(|i| 10f64.powf(f64::from(i) / 10.0)).collect();
        let value = |t: f64| level / (1.0 + t.sqrt() / 10.0);
        let band = steps.iter().map(|&x| BandPoint {
            x,
            low: 0.7 * value(x),
            high: 1.4 * value(x),
        });
        Curve {
            label: label.to_owned(),
            band: band.collect(),
            points: steps.iter().map(|&t| (t, value(t))).collect(),
            pattern: Pattern::Automatic,
        }
    };
    LineFigure {
        title: "Learning curves of two algorithms".to_owned(),
        x: AxisLabel {
            label: "step t".to_owned(),
            scale: Scale::Log,
        },
        y: AxisLabel {
            label: "f of the averaged iterate".to_owned(),
            scale: Scale::Log,
        },
        curves: [("alg1, c = 0.005", 14.0), ("bhandari-a, radius = 5", 40.0)]
            .map(curve)
            .into(),
        references: vec![Reference {
            label: "f(0)".to_owned(),
            value: 17.1,
        }],
        clamp: Clamp::default(),
        key: Key::Below,
        meanings: Vec::new(),
    }
}

fn page(figures: Vec<PageFigure>) -> Page {
    let thresholds = ["scale 0.0625", "scale 1", "scale 16"].map(|problem| {
        vec![
            Cell::word("1"),
            Cell::word(problem),
            Cell::number(Some(1e-3)),
            Cell::number(Some(6.1e-6)),
        ]
    });
    Page {
        title: "Figures 1 and 2 of the paper, recomputed".to_owned(),
        summary:
            "Made-up numbers in the shape of the paper's experiment: a demonstration of the page."
                .to_owned(),
        facts: vec![
            Fact::text("Problem", "paper-ring: 50 states, d = 5, discount 0.99"),
            Fact::count("TD updates computed", 279_360_000_000),
            Fact::new("TD updates per second", Cell::digits(Some(1.63e9), 3)),
        ],
        figures,
        tables: vec![Table {
            title: "Thresholds".to_owned(),
            text: vec!["A small c means large steps.".into()],
            columns: vec![
                Column::words("figure"),
                Column::words("problem"),
                Column::numbers("first c without divergence"),
                Column::numbers("gap at the best c"),
            ],
            rows: thresholds.into(),
            ..Table::default()
        }],
        rerun: vec![Rerun {
            what: "The same run:".to_owned(),
            command: "cargo run --release -- reproduce --out out/reproduce".to_owned(),
        }],
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let drawings: Vec<(&str, Drawing)> = vec![
        ("figure1", figure("Figure 1: decaying step sizes").draw()?),
        ("figure2", figure("Figure 2: constant step size").draw()?),
        ("curves", learning_curves().draw()?),
    ];
    let on_page = drawings.iter().map(|(_, drawing)| PageFigure {
        title: drawing.title().to_owned(),
        caption: "Columns: boundedness ratio, divergence rate, suboptimality gap against the step size scale c.".to_owned(),
        drawing: drawing.clone(),
    });
    let html = page(on_page.collect()).to_html()?;
    assert_eq!(html.matches("class=\"panel\"").count(), 9 + 9 + 1);
    assert!(html.contains("279,360,000,000") && !html.contains("NaN"));

    if let Some(directory) = std::env::args().nth(1) {
        let directory = Path::new(&directory);
        std::fs::create_dir_all(directory)?;
        for (name, drawing) in &drawings {
            std::fs::write(directory.join(format!("{name}.svg")), drawing.to_svg())?;
            std::fs::write(
                directory.join(format!("{name}.png")),
                drawing.to_png(300.0)?,
            )?;
        }
        std::fs::write(directory.join("report.html"), html)?;
    }
    Ok(())
}
