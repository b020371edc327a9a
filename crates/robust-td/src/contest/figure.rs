//! Draws the curves of methods, with line patterns that show the source of their inputs.

use robust_td_core::registry::Standing;
use robust_td_engine::contest::Estimate;
use robust_td_report::{BandPoint, Clamp, Curve, LineMeaning, Pattern, Rerun};

use super::field::Contestant;

/// Resolution of the PNG figures.
pub const DPI: f64 = 200.0;

/// The command that reproduces the numbers, if there is one.
pub fn rerun(command: &str) -> Vec<Rerun> {
    match command {
        "" => Vec::new(),
        command => vec![Rerun {
            what: "This gives the same numbers on any machine, with any number of threads:".into(),
            command: command.into(),
        }],
    }
}

/// The line pattern of a method.
fn pattern(contestant: &Contestant) -> Pattern {
    match contestant.method.standing {
        Standing::Experimental => Pattern::Dotted,
        _ if contestant.prepared.oracle() => Pattern::Dashed,
        _ => Pattern::Solid,
    }
}

/// The legend for the patterns that occur.
pub fn meanings<'a>(contestants: impl Iterator<Item = &'a Contestant>) -> Vec<LineMeaning> {
    let used: Vec<Pattern> = contestants.map(pattern).collect();
    [
        (Pattern::Solid, "inputs known in practice"),
        (Pattern::Dashed, "oracle: inputs only from the model"),
        (Pattern::Dotted, "experimental"),
    ]
    .into_iter()
    .filter(|(pattern, _)| used.contains(pattern))
    .map(|(pattern, label)| LineMeaning {
        pattern,
        label: label.into(),
    })
    .collect()
}

/// The curve of a method through its estimates, with a band of one standard error.
pub fn curve(contestant: &Contestant, points: &[(f64, Estimate)], clamp: Clamp) -> Curve {
    let finite = points.iter().filter(|(_, estimate)| {
        estimate.mean.is_finite() && estimate.standard_error.is_finite() && estimate.mean > 0.0
    });
    let band = finite.map(
        |&(
            x,
            Estimate {
                mean,
                standard_error,
            },
        )| BandPoint {
            x,
            // Where one run dominates the mean, the band reaches down to the edge of the panel.
            low: (mean - standard_error).max(clamp.low),
            high: (mean + standard_error).min(clamp.high).max(clamp.low),
        },
    );
    let has_band = points
        .iter()
        .any(|(_, estimate)| estimate.standard_error > 0.0);
    Curve {
        label: contestant.label.clone(),
        band: if has_band { band.collect() } else { Vec::new() },
        points: points
            .iter()
            .map(|&(x, estimate)| (x, estimate.mean))
            .collect(),
        pattern: pattern(contestant),
    }
}

/// Axis limits that keep diverged curves from flattening the rest: from the smallest mean to a hundred times f(0).
pub fn clamp(f_zero: f64, means: impl Iterator<Item = f64>) -> Clamp {
    let smallest = means
        .filter(|&mean| mean > 0.0 && mean.is_finite())
        .fold(f64::INFINITY, f64::min);
    let high = if f_zero > 0.0 && f_zero.is_finite() {
        100.0 * f_zero
    } else {
        1e12
    };
    let low = if smallest < high {
        0.7 * smallest
    } else {
        high * 1e-6
    };
    Clamp { low, high }
}
