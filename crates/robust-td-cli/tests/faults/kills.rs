//! Kills commands at moments over their whole time, and compares what they leave.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use super::{log, names, program, wait};
use crate::common::folder;

/// Kills a command at many moments, then runs it to the end.
#[test]
fn kills_leave_no_trace() {
    let folder = folder([
        ("log.csv", log(30_000).as_bytes()),
        (
            "sweep.toml",
            &b"problem = \"two-state\"\nc = [0.1, 1, 10]\nsteps = 300_000\nruns = 16\n"[..],
        ),
        (
            "experiment.toml",
            &b"problem = \"two-state\"\nalgorithms = [\"alg1:c=0.1\", \"lstd\"]\nhorizon = 100_000\n\
                vary = { epsilon = [0.3, 0.1] }\n"[..],
        ),
    ]);
    let cases: [(&[&str], &str); 4] = [
        (
            &["sweep", "sweep.toml", "--resume", "--out", "OUT"],
            "results.csv",
        ),
        (
            &["experiment", "experiment.toml", "--resume", "--out", "OUT"],
            "results.csv",
        ),
        (
            &[
                "compare",
                "two-state",
                "--horizon",
                "20000",
                "--resume",
                "--out",
                "OUT",
            ],
            "compare.csv",
        ),
        (
            &[
                "evaluate",
                "log.csv",
                "--discount",
                "0.9",
                "--out",
                "OUT/model.json",
            ],
            "model.json",
        ),
    ];
    for (arguments, result) in cases {
        let run = |out: &str| -> Vec<String> {
            fs::create_dir_all(folder.path().join(out)).unwrap();
            arguments
                .iter()
                .map(|word| word.replace("OUT", out))
                .collect()
        };
        let start = |words: &[String]| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = program(folder.path(), &words);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let expected = run("once");
        let begun = Instant::now();
        assert!(wait(&mut start(&expected)).success());
        let whole = begun.elapsed();
        let killed = run("killed");
        for k in 0..12 {
            let mut child = start(&killed);
            std::thread::sleep(whole * k / 12);
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(wait(&mut start(&killed)).success());
        let read = |out: &str| fs::read(folder.path().join(out).join(result)).unwrap();
        assert!(read("once") == read("killed"), "{result}");
        assert_eq!(
            names(&folder.path().join("killed")),
            names(&folder.path().join("once"))
        );
        for out in ["once", "killed"] {
            fs::remove_dir_all(folder.path().join(out)).unwrap();
        }
    }
}
