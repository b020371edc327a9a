//! Checks that every method saved and restored in the middle of a run continues bit-identically.

use proptest::prelude::*;
use robust_td_core::catalog;
use robust_td_core::learner::Learner;
use robust_td_core::registry::Setting;
use robust_td_core::registry::{self, AnyLearner};
use serde_json::{Value, json};

use crate::stream::{Sample, bits};
use crate::walk::{mixing, samples, sparse_problem};

/// Every learner that can be set up for a problem without explicit parameters.
fn learners(problem: &robust_td_core::Problem, horizon: u64) -> Vec<AnyLearner> {
    let mixing = mixing(problem);
    let setting = Setting::of_problem(problem, Some(&mixing), horizon);
    registry::METHODS
        .iter()
        .filter_map(|method| method.prepare::<&str>(&setting, &[]).ok())
        .map(|prepared| prepared.learner)
        .collect()
}

fn check_interrupted(fresh: &AnyLearner, samples: &[Sample], moments: &[usize]) {
    let (mut whole, mut json, mut binary) = (fresh.clone(), fresh.clone(), fresh.clone());
    for (n, sample) in samples.iter().enumerate() {
        if moments.contains(&n) {
            json = serde_json::from_str(&serde_json::to_string(&json).unwrap()).unwrap();
            binary = postcard::from_bytes(&postcard::to_stdvec(&binary).unwrap()).unwrap();
        }
        for learner in [&mut whole, &mut json, &mut binary] {
            if n % 20 < 5 {
                sample.feed(learner);
            } else {
                sample.feed_sparse(learner);
            }
        }
    }
    for restored in [&json, &binary] {
        let id = whole.id();
        assert_eq!(restored.id(), id);
        assert_eq!(bits(restored.theta()), bits(whole.theta()), "{id}");
        assert_eq!(bits(&restored.output()), bits(&whole.output()), "{id}");
        assert_eq!(
            restored.value_offset().to_bits(),
            whole.value_offset().to_bits(),
            "{id}"
        );
        assert_eq!(
            (restored.steps(), restored.updates(), restored.projections()),
            (whole.steps(), whole.updates(), whole.projections())
        );
        // The saved form covers the rest of the learner's state.
        assert_eq!(
            postcard::to_stdvec(restored).unwrap(),
            postcard::to_stdvec(&whole).unwrap(),
            "{id}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_method_continues_to_the_same_bits(
        seed in any::<u64>(),
        moments in prop::collection::vec(0usize..150, 1..4),
        surprise in prop::sample::select(vec![0.0, 1e300, f64::INFINITY, f64::NAN]),
    ) {
        let problem = sparse_problem(seed);
        let mut samples = samples(&problem, 150, seed);
        samples[90].reward += surprise;
        for learner in learners(&problem, 150) {
            check_interrupted(&learner, &samples, &moments);
        }
    }
}

/// The reference problems cover every method.
#[test]
fn every_method_of_the_list_runs_on_a_reference_problem() {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let samples = samples(&problem, 300, 1);
    let learners = learners(&problem, 300);
    let mut ids: Vec<&str> = learners.iter().map(Learner::id).collect();
    for learner in &learners {
        check_interrupted(learner, &samples, &[0, 100, 299]);
    }
    ids.dedup();
    for id in crate::walk::family() {
        assert!(ids.contains(&id), "{id}");
    }
}

#[test]
fn saved_learners_that_contradict_themselves_are_refused() {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 100);
    let saved = |id: &str| {
        let method = registry::find(id).unwrap();
        let mut learner = method.prepare::<&str>(&setting, &[]).unwrap().learner;
        for sample in samples(&problem, 60, 3) {
            sample.feed(&mut learner);
        }
        serde_json::to_value(learner).unwrap()
    };
    for (id, place, value, complaint) in [
        ("patil-reg", "/td0/updates", json!(59), "59 updates"),
        ("mitra", "/td0/projections", json!(61), "61 projections"),
        ("mitra", "/td0/recipe/discount", json!(1.0), "discount is 1"),
        (
            "mitra",
            "/td0/recipe/id",
            json!("other"),
            "unknown algorithm",
        ),
        (
            "mitra",
            "/td0/recipe/regulariser",
            json!(-1.0),
            "regulariser is -1",
        ),
        (
            "bhandari-a",
            "/td0/recipe/radius",
            json!(0.0),
            "radius is 0",
        ),
        (
            "samsonov",
            "/td0/recipe/samples",
            json!({"last-of": 0}),
            "drop is 0",
        ),
        (
            "samsonov",
            "/td0/average/moves",
            json!([1.0]),
            "the saved average has 1",
        ),
        (
            "samsonov",
            "/td0/younger/moves",
            json!([1.0]),
            "the saved average has 1",
        ),
        (
            "liu-olshevsky",
            "/mean-adjusted/feature_sum",
            json!([1.0]),
            "the saved sum of features has 1",
        ),
    ] {
        let mut saved: Value = saved(id);
        let target = saved.pointer_mut(place);
        *target.unwrap_or_else(|| panic!("no {place}")) = value;
        let refused = serde_json::from_value::<AnyLearner>(saved).unwrap_err();
        assert!(
            refused.to_string().contains(complaint),
            "{place}: {refused}"
        );
    }
}
