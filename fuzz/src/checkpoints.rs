//! Tries the contents of a checkpoint, with a header and a checksum that belong to them.

use std::path::Path;

use robust_td_core::catalog;
use robust_td_engine::{Family, Lane, Mode, Options, Plan, Tables, run};

use crate::{Verdict, refused};

/// The bytes before the contents: mark, version, plan, length, checksum.
const HEADER: usize = 8 + 4 + 32 + 8 + 32;

/// A sweep that takes milliseconds; the first byte of an input chooses among several.
fn plan(choice: u8) -> Plan {
    let problem = catalog::problem("two-state", &[]).expect("a problem of the catalog");
    Plan {
        variants: vec![Tables::from(&problem)],
        lanes: vec![
            Lane::new(0, Family::Decaying, 0.1),
            Lane::new(0, Family::Constant, 1.0),
        ],
        runs: 3,
        horizon: 60,
        simulate: 60,
        mode: match choice % 2 {
            0 => Mode::Published,
            _ => Mode::Algorithm { seed: 7 },
        },
        curve_points_per_decade: 3,
    }
}

fn options(path: &Path, resume: bool) -> Options<'static> {
    Options {
        threads: 1,
        checkpoint: Some(path.to_owned()),
        resume,
        ..Options::default()
    }
}

pub(crate) fn checkpoint(bytes: &[u8]) -> Verdict {
    let Some((&choice, body)) = bytes.split_first() else {
        return Verdict::Refused;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("fuzzed");
    let plan = plan(choice);
    let mut head = b"RTDCHKPT".to_vec();
    head.extend(5_u32.to_le_bytes());
    head.extend(plan.hash().as_bytes());
    head.extend((body.len() as u64).to_le_bytes());
    let checksum = blake3::Hasher::new().update(&head).update(body).finalize();
    head.extend(checksum.as_bytes());
    head.extend(body);
    std::fs::write(&path, head).expect("room for a checkpoint");
    match run(plan, &options(&path, true)) {
        Ok(outcome) => {
            let results = outcome.finished().expect("a sweep that was not cancelled");
            assert_eq!(results.lanes.len(), 2);
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), "fuzzed"),
    }
}

/// Checkpoints of finished sweeps, and of sweeps that were stopped.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for choice in [0_u8, 1] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("checkpoint");
        for cancelled in [false, true] {
            let cancel = std::sync::atomic::AtomicBool::new(cancelled);
            let ran = run(
                plan(choice),
                &Options {
                    cancel: Some(&cancel),
                    ..options(&path, false)
                },
            );
            ran.expect("a sweep");
            let bytes = std::fs::read(&path).expect("a checkpoint");
            seeds.push([&[choice], &bytes[HEADER..]].concat());
        }
    }
    seeds
}
