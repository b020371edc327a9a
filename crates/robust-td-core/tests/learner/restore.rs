//! Checks that learners saved and restored at random moments continue bit-identically.

use proptest::prelude::*;
use robust_td_core::learner::{Alg1, Doubling, Learner, alg1, doubling};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::stream::{Stream, bits};

/// Saves and restores one of two equal learners after each of the given numbers of samples.
fn check_interrupted<L>(fresh: &L, stream: &Stream, moments: &[usize])
where
    L: Learner + Clone + Serialize + DeserializeOwned,
{
    let mut whole = fresh.clone();
    let mut through_json = fresh.clone();
    let mut through_postcard = fresh.clone();
    for (n, sample) in stream.samples.iter().enumerate() {
        if moments.contains(&n) {
            let text = serde_json::to_string(&through_json).unwrap();
            through_json = serde_json::from_str(&text).unwrap();
            let bytes = postcard::to_stdvec(&through_postcard).unwrap();
            through_postcard = postcard::from_bytes(&bytes).unwrap();
        }
        for learner in [&mut whole, &mut through_json, &mut through_postcard] {
            if n % 50 < 5 {
                sample.feed(learner)
            } else {
                sample.feed_sparse(learner)
            }
        }
    }
    for restored in [&through_json, &through_postcard] {
        assert_eq!(bits(restored.theta()), bits(whole.theta()));
        assert_eq!(bits(&restored.output()), bits(&whole.output()));
        assert_eq!(
            (restored.steps(), restored.health()),
            (whole.steps(), whole.health())
        );
        // The saved form covers the rest of the learner's state.
        assert_eq!(
            postcard::to_stdvec(restored).unwrap(),
            postcard::to_stdvec(&whole).unwrap()
        );
    }
}

proptest! {
    #[test]
    fn restored_learners_continue_to_the_same_bits(
        mut stream in Stream::any(150),
        log_c in -4.0..2.0_f64,
        moments in prop::collection::vec(0usize..150, 1..4),
        factor in 1.05..3.0,
        surprise in prop::sample::select(vec![0.0, -0.0, 1e300, f64::INFINITY, f64::NAN, -f64::NAN]),
    ) {
        if let Some(sample) = stream.samples.get_mut(40) {
            sample.reward += surprise;
        }
        let c = 10f64.powf(log_c);
        let (discount, phi_inf, d) = (stream.discount, stream.phi_inf, stream.dimension);
        for params in [
            alg1::Alg1Params::decaying(discount, stream.horizon(), c, phi_inf),
            alg1::Alg1Params::constant(discount, stream.horizon(), c, phi_inf),
        ] {
            let learner = Alg1::new(params, d).unwrap();
            check_interrupted(&learner, &stream, &moments);
        }
        let params = doubling::DoublingParams { t0: 10, factor, ..doubling::DoublingParams::new(discount, c, phi_inf) };
        check_interrupted(&Doubling::new(params, d).unwrap(), &stream, &moments);
    }
}

/// Restores a learner from JSON with one changed value; returns the error message, if any.
fn refusal<L: Serialize + DeserializeOwned>(
    learner: &L,
    place: &str,
    value: Value,
) -> Option<String> {
    let mut saved = serde_json::to_value(learner).unwrap();
    *saved
        .pointer_mut(place)
        .unwrap_or_else(|| panic!("no {place}")) = value;
    serde_json::from_value::<L>(saved)
        .err()
        .map(|error| error.to_string())
}

#[test]
fn saved_learners_that_contradict_themselves_are_refused() {
    let stream = Stream::random(3, 0.9, 25, 5);
    let params = alg1::Alg1Params::decaying(0.9, 25, 1.0, 1.0);
    let mut learner = Alg1::new(params, 3).unwrap();
    stream
        .samples
        .iter()
        .for_each(|sample| sample.feed(&mut learner));

    for (place, value, complaint) in [
        (
            "/state/iterate/theta",
            json!([1.0, 2.0]),
            "the saved average has 3 entries, but needs 2",
        ),
        (
            "/state/average/moves",
            json!([1.0]),
            "the saved average has 1 entry, but needs 3",
        ),
        ("/state/iterate/theta", json!([]), "dimension is 0"),
        (
            "/state/iterate/corrections",
            json!(3),
            "3 corrections in dimension 3",
        ),
        (
            "/state/iterate/health/diverged_at",
            json!(26),
            "after 25 steps",
        ),
        ("/state/average/total", json!(-1.0), "total is -1"),
        (
            "/state/average/total",
            json!("nan:7ff8000000000000"),
            "total is NaN",
        ),
        ("/params/c", json!(0.0), "c is 0"),
        ("/params/horizon", json!(2), "horizon is 2"),
        ("/params/discount", json!(1.0), "discount is 1"),
        ("/params/variant", json!("other"), "unknown variant"),
        ("/params", json!({ "discount": 0.9 }), "missing field"),
        (
            "/state/iterate/theta",
            json!([1.0, 2.0, "many"]),
            "expected a number",
        ),
    ] {
        let message = refusal(&learner, place, value).expect(place);
        assert!(message.contains(complaint), "{place}: {message}");
    }
    let theta = json!([1.0, "-inf", "nan:fff8000000000001"]);
    assert_eq!(refusal(&learner, "/state/iterate/theta", theta), None);

    let params = doubling::DoublingParams {
        t0: 10,
        ..doubling::DoublingParams::new(0.9, 1.0, 1.0)
    };
    let mut learner = Doubling::new(params, 3).unwrap();
    stream
        .samples
        .iter()
        .for_each(|sample| sample.feed(&mut learner));
    for (place, value, complaint) in [
        (
            "/completed",
            json!([0.0]),
            "the saved completed phase has 1 entry, but needs 3",
        ),
        ("/params/factor", json!(1.0), "factor is 1"),
        ("/params/t0", json!(0), "t0 is 0"),
    ] {
        let message = refusal(&learner, place, value).expect(place);
        assert!(message.contains(complaint), "{place}: {message}");
    }
}

#[test]
fn a_saved_learner_is_not_mistaken_for_another() {
    let params = alg1::Alg1Params::constant(0.9, 25, 1.0, 1.0);
    let saved = serde_json::to_string(&Alg1::new(params, 3).unwrap()).unwrap();
    assert!(serde_json::from_str::<Doubling>(&saved).is_err());
    assert_eq!(
        serde_json::from_str::<Alg1>(&saved).unwrap().id(),
        "alg1-const"
    );
}
