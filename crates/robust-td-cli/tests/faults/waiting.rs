//! Checks that a signal ends a command that waits for its input, soon and without a trace.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::resumed::ignores_hangups;
use super::{log, names, program, signal, text, wait};
use crate::common::{folder, run_in};

/// The signals and their exit codes.
fn signals() -> &'static [(&'static str, i32)] {
    let all = &[("INT", 130), ("TERM", 143), ("HUP", 129)];
    match ignores_hangups() {
        true => &all[..2],
        false => all,
    }
}

/// Less than the time after which a run with a checkpoint is ended by force.
const SOON: Duration = Duration::from_secs(5);

/// Starts a command, writes to its open standard input, and sends it a signal; returns its exit code and its messages.
fn stopped(folder: &Path, arguments: &[&str], input: &str, name: &str) -> (Option<i32>, String) {
    let mut child = program(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let start = Instant::now();
    signal(&child, name);
    let code = wait(&mut child).code();
    let took = start.elapsed();
    assert!(took < SOON, "{arguments:?}: {took:?}");
    (code, text(child.stderr.take().unwrap()))
}

#[test]
fn a_signal_before_the_first_row_ends_a_stream() {
    let folder = folder([]);
    let evaluate = "evaluate - --format csv --discount 0.9 --out model.json";
    let evaluate: Vec<&str> = evaluate.split(' ').collect();
    for input in ["", "obs_0,reward\n"] {
        for &(name, code) in signals() {
            let (found, message) = stopped(folder.path(), &evaluate, input, name);
            let expected =
                format!("stopped by SIG{name} before the first row; there is no row to save\n");
            assert_eq!((found, message), (Some(code), expected), "{input:?}");
        }
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_signal_ends_predictions_that_wait_for_rows() {
    let rows = log(90);
    let folder = folder([("log.csv", rows.as_bytes())]);
    let evaluate = "evaluate log.csv --discount 0.9 --out model.json";
    let made = run_in(folder.path(), &evaluate.split(' ').collect::<Vec<_>>());
    assert_eq!(made.code, 0, "{}", made.stderr);
    let before = names(folder.path());
    let predict = "predict model.json - --format csv --out values.csv";
    let predict: Vec<&str> = predict.split(' ').collect();
    for input in ["", &rows] {
        for &(name, code) in signals() {
            let (found, message) = stopped(folder.path(), &predict, input, name);
            let expected = format!("stopped by SIG{name}; nothing was written\n");
            assert_eq!((found, message), (Some(code), expected));
            assert_eq!(names(folder.path()), before);
        }
    }
}

#[test]
fn a_signal_ends_the_opening_of_a_pipe_without_a_writer() {
    let folder = folder([("log.csv", log(90).as_bytes())]);
    let made = Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for line in [
        "evaluate pipe --format csv --discount 0.9",
        "evaluate log.csv --resume pipe",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        for &(name, code) in signals() {
            let (found, message) = stopped(folder.path(), &arguments, "", name);
            assert_eq!(found, Some(code), "{line}");
            assert!(
                message.starts_with(&format!("stopped by SIG{name}")),
                "{message}"
            );
        }
    }
}
