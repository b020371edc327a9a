//! Measures nanoseconds per sample and method, for lanes and for individual learners, on one thread.
//!
//! `cargo bench -p robust-td-engine --bench contest [-- samples]`. Times are CPU times where the system reports
//! them, and the fastest of five attempts counts, so other load on the machine has little influence.

#![allow(clippy::unwrap_used, reason = "a bench may panic")]

use std::time::Instant;

use robust_td_core::learner::recipe::{Output, Samples};
use robust_td_core::learner::{Recipe, Steps, Td0};
use robust_td_core::registry::AnyLearner;
use robust_td_core::{Problem, catalog};
use robust_td_engine::{Contest, ContestOptions, Entrant, Kernel, contest};

const RUNS: usize = 48;

/// Nanoseconds of CPU time of this thread; wall-clock time except on Linux.
fn now(start: &Instant) -> f64 {
    let scheduler = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let own = scheduler.and_then(|text| text.split_whitespace().next()?.parse().ok());
    own.unwrap_or_else(|| start.elapsed().as_secs_f64() * 1e9)
}

/// Sixteen methods of all kinds that run as lanes.
fn lanes(problem: &Problem, horizon: u64) -> Vec<AnyLearner> {
    let (gamma, d) = (problem.discount(), problem.dimension());
    let phi2 = problem.phi_inf().powi(2);
    let steps = [
        Steps::Constant { eta: 0.1 / phi2 },
        Steps::Robust { scale: 20.0 * phi2 },
        Steps::Harmonic { first: 1.0 / phi2 },
        Steps::Exponential {
            first: 0.5 / phi2,
            horizon,
        },
    ];
    let kinds = steps.map(|steps| {
        let plain = |output| Recipe::plain("alg1", gamma, steps, output);
        [
            plain(Output::StepWeighted),
            plain(Output::Uniform).projected(2.0 * problem.theta_star_norm()),
            plain(Output::half_of(horizon)).regularised(1e-3 * phi2),
            plain(Output::Last).on(Samples::LastOf(5)),
        ]
    });
    let recipes = kinds.as_flattened().iter();
    recipes
        .map(|&recipe| Td0::new(recipe, d).unwrap().into())
        .collect()
}

/// A method that runs individually, because no lane keeps the two averages of a doubling tail.
fn solo(problem: &Problem) -> Vec<AnyLearner> {
    let steps = Steps::Constant {
        eta: 0.1 / problem.phi_inf().powi(2),
    };
    let recipe = Recipe::plain("alg1", problem.discount(), steps, Output::DoublingTail);
    vec![Td0::new(recipe, problem.dimension()).unwrap().into()]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let horizon = arguments.iter().find_map(|a| a.parse().ok());
    let horizon: u64 = horizon.unwrap_or(20_000);
    for name in ["two-state", "paper-ring"] {
        let problem = catalog::problem(name, &[]).unwrap();
        let measure = |learners: Vec<AnyLearner>, kernel: Kernel| {
            let entrant = |learner| Entrant {
                label: String::new(),
                learner,
            };
            let race = Contest {
                problem: problem.clone(),
                entrants: learners.into_iter().map(entrant).collect(),
                horizon,
                runs: RUNS,
                seed: 1,
                points_per_decade: 10,
            };
            let options = ContestOptions {
                threads: 1,
                kernel,
                ..ContestOptions::default()
            };
            let attempt = |_| {
                let start = Instant::now();
                let before = now(&start);
                contest(&race, &options).unwrap();
                now(&start) - before
            };
            let best = (0..5).map(attempt).fold(f64::INFINITY, f64::min);
            best / (horizon as usize * RUNS * race.entrants.len()) as f64
        };
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_available()) {
            let time = measure(lanes(&problem, horizon), kernel);
            println!("{name:12} lanes {kernel:9} {time:7.2} ns per sample and method");
        }
        let time = measure(solo(&problem), Kernel::best());
        println!("{name:12} individually    {time:7.2} ns per sample and method");
    }
}
