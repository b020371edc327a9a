//! Tests that messages and pages say what to do about logs that do not fit.

use std::fmt::Write as _;

use robust_td_core::random::Stream;

use crate::bad_data::assert_refused;
use crate::common::{folder, json_in, run_in};
use crate::log::{gzip, words};

fn numbers(rows: usize) -> String {
    let row = |t: usize| format!("{},{},{}\n", t % 7, t * t % 11, t % 3);
    (0..rows).map(row).collect()
}

#[test]
fn files_that_do_not_fit_have_a_remedy() {
    let log = format!("user,speed,reward\n{}", numbers(40));
    let folder = folder([
        ("log.csv", log.as_bytes()),
        ("values.csv", numbers(40).as_bytes()),
        ("binary.csv", b"\x00\x01\xffPK,\x1b[2J\n1,2\n".as_slice()),
        ("dated.csv", b"obs_0,reward\n1,2024-05-01\n".as_slice()),
        ("position.csv", b"obs_0,user\n1,2\n".as_slice()),
        ("named.csv", b"0.25,1,2,anna\n0.5,1,0,otto\n".as_slice()),
        ("really.csv", b"PAR1\x15\x04\n,\n".as_slice()),
        ("wide.csv", b"\xff\xfeo\0b\0s\0\n\0".as_slice()),
        ("cut.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03K".as_slice()),
    ]);
    let evaluate = "--discount 0.9 --features standardise(speed)+bias";
    let made = run_in(
        folder.path(),
        &words(&format!("evaluate log.csv {evaluate} --out model.json")),
    );
    assert_eq!(made.code, 0, "{}", made.stderr);
    for (line, parts) in [
        (
            format!("evaluate log.csv {evaluate} --cluster usr"),
            &[
                "no column usr",
                "(did you mean user?)",
                "use --cluster NAME",
            ][..],
        ),
        (
            "evaluate values.csv --discount 0.9".to_owned(),
            &[
                "values.csv: the first line has numbers (0, 0, 0)",
                "obs_0,obs_1,reward",
            ],
        ),
        (
            "evaluate binary.csv --discount 0.9".to_owned(),
            &[
                "binary.csv: the first line is not text",
                "\\u{1b}[2J",
                "may be of another format, compressed, or not in UTF-8",
            ],
        ),
        (
            "evaluate named.csv --discount 0.9".to_owned(),
            &["named.csv: the first line has numbers (0.25, 1, 2, anna)"],
        ),
        (
            "evaluate really.csv --discount 0.9".to_owned(),
            &["it is a Parquet file: give it the format parquet"],
        ),
        (
            "evaluate wide.csv --discount 0.9".to_owned(),
            &["perhaps in UTF-16: save it as UTF-8"],
        ),
        (
            "evaluate cut.csv.gz --discount 0.9".to_owned(),
            &["cut.csv.gz", "copy it again, or rename it"],
        ),
        (
            "evaluate . --discount 0.9".to_owned(),
            &["it is a directory; name its files, such as ./*.csv"],
        ),
        (
            "evaluate log.csv --discount 0,95".to_owned(),
            &["two discounts, 0 and 95", "write a decimal point"],
        ),
        (
            format!("evaluate log.csv {evaluate} --max-memory 8"),
            &["need about ", " bytes of memory, but the limit is 8 bytes"],
        ),
        (
            format!("evaluate log.csv {evaluate} --report page.pdf"),
            &["an HTML page, not page.pdf", "ends in .html"],
        ),
        (
            "evaluate dated.csv --discount 0.9".to_owned(),
            &["\"2024-05-01\" is not a number; write a date or time as one"],
        ),
        (
            "evaluate log.csv --discount 0.9 --features tiles(speed;bins=16777216)".to_owned(),
            &["\"tiles(speed;bins=16777216)\"", "fewer bins, or size=N"],
        ),
        (
            "predict model.json position.csv".to_owned(),
            &[
                "position.csv: no column is named speed",
                "--column obs=NAME",
            ],
        ),
    ] {
        let run = run_in(folder.path(), &words(&line));
        assert_refused(&run, 2, parts, &line);
        assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    }
}

#[test]
fn gamma_is_the_discount() {
    let log = format!("obs_0,obs_1,reward\n{}", numbers(40));
    let folder = folder([("log.csv", log.as_bytes())]);
    let value = |flag: &str| {
        let line = format!("evaluate log.csv {flag} 0.9 --json");
        json_in(folder.path(), &words(&line))["start_value"]["value"].clone()
    };
    assert!(value("--discount").is_number());
    assert_eq!(value("--gamma"), value("--discount"));
}

#[test]
fn the_range_of_a_discount_includes_1() {
    let run = run_in(
        folder([]).path(),
        &words("evaluate log.csv --discount 0.9,abc"),
    );
    assert_eq!(run.code, 2);
    let expected = "\"abc\" is not a number; a discount is from 0 to 1";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn skipped_rows_of_a_prediction_are_counted() {
    let log = format!("a,speed,reward\n{}", numbers(40));
    let folder = folder([
        ("log.csv", log.as_bytes()),
        ("new.csv", b"speed,key\n1,x\n?,y\n3,z\n".as_slice()),
    ]);
    let line = "evaluate log.csv --discount 0.9 --features standardise(speed)+bias --out m.json";
    assert_eq!(run_in(folder.path(), &words(line)).code, 0);
    let run = run_in(
        folder.path(),
        &words("predict m.json new.csv --skip-bad-rows 5 --keep key"),
    );
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "row,key,value,lower,upper");
    assert!(lines[1].starts_with("1,x,") && lines[2].starts_with("3,z,"));
    let expected = "1 bad row was skipped and has no value; the column row of the output";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(
        run.stderr.contains("new.csv: row 2 (line 3), column speed"),
        "{}",
        run.stderr
    );
}

/// Compression hides a table of many columns, whose equations take seconds and hundreds of megabytes, in a small file.
#[test]
fn few_bytes_do_not_hold_many_columns() {
    let names: Vec<String> = (0..2100).map(|k| format!("obs_{k}")).collect();
    let row = ["0"; 2101].join(",");
    let table = format!(
        "{},reward\n{}",
        names.join(","),
        format!("{row}\n").repeat(1100)
    );
    let log = gzip(table.as_bytes());
    let folder = folder([("log.csv.gz", log.as_slice())]);
    let run = run_in(folder.path(), &words("evaluate log.csv.gz --discount 0.9"));
    let bytes = format!("{} bytes", log.len());
    let parts = [
        "at most 2000 columns",
        &bytes,
        "these have 2100",
        "CSV without compression",
    ];
    assert_refused(&run, 2, &parts, "2,100 columns");
}

/// Three actions in four states; the new rule always takes one, `wrong` multiplies the propensities of action 1.
fn rule(episodes: usize, wrong: f64) -> String {
    let mut stream = Stream::new(5, 0);
    let mut text =
        String::from("episode,obs_0,action,reward,terminated,behaviour_prob,target_action\n");
    for episode in 0..episodes {
        let (mut state, mut ends) = (0, false);
        while !ends {
            let draw = stream.uniform();
            let (action, chance) = match draw {
                x if x < 0.2 => (0, 0.2),
                x if x < 0.5 => (1, 0.3),
                _ => (2, 0.5),
            };
            let chance = if action == 1 { wrong * chance } else { chance };
            ends = stream.uniform() < 0.2;
            let (flag, wanted) = (u8::from(ends), state % 3);
            writeln!(
                text,
                "{episode},{state},{action},{},{flag},{chance},{wanted}",
                state + action
            )
            .unwrap();
            state = (state + action + 1) % 4;
        }
    }
    text
}

#[test]
fn an_unknown_interval_has_a_reason_on_the_page_and_in_the_json() {
    let folder = folder([("log.csv", rule(300, 1.0).as_bytes())]);
    let line = "evaluate log.csv --discount 0.9 --features one-hot(column=0)";
    let page = run_in(folder.path(), &words(line));
    let text = words(&page.stdout).join(" ");
    let reason = "No interval of importance sampling, weighted importance sampling, doubly robust:";
    assert!(text.contains(reason), "{}", page.stdout);
    assert!(!text.contains("average"), "{}", page.stdout);
    let found = json_in(
        folder.path(),
        &words(&format!("{line} --json --report page.html")),
    );
    let estimates = found["off_policy"]["estimates"].as_array().unwrap();
    assert!(estimates[0]["upper"].is_number() && estimates[0]["reason"].is_null());
    for found in &estimates[1..3] {
        assert!(found["upper"].is_null() && found["weight_skewness"].as_f64().unwrap() > 0.5);
        assert!(found["reason"].as_str().unwrap().contains("so skewed"));
    }
    let html = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains(reason));
}

#[test]
fn wrong_propensities_are_a_finding_of_evaluate_and_inspect() {
    let folder = folder([("log.csv", rule(600, 0.5).as_bytes())]);
    let line = "evaluate log.csv --discount 0.9 --features one-hot(column=0) --json";
    for report in [
        json_in(folder.path(), &words(line)),
        json_in(
            folder.path(),
            &words("inspect log.csv --json --report page.html"),
        ),
    ] {
        let findings = report["findings"].as_array().unwrap();
        let found = findings
            .iter()
            .find(|found| found["kind"] == "wrong-propensities");
        let message = found.unwrap()["message"].as_str().unwrap();
        assert!(
            message.contains("ratios of action 1 average 2.") || message.contains("average 1.9"),
            "{message}"
        );
        assert!(message.contains("behaviour_prob"), "{message}");
    }
    let report = json_in(folder.path(), &words("inspect log.csv --json"));
    let policy = &report["policy"];
    assert_eq!(policy["target"], "actions");
    assert_eq!(policy["behaviour_prob"]["min"], 0.15);
    let rows: u64 = (policy["actions"].as_array().unwrap().iter())
        .map(|action| action["rows"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(rows), report["rows"].as_u64());
    let page = run_in(folder.path(), &words("inspect log.csv"));
    let text = words(&page.stdout).join(" ");
    for part in [
        "actions 3 (logged -> policy): 0: ",
        "behaviour_prob 0.15 to 0.5",
        "effective ",
    ] {
        assert!(text.contains(part), "{part}\n{}", page.stdout);
    }
    let html = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains("Actions and the policy") && html.contains("policy.actions.0.rows"));
}
