//! Reads one problem in every way it can be written, and certifies it to the same numbers.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use crate::common::{doubles, folder, json_in, npy, run_in};

const INLINE: &str = "\
discount = 0.9
start = 1
transition = [[0.25, 0.75], [0.5, 0.5]]
reward = [[1, 2.0], [-1.0, 4]]
features = [[0.5, 1.0], [-0.25, 1.0]]
";

/// Every number that the command prints about a problem.
fn certified(folder: &Path, file: &str) -> String {
    let run = run_in(
        folder,
        &["certify", file, "--horizon", "1000", "--c", "5", "--json"],
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
}

/// Asserts that a problem file with its matrix files is the problem [`INLINE`].
fn same_as_inline(toml: &str, files: &[(&str, Vec<u8>)]) {
    let files = files.iter().map(|(name, content)| (*name, &content[..]));
    let folder = folder(files.chain([
        ("a.toml", toml.as_bytes()),
        ("inline.toml", INLINE.as_bytes()),
    ]));
    assert_eq!(
        certified(folder.path(), "a.toml"),
        certified(folder.path(), "inline.toml"),
        "{toml}"
    );
}

/// [`INLINE`] with one key read from a file.
fn from_file(key: &str, file: &str) -> String {
    INLINE
        .lines()
        .map(|line| match line.split(" = ").next() {
            Some(found) if found == key => format!("{key} = \"{file}\"\n"),
            _ => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn matrices_in_csv_files() {
    let csv = |text: &str| text.as_bytes().to_vec();
    same_as_inline(
        &from_file("transition", "P.csv"),
        &[("P.csv", csv("0.25,0.75\n0.5,0.5\n"))],
    );
    // Spaces, Windows line ends, a byte-order mark, no last line end, empty lines at the end.
    same_as_inline(
        &from_file("reward", "r.CSV"),
        &[("r.CSV", csv("\u{feff}1, 2\r\n -1,4"))],
    );
    same_as_inline(
        &from_file("features", "Phi.csv"),
        &[("Phi.csv", csv("5e-1,1\n-0.25,1\n\n\n"))],
    );
}

#[test]
fn matrices_in_numpy_files() {
    let transition = doubles(&[0.25, 0.75, 0.5, 0.5]);
    same_as_inline(
        &from_file("transition", "P.npy"),
        &[("P.npy", npy("<f8", false, "2, 2", &transition))],
    );
    let columns = doubles(&[0.25, 0.5, 0.75, 0.5]);
    same_as_inline(
        &from_file("transition", "P.npy"),
        &[("P.npy", npy("<f8", true, "2, 2", &columns))],
    );
}

#[test]
fn numpy_files_of_every_type() {
    macro_rules! bytes {
        ($number:ty, $order:ident) => {
            [1, 2, -1_i8, 4]
                .into_iter()
                .flat_map(|x| (x as $number).$order())
                .collect::<Vec<u8>>()
        };
    }
    let reward = from_file("reward", "r.npy");
    for (descriptor, data) in [
        ("<f8", bytes!(f64, to_le_bytes)),
        (">f8", bytes!(f64, to_be_bytes)),
        ("<f4", bytes!(f32, to_le_bytes)),
        (">f4", bytes!(f32, to_be_bytes)),
        ("<i8", bytes!(i64, to_le_bytes)),
        (">i8", bytes!(i64, to_be_bytes)),
        ("<i4", bytes!(i32, to_le_bytes)),
        ("<i2", bytes!(i16, to_le_bytes)),
        ("|i1", bytes!(i8, to_le_bytes)),
    ] {
        same_as_inline(&reward, &[("r.npy", npy(descriptor, false, "2, 2", &data))]);
    }
    // Unsigned numbers and booleans, in a separate problem.
    let toml =
        "discount = 0.5\ntransition = \"P.csv\"\nreward = \"r.npy\"\nfeatures = [[1.0], [2.0]]\n";
    let with_reward = |name: &str, reward: Vec<u8>| {
        let folder = folder([
            ("P.csv", &b"0.5,0.5\n0.5,0.5"[..]),
            ("r.npy", &reward),
            ("p.toml", toml.as_bytes()),
        ]);
        assert!(!certified(folder.path(), "p.toml").is_empty(), "{name}");
        certified(folder.path(), "p.toml")
    };
    let expected = with_reward("f8", npy("<f8", false, "2,", &doubles(&[1.0, 0.0])));
    for (descriptor, data) in [
        ("|b1", vec![1, 0]),
        ("|u1", vec![1, 0]),
        ("<u2", vec![1, 0, 0, 0]),
        (">u2", vec![0, 1, 0, 0]),
        ("<u4", vec![1, 0, 0, 0, 0, 0, 0, 0]),
        ("<u8", [[1, 0, 0, 0, 0, 0, 0, 0], [0; 8]].concat()),
    ] {
        assert_eq!(
            with_reward(descriptor, npy(descriptor, false, "2,", &data)),
            expected
        );
    }
}

#[test]
fn a_list_of_transitions() {
    let toml = "\
discount = 0.9
start = 1
edges = \"edges.csv\"
features = [[0.5, 1.0], [-0.25, 1.0]]
";
    let edges = "from,to,probability,reward\n1,1,0.5,4\n0,1,0.75,2\n1,0,0.5,-1\n0,0,0.25,1\n";
    same_as_inline(toml, &[("edges.csv", edges.as_bytes().to_vec())]);
}

#[test]
fn a_decision_process_with_a_policy() {
    let rest = "discount = 0.9\nstart = 1\nfeatures = [[0.5, 1.0], [-0.25, 1.0]]\n";
    // The policy mixes a chain that stays with one that moves.
    let mixed = "\
[mdp]
transition = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
reward = [[1, 2], [-1, 4]]
";
    let policy = "policy = [[0.25, 0.75], [0.5, 0.5]]\n";
    same_as_inline(&format!("{rest}{policy}{mixed}"), &[]);

    // The same with files: a stack of matrices, and one reward per action.
    let stack = npy(
        "<f8",
        false,
        "2, 2, 2",
        &doubles(&[1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]),
    );
    let files = "mdp.transition = \"stack.npy\"\nmdp.reward = [\"r.csv\", [[1, 2], [-1, 4]]]\n";
    same_as_inline(
        &format!("{rest}{policy}{files}"),
        &[("stack.npy", stack), ("r.csv", b"1,2\n-1,4\n".to_vec())],
    );
}

#[test]
fn rewards_per_state() {
    let toml = |reward: &str| {
        format!(
            "discount = 0.9\ntransition = [[0.25, 0.75], [0.5, 0.5]]\nreward = {reward}\nfeatures = [[1], [2]]\n"
        )
    };
    let folder = folder([
        ("column.csv", &b"3\n-1\n"[..]),
        ("row.csv", b"3,-1\n"),
        (
            "list.npy",
            &npy(
                "<i8",
                false,
                "2,",
                &[3_i64.to_le_bytes(), (-1_i64).to_le_bytes()].concat(),
            ),
        ),
        ("matrix.toml", toml("[[3, 3], [-1, -1]]").as_bytes()),
        ("list.toml", toml("[3, -1]").as_bytes()),
        ("column.toml", toml("\"column.csv\"").as_bytes()),
        ("row.toml", toml("\"row.csv\"").as_bytes()),
        ("npy.toml", toml("\"list.npy\"").as_bytes()),
    ]);
    let expected = certified(folder.path(), "matrix.toml");
    for file in ["list.toml", "column.toml", "row.toml", "npy.toml"] {
        assert_eq!(certified(folder.path(), file), expected, "{file}");
    }
}

#[test]
fn paths_are_relative_to_the_problem_file() {
    let folder = folder([]);
    let below = folder.path().join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("P.csv"), "0.25,0.75\n0.5,0.5\n").unwrap();
    std::fs::write(below.join("p.toml"), from_file("transition", "P.csv")).unwrap();
    let shown = json_in(folder.path(), &["problems", "below/p.toml", "--json"]);
    assert_eq!(shown["states"], 2);
    assert_eq!(shown["start"], 1);
    assert_eq!(shown["transitions"], 4);
    assert!(shown["description"].is_null());
}
