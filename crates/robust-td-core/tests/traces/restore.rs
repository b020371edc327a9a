//! Checks that methods saved and restored at random moments continue bit-identically.

use proptest::prelude::*;
use robust_td_core::learner::Learner;
use robust_td_core::registry::AnyLearner;
use serde_json::json;

use crate::samples::Recording;

/// The methods under test, with parameters.
const METHODS: [(&str, &[(&str, f64)]); 9] = [
    ("adatd", &[("radius", 2.0)]),
    ("adatd", &[("radius", 2.0), ("coordinatewise", 1.0)]),
    ("td-lambda", &[]),
    ("td-lambda", &[("lambda", 0.0)]),
    ("implicit-td", &[("lambda", 0.5)]),
    ("lstd", &[("lambda", 0.5)]),
    ("gtd2", &[]),
    ("tdc", &[]),
    ("etd", &[("lambda", 0.5)]),
];

fn through_json(learner: &AnyLearner) -> AnyLearner {
    serde_json::from_str(&serde_json::to_string(learner).unwrap()).unwrap()
}

fn through_postcard(learner: &AnyLearner) -> AnyLearner {
    postcard::from_bytes(&postcard::to_stdvec(learner).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn restored_methods_continue_to_the_same_bits(
        seed in any::<u64>(),
        moment in 0usize..100,
        surprise in prop::sample::select(vec![0.0, -0.0, 1e300, f64::INFINITY, f64::NAN]),
    ) {
        let mut recording = Recording::episodes(seed, 100, 2.0);
        recording.samples[40].reward += surprise;
        for (id, given) in METHODS {
            let mut learners = [(); 3].map(|()| recording.learner(id, given));
            for (n, sample) in recording.samples.iter().enumerate() {
                if n == moment {
                    learners[1] = through_json(&learners[1]);
                    learners[2] = through_postcard(&learners[2]);
                }
                for learner in &mut learners {
                    sample.with(n % 3 == 0, |transition| learner.step(transition));
                }
            }
            let [whole, json, postcard] = learners;
            let saved = postcard::to_stdvec(&whole).unwrap();
            for restored in [json, postcard] {
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&restored.output()), bits(&whole.output()));
                // The saved form covers the rest of the learner's state.
                prop_assert_eq!(&postcard::to_stdvec(&restored).unwrap(), &saved);
            }
        }
    }
}

#[test]
fn saved_methods_that_contradict_themselves_are_refused() {
    let recording = Recording::episodes(4, 30, 2.0);
    let d = recording.dimension;
    let short = json!(vec![0.0; d + 1]);
    for (id, place, value, complaint) in [
        ("td-lambda", "/trace/z", short.clone(), "the saved trace"),
        ("td-lambda", "/params/lambda", json!(1.5), "lambda is 1.5"),
        ("implicit-td", "/trace/z", short.clone(), "the saved trace"),
        ("implicit-td", "/params/step", json!(0.0), "step is 0"),
        ("etd", "/trace/z", short.clone(), "the saved trace"),
        ("etd", "/params/discount", json!(1.0), "discount is 1"),
        ("lstd", "/inverse", short.clone(), "the saved inverse"),
        ("lstd", "/skipped", json!(31), "31 of 30 samples skipped"),
        ("lstd", "/params/ridge", json!(0.0), "ridge is 0"),
        (
            "gtd2",
            "/state/w",
            short.clone(),
            "the saved second iterate",
        ),
        ("tdc", "/state/params/step_w", json!(-1.0), "step_w is -1"),
        ("adatd", "/momentum", short.clone(), "the saved momentum"),
        ("adatd", "/squares", short.clone(), "the saved squares"),
        ("adatd", "/sum", short, "the saved sum"),
        (
            "adatd",
            "/projections",
            json!(31),
            "31 projections in 30 steps",
        ),
        ("adatd", "/params/beta", json!(1.0), "beta is 1"),
    ] {
        let given: &[_] = if id == "adatd" {
            &[("radius", 2.0)]
        } else {
            &[]
        };
        let learner = recording.feed(recording.learner(id, given), false);
        let mut saved = serde_json::to_value(&learner).unwrap();
        let kind = saved.as_object().unwrap().keys().next().unwrap();
        let place = format!("/{kind}{place}");
        *saved
            .pointer_mut(&place)
            .unwrap_or_else(|| panic!("no {place}")) = value;
        let message = serde_json::from_value::<AnyLearner>(saved)
            .unwrap_err()
            .to_string();
        assert!(message.contains(complaint), "{place}: {message}");
    }
}
