//! Tests that an invalid command line ends with exit code 2 and one message that names the argument.

use crate::bad_data::assert_refused;
use crate::common::{folder, run_in};
use crate::log::{Columns, Log, words};

#[test]
fn a_wrong_word_is_named() {
    let folder = folder([("other.csv", b"obs_0,reward\n1,2\n2,3\n".as_slice())]);
    Log::continuing("ref-3", 30, 2).write(folder.path(), "log.csv", Columns::Plain);
    let good = "--discount 0.9 --c 0.1";
    for (line, parts) in [
        (
            "--discount 0.9 --c 1 --algorithm alg2".to_owned(),
            ["--algorithm", "alg2"],
        ),
        (format!("{good} --layout gym"), ["layout", "gym"]),
        (format!("{good} --format xls"), ["format", "xls"]),
        (format!("{good} --column prize=x"), ["prize", "reward"]),
        (format!("{good} --column reward=x"), ["log.csv", "x"]),
        ("--c 1".to_owned(), ["--discount", "required"]),
        ("--discount 1 --c 1".to_owned(), ["--discount", "1"]),
        ("--discount nan --c 1".to_owned(), ["--discount", "NaN"]),
        ("--discount 0.9 --c 0".to_owned(), ["c is 0", "above 0"]),
        ("--discount 0.9 --c -2".to_owned(), ["c is -2", "above 0"]),
        ("--discount 0.9 --c abc".to_owned(), ["--c", "abc"]),
        (format!("{good} --phi-inf -1"), ["--phi-inf", "-1"]),
        (format!("{good} --param speed=1"), ["speed", "alg1"]),
        (format!("{good} --param speed"), ["--param", "speed"]),
        (format!("{good} --features foo"), ["features", "foo"]),
        (format!("{good} --algorithm lstd"), ["lstd", "--c"]),
        (
            "--discount 0.9 --algorithm bhandari-c --param radius=1".to_owned(),
            ["bhandari-c", "omega"],
        ),
        (
            "--discount 0.9 --algorithm td-const-certified".to_owned(),
            ["td-const-certified", "exact problem"],
        ),
        (format!("{good} --passes 0"), ["--passes", "0"]),
    ] {
        let run = run_in(
            folder.path(),
            &words(&format!("evaluate log.csv --json {line}")),
        );
        assert_refused(&run, 2, &parts, &line);
    }
    let run = run_in(
        folder.path(),
        &words(&format!("evaluate missing.csv {good}")),
    );
    assert_refused(&run, 2, &["missing.csv"], "a missing file");
    let run = run_in(
        folder.path(),
        &words(&format!("evaluate log.csv {good} --out no/model.json")),
    );
    assert_refused(
        &run,
        2,
        &["no/model.json", "no directory"],
        "a missing directory",
    );
}

#[test]
fn a_model_that_does_not_fit_is_refused() {
    let folder = folder([
        ("other.csv", b"obs_0,reward\n1,2\n2,3\n".as_slice()),
        ("foreign.json", b"{\"kind\": \"a cake\", \"version\": 1}"),
        ("plain.json", b"{\"a\": 1}"),
    ]);
    Log::continuing("ref-3", 30, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --c 0.1 --out model.json";
    assert_eq!(run_in(folder.path(), &words(line)).code, 0);
    let model = std::fs::read_to_string(folder.path().join("model.json")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("cut.json", &model[..model.len() / 2]);
    for (name, old, new) in [
        ("newer.json", "\"version\":13", "\"version\":99"),
        ("renamed.json", "\"identity\":{", "\"identify\":{"),
        ("shorter.json", "\"inputs\":2", "\"inputs\":3"),
    ] {
        assert!(model.contains(old), "{old}");
        write(name, &model.replace(old, new));
    }
    for (name, part) in [
        ("foreign.json", "a cake"),
        ("plain.json", "not a robust-td model"),
        ("cut.json", "not a robust-td model"),
        ("newer.json", "version 99, but this robust-td reads version"),
        ("renamed.json", "damaged"),
        ("shorter.json", "its digest does not match"),
        ("log.csv", "not a robust-td model"),
        ("missing.json", "cannot read"),
    ] {
        for line in [
            format!("evaluate log.csv --resume {name}"),
            format!("predict {name} log.csv --out values.csv"),
        ] {
            let run = run_in(folder.path(), &words(&line));
            assert_refused(&run, 2, &[name, part], &line);
        }
    }
    for line in [
        "evaluate other.csv --resume model.json",
        "predict model.json other.csv --out values.csv",
    ] {
        let run = run_in(folder.path(), &words(line));
        assert_refused(
            &run,
            2,
            &["other.csv", "no column obs_1", "the file has obs_0"],
            line,
        );
    }
    let run = run_in(
        folder.path(),
        &words("predict model.json log.csv --out values.txt"),
    );
    assert_refused(&run, 2, &["values.txt", ".csv"], "another ending");
    let run = run_in(
        folder.path(),
        &words("predict model.json log.csv --out no/values.csv"),
    );
    assert_refused(
        &run,
        2,
        &["no/values.csv", "no directory"],
        "a missing directory",
    );
    assert!(!folder.path().join("values.csv").exists());
}
