//! Runs one target under libFuzzer, chosen by the environment variable `TARGET`.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use robust_td_fuzz::{Target, panics};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_else(|_| "csv".to_owned());
    Target::find(&name).expect("TARGET is the name of a folder in fuzz/corpus or of a target")
});

fuzz_target!(|bytes: &[u8]| {
    // Panics of the Parquet library on damaged files are caught and expected, so not every panic ends the run.
    if TARGET.attempt(bytes).is_none() {
        for (place, message) in panics::places() {
            eprintln!("{place}: {message}");
        }
        std::process::abort();
    }
});
