//! Runs commands on numbers at the edges: an answer that reads back, or a reason, but never a failure of the program.

#![allow(clippy::unwrap_used)]

use crate::common::{folder, run, run_in};

/// Refuses exit codes of failures, and NaN in what is written.
fn assert_answered(arguments: &[&str], code: i32, stdout: &str, stderr: &str) {
    assert!(matches!(code, 0 | 2), "{arguments:?}: {code}: {stderr}");
    assert!(!stdout.contains("NaN"), "{arguments:?}: {stdout}");
    assert_eq!(
        code == 2,
        stderr.contains("error"),
        "{arguments:?}: {stderr}"
    );
}

#[test]
fn certify_answers_for_every_constant_and_horizon() {
    for c in ["1e-300", "1e-160", "1e-12", "1e160", "1e300"] {
        for horizon in ["3", "1e6", "18446744073709551615"] {
            for setting in [
                "alpha=0.999999999999999",
                "discount=0.999999999999",
                "epsilon=1e-150",
                "epsilon=5e-324",
                "shift=1e308",
            ] {
                let arguments = [
                    "certify",
                    "two-state",
                    "--set",
                    setting,
                    "--horizon",
                    horizon,
                    "--c",
                    c,
                    "--json",
                ];
                let run = run(&arguments);
                assert_answered(&arguments, run.code, &run.stdout, &run.stderr);
                if run.code == 0 {
                    serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap();
                }
            }
        }
    }
}

/// Logs of two columns and a reward, with extreme numbers among usual ones.
fn logs() -> Vec<(String, String)> {
    let numbers = [
        "0",
        "-0.0",
        "5e-324",
        "1e-308",
        "1e-160",
        "1e154",
        "1e308",
        "-1e308",
        "1.7976931348623157e308",
    ];
    let mut logs = Vec::new();
    for number in numbers {
        for place in ["all", "obs", "reward", "one"] {
            let mut text = String::from("obs_0,obs_1,reward,episode\n");
            for k in 0..60 {
                let usual = [
                    format!("{}", k % 5),
                    format!("{}", (k * 7) % 11),
                    format!("{}", k % 3),
                ];
                let [mut x, mut y, mut r] = usual;
                let extreme = match place {
                    "one" => k == 31,
                    _ => true,
                };
                if extreme && place != "reward" {
                    number.clone_into(&mut x);
                }
                if extreme && place == "all" {
                    number.clone_into(&mut y);
                }
                if extreme && place != "obs" {
                    number.clone_into(&mut r);
                }
                text += &format!("{x},{y},{r},{}\n", k / 10);
            }
            logs.push((format!("{number} in {place}"), text));
        }
    }
    logs
}

#[test]
fn models_of_extreme_logs_read_back() {
    for (k, (name, text)) in logs().into_iter().enumerate() {
        let folder = folder([("log.csv", text.as_bytes())]);
        let learner = ["--horizon", "50", "--phi-inf", "2"];
        let algorithms: [&[&str]; 4] = [
            &[],
            &["--discount", "0.999999999999"],
            &["--algorithm", "alg1", "--c", "1e-300"],
            &["--algorithm", "lstd"],
        ];
        let extra = algorithms[k % algorithms.len()];
        let mut arguments = vec!["evaluate", "log.csv", "--out", "model.json"];
        if !extra.contains(&"--discount") {
            arguments.extend(["--discount", "0.9"]);
        }
        arguments.extend(extra);
        if extra.contains(&"--algorithm") {
            arguments.extend(learner);
        }
        let evaluated = run_in(folder.path(), &arguments);
        let says = format!("{name}, {arguments:?}: {}", evaluated.stderr);
        assert!(matches!(evaluated.code, 0 | 2), "{says}");
        assert_eq!(
            evaluated.code == 0,
            folder.path().join("model.json").exists(),
            "{says}"
        );
        if evaluated.code == 0 {
            let predicted = run_in(folder.path(), &["predict", "model.json", "log.csv"]);
            let says = format!("{name}: {}", predicted.stderr);
            assert!(matches!(predicted.code, 0 | 2), "{says}");
            assert!(!predicted.stderr.contains("damaged"), "{says}");
        }
    }
}

#[test]
fn infinite_ends_are_written_as_such() {
    let mut text = String::from("obs_0,reward,episode\n");
    for k in 0..240 {
        text += &format!("{},{},{}\n", k % 3, k % 7, k / 6);
    }
    let folder = folder([("log.csv", text.as_bytes())]);
    let features = "one-hot(obs_0)";
    let evaluated = run_in(
        folder.path(),
        &[
            "evaluate",
            "log.csv",
            "--discount",
            "0.5",
            "--features",
            features,
            "--out",
            "m.json",
        ],
    );
    assert_eq!(evaluated.code, 0, "{}", evaluated.stderr);
    std::fs::write(folder.path().join("new.csv"), "obs_0\n0\n7\n").unwrap();
    let csv = run_in(folder.path(), &["predict", "m.json", "new.csv"]);
    assert_eq!(csv.code, 0, "{}", csv.stderr);
    let last = csv.stdout.lines().last().unwrap();
    assert!(last.contains("-inf") && last.ends_with(",inf"), "{last}");
    let parquet = ["predict", "m.json", "new.csv", "--out", "values.parquet"];
    assert_eq!(run_in(folder.path(), &parquet).code, 0);
}

#[test]
fn sweeps_and_contests_at_the_edges_end() {
    let sweep = |mode: &str, c: &str, more: &str| {
        format!("problem = \"two-state\"\nmode = \"{mode}\"\nsteps = 3\nruns = 2\nc = {c}\n{more}")
    };
    let cases = [
        sweep(
            "exact",
            "[1e-200, 1, 1e200]",
            "schedule = [\"decaying\", \"constant\"]",
        ),
        sweep(
            "algorithm",
            "[1e-200, 1e-160, 1, 1e200]",
            "set = { discount = 0.999999999999 }",
        ),
        sweep(
            "published",
            "[1e-200, 1e200]",
            "set = { alpha = 0.999999999999999 }",
        ),
        sweep("tdx", "[1e-100, 1e100]", "scales = [1e-150, 1, 1e150]"),
        sweep("exact", "[1]", "set = { shift = 1e308 }"),
        sweep("exact", "[1]", "scales = [1e300]"),
    ];
    for spec in cases {
        let folder = folder([("sweep.toml", spec.as_bytes())]);
        let arguments = ["sweep", "sweep.toml", "--out", "out"];
        let run = run_in(folder.path(), &arguments);
        assert!(matches!(run.code, 0 | 2), "{spec}: {}", run.stderr);
        if run.code == 0 {
            let csv = std::fs::read_to_string(folder.path().join("out/results.csv")).unwrap();
            assert!(
                csv.lines().count() > 1 && !csv.contains("NaN"),
                "{spec}: {csv}"
            );
        }
    }
    for setting in [
        "discount=0.999999999999",
        "alpha=0.999999999999999",
        "epsilon=1e-150",
        "shift=1e300",
    ] {
        let arguments = [
            "compare",
            "two-state",
            "--set",
            setting,
            "--horizon",
            "3",
            "--runs",
            "2",
            "--json",
        ];
        let run = run(&arguments);
        assert!(matches!(run.code, 0 | 2), "{setting}: {}", run.stderr);
        if run.code == 0 {
            serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap();
        }
    }
}

/// Sizes that a spec or a problem file asks for are refused with the limit, before memory is taken.
#[test]
fn sizes_in_specs_have_limits() {
    let list = |count: usize| {
        (1..=count)
            .map(|k| k.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let scales = format!(
        "problem = \"two-state\"\nsteps = 100\nc = {{ from = 1e-8, to = 1e8, per_decade = 6000 }}\nscales = [{}]\n",
        list(900)
    );
    let many = format!(
        "problem = \"two-state\"\nsteps = 100\nc = [1]\nscales = [{}]\n",
        list(2000)
    );
    let values = format!(
        "problem = \"two-state\"\nalgorithms = [\"alg1\"]\nruns = 2\nvary = {{ horizon = [{}] }}\n",
        list(2000)
    );
    let methods = |count: usize| {
        let methods: Vec<String> = (1..=count).map(|c| format!("\"alg1:c={c}\"")).collect();
        methods.join(", ")
    };
    let experiment = |methods: String, horizons: std::ops::Range<usize>| {
        let horizons: Vec<String> = horizons.map(|t| t.to_string()).collect();
        let horizons = horizons.join(", ");
        format!(
            "problem = \"two-state\"\nalgorithms = [{methods}]\nruns = 1000000\nvary = {{ horizon = [{horizons}] }}\n"
        )
    };
    let learners = experiment(methods(1000), 1000..2000);
    // After the first value, before the others: this took 4 seconds.
    let runs = experiment(methods(1000), 1000..1100);
    let actions = format!(
        "discount = 0.9\nmdp.transition = [{}]\nmdp.reward = [[0.0]]\npolicy = [[1]]\nfeatures = [[1]]\n",
        vec!["\"P.csv\""; 20_000].join(",")
    );
    let row = vec!["0.01"; 100].join(",");
    let matrix = vec![row.as_str(); 100].join("\n");
    let exact = "problem = \"garnet\"\nset = { states = 20000, dimension = 64 }\nmode = \"exact\"\nsteps = 100\nc = [1]\n";
    let folder = folder([
        ("scales.toml", scales.as_bytes()),
        ("many.toml", many.as_bytes()),
        ("values.toml", values.as_bytes()),
        ("learners.toml", learners.as_bytes()),
        ("runs.toml", runs.as_bytes()),
        ("actions.toml", actions.as_bytes()),
        ("P.csv", matrix.as_bytes()),
        ("exact.toml", exact.as_bytes()),
    ]);
    for (arguments, words) in [
        (
            &["sweep", "scales.toml", "--out", "o"][..],
            "the limit is 1000000",
        ),
        (
            &["sweep", "many.toml", "--out", "o"],
            "2000 scales; the limit is 1000",
        ),
        (
            &["experiment", "values.toml", "--out", "o"],
            "2000 entries; the limit is 1000",
        ),
        (
            &["experiment", "learners.toml", "--out", "o"],
            "1000 algorithms at 1000 values are 1000000 learners; the limit is 100000",
        ),
        (
            &["experiment", "runs.toml", "--check", "--max-memory", "8GB"],
            "but the limit is 8.0 GB; use fewer runs, or raise --max-memory",
        ),
        (
            &["problems", "actions.toml"],
            "the limit for files of this size",
        ),
        (
            &["sweep", "exact.toml", "--out", "o", "--max-memory", "500MB"],
            "the limit is 0.5 GB",
        ),
        (
            &[
                "problems",
                "garnet",
                "--set",
                "states=1e7",
                "--set",
                "actions=1000",
                "--set",
                "branching=1000",
            ],
            "at most 268435456",
        ),
    ] {
        let run = run_in(folder.path(), arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        let text = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

/// What never ends is refused after a few megabytes, or unread.
#[cfg(unix)]
#[test]
fn devices_are_no_specs_and_no_matrices() {
    let problem = |file: &str| {
        format!("discount = 0.9\ntransition = \"{file}\"\nreward = [0, 1]\nfeatures = [[1], [2]]\n")
    };
    let edges = "discount = 0.9\nedges = \"zero.csv\"\nfeatures = [[1], [2]]\n";
    let (csv, npy) = (problem("zero.csv"), problem("zero.npy"));
    let folder = folder([
        ("csv.toml", csv.as_bytes()),
        ("npy.toml", npy.as_bytes()),
        ("edges.toml", edges.as_bytes()),
    ]);
    for name in ["zero.csv", "zero.npy"] {
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(name)).unwrap();
    }
    let regular = "it is not a regular file but a device";
    for (arguments, words) in [
        (["sweep", "/dev/zero"], "it has more than 4194304 bytes"),
        (
            ["experiment", "/dev/zero"],
            "it has more than 4194304 bytes",
        ),
        (["problems", "csv.toml"], regular),
        (["problems", "npy.toml"], regular),
        (["problems", "edges.toml"], regular),
    ] {
        let run = run_in(folder.path(), &arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
    }
    // `sweep` looked for cases in all that it could read: 64 MiB here.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .args(["sweep", "/dev/stdin"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let piece = [b'#'; 1 << 16];
    let pieces = (0..1024)
        .take_while(|_| std::io::Write::write_all(&mut stdin, &piece).is_ok())
        .count();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(pieces < 512, "{pieces}");
}
