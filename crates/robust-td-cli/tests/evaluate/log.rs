//! Simulates logs from catalog problems and writes them in every format.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use robust_td_core::catalog;
use robust_td_core::learner::{Features, Learner, Outcome, Transition};
use robust_td_core::problem::Problem;
use robust_td_core::random::Stream;
use robust_td_core::registry::Setting;
use robust_td_core::registry::{self, AnyLearner};
use robust_td_core::simulate::Sampler;
use robust_td_data::{ValueFormat, ValueWriter};

/// One row of a log.
pub struct LogRow {
    pub obs: Vec<f64>,
    pub next: Vec<f64>,
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    pub episode: u64,
}

/// A simulated log.
pub struct Log {
    pub problem: Problem,
    pub rows: Vec<LogRow>,
}

/// Which columns a log is written with.
#[derive(Clone, Copy, PartialEq)]
pub enum Columns {
    /// Observations and rewards: a row's successor is the next row.
    Plain,
    /// Also episodes and how they end.
    Episodes,
    /// Also next observations.
    All,
}

impl Log {
    /// One run without episodes.
    pub fn continuing(name: &str, rows: usize, seed: u64) -> Self {
        Self::simulate(name, rows, seed, [0.0; 3])
    }

    /// Episodes that terminate, are truncated, or simply stop.
    pub fn episodic(name: &str, rows: usize, seed: u64) -> Self {
        Self::simulate(name, rows, seed, [0.05, 0.08, 0.1])
    }

    fn simulate(name: &str, rows: usize, seed: u64, ends: [f64; 3]) -> Self {
        let problem = catalog::problem(name, &[]).unwrap();
        let states =
            Sampler::new(&problem).trajectory(problem.start(), rows, &mut Stream::new(seed, 0));
        let (mut stream, mut episode) = (Stream::new(seed, 1), 0);
        let row = |pair: &[usize]| {
            let end = stream.uniform();
            let row = LogRow {
                obs: problem.phi(pair[0]).to_vec(),
                next: problem.phi(pair[1]).to_vec(),
                reward: problem.reward(pair[0], pair[1]),
                terminated: end < ends[0],
                truncated: (ends[0]..ends[1]).contains(&end),
                episode,
            };
            episode += u64::from(end < ends[2]);
            row
        };
        let rows = states.windows(2).map(row).collect();
        Self { problem, rows }
    }

    fn names(&self, columns: Columns) -> Vec<String> {
        let numbered =
            |name: &'static str| (0..self.problem.dimension()).map(move |k| format!("{name}_{k}"));
        let mut names: Vec<String> = numbered("obs").collect();
        names.push("reward".into());
        if columns != Columns::Plain {
            names.extend(["terminated", "truncated", "episode"].map(String::from));
        }
        if columns == Columns::All {
            names.extend(numbered("next_obs"));
        }
        names
    }

    fn numbers(row: &LogRow, columns: Columns) -> Vec<f64> {
        let mut numbers = row.obs.clone();
        numbers.push(row.reward);
        if columns != Columns::Plain {
            let flags = [row.terminated, row.truncated].map(|flag| f64::from(u8::from(flag)));
            numbers.extend(flags);
            numbers.push(row.episode as f64);
        }
        if columns == Columns::All {
            numbers.extend(&row.next);
        }
        numbers
    }

    /// The rows of a range as CSV.
    pub fn csv(&self, columns: Columns, range: std::ops::Range<usize>) -> String {
        let mut text = self.names(columns).join(",") + "\n";
        for row in &self.rows[range] {
            let numbers = Self::numbers(row, columns);
            let words: Vec<String> = numbers.iter().map(f64::to_string).collect();
            writeln!(text, "{}", words.join(",")).unwrap();
        }
        text
    }

    /// All rows as one JSON object per line.
    pub fn ndjson(&self, columns: Columns) -> String {
        let mut text = String::new();
        for row in &self.rows {
            write!(
                text,
                "{{\"obs\": {:?}, \"reward\": {:?}",
                row.obs, row.reward
            )
            .unwrap();
            if columns != Columns::Plain {
                let (terminated, truncated) = (row.terminated, row.truncated);
                write!(
                    text,
                    ", \"terminated\": {terminated}, \"truncated\": {truncated}"
                )
                .unwrap();
                write!(text, ", \"episode\": {}", row.episode).unwrap();
            }
            if columns == Columns::All {
                write!(text, ", \"next_obs\": {:?}", row.next).unwrap();
            }
            text.push_str("}\n");
        }
        text
    }

    /// All rows as Parquet.
    pub fn parquet(&self, columns: Columns) -> Vec<u8> {
        let names = self.names(columns);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let rows: Vec<Vec<f64>> = (self.rows.iter())
            .map(|row| Self::numbers(row, columns))
            .collect();
        let column = |k: usize| rows.iter().map(|row| row[k]).collect();
        let table: Vec<Vec<f64>> = (0..names.len()).map(column).collect();
        let slices: Vec<&[f64]> = table.iter().map(Vec::as_slice).collect();
        let mut writer = ValueWriter::new(ValueFormat::Parquet, Vec::new(), &names).unwrap();
        writer.write(&slices).unwrap();
        writer.finish().unwrap()
    }

    /// Writes all rows as CSV to a file.
    pub fn write(&self, folder: &Path, name: &str, columns: Columns) {
        std::fs::write(folder.join(name), self.csv(columns, 0..self.rows.len())).unwrap();
    }

    /// The largest norm of the features in the log.
    pub fn phi_inf(&self) -> f64 {
        let norm_sq = |x: &[f64]| Features::Dense(x).norm_sq();
        let rows = self.rows.iter();
        let largest = rows.map(|row| norm_sq(&row.obs).max(norm_sq(&row.next)));
        largest.fold(0.0, f64::max).sqrt()
    }

    /// A learner from the library for the log.
    pub fn learner(&self, id: &str, given: &[(&str, f64)], horizon: u64) -> AnyLearner {
        let setting = Setting {
            discount: 0.9,
            dimension: self.problem.dimension(),
            horizon,
            phi_inf: self.phi_inf(),
            known: None,
        };
        registry::find(id)
            .unwrap()
            .prepare(&setting, given)
            .unwrap()
            .learner
    }

    /// Feeds the rows, each with its next observation, to a learner in memory.
    pub fn feed(&self, learner: &mut AnyLearner) {
        let mut before: Option<&LogRow> = None;
        for row in &self.rows {
            if before.is_none_or(|before| before.episode != row.episode) {
                learner.start_episode();
            }
            let next = Features::Dense(&row.next);
            let outcome = match (row.terminated, row.truncated) {
                (true, _) => Outcome::Terminated,
                (_, true) => Outcome::Truncated(next),
                _ => Outcome::Continues(next),
            };
            learner.step(&Transition::new(
                Features::Dense(&row.obs),
                row.reward,
                outcome,
            ));
            before = Some(row);
        }
    }
}

/// A saved learner without what only a complete pass over files can tell.
pub fn unassessed(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap();
    let mut model: serde_json::Value = serde_json::from_str(&text).unwrap();
    let learned = &mut model["model"]["learned"];
    assert!(learned.get("assessment").is_some());
    learned["assessment"] = serde_json::Value::Null;
    // The end of a file closes its episodes but the last: rows that wait for a successor in one file are left out in two.
    let pairing = &mut learned["pairing"];
    let waiting = pairing["waiting"].take().as_u64().unwrap();
    let left_out = pairing["left_out"].as_u64().unwrap();
    pairing["left_out"] = (left_out + waiting).into();
    pairing["others"] = serde_json::Value::Null;
    model["digest"] = serde_json::Value::Null;
    model
}

/// Bytes as gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The words of a command line.
pub fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}
