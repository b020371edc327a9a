//! Measures how fast each format is read and learned from, next to counting the lines of the same file.
//!
//! `cargo bench -p robust-td-data` prints one table. Observations have 10 numbers with all their digits. The last
//! column is the time over that of reading alone; `alg1` and `tiles` learn with Algorithm 1 from the
//! observation itself and from 8 active features of 4096.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use robust_td::features::Fitting;
use robust_td::learner::{Alg1, AnyLearner, Features, Learner, Transition, alg1};
use robust_td_data::{Batch, Inspector, Model, Pairing, ReadOptions, Reader, Source, Transitions};

const ROWS: usize = 400_000;
const DIMENSION: usize = 10;
const EPISODE: usize = 500;

fn main() {
    let directory = tempfile::tempdir().expect("a directory for the data");
    let table = Table::random();
    let files = table.write(directory.path());
    println!("{ROWS} rows, d = {DIMENSION}");
    println!(
        "{:<24} {:>8} {:>12} {:>10} {:>12}",
        "", "MB", "rows/s", "MB/s", "of reading"
    );
    for file in &files {
        let name = file
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        let size = std::fs::metadata(file).expect("the size").len() as f64 / 1e6;
        let reading = best(|| batches(file));
        let show = |what: &str, seconds: f64| {
            let rate = ROWS as f64 / seconds;
            println!(
                "{:<24} {size:>8.1} {rate:>12.3e} {:>10.0} {:>12.2}",
                format!("{name} {what}"),
                size / seconds,
                seconds / reading
            );
        };
        if matches!(name, "csv" | "ndjson") {
            show("newlines", best(|| newlines(file)));
        }
        show("batches", reading);
        show("transitions", best(|| transitions(file)));
        show("inspect", best(|| inspect(file)));
        show("alg1", best(|| learn(file, "identity")));
        show("tiles", best(|| learn(file, TILES)));
    }
    let memory = best(|| table.learn_in_memory());
    let rate = ROWS as f64 / memory;
    println!("{:<24} {:>8} {rate:>12.3e}", "memory alg1", "");
}

/// Eight tilings with 512 features each.
const TILES: &str = "tiles(tilings=8, bins=4, size=512, low=-1, high=1)";

fn alg1(dimension: usize) -> AnyLearner {
    let params = alg1::Params::decaying(0.9, ROWS as u64, 0.1).phi_inf(3.0);
    let params = params.check().expect("valid parameters");
    let learner = Alg1::new(params, dimension).expect("a dimension");
    learner.into()
}

fn learn(file: &Path, spec: &str) -> usize {
    let fitting = Fitting::new(spec, DIMENSION).expect("a map");
    let features = fitting.finish().expect("no pass needed");
    let learner = alg1(features.outputs());
    let mut model = Model::new(features, learner, 3.0, None).expect("a model");
    let (mut reader, mut batch) = (open(file), Batch::default());
    while reader.read(&mut batch).expect("good rows") {
        let learned = model.learn(reader.schema(), &batch, 0, u64::MAX);
        learned.expect("observations of the right length");
    }
    model.learner().steps() as usize
}

/// The shortest of three runs, in seconds.
fn best(mut run: impl FnMut() -> usize) -> f64 {
    (0..3)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn open(file: &Path) -> Reader {
    let source = Source::file(file, None).expect("a known format");
    Reader::open(vec![source], ReadOptions::default()).expect("a readable file")
}

fn newlines(file: &Path) -> usize {
    let mut input = File::open(file).expect("the file");
    let (mut buffer, mut count) = (vec![0; 1 << 18], 0);
    loop {
        match input.read(&mut buffer).expect("readable") {
            0 => return count,
            length => count += memchr::memchr_iter(b'\n', &buffer[..length]).count(),
        }
    }
}

fn batches(file: &Path) -> usize {
    let (mut reader, mut batch, mut rows) = (open(file), Batch::default(), 0);
    while reader.read(&mut batch).expect("good rows") {
        rows += batch.len();
    }
    rows
}

fn transitions(file: &Path) -> usize {
    let mut sum = 0.0;
    let mut transitions = Transitions::new(open(file), Pairing::default());
    let _ = transitions
        .for_each(|step| {
            sum += step.reward + step.obs[0] + step.next_obs().map_or(0.0, |next| next[0]);
            ControlFlow::Continue(())
        })
        .expect("good rows");
    std::hint::black_box(sum);
    transitions.pairing().transitions() as usize
}

fn inspect(file: &Path) -> usize {
    Inspector::inspect(open(file))
        .expect("good rows")
        .transitions as usize
}

/// Columns of random numbers; the last one is the reward.
struct Table {
    columns: Vec<Vec<f64>>,
    terminated: Vec<bool>,
}

impl Table {
    fn random() -> Self {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let columns = (0..=DIMENSION)
            .map(|_| (0..ROWS).map(|_| random()).collect())
            .collect();
        let terminated = (0..ROWS).map(|i| i % EPISODE == EPISODE - 1).collect();
        Self {
            columns,
            terminated,
        }
    }

    /// Feeds the learner from arrays: no reading, no diagnostics.
    fn learn_in_memory(&self) -> usize {
        let row = |i: usize| -> [f64; DIMENSION] { std::array::from_fn(|k| self.columns[k][i]) };
        let rows: Vec<[f64; DIMENSION]> = (0..ROWS).map(row).collect();
        let mut learner = alg1(DIMENSION);
        for i in 0..ROWS {
            let (here, reward) = (Features::Dense(&rows[i]), self.columns[DIMENSION][i]);
            learner.step(&match self.terminated[i] || i + 1 == ROWS {
                true => Transition::terminated(here, reward),
                false => Transition::continues(here, reward, Features::Dense(&rows[i + 1])),
            });
        }
        learner.steps() as usize
    }

    fn names() -> Vec<String> {
        let mut names: Vec<String> = (0..DIMENSION).map(|k| format!("obs_{k}")).collect();
        names.push("reward".to_owned());
        names
    }

    fn write(&self, directory: &Path) -> Vec<PathBuf> {
        let names = Self::names();
        let csv = directory.join("log.csv");
        let mut out = BufWriter::new(File::create(&csv).expect("a file"));
        writeln!(out, "{},terminated", names.join(",")).expect("writable");
        for i in 0..ROWS {
            for column in &self.columns {
                write!(out, "{},", column[i]).expect("writable");
            }
            writeln!(out, "{}", self.terminated[i]).expect("writable");
        }
        out.flush().expect("writable");

        let ndjson = directory.join("log.ndjson");
        let mut out = BufWriter::new(File::create(&ndjson).expect("a file"));
        for i in 0..ROWS {
            let obs: Vec<String> = (0..DIMENSION)
                .map(|k| self.columns[k][i].to_string())
                .collect();
            let (reward, terminated) = (self.columns[DIMENSION][i], self.terminated[i]);
            let obs = obs.join(", ");
            writeln!(
                out,
                "{{\"obs\": [{obs}], \"reward\": {reward}, \"terminated\": {terminated}}}"
            )
            .expect("writable");
        }
        out.flush().expect("writable");

        let parquet = directory.join("log.parquet");
        let mut arrays: Vec<(String, ArrayRef)> = Vec::new();
        for (name, column) in names.into_iter().zip(&self.columns) {
            arrays.push((name, Arc::new(Float64Array::from(column.clone()))));
        }
        let flags = BooleanArray::from(self.terminated.clone());
        arrays.push(("terminated".to_owned(), Arc::new(flags)));
        let records = RecordBatch::try_from_iter(arrays).expect("columns of one length");
        let file = File::create(&parquet).expect("a file");
        let mut writer = ArrowWriter::try_new(file, records.schema(), None).expect("writable");
        writer.write(&records).expect("writable");
        writer.close().expect("writable");
        vec![csv, ndjson, parquet]
    }
}
