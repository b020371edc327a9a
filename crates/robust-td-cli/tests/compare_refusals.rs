//! Checks through the real binary that `compare` refuses bad requests with a message that helps.

use std::path::Path;

use crate::common::run;

#[test]
fn bad_requests_name_the_method_the_parameter_and_its_range() {
    let bad: &[(&[&str], &[&str])] = &[
        (&["--algorithms", "alg2"], &["alg2", "did you mean", "alg1"]),
        (
            &["--algorithms", "nothing-like-it"],
            &["nothing-like-it", "alg1-doubling"],
        ),
        (&["--algorithms", "alg1,alg1"], &["alg1", "given twice"]),
        (
            &["--algorithms", "alg1:c=1:c=2"],
            &["alg1", "c", "given twice"],
        ),
        (
            &["--algorithms", "alg1:d=1"],
            &["alg1", "\"d\"", "it takes c"],
        ),
        (&["--algorithms", "alg1:c"], &["alg1:c", "KEY=VALUE"]),
        (
            &["--algorithms", "alg1:c=0"],
            &["alg1", "c is 0", "above 0"],
        ),
        (
            &["--algorithms", "alg1-doubling:t0=2"],
            &["alg1-doubling", "t0 is 2", "at least 3"],
        ),
        (
            &["--algorithms", "alg1-doubling:t0=7.5"],
            &["alg1-doubling", "t0 is 7.5", "whole"],
        ),
        (
            &["--algorithms", "alg1-doubling:factor=1"],
            &["factor is 1", "above 1"],
        ),
        (
            &["--algorithms", "alg1", "--c", "-1"],
            &["alg1", "c is -1", "above 0"],
        ),
        (
            &["--algorithms", "alg1", "--c", "nan"],
            &["alg1", "c is NaN", "above 0"],
        ),
        (
            &["--algorithms", "alg1", "--c", "1", "--param", "c=2"],
            &["c", "given twice"],
        ),
        (
            &["--algorithms", "alg1", "--param", "cc=2"],
            &["\"cc\"", "did you mean \"c\"?"],
        ),
        (
            &["--algorithms", "alg1", "--param", "alg1-const.c=2"],
            &["alg1-const", "not among the chosen methods"],
        ),
        (
            &["--algorithms", "alg1", "--param", "alg9.c=2"],
            &["alg9", "did you mean"],
        ),
        (&["--algorithms", "alg1", "--param", "c"], &["KEY=VALUE"]),
        (&["--horizon", "2"], &["at least 3"]),
        (&["--runs", "0"], &["--runs is 0"]),
        (&["--runs", "1e9"], &["1000000000"]),
        (&["--points-per-decade", "0"], &["--points-per-decade is 0"]),
        (&["--kernel", "sse"], &["sse"]),
        (&["--set", "scale=1"], &["scale"]),
        (&["--json", "--markdown"], &["--markdown"]),
    ];
    for (flags, words) in bad {
        let mut arguments = vec!["compare", "ref-2"];
        if !flags.contains(&"--horizon") {
            arguments.extend(["--horizon", "100"]);
        }
        if !flags.contains(&"--runs") {
            arguments.extend(["--runs", "2"]);
        }
        arguments.extend(*flags);
        arguments.extend(["--out", "never"]);
        let run = run(&arguments);
        assert_eq!(run.code, 2, "{flags:?}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{flags:?}");
        for word in *words {
            assert!(run.stderr.contains(word), "{flags:?}: {}", run.stderr);
        }
        assert!(!Path::new("never").exists(), "{flags:?}");
    }
}

/// Each message names the method, the parameter with its value, and the valid range.
#[test]
fn parameters_out_of_their_ranges_are_refused() {
    let bad = [
        (
            "bhandari-a:radius=-1",
            "bhandari-a: radius is -1, but must be finite and above 0",
        ),
        (
            "liu-olshevsky:radius=0",
            "liu-olshevsky: radius is 0, but must be finite and above 0",
        ),
        (
            "adatd:radius=-0.5",
            "adatd: radius is -0.5, but must be finite and above 0",
        ),
        (
            "td-lambda:lambda=1.5",
            "td-lambda: lambda is 1.5, but must be between 0 and 1",
        ),
        (
            "etd:lambda=2",
            "etd: lambda is 2, but must be between 0 and 1",
        ),
        (
            "lstd:lambda=-0.1",
            "lstd: lambda is -0.1, but must be between 0 and 1",
        ),
        (
            "swift-td:lambda=1.01",
            "swift-td: lambda is 1.01, but must be between 0 and 1",
        ),
        (
            "bhandari-b:step=0",
            "bhandari-b: step is 0, but must be finite and above 0",
        ),
        // ref-2 has omega = 0.09 and phi_inf^2 = 1.09: 1.09 / (2 * 0.09 * 0.1) = 60.56.
        (
            "bhandari-b:step=61",
            "bhandari-b: step is 61, but must be above 0 and below 1 / (2 omega (1-gamma)) = 60.5",
        ),
        (
            "mitra:step=0",
            "mitra: step is 0, but must be finite and above 0",
        ),
        (
            "li-exp:step=0",
            "li-exp: step is 0, but must be finite and above 0",
        ),
        (
            "implicit-td:step=0",
            "implicit-td: step is 0, but must be finite and above 0",
        ),
        (
            "gtd2:step_w=0",
            "gtd2: step_w is 0, but must be finite and above 0",
        ),
        (
            "bhandari-c:omega=0",
            "bhandari-c: omega is 0, but must be finite and above 0",
        ),
        (
            "bhandari-c:omega=-1",
            "bhandari-c: omega is -1, but must be finite and above 0",
        ),
        (
            "samsonov:drop=0",
            "samsonov: drop is 0, but must be a whole number, at least 1",
        ),
        (
            "patil-tail:drop=2.5",
            "patil-tail: drop is 2.5, but must be a whole number, at least 1",
        ),
        (
            "patil-reg:lambda=0",
            "patil-reg: lambda is 0, but must be finite and above 0",
        ),
        (
            "adatd:beta=1",
            "adatd: beta is 1, but must be at least 0 and below 1",
        ),
        (
            "t-dog:delta=1",
            "t-dog: delta is 1, but must be above 0 and below 1",
        ),
        (
            "bhandari-a:omega=0.1",
            "bhandari-a has no parameter \"omega\"; it takes radius",
        ),
        (
            "implicit-td:radius=1",
            "implicit-td has no parameter \"radius\"; it takes step, lambda",
        ),
        (
            "optimal-stopping",
            "optimal-stopping does not apply: it needs a reward for stopping",
        ),
        (
            "q-learning",
            "q-learning does not apply: it needs a choice of actions",
        ),
    ];
    for (choice, message) in bad {
        let run = run(&[
            "compare",
            "ref-2",
            "--horizon",
            "100",
            "--runs",
            "2",
            "--algorithms",
            choice,
        ]);
        assert_eq!(run.code, 2, "{choice}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{choice}");
        assert!(run.stderr.contains(message), "{choice}: {}", run.stderr);
    }
}
