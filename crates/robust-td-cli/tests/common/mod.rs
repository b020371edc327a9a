//! Runs the real command in its own folder.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// The outcome of a run.
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A folder with files in it.
pub fn folder<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// Runs the command inside a folder.
pub fn run_in(folder: &Path, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the command.
pub fn run(arguments: &[&str]) -> Run {
    run_in(Path::new("."), arguments)
}

/// The JSON object that a successful run printed.
pub fn json(arguments: &[&str]) -> serde_json::Value {
    json_in(Path::new("."), arguments)
}

/// The same, inside a folder.
pub fn json_in(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let run = run_in(folder, arguments);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(run.stdout.lines().count(), 1);
    serde_json::from_str(&run.stdout).unwrap()
}

/// A NumPy file, version 1.0.
pub fn npy(descriptor: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descriptor}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// Little-endian doubles.
pub fn doubles(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}
