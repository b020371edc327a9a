//! Fills in the report and the manifest of an experiment.

use robust_td_engine::contest::Estimate;
use robust_td_report::{Cell, Column, Drawing, Fact, Page, PageFigure, Table};
use serde::Serialize;

use super::ExperimentResults;
use super::figure::title;
use crate::contest::figure::rerun;
use crate::number;

/// The contents of `manifest.json`.
#[derive(Debug, Serialize)]
pub struct Manifest<'a> {
    version: &'static str,
    command: &'a str,
    problem: &'a str,
    vary: &'a str,
    algorithms: &'a [String],
    runs: u64,
    seed: u64,
    seconds: f64,
    threads: usize,
    kernel: &'static str,
}

/// The manifest.
pub fn manifest(findings: &ExperimentResults) -> Manifest<'_> {
    let spec = &findings.plan.spec;
    Manifest {
        version: env!("CARGO_PKG_VERSION"),
        command: &findings.command,
        problem: &spec.problem,
        vary: findings.plan.varied(),
        algorithms: &spec.algorithms,
        runs: spec.runs,
        seed: spec.seed,
        seconds: findings.seconds,
        threads: findings.threads,
        kernel: findings.kernel,
    }
}

/// The report with its figures.
pub fn page(findings: &ExperimentResults, drawings: Vec<(&str, Drawing)>) -> Page {
    let figures = drawings.into_iter().map(|(name, drawing)| match name {
        "agents" => PageFigure {
            title: "Averaging over agents".into(),
            caption: "The expected error of the mean of N independent outputs: spread falls like 1/N, bias stays.".into(),
            drawing,
        },
        _ => PageFigure {
            title: format!("Against {}", findings.plan.varied()),
            caption: format!(
                "Means of {} runs with a band of one standard error. Triangles mark curves that leave the panel.",
                findings.plan.spec.runs
            ),
            drawing,
        },
    });
    let mut tables = vec![results(findings)];
    if !findings.splits.is_empty() {
        tables.push(agents(findings));
    }
    Page {
        title: title(findings),
        summary: findings.plan.spec.question.clone().unwrap_or_default(),
        facts: facts(findings),
        figures: figures.collect(),
        tables,
        rerun: rerun(&findings.command),
    }
}

fn facts(findings: &ExperimentResults) -> Vec<Fact> {
    let spec = &findings.plan.spec;
    let fixed: Vec<String> = spec
        .set
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let problem = match fixed.is_empty() {
        true => spec.problem.clone(),
        false => format!("{} ({})", spec.problem, fixed.join(", ")),
    };
    let seeds = format!("{}, the same trajectories for all methods", spec.seed);
    let mut facts = vec![
        Fact::new(
            "Command",
            Cell::Code {
                text: findings.command.clone(),
            },
        ),
        Fact::text("Problem", problem),
        Fact::text("Seeds", seeds),
        Fact::text("Kernel", findings.kernel),
        Fact::count("Threads", findings.threads as u64),
        Fact::new("Seconds", Cell::number(Some(findings.seconds))),
    ];
    let horizon = spec.horizon;
    facts.extend(horizon.map(|t| Fact::text("Samples per run (T)", number::whole(t))));
    facts.push(Fact::text("Methods", spec.algorithms.join(", ")));
    facts.push(Fact::text("Runs", spec.runs.to_string()));
    facts
}

fn results(findings: &ExperimentResults) -> Table {
    let plan = &findings.plan;
    let mut rows = Vec::new();
    for (point, scores) in plan.points.iter().zip(&findings.scores) {
        for (contestant, score) in point.contestants.iter().zip(scores) {
            let Estimate {
                mean,
                standard_error,
            } = score.f;
            rows.push(vec![
                Cell::word(point.value.map_or("–".into(), |value| value.to_string())),
                Cell::word(&contestant.label),
                Cell::Estimate {
                    value: mean,
                    stderr: standard_error,
                },
                Cell::number(Some(point.problem.f_zero())),
                Cell::number(Some(score.d_norm_sq.mean)),
                Cell::number(Some(score.max_mean_theta_norm_sq)),
                Cell::number(Some(score.divergence_rate)),
                Cell::number(score.projections),
                Cell::Count {
                    value: score.updates,
                },
                Cell::word(if contestant.prepared.oracle() {
                    "oracle"
                } else {
                    "no"
                }),
            ]);
        }
    }
    Table {
        title: "Results".into(),
        text: vec![
            "f is the error of the method's own output after the last sample; f(0) is the error of θ = 0. An oracle \
             has an input that only the exact model provides."
                .into(),
        ],
        columns: vec![
            Column::words(if plan.varies() { plan.varied() } else { "value" }),
            Column::words("method"),
            Column::numbers("f"),
            Column::numbers("f(0)"),
            Column::numbers("|V − V*|² in the D-norm"),
            Column::numbers("largest mean |θ|²"),
            Column::numbers("divergence rate"),
            Column::numbers("projections per run"),
            Column::numbers("updates per run"),
            Column::words("oracle"),
        ],
        rows,
        ..Table::default()
    }
}

fn agents(findings: &ExperimentResults) -> Table {
    let plan = &findings.plan;
    let mut columns = vec![
        Column::words(if plan.varies() {
            plan.varied()
        } else {
            "value"
        }),
        Column::words("method"),
        Column::words("split"),
        Column::numbers("bias"),
        Column::numbers("spread"),
    ];
    for agents in &plan.spec.agents {
        columns.push(Column::numbers(format!("E f, N = {agents}")));
    }
    let row = |split: &super::agents::Split| {
        let value = plan.points[split.point].value;
        let mut row = vec![
            Cell::word(value.map_or("–".into(), |value| value.to_string())),
            Cell::word(&split.label),
            Cell::word(if split.exact {
                "exact"
            } else {
                "from the runs"
            }),
            Cell::number(Some(split.bias)),
            Cell::number(Some(split.spread)),
        ];
        let agents = plan.spec.agents.iter();
        row.extend(agents.map(|&n| Cell::number(Some(split.f(n)))));
        row
    };
    Table {
        title: "One-shot averaging".into(),
        text: vec![
            "N agents learn from independent trajectories and average their outputs once. Since f is quadratic, \
             E f(mean) = f(E X) + (E f(X) − f(E X)) / N: the bias f(E X) stays, the spread is divided by N."
                .into(),
        ],
        columns,
        rows: findings.splits.iter().map(row).collect(),
        ..Table::default()
    }
}
