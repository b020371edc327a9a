//! Checks that learners saved and restored at random moments continue bit-identically.

use proptest::prelude::*;
use robust_td_core::learner::{Learner, optimal_stopping, q_learning};
use robust_td_core::registry::Setting;
use robust_td_core::registry::{self, AnyLearner};

use crate::stream::{Stream, bits};

/// One learner of each kind.
pub fn learners(stream: &Stream) -> Vec<AnyLearner> {
    let setting = Setting {
        discount: stream.discount,
        dimension: stream.dimension,
        horizon: stream.horizon(),
        phi_inf: stream.phi_inf,
        known: None,
    };
    let cases: [(&str, &[(&str, f64)]); 5] = [
        ("swift-td", &[("meta", 0.01), ("alpha_init", 0.05)]),
        ("coin-betting", &[]),
        ("coin-betting", &[("coordinatewise", 1.0), ("eps", 0.5)]),
        ("dog", &[]),
        ("t-dog", &[("lg", 2.0)]),
    ];
    let mut learners: Vec<AnyLearner> = cases
        .iter()
        .map(|(id, given)| {
            let method = registry::find(id).unwrap();
            method.prepare(&setting, given).unwrap().learner
        })
        .collect();
    let Stream {
        discount, phi_inf, ..
    } = *stream;
    for make in [optimal_stopping::learner, q_learning::learner] {
        let learner = make(discount, stream.horizon(), 0.3, phi_inf, stream.dimension);
        learners.push(learner.unwrap().into());
    }
    learners
}

proptest! {
    #[test]
    fn restored_learners_continue_to_the_same_bits(
        mut stream in Stream::any(100),
        moments in prop::collection::vec(0usize..100, 1..4),
        surprise in prop::sample::select(vec![0.0, -0.0, 1e300, f64::INFINITY, f64::NAN]),
    ) {
        if let Some(sample) = stream.samples.get_mut(40) {
            sample.reward += surprise;
        }
        for fresh in learners(&stream) {
            let mut whole = fresh.clone();
            let (mut through_json, mut through_postcard) = (fresh.clone(), fresh);
            for (n, sample) in stream.samples.iter().enumerate() {
                if moments.contains(&n) {
                    let text = serde_json::to_string(&through_json).unwrap();
                    through_json = serde_json::from_str(&text).unwrap();
                    let bytes = postcard::to_stdvec(&through_postcard).unwrap();
                    through_postcard = postcard::from_bytes(&bytes).unwrap();
                }
                for learner in [&mut whole, &mut through_json, &mut through_postcard] {
                    if n % 50 < 5 {
                        sample.feed(learner);
                    } else {
                        sample.feed_sparse(learner);
                    }
                }
            }
            for restored in [&through_json, &through_postcard] {
                prop_assert_eq!(bits(restored.theta()), bits(whole.theta()));
                prop_assert_eq!(bits(&restored.output()), bits(&whole.output()));
                prop_assert_eq!(restored.id(), whole.id());
                // The saved form covers the rest of the learner's state.
                prop_assert_eq!(
                    postcard::to_stdvec(restored).unwrap(),
                    postcard::to_stdvec(&whole).unwrap()
                );
            }
        }
    }
}

#[test]
fn saved_learners_that_contradict_themselves_are_refused() {
    let stream = Stream::random(3, 0.9, 25, 5);
    let learners = learners(&stream);
    let kind = |id: &str| learners.iter().find(|learner| learner.id() == id).unwrap();
    for (id, place, value, complaint) in [
        (
            "swift-td",
            "/swift-td/memory",
            "[]",
            "the saved memory has 0 entries, but needs 3",
        ),
        ("swift-td", "/swift-td/params/decay", "0.0", "decay is 0"),
        (
            "swift-td",
            "/swift-td/params/eta_min",
            "0.5",
            "eta_min is 0.5",
        ),
        (
            "swift-td",
            "/swift-td/params/lambda",
            "1.5",
            "lambda is 1.5",
        ),
        (
            "coin-betting",
            "/coin-betting/bettors",
            "[]",
            "the saved bettors has 0 entries, but needs 1",
        ),
        (
            "coin-betting",
            "/coin-betting/direction",
            "[1.0]",
            "the saved direction has 1",
        ),
        (
            "coin-betting",
            "/coin-betting/sum",
            "[1.0]",
            "the saved sum has 1",
        ),
        ("coin-betting", "/coin-betting/params/h0", "0.0", "h0 is 0"),
        ("dog", "/dog/distance", "1e-9", "below r_eps"),
        ("dog", "/dog/params/discount", "1.0", "discount is 1"),
        ("t-dog", "/dog/params/taming/delta", "1.0", "delta is 1"),
        ("t-dog", "/dog/params/taming/horizon", "0", "horizon is 0"),
        (
            "optimal-stopping",
            "/td0/recipe/id",
            "\"other\"",
            "unknown algorithm",
        ),
        ("q-learning", "/td0/recipe/discount", "1.0", "discount is 1"),
    ] {
        let mut saved = serde_json::to_value(kind(id)).unwrap();
        *saved
            .pointer_mut(place)
            .unwrap_or_else(|| panic!("no {place}")) = serde_json::from_str(value).unwrap();
        let message = serde_json::from_value::<AnyLearner>(saved)
            .unwrap_err()
            .to_string();
        assert!(message.contains(complaint), "{place}: {message}");
    }
}
