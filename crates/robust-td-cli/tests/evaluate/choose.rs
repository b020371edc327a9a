//! Tests `--features auto`, several discounts and `--return-variance` on the command line.

use std::fs;

use robust_td_core::random::Stream;

use crate::common::{folder, json_in, run_in};
use crate::log::{Columns, Log, words};

#[test]
fn the_table_of_maps_is_on_the_page_in_the_json_and_in_the_report() {
    let folder = folder([]);
    Log::episodic("boyan", 3000, 5).write(folder.path(), "log.csv", Columns::All);
    let line =
        "evaluate log.csv --discount 0.9 --features auto --features identity --return-variance";
    let page = run_in(folder.path(), &words(line)).stdout;
    for expected in [
        "features chosen",
        "Which features? Predictions of held-out returns",
        "standardise + bias",
        "left out: fewer than 5 transitions per feature",
        "do not include the choice",
        "return varies by",
    ] {
        // Lines are broken anywhere.
        let one_line = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line.contains(expected), "{expected} in {page}");
    }
    let line = format!("{line} --report page.html --json");
    let json = json_in(folder.path(), &words(&line));
    let choice = &json["feature_choice"];
    assert_eq!(choice["chosen"], json["features"]);
    let candidates = choice["candidates"].as_array().unwrap();
    let chosen: Vec<_> = candidates.iter().filter(|c| c["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0]["features"], choice["chosen"]);
    // The smallest error comes first; nothing chosen is simpler than needed or worse than a standard error.
    assert_eq!(candidates[0]["difference"], 0.0);
    assert!(chosen[0]["difference"].as_f64() <= chosen[0]["stderr"].as_f64().or(Some(0.0)));
    assert!(candidates.iter().any(|c| c["left_out"].is_string()));
    assert!(json["return_variance"]["standard_deviation"].as_f64() > Some(0.0));
    let html = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains("Which features?") && html.contains("feature_choice.candidates.0.error"));
    assert!(html.contains("return_variance.standard_deviation"));
}

#[test]
fn several_discounts_are_a_table() {
    let folder = folder([]);
    Log::episodic("boyan", 3000, 5).write(folder.path(), "log.csv", Columns::All);
    let line = "evaluate log.csv --discount 0.5,0.9 --features identity";
    let page = run_in(folder.path(), &words(line)).stdout;
    assert!(page.contains("Value of the policy by discount"), "{page}");
    let json = json_in(folder.path(), &words(&format!("{line} --json")));
    for (k, discount) in [0.5, 0.9].into_iter().enumerate() {
        let line = format!("evaluate log.csv --discount {discount} --features identity --json");
        let mut alone = json_in(folder.path(), &words(&line));
        let mut found = json["discounts"][k].clone();
        assert_eq!(found["discount"], discount);
        for json in [&mut alone, &mut found] {
            json["seconds"] = 0.0.into();
        }
        assert_eq!(found, alone);
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder([]);
    let log = Log::episodic("boyan", 1000, 5);
    log.write(folder.path(), "log.csv", Columns::All);
    fs::write(
        folder.path().join("one.csv"),
        "obs_0,reward,rho\n1,2,1\n2,3,1\n1,2,1\n",
    )
    .unwrap();
    for (line, expected) in [
        (
            "log.csv --discount 0.9,0.99 --out model.json",
            "--out takes one --discount",
        ),
        (
            "log.csv --discount 0.9,0.99 --report page.html",
            "--report takes one --discount",
        ),
        ("log.csv --discount 0.9,2", "2"),
        (
            "log.csv --discount 0.9,0.5 --algorithm alg1",
            "--discount is 0.9, 0.5, but must be one value",
        ),
        (
            "log.csv --discount 0.9 --features auto --algorithm alg1",
            "--features is auto, but must be one map",
        ),
        (
            "log.csv --discount 0.9 --features auto --features fourrier",
            "unknown map \"fourrier\"",
        ),
        (
            "log.csv --discount 0.9 --return-variance --algorithm alg1",
            "--return-variance needs --algorithm auto",
        ),
        ("one.csv --discount 0.9 --features auto", "logging policy"),
        (
            "- --format csv --discount 0.9 --features auto",
            "--features: the log must be read again",
        ),
        (
            "- --format csv --discount 0.9,0.8",
            "--discount: the log must be read again",
        ),
    ] {
        let run = run_in(folder.path(), &words(&format!("evaluate {line}")));
        assert_eq!(run.code, 2, "{line}");
        assert!(run.stderr.contains(expected), "{line}: {}", run.stderr);
    }
}

#[test]
fn text_is_part_of_every_map_of_auto() {
    // Cities drawn independently, with a reward of their own: the value is linear in their indicators, whatever x is.
    let mut stream = Stream::new(3, 0);
    let mut log = String::from("episode,city,x,reward,terminated\n");
    for row in 0..3000 {
        let city = (3.0 * stream.uniform()) as usize;
        let (x, noise) = (stream.uniform(), stream.uniform());
        let (name, reward) = [("Bern", 1.0), ("Oslo", -1.0), ("Rome", 4.0)][city];
        let (episode, end) = (row / 10, u8::from(row % 10 == 9));
        log += &format!("{episode},{name},{x},{},{end}\n", reward + noise);
    }
    let folder = folder([("log.csv", log.as_bytes())]);
    let line = "evaluate log.csv --discount 0.5 --column obs=city,x --features auto --json";
    let json = json_in(folder.path(), &words(line));
    assert_eq!(json["features"], "one-hot(city) + bias");
    let candidates = json["feature_choice"]["candidates"].as_array().unwrap();
    assert!(candidates.len() > 5);
    for candidate in candidates {
        let spec = candidate["features"].as_str().unwrap();
        assert!(spec.contains("one-hot(city)"), "{spec}");
        assert!(
            !candidate["left_out"]
                .as_str()
                .unwrap_or("")
                .contains("text")
        );
    }
}
