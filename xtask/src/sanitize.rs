//! Runs the tests of the vector kernels under the tools that find errors of memory.
//!
//! Valgrind knows AVX2 but not AVX-512, and reports a CPU without it, so the kernels up to AVX2 are checked. AddressSanitizer runs the machine's
//! own instructions, AVX-512 included. Miri interprets the portable code. The last two need a nightly toolchain; tools that are not installed are
//! skipped with a message.

use std::process::Command;

/// The test programs: package, arguments of cargo that select it, filter of tests that take seconds under valgrind.
const PROGRAMS: [(&str, &str, &[&str]); 2] = [
    ("robust-td-simd", "--lib", &[]),
    // Random numbers, walks, and the step kernels on a forged checkpoint.
    (
        "robust-td-engine",
        "--lib",
        &["generators", "sampler", "threads", "panics"],
    ),
];

/// Whether the tools that are installed find nothing; at least one must be.
pub fn check() -> bool {
    let found = [
        ("valgrind", valgrind as fn() -> Option<bool>),
        ("AddressSanitizer", address_sanitizer),
        ("Miri", miri),
    ]
    .map(|(name, run)| (name, run()));
    for (name, passed) in found {
        eprintln!(
            "{name}: {}",
            match passed {
                Some(true) => "found nothing",
                Some(false) => "failed",
                None => "skipped, because it is not installed",
            }
        );
    }
    let ran: Vec<bool> = found.iter().filter_map(|(_, passed)| *passed).collect();
    !ran.is_empty() && ran.into_iter().all(|passed| passed)
}

/// Whether a command succeeds, without its output.
fn works(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

fn valgrind() -> Option<bool> {
    if !works("valgrind", &["--version"]) {
        return None;
    }
    Some(PROGRAMS.into_iter().all(|(package, target, filters)| {
        let Some(program) = built(package, target) else {
            return false;
        };
        eprintln!("== valgrind {program} {}", filters.join(" "));
        let status = Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=99", "--leak-check=no"])
            .arg(program)
            .arg("--test-threads=1")
            .args(filters)
            .status();
        status.is_ok_and(|status| status.success())
    }))
}

/// Runs the nightly cargo on the tests of the SIMD crate, in a target folder of its own.
fn nightly(words: &[&str], folder: &str, variables: [(&str, &str); 2]) -> bool {
    eprintln!("== cargo +nightly {}", words.join(" "));
    let status = Command::new("rustup")
        .args(["run", "nightly", "cargo"])
        .args(words)
        .env("CARGO_TARGET_DIR", crate::target().join(folder))
        .envs(variables)
        .status();
    status.is_ok_and(|status| status.success())
}

fn address_sanitizer() -> Option<bool> {
    if !works("rustup", &["run", "nightly", "rustc", "--version"]) {
        return None;
    }
    let target = "x86_64-unknown-linux-gnu";
    let words = [
        "test",
        "--release",
        "--package",
        "robust-td-simd",
        "--lib",
        "--target",
        target,
    ];
    let flags = [
        ("RUSTFLAGS", "-Zsanitizer=address"),
        ("PROPTEST_RNG_SEED", "1"),
    ];
    Some(nightly(&words, "asan", flags))
}

fn miri() -> Option<bool> {
    if !works("rustup", &["run", "nightly", "cargo", "miri", "--version"]) {
        return None;
    }
    let words = ["miri", "test", "--package", "robust-td-simd", "--lib"];
    // Property tests look at the file system; a few cases take seconds.
    let flags = [
        ("MIRIFLAGS", "-Zmiri-disable-isolation"),
        ("PROPTEST_CASES", "2"),
    ];
    Some(nightly(&words, "miri", flags))
}

/// Builds a test program; returns its path.
fn built(package: &str, target: &str) -> Option<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--release", "--no-run", "--message-format=json"])
        .args(["-p", package, target])
        .stderr(std::process::Stdio::inherit())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| Some(message.get("executable")?.as_str()?.to_owned()));
    let program = programs.next_back();
    if program.is_none() {
        eprintln!("cargo did not build the tests of {package}");
    }
    program
}
