//! Mutates the corpus of one target for some time, and reports what happened: `robust-td-fuzz TARGET SECONDS SEED FOLDER`.
//!
//! Run by `cargo xtask fuzz` as a child with limits. An input that panics, takes more than [`SLOW`] or more than [`MOST`] is saved in
//! the folder; after the latter two the process ends, and its parent starts another one. The input that is being tried is in the file
//! `TARGET-trying` there, with the counts so far, so that they survive an abort. `robust-td-fuzz TARGET FILE` tries one input, and
//! `robust-td-fuzz TARGET seeds FOLDER` writes the inputs to start from, for libFuzzer.

#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use robust_td_fuzz::mutate::{Random, mutate};
use robust_td_fuzz::{Target, Verdict, panics};

/// The CPU time that an input may take.
const SLOW: Duration = Duration::from_secs(10);
/// The ticks that an input may take: a minute, in which the process was not paused.
const TICKS: u64 = 3000;
const TICK: Duration = Duration::from_millis(20);
/// The resident memory that an input may take, in kilobytes.
const MOST: u64 = 500_000;
/// How many inputs that were accepted are mutated further.
const POOL: usize = 2000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let target = words.first().and_then(|name| Target::find(name));
    match (target, &words[..]) {
        (Some(target), [_, file]) => once(target, Path::new(file)),
        (Some(target), [_, "seeds", folder]) => match write_seeds(target, Path::new(folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{folder}: {error}");
                ExitCode::from(2)
            }
        },
        (Some(target), [_, seconds, seed, folder]) => {
            let (Ok(seconds), Ok(seed)) = (seconds.parse(), seed.parse()) else {
                eprintln!("not a number: {seconds} or {seed}");
                return ExitCode::from(2);
            };
            let (time, folder) = (Duration::from_secs(seconds), PathBuf::from(folder));
            // In a thread of its own, whose temporary files are removed when it ends.
            let worker = std::thread::Builder::new().stack_size(8 << 20);
            let ran = worker.spawn(move || run(target, time, seed, &folder));
            match ran.map(std::thread::JoinHandle::join) {
                Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
                Ok(Ok(Err(error))) => {
                    eprintln!("{error}");
                    ExitCode::from(2)
                }
                _ => ExitCode::FAILURE,
            }
        }
        _ => {
            eprintln!(
                "usage: robust-td-fuzz TARGET SECONDS SEED FOLDER, robust-td-fuzz TARGET FILE, or robust-td-fuzz TARGET seeds FOLDER"
            );
            ExitCode::from(2)
        }
    }
}

/// Writes the inputs to start from, the stored ones included, as files of a folder.
fn write_seeds(target: &Target, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let stored = target.corpus().into_iter().map(|(_, bytes)| bytes);
    let seeds = (target.seeds)().into_iter().chain(stored);
    for (number, bytes) in seeds.enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), bytes)?;
    }
    Ok(())
}

/// Tries one input, as it was saved.
fn once(target: &Target, file: &Path) -> ExitCode {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let verdict = target.attempt(&bytes);
    let (time, peak) = (start.elapsed().as_secs_f64(), status("VmHWM:"));
    println!("{verdict:?} in {time:.3} s, at most {peak} kB");
    print_places();
    ExitCode::from(u8::from(verdict.is_none()))
}

fn print_places() {
    for (place, message) in panics::places() {
        eprintln!("panic at {place}: {message}");
    }
}

/// The input that is being tried, and the counts.
#[derive(Default)]
struct Current {
    bytes: Mutex<Vec<u8>>,
    /// Whether an input is being tried.
    busy: AtomicU64,
    inputs: AtomicU64,
    panics: AtomicU64,
    accepted: AtomicU64,
    peak: AtomicU64,
}

impl Current {
    fn save(&self, folder: &Path, target: &Target, what: &str) {
        let bytes = self
            .bytes
            .lock()
            .map(|bytes| bytes.clone())
            .unwrap_or_default();
        let name = format!("{}-{what}-{:08x}", target.name, checksum(&bytes));
        let _ = std::fs::write(folder.join(name), bytes);
    }

    fn report(&self, target: &Target, end: &str) {
        self.peak.fetch_max(status("VmHWM:"), Ordering::Relaxed);
        let [inputs, panics, accepted, peak] =
            [&self.inputs, &self.panics, &self.accepted, &self.peak]
                .map(|x| x.load(Ordering::Relaxed));
        println!(
            "{} inputs={inputs} accepted={accepted} panics={panics} caught={} peak_kb={peak} end={end}",
            target.name,
            panics::counts().1
        );
        print_places();
    }

    /// Keeps an input in a file: the numbers of inputs, accepted ones, panics and bytes, and the bytes.
    fn keep(&self, file: &mut File, buffer: &mut Vec<u8>, bytes: &[u8]) -> std::io::Result<()> {
        buffer.clear();
        for count in [&self.inputs, &self.accepted, &self.panics] {
            buffer.extend(count.load(Ordering::Relaxed).to_le_bytes());
        }
        buffer.extend((bytes.len() as u64).to_le_bytes());
        buffer.extend_from_slice(bytes);
        file.rewind()?;
        file.write_all(buffer)
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

fn run(target: &'static Target, time: Duration, seed: u64, folder: &Path) -> std::io::Result<()> {
    let (start, current) = (Instant::now(), Arc::new(Current::default()));
    let mut pool = (target.seeds)();
    pool.extend(target.corpus().into_iter().map(|(_, bytes)| bytes));
    let stored = pool.len();
    let mut trying = File::create(folder.join(format!("{}-trying", target.name)))?;
    let mut buffer = Vec::new();
    watch(target, current.clone(), folder.to_owned());
    let mut random = Random::new(seed);
    while start.elapsed() < time {
        let (one, two) = (random.below(pool.len()), random.below(pool.len()));
        let bytes = mutate(&mut random, &pool[one], &pool[two]);
        current.keep(&mut trying, &mut buffer, &bytes)?;
        if let Ok(mut own) = current.bytes.lock() {
            own.clone_from(&bytes);
        }
        current.busy.store(1, Ordering::Relaxed);
        let verdict = target.attempt(&bytes);
        current.busy.store(0, Ordering::Relaxed);
        current.inputs.fetch_add(1, Ordering::Relaxed);
        match verdict {
            None => {
                current.panics.fetch_add(1, Ordering::Relaxed);
                current.save(folder, target, "panic");
            }
            Some(Verdict::Accepted) => {
                current.accepted.fetch_add(1, Ordering::Relaxed);
                match pool.len() < stored + POOL {
                    true => pool.push(bytes),
                    false => pool[stored + random.below(POOL)] = bytes,
                }
            }
            Some(Verdict::Refused) => {}
        }
    }
    current.report(target, "time");
    Ok(())
}

/// Ends the process when an input takes too long or too much.
fn watch(target: &'static Target, current: Arc<Current>, folder: PathBuf) {
    std::thread::spawn(move || {
        // When the input that is being tried was seen first: its number, the ticks since then, the CPU time before.
        let (mut number, mut ticks, mut before) = (0, 0, processor());
        loop {
            std::thread::sleep(TICK);
            let now = current.inputs.load(Ordering::Relaxed);
            let busy = current.busy.load(Ordering::Relaxed) == 1;
            if now != number || !busy {
                (number, ticks, before) = (now, 0, processor());
            }
            ticks += 1;
            let slow = processor().saturating_sub(before) > SLOW || ticks > TICKS;
            let end = if slow {
                "hang"
            } else if status("VmRSS:") > MOST || status("VmHWM:") > MOST {
                "memory"
            } else {
                continue;
            };
            current.save(&folder, target, end);
            current.report(target, end);
            std::process::exit(3);
        }
    });
}

/// The CPU time of this process; zero where the system does not tell it.
fn processor() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name of the program, in hundredths of a second.
    let after = text.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|word| word.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// A line of this process's status in kilobytes; 0 where the system does not tell it.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
