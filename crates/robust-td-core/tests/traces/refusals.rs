//! Checks that methods reject invalid inputs and report the inputs they use.

use robust_td_core::learner::Learner;
use robust_td_core::registry;
use robust_td_core::registry::{Setting, Source};

use crate::common::ref_3;
use crate::samples::Recording;

fn refusal(id: &str, given: &[(&str, f64)]) -> String {
    let setting = Recording::of_problem(3, 10).setting();
    let prepared = registry::find(id).unwrap().prepare(&setting, given);
    prepared.unwrap_err().to_string()
}

#[test]
fn values_out_of_range_are_refused_with_method_name_and_range() {
    for id in ["td-lambda", "implicit-td", "lstd", "etd"] {
        for lambda in [1.5, -0.1, f64::NAN] {
            assert_eq!(
                refusal(id, &[("lambda", lambda)]),
                format!("{id}: lambda is {lambda}, but must be between 0 and 1")
            );
        }
    }
    for (id, name) in [
        ("adatd", "step"),
        ("adatd", "radius"),
        ("adatd", "delta"),
        ("td-lambda", "c"),
        ("implicit-td", "step"),
        ("lstd", "ridge"),
        ("gtd2", "step"),
        ("gtd2", "step_w"),
        ("tdc", "step"),
        ("tdc", "step_w"),
        ("etd", "step"),
    ] {
        for value in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(
                refusal(id, &[(name, value)]),
                format!("{id}: {name} is {value}, but must be finite and above 0")
            );
        }
    }
    assert_eq!(
        refusal("adatd", &[("radius", 1.0), ("beta", 1.0)]),
        "adatd: beta is 1, but must be at least 0 and below 1"
    );
    assert_eq!(
        refusal("adatd", &[("radius", 1.0), ("coordinatewise", 2.0)]),
        "adatd: coordinatewise is 2, but must be 0 or 1"
    );
    assert_eq!(
        refusal("gtd2", &[("lambda", 0.5)]),
        "gtd2 has no parameter \"lambda\"; it takes step, step_w"
    );
}

#[test]
fn a_radius_needs_a_model_or_a_user() {
    let message = refusal("adatd", &[]);
    assert!(message.starts_with("adatd needs radius (R, "), "{message}");
    let problem = ref_3();
    let setting = Setting::of_problem(&problem, None, 1000);
    let adatd = registry::find("adatd").unwrap();
    let prepared = adatd.prepare::<&str>(&setting, &[]).unwrap();
    assert!(prepared.oracle() && prepared.notes.is_empty());
    let prepared = adatd.prepare(&setting, &[("radius", 0.5)]).unwrap();
    assert!(!prepared.oracle());
    assert!(prepared.notes[0].contains("does not contain theta*"));
}

#[test]
fn the_other_methods_need_no_oracle() {
    let problem = ref_3();
    let setting = Setting::of_problem(&problem, None, 1000);
    for id in ["td-lambda", "implicit-td", "lstd", "gtd2", "tdc", "etd"] {
        let prepared = registry::find(id)
            .unwrap()
            .prepare::<&str>(&setting, &[])
            .unwrap();
        assert!(!prepared.oracle(), "{id}");
        assert!(
            prepared
                .inputs
                .iter()
                .any(|input| input.source == Source::Known)
        );
        assert_eq!(
            (prepared.learner.id(), prepared.learner.dimension()),
            (id, 2)
        );
        assert_eq!(prepared.guarantee, None);
    }
}

#[test]
fn another_target_is_said_with_its_cost() {
    let problem = ref_3();
    let setting = Setting::of_problem(&problem, None, 1000);
    for id in ["td-lambda", "implicit-td", "lstd", "etd"] {
        let method = registry::find(id).unwrap();
        let notes = |lambda| {
            method
                .prepare(&setting, &[("lambda", lambda)])
                .unwrap()
                .notes
        };
        assert!(
            notes(0.0)
                .iter()
                .all(|note| !note.contains("theta*_lambda"))
        );
        let expected = "the output approaches theta*_lambda, where f is ";
        assert!(
            notes(0.5).iter().any(|note| note.starts_with(expected)),
            "{id}"
        );
    }
}
