//! Feeds damaged and hostile inputs to every reader of robust-td.
//!
//! A [`Target`] takes any bytes and panics if the program breaks a promise: what it writes reads back to the same bits, what it refuses
//! names a place in one line, and what it accepts gives numbers that are finite or honestly infinite. The same bodies run as tests
//! over a stored corpus and a fixed number of mutations, in the fuzzer `cargo xtask fuzz`, which needs no nightly compiler, and under
//! libFuzzer (`libfuzzer/`), which does.

#![forbid(unsafe_code)]

mod checkpoints;
mod contests;
mod jobs;
mod logs;
mod models;
pub mod mutate;
pub mod panics;
mod parts;
mod scratch;
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
    run: fn(&[u8]) -> Verdict,
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target::new("csv", logs::csv, seeds::csv),
    Target::new("ndjson", logs::ndjson, seeds::ndjson),
    Target::new("gzip", logs::gzip, seeds::gzip),
    Target::new("zstd", logs::zstd, seeds::zstd),
    Target::new("parquet", logs::parquet, seeds::parquet),
    Target::new("model", models::model, seeds::model),
    Target::new("checkpoint", checkpoints::checkpoint, checkpoints::seeds),
    Target::new("contests", contests::contests, contests::seeds),
    Target::new("lanes", jobs::lanes, jobs::lane_seeds),
    Target::new("parts", parts::parts, parts::seeds),
    Target::new("sweep", specs::sweep, seeds::sweep),
    Target::new("experiment", specs::experiment, seeds::experiment),
    Target::new("problem", specs::problem, seeds::problem),
    Target::new("matrix", specs::matrix, seeds::matrix),
    Target::new("features", specs::features, seeds::features),
];

impl Target {
    const fn new(
        name: &'static str,
        run: fn(&[u8]) -> Verdict,
        seeds: fn() -> Vec<Vec<u8>>,
    ) -> Self {
        Self { name, run, seeds }
    }

    /// Tries an input; `None` if a promise was broken: a panic of ours, whether the program caught it or not.
    #[must_use]
    pub fn attempt(&self, bytes: &[u8]) -> Option<Verdict> {
        panics::count();
        let (before, _) = panics::counts();
        let verdict = std::panic::catch_unwind(|| (self.run)(bytes)).ok();
        verdict.filter(|_| panics::counts().0 == before)
    }

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
