//! Checks that files are found whatever the bytes of their names.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::folder;

const PROBLEM: &str = "discount = 0.9\ntransition = [[0.2, 0.8], [0.8, 0.2]]\n\
    reward = [0.0, 1.0]\nfeatures = [[1.0, 0.0], [0.0, 1.0]]\n";

/// A log of episodes with 3 rows.
fn log() -> String {
    let row = |k: usize| {
        let last = u8::from(k % 3 == 2);
        format!("{},{},{},{last}\n", k % 7, k * k % 11, k / 3)
    };
    let rows = (0..90).map(row).collect::<String>();
    format!("obs_0,reward,episode,terminated\n{rows}")
}

/// Runs the command with arguments separated by spaces, in which ~ is a byte that is not UTF-8.
fn run(folder: &Path, line: &str) -> Output {
    let raw: Vec<u8> = line
        .bytes()
        .map(|b| if b == b'~' { 0xff } else { b })
        .collect();
    Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .current_dir(folder)
        .args(raw.split(|&byte| byte == b' ').map(OsStr::from_bytes))
        .output()
        .unwrap()
}

#[test]
fn names_that_are_not_utf_8_are_names_of_files() {
    let folder = folder([]);
    let write = |name: &[u8], text: &str| {
        fs::write(folder.path().join(OsStr::from_bytes(name)), text).unwrap();
    };
    write(b"log\xff.csv", &log());
    write(b"more\xff.csv", &log());
    write(b"problem\xff.toml", PROBLEM);
    for line in [
        "evaluate log~.csv --discount 0.9 --out model~.json",
        // The files of the model are read again.
        "evaluate more~.csv --resume model~.json --out both~.json",
        "inspect log~.csv",
        "inspect *.csv log~.csv",
        "predict model~.json log~.csv --out values~.csv",
        "problems problem~.toml",
        "certify problem~.toml --horizon 1000 --c 1",
        "compare problem~.toml --horizon 100 --runs 2 --out out~",
    ] {
        if line.contains('*') {
            write(b"plain.csv", &log());
        }
        let output = run(folder.path(), line);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {message}");
    }
    for line in ["evaluate none~.csv --discount 0.9", "problems none~.toml"] {
        let output = run(folder.path(), line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("none"), "{message}");
    }
    let output = run(folder.path(), "evaluate none~.csv --discount 0.9");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("none\\xff.csv"), "{message}");
}
