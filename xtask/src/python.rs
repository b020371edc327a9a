//! Builds the wheel of the Python package, installs it into an environment of its own and runs its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The largest wheel, in bytes.
const LARGEST_WHEEL: u64 = 15_000_000;
const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// Whether the package builds and its tests pass; true, with a word, where there is no Python.
pub fn test() -> bool {
    let Some(python) = interpreter() else {
        eprintln!("no Python 3.10 or newer was found: skipped the Python package");
        return true;
    };
    run(&python).map_err(|reason| eprintln!("{reason}")).is_ok()
}

/// A Python that can make environments; the variable PYTHON names another.
fn interpreter() -> Option<String> {
    let named = std::env::var("PYTHON").ok();
    let known = ["python3", "python"].map(str::to_owned);
    let suits = |name: &String| {
        let words = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
        let tried = Command::new(name).args(["-c", words]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    named.into_iter().chain(known).find(suits)
}

fn run(python: &str) -> Result<(), String> {
    let folder = crate::target().join("python");
    let environment = folder.join("venv");
    let python = installed(python, &environment)?;
    let wheel = wheel(&python, &folder.join("dist"))?;
    pip(
        &python,
        &["install", "--force-reinstall", "--no-deps", &wheel],
    )?;
    call(&python, &["-m", "mypy"])?;
    // The tests compare with the program that cargo built.
    let program = crate::target().join("release/robust-td");
    let program = fs::canonicalize(&program).unwrap_or(program);
    eprintln!("== pytest");
    let done = Command::new(&python)
        .args(["-m", "pytest", "-q"])
        .env("ROBUST_TD", program)
        .status();
    match done.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err("the tests of the Python package failed".into()),
    }
}

/// The interpreter of an environment that has what the tests require.
fn installed(python: &str, environment: &Path) -> Result<PathBuf, String> {
    let inside = match cfg!(windows) {
        true => environment.join("Scripts/python.exe"),
        false => environment.join("bin/python"),
    };
    if !inside.exists() {
        let folder = environment.display().to_string();
        call(Path::new(python), &["-m", "venv", &folder])?;
    }
    // Nothing is installed again while the list stays the same.
    let (stamp, wanted) = (environment.join("requirements.txt"), read(REQUIREMENTS)?);
    if fs::read_to_string(&stamp).ok().as_deref() != Some(&wanted) {
        pip(
            &inside,
            &["install", "--only-binary", ":all:", "-r", REQUIREMENTS],
        )?;
        fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    Ok(inside)
}

/// Builds the wheel, with what is installed, as `pip install .` does.
fn wheel(python: &Path, into: &Path) -> Result<String, String> {
    if into.exists() {
        fs::remove_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
    }
    let folder = into.display().to_string();
    pip(
        python,
        &[
            "wheel",
            ".",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            &folder,
        ],
    )?;
    let mut found = fs::read_dir(into).into_iter().flatten().flatten();
    let wheel = found.next().ok_or("no wheel was built")?;
    let size = wheel.metadata().map_or(0, |data| data.len());
    eprintln!("{}: {:.1} MB", wheel.path().display(), size as f64 / 1e6);
    match size <= LARGEST_WHEEL {
        true => Ok(wheel.path().display().to_string()),
        false => Err(format!(
            "the wheel has {size} bytes, more than {LARGEST_WHEEL}"
        )),
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

fn pip(python: &Path, arguments: &[&str]) -> Result<(), String> {
    let quiet = ["-m", "pip", "--disable-pip-version-check", "--quiet"];
    call(python, &[&quiet, arguments].concat())
}

/// Prints and runs one call of the interpreter.
fn call(python: &Path, arguments: &[&str]) -> Result<(), String> {
    let words = arguments.join(" ");
    eprintln!("== python {words}");
    let done = Command::new(python).args(arguments).status();
    match done.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(format!("python {words} failed")),
    }
}
