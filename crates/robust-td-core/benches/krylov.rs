//! Measures how the equations of large logs are solved: tile-coded mountain car and pole, one-hot walks; directly from their
//! sparse matrix, and by iteration.
//!
//! `cargo bench -p robust-td-core --bench krylov -- car` runs the problems whose name starts with "car".

#![allow(clippy::unwrap_used, reason = "a bench may panic")]

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::Instant;

use robust_td_core::features::{FeatureMap, Fitting, Rows};
use robust_td_core::krylov::Krylov;
use robust_td_core::random::Stream;
use robust_td_core::sparse::{SparseSums, SparseSystem};
use robust_td_core::{Outcome, Transition};

/// What follows a row of a simulation.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Continues,
    Terminated,
    Truncated,
}

/// Rows of observation, next observation and reward.
#[derive(Default)]
struct Trajectory {
    observations: Vec<f64>,
    next: Vec<f64>,
    rewards: Vec<f64>,
    after: Vec<After>,
}

impl Trajectory {
    fn push(&mut self, x: &[f64], next: &[f64], reward: f64, after: After) {
        self.observations.extend(x);
        self.next.extend(next);
        self.rewards.push(reward);
        self.after.push(after);
    }

    /// Rocks up the hill, with every fifth action random; episodes of at most 1000 rows.
    fn mountain_car(rows: usize) -> Self {
        let (mut log, mut random) = (Self::default(), Stream::new(1, 0));
        let (mut x, mut v, mut length) = (-0.5, 0.0_f64, 0);
        for _ in 0..rows {
            let before = [x, v];
            let action = match random.uniform() < 0.2 {
                true => (3.0 * random.uniform()).floor() - 1.0,
                false => v.signum(),
            };
            v = (v + 0.001 * action - 0.0025 * f64::cos(3.0 * x)).clamp(-0.07, 0.07);
            x = (x + v).clamp(-1.2, 0.6);
            v = if x <= -1.2 { 0.0 } else { v };
            length += 1;
            let after = match (x >= 0.5, length >= 1000) {
                (true, _) => After::Terminated,
                (_, true) => After::Truncated,
                _ => After::Continues,
            };
            log.push(&before, &[x, v], -1.0, after);
            if after != After::Continues {
                (x, v, length) = (-0.6 + 0.2 * random.uniform(), 0.0, 0);
            }
        }
        log
    }

    /// Balances a pole by a hand-made policy with noise; episodes of at most 500 rows.
    fn pole(rows: usize) -> Self {
        let (mut log, mut random) = (Self::default(), Stream::new(2, 0));
        let (mut s, mut length) = ([0.0_f64; 4], 0);
        for _ in 0..rows {
            let before = s;
            let lean = s[2] + 0.3 * s[3] + 0.02 * s[0] + 0.05 * s[1];
            let noise = 0.2 * (random.uniform() - 0.5);
            let right = lean + noise > 0.0;
            let force = if (random.uniform() < 0.15) != right {
                10.0
            } else {
                -10.0
            };
            let (cos, sin) = (s[2].cos(), s[2].sin());
            let pushed = (force + 0.05 * s[3] * s[3] * sin) / 1.1;
            let turn = (9.8 * sin - cos * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1));
            let speed = pushed - 0.05 * turn * cos / 1.1;
            for (s, change) in s.iter_mut().zip([before[1], speed, before[3], turn]) {
                *s += 0.02 * change;
            }
            length += 1;
            let after = match (s[0].abs() > 2.4 || s[2].abs() > 0.2095, length >= 500) {
                (true, _) => After::Terminated,
                (_, true) => After::Truncated,
                _ => After::Continues,
            };
            log.push(&before, &s, 1.0, after);
            if after != After::Continues {
                s = std::array::from_fn(|_| 0.1 * random.uniform() - 0.05);
                length = 0;
            }
        }
        log
    }

    /// A chain on states 0, 1, ...; `step` gives the next state, or `None` at the end of an episode.
    fn chain(rows: usize, mut step: impl FnMut(usize, &mut Stream) -> Option<usize>) -> Self {
        let (mut log, mut random, mut state) = (Self::default(), Stream::new(3, 0), 0);
        for _ in 0..rows {
            let next = step(state, &mut random);
            let after = next.map_or(After::Terminated, |_| After::Continues);
            let to = next.unwrap_or(0);
            let reward = random.uniform() + (state % 7) as f64;
            log.push(&[state as f64], &[to as f64], reward, after);
            state = to;
        }
        log
    }
}

/// The features of a trajectory.
struct Log {
    phi: Rows,
    next: Rows,
    rewards: Vec<f64>,
    after: Vec<After>,
    map: FeatureMap,
}

impl Log {
    fn new(trajectory: Trajectory, inputs: usize, spec: &str) -> Self {
        let mut fitting = Fitting::new(spec, inputs).unwrap();
        while fitting.needs_pass() {
            for x in trajectory.observations.chunks_exact(inputs) {
                fitting.observe(x).unwrap();
            }
            fitting.end_pass().unwrap();
        }
        let map = fitting.finish().unwrap();
        let (mut phi, mut next) = (Rows::default(), Rows::default());
        map.write_rows(&trajectory.observations, &mut phi);
        map.write_rows(&trajectory.next, &mut next);
        let (rewards, after) = (trajectory.rewards, trajectory.after);
        Self {
            phi,
            next,
            rewards,
            after,
            map,
        }
    }

    fn visit(&self, mut visit: impl FnMut(&Transition<'_>)) {
        for (t, (&reward, after)) in self.rewards.iter().zip(&self.after).enumerate() {
            let next = self.next.features(t);
            let outcome = match after {
                After::Continues => Outcome::Continues(next),
                After::Terminated => Outcome::Terminated,
                After::Truncated => Outcome::Truncated(next),
            };
            visit(&Transition::new(self.phi.features(t), reward, outcome));
        }
    }

    fn system(&self, discount: f64) -> SparseSystem {
        let mut sums = SparseSums::new(self.map.outputs(), discount, true).unwrap();
        self.visit(|transition| sums.add(transition));
        sums.into_system().unwrap()
    }

    /// The root mean square of the difference of values over the rows, relative to that of the values.
    fn error(&self, theta: &[f64], reference: &[f64]) -> f64 {
        let (mut error, mut size) = (0.0, 0.0);
        self.visit(|transition| {
            let expected = transition.features.dot(reference);
            error += (transition.features.dot(theta) - expected).powi(2);
            size += expected * expected;
        });
        (error / size).sqrt()
    }
}

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let tiles = |bins: usize| format!("tiles(tilings=8,bins={bins})");
    let car = |rows, bins| Log::new(Trajectory::mountain_car(rows), 2, &tiles(bins));
    let pole = |rows, bins| Log::new(Trajectory::pole(rows), 4, &tiles(bins));
    let below = |n: usize, random: &mut Stream| (random.uniform() * n as f64) as usize;
    let chain = |rows, step: &dyn Fn(usize, &mut Stream) -> Option<usize>| {
        Log::new(Trajectory::chain(rows, step), 1, "one-hot(count=100000)")
    };
    let walk = |s: usize, random: &mut Stream| match random.uniform() < 0.5 {
        true => Some((s + 1) % 100_000),
        false => Some((s + 99_999) % 100_000),
    };
    // Five successors per state, by a fixed hash.
    let garnet = |s: usize, random: &mut Stream| {
        let branch = below(5, random) as u64;
        Some((Stream::new(s as u64, branch).next_u64() % 100_000) as usize)
    };
    let corridor = |s: usize, random: &mut Stream| match random.uniform() < 0.1 {
        true => Some(s),
        false => Some(s + 1).filter(|&next| next < 1000),
    };
    let problems: [(&str, &dyn Fn() -> Log); 9] = [
        ("car-1e4", &|| car(100_000, 35)),
        ("car-1e5", &|| car(300_000, 111)),
        ("car-1e6", &|| car(1_000_000, 353)),
        ("pole-1e4", &|| pole(100_000, 5)),
        ("pole-1e5", &|| pole(300_000, 10)),
        ("pole-1e6", &|| pole(1_000_000, 18)),
        ("walk", &|| chain(1_000_000, &walk)),
        ("garnet", &|| chain(1_000_000, &garnet)),
        ("corridor", &|| chain(200_000, &corridor)),
    ];
    for (name, make) in problems {
        if !asked.is_empty() && !asked.iter().any(|a| name.starts_with(&a[..])) {
            continue;
        }
        let log = make();
        for discount in [0.9, 0.99, 0.999] {
            let start = Instant::now();
            let system = log.system(discount);
            println!(
                "{name} {discount}: {} of {} features, {} entries, {:.1} s",
                system.seen(),
                log.map.outputs(),
                system.stored().unwrap(),
                start.elapsed().as_secs_f64()
            );
            let start = Instant::now();
            let factors = system.factor(2e8, 2e11);
            let direct = factors.as_ref().and_then(|factors| {
                let factored = start.elapsed().as_secs_f64();
                let found = factors.solve()?;
                println!(
                    "    direct: residual {:.1e}, rank {:?}, factors {factored:.1} s, in all {:.1} s",
                    found.relative_residual,
                    found.rank,
                    start.elapsed().as_secs_f64()
                );
                Some(found)
            });
            drop(factors);
            let start = Instant::now();
            let mut levels = Vec::new();
            let progress = |progress: robust_td_core::krylov::Progress| {
                while progress.residual <= 10_f64.powi(-(levels.len() as i32 + 2)) {
                    levels.push(progress.products - 1);
                }
                ControlFlow::Continue(())
            };
            let product = |x: &[f64], y: &mut [f64]| -> Result<(), Infallible> {
                system.product(x, y, false);
                Ok(())
            };
            let Ok(found) = Krylov::default().solve(&system.b, &system.squares, product, progress);
            let error = direct.as_ref().map_or("-".into(), |direct| {
                format!("{:.1e}", log.error(&found.theta, &direct.theta))
            });
            println!(
                "    IDR(8): products to 1e-2, 1e-3, ... {levels:?}, {:?} {:.1e} after {}, error of values {error}, {:.1} s",
                found.end,
                found.residual,
                found.products,
                start.elapsed().as_secs_f64()
            );
        }
    }
}
