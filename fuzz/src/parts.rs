//! Tries the states of an evaluation in parts: descriptions, tasks and sums, sealed as their own.

use std::sync::LazyLock;

use robust_td_core::sealed::{Job, Kind, seal_encoded};
use robust_td_data::{Engine, Result, Tasks, compute_task, evaluate, merge_states, task_files};

use crate::{Verdict, refused, scratch, seeds};

const DESCRIPTION: Kind = Kind(b"pass    ");
const TASK: Kind = Kind(b"node    ");
const STATE: Kind = Kind(b"state   ");
/// The bytes of a header.
const HEADER: usize = 8 + 4 + 8 + 32 + 8 + 32;
/// Stands for the path of the log in inputs, so that they are the same on every machine.
const LOG: &str = "@LOG@";

/// A pass over the log: the text of its description and the encoded map after it, a task and a state.
struct Known {
    description: String,
    fitted: Vec<u8>,
    task: Vec<u8>,
    state: Vec<u8>,
}

/// Keeps what passes by.
#[derive(Default)]
struct Recorder(Vec<Known>);

impl Engine for Recorder {
    fn run(&mut self, _: &'static str, description: Vec<u8>, tasks: Tasks) -> Result<Vec<u8>> {
        let task = tasks.get(0).expect("a task");
        let state = compute_task(&description, &task, 1)?;
        let (text, fitted) = text_of(&description[HEADER..]);
        self.0.push(Known {
            description: text,
            fitted,
            task: task[HEADER..].to_vec(),
            state: state[HEADER..].to_vec(),
        });
        Ok(state)
    }
}

/// The text at the start of encoded bytes, whose length comes first, seven bits a byte; and the rest.
fn text_of(bytes: &[u8]) -> (String, Vec<u8>) {
    let (mut length, mut at) = (0, 0);
    loop {
        length |= usize::from(bytes[at] & 127) << (7 * at);
        at += 1;
        if bytes[at - 1] < 128 {
            break;
        }
    }
    let (text, rest) = bytes[at..].split_at(length);
    (String::from_utf8_lossy(text).into_owned(), rest.to_vec())
}

/// The bytes of a description with this text.
fn described(text: &str, fitted: &[u8]) -> Vec<u8> {
    let text = text.replace(LOG, &log());
    let (mut body, mut length) = (Vec::new(), text.len());
    while length > 127 {
        body.push(128 | (length & 127) as u8);
        length >>= 7;
    }
    body.push(length as u8);
    body.extend_from_slice(text.as_bytes());
    body.extend_from_slice(fitted);
    seal_encoded(DESCRIPTION, Job::NONE, &body)
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let mut recorder = Recorder::default();
    let path = log();
    let evaluation = evaluate([path.clone()]).discount(0.9).threads(1);
    evaluation
        .run_in_parts(&mut recorder)
        .expect("an evaluation");
    for known in &mut recorder.0 {
        known.description = known.description.replace(&path, LOG);
    }
    recorder.0
});

/// The log, as this thread has it.
fn log() -> String {
    let path = scratch::fixed("log.csv", seeds::log(120).as_bytes());
    path.display().to_string()
}

/// The first byte chooses the pass and what the others are in it: its description, its task, or its state.
pub(crate) fn parts(bytes: &[u8]) -> Verdict {
    let Some((&choice, body)) = bytes.split_first() else {
        return Verdict::Refused;
    };
    let known = &KNOWN[usize::from(choice / 4) % KNOWN.len()];
    let text = std::str::from_utf8(body).unwrap_or_default();
    let description = match choice % 4 {
        0 => described(text, &known.fitted),
        _ => described(&known.description, &known.fitted),
    };
    let job = Job::of(&description);
    match choice % 4 {
        0 => computed(&description, &seal_encoded(TASK, job, &known.task)),
        1 => computed(&description, &seal_encoded(TASK, job, body)),
        _ => merged(&description, &seal_encoded(STATE, job, body)),
    }
}

fn computed(description: &[u8], task: &[u8]) -> Verdict {
    if let Err(error) = task_files(description, task) {
        return refused(&error.to_string(), "");
    }
    match compute_task(description, task, 1) {
        Ok(state) => {
            let again = merge_states(description, [state.as_slice()]);
            assert_eq!(again.expect("a state of its own"), state);
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), ""),
    }
}

fn merged(description: &[u8], state: &[u8]) -> Verdict {
    let one = match merge_states(description, [state]) {
        Ok(one) => one,
        Err(error) => return refused(&error.to_string(), ""),
    };
    assert_eq!(
        merge_states(description, [one.as_slice()]).expect("a merged state"),
        one,
        "a state reads back to the same bits"
    );
    if let Err(error) = merge_states(description, [state, state]) {
        refused(&error.to_string(), "");
    }
    Verdict::Accepted
}

/// The description, the task and the state of each pass.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (known, pass) in KNOWN.iter().zip(0_u8..) {
        seeds.push([&[4 * pass], known.description.as_bytes()].concat());
        seeds.push([&[4 * pass + 1], known.task.as_slice()].concat());
        seeds.push([&[4 * pass + 2], known.state.as_slice()].concat());
    }
    seeds
}
