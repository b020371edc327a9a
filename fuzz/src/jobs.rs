//! Tries the states of sweeps in parts: descriptions and lanes, sealed as their own.

use std::sync::LazyLock;

use robust_td_core::sealed::{Job as Id, Kind, seal_encoded};
use robust_td_engine::{Job, Options};

use crate::checkpoints::{is_exact, plan};
use crate::{Verdict, refused};

const DESCRIPTION: Kind = Kind(b"sweep   ");
const STATE: Kind = Kind(b"lanes   ");
/// The bytes of a header.
const HEADER: usize = 8 + 4 + 8 + 32 + 8 + 32;
/// The sweeps: sampled and in expectation.
const CHOICES: [u8; 3] = [0, 1, 2];
/// More updates than this are not computed here.
const MOST: u64 = 100_000;

/// A job with the states of its parts.
struct Known {
    job: Job,
    id: Id,
    states: Vec<Vec<u8>>,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let known = |choice: u8| {
        let job = Job::new(plan(choice), is_exact(choice)).expect("a job");
        let state = |part| job.run(part, &options()).expect("a state");
        Known {
            states: job.parts().into_iter().map(state).collect(),
            id: Id::of(job.description()),
            job,
        }
    };
    CHOICES.map(known).into()
});

fn options() -> Options<'static> {
    Options {
        threads: 1,
        ..Options::default()
    }
}

/// The first byte says what the others are: a description, one state in place of all, or one state among its siblings.
pub(crate) fn lanes(bytes: &[u8]) -> Verdict {
    let Some((&choice, body)) = bytes.split_first() else {
        return Verdict::Refused;
    };
    match choice % 4 {
        0 => described(body),
        _ => joined(&KNOWN[usize::from(choice % 4 - 1)], choice / 4, body),
    }
}

fn described(body: &[u8]) -> Verdict {
    let job = match Job::read(&seal_encoded(DESCRIPTION, Id::NONE, body)) {
        Ok(job) => job,
        Err(error) => return refused(&error.to_string(), ""),
    };
    assert_eq!(
        Job::read(job.description())
            .expect("a description")
            .description(),
        job.description()
    );
    let parts = job.parts();
    assert_eq!(parts.first().map(|part| part.start), Some(0));
    assert_eq!(parts.last().map(|part| part.end), Some(job.units()));
    if job.lane_steps() < MOST {
        let states: Vec<Vec<u8>> = parts
            .into_iter()
            .filter_map(|part| match job.run(part, &options()) {
                Ok(state) => Some(state),
                Err(error) => {
                    refused(&error.to_string(), "");
                    None
                }
            })
            .collect();
        if !states.is_empty() {
            job.finish(states.iter().map(Vec::as_slice))
                .expect("results");
        }
    }
    Verdict::Accepted
}

fn joined(known: &Known, at: u8, body: &[u8]) -> Verdict {
    let forged = seal_encoded(STATE, known.id, body);
    let mut states: Vec<&[u8]> = known.states.iter().map(Vec::as_slice).collect();
    match usize::from(at) {
        at if at < states.len() => states[at] = &forged,
        _ => states = vec![&forged],
    }
    let merged = match known.job.join(states.iter().copied()) {
        Ok(merged) => merged,
        Err(error) => return refused(&error.to_string(), ""),
    };
    let results = known.job.finish([merged.as_slice()]);
    match (results, known.job.finish(states)) {
        (Ok(one), Ok(other)) => {
            // NaN is not equal to itself; the text of a float is.
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            Verdict::Accepted
        }
        (Err(one), Err(other)) => {
            assert_eq!(one.to_string(), other.to_string());
            refused(&one.to_string(), "")
        }
        _ => panic!("merged states and single ones differ"),
    }
}

/// The description of each sweep, and its states.
pub(crate) fn lane_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (known, choice) in KNOWN.iter().zip(1_u8..) {
        seeds.push([&[0], &known.job.description()[HEADER..]].concat());
        for (state, at) in known.states.iter().zip(0_u8..) {
            seeds.push([&[choice + 4 * at], &state[HEADER..]].concat());
        }
        let all = known.job.join(known.states.iter().map(Vec::as_slice));
        seeds.push([&[choice + 240], &all.expect("a state")[HEADER..]].concat());
    }
    seeds
}
