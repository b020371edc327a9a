//! Draws the learning curves of a comparison.

use robust_td_report::{AxisLabel, Key, LineFigure, Reference, Scale};

use super::results::ComparisonResults;
use crate::contest::figure::{clamp, curve, meanings};

/// f of each method's output against the number of samples.
pub fn figure(comparison: &ComparisonResults) -> LineFigure {
    let ranked = comparison.ranked();
    let f_zero = comparison.problem.f_zero();
    let all = ranked.iter().flat_map(|(_, score)| &score.curve);
    let clamp = clamp(f_zero, all.map(|point| point.f.mean));
    let curves = ranked.iter().map(|(contestant, score)| {
        let seen = score.curve.iter().filter(|point| point.samples > 0);
        let points: Vec<_> = seen.map(|point| (point.samples as f64, point.f)).collect();
        curve(contestant, &points, clamp)
    });
    let axis = |label: &str| AxisLabel {
        label: label.into(),
        scale: Scale::Log,
    };
    LineFigure {
        title: format!("Methods on {}", comparison.problem_words()),
        x: axis("samples of the environment"),
        y: axis("f of the method's output, mean over runs"),
        curves: curves.collect(),
        references: vec![Reference {
            label: "f(0), the error of θ = 0".into(),
            value: f_zero,
        }],
        clamp,
        key: Key::Beside,
        meanings: meanings(ranked.iter().map(|&(contestant, _)| contestant)),
    }
}
