//! Requires that several discounts at once give the same bits as one by one.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write;
use std::fs;

use robust_td::logs::{DiscountsReport, EvaluationReport};
use robust_td::{Evaluation, evaluate};
use robust_td_core::random::Stream;

const DISCOUNTS: [f64; 3] = [0.5, 0.9, 0.99];

/// Episodes of users, of two columns; some end, some are cut.
fn log(folder: &tempfile::TempDir) -> String {
    let mut random = Stream::new(5, 0);
    let mut text = String::from("episode,user,x,y,reward,terminated\n");
    for episode in 0..300 {
        let (mut x, mut y) = (random.uniform(), random.uniform());
        for t in 0..20 {
            let ends = u8::from(t == 19 && episode % 3 > 0);
            let reward = x + y * y + random.uniform();
            writeln!(text, "{episode},{},{x},{y},{reward},{ends}", episode % 40).unwrap();
            x = 0.7 * x + 0.3 * random.uniform();
            y = 0.5 * y + 0.5 * random.uniform();
        }
    }
    let path = folder.path().join("log.csv");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The result as text, without how long it took.
fn text(mut report: EvaluationReport) -> String {
    report.seconds = 0.0;
    format!("{report:?}")
}

#[test]
fn each_is_the_result_of_its_own_evaluation_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(&folder);
    let start = || {
        let columns = robust_td::logs::ColumnMap::parse(["obs=x,y"]).unwrap();
        evaluate([&path]).columns(columns)
    };
    let settings: [fn(Evaluation) -> Evaluation; 5] = [
        |e| e,
        |e| e.features("fourier(order=3)").threads(1),
        |e| e.cluster("user").no_check().return_variance(),
        |e| e.features("tiles(tilings=8, bins=12)").horizon(4000),
        |e| e.compare_features(["bias", "standardise + bias", "standardise | polynomial"]),
    ];
    for set in settings {
        let fits = set(start()).run_each(&DISCOUNTS).unwrap();
        assert_eq!(fits.len(), 3);
        for (fit, discount) in fits.iter().zip(DISCOUNTS) {
            let alone = set(start()).discount(discount).run().unwrap();
            assert_eq!(fit.model().discount(), discount);
            assert_eq!(text(fit.report()), text(alone.report()));
            assert_eq!(
                fit.model().to_json().unwrap(),
                alone.model().to_json().unwrap()
            );
        }
        let report = DiscountsReport::of(&fits).unwrap();
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["discounts"][1]["discount"], 0.9);
        assert!(json["discounts"][2]["start_value"]["value"].is_number());
    }
}

#[test]
fn what_takes_one_discount_refuses_several() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(&folder);
    let start = || {
        let columns = robust_td::logs::ColumnMap::parse(["obs=x,y"]).unwrap();
        evaluate([&path]).columns(columns)
    };
    let refused = |e: Evaluation, discounts: &[f64]| e.run_each(discounts).unwrap_err().to_string();
    let model = start().discount(0.9).run().unwrap().into_model();
    for (message, expected) in [
        (refused(start(), &[]), "discount is required"),
        (refused(start(), &[0.9, 1.5]), "discount is 1.5"),
        (refused(start(), &[0.9, f64::NAN]), "discount is NaN"),
        (refused(start(), &[0.5; 65]), "at most 64"),
        (refused(start(), &[0.9, 1.0]), "below 1 for this log"),
        (refused(start().algorithm("alg1"), &[0.9, 0.5]), "auto"),
        (refused(start().resume(model), &[0.9, 0.5]), "0.9, 0.5"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}
