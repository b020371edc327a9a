//! Refuses wrong problem files with exit code 2 and one message that names the key, the place and the value.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use crate::common::{doubles, folder, npy, run_in};

/// An invalid problem: its name, its TOML, and the files next to it.
type Case<'a> = (&'a str, String, Vec<(&'a str, Vec<u8>)>);

/// The messages of all cases in one text.
fn messages(cases: &[Case]) -> String {
    let mut messages = String::new();
    for (name, toml, files) in cases {
        let files = files.iter().map(|(name, content)| (*name, &content[..]));
        let folder = folder(files.chain([("problem.toml", toml.as_bytes())]));
        for command in [
            &["certify", "problem.toml", "--horizon", "100", "--json"][..],
            &["problems", "problem.toml"],
        ] {
            let run = run_in(folder.path(), command);
            assert_eq!(
                (run.code, run.stdout.as_str()),
                (2, ""),
                "{name}: {}",
                run.stderr
            );
            let message = run.stderr.strip_prefix("error: problem.toml").unwrap();
            assert_eq!(message.matches('\n').count(), 1, "{name}: one line");
            if command[0] == "certify" {
                write!(messages, "{name}\n    {}", run.stderr).unwrap();
            }
        }
    }
    messages
}

/// A valid problem with one line replaced; an empty replacement removes it.
fn with(key: &str, line: &str) -> String {
    [
        "discount = 0.9",
        "transition = [[0.2, 0.8], [0.8, 0.2]]",
        "reward = [[0.2, 1.0], [-1.0, 0.4]]",
        "features = [[0.3, 1.0], [-0.3, 1.0]]",
    ]
    .into_iter()
    .map(|known| if known.starts_with(key) { line } else { known })
    .collect::<Vec<_>>()
    .join("\n")
}

/// The valid problem with one more line.
fn and(line: &str) -> String {
    with("discount", &format!("discount = 0.9\n{line}"))
}

fn only_toml(cases: &[(&'static str, String)]) -> String {
    let cases: Vec<Case> = cases
        .iter()
        .map(|(name, toml)| (*name, toml.clone(), vec![]))
        .collect();
    messages(&cases)
}

#[test]
fn keys() {
    let found = only_toml(&[
        ("syntax error", with("reward", "reward = [[0.2, 1.0]")),
        ("key given twice", and("discount = 0.8")),
        ("unknown key, near a known one", and("transitions = 3")),
        ("unknown key, far from all", and("velocity = 3")),
        ("no discount", with("discount", "")),
        ("no transition", with("transition", "")),
        ("no reward", with("reward", "")),
        ("no features", with("features", "")),
        ("empty file", String::new()),
        (
            "discount of a wrong type",
            with("discount", "discount = \"high\""),
        ),
        ("discount of one", with("discount", "discount = 1")),
        ("negative discount", with("discount", "discount = -0.1")),
        (
            "discount that is not a number",
            with("discount", "discount = nan"),
        ),
        ("start beyond the states", and("start = 2")),
        ("negative start", and("start = -1")),
        ("fractional start", and("start = 0.5")),
        ("two chains", and("mdp.transition = []")),
        ("policy without mdp", and("policy = [[1.0], [1.0]]")),
        ("edges beside transition", and("edges = \"edges.csv\"")),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn inline_matrices() {
    let found = only_toml(&[
        (
            "a number for a matrix",
            with("transition", "transition = 0.5"),
        ),
        (
            "a list for a matrix",
            with("features", "features = [0.3, -0.3]"),
        ),
        ("an empty matrix", with("transition", "transition = []")),
        ("an empty row", with("features", "features = [[], []]")),
        (
            "a ragged matrix",
            with("transition", "transition = [[0.2, 0.8], [1.0]]"),
        ),
        (
            "a row that is no list",
            with("transition", "transition = [[0.2, 0.8], 1.0]"),
        ),
        (
            "an entry that is a string",
            with("reward", "reward = [[0.2, 1.0], [-1.0, \"x\"]]"),
        ),
        (
            "an entry that is a list",
            with("reward", "reward = [0.2, [1.0]]"),
        ),
        (
            "an infinite entry",
            with("features", "features = [[0.3, 1.0], [inf, 1.0]]"),
        ),
        (
            "a NaN",
            with("reward", "reward = [[0.2, nan], [-1.0, 0.4]]"),
        ),
        (
            "a matrix that is not square",
            with(
                "transition",
                "transition = [[0.2, 0.8], [0.8, 0.2], [0.5, 0.5]]",
            ),
        ),
        (
            "a negative probability",
            with("transition", "transition = [[1.2, -0.2], [0.8, 0.2]]"),
        ),
        (
            "a row sum below one",
            with("transition", "transition = [[0.2, 0.8], [0.8, 0.1]]"),
        ),
        (
            "a reducible chain",
            with("transition", "transition = [[1.0, 0.0], [0.8, 0.2]]"),
        ),
        (
            "a periodic chain",
            with("transition", "transition = [[0, 1], [1, 0]]"),
        ),
        (
            "too few rewards",
            with("reward", "reward = [1.0, 2.0, 3.0]"),
        ),
        (
            "a reward matrix of a wrong shape",
            with("reward", "reward = [[1, 2, 3], [4, 5, 6]]"),
        ),
        (
            "too few rows of features",
            with("features", "features = [[0.3, 1.0]]"),
        ),
        (
            "dependent features",
            with("features", "features = [[1.0, 2.0], [2.0, 4.0]]"),
        ),
        (
            "more features than states",
            with("features", "features = [[1, 0, 1], [0, 1, 1]]"),
        ),
        (
            "a zero feature",
            with("features", "features = [[1.0, 0.0], [2.0, 0.0]]"),
        ),
        (
            "features whose squares overflow",
            with("features", "features = [[0.3, 1e200], [-0.3, 1e200]]"),
        ),
        (
            "features whose squares underflow",
            with("features", "features = [[0.3, 1e-200], [-0.3, 1e-200]]"),
        ),
        (
            "a path without a known ending",
            with("features", "features = \"features.xlsx\""),
        ),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn csv_files() {
    let case = |name, text: &str| -> Case {
        (
            name,
            with("transition", "transition = \"P.csv\""),
            vec![("P.csv", text.as_bytes().to_vec())],
        )
    };
    let found = messages(&[
        (
            "no such file",
            with("transition", "transition = \"Q.csv\""),
            vec![],
        ),
        case("an empty file", "\n"),
        case("a header", "a,b\n0.2,0.8\n0.8,0.2\n"),
        case("a word", "0.2,0.8\n0.8,two\n"),
        case("an empty cell", "0.2,0.8\n,0.2\n"),
        case("an infinity", "0.2,0.8\n0.8,inf\n"),
        case("an empty line", "0.2,0.8\n\n0.8,0.2\n"),
        case("a ragged line", "0.2,0.8\n0.8,0.1,0.1\n"),
        case("a row sum", "0.2,0.8\n0.8,0.1\n"),
        case("a negative probability", "0.2,0.8\n-0.8,1.8\n"),
        case("not square", "0.2,0.8\n"),
        (
            "not text",
            with("transition", "transition = \"P.csv\""),
            vec![("P.csv", b"0.2,0.8\n0.8,\xff\n".to_vec())],
        ),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn numpy_files() {
    let case = |name, bytes: Vec<u8>| -> Case {
        (
            name,
            with("transition", "transition = \"P.npy\""),
            vec![("P.npy", bytes)],
        )
    };
    let whole = doubles(&[0.2, 0.8, 0.8, 0.2]);
    let found = messages(&[
        case("not a NumPy file", b"hello, world, hello".to_vec()),
        case("an empty file", vec![]),
        case("a truncated file", npy("<f8", false, "2, 2", &whole[..30])),
        case(
            "a shape beyond memory",
            npy("<f8", false, "100000000, 100000000", &whole),
        ),
        case(
            "a longer file",
            npy("<f8", false, "2, 2", &[&whole[..], &[0]].concat()),
        ),
        case("complex numbers", npy("<c16", false, "2,", &[0; 32])),
        case("one axis", npy("<f8", false, "4,", &whole)),
        case("three axes", npy("<f8", false, "1, 2, 2", &whole)),
        case("no entries", npy("<f8", false, "0, 2", &[])),
        case(
            "a NaN",
            npy("<f8", false, "2, 2", &doubles(&[0.2, 0.8, f64::NAN, 0.2])),
        ),
        case(
            "a row sum",
            npy("<f8", false, "2, 2", &doubles(&[0.2, 0.8, 0.8, 0.1])),
        ),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn decision_processes() {
    let transition = "mdp.transition = [[[0.2, 0.8], [0.8, 0.2]], [[1, 0], [0, 1]]]";
    let reward = "mdp.reward = [[0.2, 1.0], [-1.0, 0.4]]";
    let policy = "policy = [[0.5, 0.5], [0.5, 0.5]]";
    let case = |name, lines: [&str; 3]| -> Case {
        let rest = "discount = 0.9\nfeatures = [[0.3, 1.0], [-0.3, 1.0]]\n";
        (name, format!("{rest}{}", lines.join("\n")), vec![])
    };
    let found = messages(&[
        case("no policy", [transition, reward, ""]),
        case("no rewards", [transition, "", policy]),
        case("no transitions", ["", reward, policy]),
        case("an unknown key", [transition, "mdp.rewards = 1", policy]),
        case("not a table", ["mdp = 1", "", policy]),
        case("reward beside mdp", [transition, "reward = [1, 2]", policy]),
        case(
            "one matrix for all actions",
            ["mdp.transition = [[0.5, 0.5], [0.5, 0.5]]", reward, policy],
        ),
        case("no actions", ["mdp.transition = []", reward, policy]),
        case(
            "a row sum",
            [
                "mdp.transition = [[[0.2, 0.8], [0.8, 0.2]], [[1, 0], [0, 0.9]]]",
                reward,
                policy,
            ],
        ),
        case(
            "sizes that differ",
            [
                "mdp.transition = [[[0.2, 0.8], [0.8, 0.2]], [[1]]]",
                reward,
                policy,
            ],
        ),
        case(
            "three rewards for two actions",
            [
                transition,
                "mdp.reward = [[[1, 1], [1, 1]], [[1, 1], [1, 1]], [[1, 1], [1, 1]]]",
                policy,
            ],
        ),
        case(
            "a reward of a wrong shape",
            [
                transition,
                "mdp.reward = [[1, 1, 1], [1, 1, 1], [1, 1, 1]]",
                policy,
            ],
        ),
        case(
            "a policy of a wrong shape",
            [transition, reward, "policy = [[1.0], [1.0]]"],
        ),
        case(
            "a policy that is no distribution",
            [transition, reward, "policy = [[0.5, 0.5], [0.5, 0.6]]"],
        ),
        case(
            "a policy that gets stuck",
            [transition, reward, "policy = [[0, 1], [0, 1]]"],
        ),
    ]);
    insta::assert_snapshot!(found);
}

#[test]
fn edge_files() {
    let case = |name, text: &str| -> Case {
        (
            name,
            "discount = 0.9\nfeatures = [[0.3, 1.0], [-0.3, 1.0]]\nedges = \"edges.csv\"".into(),
            vec![("edges.csv", text.as_bytes().to_vec())],
        )
    };
    let header = "from,to,probability,reward\n";
    let with_header = |name, text: &str| case(name, &format!("{header}{text}"));
    let found = messages(&[
        case("an empty file", ""),
        case("no header", "0,0,0.2,0.2\n"),
        with_header("too few entries", "0,0,0.2\n"),
        with_header("an empty line", "0,0,0.2,1\n\n0,1,0.8,1\n"),
        with_header("a state that is no number", "0,zero,0.2,0.2\n"),
        with_header("a state that does not exist", "0,2,1.0,0.2\n"),
        with_header("a probability above one", "0,0,1.2,0.2\n"),
        with_header("a probability that is no number", "0,0,p,0.2\n"),
        with_header("an infinite reward", "0,0,0.2,inf\n"),
        with_header(
            "a transition given twice",
            "0,0,0.5,1\n0,1,0.5,1\n0,0,0.5,1\n",
        ),
        with_header(
            "probabilities that do not sum to one",
            "0,0,0.2,1\n0,1,0.8,1\n1,0,0.8,1\n",
        ),
        with_header("a state without a way out", "0,0,0.2,1\n0,1,0.8,1\n"),
        with_header("a periodic chain", "0,1,1,1\n1,0,1,1\n"),
        (
            "edges that are no path",
            "discount = 0.9\nfeatures = [[1.0], [2.0]]\nedges = [[0, 1, 1.0, 0.0]]".into(),
            vec![],
        ),
        (
            "reward beside edges",
            "discount = 0.9\nreward = [1, 2]\nfeatures = [[1.0], [2.0]]\nedges = \"edges.csv\""
                .into(),
            vec![],
        ),
    ]);
    insta::assert_snapshot!(found);
}
