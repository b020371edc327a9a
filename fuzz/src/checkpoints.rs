//! Tries the contents of a checkpoint, with a header and a checksum that belong to them.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use robust_td_core::catalog;
use robust_td_engine::{Family, Lane, Mode, Options, Outcome, Plan, Results, Tables, exact, run};

use crate::{Verdict, refused};

/// The first bytes of a checkpoint: mark, version, plan.
pub(crate) const HEAD: usize = 8 + 4 + 32;
/// All bytes before the contents: length and checksum, too.
pub(crate) const HEADER: usize = HEAD + 8 + 32;
/// The number of sweeps that the first byte of an input chooses among.
const CHOICES: u8 = 6;

/// A sweep that takes less than a millisecond; the last two choices are long enough to be stopped half way.
pub(crate) fn plan(choice: u8) -> Plan {
    let steps = match choice % CHOICES {
        0..4 => 60,
        4 => 670_000,
        _ => 20_000,
    };
    let problem = catalog::problem("two-state", &[]).expect("a problem of the catalog");
    Plan {
        variants: vec![Tables::from(&problem)],
        lanes: vec![
            Lane::new(0, Family::Decaying, 0.1),
            Lane::new(0, Family::Constant, 1.0),
        ],
        runs: 3,
        horizon: steps,
        simulate: steps,
        mode: match choice % CHOICES {
            0 | 2 => Mode::Published,
            3 => Mode::Tdx,
            _ => Mode::Algorithm { seed: 7 },
        },
        curve_points_per_decade: 3,
    }
}

/// Whether a choice computes expectations instead of samples.
pub(crate) fn is_exact(choice: u8) -> bool {
    matches!(choice % CHOICES, 2 | 5)
}

/// A plan with its results, and the head of its checkpoints.
struct Known {
    plan: Plan,
    results: Results,
    head: Vec<u8>,
}

static PLANS: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let whole = |choice| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("checkpoint");
        let options = Options {
            checkpoint: Some(path.clone()),
            ..Options::default()
        };
        let ran = sweep(choice, plan(choice), &options);
        Known {
            plan: plan(choice),
            results: ran.expect("a sweep").finished().expect("its results"),
            head: std::fs::read(path).expect("a checkpoint")[..HEAD].to_vec(),
        }
    };
    (0..CHOICES).map(whole).collect()
});

fn sweep(choice: u8, plan: Plan, options: &Options<'_>) -> robust_td_engine::Result<Outcome> {
    match is_exact(choice) {
        true => exact(plan, options),
        false => run(plan, options),
    }
}

/// A checkpoint with these contents.
pub(crate) fn sealed(head: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.extend((body.len() as u64).to_le_bytes());
    let checksum = blake3::Hasher::new().update(&bytes).update(body).finalize();
    bytes.extend(checksum.as_bytes());
    bytes.extend(body);
    bytes
}

pub(crate) fn checkpoint(bytes: &[u8]) -> Verdict {
    let Some((&choice, body)) = bytes.split_first() else {
        return Verdict::Refused;
    };
    let Known {
        plan,
        results: usual,
        head,
    } = &PLANS[usize::from(choice % CHOICES)];
    let bytes = sealed(head, body);
    let options = Options {
        threads: 1,
        start: Some(&bytes),
        ..Options::default()
    };
    match sweep(choice, plan.clone(), &options) {
        Ok(outcome) => {
            let results = outcome.finished().expect("a sweep that was not cancelled");
            let lanes =
                |results: &Results| results.lanes.iter().map(|l| l.lane).collect::<Vec<_>>();
            assert_eq!(lanes(&results), lanes(usual));
            assert_eq!(results.lane_steps, usual.lane_steps);
            assert_eq!(results.gap_step, usual.gap_step);
            for (found, known) in results.lanes.iter().zip(&usual.lanes) {
                assert!(found.peak_step <= plan.simulate);
                assert!(found.curve.len() <= known.curve.len());
            }
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), "the checkpoint"),
    }
}

/// Checkpoints of finished sweeps, and of sweeps that were stopped at the start and half way.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for choice in 0..CHOICES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("checkpoint");
        for stop_at in [0, 1, usize::MAX] {
            if choice >= 4 && stop_at != 1 {
                continue;
            }
            let (cancel, reports) = (AtomicBool::new(stop_at == 0), AtomicUsize::new(0));
            let progress = |_| {
                if reports.fetch_add(1, Ordering::Relaxed) == stop_at {
                    cancel.store(true, Ordering::Relaxed);
                }
            };
            let options = Options {
                threads: 1,
                checkpoint: Some(path.clone()),
                cancel: Some(&cancel),
                progress: Some(&progress),
                ..Options::default()
            };
            sweep(choice, plan(choice), &options).expect("a sweep");
            let bytes = std::fs::read(&path).expect("a checkpoint");
            seeds.push([&[choice], &bytes[HEADER..]].concat());
        }
    }
    seeds
}
