//! Simulates the coverage of 95 % intervals for means of known distribution.

use super::quantile::normal;
use super::spread::{Spread, independent, of_powers, two_sided};
use super::support::{Support, leverage};
use super::trajectory::{BLOCKS, Trajectory};
use crate::random::Stream;

const LOGS: u64 = 600;

/// Coverage, that of the reliable answers, mean width over that of the known distribution of the error, and the share of unreliable answers.
#[derive(Debug)]
struct Found {
    coverage: f64,
    reliable_coverage: f64,
    width: f64,
    unreliable: f64,
}

/// Intervals for the mean of the values that `draw` makes, all with mean 0.
fn simulate(draw: impl Fn(&mut Stream) -> Vec<f64>, spread: impl Fn(&[f64]) -> Spread) -> Found {
    let [
        mut covered,
        mut reliably,
        mut width,
        mut squares,
        mut unreliable,
    ] = [0.0; 5];
    for log in 0..LOGS {
        let values = draw(&mut Stream::new(15, log));
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let contributions: Vec<f64> = values
            .iter()
            .map(|v| (v - mean) / n * leverage(1.0 / n))
            .collect();
        let answer = spread(&contributions);
        let sides = answer.sides(0.95);
        let covers = mean <= sides.below && -mean <= sides.above;
        // Contributions that are all 0 show no error at all: there the program looks at the rewards.
        let reliable = answer.reliable && answer.standard_error() > 0.0;
        covered += f64::from(covers);
        reliably += f64::from(covers && reliable);
        width += 0.5 * (sides.below + sides.above);
        squares += mean * mean;
        unreliable += f64::from(!reliable);
    }
    let logs = LOGS as f64;
    Found {
        coverage: covered / logs,
        reliable_coverage: reliably / (logs - unreliable),
        width: width / logs / (1.96 * (squares / logs).sqrt()),
        unreliable: unreliable / logs,
    }
}

fn gauss(stream: &mut Stream) -> f64 {
    normal(stream.uniform().max(1e-300))
}

/// An autoregression of variance 1.
fn autoregression(stream: &mut Stream, rho: f64) -> Vec<f64> {
    let mut now = gauss(stream);
    let next = |_| {
        now = rho * now + (1.0 - rho * rho).sqrt() * gauss(stream);
        now
    };
    (0..BLOCKS).map(next).collect()
}

fn trajectory(draw: impl Fn(&mut Stream) -> Vec<f64>) -> Found {
    let trajectory = Trajectory::new(BLOCKS).unwrap();
    let support = Support::even(BLOCKS as f64, 1e5);
    simulate(draw, |c| trajectory.spread(c, support))
}

#[test]
fn trajectories_of_white_and_slow_noise() {
    let white = trajectory(|s| autoregression(s, 0.0));
    assert!(
        (0.93..=0.98).contains(&white.coverage) && white.width < 1.5,
        "{white:?}"
    );
    for rho in [0.5, 0.9] {
        let slow = trajectory(|s| autoregression(s, rho));
        assert!(
            (0.93..=0.98).contains(&slow.coverage) && slow.width < 1.8,
            "{rho}: {slow:?}"
        );
    }
    // Slow noise of a quarter of the white noise's variance, four times its variance of the mean.
    let mixture = trajectory(|s| {
        let slow = autoregression(s, 0.9);
        slow.into_iter().map(|x| 0.5 * x + gauss(s)).collect()
    });
    assert!(
        (0.92..=0.98).contains(&mixture.coverage) && mixture.width < 1.6,
        "{mixture:?}"
    );
    // Slower than the log can tell.
    let drift = trajectory(|s| autoregression(s, 0.99));
    assert!(drift.unreliable > 0.8, "{drift:?}");
}

#[test]
fn trajectories_whose_variance_changes() {
    let scaled = |scale: fn(f64) -> f64| {
        trajectory(move |s| {
            let noise = autoregression(s, 0.0).into_iter().enumerate();
            noise
                .map(|(k, x)| x * scale(k as f64 / BLOCKS as f64))
                .collect()
        })
    };
    for (name, found) in [
        ("ramp", scaled(|u| 50_f64.powf(0.5 * u))),
        (
            "half",
            scaled(|u| if u < 0.5 { 1.0 } else { 50_f64.sqrt() }),
        ),
        (
            "tenth",
            scaled(|u| if u < 0.9 { 1.0 } else { 50_f64.sqrt() }),
        ),
    ] {
        assert!(
            (0.93..=0.985).contains(&found.coverage) && found.width < 1.5,
            "{name}: {found:?}"
        );
    }
}

#[test]
fn few_clusters() {
    let clusters = |m: usize, rows: f64, one: fn(&mut Stream) -> f64| {
        let support = Support::even(m as f64, rows);
        simulate(
            |s| (0..m).map(|_| one(s)).collect(),
            |c| independent(c, support),
        )
    };
    let lognormal = |s: &mut Stream| gauss(s).exp() - 0.5_f64.exp();
    for (m, widest) in [(2, 6.0), (3, 2.7), (10, 1.35), (60, 1.1)] {
        let found = clusters(m, 1e5, gauss);
        assert!(
            (0.93..=0.98).contains(&found.coverage) && found.width < widest,
            "{m}: {found:?}"
        );
    }
    // A dozen rows, each its own cluster.
    let dozen = clusters(12, 12.0, lognormal);
    assert!(
        (0.92..=0.98).contains(&dozen.coverage) && dozen.width < 1.8,
        "{dozen:?}"
    );
    let sixty = clusters(60, 60.0, lognormal);
    assert!(
        (0.92..=0.98).contains(&sixty.coverage) && sixty.width < 1.5,
        "{sixty:?}"
    );
}

/// Means over rows of clusters with these shares of them, whose effects differ between clusters (1), or as means of rows that differ (0).
fn of_shares(sizes: &[f64], between: f64, spread: impl Fn(&[f64], Support) -> Spread) -> Found {
    let (m, total) = (sizes.len() as f64, sizes.iter().sum::<f64>());
    let shares: Vec<f64> = sizes.iter().map(|size| size / total).collect();
    let support = Support::of_sizes(sizes, m, 1e5);
    let [mut covered, mut width, mut squares, mut unreliable] = [0.0; 4];
    for log in 0..LOGS {
        let stream = &mut Stream::new(16, log);
        let effect = |share: f64, stream: &mut Stream| {
            let within = (1.0 - between) / (share * m);
            (between + within).sqrt() * gauss(stream)
        };
        let values: Vec<f64> = shares.iter().map(|w| effect(*w, stream)).collect();
        let mean: f64 = shares.iter().zip(&values).map(|(w, x)| w * x).sum();
        let contribution = |(w, x): (&f64, &f64)| w * (x - mean) * leverage(*w);
        let contributions: Vec<f64> = shares.iter().zip(&values).map(contribution).collect();
        let spread = spread(&contributions, support);
        let sides = spread.sides(0.95);
        unreliable += f64::from(u8::from(!spread.reliable));
        covered += f64::from(mean <= sides.below && -mean <= sides.above);
        width += 0.5 * (sides.below + sides.above);
        squares += mean * mean;
    }
    let logs = LOGS as f64;
    Found {
        coverage: covered / logs,
        reliable_coverage: covered / logs,
        width: width / logs / (1.96 * (squares / logs).sqrt()),
        unreliable: unreliable / logs,
    }
}

/// Sizes like those of a Pareto distribution, or one large cluster among equal ones.
#[test]
fn few_clusters_of_different_sizes() {
    let pareto = |m: usize, power: f64| (0..m).map(|k| (k as f64 + 0.5).powf(-power)).collect();
    let one = |m: usize, share: f64| {
        let others = (1.0 - share) / (m as f64 - 1.0);
        let sizes = std::iter::once(share).chain(std::iter::repeat_n(others, m - 1));
        sizes.collect::<Vec<f64>>()
    };
    let cases: [(Vec<f64>, f64); 9] = [
        (pareto(5, 0.9), 2.4),
        (pareto(8, 0.65), 1.7),
        (pareto(12, 0.9), 1.6),
        (pareto(100, 0.9), 1.4),
        (one(5, 0.4), 2.0),
        (one(12, 0.4), 1.6),
        (one(50, 0.25), 1.5),
        (one(100, 0.4), 1.9),
        (one(250, 0.25), 1.5),
    ];
    for (sizes, widest) in cases {
        for between in [1.0, 0.5, 0.0] {
            let found = of_shares(&sizes, between, independent);
            assert!(
                (0.925..=0.985).contains(&found.coverage)
                    && found.width < widest
                    && found.unreliable < 0.01,
                "{} clusters, {between}: {found:?}",
                sizes.len()
            );
        }
    }
    // What it would be if sizes did not matter.
    let sizes = pareto(12, 0.9);
    let even = |c: &[f64], _| independent(c, Support::even(12.0, 1e5));
    let [before, after] = [
        of_shares(&sizes, 1.0, even),
        of_shares(&sizes, 1.0, independent),
    ];
    assert!(before.coverage < 0.915, "{before:?}");
    assert!(
        after.coverage > before.coverage + 0.03 && after.width < before.width,
        "{after:?}"
    );
}

/// Means of skewed values, from their moments, against the plain t interval.
#[test]
fn means_of_skewed_values_from_their_moments() {
    for count in [30, 100] {
        let centre = 0.5_f64.exp();
        let draw = |s: &mut Stream| (0..count).map(|_| gauss(s).exp() - centre).collect();
        let bend = 1.0 - 1.0 / f64::from(count);
        let sum = |c: &[f64], k: i32| c.iter().map(|c| (bend * c).powi(k)).sum::<f64>();
        let moments = |c: &[f64]| {
            of_powers(
                [2, 3, 4].map(|k| sum(c, k)),
                f64::from(count),
                f64::from(count),
            )
        };
        let skewed = simulate(draw, moments);
        let t = two_sided(0.95, f64::from(count) - 1.0);
        let mut covered = 0.0;
        for log in 0..LOGS {
            let values: Vec<f64> = draw(&mut Stream::new(15, log));
            let mean = values.iter().sum::<f64>() / f64::from(count);
            let away: Vec<f64> = values
                .iter()
                .map(|v| (v - mean) / f64::from(count))
                .collect();
            let error =
                moments(&away.iter().map(|c| c / bend).collect::<Vec<_>>()).standard_error();
            covered += f64::from(mean.abs() <= t * error);
        }
        let plain = covered / LOGS as f64;
        assert!(skewed.coverage > plain + 0.015, "{plain} {skewed:?}");
        assert!((0.90..0.985).contains(&skewed.coverage), "{skewed:?}");
    }
}

/// One of many clusters has an outcome; the number of outcomes in a log is about 2 to 32.
#[test]
fn rare_outcomes_of_many_clusters() {
    const CLUSTERS: usize = 256;
    let support = Support::even(CLUSTERS as f64, 1e5);
    let constant: fn(&mut Stream) -> f64 = |_| 1.0;
    let exponential: fn(&mut Stream) -> f64 = |s| -s.uniform().max(1e-300).ln();
    for (name, size) in [("constant", constant), ("exponential", exponential)] {
        for (outcomes, most_unreliable) in [(2.0, 0.92), (4.0, 0.7), (8.0, 0.35), (32.0, 0.01)] {
            let share = outcomes / CLUSTERS as f64;
            let draw = |s: &mut Stream| {
                let happens = |s: &mut Stream| f64::from(s.uniform() < share);
                let clusters = (0..CLUSTERS).map(|_| happens(s) * size(s) - share);
                clusters.collect()
            };
            let found = simulate(draw, |c| independent(c, support));
            assert!(
                (0.92..=0.995).contains(&found.reliable_coverage)
                    && found.unreliable <= most_unreliable,
                "{name}, {outcomes}: {found:?}"
            );
        }
    }
}
