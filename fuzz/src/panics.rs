//! Notices panics, also those that the program catches and reports as errors.
//!
//! A panic of ours is a defect whoever catches it. One of the Parquet library on a damaged file is expected: the program reports it.

use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};

static OURS: AtomicU64 = AtomicU64::new(0);
static OTHERS: AtomicU64 = AtomicU64::new(0);
/// The places and messages of panics of ours, each place once.
static PLACES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Counts panics from now on instead of printing them.
pub fn count() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(note)));
}

/// The number of panics so far that are defects, and of those of libraries that the program expects.
#[must_use]
pub fn counts() -> (u64, u64) {
    (OURS.load(Ordering::Relaxed), OTHERS.load(Ordering::Relaxed))
}

/// The places of defects so far, with the first message of each.
#[must_use]
pub fn places() -> Vec<(String, String)> {
    PLACES
        .lock()
        .map(|places| places.clone())
        .unwrap_or_default()
}

fn note(panic: &PanicHookInfo<'_>) {
    let file = panic.location().map_or("", |location| location.file());
    // The names of files are those of this workspace, of a package of the registry, or of the standard library.
    if robust_td_data::panics_are_caught() && !is_ours(Path::new(file)) {
        OTHERS.fetch_add(1, Ordering::Relaxed);
        return;
    }
    OURS.fetch_add(1, Ordering::Relaxed);
    let place = panic
        .location()
        .map_or_else(String::new, ToString::to_string);
    if let Ok(mut places) = PLACES.lock()
        && !places.iter().any(|(known, _)| *known == place)
    {
        let message = panic.payload_as_str().unwrap_or_default();
        places.push((place, message.chars().take(1000).collect()));
    }
}

/// Whether a file is one of this workspace: relative to it, or as its crates are named where it is a dependency (under libFuzzer).
fn is_ours(file: &Path) -> bool {
    let mut folders = file.iter().filter_map(std::ffi::OsStr::to_str);
    file.is_relative() || folders.any(|folder| folder.starts_with("robust-td"))
}
