//! Builds the wheel of the Python package, installs it into an environment of its own and runs its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The largest wheel, in bytes.
const LARGEST_WHEEL: u64 = 15_000_000;
const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// Whether the package builds and its tests pass; true, with a word, where there is no Python.
pub fn test() -> bool {
    with_package(tests)
}

/// The same, and whether the documentation builds.
pub fn test_and_document() -> bool {
    with_package(|python| tests(python).and_then(|()| crate::docs::site(python)))
}

/// Whether jobs on a cluster have the same bytes while their workers are killed.
pub fn cluster(rest: &[String]) -> bool {
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    with_package(|python| {
        let arguments = ["benches/scale_out.py", "campaign"];
        call(python, &[&arguments, &rest[..]].concat())
    })
}

/// Builds and installs the package and does something with the interpreter that has it; true, with a word, where there is no
/// Python.
pub fn with_package(work: impl FnOnce(&Path) -> Result<(), String>) -> bool {
    let Some(python) = interpreter() else {
        eprintln!(
            "no Python 3.10 or newer was found: skipped the Python package and the documentation"
        );
        return true;
    };
    let done = installed(&python).and_then(|python| work(&python));
    done.map_err(|reason| eprintln!("{reason}")).is_ok()
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

/// The interpreter of an environment that has the package and what its tests require.
fn installed(python: &str) -> Result<PathBuf, String> {
    let folder = crate::target().join("python");
    let environment = folder.join("venv");
    let inside = match cfg!(windows) {
        true => environment.join("Scripts/python.exe"),
        false => environment.join("bin/python"),
    };
    if !inside.exists() {
        let folder = environment.display().to_string();
        call(Path::new(python), &["-m", "venv", &folder])?;
    }
    require(&inside, REQUIREMENTS)?;
    let wheel = wheel(&inside, &folder.join("dist"))?;
    pip(
        &inside,
        &["install", "--force-reinstall", "--no-deps", &wheel],
    )?;
    Ok(inside)
}

/// Installs a list of requirements from wheels, if it is not installed already.
///
/// # Errors
/// When there is no such file, or pip fails.
pub fn require(python: &Path, list: &str) -> Result<(), String> {
    // Nothing is installed again while the list stays the same.
    let environment = python.parent().and_then(Path::parent);
    let stamp = environment.unwrap_or(Path::new("."));
    let stamp = stamp.join(list.replace('/', "-"));
    let wanted = read(list)?;
    if fs::read_to_string(&stamp).ok().as_deref() != Some(&wanted) {
        pip(python, &["install", "--only-binary", ":all:", "-r", list])?;
        fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    Ok(())
}

/// Checks the types of the package and runs its tests.
fn tests(python: &Path) -> Result<(), String> {
    call(python, &["-m", "mypy"])?;
    // The tests compare with the program that cargo built.
    let program = crate::target().join("release/robust-td");
    let program = fs::canonicalize(&program).unwrap_or(program);
    eprintln!("== pytest");
    let done = Command::new(python)
        .args(["-m", "pytest", "-q"])
        .env("ROBUST_TD", program)
        .status();
    match done.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err("the tests of the Python package failed".into()),
    }
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

/// Whether a call of the interpreter succeeds; without a word.
pub fn succeeds(python: &Path, arguments: &[&str]) -> bool {
    let done = Command::new(python).args(arguments).output();
    done.is_ok_and(|output| output.status.success())
}

/// Prints and runs one call of the interpreter.
///
/// # Errors
/// When it fails.
pub fn call(python: &Path, arguments: &[&str]) -> Result<(), String> {
    let words = arguments.join(" ");
    eprintln!("== python {words}");
    let done = Command::new(python).args(arguments).status();
    match done.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(format!("python {words} failed")),
    }
}
