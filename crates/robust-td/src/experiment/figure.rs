//! Draws the figures of an experiment.

use robust_td_engine::contest::Estimate;
use robust_td_report::{AxisLabel, Curve, Key, LineFigure, Reference, Scale};

use super::ExperimentResults;
use super::spec::Show;
use crate::contest::figure::{clamp, curve, meanings};

/// The quantity that the spec shows, against what varies.
pub fn results(findings: &ExperimentResults) -> LineFigure {
    let plan = &findings.plan;
    let show = plan.spec.show;
    let values: Vec<f64> = plan.points.iter().filter_map(|point| point.value).collect();
    let estimates: Vec<Vec<Estimate>> = findings
        .scores
        .iter()
        .map(|scores| scores.iter().map(|score| show.of(score)).collect())
        .collect();
    let error = matches!(show, Show::F | Show::DNormSq | Show::ThetaErrorSq);
    let f_zero = plan.points.iter().map(|point| point.problem.f_zero());
    // Errors far above f(0) are all equally bad; norms and counts have no such limit.
    let top = if error {
        f_zero.fold(0.0, f64::max)
    } else {
        0.0
    };
    let clamp = clamp(
        top,
        estimates.iter().flatten().map(|estimate| estimate.mean),
    );
    let contestants = &plan.points[0].contestants;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let curves = contestants.iter().enumerate().map(|(k, contestant)| {
        let points: Vec<_> = order
            .iter()
            .map(|&i| (values[i], estimates[i][k]))
            .collect();
        curve(contestant, &points, clamp)
    });
    let same = plan
        .points
        .windows(2)
        .all(|pair| pair[0].problem.f_zero() == pair[1].problem.f_zero());
    let references = match show == Show::F && same {
        true => vec![Reference {
            label: "f(0), the error of θ = 0".into(),
            value: plan.points[0].problem.f_zero(),
        }],
        false => Vec::new(),
    };
    LineFigure {
        title: title(findings),
        x: AxisLabel {
            label: plan.varied().into(),
            scale: match values.iter().all(|&value| value > 0.0) {
                true => Scale::Log,
                false => Scale::Linear,
            },
        },
        y: AxisLabel {
            label: show.label().into(),
            scale: Scale::Log,
        },
        curves: curves.collect(),
        references,
        clamp,
        key: Key::Beside,
        meanings: meanings(contestants.iter()),
    }
}

/// E f of the mean of N outputs against N: exact where that is known, else from the runs.
pub fn agents(findings: &ExperimentResults) -> LineFigure {
    let plan = &findings.plan;
    let better = |split: &&super::agents::Split| {
        let exact_exists = findings
            .splits
            .iter()
            .any(|other| other.exact && (other.point, &other.label) == (split.point, &split.label));
        split.exact == exact_exists
    };
    let drawn: Vec<_> = findings.splits.iter().filter(better).collect();
    let means = drawn
        .iter()
        .flat_map(|split| plan.spec.agents.iter().map(|&agents| split.f(agents)));
    let f_zero = plan.points[0].problem.f_zero();
    let clamp = clamp(f_zero, means);
    let curves = drawn.iter().map(|split| {
        let kind = if split.exact { "exact" } else { "sampled" };
        let value = match plan.points[split.point].value {
            Some(value) => format!(", {} = {value}", plan.varied()),
            None => String::new(),
        };
        let agents = plan.spec.agents.iter();
        Curve {
            label: format!("{}{value} ({kind})", split.label),
            points: agents.map(|&n| (n as f64, split.f(n))).collect(),
            ..Curve::default()
        }
    });
    let axis = |label: &str| AxisLabel {
        label: label.into(),
        scale: Scale::Log,
    };
    LineFigure {
        title: title(findings),
        x: axis("agents N"),
        y: axis("E f of the mean of N outputs"),
        curves: curves.collect(),
        references: Vec::new(),
        clamp,
        key: Key::Beside,
        meanings: Vec::new(),
    }
}

/// The title of the experiment.
pub fn title(findings: &ExperimentResults) -> String {
    let spec = &findings.plan.spec;
    match &spec.title {
        Some(title) => title.clone(),
        None => format!("Experiment on {}", spec.problem),
    }
}
