//! Checks what the command does when the system around it fails: signals, full disks, closed pipes, other processes.
//!
//! `cargo xtask faults` kills it at many more moments.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod kills;
mod resumed;
mod waiting;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{folder, run_in};

/// A log of 60 episodes with 3 rows.
fn log(rows: usize) -> String {
    let mut text = String::from("obs_0,reward,episode,terminated\n");
    for k in 0..rows {
        let last = u8::from(k % 3 == 2);
        let (obs, reward) = (k % 7, k * k % 11);
        text += &format!("{obs},{reward},{},{last}\n", k / 3);
    }
    text
}

const SWEEP: &[u8] = b"problem = \"two-state\"\nc = [0.1, 1, 10]\nsteps = 100_000_000\nruns = 64\n";
const EXPERIMENT: &[u8] =
    b"problem = \"two-state\"\nalgorithms = [\"alg1:c=1\", \"lstd\"]\nhorizon = 1_000_000_000\n\
    vary = { epsilon = [0.3, 0.1] }\n";

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_robust-td"));
    command.current_dir(folder).args(arguments);
    command
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap()
            .success()
    );
}

/// Waits for the end, but not for ever.
fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the command does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{path:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn text(mut from: impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_signal_on_a_stream_saves_the_rows_so_far() {
    let folder = folder([]);
    let (whole, head) = (log(300), log(100));
    fs::write(folder.path().join("whole.csv"), &whole).unwrap();
    let stream = ["--format", "csv", "--discount", "0.9", "--json"];
    for (name, code, algorithm) in [("INT", 130, "auto"), ("TERM", 143, "alg1-doubling")] {
        let more = ["--algorithm", algorithm, "--phi-inf", "6", "--c", "1"];
        let more: &[&str] = match algorithm {
            "auto" => &[],
            _ => &more,
        };
        let save = ["evaluate", "-", "--out", "model.json", "--report-every=10"];
        let mut child = program(folder.path(), &[&save, &stream[..], more].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The pipe stays open, with the start of a row that is cut off.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(head.as_bytes()).unwrap();
        stdin.write_all(b"5,1").unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("\"steps\":90") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0);
        }
        signal(&child, name);
        assert_eq!(wait(&mut child).code(), Some(code));
        let message = text(stderr);
        let expected = format!(
            "stopped by SIG{name} after row 100 of the stream; model.json has the rows so far: --resume it with the stream \
             from row 101 on\n"
        );
        assert_eq!(message, expected);
        // The answer is that of the rows so far, and the rest continues to the same bits.
        let answer: serde_json::Value = serde_json::from_str(&text(child.stdout.unwrap())).unwrap();
        // The last row still waits for its successor.
        assert_eq!(answer["steps"], 99);
        let rest: String = whole
            .lines()
            .skip(101)
            .map(|l| l.to_owned() + "\n")
            .collect();
        let header = whole.lines().next().unwrap();
        let resumed = piped(
            folder.path(),
            &[
                &["evaluate", "-", "--resume", "model.json"],
                &stream[..2],
                &["--json"],
            ]
            .concat(),
            &format!("{header}\n{rest}"),
        );
        let once = piped(
            folder.path(),
            &[&["evaluate", "-"], &stream[..], more].concat(),
            &whole,
        );
        let theta = |output: &Output| {
            let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            (found["theta_bar"].clone(), found["steps"].clone())
        };
        assert_eq!(theta(&resumed), theta(&once));
    }
}

/// Runs the command with a text on standard input.
fn piped(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = program(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    output
}

#[test]
fn a_second_signal_ends_at_once() {
    let folder = folder([]);
    let path = folder.path().join("pipe.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    // Opening the pipe waits for a writer, which no flag interrupts.
    let arguments = ["evaluate", "pipe.csv", "--discount", "0.9"];
    let mut child = program(folder.path(), &arguments).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    assert_eq!(wait(&mut child).code(), Some(143));
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = folder([("sweep.toml", SWEEP)]);
    let program = env!("CARGO_BIN_EXE_robust-td");
    let mut child = Command::new("sh")
        .current_dir(folder.path())
        .args([
            "-c",
            "trap '' HUP; exec \"$0\" sweep sweep.toml --out out",
            program,
        ])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&folder.path().join("out/checkpoint"));
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    assert_eq!(wait(&mut child).code(), Some(143));
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let folder = folder([("sweep.toml", SWEEP), ("experiment.toml", EXPERIMENT)]);
    let arguments = ["sweep", "sweep.toml", "--out", "out"];
    let mut first = program(folder.path(), &arguments)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&folder.path().join("out/checkpoint"));
    let others: [&[&str]; 4] = [
        &arguments,
        &["reproduce", "--out", "out"],
        &["experiment", "experiment.toml", "--out", "out/../out"],
        &["compare", "two-state", "--horizon", "1e9", "--out", "out"],
    ];
    for arguments in others {
        let run = run_in(folder.path(), arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("out is in use by another robust-td"),
            "{}",
            run.stderr
        );
    }
    signal(&first, "TERM");
    assert_eq!(wait(&mut first).code(), Some(143));
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for argument in ["--help", "--version"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = program(Path::new("."), &[argument]).stdout(full).output();
        let output = output.unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{argument}");
        assert!(
            message.starts_with("error: cannot write to standard output: "),
            "{message}"
        );
    }
}

#[test]
fn a_full_standard_error_or_output_is_no_panic() {
    let folder = folder([("log.csv", log(60).as_bytes())]);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let save = ["evaluate", "log.csv", "--discount", "0.9", "--out"];
    // A warning, a report and an answer: the model is written in any case.
    let all = [&save[..], &["a.json", "--algorithm", "alg1"]].concat();
    let output = program(folder.path(), &all)
        .stderr(full())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stdout.is_empty() && folder.path().join("a.json").exists());
    let all = [&save[..], &["b.json"]].concat();
    let output = program(folder.path(), &all)
        .stdout(full())
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.starts_with("error: cannot write to standard output: "));
    assert!(folder.path().join("b.json").exists());
    let predict = ["predict", "b.json", "log.csv"];
    let cases: [&[&str]; 5] = [
        &["evaluate", "missing.csv", "--discount", "0.9"],
        &["evaluate", "--frobnicate"],
        &["compare", "two-state", "--horizon", "1e3", "--runs", "8"],
        &predict,
        &["problems"],
    ];
    for arguments in cases {
        for (out, err) in [(true, true), (false, true), (true, false)] {
            let sink = |is_full: bool| match is_full {
                true => Stdio::from(full()),
                false => Stdio::null(),
            };
            let mut command = program(folder.path(), arguments);
            let status = command
                .stdout(sink(out))
                .stderr(sink(err))
                .status()
                .unwrap();
            assert!(
                matches!(status.code(), Some(0..=2)),
                "{arguments:?}: {status}"
            );
        }
        // Both closed from the start.
        let mut closed = Command::new("sh");
        closed
            .current_dir(folder.path())
            .args(["-c", "exec \"$0\" \"$@\" >&- 2>&-"])
            .arg(env!("CARGO_BIN_EXE_robust-td"))
            .args(arguments);
        let status = closed.status().unwrap();
        assert!(
            matches!(status.code(), Some(0..=2)),
            "{arguments:?}: {status}"
        );
    }
}

#[test]
fn a_full_disk_leaves_the_earlier_files() {
    let folder = folder([("log.csv", log(60).as_bytes())]);
    let program = env!("CARGO_BIN_EXE_robust-td");
    let limited = |arguments: &str| {
        // Files above 1 kB are refused, with SIGXFSZ ignored as for a full disk.
        let line = format!("trap '' XFSZ; ulimit -f 1; exec '{program}' {arguments}");
        let mut command = Command::new("bash");
        command.current_dir(folder.path()).args(["-c", &line]);
        command.output().unwrap()
    };
    fs::write(folder.path().join("model.json"), "earlier").unwrap();
    let cases = [
        "evaluate log.csv --discount 0.9 --out model.json",
        "evaluate log.csv --discount 0.9 --report page.html",
        "compare two-state --horizon 1e3 --runs 8 --out compare",
        "reproduce fig1 --c-index 40 --simulate 100 --out reproduce",
    ];
    for arguments in cases {
        let output = limited(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {message}");
        assert!(message.starts_with("error: "), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert_eq!(
        fs::read(folder.path().join("model.json")).unwrap(),
        b"earlier"
    );
    let left: Vec<String> = names(folder.path());
    assert_eq!(left, ["log.csv", "model.json"]);
}

#[test]
fn names_that_are_not_utf_8_are_written() {
    let folder = folder([(
        "sweep.toml",
        &b"problem = \"two-state\"\nc = [1]\nsteps = 1000\nruns = 8\n"[..],
    )]);
    let spec = OsStr::from_bytes(b"sp\xffec.toml");
    let experiment =
        b"problem = \"two-state\"\nalgorithms = [\"alg1:c=1\"]\nhorizon = 1000\nruns = 8\n";
    fs::write(folder.path().join(spec), experiment).unwrap();
    let out = OsStr::from_bytes(b"o\xfft");
    let cases: [&[&OsStr]; 4] = [
        &["sweep".as_ref(), "sweep.toml".as_ref()],
        &["experiment".as_ref(), spec],
        &["compare", "two-state", "--horizon", "1000", "--runs", "8"].map(OsStr::new),
        &["reproduce", "fig1", "--c-index", "40", "--simulate", "100"].map(OsStr::new),
    ];
    for arguments in cases {
        let mut command = program(folder.path(), &[]);
        let output = command
            .args(arguments)
            .arg("--out")
            .arg(out)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        assert!(folder.path().join(out).join("manifest.json").exists());
        fs::remove_dir_all(folder.path().join(out)).unwrap();
    }
    let log = OsStr::from_bytes(b"l\xffg.csv");
    fs::write(folder.path().join(log), "obs_0,reward\n1,1\n").unwrap();
    let mut command = program(folder.path(), &["evaluate", "--discount", "0.9"]);
    let output = command.arg(log).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn pipes_are_read_once() {
    let folder = folder([("log.csv", log(60).as_bytes())]);
    let program = env!("CARGO_BIN_EXE_robust-td");
    let bash = |line: &str| {
        let mut command = Command::new("timeout");
        command
            .current_dir(folder.path())
            .args(["60", "bash", "-c", line]);
        let output = command.output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            message,
        )
    };
    let theta = |text: &str| {
        let found: serde_json::Value = serde_json::from_str(text).unwrap();
        found["theta_bar"].clone()
    };
    let options = "--discount 0.9 --format csv --json";
    let (_, expected, _) = bash(&format!("'{program}' evaluate - {options} < log.csv"));
    let expected = theta(&expected);
    let (code, found, message) = bash(&format!("'{program}' evaluate <(cat log.csv) {options}"));
    assert_eq!(
        (code, theta(&found)),
        (Some(0), expected.clone()),
        "{message}"
    );
    let (code, found, message) = bash(&format!(
        "mkfifo pipe.csv; cat log.csv > pipe.csv & '{program}' evaluate pipe.csv {options}"
    ));
    assert_eq!((code, theta(&found)), (Some(0), expected), "{message}");
    // What needs the rows twice says so.
    let (code, _, message) = bash(&format!(
        "'{program}' evaluate <(cat log.csv) {options} --features auto"
    ));
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("only once") || message.contains("stream"),
        "{message}"
    );
    let (code, _, message) = bash(&format!(
        "'{program}' evaluate <(cat log.csv) --discount 0.9 --format parquet"
    ));
    assert_eq!(code, Some(2), "{message}");
}

#[test]
fn control_characters_are_escaped_and_messages_are_short() {
    let long = format!("obs_0,reward\n1,{}\n", "x".repeat(2_000_000));
    let folder = folder([
        ("escape.csv", &b"obs_0,reward\n1,\x1b[31mred\x07\n"[..]),
        ("header.csv", &b"obs_0,\x1b]0;title\x07\n1,2\n"[..]),
        ("long.csv", long.as_bytes()),
        ("spec.toml", &b"problem = \"two-state\"\nc = [\n\x01"[..]),
    ]);
    let cases: [&[&str]; 5] = [
        &["evaluate", "escape.csv", "--discount", "0.9"],
        &["evaluate", "header.csv", "--discount", "0.9"],
        &["evaluate", "long.csv", "--discount", "0.9"],
        &["evaluate", "\x1b[2Jmissing.csv", "--discount", "0.9"],
        &["sweep", "spec.toml"],
    ];
    for arguments in cases {
        let run = run_in(folder.path(), arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.len() < 5000);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(!run.stderr.trim_end().contains(char::is_control));
    }
    let run = run_in(
        folder.path(),
        &["evaluate", "--discount", "\x1b[31m", "x.csv"],
    );
    assert_eq!(run.code, 2);
    assert!(!run.stderr.contains('\x1b'), "{}", run.stderr);
    let run = run_in(folder.path(), &["inspect", "header.csv"]);
    assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'));
}
