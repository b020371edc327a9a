//! Tests that a run in parts writes the same model, byte by byte, as one without interruption.

use std::path::Path;

use robust_td_core::random::Stream;

use crate::bad_data::assert_refused;
use crate::common::{folder, run_in};
use crate::log::{Columns, Log, unassessed, words};

fn run(folder: &Path, line: &str) {
    let run = run_in(folder, &words(&format!("{line} --json")));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{line}");
}

/// Resumes with the second part, unless the first part completed the model.
fn go_on(folder: &Path) {
    let line = "evaluate b.csv --resume part.json --out part.json";
    let more = run_in(folder, &words(line));
    if more.code == 0 {
        assert_eq!(more.stderr, "");
    } else {
        let parts = ["part.json", "2000 transitions", "nothing was read"];
        assert_refused(&more, 2, &parts, line);
    }
}

#[test]
fn resuming_at_any_row_writes_the_same_model() {
    const ROWS: usize = 2500;
    let log = Log::episodic("boyan", ROWS, 21);
    let folder = folder([]);
    let mut stream = Stream::new(5, 0);
    let tiles = "--features tiles(tilings=4,bins=5,low=0,high=1)";
    for (columns, options) in [
        (
            Columns::Plain,
            "--algorithm td-lambda --param lambda=0.8 --c 0.1",
        ),
        (Columns::Episodes, "--c 0.1"),
        (Columns::Episodes, "--algorithm swift-td"),
        (Columns::All, "--algorithm lstd --param lambda=0.5"),
        (
            Columns::All,
            "--algorithm alg1-doubling --param t0=10 --c 0.1",
        ),
        (Columns::Episodes, tiles),
    ] {
        let options = match options.starts_with("--features") {
            true => format!("{options} --c 0.1"),
            false => options.to_owned(),
        };
        let options = format!("--discount 0.9 --horizon 2000 --phi-inf 2 {options}");
        log.write(folder.path(), "log.csv", columns);
        run(
            folder.path(),
            &format!("evaluate log.csv {options} --out whole.json"),
        );
        let whole = unassessed(&folder.path().join("whole.json"));
        // The first cut leaves one row that waits for its successor; the last cut leaves no row to learn from.
        let cuts = [0; 2].map(|_| 2 + (stream.uniform() * (ROWS - 3) as f64) as usize);
        for cut in [1, cuts[0], cuts[1], ROWS - 1] {
            for (name, range) in [("a.csv", 0..cut), ("b.csv", cut..ROWS)] {
                std::fs::write(folder.path().join(name), log.csv(columns, range)).unwrap();
            }
            run(
                folder.path(),
                &format!("evaluate a.csv {options} --out part.json"),
            );
            go_on(folder.path());
            let part = unassessed(&folder.path().join("part.json"));
            assert!(part == whole, "cut before row {cut}: {options}");
        }
    }
}

#[test]
fn what_is_said_again_must_be_the_same() {
    let folder = folder([]);
    Log::continuing("ref-3", 60, 8).write(folder.path(), "log.csv", Columns::Plain);
    run(
        folder.path(),
        "evaluate log.csv --discount 0.9 --c 0.1 --horizon 90 --out model.json",
    );
    let model = std::fs::read(folder.path().join("model.json")).unwrap();
    for (again, named) in [
        (
            "--discount 0.8",
            "model.json: --discount is 0.8, but the model was made with 0.9",
        ),
        ("--algorithm lstd", "--algorithm is lstd"),
        ("--features bias", "--features is bias"),
        ("--phi-inf 7", "--phi-inf is 7"),
        (
            "--horizon 91",
            "--horizon is 91, but the model was made with 90",
        ),
        ("--c 0.2", "--c is 0.2, but the model was made with 0.1"),
        ("--c auto", "--c is auto, but the model was made with 0.1"),
        ("--param c=0.2", "--param c is 0.2"),
        ("--replicates 8", "--replicates is 8"),
        ("--sandwich", "--sandwich is true"),
    ] {
        let line = format!("evaluate log.csv --resume model.json --out model.json {again}");
        let refused = run_in(folder.path(), &words(&line));
        assert_eq!(refused.code, 2, "{again}");
        assert!(
            refused.stderr.contains(named),
            "{again}: {}",
            refused.stderr
        );
        assert_eq!(refused.stderr.lines().count(), 1);
    }
    assert_eq!(
        std::fs::read(folder.path().join("model.json")).unwrap(),
        model
    );
    let line = "evaluate log.csv --resume model.json --discount 0.9 --horizon 90 --algorithm alg1 --features identity --replicates 0";
    for same in ["", " --c 0.1", " --param c=0.1", " --c 1e-1"] {
        run(folder.path(), &format!("{line}{same}"));
    }
}

#[test]
fn a_model_that_has_what_was_asked_for_is_not_resumed() {
    let folder = folder([]);
    Log::continuing("ref-3", 60, 8).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --c 0.1 --horizon 40 --out model.json";
    run(folder.path(), line);
    let model = std::fs::read(folder.path().join("model.json")).unwrap();
    let line = "evaluate log.csv --resume model.json --out model.json";
    let parts = ["model.json", "40 transitions", "nothing was read"];
    assert_refused(&run_in(folder.path(), &words(line)), 2, &parts, line);
    let after = std::fs::read(folder.path().join("model.json")).unwrap();
    assert_eq!(after, model);
}
