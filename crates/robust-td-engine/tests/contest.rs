//! Checks contests against the learners themselves, exact expectations, and each other.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Mutex;

use crate::common::random_problem;
use proptest::prelude::*;
use robust_td_core::learner::recipe::{Output, Samples};
use robust_td_core::learner::{Alg1, Learner, Recipe, Steps, Td0, Transition, alg1};
use robust_td_core::moments::Moments;
use robust_td_core::random::Stream;
use robust_td_core::registry::AnyLearner;
use robust_td_core::schedule::Schedule;
use robust_td_core::simulate::Sampler;
use robust_td_core::{Problem, catalog};
use robust_td_engine::contest::{CurvePoint, Estimate};
use robust_td_engine::grid::log_spaced;
use robust_td_engine::{Contest, ContestOptions, Entrant, Error, Kernel, Progress, Score, contest};

/// Recipes with every kind of steps, samples, output, projection and regularisation.
fn recipes(problem: &Problem, horizon: u64) -> Vec<Recipe> {
    let phi2 = problem.phi_inf().powi(2);
    let all_steps = [
        Steps::Constant { eta: 0.3 / phi2 },
        Steps::Robust { scale: 2.0 * phi2 },
        Steps::MixingFree { scale: phi2 },
        Steps::Harmonic { first: 0.9 / phi2 },
        Steps::Exponential {
            first: 0.5 / phi2,
            horizon,
        },
    ];
    let outputs = [
        Output::Last,
        Output::Uniform,
        Output::StepWeighted,
        Output::half_of(horizon),
        Output::Tail { after: 2 * horizon },
    ];
    let samples = [Samples::Every, Samples::FirstOf(3), Samples::LastOf(4)];
    // A ball without theta*, so that iterates leave it repeatedly, and a large one.
    let radii = [
        None,
        Some(0.3 * problem.theta_star_norm()),
        Some(9.0 * problem.theta_star_norm()),
    ];
    let mut recipes = Vec::new();
    for (i, output) in outputs.into_iter().enumerate() {
        for (j, steps) in all_steps.into_iter().enumerate() {
            let plain = Recipe::plain("alg1", problem.discount(), steps, output);
            let recipe = plain.on(samples[(i + j) % 3]);
            let recipe = recipe.regularised([0.0, 0.1 * phi2][(i + j / 2) % 2]);
            recipes.push(match radii[(i + 2 * j) % 3] {
                Some(radius) => recipe.projected(radius),
                None => recipe,
            });
        }
    }
    recipes
}

fn entrant(learner: impl Into<AnyLearner>) -> Entrant {
    let learner = learner.into();
    let label = learner.id().into();
    Entrant { label, learner }
}

fn entrants(problem: &Problem, horizon: u64) -> Vec<Entrant> {
    let d = problem.dimension();
    let lanes = recipes(problem, horizon).into_iter();
    let mut entrants: Vec<_> = lanes.map(|r| entrant(Td0::new(r, d).unwrap())).collect();
    let alg1 = alg1::Alg1Params::decaying(problem.discount(), horizon, 0.5, problem.phi_inf());
    entrants.insert(3, entrant(Alg1::new(alg1, d).unwrap()));
    let steps = Steps::Constant { eta: 0.1 };
    let tail = Recipe::plain("alg1", problem.discount(), steps, Output::DoublingTail);
    entrants.insert(7, entrant(Td0::new(tail, d).unwrap()));
    entrants
}

fn race(problem: Problem, horizon: u64, runs: usize, seed: u64) -> Contest {
    let entrants = entrants(&problem, horizon);
    Contest {
        problem,
        entrants,
        horizon,
        runs,
        seed,
        points_per_decade: 4,
    }
}

/// A score computed with the learner itself, run by run on individually sampled trajectories.
fn reference(contest: &Contest, entrant: &Entrant) -> Score {
    let Contest { problem, runs, .. } = contest;
    let cuts = log_spaced(contest.horizon, contest.points_per_decade);
    let mut norms = vec![0.0; contest.horizon as usize + 1];
    let mut f_at = vec![Vec::new(); cuts.len()];
    let (mut outputs, mut learners) = (Vec::new(), Vec::new());
    for run in 0..*runs {
        let mut stream = Stream::new(contest.seed, run as u64);
        let states = Sampler::new(problem).trajectory(
            problem.start(),
            contest.horizon as usize,
            &mut stream,
        );
        let mut learner = entrant.learner.clone();
        for (t, pair) in states.windows(2).enumerate() {
            learner.step(&Transition::of_problem(problem, pair[0], pair[1]));
            norms[t + 1] += learner.theta().iter().map(|x| x * x).sum::<f64>();
            if let Ok(cut) = cuts.binary_search(&(t as u64 + 1)) {
                f_at[cut].push(problem.f(&learner.output()));
            }
        }
        outputs.push(learner.output());
        learners.push(learner);
    }
    let count = *runs as f64;
    let measured = |measure: &dyn Fn(&[f64]) -> f64| {
        let values: Vec<f64> = outputs.iter().map(|output| measure(output)).collect();
        Estimate::of(&values)
    };
    let mean: Vec<f64> = (0..problem.dimension())
        .map(|j| outputs.iter().map(|output| output[j]).sum::<f64>() / count)
        .collect();
    let peak = norms.iter().copied().fold(0.0, f64::max);
    let diverged = learners.iter().filter(|l| l.health().diverged()).count();
    let projections: Option<u64> = learners.iter().map(Learner::projections).sum();
    let curve = cuts.iter().zip(&f_at);
    Score {
        f: measured(&|output| problem.f(output)),
        f_of_runs: outputs.iter().map(|output| problem.f(output)).collect(),
        d_norm_sq: measured(&|output| problem.d_norm_sq(&problem.values(&problem.error(output)))),
        theta_error_sq: measured(&|o| problem.error(o).iter().map(|e| e * e).sum()),
        f_of_mean: problem.f(&mean),
        max_mean_theta_norm_sq: peak / count,
        peak_step: norms.iter().position(|&norm| norm == peak).unwrap() as u64,
        divergence_rate: diverged as f64 / count,
        projections: projections.map(|sum| sum as f64 / count),
        updates: learners[0].updates(),
        curve: curve
            .map(|(&samples, f)| CurvePoint {
                samples,
                f: Estimate::of(f),
            })
            .collect(),
    }
}

fn close(x: f64, y: f64) {
    assert!((x - y).abs() <= 1e-10 * x.abs().max(y.abs()), "{x} {y}");
}

fn close_estimates(x: Estimate, y: Estimate) {
    close(x.mean, y.mean);
    // The spread is a difference of values: its rounding errors are relative to the mean.
    let scale = y.mean.abs() + y.standard_error;
    assert!(
        (x.standard_error - y.standard_error).abs() <= 1e-10 * scale,
        "{x:?} {y:?}"
    );
}

fn assert_agree(own: &Score, expected: &Score) {
    close_estimates(own.f, expected.f);
    assert_eq!(own.f_of_runs.len(), expected.f_of_runs.len());
    for (own, expected) in own.f_of_runs.iter().zip(&expected.f_of_runs) {
        close(*own, *expected);
    }
    close_estimates(own.d_norm_sq, expected.d_norm_sq);
    close_estimates(own.theta_error_sq, expected.theta_error_sq);
    close(own.f_of_mean, expected.f_of_mean);
    close(own.max_mean_theta_norm_sq, expected.max_mean_theta_norm_sq);
    assert_eq!(own.divergence_rate, expected.divergence_rate);
    assert_eq!(own.projections, expected.projections);
    assert_eq!(own.updates, expected.updates);
    assert_eq!(own.curve.len(), expected.curve.len());
    for (own, expected) in own.curve.iter().zip(&expected.curve) {
        assert_eq!(own.samples, expected.samples);
        close_estimates(own.f, expected.f);
    }
}

#[test]
fn every_score_is_that_of_the_learner_itself() {
    let mut projected = 0;
    for (seed, states, d, runs) in [(1, 4, 1, 11), (2, 6, 2, 9), (3, 9, 5, 6), (4, 20, 10, 3)] {
        let race = race(random_problem(seed, states, d), 2500, runs, 5 + seed);
        let scores = contest(&race, &ContestOptions::default()).unwrap();
        assert_eq!(scores.len(), race.entrants.len());
        for (entrant, score) in race.entrants.iter().zip(&scores) {
            let expected = reference(&race, entrant);
            assert_agree(score, &expected);
            // Where iterates move along the sphere, many steps share the largest norm.
            if entrant.learner.projections().is_none() {
                assert_eq!(score.peak_step, expected.peak_step);
            }
            projected += usize::from(score.projections > Some(10.0));
        }
    }
    assert!(projected > 4);
}

/// The bits of all numbers.
fn bytes(race: &Contest, kernel: Kernel, threads: usize) -> String {
    let options = ContestOptions {
        threads,
        kernel,
        ..ContestOptions::default()
    };
    format!("{:?}", contest(race, &options).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_kernel_and_thread_count_gives_the_same_bytes(
        seed in any::<u64>(),
        d in 1..12_usize,
        runs in 1..20_usize,
        horizon in 3..1500_u64,
    ) {
        let race = race(random_problem(seed, d + 3, d), horizon, runs, seed ^ 1);
        let expected = bytes(&race, Kernel::Scalar, 1);
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_available()) {
            for threads in [1, 3] {
                prop_assert_eq!(&bytes(&race, kernel, threads), &expected);
            }
        }
    }
}

#[test]
fn divergence_is_what_the_learners_report() {
    let problem = random_problem(8, 5, 2);
    let d = problem.dimension();
    let alone = |factor: f64, output: Output| {
        let eta = factor / problem.phi_inf().powi(2);
        let steps = Steps::Constant { eta };
        let recipe = Recipe::plain("alg1", problem.discount(), steps, output);
        Contest {
            problem: problem.clone(),
            entrants: vec![entrant(Td0::new(recipe, d).unwrap())],
            horizon: 400,
            runs: 40,
            seed: 3,
            points_per_decade: 3,
        }
    };
    let mut rates = Vec::new();
    for output in [Output::Uniform, Output::DoublingTail] {
        for factor in [0.5, 4.0, 4.5, 5.0, 6.0, 1e3] {
            let race = alone(factor, output);
            for kernel in [Kernel::Scalar, Kernel::best()] {
                let options = ContestOptions {
                    kernel,
                    ..ContestOptions::default()
                };
                let score = contest(&race, &options).unwrap().remove(0);
                let expected = reference(&race, &race.entrants[0]);
                assert_eq!(score.divergence_rate, expected.divergence_rate);
                rates.push(score.divergence_rate);
                if factor == 1e3 {
                    // Overflows f64, and is not finite from the first step on.
                    assert_eq!(score.max_mean_theta_norm_sq, f64::INFINITY);
                    assert_eq!(score.f.mean, f64::INFINITY);
                    assert_eq!(score.f_of_mean, f64::INFINITY);
                    assert!(score.peak_step > 1 && score.peak_step < race.horizon);
                }
            }
        }
    }
    assert!(rates.contains(&0.0) && rates.contains(&1.0), "{rates:?}");
    assert!(
        rates.iter().any(|&rate| rate > 0.0 && rate < 1.0),
        "{rates:?}"
    );
}

#[test]
fn means_are_the_exact_expectations() {
    let problem = random_problem(21, 4, 2);
    let horizon = 300;
    let params = alg1::Alg1Params::decaying(problem.discount(), horizon, 0.2, problem.phi_inf());
    let learner = Alg1::new(params, 2).unwrap();
    let steps = learner.recipe().unwrap().steps;
    let race = Contest {
        entrants: vec![entrant(learner)],
        problem,
        horizon,
        runs: 4000,
        seed: 77,
        points_per_decade: 3,
    };
    let score = contest(&race, &ContestOptions::default())
        .unwrap()
        .remove(0);
    let mut moments = Moments::new(&race.problem);
    let mut points = score.curve.iter();
    let mut point = points.next();
    let mut peak = 0.0_f64;
    for t in 0..horizon {
        moments.step(steps.step_size(t));
        peak = peak.max(moments.mean_norm_sq());
        if let Some(now) = point.filter(|point| point.samples == t + 1) {
            let (exact, own) = (moments.mean_f_of_average(), now.f);
            // After one sample the output is still theta_0, in every run.
            let rounding = 1e-12 * exact;
            assert!(
                (own.mean - exact).abs() <= 4.0 * own.standard_error + rounding,
                "{own:?} {exact}"
            );
            point = points.next();
        }
    }
    assert!(point.is_none());
    let expected = moments.bias_and_spread();
    let of_mean = expected.bias + expected.spread / race.runs as f64;
    assert!(
        (score.f_of_mean / of_mean - 1.0).abs() < 0.05,
        "{} {of_mean}",
        score.f_of_mean
    );
    assert!((score.max_mean_theta_norm_sq / peak - 1.0).abs() < 0.05);
}

#[test]
fn a_large_chain_needs_no_square_table() {
    let settings = [("states", 100_000.0), ("actions", 2.0), ("dimension", 3.0)];
    let problem = catalog::problem("garnet", &settings).unwrap();
    let mut race = race(problem, 500, 2, 1);
    race.entrants.truncate(9);
    let scores = contest(&race, &ContestOptions::default()).unwrap();
    for at in [0, 3, 7, 8] {
        assert_agree(&scores[at], &reference(&race, &race.entrants[at]));
    }
}

#[test]
fn progress_goes_from_nothing_to_everything() {
    let race = race(random_problem(2, 5, 2), 3000, 9, 1);
    let seen = Mutex::new(Vec::new());
    let note = |progress: Progress| seen.lock().unwrap().push(progress);
    let options = ContestOptions {
        progress: Some(&note),
        ..ContestOptions::default()
    };
    contest(&race, &options).unwrap();
    let seen = seen.into_inner().unwrap();
    let total = 3000 * 9 * race.entrants.len() as u64;
    assert!(seen.iter().all(|p| p.total == total));
    assert!(seen.is_sorted_by(|a, b| a.done < b.done));
    assert_eq!((seen[0].done, seen[seen.len() - 1].done), (0, total));
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = race(random_problem(2, 5, 2), 100, 2, 1);
    let refused = |change: &dyn Fn(&mut Contest)| {
        let mut bad = good.clone();
        change(&mut bad);
        contest(&bad, &ContestOptions::default()).unwrap_err()
    };
    assert!(matches!(
        refused(&|c| c.entrants.clear()),
        Error::NoEntrants
    ));
    assert!(matches!(refused(&|c| c.runs = 0), Error::NoRuns));
    assert!(matches!(
        refused(&|c| c.horizon = 2),
        Error::Horizon { horizon: 2 }
    ));
    let steps = Steps::Constant { eta: 0.1 };
    let other = |discount: f64, dimension: usize| {
        let recipe = Recipe::plain("alg1", discount, steps, Output::Last);
        entrant(Td0::new(recipe, dimension).unwrap())
    };
    let gamma = good.problem.discount();
    for (bad, what) in [
        (other(gamma, 3), "dimension is 3"),
        (other(0.5, 2), "discount is 0.5"),
    ] {
        let error = refused(&|c| c.entrants.push(bad.clone())).to_string();
        assert!(error.contains(what), "{error}");
    }
    let begun = refused(&|c| {
        let transition = Transition::of_problem(&good.problem, 0, 1);
        c.entrants[2].learner.step(&transition);
    });
    assert!(
        begun.to_string().contains("already made 1 steps"),
        "{begun}"
    );
}
