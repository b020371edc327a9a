//! Checks `reproduce` and `sweep` through the real binary.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

fn robust_td(arguments: &[&str], out: &Path) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .args(arguments)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap()
}

/// Runs to success and gives the bytes of `results.csv`.
fn results(arguments: &[&str], out: &Path) -> String {
    let output = robust_td(arguments, out);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty());
    let report = out.join("report.html").display().to_string();
    assert!(message.trim_end().ends_with(&report), "{message}");
    std::fs::read_to_string(out.join("results.csv")).unwrap()
}

/// The rows of `results.csv` as (figure, scale, c_index) -> (ratio, divergence_rate, gap).
fn table(csv: &str) -> BTreeMap<(String, String, String), [String; 3]> {
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(
        header.starts_with("figure,mode,scale,omega,kappa,c_index,c,ratio,divergence_rate,gap")
    );
    lines
        .map(|line| {
            let fields: Vec<String> = line.split(',').map(String::from).collect();
            let key = (fields[0].clone(), fields[2].clone(), fields[5].clone());
            (
                key,
                [fields[7].clone(), fields[8].clone(), fields[9].clone()],
            )
        })
        .collect()
}

fn key(figure: &str, scale: &str, index: &str) -> (String, String, String) {
    (figure.into(), scale.into(), index.into())
}

/// The ratio next to the threshold peaks within the first steps: 30,000 of them show the printed points.
#[test]
fn the_printed_ratios_come_out() {
    let out = TempDir::new().unwrap();
    let arguments = [
        "reproduce",
        "fig1",
        "--c-index",
        "28,29,30,31,32",
        "--simulate",
        "30000",
    ];
    let table = table(&results(&arguments, out.path()));
    for (scale, index, printed) in [
        ("0.0625", "29", 2.9099573e10),
        ("0.0625", "30", 51399.672),
        ("1.0", "30", 1.0308154e8),
        ("0.0625", "31", 3.9505569),
        ("1.0", "31", 3922.0259),
        ("1.0", "32", 12.985383),
    ] {
        let ratio: f64 = table[&key("1", scale, index)][0].parse().unwrap();
        assert!(
            (ratio / printed - 1.0).abs() <= 1e-6,
            "{scale}, {index}: {ratio}"
        );
    }
    for (scale, index, printed) in [
        ("0.0625", "28", 0.854167),
        ("1.0", "28", 0.979167),
        ("16.0", "28", 0.791667),
        ("0.0625", "29", 0.020833),
        ("1.0", "29", 0.354167),
        ("16.0", "29", 0.083333),
        ("16.0", "30", 0.0),
    ] {
        let rate: f64 = table[&key("1", scale, index)][1].parse().unwrap();
        assert!((rate - printed).abs() <= 1e-6, "{scale}, {index}: {rate}");
    }
    for name in [
        "figure1.svg",
        "figure1.png",
        "report.html",
        "manifest.json",
        "curves.csv",
    ] {
        assert!(
            out.path().join(name).metadata().unwrap().len() > 500,
            "{name}"
        );
    }
    assert!(!out.path().join("figure2.svg").exists());
    assert!(!out.path().join("checkpoint").exists());
    let manifest = std::fs::read_to_string(out.path().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for name in [
        "version",
        "command",
        "seeds",
        "problem_constants",
        "seconds",
        "threads",
        "kernel",
    ] {
        assert!(!manifest[name].is_null(), "{name}");
    }
    // Scale 16 is a copy of scale 1: five values of c, two scales, 48 runs.
    assert_eq!(manifest["lane_steps"], 5 * 2 * 48 * 30_000);
    assert_eq!(manifest["problem_constants"][0]["t_mix"], 147);
}

#[test]
fn sampling_misses_the_true_expectation_near_the_threshold() {
    let out = TempDir::new().unwrap();
    let arguments = [
        "reproduce",
        "fig1",
        "--mode",
        "exact",
        "--indexing",
        "published",
        "--c",
        "0.001",
        "--scales",
        "0.0625",
        "--simulate",
        "2000",
    ];
    let table = table(&results(&arguments, out.path()));
    let [ratio, divergence_rate, _] = &table[&key("1", "0.0625", "30")];
    let ratio: f64 = ratio.parse().unwrap();
    assert!((ratio / 1.99e5 - 1.0).abs() < 5e-3, "{ratio}");
    assert_eq!(divergence_rate, "");
}

#[test]
fn threads_and_kernels_leave_no_trace() {
    for mode in ["published", "algorithm", "exact"] {
        let out = TempDir::new().unwrap();
        let base = [
            "reproduce",
            "--mode",
            mode,
            "--steps",
            "20000",
            "--simulate",
            "1500",
            "--runs",
            "11",
            "--c-index",
            "27,29,31,40",
        ];
        let reference = results(&base, out.path());
        for more in [
            ["--threads", "1"],
            ["--threads", "2"],
            ["--threads", "3"],
            ["--kernel", "scalar"],
            ["--kernel", "portable"],
        ] {
            let arguments = [&base[..], &more[..]].concat();
            assert_eq!(
                results(&arguments, out.path()),
                reference,
                "{mode}: {more:?}"
            );
        }
    }
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    for (mode, simulate) in [("published", "400000"), ("exact", "10000")] {
        let whole = TempDir::new().unwrap();
        let base = [
            "reproduce",
            "--mode",
            mode,
            "--steps",
            "1000000",
            "--simulate",
            simulate,
            "--c-index",
            "26,28,29,31,40,60",
        ];
        let reference = results(&base, whole.path());
        let out = TempDir::new().unwrap();
        let mut interrupted = 0;
        for attempt in 0..4_u64 {
            let mut child = Command::new(env!("CARGO_BIN_EXE_robust-td"))
                .args(base)
                .args(["--resume", "--threads", "2", "--out"])
                .arg(out.path())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Whether this catches the run before, at or after a checkpoint depends on the machine; all three must work.
            std::thread::sleep(Duration::from_millis(200 + 370 * attempt));
            if child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                interrupted += 1;
            }
            child.wait().unwrap();
        }
        let resumed = results(&[&base[..], &["--resume"]].concat(), out.path());
        assert_eq!(
            resumed, reference,
            "{mode} after {interrupted} interruptions"
        );
    }
}

#[test]
fn a_foreign_or_damaged_checkpoint_is_refused() {
    let out = TempDir::new().unwrap();
    let arguments = [
        "reproduce",
        "--steps",
        "1000",
        "--runs",
        "2",
        "--c-index",
        "40",
        "--resume",
    ];
    std::fs::write(out.path().join("checkpoint"), b"not a checkpoint").unwrap();
    let output = robust_td(&arguments, out.path());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("damaged") && message.contains("checkpoint"),
        "{message}"
    );
    assert!(!out.path().join("results.csv").exists());
    // Nothing was lost: the file is still there, and a run without --resume starts from scratch.
    assert!(out.path().join("checkpoint").exists());
    results(&arguments[..arguments.len() - 1], out.path());
    // Without a checkpoint --resume starts from scratch too.
    results(&arguments, out.path());
}

#[test]
fn a_sweep_of_the_papers_spec_is_reproduce() {
    let out = TempDir::new().unwrap();
    // The library has its own copies, so that it can be packaged.
    for name in ["figure1.toml", "figure2.toml"] {
        let read = |directory: &str| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(root.join(directory).join(name)).unwrap()
        };
        assert_eq!(read("../../experiments"), read("../robust-td/experiments"));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let spec = std::fs::read_to_string(root.join("../../experiments/figure2.toml")).unwrap();
    let spec = format!("{spec}simulate = 700\n");
    let path = out.path().join("short.toml");
    std::fs::write(&path, spec).unwrap();
    let swept = results(
        &["sweep", path.to_str().unwrap()],
        &out.path().join("sweep"),
    );
    let reproduced = results(
        &["reproduce", "fig2", "--simulate", "700"],
        &out.path().join("reproduce"),
    );
    assert_eq!(swept.lines().count(), 1 + 97 * 3);
    // The same rows; only the number of the figure differs, since a sweep counts from 1.
    let number_as = |csv: &str, figure: &str| -> Vec<String> {
        csv.lines()
            .skip(1)
            .map(|line| format!("{figure}{}", &line[1..]))
            .collect()
    };
    assert!(number_as(&swept, "2") == number_as(&reproduced, "2"));
}

#[test]
fn a_sweep_takes_the_users_own_problem() {
    let out = TempDir::new().unwrap();
    std::fs::write(
        out.path().join("problem.toml"),
        "discount = 0.9\ntransition = [[0.2, 0.8], [0.8, 0.2]]\nreward = [[0.2, 1.0], [-1.0, 0.4]]\n\
         features = [[0.3, 1.0], [-0.3, 1.0]]\n",
    )
    .unwrap();
    let spec = out.path().join("spec.toml");
    std::fs::write(
        &spec,
        "problem = \"problem.toml\"\nmode = \"exact\"\nsteps = 200\nc = [0.2]\nschedule = [\"decaying\", \"plain\"]\n",
    )
    .unwrap();
    let table = table(&results(&["sweep", spec.to_str().unwrap()], out.path()));
    // REF-2 of the specification: T = 200, c = 0.2.
    let [ratio, _, gap] = &table[&key("1", "1.0", "")];
    let (ratio, gap): (f64, f64) = (ratio.parse().unwrap(), gap.parse().unwrap());
    let theta_star_norm_sq = 1.7917578957241584_f64.powi(2);
    assert!((ratio * theta_star_norm_sq / 1.5236742086182025 - 1.0).abs() < 1e-9);
    assert!((gap / 0.15695139065052535 - 1.0).abs() < 1e-9);
    assert!(table.contains_key(&key("2", "1.0", "")));
}

#[test]
fn bad_requests_are_refused_before_anything_is_written() {
    let out = TempDir::new().unwrap();
    let bad: &[(&[&str], &str)] = &[
        (&["--steps", "2"], "at least 3"),
        (&["--steps", "ten"], "ten"),
        (&["--steps", "100", "--simulate", "101"], "101"),
        (&["--simulate", "0"], "--simulate is 0"),
        (&["--runs", "0"], "--runs is 0"),
        (&["--c-index", "97"], "97"),
        (&["--c-index", "-1"], "-1"),
        (&["--c-index", "3", "--c", "0.1"], "--c"),
        (&["--c", "0"], "c is 0"),
        (&["--c", "nan"], "NaN"),
        (&["--c", "0.1,0.1"], "--c has the value 0.1 twice"),
        (&["--scales", "-1"], "-1"),
        (&["--scales", "1,1"], "--scales has the value 1 twice"),
        (&["--mode", "exactly"], "exactly"),
        (&["--kernel", "sse"], "sse"),
        (&["--seed", "1"], "seed"),
        (&["--indexing", "published"], "indexing"),
        (&["fig3"], "fig3"),
        (&["--threads", "-2"], "-2"),
    ];
    for (flags, words) in bad {
        let directory = out.path().join("never");
        let output = robust_td(&[&["reproduce"], *flags].concat(), &directory);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {message}");
        assert!(message.contains(words), "{flags:?}: {message}");
        assert!(!directory.exists(), "{flags:?}");
    }
    let missing = robust_td(&["sweep", "missing.toml"], out.path());
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("missing.toml"));
}
