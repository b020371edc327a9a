//! Tests that `evaluate` and the learners of the library agree to the bit.

use robust_td_core::learner::{Alg1, Learner, alg1};
use serde_json::Value;

use crate::common::{folder, json_in};
use crate::log::{Columns, Log, words};

fn assert_same(found: &Value, learner: &dyn Learner, what: &str) {
    let bits = |value: &Value| -> Vec<u64> {
        let list = value.as_array().unwrap();
        list.iter().map(|x| x.as_f64().unwrap().to_bits()).collect()
    };
    let of = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(found["algorithm"], learner.id(), "{what}");
    assert_eq!(found["steps"], learner.steps(), "{what}");
    assert_eq!(found["updates"], learner.updates(), "{what}");
    assert_eq!(bits(&found["theta"]), of(learner.theta()), "{what}");
    assert_eq!(bits(&found["theta_bar"]), of(&learner.output()), "{what}");
    let largest = learner.health().max_theta_norm_sq;
    assert_eq!(found["max_theta_norm_sq"], largest, "{what}");
}

#[test]
fn a_learner_in_memory_ends_with_the_same_bits() {
    let log = Log::episodic("boyan", 600, 17);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let cases: [(&str, &[(&str, f64)]); 12] = [
        ("alg1", &[("c", 0.1)]),
        ("alg1-const", &[("c", 0.2)]),
        (
            "alg1-doubling",
            &[("c", 0.1), ("t0", 16.0), ("factor", 3.0)],
        ),
        ("bhandari-a", &[("radius", 0.5)]),
        ("td-lambda", &[("c", 0.1), ("lambda", 0.7)]),
        ("implicit-td", &[("step", 0.5), ("lambda", 0.5)]),
        ("lstd", &[("ridge", 0.01), ("lambda", 0.4)]),
        ("swift-td", &[]),
        ("patil-tail", &[("drop", 3.0)]),
        ("gtd2", &[("step", 0.05), ("step_w", 0.1)]),
        ("etd", &[("step", 0.01), ("lambda", 0.3)]),
        ("coin-betting", &[]),
    ];
    for (id, given) in cases {
        let mut learner = log.learner(id, given, 600);
        log.feed(&mut learner);
        let parameters: String = (given.iter())
            .map(|(key, value)| format!(" --param {key}={value}"))
            .collect();
        let line = format!("evaluate log.csv --discount 0.9 --algorithm {id}{parameters} --json");
        let found = json_in(folder.path(), &words(&line));
        assert_eq!(found["phi_inf"], log.phi_inf());
        assert_same(&found, &learner, id);
    }
}

#[test]
fn algorithm_1_is_that_of_its_own_constructor() {
    let log = Log::continuing("ref-3", 400, 4);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let params = alg1::Alg1Params::decaying(0.9, 400, 0.3, 2.5);
    let mut learner = Alg1::new(params, 2).unwrap().into();
    log.feed(&mut learner);
    let line = "evaluate log.csv --discount 0.9 --c 0.3 --phi-inf 2.5 --json";
    assert_same(&json_in(folder.path(), &words(line)), &learner, "alg1");
}

#[test]
fn a_shorter_horizon_uses_the_first_transitions() {
    let log = Log::episodic("ref-3", 300, 9);
    let short = Log::episodic("ref-3", 120, 9);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let mut learner = short.learner("alg1", &[("c", 0.1)], 120);
    short.feed(&mut learner);
    let line = "evaluate log.csv --discount 0.9 --c 0.1 --horizon 120 --json";
    assert_eq!(short.phi_inf(), log.phi_inf());
    assert_same(&json_in(folder.path(), &words(line)), &learner, "horizon");
}

#[test]
fn two_passes_feed_the_log_twice_with_a_restart() {
    let log = Log::continuing("ref-3", 200, 6);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    for id in ["alg1", "td-lambda"] {
        let mut learner = log.learner(id, &[("c", 0.1)], 400);
        log.feed(&mut learner);
        log.feed(&mut learner);
        let line =
            format!("evaluate log.csv --discount 0.9 --algorithm {id} --c 0.1 --passes 2 --json");
        assert_same(&json_in(folder.path(), &words(&line)), &learner, id);
    }
}
