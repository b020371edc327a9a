//! Checks that sizes out of reach and outputs that are no files are refused at once, with exit code 2 and the limit.

use crate::common::{folder, run_in};

/// A log of one column.
const LOG: &[u8] =
    b"obs_0,reward,episode,terminated\n1,0,1,0\n2,1,1,0\n3,0,1,1\n1,0,2,0\n2,1,2,0\n3,1,2,1\n";

#[test]
fn sizes_out_of_reach_are_refused() {
    let folder = folder([("log.csv", LOG)]);
    let evaluate = ["evaluate", "log.csv", "--discount", "0.9"];
    let cases: [(&[&str], &str); 8] = [
        (
            &["--features", "polynomial(degree=9000000000000000000)"],
            "from 0 to 16777216",
        ),
        (
            &["--features", "polynomial(degree=65536)"],
            "degree is 65536, but must be at most 64",
        ),
        (
            &["--features", "fourier(order=18446744073709551615)"],
            "from 1 to 16777216",
        ),
        (
            &["--features", "tiles(bins=18446744073709551615)"],
            "from 1 to 16777216",
        ),
        (
            &["--features", "tiles(tilings=16777216, bins=2)"],
            "more than 16777216 features",
        ),
        (
            &["--features", "rbf(centres=18446744073709551616)"],
            "from 1 to 16777216",
        ),
        (
            &[
                "--algorithm",
                "lstd",
                "--features",
                "one-hot(count=1000000)",
            ],
            "1000000 features need about 32000",
        ),
        (&["--threads", "100000"], "100000 is not in 0..=1024"),
    ];
    for (arguments, expected) in cases {
        let run = run_in(folder.path(), &[&evaluate, arguments].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
#[cfg(unix)]
fn outputs_are_files() {
    let folder = folder([("log.csv", LOG)]);
    std::os::unix::fs::symlink("missing.json", folder.path().join("link.json")).unwrap();
    for (out, expected) in [
        (
            "/dev/null",
            "it is a device, a pipe or a socket; name a file",
        ),
        (
            "link.json",
            "it is a symbolic link to a file that does not exist",
        ),
        (".", "it is a directory"),
    ] {
        let run = run_in(
            folder.path(),
            &["evaluate", "log.csv", "--discount", "0.9", "--out", out],
        );
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{out}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
fn an_output_never_replaces_the_log() {
    let folder = folder([("log.csv", LOG)]);
    let model = [
        "evaluate",
        "log.csv",
        "--discount",
        "0.9",
        "--out",
        "model.json",
    ];
    assert_eq!(run_in(folder.path(), &model).code, 0);
    let evaluate = ["evaluate", "log.csv", "--discount", "0.9"];
    for arguments in [
        [&evaluate[..], &["--out", "./log.csv"]].concat(),
        [&evaluate[..], &["--report", "log.csv"]].concat(),
        vec!["predict", "model.json", "*.csv", "--out", "log.csv"],
        vec!["inspect", "log.csv", "--report", "log.csv"],
    ] {
        let run = run_in(folder.path(), &arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(
            run.stderr
                .contains("log.csv: it is one of the files to read"),
            "{}",
            run.stderr
        );
        assert_eq!(std::fs::read(folder.path().join("log.csv")).unwrap(), LOG);
    }
}
