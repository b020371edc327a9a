//! Mutates the corpus of one target for some time, and reports what happened: `robust-td-fuzz TARGET SECONDS SEED FOLDER`.
//!
//! Run by `cargo xtask fuzz` as a child with limits. An input that panics, takes more than [`SLOW`] or more than [`MOST`] is saved in
//! the folder; after the latter two the process ends, and its parent starts another one.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use robust_td_fuzz::mutate::{Random, mutate};
use robust_td_fuzz::{Target, Verdict};

/// The time that an input may take.
const SLOW: Duration = Duration::from_secs(10);
/// The resident memory that an input may take, in kilobytes.
const MOST: u64 = 500 * 1024;
/// How many inputs that were accepted are mutated further.
const POOL: usize = 2000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, seconds, seed, folder] = &arguments[..] else {
        eprintln!("usage: robust-td-fuzz TARGET SECONDS SEED FOLDER");
        return ExitCode::from(2);
    };
    let (Some(target), Ok(seconds), Ok(seed)) =
        (Target::find(target), seconds.parse(), seed.parse())
    else {
        eprintln!("no such target, or not a number");
        return ExitCode::from(2);
    };
    run(
        target,
        Duration::from_secs(seconds),
        seed,
        Path::new(folder),
    );
    ExitCode::SUCCESS
}

/// The input that is being tried.
#[derive(Default)]
struct Current {
    bytes: Mutex<Vec<u8>>,
    /// Milliseconds since the start at which it began; 0 for none.
    began: AtomicU64,
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
        let [inputs, panics, accepted, peak] =
            [&self.inputs, &self.panics, &self.accepted, &self.peak]
                .map(|x| x.load(Ordering::Relaxed));
        println!(
            "{} inputs={inputs} accepted={accepted} panics={panics} peak_kb={peak} end={end}",
            target.name
        );
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

fn run(target: &'static Target, time: Duration, seed: u64, folder: &Path) {
    let (start, current) = (Instant::now(), Arc::new(Current::default()));
    let mut pool = (target.seeds)();
    pool.extend(target.corpus().into_iter().map(|(_, bytes)| bytes));
    let stored = pool.len();
    watch(target, current.clone(), start, folder.to_owned());
    // What a panic says is not needed: the input is.
    std::panic::set_hook(Box::new(|_| {}));
    let mut random = Random::new(seed);
    while start.elapsed() < time {
        let (one, two) = (random.below(pool.len()), random.below(pool.len()));
        let bytes = mutate(&mut random, &pool[one], &pool[two]);
        if let Ok(mut own) = current.bytes.lock() {
            own.clone_from(&bytes);
        }
        current
            .began
            .store(start.elapsed().as_millis().max(1) as u64, Ordering::Relaxed);
        let verdict = std::panic::catch_unwind(|| (target.run)(&bytes));
        current.began.store(0, Ordering::Relaxed);
        current.inputs.fetch_add(1, Ordering::Relaxed);
        match verdict {
            Err(_) => {
                current.panics.fetch_add(1, Ordering::Relaxed);
                current.save(folder, target, "panic");
            }
            Ok(Verdict::Accepted) => {
                current.accepted.fetch_add(1, Ordering::Relaxed);
                match pool.len() < stored + POOL {
                    true => pool.push(bytes),
                    false => pool[stored + random.below(POOL)] = bytes,
                }
            }
            Ok(Verdict::Refused) => {}
        }
    }
    current.report(target, "time");
}

/// Ends the process when an input takes too long or too much.
fn watch(
    target: &'static Target,
    current: Arc<Current>,
    start: Instant,
    folder: std::path::PathBuf,
) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let began = current.began.load(Ordering::Relaxed);
            let now = start.elapsed().as_millis() as u64;
            let memory = resident();
            current.peak.fetch_max(memory, Ordering::Relaxed);
            let end = if began > 0 && now.saturating_sub(began) > SLOW.as_millis() as u64 {
                "hang"
            } else if memory > MOST {
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

/// The resident memory of this process in kilobytes; 0 where the system does not tell it.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
