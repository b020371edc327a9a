//! Describes the figures of a sweep: ratio, divergence rate and gap over c, one row per feature scaling.

use robust_td_core::theory::constants::C0;
use robust_td_report::{
    Clamp, GridAxis, GridColumn, GridFigure, GridPoint, GridRow, GridSeries, Look, Text, number,
};

use super::agreement;
use super::page::Findings;
use super::row::SweepRow;
use super::spec::Mode;
use super::study::Variant;
use crate::paper::CLAMP;

/// The panels of one figure, by its index.
pub(super) fn figure(findings: &Findings<'_>, place: usize) -> GridFigure {
    let study = findings.study;
    let figure = &study.figures[place];
    let row = |(variant, v): (usize, &Variant)| {
        let here = |row: &&SweepRow| row.figure == figure.number && row.variant == variant;
        // The exact run stops after the peak, so its average is not that of the sweep.
        let expected = |row: &SweepRow| GridPoint {
            x: row.c(),
            values: vec![Some(row.ratio()), None, None],
        };
        GridRow {
            label: format!("scale {}", v.scale),
            detail: constants(v),
            series: vec![
                findings.rows.iter().filter(here).map(point).collect(),
                findings.exact.iter().filter(here).map(expected).collect(),
                agreement::overlay(study, findings.rows, figure.number, v.scale),
            ],
            lines: vec![Some(C0), findings.thresholds[place][variant]],
            levels: vec![Some(1.0), None, Some(v.problem.f_zero())],
        }
    };
    let series = |label: &str, look| GridSeries {
        label: label.into(),
        look,
    };
    let values = match study.mode {
        Mode::Exact => "exact expectation".into(),
        _ => format!("mean of {} runs", study.runs),
    };
    let c0 = Text::default().italic("c").subscript("0").upright(" = ");
    GridFigure {
        title: figure.title.clone(),
        x: Text::plain("step size scale ").italic("c"),
        columns: vec![ratio(), divergence_rate(study.mode), gap()],
        series: vec![
            series(&values, Look::Dotted),
            series("exact expectation", Look::Line),
            series("printed in the paper", Look::Rings),
        ],
        lines: vec![
            c0.then(number::text(C0, 4)).upright(" (theory)"),
            "mean-square threshold".into(),
        ],
        rows: study.variants.iter().enumerate().map(row).collect(),
        clamp: Clamp {
            low: CLAMP.0,
            high: CLAMP.1,
        },
    }
}

fn point(row: &SweepRow) -> GridPoint {
    GridPoint {
        x: row.c(),
        values: vec![Some(row.ratio()), row.divergence_rate(), Some(row.gap())],
    }
}

fn constants(variant: &Variant) -> Text {
    Text::default()
        .italic("ω")
        .upright(" = ")
        .then(number::text(variant.problem.omega(), 4))
        .upright(",  ")
        .italic("κ")
        .upright(" = ")
        .then(number::text(variant.problem.kappa(), 4))
}

/// The squared norm of theta with a script, after `text`.
fn squared_norm(text: Text, script: fn(Text) -> Text) -> Text {
    script(text.upright("‖").italic("θ"))
        .upright("\u{2009}‖")
        .superscript("2")
}

fn ratio() -> GridColumn {
    let top = Text::plain("max")
        .italic_subscript("t")
        .upright(" E\u{2009}");
    let top = squared_norm(top, |text| text.italic_subscript("t")).upright(" / ");
    GridColumn {
        heading: [
            "Boundedness ratio".into(),
            squared_norm(top, |text| text.upright("\u{200a}*")),
        ],
        axis: GridAxis::Log,
        level: "ratio 1".into(),
    }
}

fn divergence_rate(mode: Mode) -> GridColumn {
    let (sign, power) = match mode {
        Mode::Tdx => (" ≥ 10", "20"),
        _ => (" > 10", "12"),
    };
    let share = Text::plain("share of runs with ");
    let share = squared_norm(share, |text| text.italic_subscript("t"));
    GridColumn {
        heading: [
            "Divergence rate".into(),
            share.upright(sign).superscript(power),
        ],
        axis: GridAxis::Rate,
        level: Text::default(),
    }
}

fn gap() -> GridColumn {
    let formula = Text::plain("E ")
        .italic("f")
        .upright("\u{2009} of the averaged iterate");
    GridColumn {
        heading: ["Suboptimality gap".into(), formula],
        axis: GridAxis::Log,
        level: Text::plain("gap ").italic("f").upright("\u{200a}(0)"),
    }
}
