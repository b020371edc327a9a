//! Checks that a signal leaves a checkpoint in every long command, and that resuming from it ends with the bytes of one run.

use std::fs;
use std::process::Stdio;

use super::{EXPERIMENT, SWEEP, names, program, signal, text, wait, wait_for};
use crate::common::{folder, run_in};

const COMPARE: [&str; 6] = [
    "compare",
    "two-state",
    "--horizon",
    "1e9",
    "--algorithms",
    "alg1:c=1,lstd",
];

/// Whether the tests run under `nohup` or the like, which the program respects.
pub fn ignores_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) & 1 == 1
}

#[test]
fn a_signal_leaves_a_checkpoint() {
    let folder = folder([("sweep.toml", SWEEP), ("experiment.toml", EXPERIMENT)]);
    let commands: [&[&str]; 3] = [
        &["sweep", "sweep.toml"],
        &["experiment", "experiment.toml"],
        &COMPARE,
    ];
    let mut signals = vec![("INT", 130), ("TERM", 143)];
    if !ignores_hangups() {
        signals.push(("HUP", 129));
    }
    for command in commands {
        for &(name, code) in &signals {
            let out = format!("{}-{name}", command[0]);
            let arguments = [command, &["--resume", "--out", &out]].concat();
            let mut child = program(folder.path(), &arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let out = folder.path().join(&out);
            wait_for(&out.join("checkpoint"));
            signal(&child, name);
            assert_eq!(wait(&mut child).code(), Some(code), "{arguments:?}");
            let message = text(child.stderr.unwrap());
            // The experiment says which value of its parameter it runs.
            let message = message.trim_start_matches("epsilon = 0.3\n");
            assert!(
                message.starts_with(&format!("stopped by SIG{name} at ")),
                "{message}"
            );
            assert!(message.contains("--resume"), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert_eq!(names(&out), ["checkpoint"]);
        }
    }
}

#[test]
fn a_comparison_without_a_directory_keeps_nothing() {
    let folder = folder([]);
    let mut child = program(folder.path(), &COMPARE)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(&child, "TERM");
    assert_eq!(wait(&mut child).code(), Some(143));
    let message = text(child.stderr.unwrap());
    assert!(message.contains("nothing was written"), "{message}");
    assert!(names(folder.path()).is_empty());
    let run = run_in(folder.path(), &[&COMPARE[..], &["--resume"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--out"), "{}", run.stderr);
}

#[test]
fn stopped_contests_end_with_the_same_bytes() {
    let spec = b"problem = \"two-state\"\nalgorithms = [\"alg1:c=0.1\", \"lstd\", \"bhandari-c\"]\nhorizon = 60_000\n\
        vary = { epsilon = [0.3, 0.1] }\nruns = 24\nagents = [1, 4]\n";
    let folder = folder([("spec.toml", &spec[..])]);
    let commands: [(&[&str], &[&str]); 2] = [
        (
            &["experiment", "spec.toml"],
            &["results.csv", "agents.csv", "figure.svg"],
        ),
        (
            &["compare", "two-state", "--horizon", "1e4", "--runs", "24"],
            &["compare.csv", "curves.csv", "compare.svg"],
        ),
    ];
    for (command, results) in commands {
        let once = [command, &["--out", "once"]].concat();
        assert_eq!(run_in(folder.path(), &once).code, 0);
        let stopped = [command, &["--resume", "--out", "stopped"]].concat();
        let mut stops = 0;
        for wait_ms in (40..).step_by(40) {
            let mut child = program(folder.path(), &stopped)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(wait_ms));
            if child.try_wait().unwrap().is_none() {
                signal(&child, "TERM");
            }
            match wait(&mut child).code() {
                Some(143) => stops += 1,
                // Before the signals are caught, they end the process.
                None => {}
                Some(0) => break,
                code => panic!("{code:?}"),
            }
        }
        assert!(stops > 0, "{command:?}");
        for result in results {
            let read = |out: &str| fs::read(folder.path().join(out).join(result)).unwrap();
            assert!(read("once") == read("stopped"), "{command:?} {result}");
        }
        let out = |name: &str| names(&folder.path().join(name));
        assert_eq!(out("once"), out("stopped"));
        for out in ["once", "stopped"] {
            fs::remove_dir_all(folder.path().join(out)).unwrap();
        }
    }
}

#[test]
fn the_checkpoint_of_other_work_is_refused() {
    let folder = folder([("sweep.toml", SWEEP), ("experiment.toml", EXPERIMENT)]);
    let arguments = ["experiment", "experiment.toml", "--out", "out"];
    let mut child = program(folder.path(), &arguments)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&folder.path().join("out/checkpoint"));
    signal(&child, "TERM");
    assert_eq!(wait(&mut child).code(), Some(143));
    let others: [&[&str]; 3] = [
        &["sweep", "sweep.toml"],
        &COMPARE,
        &["reproduce", "--c-index", "31"],
    ];
    for other in others {
        let arguments = [other, &["--resume", "--out", "out"]].concat();
        let run = run_in(folder.path(), &arguments);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(
            run.stderr.contains("belongs to another plan")
                && run.stderr.contains("without --resume"),
            "{}",
            run.stderr
        );
    }
    fs::write(folder.path().join("out/checkpoint"), b"RTDCHKPT").unwrap();
    let run = run_in(folder.path(), &[&arguments[..], &["--resume"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("is damaged"), "{}", run.stderr);
}
