//! Tests the flags and messages for CSV as other tools write it.

use assert_cmd::Command;
use serde_json::Value;

use crate::bad_data::assert_refused;
use crate::common::{folder, json_in, run_in};
use crate::log::{gzip, words};

/// A log with decimal points, and the same as Excel saves it in other countries.
fn logs() -> [String; 2] {
    let mut plain = String::from("obs_0,obs_1,reward\n");
    for i in 0..60 {
        let (x, y) = (f64::from(i * 7 % 11) * 0.25, f64::from(i * 5 % 13) * 100.5);
        plain += &format!("{x},{y},{}\n", x - y / 1000.0);
    }
    let excel = plain
        .replace(',', ";")
        .replace('.', ",")
        .replace('\n', "\r\n");
    [plain, format!("\u{feff}{excel}")]
}

#[test]
fn decimal_commas_give_the_same_answer_and_predict_remembers_them() {
    let [plain, excel] = logs();
    let folder = folder([
        ("plain.csv", plain.as_bytes()),
        ("excel.csv", excel.as_bytes()),
    ]);
    let of = |line: &str| json_in(folder.path(), &words(line));
    let expected = of("evaluate plain.csv --discount 0.5 --json --out plain.json");
    let found = of("evaluate excel.csv --discount 0.5 --decimal , --json --out excel.json");
    assert_eq!(found["theta_bar"], expected["theta_bar"]);
    let values = |line: &str| {
        let run = run_in(folder.path(), &words(line));
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let predicted = values("predict plain.json plain.csv");
    assert_eq!(values("predict excel.json excel.csv"), predicted);
    assert_eq!(
        values("predict excel.json plain.csv --decimal ."),
        predicted
    );
}

#[test]
fn messages_name_the_remedy() {
    let folder = folder([
        ("comma.csv", b"obs_0;reward\n1;2\n2;1,5\n".as_slice()),
        ("both.csv", b"obs_0;reward\n1;2\n2;1.234,5\n"),
        ("either.csv", b"obs_0,reward\n1,2\n2,\"1,234\"\n"),
        ("spaces.csv", b"obs_0;reward\n1;2\n2;1 234,5\n"),
        ("cut.csv", b"obs_0,reward\n1,5,2,5\n"),
        ("yes.csv", b"obs_0,reward\n1,5\nyes,5\n"),
        ("point.csv", b"obs_0;reward\n1;2\n2;1.5\n"),
    ]);
    for (line, part) in [
        (
            "comma.csv",
            "comma.csv: row 2 (line 3), column reward: \"1,5\" is not a number with a decimal point and no thousands separator; if it is a number, use --decimal ,\n",
        ),
        (
            "both.csv",
            "if it is a number, use --decimal , --thousands .\n",
        ),
        (
            "either.csv",
            "if it is a number, use --decimal , or --thousands ,\n",
        ),
        (
            "spaces.csv",
            "if it is a number, use --decimal , --thousands ' '\n",
        ),
        ("cut.csv --decimal ,", "cut.csv: commas separate the fields"),
        (
            "yes.csv",
            "row 2 (line 3), column obs_0: \"yes\" is not a number (true and false are read as 1 and 0)",
        ),
        (
            "point.csv --decimal ,",
            "\"1.5\" is not a number in the notation that is set; if it is a number, use --decimal .\n",
        ),
        (
            "comma.csv --thousands .",
            "--thousands needs --decimal ,: '.' cannot be the decimal sign too",
        ),
        (
            "comma.csv --decimal x",
            "--decimal is 'x', but must be a point or a comma",
        ),
        (
            "comma.csv --decimal , --thousands x",
            "--thousands is 'x', but must be a point, a comma, a space",
        ),
        ("comma.csv --decimal ,,", "--decimal"),
    ] {
        let run = run_in(
            folder.path(),
            &words(&format!("evaluate --discount 0.9 {line}")),
        );
        assert_eq!(run.code, 2, "{line}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{line}: {}", run.stderr);
        if !line.ends_with(",,") {
            assert_refused(&run, 2, &[], line);
        }
    }
}

#[test]
fn inspect_names_the_flags() {
    let [_, excel] = logs();
    let folder = folder([("excel.csv", excel.as_bytes())]);
    let page = |line| run_in(folder.path(), &words(line)).stdout;
    let found = page("inspect excel.csv");
    assert!(
        found.contains("- if such values are numbers, use --decimal ,\n"),
        "{found}"
    );
    let found = page("inspect excel.csv --decimal ,");
    assert!(found.contains("60 good, 0 bad"), "{found}");
}

#[test]
fn compressed_standard_input_is_recognised() {
    let [plain, _] = logs();
    let folder = folder([]);
    let of = |input: Vec<u8>| -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_robust-td"))
            .current_dir(folder.path())
            .args(words("evaluate - --format csv --discount 0.5 --json"))
            .write_stdin(input)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["theta_bar"].clone()
    };
    let expected = of(plain.clone().into_bytes());
    assert_eq!(of(gzip(plain.as_bytes())), expected);
}

#[test]
fn codes_for_missing_values_are_reported() {
    let text = format!("obs_0,reward\n{}", "1.5,2\n-999,1\n0.5,3\n".repeat(9));
    let folder = folder([("log.csv", text.as_bytes())]);
    for line in ["inspect log.csv", "evaluate log.csv --discount 0.5"] {
        let run = run_in(folder.path(), &words(line));
        let all = run.stdout + &run.stderr;
        assert!(
            all.contains("obs_0 is -999 in 9 rows, and from 0.5 to 1.5 elsewhere"),
            "{all}"
        );
    }
}
