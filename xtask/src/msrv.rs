//! Checks that the oldest supported Rust version can build the workspace.
//!
//! No dependency may require a newer version than the workspace. If the running compiler is that version, the other checks have
//! compiled everything with it; otherwise the toolchain of that version compiles the workspace, if rustup has it.

use std::process::Command;

use serde_json::Value;

use crate::cargo;

/// The packages of the workspace and their dependencies, as `cargo metadata` lists them.
fn packages() -> Result<Vec<Value>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let mut metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err("cargo metadata lists no packages".into()),
    }
}

/// `1.95` as `[1, 95, 0]`.
fn parse(version: &str) -> Vec<u64> {
    let mut parts: Vec<u64> = version.split('.').filter_map(|p| p.parse().ok()).collect();
    parts.resize(3, 0);
    parts
}

/// Whether the workspace builds with its `rust-version`.
pub fn check() -> bool {
    let packages = match packages() {
        Ok(packages) => packages,
        Err(reason) => {
            eprintln!("{reason}");
            return false;
        }
    };
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let ours = packages
        .iter()
        .find(|package| package["name"] == "robust-td-core")
        .and_then(|package| text(package, "rust_version"));
    let Some(ours) = ours else {
        eprintln!("robust-td-core has no rust-version");
        return false;
    };
    eprintln!("== rust-version {ours}");
    let mut passed = true;
    for package in &packages {
        if let Some(theirs) = text(package, "rust_version")
            && parse(&theirs) > parse(&ours)
        {
            eprintln!(
                "{} {} needs Rust {theirs}",
                package["name"], package["version"]
            );
            passed = false;
        }
    }
    passed && compile_with(&ours)
}

/// Compiles with the toolchain of this version, if rustup has it and it is not the one that runs.
fn compile_with(version: &str) -> bool {
    let answers = |command: &mut Command| {
        let output = command.output().ok().filter(|o| o.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split(' ').nth(1).map(parse)
    };
    let running = answers(Command::new("rustc").arg("--version"));
    if running.is_some_and(|running| running[..2] == parse(version)[..2]) {
        eprintln!("this is the compiler that runs");
        return true;
    }
    let toolchain = format!("{version}.0");
    let mut run = Command::new("rustup");
    run.args(["run", &toolchain, "rustc", "--version"]);
    if answers(&mut run).is_none() {
        eprintln!("Rust {version} is not installed: skipped compiling with it");
        return true;
    }
    // The toolchain compiles into its own directory, so that it does not replace the shared build.
    cargo(
        &[
            "check",
            "--release",
            "--workspace",
            "--target-dir",
            "target/msrv",
        ],
        &[("RUSTUP_TOOLCHAIN", &toolchain)],
    )
}
