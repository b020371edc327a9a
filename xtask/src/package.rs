//! Packages every crate and checks that each compiles from what its package holds.
//!
//! `cargo package` can verify by itself, but builds all dependencies again. Here the packages are unpacked into a workspace of their own that
//! shares the dependencies that are already built.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether every crate compiles from its package.
pub fn check() -> bool {
    run().map_err(|reason| eprintln!("{reason}")).is_ok()
}

/// Packages the workspace, unpacks the packages and checks them together.
fn run() -> Result<(), String> {
    let target = crate::target();
    let packages = target.join("package");
    // Packages of earlier versions would be taken for crates of this one.
    if packages.exists() {
        fs::remove_dir_all(&packages).map_err(|error| failed(&packages, error))?;
    }
    let arguments = [
        "package",
        "--workspace",
        "--exclude",
        "xtask",
        "--exclude",
        "robust-td-fuzz",
        // Python's package holds it.
        "--exclude",
        "robust-td-py",
        "--no-verify",
        "--allow-dirty",
    ];
    crate::cargo(&arguments, &[])
        .then_some(())
        .ok_or("cargo package failed")?;
    let names = unpack(&packages)?;
    let workspace = packages.join("unpacked");
    let members: Vec<String> = names
        .iter()
        .map(|(directory, _)| format!("{directory:?}"))
        .collect();
    let patches: Vec<String> = (names.iter())
        .map(|(directory, name)| format!("{name} = {{ path = {directory:?} }}"))
        .collect();
    // The same profiles, so that the dependencies are not built again.
    let own =
        fs::read_to_string("Cargo.toml").map_err(|error| failed(Path::new("Cargo.toml"), error))?;
    let profiles = own.find("[profile").map_or("", |start| &own[start..]);
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[patch.crates-io]\n{}\n\n{profiles}",
        members.join(", "),
        patches.join("\n")
    );
    let path = workspace.join("Cargo.toml");
    fs::write(&path, manifest).map_err(|error| failed(&path, error))?;
    fs::copy("Cargo.lock", workspace.join("Cargo.lock"))
        .map_err(|error| failed(&workspace, error))?;
    let target = fs::canonicalize(&target).map_err(|error| failed(&target, error))?;
    let (path, target) = (path.display().to_string(), target.display().to_string());
    let check = [
        "check",
        "--release",
        "--workspace",
        "--manifest-path",
        &path,
    ];
    crate::cargo(&check, &[("CARGO_TARGET_DIR", &target)])
        .then_some(())
        .ok_or("a package does not compile by itself".into())
}

/// Unpacks every package; returns the directory and the crate's name of each.
fn unpack(packages: &Path) -> Result<Vec<(String, String)>, String> {
    let into = packages.join("unpacked");
    fs::create_dir_all(&into).map_err(|error| failed(&into, error))?;
    let mut names = Vec::new();
    let entries = fs::read_dir(packages).map_err(|error| failed(packages, error))?;
    for entry in entries {
        let path = entry.map_err(|error| failed(packages, error))?.path();
        let Some(stem) = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(".crate"))
        else {
            continue;
        };
        let (name, _) = stem.rsplit_once('-').ok_or("a package without a version")?;
        let unpacked = Command::new("tar")
            .arg("-xzf")
            .arg(&path)
            .arg("-C")
            .arg(&into)
            .status();
        if !unpacked.is_ok_and(|status| status.success()) {
            return Err(format!("cannot unpack {}", path.display()));
        }
        names.push((stem.to_owned(), name.to_owned()));
    }
    names.sort();
    Ok(names)
}

fn failed(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
