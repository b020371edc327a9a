//! Evaluates the simulated logs of a scenario in parallel.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use robust_td::logs::Format;
use robust_td::{Evaluation, Log, evaluate};

use crate::draws::Draws;
use crate::scenario::Scenario;

/// What to run.
pub struct Settings {
    /// Logs per scenario.
    pub logs: usize,
    /// Threads; each evaluates one log at a time.
    pub threads: usize,
    /// The algorithm, if not the default one.
    pub algorithm: Option<String>,
    /// The seed of all logs.
    pub seed: u64,
    /// The most rows of a log.
    pub longest: usize,
    /// Whether logs are evaluated as streams.
    pub stream: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            logs: 400,
            threads: thread::available_parallelism().map_or(1, usize::from),
            algorithm: None,
            seed: 1,
            longest: usize::MAX,
            stream: false,
        }
    }
}

/// An estimate with the ends of its interval, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The estimate.
    pub value: f64,
    /// The lower and upper end.
    pub interval: Option<(f64, f64)>,
}

/// The answers from one log.
pub struct Answers {
    /// For each query of the scenario.
    pub values: Vec<Answer>,
    /// For the start value.
    pub start: Option<Answer>,
}

type Outcome = Result<Answers, Box<dyn Error + Send + Sync>>;

/// The answers from all logs, in the order of their numbers.
pub fn all(scenario: &Scenario, settings: &Settings) -> Result<Vec<Answers>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || {
        loop {
            let log = next.fetch_add(1, Ordering::Relaxed);
            if log >= settings.logs {
                return;
            }
            let path = folder.path().join(format!("{log}.csv"));
            let answers = one(scenario, settings, log as u64, &path);
            found.lock().expect("no panic").push((log, answers));
        }
    };
    thread::scope(|scope| (0..settings.threads).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner()?;
    found.sort_by_key(|(log, _)| *log);
    let fail = |log: usize, error| format!("{}, log {log}: {error}", scenario.name).into();
    (found.into_iter())
        .map(|(log, answers)| answers.map_err(|error| fail(log, error)))
        .collect()
}

/// Simulates a log, evaluates it and removes it.
fn one(scenario: &Scenario, settings: &Settings, log: u64, path: &Path) -> Outcome {
    let mut out = BufWriter::new(File::create(path)?);
    let mut draws = Draws::new(settings.seed, &scenario.name, log);
    let rows = scenario.rows.min(settings.longest);
    (scenario.write)(rows, &mut draws, &mut out)?;
    out.flush()?;
    drop(out);
    let mut evaluation = match settings.stream {
        false => evaluate([path.display().to_string()]).features(&*scenario.features),
        // Least squares does not depend on units, so that both maps have the same values.
        true => Evaluation::new(Log::stream(Format::Csv, File::open(path)?)?)
            .features(scenario.features.replace("standardise", "identity")),
    };
    evaluation = evaluation.discount(scenario.discount);
    if let Some(id) = &settings.algorithm {
        evaluation = evaluation.algorithm(id);
    }
    if let Some(column) = scenario.cluster {
        evaluation = evaluation.cluster(column);
    }
    let fit = evaluation.threads(1).run()?;
    std::fs::remove_file(path)?;
    let answer = |(observation, _): &(Vec<f64>, f64)| -> robust_td::Result<Answer> {
        Ok(Answer {
            value: fit.value(observation)?,
            interval: fit.interval(observation)?,
        })
    };
    let values = scenario
        .queries
        .iter()
        .map(answer)
        .collect::<Result<_, _>>();
    let start = fit.start_value().map(|start| Answer {
        value: start.value,
        interval: Some((start.lower, start.upper)),
    });
    Ok(Answers {
        values: values?,
        start,
    })
}
