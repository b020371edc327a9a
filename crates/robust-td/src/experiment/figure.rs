//! Draws the figures of an experiment.

use robust_td_engine::contest::Estimate;
use robust_td_report::{AxisLabel, Curve, Key, LineFigure, LineMeaning, Pattern, Reference, Scale};

use super::ExperimentResults;
use super::spec::{Against, Show};
use crate::contest::figure::{clamp, curve, meanings};

/// The quantities that the spec shows, against what varies.
pub fn results(findings: &ExperimentResults) -> LineFigure {
    let plan = &findings.plan;
    let shown = &plan.spec.show.0;
    let alone = shown.len() == 1;
    let place = |value: f64| match plan.spec.against {
        Against::Value => value,
        Against::OneMinus => 1.0 - value,
    };
    let mut order: Vec<(f64, usize)> = plan
        .points
        .iter()
        .enumerate()
        .filter_map(|(i, point)| Some((place(point.value?), i)))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let contestants = &plan.points[0].contestants;
    let series = |show: Show, k: usize| -> Vec<(f64, Estimate)> {
        let at = |&(x, i): &(f64, usize)| {
            let point = &plan.points[i];
            (
                x,
                show.of(point, &point.contestants[k], &findings.scores[i][k]),
            )
        };
        order.iter().map(at).collect()
    };
    let mut drawn = Vec::new();
    for &show in shown {
        // The comparison bound belongs to the problem, not to a method.
        let several = if show == Show::ComparisonBound {
            1
        } else {
            contestants.len()
        };
        drawn.extend((0..several).map(|k| (show, k, series(show, k))));
    }
    drawn.retain(|(show, _, points)| {
        !show.is_bound() || points.iter().any(|(_, estimate)| estimate.mean.is_finite())
    });
    let error = alone && matches!(shown[0], Show::F | Show::DNormSq | Show::ThetaErrorSq);
    let f_zero = plan.points.iter().map(|point| point.problem.f_zero());
    // Errors far above f(0) are all equally bad; norms, counts and bounds have no such limit.
    let top = if error {
        f_zero.fold(0.0, f64::max)
    } else {
        0.0
    };
    let means = drawn.iter().flat_map(|(_, _, points)| points);
    let clamp = clamp(top, means.map(|(_, estimate)| estimate.mean));
    let curves = drawn.iter().map(|(show, k, points)| {
        let curve = curve(&contestants[*k], points, clamp);
        match alone {
            true => curve,
            false => Curve {
                label: match show {
                    Show::ComparisonBound => show.words().into(),
                    _ => format!("{}, {}", contestants[*k].label, show.words()),
                },
                pattern: match show.is_bound() {
                    true => Pattern::Dashed,
                    false => Pattern::Solid,
                },
                points: (curve.points.into_iter())
                    .filter(|(_, y)| !y.is_nan())
                    .collect(),
                ..curve
            },
        }
    });
    let same = plan
        .points
        .windows(2)
        .all(|pair| pair[0].problem.f_zero() == pair[1].problem.f_zero());
    let references = match shown.contains(&Show::F) && same {
        true => vec![Reference {
            label: "f(0), the error of θ = 0".into(),
            value: plan.points[0].problem.f_zero(),
        }],
        false => Vec::new(),
    };
    let meanings = match alone {
        true => meanings(contestants.iter()),
        false => [(Pattern::Solid, "measured"), (Pattern::Dashed, "bound")]
            .map(|(pattern, label)| LineMeaning {
                pattern,
                label: label.into(),
            })
            .into(),
    };
    LineFigure {
        title: title(findings),
        x: AxisLabel {
            label: match plan.spec.against {
                Against::Value => plan.varied().into(),
                Against::OneMinus => format!("1 − {}", plan.varied()),
            },
            scale: match order.iter().all(|&(x, _)| x > 0.0) {
                true => Scale::Log,
                false => Scale::Linear,
            },
        },
        y: AxisLabel {
            label: match alone {
                true => shown[0].label().into(),
                false => "mean over runs, or bound".into(),
            },
            scale: Scale::Log,
        },
        curves: curves.collect(),
        references,
        clamp,
        key: Key::Beside,
        meanings,
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
