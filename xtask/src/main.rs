//! Runs the project's checks: `cargo xtask test`, `cargo xtask lint`, `cargo xtask bench`.

#![forbid(unsafe_code)]

mod msrv;

use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask <task>

  test    formatting, clippy with warnings denied, oldest Rust version, documentation, every test
  lint    everything except the tests
  bench   the benchmarks; further arguments are passed on to them";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let passed = match task.as_deref() {
        Some("test") => lint() && test(),
        Some("lint") => lint(),
        Some("bench") => bench(&rest),
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

// Everything runs in the release profile, so that `cargo build --release` and the tests share one build.

fn lint() -> bool {
    cargo(&["fmt", "--all", "--check"], &[])
        && format_algorithms()
        && cargo(
            &[
                "clippy",
                "--release",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
                "-D",
                "clippy::incompatible_msrv",
            ],
            &[],
        )
        && msrv::check()
        && cargo(
            &["doc", "--release", "--workspace", "--no-deps"],
            &[("RUSTDOCFLAGS", "-D warnings")],
        )
}

/// Checks the format of the algorithms: rustfmt does not follow the modules that a macro declares.
fn format_algorithms() -> bool {
    const FOLDER: &str = "crates/robust-td-core/src/learner";
    let entries = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let mut files: Vec<String> = entries
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.ends_with(".rs"))
        .collect();
    files.push(format!("{FOLDER}/portfolio/mod.rs"));
    files.sort();
    let mut arguments = vec!["fmt", "-p", "robust-td-core", "--", "--check"];
    arguments.extend(files.iter().map(String::as_str));
    cargo(&arguments, &[])
}

fn test() -> bool {
    // The property tests draw the same cases each time; `cargo test` alone draws new ones.
    let tests = cargo(
        &["test", "--release", "--workspace"],
        &[("PROPTEST_RNG_SEED", "250601052")],
    );
    // The examples assert what they show, so they are run too.
    let examples = [("robust-td-core", "stream"), ("robust-td-report", "demo")];
    tests
        && examples.into_iter().all(|(package, example)| {
            cargo(
                &["run", "--release", "-p", package, "--example", example],
                &[],
            )
        })
}

fn bench(rest: &[String]) -> bool {
    let mut arguments = vec!["bench", "--workspace"];
    if !rest.is_empty() {
        arguments.push("--");
        arguments.extend(rest.iter().map(String::as_str));
    }
    cargo(&arguments, &[])
}

/// Prints and runs one cargo command in the workspace.
fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> bool {
    eprintln!("== cargo {}", arguments.join(" "));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    match Command::new(cargo)
        .args(arguments)
        .envs(environment.iter().copied())
        .status()
    {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot start cargo: {error}");
            false
        }
    }
}
