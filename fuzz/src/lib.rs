//! Feeds damaged and hostile inputs to every reader of robust-td.
//!
//! A [`Target`] takes any bytes and panics if the program breaks a promise: what it writes reads back to the same bits, what it refuses
//! names a place in one line, and what it accepts gives numbers that are finite or honestly infinite. The same bodies run as tests
//! over a stored corpus and a fixed number of mutations, in the fuzzer `cargo xtask fuzz`, which needs no nightly compiler, and under
//! libFuzzer (`libfuzzer/`), which does.

#![forbid(unsafe_code)]

mod checkpoints;
mod logs;
mod models;
pub mod mutate;
mod seeds;
mod specs;

use std::path::{Path, PathBuf};

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was used.
    Accepted,
    /// It was refused, with a message.
    Refused,
}

/// Something that reads bytes from strangers.
pub struct Target {
    /// Its name, which is that of its folder in `corpus/`.
    pub name: &'static str,
    /// Tries an input.
    pub run: fn(&[u8]) -> Verdict,
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "csv",
        run: logs::csv,
        seeds: seeds::csv,
    },
    Target {
        name: "ndjson",
        run: logs::ndjson,
        seeds: seeds::ndjson,
    },
    Target {
        name: "gzip",
        run: logs::gzip,
        seeds: seeds::gzip,
    },
    Target {
        name: "zstd",
        run: logs::zstd,
        seeds: seeds::zstd,
    },
    Target {
        name: "parquet",
        run: logs::parquet,
        seeds: seeds::parquet,
    },
    Target {
        name: "model",
        run: models::model,
        seeds: seeds::model,
    },
    Target {
        name: "checkpoint",
        run: checkpoints::checkpoint,
        seeds: checkpoints::seeds,
    },
    Target {
        name: "sweep",
        run: specs::sweep,
        seeds: seeds::sweep,
    },
    Target {
        name: "experiment",
        run: specs::experiment,
        seeds: seeds::experiment,
    },
    Target {
        name: "problem",
        run: specs::problem,
        seeds: seeds::problem,
    },
    Target {
        name: "matrix",
        run: specs::matrix,
        seeds: seeds::matrix,
    },
    Target {
        name: "features",
        run: specs::features,
        seeds: seeds::features,
    },
];

impl Target {
    /// The target of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// The stored inputs: whatever failed once.
    #[must_use]
    pub fn corpus(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(self.name);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let read = |path: PathBuf| Some((path.clone(), std::fs::read(path).ok()?));
        paths.into_iter().filter_map(read).collect()
    }
}

/// Checks the message of a refusal: it says something, and names the place.
pub(crate) fn refused(message: &str, place: &str) -> Verdict {
    assert!(
        message.contains(place),
        "{message:?} does not name {place:?}"
    );
    assert!(
        message.len() < 100_000,
        "a message of {} bytes",
        message.len()
    );
    Verdict::Refused
}
