//! Checks the exact expectations against an independent recursion, against sampling and across kernels.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{c_of, paper_plan, random_problem, ring};
use robust_td_core::moments::Moments;
use robust_td_engine::{Family, Kernel, Lane, LaneResult, Mode, Options, Plan, Tables, exact, run};

fn expectations(plan: &Plan, options: &Options<'_>) -> Vec<LaneResult> {
    let outcome = exact(plan.clone(), options).unwrap();
    outcome.finished().unwrap().lanes
}

fn samples(plan: &Plan) -> Vec<LaneResult> {
    let outcome = run(plan.clone(), &Options::default()).unwrap();
    outcome.finished().unwrap().lanes
}

fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a / b - 1.0).abs() < tolerance, "{a} and {b}");
}

#[test]
fn the_true_ratio_near_the_threshold() {
    let mut plan = paper_plan(Mode::Published, &c_of(&[30]), 1, 10_000_000, 20_000);
    plan.lanes.retain(|lane| lane.family == Family::Decaying);
    let lanes = expectations(&plan, &Options::default());
    // 48 sampled runs give 5.1e4 here.
    assert_close(lanes[0].ratio, 1.99e5, 5e-3);
}

#[test]
fn agrees_with_the_plain_recursion() {
    for (seed, states, d) in [(1, 6, 1), (2, 9, 3), (3, 12, 5), (4, 12, 8), (5, 15, 10)] {
        let problem = random_problem(seed, states, d);
        let (horizon, c) = (300, 0.3);
        for family in [Family::Decaying, Family::Constant] {
            let plan = Plan {
                variants: vec![Tables::from(&problem)],
                lanes: vec![Lane::new(0, family, c)],
                runs: 1,
                horizon,
                simulate: horizon,
                mode: Mode::Algorithm { seed: 0 },
                curve_points_per_decade: 3,
            };
            let lane = &expectations(&plan, &Options::default())[0];
            let mut moments = Moments::new(&problem);
            let mut largest: f64 = 0.0;
            for t in 0..horizon {
                let index = if family == Family::Decaying {
                    t
                } else {
                    horizon
                } as f64;
                let scale = c * problem.phi_inf().powi(2) * (horizon as f64).ln();
                moments.step(1.0 / (scale * (index + 3.0).ln() * (index + 1.0).sqrt()));
                largest = largest.max(moments.mean_norm_sq());
            }
            let norm = problem.theta_star_norm();
            assert_close(lane.ratio, largest / (norm * norm), 1e-11);
            assert_close(lane.gap, moments.mean_f_of_average(), 1e-9);
        }
    }
}

#[test]
fn samples_agree_within_their_errors() {
    for mode in [Mode::Published, Mode::Algorithm { seed: 17 }] {
        let plan = paper_plan(mode, &[0.05, 1.0, 20.0], 4000, 3000, 600);
        for (lane, sampled) in expectations(&plan, &Options::default())
            .iter()
            .zip(samples(&plan))
        {
            assert_eq!(lane.lane, sampled.lane);
            assert_eq!(lane.curve.len(), sampled.curve.len());
            // The three points are far apart in t, hence nearly independent: all within 4 standard errors.
            for (point, estimate) in lane.curve.iter().zip(&sampled.curve).skip(5).step_by(10) {
                assert_eq!(point.step, estimate.step);
                let [norm_error, gap_error] = estimate.standard_errors.unwrap();
                for (truth, mean, standard_error) in [
                    (point.norm, estimate.norm, norm_error),
                    (point.gap, estimate.gap, gap_error),
                ] {
                    assert!(
                        (mean - truth).abs() <= 4.0 * standard_error,
                        "{truth} {mean} {:?}",
                        lane.lane
                    );
                }
            }
        }
    }
}

#[test]
fn kernels_threads_and_interruptions_leave_no_trace() {
    let mut plan = paper_plan(
        Mode::Algorithm { seed: 0 },
        &c_of(&[5, 30, 40, 60]),
        1,
        10_000,
        400,
    );
    plan.variants.push(ring(0.3));
    plan.lanes.push(Lane::new(3, Family::Plain, 1e-4));
    let text = |lanes: &[LaneResult]| format!("{lanes:?}");
    let expected = text(&expectations(
        &plan,
        &Options {
            threads: 1,
            ..Options::default()
        },
    ));
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_available()) {
        let options = Options {
            threads: 3,
            kernel,
            ..Options::default()
        };
        assert_eq!(text(&expectations(&plan, &options)), expected);
    }
    let directory = tempfile::tempdir().unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let mut options = Options {
        checkpoint: Some(directory.path().join("checkpoint")),
        resume: true,
        ..Options::default()
    };
    let stop = |_| cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    for _ in 0..3 {
        cancel.store(false, std::sync::atomic::Ordering::Relaxed);
        options.cancel = Some(&cancel);
        options.progress = Some(&stop);
        exact(plan.clone(), &options).unwrap();
    }
    options.cancel = None;
    assert_eq!(text(&expectations(&plan, &options)), expected);
}

#[test]
fn overflow_is_infinite() {
    let plan = paper_plan(Mode::Algorithm { seed: 0 }, &[1e-8], 1, 10_000, 10_000);
    for lane in expectations(&plan, &Options::default()) {
        assert_eq!(lane.ratio, f64::INFINITY);
        assert_eq!(lane.gap, f64::INFINITY);
        assert!(lane.peak_step < 1000);
    }
}
