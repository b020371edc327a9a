//! Checks that results are byte-identical for every kernel, thread count and interruption.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{c_of, paper_plan, random_tables};
use proptest::prelude::*;
use robust_td_engine::{
    Error, Family, Kernel, Lane, Mode, Options, Plan, Progress, Projection, Results, run,
};

fn finished(plan: &Plan, options: &Options<'_>) -> Results {
    run(plan.clone(), options).unwrap().finished().unwrap()
}

/// The bits of all numbers: `==` would not distinguish -0 from 0.
fn bytes(results: &Results) -> Vec<u8> {
    format!("{results:?}").into_bytes()
}

fn plans() -> impl Strategy<Value = Plan> {
    let rule = prop_oneof![
        (0..3_usize).prop_map(|family| (family, 0)),
        (0..Family::ALL.len(), 0..3_usize),
    ];
    let lane = (0..3_usize, rule, -5.0..3.0_f64);
    let sizes = (2..30_usize, 1..19_usize, 1..20_usize, 1..1500_u64);
    let mode = prop_oneof![
        Just(Mode::Published),
        Just(Mode::Tdx),
        any::<u64>().prop_map(|seed| Mode::Algorithm { seed })
    ];
    (
        any::<u64>(),
        sizes,
        mode,
        prop::collection::vec(lane, 1..60),
    )
        .prop_map(|(seed, (states, d, runs, simulate), mode, lanes)| {
            let base = random_tables(seed, states.max(d), d);
            let scaled = |factor: f64| {
                let mut tables = base.clone();
                tables.features.iter_mut().for_each(|x| *x *= factor);
                tables
            };
            let lane = |(variant, (family, projection), exponent): (usize, _, f64)| Lane {
                variant,
                family: Family::ALL[family],
                // Few distinct c, so that published trajectories are shared.
                c: 10_f64.powi(exponent.round() as i32),
                projection: Projection::ALL[projection],
            };
            Plan {
                variants: vec![scaled(1.0), scaled(0.3), scaled(8.0)],
                lanes: lanes.into_iter().map(lane).collect(),
                runs,
                horizon: 2000,
                simulate,
                mode,
                curve_points_per_decade: 4,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_kernel_and_thread_count_gives_the_same_bytes(plan in plans()) {
        let twin = Options { threads: 1, kernel: Kernel::Scalar, ..Options::default() };
        let expected = finished(&plan, &twin);
        prop_assert_eq!(expected.lanes.len(), plan.lanes.len());
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_available()) {
            for threads in [1, 2, 3] {
                let options = Options { threads, kernel, ..Options::default() };
                prop_assert_eq!(bytes(&finished(&plan, &options)), bytes(&expected));
            }
        }
    }
}

/// Cancels after `limit` lane-steps, resumes, and repeats to the end.
fn with_interruptions(plan: &Plan, limits: &[u64]) -> Results {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("checkpoint");
    for &limit in limits {
        let cancel = AtomicBool::new(false);
        let watch = |p: Progress| {
            if p.done >= limit {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let options = Options {
            threads: 2,
            checkpoint: Some(file.clone()),
            resume: true,
            progress: Some(&watch),
            cancel: Some(&cancel),
            ..Options::default()
        };
        run(plan.clone(), &options).unwrap();
    }
    let options = Options {
        threads: 3,
        checkpoint: Some(file),
        resume: true,
        ..Options::default()
    };
    finished(plan, &options)
}

#[test]
fn interrupted_runs_give_the_same_bytes() {
    for mode in [Mode::Published, Mode::Algorithm { seed: 3 }] {
        let plan = paper_plan(mode, &c_of(&[10, 29, 30, 50]), 10, 100_000, 60_000);
        let expected = finished(&plan, &Options::default());
        let total = expected.lane_steps;
        let limits = [1, total / 7, total / 3, total / 3 + 1, total - total / 20];
        assert_eq!(bytes(&with_interruptions(&plan, &limits)), bytes(&expected));
    }
}

#[test]
fn a_checkpoint_of_any_moment_continues() {
    // Copies every checkpoint that a running sweep writes, as it would be found after a kill.
    let plan = paper_plan(Mode::Published, &c_of(&[29, 30, 60]), 16, 100_000, 100_000);
    let expected = bytes(&finished(&plan, &Options::default()));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("checkpoint");
    let copies = AtomicU64::new(0);
    let copy = |_| {
        let number = copies.load(Ordering::Relaxed);
        let target = directory.path().join(number.to_string());
        if number < 6 && std::fs::copy(&file, target).is_ok() {
            copies.fetch_add(1, Ordering::Relaxed);
        }
    };
    let options = Options {
        threads: 1,
        checkpoint: Some(file.clone()),
        interval: Duration::from_millis(1),
        progress: Some(&copy),
        ..Options::default()
    };
    finished(&plan, &options);
    let count = copies.load(Ordering::Relaxed);
    assert!(count > 0);
    for number in 0..count {
        let options = Options {
            checkpoint: Some(directory.path().join(number.to_string())),
            resume: true,
            ..Options::default()
        };
        assert_eq!(bytes(&finished(&plan, &options)), expected);
    }
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let plan = paper_plan(Mode::Algorithm { seed: 1 }, &[0.1], 2, 1000, 500);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("checkpoint");
    let options = Options {
        checkpoint: Some(file.clone()),
        resume: true,
        ..Options::default()
    };
    finished(&plan, &options);
    let good = std::fs::read(&file).unwrap();

    let foreign = Plan {
        runs: 3,
        ..plan.clone()
    };
    assert!(matches!(
        run(foreign, &options),
        Err(Error::CheckpointForeign { .. })
    ));
    for at in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        std::fs::write(&file, &bad).unwrap();
        let refused = run(plan.clone(), &options);
        let damaged = matches!(refused, Err(Error::CheckpointDamaged { .. }));
        assert!(damaged || matches!(refused, Err(Error::CheckpointVersion { .. })));
        std::fs::write(&file, &good[..at]).unwrap();
        assert!(matches!(
            run(plan.clone(), &options),
            Err(Error::CheckpointDamaged { .. })
        ));
    }
    std::fs::write(&file, &good).unwrap();
    finished(&plan, &options);
}

#[test]
fn a_power_of_two_variant_is_a_copy_to_the_bit() {
    for mode in [Mode::Published, Mode::Algorithm { seed: 5 }] {
        let all = paper_plan(mode, &c_of(&[30, 31, 45]), 9, 100_000, 3000);
        let mut alone = all.clone();
        alone.lanes.retain(|lane| lane.variant == 2);
        let copied = finished(&all, &Options::default());
        let direct = finished(&alone, &Options::default());
        assert_eq!(copied.lane_steps, 2 * direct.lane_steps);
        let copies = copied.lanes.iter().filter(|r| r.lane.variant == 2);
        for (copy, own) in copies.zip(&direct.lanes) {
            assert_eq!(format!("{copy:?}"), format!("{own:?}"));
        }
    }
}

#[test]
fn many_states_use_numbered_buckets() {
    // More states than a block has steps.
    let tables = random_tables(4, 1200, 3);
    let lanes = [Family::Decaying, Family::Constant].map(|family| Lane::new(0, family, 0.5));
    let plan = Plan {
        variants: vec![tables],
        lanes: lanes.to_vec(),
        runs: 3,
        horizon: 3000,
        simulate: 3000,
        mode: Mode::Algorithm { seed: 11 },
        curve_points_per_decade: 3,
    };
    let twin = Options {
        kernel: Kernel::Scalar,
        ..Options::default()
    };
    assert_eq!(
        bytes(&finished(&plan, &Options::default())),
        bytes(&finished(&plan, &twin))
    );
}
