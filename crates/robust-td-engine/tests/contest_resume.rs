//! Checks that contests resumed from a checkpoint end with the bits of uninterrupted ones.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use robust_td_core::registry::{METHODS, Setting};
use robust_td_core::{Mixing, catalog};
use robust_td_engine::{
    Contest, ContestOptions, Entrant, Error, Kernel, Progress, Score, Series, contest,
};

/// Every method that applies, and one that diverges to infinity.
fn race(seed: u64, horizon: u64) -> Contest {
    let problem = catalog::problem("two-state", &[("epsilon", 0.3)]).unwrap();
    let mixing = Mixing::of(problem.chain()).unwrap().ok();
    let setting = Setting::of_problem(&problem, mixing.as_ref(), horizon);
    let mut entrants = Vec::new();
    let none: [(&str, f64); 0] = [];
    for method in METHODS {
        if let Ok(prepared) = method.prepare(&setting, &none) {
            entrants.push(Entrant {
                label: method.id.into(),
                learner: prepared.learner,
            });
        }
    }
    let wild = robust_td_core::registry::find("alg1").unwrap();
    let wild = wild.prepare(&setting, &[("c", 1e-6)]).unwrap().learner;
    entrants.push(Entrant {
        label: "wild".into(),
        learner: wild,
    });
    Contest {
        problem,
        entrants,
        horizon,
        runs: 11,
        seed,
        points_per_decade: 4,
    }
}

fn bits(scores: &[Vec<Score>]) -> String {
    format!("{scores:?}")
}

/// Runs the contests of a series, stopped after `reports` reports of progress.
fn attempt(
    path: &Path,
    races: &[Contest],
    reports: u64,
    kernel: Kernel,
    threads: usize,
) -> Result<Vec<Vec<Score>>, Error> {
    let (left, stop) = (AtomicU64::new(reports), AtomicBool::new(false));
    let watch = |_: Progress| {
        if left.fetch_sub(1, Ordering::Relaxed) <= 1 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let options = ContestOptions {
        threads,
        kernel,
        progress: Some(&watch),
        cancel: Some(&stop),
        ..ContestOptions::default()
    };
    let mut series = Series::saved(path, true, races.iter().cloned())?;
    let contests = races.iter().enumerate();
    contests
        .map(|(place, race)| series.run(place, race, &options))
        .collect()
}

#[test]
fn every_method_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let races = [race(1, 900), race(2, 700)];
    assert!(races[0].entrants.len() > 35, "{}", races[0].entrants.len());
    let alone = races.each_ref().map(|race| {
        let scores = contest(race, &ContestOptions::default()).unwrap();
        assert!(scores.last().unwrap().f.mean > 1e12);
        scores
    });
    let kernels: Vec<Kernel> = (Kernel::ALL.into_iter())
        .filter(|kernel| kernel.is_available())
        .collect();
    let (mut before, mut stops) = (0, 0);
    let found = loop {
        let kernel = kernels[stops % kernels.len()];
        match attempt(&path, &races, 3, kernel, 1 + stops % 3) {
            Ok(scores) => break scores,
            Err(Error::Cancelled { done, total }) => {
                assert!(before <= done && done < total, "{before} {done} {total}");
                before = done;
                stops += 1;
            }
            Err(other) => panic!("{other}"),
        }
    };
    assert!(stops > 8, "{stops}");
    assert_eq!(bits(&found), bits(&alone));
    // All are done: the checkpoint has the scores, and nothing runs.
    let again = attempt(&path, &races, 1, Kernel::Scalar, 1).unwrap();
    assert_eq!(bits(&again), bits(&alone));
}

#[test]
fn without_resume_a_series_starts_from_scratch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let races = [race(1, 500)];
    attempt(&path, &races, 3, Kernel::best(), 1).unwrap_err();
    let started = AtomicU64::new(u64::MAX);
    let watch = |progress: Progress| {
        started.fetch_min(progress.done, Ordering::Relaxed);
    };
    let options = ContestOptions {
        progress: Some(&watch),
        ..ContestOptions::default()
    };
    for (resume, from_scratch) in [(true, false), (false, true)] {
        let mut series = Series::saved(&path, resume, races.iter().cloned()).unwrap();
        series.run(0, &races[0], &options).unwrap();
        assert_eq!(started.load(Ordering::Relaxed) == 0, from_scratch);
    }
}

#[test]
fn the_checkpoint_of_other_contests_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let races = [race(1, 500)];
    attempt(&path, &races, 3, Kernel::best(), 1).unwrap_err();
    let changes: [&dyn Fn(&mut Contest); 7] = [
        &|race| race.seed += 1,
        &|race| race.horizon += 1,
        &|race| race.runs += 1,
        &|race| race.points_per_decade += 1,
        &|race| race.entrants[3].label.push('x'),
        &|race| race.entrants.swap(1, 2),
        &|race| race.problem = race.problem.with_unit_features().unwrap(),
    ];
    for (place, change) in changes.iter().enumerate() {
        let mut other = races.clone();
        change(&mut other[0]);
        let refused = attempt(&path, &other, 3, Kernel::best(), 1).unwrap_err();
        assert!(
            matches!(refused, Error::CheckpointForeign { .. }),
            "{place}: {refused}"
        );
    }
    let two = [races[0].clone(), race(2, 500)];
    let refused = attempt(&path, &two, 3, Kernel::best(), 1).unwrap_err();
    assert!(matches!(refused, Error::CheckpointForeign { .. }));
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let races = [race(1, 500)];
    attempt(&path, &races, 3, Kernel::best(), 1).unwrap_err();
    let good = std::fs::read(&path).unwrap();
    for place in (0..good.len()).step_by(good.len() / 60) {
        let mut bad = good.clone();
        bad[place] ^= 1 << (place % 8);
        for bytes in [&bad[..], &good[..place]] {
            std::fs::write(&path, bytes).unwrap();
            let refused = attempt(&path, &races, 3, Kernel::best(), 1).unwrap_err();
            assert!(
                matches!(
                    refused,
                    Error::CheckpointDamaged { .. } | Error::CheckpointVersion { .. }
                ),
                "{place}: {refused}"
            );
        }
    }
}
