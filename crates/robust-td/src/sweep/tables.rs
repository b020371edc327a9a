//! Fills in the tables on the page of a sweep.

use robust_td_core::theory::constants::C0;
use robust_td_core::theory::{Certificate, Certification};
use robust_td_report::{Cell, Column, Table, Text};

use super::page::Findings;
use super::row::SweepRow;
use super::study::Study;

fn scale(study: &Study, variant: usize) -> Cell {
    Cell::word(format!("scale {}", study.variants[variant].scale))
}

/// Where each row of a figure becomes stable.
pub(super) fn thresholds(findings: &Findings<'_>) -> Table {
    let study = findings.study;
    let mut rows = Vec::new();
    for (place, figure) in study.figures.iter().enumerate() {
        for variant in 0..study.variants.len() {
            let here = |row: &&SweepRow| row.figure == figure.number && row.variant == variant;
            let lane: Vec<&SweepRow> = findings.rows.iter().filter(here).collect();
            let quiet = lane
                .iter()
                .rev()
                .take_while(|row| row.divergence_rate() == Some(0.0));
            let best = lane
                .iter()
                .filter(|row| row.gap().is_finite())
                .min_by(|a, b| a.gap().total_cmp(&b.gap()));
            let distance = |row: &SweepRow| (row.c() / C0).ln().abs();
            let near = lane
                .iter()
                .min_by(|a, b| distance(a).total_cmp(&distance(b)));
            rows.push(vec![
                Cell::word(figure.number.to_string()),
                scale(study, variant),
                Cell::number(findings.thresholds[place][variant]),
                Cell::number(quiet.last().map(|row| row.c())),
                Cell::number(best.map(|row| row.c())),
                Cell::number(best.map(|row| row.gap())),
                Cell::number(near.map(|row| row.c())),
                Cell::number(near.map(|row| row.ratio())),
            ]);
        }
    }
    Table {
        title: "Thresholds".into(),
        text: vec![
            Text::plain("A small c means large steps. From the first c without divergence upwards, no run exceeded |θ|")
                .superscript("2")
                .upright(" = 10")
                .superscript("12")
                .upright(
                    "; the best c has the smallest suboptimality gap of the sweep; the last two columns are for the grid value \
                     nearest to the threshold c",
                )
                .subscript("0")
                .upright(" of the theory."),
        ],
        columns: vec![
            Column::words("figure"),
            Column::words("problem"),
            Column::numbers("mean-square threshold"),
            Column::numbers("first c without divergence"),
            Column::numbers("best c"),
            Column::numbers("gap at best c"),
            Column::numbers(Text::plain("c nearest c").subscript("0")),
            Column::numbers("ratio there"),
        ],
        rows,
        ..Table::default()
    }
}

/// Sampled ratios next to exact expectations, where both are known.
pub(super) fn expectations(findings: &Findings<'_>) -> Option<Table> {
    let row = |exact: &SweepRow| {
        let same = |row: &&SweepRow| row.found.lane == exact.found.lane;
        let sampled = findings.rows.iter().find(same)?;
        let error = sampled.found.sampled.map(|s| s.ratio_standard_error);
        Some(vec![
            Cell::word(exact.figure.to_string()),
            scale(findings.study, exact.variant),
            Cell::number(Some(exact.c())),
            Cell::number(Some(sampled.ratio())),
            Cell::digits(error, 2),
            Cell::number(Some(exact.ratio())),
        ])
    };
    let rows: Vec<Vec<Cell>> = findings.exact.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        title: "Sampled against exact expectation".into(),
        link: "Sampled and exact".into(),
        text: vec![
            "Near the threshold a few rare runs dominate the expectation, so a mean over runs tends to underestimate it."
                .into(),
        ],
        columns: vec![
            Column::words("figure"),
            Column::words("problem"),
            Column::numbers("c"),
            Column::numbers("ratio, sampled"),
            Column::numbers("its standard error"),
            Column::numbers("ratio, exact"),
        ],
        rows,
    })
}

/// The certificates for the scaled problems.
pub(super) fn certificates(
    study: &Study,
    certifications: &[Option<Certification>],
) -> Option<Table> {
    let mut rows = Vec::new();
    for (variant, certification) in certifications.iter().enumerate() {
        let Some(certification) = certification else {
            continue;
        };
        let (Ok(bounds), Some(c)) = (&certification.mixing, certification.c) else {
            continue;
        };
        let named: [(&str, Option<&Certificate>); 4] = [
            ("P (Theorem 1, explicit)", bounds.p.as_ref()),
            ("X (centred at 0)", bounds.x.as_ref()),
            ("Y (centred at theta*)", bounds.y.as_ref()),
            ("C (tuned constant step)", Some(&bounds.constant_step)),
        ];
        for (name, certificate) in named {
            let Some(certificate) = certificate else {
                continue;
            };
            rows.push(vec![
                scale(study, variant),
                Cell::word(name),
                Cell::number(Some(c)),
                Cell::yes_or_no(certificate.applies()),
                Cell::number(certificate.bound),
                Cell::number(Some(certification.constants.f_zero)),
                Cell::number(certificate.iterate_bound),
                Cell::prose(certificate.why_not().unwrap_or_default()),
            ]);
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Certificates".into(),
        link: "Certificates".into(),
        text: vec![
            "A certificate bounds the expectation of f at the averaged iterate after T steps. It does not apply if one of its \
             hypotheses fails, and it is useful only if its bound is below f(0)."
                .into(),
        ],
        columns: vec![
            Column::words("problem"),
            Column::words("certificate"),
            Column::numbers("c"),
            Column::words("applies"),
            Column::numbers("bound on E f"),
            Column::numbers("f(0)"),
            Column::numbers(
                Text::plain("bound on E|θ")
                    .subscript("t")
                    .upright(" − θ*|")
                    .superscript("2"),
            ),
            Column::words("why not"),
        ],
        rows,
    })
}
