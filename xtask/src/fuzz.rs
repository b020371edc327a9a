//! Runs the fuzzer on every target in child processes with limits, and prints what happened.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The address space of a child, in kilobytes: an allocation beyond it fails and aborts.
const ADDRESSES: u64 = 6 << 20;
/// The longest time of a child, so that aborts cost little.
const TURN: u64 = 60;

/// The targets of the fuzzer.
const TARGETS: [&str; 15] = [
    "csv",
    "ndjson",
    "gzip",
    "zstd",
    "parquet",
    "model",
    "checkpoint",
    "contests",
    "lanes",
    "parts",
    "sweep",
    "experiment",
    "problem",
    "matrix",
    "features",
];

const HELP: &str = "\
cargo xtask fuzz [--minutes N] [--target NAME]... [--seed S]

Mutates the stored corpus for N minutes (default 5), shared by all targets or those named (more for logs, whose inputs take longer), in a build with overflow checks and debug
assertions. Inputs that panic, abort, take more than 10 s or more than 500 MB are saved in target/fuzz; copy what is fixed to
fuzz/corpus/<target>.";

struct Plan {
    seconds: u64,
    targets: Vec<String>,
    seed: u64,
}

#[derive(Default)]
struct Tally {
    inputs: u64,
    accepted: u64,
    panics: u64,
    /// Panics of the Parquet library that the program reports as errors.
    caught: u64,
    aborts: u64,
    hangs: u64,
    memory: u64,
    peak: u64,
}

/// Runs the fuzzer; whether nothing failed.
pub fn run(arguments: &[String]) -> bool {
    let Some(plan) = plan(arguments) else {
        eprintln!("{HELP}");
        return false;
    };
    let build = [
        "build",
        "--profile",
        "checked",
        "--workspace",
        "--bin",
        "robust-td-fuzz",
    ];
    if !crate::cargo(&build, &[]) {
        return false;
    }
    let folder = crate::target().join("fuzz");
    // Children take it as their place for temporary files, whatever folder they work in.
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    if let Err(error) = std::fs::create_dir_all(folder.join("tmp")) {
        eprintln!("{}: {error}", folder.display());
        return false;
    }
    let program = crate::target().join("checked/robust-td-fuzz");
    let weights: u64 = plan.targets.iter().map(|target| weight(target)).sum();
    let mut tallies = BTreeMap::new();
    for target in &plan.targets {
        let share = plan.seconds * weight(target) / weights.max(1);
        let share = Duration::from_secs(share);
        let tally = fuzz(&program, target, share, plan.seed, &folder);
        println!("{}", row(target, &tally));
        tallies.insert(target, tally);
    }
    println!(
        "\n| target | inputs | accepted | panics | caught | aborts | hangs > 10 s | > 500 MB | peak |\n|---|---|---|---|---|---|---|---|---|"
    );
    let (mut inputs, mut failed) = (0, 0);
    for (target, tally) in &tallies {
        println!("{}", row(target, tally));
        inputs += tally.inputs;
        failed += tally.panics + tally.aborts + tally.hangs + tally.memory;
    }
    println!(
        "\n{inputs} inputs, {failed} failures; those are in {}",
        folder.display()
    );
    failed == 0
}

/// The share of the time that a target gets: more where an input takes long.
fn weight(target: &str) -> u64 {
    match target {
        "csv" | "ndjson" | "parquet" | "experiment" => 4,
        _ => 1,
    }
}

fn row(target: &str, tally: &Tally) -> String {
    format!(
        "| {target} | {} | {} | {} | {} | {} | {} | {} | {} MB |",
        tally.inputs,
        tally.accepted,
        tally.panics,
        tally.caught,
        tally.aborts,
        tally.hangs,
        tally.memory,
        tally.peak / 1000
    )
}

fn plan(arguments: &[String]) -> Option<Plan> {
    let mut plan = Plan {
        seconds: 300,
        targets: Vec::new(),
        seed: 1,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--minutes" => plan.seconds = (value.parse::<f64>().ok()? * 60.0) as u64,
            "--target" => plan.targets.push(value.clone()),
            "--seed" => plan.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    if plan.targets.is_empty() {
        plan.targets = TARGETS.map(str::to_owned).to_vec();
    }
    Some(plan)
}

fn fuzz(program: &Path, target: &str, time: Duration, seed: u64, folder: &Path) -> Tally {
    let (start, mut tally, mut turn) = (Instant::now(), Tally::default(), 0);
    while start.elapsed() < time || turn == 0 {
        let left = time
            .saturating_sub(start.elapsed())
            .as_secs()
            .clamp(1, TURN);
        // Without a shell there is no limit of addresses; the child watches its memory itself.
        let script = format!("ulimit -v {ADDRESSES}; exec \"$0\" \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &script])
            .env("TMPDIR", temporary(folder))
            .arg(program)
            .args([target, &left.to_string(), &(seed + 1000 * turn).to_string()])
            .arg(folder)
            .output();
        turn += 1;
        let Ok(output) = output else {
            tally.aborts += 1;
            break;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let word = |name: &str| {
            text.split_whitespace()
                .find_map(|word| word.strip_prefix(name))
        };
        let number = |name: &str| {
            word(name)
                .and_then(|word| word.parse::<u64>().ok())
                .unwrap_or(0)
        };
        tally.inputs += number("inputs=");
        tally.accepted += number("accepted=");
        tally.panics += number("panics=");
        tally.caught += number("caught=");
        tally.peak = tally.peak.max(number("peak_kb="));
        match word("end=") {
            Some("time") => {}
            Some("hang") => tally.hangs += 1,
            Some("memory") => tally.memory += 1,
            _ => {
                tally.aborts += 1;
                rescue(folder, target, &mut tally);
            }
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if !said.trim().is_empty() {
            eprintln!("{target}: {}", said.trim());
        }
    }
    tally
}

/// The place for temporary files: in memory where the system has such a place.
fn temporary(folder: &Path) -> std::path::PathBuf {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => memory.to_owned(),
        false => folder.join("tmp"),
    }
}

/// Saves the input that was being tried when the child aborted, and counts those before it.
fn rescue(folder: &Path, target: &str, tally: &mut Tally) {
    let bytes = std::fs::read(folder.join(format!("{target}-trying"))).unwrap_or_default();
    let (head, rest) = bytes.split_at(bytes.len().min(32));
    let counts = head.chunks_exact(8).map(|count| {
        let count = <[u8; 8]>::try_from(count).unwrap_or_default();
        u64::from_le_bytes(count)
    });
    if let [inputs, accepted, panics, length] = counts.collect::<Vec<_>>()[..] {
        tally.inputs += inputs + 1;
        tally.accepted += accepted;
        tally.panics += panics;
        let input = rest.get(..length as usize).unwrap_or(rest);
        let name = format!("{target}-abort-{}", tally.aborts);
        let _ = std::fs::write(folder.join(name), input);
    }
}
