//! Draws figures and a report from made-up numbers in the shape of the paper's experiment.
//!
//! `cargo run -p robust-td-report --example demo [DIR]` writes them into DIR; without DIR it only checks them.

use std::path::Path;

use robust_td_report::{
    Agreement, AgreementPoint, AxisLabel, BandPoint, CertificateRow, Clamp, ConstantsRow, Curve,
    Drawing, ExpectationRow, Fact, Key, LineFigure, Pattern, Quantity, Reference, Report,
    ReportFigure, Rerun, RunFacts, Scale, SweepFigure, SweepPoint, SweepRow, ThresholdRow,
};

/// Blow-up below c = 1e-3, best c near 5e-3, then back to the start: ratio to 0, gap to f(0).
fn point(c: f64, f_zero: f64, floor: f64) -> SweepPoint {
    let excess = (1e-3 / c).log10();
    let blow_up = if excess > -0.35 {
        10f64.powf(5.0 + 45.0 * excess)
    } else {
        0.0
    };
    let learned = 1.0 / (1.0 + 0.4 * c.sqrt() + 0.02 * c);
    let wiggle = 1.0 + 0.2 * (7.0 * c.ln()).sin();
    SweepPoint {
        c,
        ratio: Some(blow_up + 1.1 * learned * learned),
        divergence_rate: Some((1.5 + 8.0 * (excess - 0.28)).clamp(0.0, 1.0)),
        gap: Some(1e-4 * blow_up + f_zero * (1.0 - learned).powi(2) + floor * wiggle * learned),
    }
}

fn figure(title: &str) -> SweepFigure {
    let rows = [
        (0.0625, 0.0338, 2987.0, 14.2, 1e-2),
        (1.0, 5.542, 22.37, 17.1, 6e-6),
        (16.0, 1419.0, 22.37, 17.1, 6e-6),
    ];
    let row = |(scale, omega, kappa, f_zero, floor): (f64, f64, f64, f64, f64)| {
        let grid = (-48..=48).map(|i| 10f64.powf(f64::from(i) / 6.0));
        let values: Vec<SweepPoint> = grid.map(|c| point(c, f_zero, floor)).collect();
        let exact = values[26..36].iter().map(|p| SweepPoint {
            ratio: p
                .ratio
                .map(|ratio| if p.c < 1.5e-3 { 4.0 * ratio } else { ratio }),
            divergence_rate: None,
            ..*p
        });
        SweepRow {
            label: format!("scale {scale}"),
            omega: Some(omega),
            kappa: Some(kappa),
            exact: exact.collect(),
            printed: values[28..33].to_vec(),
            values,
            mean_square_threshold: Some(7.1e-4),
            gap_at_zero: Some(f_zero),
        }
    };
    SweepFigure {
        title: title.to_owned(),
        values_label: "mean of 48 runs".to_owned(),
        exact_label: "exact expectation".to_owned(),
        printed_label: "printed in the paper".to_owned(),
        rows: rows.map(row).into(),
        clamp: Clamp::default(),
        theory_threshold: Some(15.0 + 18.0 * 2f64.sqrt()),
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

fn report(figures: Vec<ReportFigure>) -> Report {
    let printed = |quantity, printed: f64, ours: f64| AgreementPoint {
        figure: "1".to_owned(),
        problem: "scale 0.0625".to_owned(),
        c: 1e-3,
        quantity,
        printed: Some(printed),
        ours,
        relative_difference: Some((ours - printed).abs() / printed),
        agrees: true,
    };
    let clamped = AgreementPoint {
        printed: None,
        relative_difference: None,
        ..printed(Quantity::Ratio, 1e12, f64::INFINITY)
    };
    Report {
        title: "Figures 1 and 2 of the paper, recomputed".to_owned(),
        summary:
            "Made-up numbers in the shape of the paper's experiment: a demonstration of the page."
                .to_owned(),
        run: Some(RunFacts {
            command: "robust-td reproduce all --mode published".to_owned(),
            mode: "published (the authors' program)".to_owned(),
            problem: "paper-ring: 50 states, d = 5, discount 0.99".to_owned(),
            horizon: Some(10_000_000),
            simulated_steps: Some(10_000_000),
            runs: Some(48),
            c_values: Some(97),
            problems: Some(3),
            seeds: "derived from the bits of c and the run, as published".to_owned(),
            kernel: "avx512".to_owned(),
            threads: Some(2),
            seconds: Some(171.3),
            lane_steps: Some(279_360_000_000),
            lane_steps_per_second: Some(1.63e9),
            more: vec![Fact {
                name: "Version".to_owned(),
                value: "robust-td 0.1.0".to_owned(),
            }],
        }),
        figures,
        tables: Vec::new(),
        agreement: Some(Agreement {
            tolerance: 1e-6,
            points: vec![
                printed(Quantity::Ratio, 51_399.672, 51_399.672_4),
                printed(Quantity::DivergenceRate, 0.020_833_33, 0.020_833_333),
                printed(Quantity::Gap, 0.027_952_079, 0.027_952_079_2),
                clamped,
            ],
        }),
        thresholds: ["scale 0.0625", "scale 1", "scale 16"]
            .map(|problem| ThresholdRow {
                figure: "1".to_owned(),
                problem: problem.to_owned(),
                first_c_without_divergence: Some(1e-3),
                best_c: Some(4.641_588_8e-3),
                best_gap: Some(6.1e-6),
                c_near_c0: Some(46.415_888),
                ratio_near_c0: Some(2.7e-3),
                mean_square_threshold: Some(7.1e-4),
            })
            .into(),
        expectations: vec![ExpectationRow {
            figure: "1".to_owned(),
            problem: "scale 0.0625".to_owned(),
            c: 1e-3,
            sampled_ratio: Some(51_399.672),
            sampled_ratio_stderr: Some(3.2e4),
            exact_ratio: Some(1.99e5),
            sampled_gap: Some(0.027_95),
            exact_gap: None,
        }],
        constants: vec![ConstantsRow {
            problem: "scale 0.0625".to_owned(),
            omega: 0.0338,
            kappa: 2987.0,
            theta_star_norm_sq: 6.890_944_081_933_124,
            phi_inf_sq: 229.630_899_838_686,
            f_zero: 14.2,
            t_mix: Some(176),
            lambda2: Some(0.992_9),
        }],
        certificates: vec![
            CertificateRow {
                problem: "scale 0.0625".to_owned(),
                certificate: "P (the paper's theorem)".to_owned(),
                c: 46.4,
                applies: false,
                f_zero: Some(14.2),
                why_not: Some(
                    "the horizon is too short: log T = 16.1 < 2/log³(1/α) = 3.3e7".to_owned(),
                ),
                ..CertificateRow::default()
            },
            CertificateRow {
                problem: "scale 0.0625".to_owned(),
                certificate: "Y (centred)".to_owned(),
                c: 3.1,
                applies: true,
                bound: Some(9.6),
                f_zero: Some(14.2),
                iterate_bound: Some(23.5),
                why_not: None,
            },
        ],
        rerun: vec![Rerun {
            what: "The same run:".to_owned(),
            command: "cargo run --release -- reproduce all --mode published --out out/reproduce"
                .to_owned(),
        }],
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let drawings: Vec<(&str, Drawing)> = vec![
        ("figure1", figure("Figure 1: decaying stepsizes").draw()?),
        ("figure2", figure("Figure 2: constant stepsize").draw()?),
        ("curves", learning_curves().draw()?),
    ];
    let on_page = drawings.iter().map(|(_, drawing)| ReportFigure {
        title: drawing.title().to_owned(),
        caption: "Columns: boundedness ratio, divergence rate, suboptimality gap against the stepsize scale c.".to_owned(),
        drawing: drawing.clone(),
    });
    let html = report(on_page.collect()).to_html()?;
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
