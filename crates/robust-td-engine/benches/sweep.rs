//! Measures TD updates per second of every kernel against a plain scalar loop.
//!
//! `cargo bench -p robust-td-engine --bench sweep [-- milliseconds per measurement, kernels]`. Times are CPU
//! times where the system reports them. Every kernel takes turns with the plain loop, and the fastest turn
//! of each counts, so other load on the machine has little influence on the ratios.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{paper_plan, ring};
use robust_td_core::random::Dsfmt;
use robust_td_engine::grid::published_c;
use robust_td_engine::{Kernel, Mode, Options, Tables, exact, single};
use robust_td_simd::{Simd, Work};

/// Seconds of CPU time of this process (to 10 ms); wall-clock time except on Linux.
fn now(start: &Instant) -> f64 {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let after_name = stat.rsplit(')').next()?;
        let field = |i: usize| after_name.split_whitespace().nth(i)?.parse::<f64>().ok();
        Some(field(11)? + field(12)?)
    };
    ticks().map_or_else(|| start.elapsed().as_secs_f64(), |t| t * 0.01)
}

/// The number of turns of every measurement.
const TURNS: usize = 5;

/// The number of entries of the baseline's step size table, used cyclically.
const TABLE: usize = 1 << 16;

/// The clock rate that the system reports for the first CPU; the rate under vector load may differ.
fn nominal_hertz() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    Some(line.split(':').nth(1)?.trim().parse::<f64>().ok()? * 1e6)
}

/// The baseline: per step one draw, a search of the cumulative row, two dots, update, average, norm.
///
/// It is deliberately fast: step sizes come from a table, and the average is a sum. With a
/// logarithm, a square root and a division per coordinate in every step it runs at 0.7 of this speed, and
/// every ratio would look 1.4 times better.
fn plain(tables: &Tables, c: f64, horizon: u64, steps: u64, decays: &[f64; TABLE]) -> f64 {
    let d = tables.dimension;
    let mut generator = Dsfmt::new(1);
    let mut theta = vec![0.0; d];
    let mut average = vec![0.0; d];
    let (mut s, mut largest) = (tables.start, 0.0);
    let scale = 1.0 / (c * tables.phi_inf_squared() * (horizon as f64).ln());
    for t in 1..=steps {
        let u = generator.uniform();
        let row = &tables.rows[s];
        let (mut sum, mut at) = (0.0, 0);
        for (i, p) in row.probabilities.iter().enumerate() {
            sum += p;
            at = i;
            if u <= sum {
                break;
            }
        }
        let next = row.columns[at] as usize;
        let (phi, phi_next) = (tables.phi(s), tables.phi(next));
        let dot = |x: &[f64]| x.iter().zip(&theta).map(|(x, y)| x * y).sum::<f64>();
        let delta = row.rewards[at] + tables.discount * dot(phi_next) - dot(phi);
        let eta = scale * decays[t as usize % TABLE];
        let mut norm = 0.0;
        for j in 0..d {
            theta[j] += eta * delta * phi[j];
            average[j] += theta[j];
            norm += theta[j] * theta[j];
        }
        if norm > largest {
            largest = norm;
        }
        s = next;
    }
    largest + average.iter().sum::<f64>()
}

/// Floating-point operations on eight lanes per step of the kernel at d = 5: one for the step size, 5 for
/// delta, 1 for g, 5 for theta, 5 for the norm, one each for maximum, sum and bucket.
const OPERATIONS: f64 = 20.0;

/// Independent chains of fused multiply-adds, with the given number of operations each.
struct Chains(u64);

impl Work for Chains {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) -> f64 {
        let mut x = [[1.0_f64; 8]; 12];
        for _ in 0..self.0 {
            for chain in &mut x {
                for lane in chain {
                    *lane = lane.mul_add(0.999_999, 1e-9);
                }
            }
        }
        x.as_flattened().iter().sum()
    }
}

/// Lane operations per second of independent fused multiply-adds: the roofline.
fn roofline(kernel: Kernel, seconds: f64, clock: &Instant) -> f64 {
    let mut count = 1 << 20;
    loop {
        let start = now(clock);
        std::hint::black_box(kernel.run(Chains(std::hint::black_box(count))));
        let elapsed = now(clock) - start;
        if elapsed > seconds {
            return (count * 96) as f64 / elapsed;
        }
        count *= 2;
    }
}

fn main() {
    let asked = std::env::args()
        .filter_map(|a| a.parse::<f64>().ok())
        .next();
    let seconds = asked.unwrap_or(1000.0) * 1e-3;
    let named: Vec<Kernel> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let kernels = Kernel::ALL.into_iter().filter(|k| k.is_available());
    let kernels = kernels.filter(|k| named.is_empty() || named.contains(k));
    let clock = Instant::now();
    let tables = ring(1.0);
    // Updates per second, and the number of steps that filled the time; `steps` is the initial guess.
    let measure = |work: &mut dyn FnMut(u64) -> u64, mut steps: u64| {
        loop {
            let start = now(&clock);
            let updates = work(steps);
            let elapsed = now(&clock) - start;
            if elapsed > seconds {
                return (updates as f64 / elapsed, steps);
            }
            steps = (steps * 2).min(10_000_000);
        }
    };
    let decay = |t: usize| 1.0 / ((t as f64 + 3.0).ln() * (t as f64 + 1.0).sqrt());
    let decays: Box<[f64; TABLE]> = Box::new(std::array::from_fn(decay));
    let mut baseline = |steps| {
        std::hint::black_box(plain(&tables, 0.1, 10_000_000, steps * 50, &decays));
        steps * 50
    };
    println!(
        "{:<26}{:>16}{:>10}{:>12}{:>12}",
        "code", "lane-steps/s", "ratio", "of roofline", "cycles"
    );
    let hertz = nominal_hertz();
    let (mut plain_rate, mut plain_steps) = measure(&mut baseline, 2_000);
    println!("{:<26}{plain_rate:>16.3e}{:>10.1}", "plain scalar", 1.0);
    for (name, mode) in [
        ("algorithm", Mode::Algorithm { seed: 1 }),
        ("published", Mode::Published),
    ] {
        for kernel in kernels.clone() {
            let c: Vec<f64> = match mode {
                // A trajectory of its own per constant.
                Mode::Published | Mode::Tdx => published_c()[40..41].to_vec(),
                Mode::Algorithm { .. } => published_c()[..64].to_vec(),
            };
            let mut work = |steps| {
                let plan = paper_plan(mode, &c, 48, 10_000_000, steps);
                single(plan, kernel).map_or(0, |results| results.lane_steps)
            };
            let (mut rate, mut steps, mut roof) = (0.0_f64, 2_000, 0.0_f64);
            for _ in 0..TURNS {
                let turn = measure(&mut baseline, plain_steps);
                (plain_rate, plain_steps) = (plain_rate.max(turn.0), turn.1);
                let turn = measure(&mut work, steps);
                (rate, steps) = (rate.max(turn.0), turn.1);
                roof = roof.max(roofline(kernel, seconds, &clock));
            }
            let share = rate * OPERATIONS / roof;
            let cycles = hertz.map_or("unknown".into(), |hertz| format!("{:.2}", hertz / rate));
            println!(
                "{:<26}{rate:>16.3e}{:>10.1}{:>11.0}%{cycles:>12}",
                format!("{name}, {kernel}"),
                rate / plain_rate,
                100.0 * share
            );
        }
    }
    for kernel in kernels {
        let c = published_c()[40..44].to_vec();
        let mut work = |steps| {
            let plan = paper_plan(Mode::Published, &c, 1, 10_000_000, steps);
            let options = Options {
                threads: 1,
                kernel,
                ..Options::default()
            };
            exact(plan, &options).map_or(0, |_| 16 * steps)
        };
        let (rate, _) = measure(&mut work, 2_000);
        println!("{:<26}{rate:>16.3e}{:>10}", format!("exact, {kernel}"), "");
    }
}
