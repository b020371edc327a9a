//! Runs the project's checks: `cargo xtask test`, `cargo xtask lint`, `cargo xtask package`, `cargo xtask python`,
//! `cargo xtask docs`, `cargo xtask bench`, `cargo xtask cluster`, `cargo xtask coverage`, `cargo xtask faults`, `cargo xtask fuzz`,
//! `cargo xtask sanitize`.

#![forbid(unsafe_code)]

mod docs;
mod faults;
mod fuzz;
mod msrv;
mod package;
mod python;
mod sanitize;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask <task>

  test      formatting, clippy with warnings denied, oldest Rust version, documentation, every test and example, packages, Python, site
  lint      everything except tests, examples, packages and Python
  package   package every crate and check what the packages hold
  python    build the Python package and run its tests
  docs      build the documentation site, with its tutorials executed, and print where it is
  fuzz      mutated inputs to every reader, for some minutes; `cargo xtask fuzz --help` lists options
  bench     the benchmarks of speed; further arguments are passed on
  cluster   jobs on a cluster of Ray on this machine whose workers are killed at random; further arguments are passed on
  coverage  the coverage of intervals on simulated logs, a long table; further arguments are passed on
  faults    kill long commands at random moments (--kills N, 1000 by default; --only COMMAND) and compare what they leave, bytes and files
  sanitize  the tests of the vector kernels under valgrind, AddressSanitizer and Miri, as far as these are installed";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let passed = match task.as_deref() {
        Some("test") => lint() && test(),
        Some("lint") => lint(),
        Some("package") => package::check(),
        Some("python") => python::test(),
        Some("docs") => docs::build(),
        Some("cluster") => python::cluster(&rest),
        Some("fuzz") => fuzz::run(&rest),
        // The only benchmark of the facade is the coverage table.
        Some("bench") => bench(&["--workspace", "--exclude", "robust-td"], &rest),
        Some("faults") => faults::check(&rest),
        Some("sanitize") => sanitize::check(),
        Some("coverage") => bench(&["-p", "robust-td", "--bench", "coverage"], &rest),
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
        && format_listed_modules()
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

/// Checks the format of algorithms and catalog problems: rustfmt does not follow modules that a macro declares.
fn format_listed_modules() -> bool {
    let folders = ["learner", "learner/portfolio", "catalog"];
    let mut files = Vec::new();
    for folder in folders.map(|name| format!("crates/robust-td-core/src/{name}")) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path().display().to_string());
        files.extend(paths.filter(|path| path.ends_with(".rs")));
    }
    files.sort();
    let mut arguments = vec!["fmt", "-p", "robust-td-core", "--", "--check"];
    arguments.extend(files.iter().map(String::as_str));
    cargo(&arguments, &[])
}

/// Runs every example of the library, as `cargo test` built it; they assert what they show.
fn examples() -> bool {
    let entries = std::fs::read_dir("crates/robust-td/examples");
    let mut names: Vec<String> = (entries.into_iter().flatten().flatten())
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.push("demo".into());
    names.sort();
    let built = target().join("release/examples");
    names.iter().all(|name| {
        eprintln!("== example {name}");
        let status = Command::new(built.join(name)).status();
        let passed = status.is_ok_and(|status| status.success());
        if !passed {
            eprintln!("the example {name} failed");
        }
        passed
    })
}

/// The directory that cargo builds into.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from)
}

fn test() -> bool {
    // The property tests draw the same cases each time; `cargo test` alone draws new ones.
    let tests = cargo(
        &["test", "--release", "--workspace"],
        &[("PROPTEST_RNG_SEED", "250601052")],
    );
    tests && examples() && package::check() && python::test_and_document()
}

fn bench(selection: &[&'static str], rest: &[String]) -> bool {
    let mut arguments = [&["bench"], selection].concat();
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
