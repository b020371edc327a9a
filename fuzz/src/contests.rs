//! Tries the contents of a checkpoint of contests, with a header and a checksum that belong to them.

use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use robust_td_core::catalog;
use robust_td_core::registry::{self, Setting};
use robust_td_engine::{Contest, ContestOptions, Entrant, Error, Progress, Score, Series};

use crate::checkpoints::{HEAD, HEADER, sealed};
use crate::{Verdict, refused, scratch};

/// Lanes and learners of several kinds.
const METHODS: [&str; 8] = [
    "alg1",
    "bhandari-a",
    "alg1-doubling",
    "adatd",
    "lstd",
    "td-lambda",
    "coin-betting",
    "alg1-auto",
];

static RACES: LazyLock<Vec<Contest>> = LazyLock::new(|| [1, 2].map(race).to_vec());

/// The head of their checkpoints.
static KNOWN: LazyLock<Vec<u8>> = LazyLock::new(|| stopped_after(usize::MAX)[..HEAD].to_vec());

/// A contest that takes less than a millisecond.
fn race(seed: u64) -> Contest {
    let problem = catalog::problem("two-state", &[]).expect("a problem of the catalog");
    let setting = Setting::of_problem(&problem, None, 200);
    let none: [(&str, f64); 0] = [];
    let entrant = |id: &&str| {
        let prepared = registry::find(id).and_then(|method| method.prepare(&setting, &none));
        Some(Entrant {
            label: (*id).into(),
            learner: prepared.ok()?.learner,
        })
    };
    let entrants: Vec<Entrant> = METHODS.iter().filter_map(entrant).collect();
    assert!(entrants.len() > 5, "{} methods", entrants.len());
    Contest {
        problem,
        entrants,
        horizon: 200,
        runs: 3,
        seed,
        points_per_decade: 2,
    }
}

fn run(path: &Path, options: &ContestOptions<'_>) -> Result<Vec<Vec<Score>>, Error> {
    let mut series = Series::saved(path, true, RACES.iter().cloned())?;
    let races = RACES.iter().enumerate();
    races
        .map(|(place, race)| series.run(place, race, options))
        .collect()
}

/// The checkpoint of contests that are stopped after some reports of progress.
fn stopped_after(count: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("checkpoint");
    let (cancel, reports) = (AtomicBool::new(false), AtomicUsize::new(0));
    let progress = |_: Progress| {
        if reports.fetch_add(1, Ordering::Relaxed) == count {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let options = ContestOptions {
        threads: 1,
        progress: Some(&progress),
        cancel: Some(&cancel),
        ..ContestOptions::default()
    };
    // Stopped or done: a checkpoint is there.
    let _ = run(&path, &options);
    std::fs::read(path).expect("a checkpoint")
}

pub(crate) fn contests(bytes: &[u8]) -> Verdict {
    let path = scratch::file("contests", &sealed(&KNOWN, bytes));
    let options = ContestOptions {
        threads: 1,
        ..ContestOptions::default()
    };
    match run(&path, &options) {
        Ok(scores) => {
            for (race, scores) in RACES.iter().zip(&scores) {
                assert_eq!(scores.len(), race.entrants.len());
                for score in scores {
                    assert_eq!(score.f_of_runs.len(), race.runs);
                    assert!(score.updates <= race.horizon && score.peak_step <= race.horizon);
                    assert!((0.0..=1.0).contains(&score.divergence_rate));
                }
            }
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), "contests"),
    }
}

/// Checkpoints of contests at the start, half way, between the two, and done.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let bodies = [0, 2, 4, 9, 12, usize::MAX].map(stopped_after);
    bodies.map(|bytes| bytes[HEADER..].to_vec()).to_vec()
}
