//! Measures the speed of reading each format and learning from it, compared with counting the lines of the file.
//!
//! `cargo bench -p robust-td-data` prints one table. Observations have 10 numbers at full precision. `bare parse` reads
//! every row into batches and discards them. `alg1` and `tiles` also learn with Algorithm 1, including
//! diagnostics, from the observation itself and from 8 active features of 4096. A second thread reads ahead, as in
//! `evaluate`, or the same thread alternates between reading and learning (`one thread`). `16 constants` is `--c auto`, without
//! and with 64 replicates, and with least squares in addition. Each measurement runs in a new process, like a call of `evaluate`: a
//! second read in the same process is faster, because its memory is already allocated. The jobs on a file take turns, and the
//! fastest turn counts, since it was disturbed least by other load. `of parsing` is the time relative to the bare
//! parse, `of alg1` the time relative to one constant.
//!
//! The last table learns from arrays, without reading: `learner` is the step alone, `model` is what `evaluate` does with a
//! batch after reading it, including pairing and diagnostics.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use robust_td_core::features::{FeatureMap, Fitting, Row};
use robust_td_core::learner::{Alg1, Features, Learner, Transition, alg1};
use robust_td_core::portfolio::{self, RobustTd};
use robust_td_core::registry::AnyLearner;
use robust_td_data::{
    Batch, Inspector, Learned, Pairing, ReadAhead, ReadOptions, Reader, Schema, Source, Transitions,
};

const ROWS: usize = 400_000;
const DIMENSION: usize = 10;
const EPISODE: usize = 500;

/// The number of turns of every measurement.
const TURNS: usize = 9;

/// A job on a file; returns its number of rows.
type Job = fn(&Path) -> usize;

/// The jobs for every file, each in its own process.
const JOBS: [(&str, Job); 11] = [
    (PARSE, batches),
    ("alg1", |file| learn_ahead(file, model("identity"))),
    ("16 constants", |file| learn_ahead(file, auto(0))),
    ("+ 64 replicates", |file| learn_ahead(file, auto(64))),
    ("+ least squares", |file| learn_ahead(file, with_squares())),
    ("tiles", |file| learn_ahead(file, model(TILES))),
    ("alg1, one thread", |file| learn(file, model("identity"))),
    ("tiles, one thread", |file| learn(file, model(TILES))),
    ("transitions", transitions),
    ("inspect", inspect),
    (LINES, newlines),
];
const PARSE: &str = "bare parse";
const LINES: &str = "lines (wc -l)";

/// The argument of a process that does one job and prints its time.
const ONCE: &str = "--once";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[1..] {
        [once, name, file] if once == ONCE => {
            let (_, job) = JOBS.iter().find(|job| job.0 == name).expect("a job");
            println!("{}", seconds(|| job(Path::new(file))));
        }
        _ => measure_all(),
    }
}

fn measure_all() {
    let directory = tempfile::tempdir().expect("a directory for the data");
    let table = Table::random();
    let files = table.write(directory.path());
    println!("{ROWS} rows, d = {DIMENSION}; the fastest of {TURNS} turns");
    for file in &files {
        let name = file
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        let size = std::fs::metadata(file).expect("the size").len() as f64 / 1e6;
        let jobs = JOBS
            .iter()
            .filter(|job| job.0 != LINES || name != "parquet");
        let mut measured: Vec<Measured<'_>> = jobs
            .map(|(job, _)| Measured::of(job, || in_a_process(job, file)))
            .collect();
        take_turns(&mut measured);
        println!("\n{name}, {size:.1} MB");
        print_table(&measured, Some(PARSE), "alg1");
    }
    let rows = table.rows();
    let (schema, batches) = in_memory(&files[2]);
    let learn = |mut model: Learned| {
        for batch in &batches {
            let learned = model.learn(&schema, batch, 0, u64::MAX);
            learned.expect("observations of the right length");
        }
        model.learner().steps() as usize
    };
    let mut learners = vec![
        Measured::new("learner alg1", || table.learn_in_memory(&rows, one())),
        Measured::new("learner 16 constants", || {
            table.learn_in_memory(&rows, sixteen(0))
        }),
        Measured::new("learner + 64 replicates", || {
            table.learn_in_memory(&rows, sixteen(64))
        }),
        Measured::new("learner tiles", || table.learn_tiles_in_memory(&rows)),
    ];
    let mut models = vec![
        Measured::new("model alg1", || learn(model("identity"))),
        Measured::new("model 16 constants", || learn(auto(0))),
        Measured::new("model + 64 replicates", || learn(auto(64))),
        Measured::new("model + least squares", || learn(with_squares())),
        Measured::new("model tiles", || learn(model(TILES))),
    ];
    take_turns(&mut learners);
    take_turns(&mut models);
    println!("\nmemory");
    print_table(&learners, None, "learner alg1");
    print_table(&models, None, "model alg1");
}

/// Prints rows per second and ratios of the measurements.
fn print_table(measured: &[Measured<'_>], parsing: Option<&str>, one: &str) {
    let seconds = |name: &str| {
        let found = measured.iter().find(|other| other.name == name);
        found.map_or(f64::NAN, |found| found.seconds)
    };
    let parsing_seconds = parsing.map(seconds);
    println!(
        "{:<24} {:>14} {:>10} {:>12} {:>10}",
        "",
        "transitions/s",
        "ns",
        if parsing.is_some() { "of parsing" } else { "" },
        "of alg1"
    );
    for Measured {
        name, seconds: own, ..
    } in measured
    {
        let of_parsing = parsing_seconds.map_or(String::new(), |p| format!("{:.2}", own / p));
        println!(
            "{name:<24} {:>14.3e} {:>10.1} {of_parsing:>12} {:>10.2}",
            ROWS as f64 / own,
            own / ROWS as f64 * 1e9,
            own / seconds(one)
        );
    }
}

fn seconds(run: impl FnOnce() -> usize) -> f64 {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed().as_secs_f64()
}

/// The time of a job in its own process in seconds, without process start-up.
fn in_a_process(job: &str, file: &Path) -> f64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args([ONCE, job])
        .arg(file)
        .output()
        .expect("a process");
    assert!(
        output.status.success(),
        "{job}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.trim().parse().expect("seconds")
}

/// The first batches of a file, with all their rows.
fn in_memory(file: &Path) -> (Schema, Vec<Batch>) {
    let (mut reader, mut batches) = (open(file), Vec::new());
    loop {
        let mut batch = Batch::default();
        if !reader.read(&mut batch).expect("good rows") {
            return (reader.schema().clone(), batches);
        }
        batches.push(batch);
    }
}

/// A measurement with its fastest turn so far.
struct Measured<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> f64 + 'a>,
    seconds: f64,
}

impl<'a> Measured<'a> {
    /// A measurement that reports its own seconds.
    fn of(name: &'static str, run: impl Fn() -> f64 + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
            seconds: f64::INFINITY,
        }
    }

    fn new(name: &'static str, run: impl Fn() -> usize + 'a) -> Self {
        Self::of(name, move || seconds(&run))
    }
}

fn take_turns(measured: &mut [Measured<'_>]) {
    for _ in 0..TURNS {
        for one in &mut *measured {
            one.seconds = one.seconds.min((one.run)());
        }
    }
}

/// Eight tilings with 512 features each.
const TILES: &str = "tiles(tilings=8, bins=4, size=512, low=-1, high=1)";

fn map(spec: &str) -> FeatureMap {
    let fitting = Fitting::new(spec, DIMENSION).expect("a map");
    fitting.finish().expect("no pass needed")
}

fn one() -> AnyLearner {
    alg1(DIMENSION)
}

fn alg1(dimension: usize) -> AnyLearner {
    let params = alg1::Alg1Params::decaying(0.9, ROWS as u64, 0.1, 3.0);
    let learner = Alg1::new(params, dimension).expect("a dimension");
    learner.into()
}

fn model(spec: &str) -> Learned {
    let features = map(spec);
    let learner = alg1(features.outputs());
    Learned::new(features, learner, 3.0, None).expect("a model")
}

/// Sixteen constants at once, with the given number of replicates.
fn sixteen(replicates: usize) -> AnyLearner {
    let params = portfolio::RobustTdParams {
        horizon: Some(ROWS as u64),
        replicates,
        ..portfolio::RobustTdParams::new(0.9, 3.0)
    };
    RobustTd::new(params, DIMENSION).expect("a learner").into()
}

fn auto(replicates: usize) -> Learned {
    Learned::new(map("identity"), sixteen(replicates), 3.0, None).expect("a model")
}

fn with_squares() -> Learned {
    let model = auto(64).with_least_squares();
    model.expect("few features")
}

/// Reads and learns in parallel, as `evaluate` does.
fn learn_ahead(file: &Path, mut model: Learned) -> usize {
    let mut reader = ReadAhead::start_for(open(file), &model).expect("a thread");
    let mut batch = Batch::default();
    while reader.read(&mut batch).expect("good rows") {
        let learned = model.learn(reader.schema(), &batch, 0, u64::MAX);
        learned.expect("observations of the right length");
    }
    model.learner().steps() as usize
}

/// Reads and learns alternately.
fn learn(file: &Path, mut model: Learned) -> usize {
    let (mut reader, mut batch) = (open(file), Batch::default());
    while reader.read(&mut batch).expect("good rows") {
        let learned = model.learn(reader.schema(), &batch, 0, u64::MAX);
        learned.expect("observations of the right length");
    }
    model.learner().steps() as usize
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

    /// The observations, row by row.
    fn rows(&self) -> Vec<[f64; DIMENSION]> {
        let row = |i: usize| std::array::from_fn(|k| self.columns[k][i]);
        (0..ROWS).map(row).collect()
    }

    /// Feeds a learner from arrays: no reading, no diagnostics.
    fn learn_in_memory(&self, rows: &[[f64; DIMENSION]], mut learner: AnyLearner) -> usize {
        for i in 0..ROWS {
            let next = rows.get(i + 1).map(|next| Features::Dense(next));
            learner.step(&self.transition(i, Features::Dense(&rows[i]), next));
        }
        learner.steps() as usize
    }

    /// The same with tile coding.
    fn learn_tiles_in_memory(&self, rows: &[[f64; DIMENSION]]) -> usize {
        let map = map(TILES);
        let mut learner = alg1(map.outputs());
        let [mut here, mut next] = [Row::for_map(&map), Row::for_map(&map)];
        map.write(&rows[0], &mut here);
        for i in 0..ROWS {
            if let Some(row) = rows.get(i + 1) {
                map.write(row, &mut next);
            }
            learner.step(&self.transition(i, here.features(), Some(next.features())));
            std::mem::swap(&mut here, &mut next);
        }
        learner.steps() as usize
    }

    fn transition<'a>(
        &self,
        i: usize,
        here: Features<'a>,
        next: Option<Features<'a>>,
    ) -> Transition<'a> {
        let reward = self.columns[DIMENSION][i];
        match next {
            Some(next) if !self.terminated[i] => Transition::new(here, reward, next),
            _ => Transition::terminated(here, reward),
        }
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
