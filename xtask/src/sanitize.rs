//! Runs the tests of the vector kernels under valgrind.
//!
//! Valgrind knows AVX2 but not AVX-512, and reports a CPU without it, so the kernels up to AVX2 are checked. Miri and the sanitizers
//! of the compiler need a nightly toolchain.

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

/// Whether valgrind finds nothing.
pub fn check() -> bool {
    let found = Command::new("valgrind").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("valgrind is not installed");
        return false;
    }
    PROGRAMS.into_iter().all(|(package, target, filters)| {
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
    })
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
