//! Checks that sizes out of reach and outputs that are no files are refused at once, with exit code 2 and the limit.

use crate::common::{folder, run_in};

/// A log of one column.
const LOG: &[u8] =
    b"obs_0,reward,episode,terminated\n1,0,1,0\n2,1,1,0\n3,0,1,1\n1,0,2,0\n2,1,2,0\n3,1,2,1\n";

#[test]
fn sizes_out_of_reach_are_refused() {
    let folder = folder([("log.csv", LOG)]);
    let evaluate = ["evaluate", "log.csv", "--discount", "0.9"];
    let cases: [(&[&str], &str); 9] = [
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
        (
            &[
                "--algorithm",
                "alg1",
                "--features",
                "one-hot(count=100000)",
                "--replicates",
                "4096",
                "--max-memory",
                "8GB",
            ],
            "100000 features need about 13.1 GB of memory, but the limit is 8.0 GB",
        ),
    ];
    for (arguments, expected) in cases {
        let run = run_in(folder.path(), &[&evaluate, arguments].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}

/// Reading their names took a time quadratic in their number.
#[test]
fn forty_thousand_columns_are_read() {
    const COLUMNS: usize = 40_000;
    let names = (0..COLUMNS)
        .map(|k| format!("obs_{k},"))
        .collect::<String>();
    let row = |t: usize| {
        let cells = (0..COLUMNS).map(|k| format!("{},", (7 * k + 3 * t) % 5));
        cells.collect::<String>() + &t.to_string()
    };
    let rows = (0..4).map(|t| row(t) + "\n").collect::<String>();
    let log = format!("{names}reward\n{rows}");
    let folder = folder([("wide.csv", log.as_bytes())]);
    let evaluate = [
        "evaluate",
        "wide.csv",
        "--discount",
        "0.9",
        "--out",
        "model.json",
    ];
    let run = run_in(folder.path(), &evaluate);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = run_in(folder.path(), &["predict", "model.json", "wide.csv"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 5);
}

/// Files of a kilobyte or two that took gigabytes or minutes.
#[test]
fn hostile_parquet_is_refused_with_its_place_and_the_limit() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/parquet");
    for (name, expected) in [
        ("list_row", "it claims lists of 80000000 values"),
        ("list_two", "it claims lists of 20000000 values"),
        (
            "delta_text",
            "row group 0, column episode: the lists or texts of 1000 rows need",
        ),
        (
            "dict_text",
            "row group 0, column episode: the lists or texts of",
        ),
        ("plain_text", "row group 0, column episode: its pages need"),
        (
            "dict_claim",
            "row group 0, column obs_0: a dictionary of 1073741824 values in 1600 bytes",
        ),
        ("bool_list", "its footer is damaged"),
    ] {
        let file = corpus.join(format!("{name}.parquet"));
        let file = file.to_str().unwrap();
        let run = run_in(
            &std::env::temp_dir(),
            &["evaluate", file, "--discount", "0.9"],
        );
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(
            run.stderr.contains(&format!("{name}.parquet: ")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn the_limit_of_memory_is_an_option() {
    let folder = folder([("log.csv", LOG)]);
    let lstd = [
        "evaluate",
        "log.csv",
        "--discount",
        "0.9",
        "--algorithm",
        "lstd",
        "--features",
        "one-hot(count=2000)",
    ];
    let run = run_in(
        folder.path(),
        &[&lstd[..], &["--max-memory", "100MB"]].concat(),
    );
    let expected = "2000 features need about 128.0 MB of memory, but the limit is 100.0 MB; use fewer features, or raise --max-memory";
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    let compare = [
        "compare",
        "two-state",
        "--horizon",
        "100",
        "--runs",
        "1000000",
    ];
    let run = run_in(
        folder.path(),
        &[&compare[..], &["--max-memory", "1GB"]].concat(),
    );
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stderr.contains("1000000 runs need about"),
        "{}",
        run.stderr
    );
    let run = run_in(
        folder.path(),
        &[&lstd[..], &["--max-memory", "much"]].concat(),
    );
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("must be a size such as"),
        "{}",
        run.stderr
    );
}

/// Sums of numbers near the largest that there is overflow, which JSON cannot hold.
#[test]
fn a_model_that_is_written_can_be_read() {
    let log = b"obs_0,reward,episode\n1e308,1e308,1\n-1e308,1e308,1\n1e308,-1e308,1\n-1e308,1,1\n5e-324,0,1\n";
    let folder = folder([("log.csv", &log[..])]);
    for features in ["identity", "standardise + bias"] {
        let evaluate = [
            "evaluate",
            "log.csv",
            "--discount",
            "0.9",
            "--out",
            "model.json",
            "--features",
            features,
        ];
        let run = run_in(folder.path(), &evaluate);
        match run.code {
            0 => {
                let run = run_in(folder.path(), &["predict", "model.json", "log.csv"]);
                assert!(
                    !run.stderr.contains("damaged"),
                    "{features}: {}",
                    run.stderr
                );
            }
            code => assert!(
                code == 2 && run.stderr.starts_with("error: "),
                "{}",
                run.stderr
            ),
        }
    }
}

#[test]
fn a_flipped_bit_in_a_model_is_noticed() {
    let folder = folder([("log.csv", LOG)]);
    let evaluate = [
        "evaluate",
        "log.csv",
        "--discount",
        "0.9",
        "--out",
        "model.json",
    ];
    assert_eq!(run_in(folder.path(), &evaluate).code, 0);
    let path = folder.path().join("model.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("\"theta\":[").unwrap() + 12;
    let mut bytes = text.into_bytes();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let run = run_in(folder.path(), &["predict", "model.json", "log.csv"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("its digest does not match"),
        "{}",
        run.stderr
    );
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

/// Outputs that cannot be written are refused before the work, with the same exit code by every command.
#[test]
#[cfg(target_os = "linux")]
fn outputs_out_of_reach_are_a_usage_error() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/");
    let [sweep, experiment] = ["figure1.toml", "discount.toml"].map(|name| format!("{spec}{name}"));
    let folder = folder([("log.csv", LOG)]);
    let evaluate = ["evaluate", "log.csv", "--discount", "0.9", "--out"];
    let run = run_in(folder.path(), &[&evaluate[..], &["model.json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let commands: [&[&str]; 9] = [
        &evaluate,
        &["evaluate", "log.csv", "--discount", "0.9", "--report"],
        &["predict", "model.json", "log.csv", "--out"],
        &["inspect", "log.csv", "--report"],
        &["compare", "two-state", "--horizon", "1e9", "--out"],
        &["sweep", &sweep, "--out"],
        &["experiment", &experiment, "--out"],
        &["reproduce", "--out"],
        &[
            "evaluate",
            "log.csv",
            "--discount",
            "0.9",
            "--json",
            "--out",
        ],
    ];
    for command in commands {
        // Not even root can create files there.
        for out in ["/proc/none.csv", "/proc/none/of.csv"] {
            let run = run_in(folder.path(), &[command, &[out]].concat());
            let words = (run.code, run.stdout.as_str());
            assert_eq!(words, (2, ""), "{command:?} {out}: {}", run.stderr);
            assert!(run.stderr.contains("/proc/none"), "{}", run.stderr);
        }
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
