//! Sets up the methods by name and checks what they record, reject and require.

use robust_td_core::Error;
use robust_td_core::learner::Learner;
use robust_td_core::registry;
use robust_td_core::registry::{Prepared, Setting, Source, Standing};

use crate::common::ref_2;

fn prepare(id: &str, given: &[(&str, f64)]) -> Result<Prepared, Error> {
    let problem = ref_2();
    let setting = Setting::of_problem(&problem, None, 1000);
    registry::find(id)?.prepare(&setting, given)
}

#[test]
fn values_out_of_range_are_refused_by_method_and_name() {
    for (id, name, value, range) in [
        ("swift-td", "lambda", 1.1, "between 0 and 1"),
        ("swift-td", "alpha_init", 0.0, "finite and above 0"),
        ("swift-td", "eta_max", -1.0, "finite and above 0"),
        ("swift-td", "eta_min", 0.0, "finite and above 0"),
        ("swift-td", "eta_min", 0.2, "at most eta_max = 0.1"),
        ("swift-td", "decay", 0.0, "above 0 and at most 1"),
        ("swift-td", "decay", 1.5, "between 0 and 1"),
        ("swift-td", "meta", f64::INFINITY, "finite and at least 0"),
        ("coin-betting", "eps", 0.0, "finite and above 0"),
        ("coin-betting", "h0", -0.25, "finite and above 0"),
        ("coin-betting", "coordinatewise", 0.5, "a whole number"),
        ("coin-betting", "coordinatewise", 2.0, "0 or 1"),
        ("dog", "r_eps", 0.0, "finite and above 0"),
        ("t-dog", "r_eps", f64::INFINITY, "finite and above 0"),
        ("t-dog", "delta", 1.0, "above 0 and below 1"),
        ("t-dog", "lg", 0.0, "finite and above 0"),
    ] {
        let message = prepare(id, &[(name, value)]).unwrap_err().to_string();
        assert_eq!(
            message,
            format!("{id}: {name} is {value}, but must be {range}")
        );
        assert!(prepare(id, &[(name, f64::NAN)]).is_err());
    }
    let message = prepare("dog", &[("lg", 1.0)]).unwrap_err().to_string();
    assert_eq!(message, "dog has no parameter \"lg\"; it takes r_eps");
}

#[test]
fn defaults_are_the_documented_ones() {
    for id in ["swift-td", "coin-betting", "dog", "t-dog"] {
        let prepared = prepare(id, &[]).unwrap();
        assert_eq!(prepared.learner.id(), id);
        assert_eq!(registry::find(id).unwrap().standing, Standing::Experimental);
        assert!(prepared.guarantee.is_none() && prepared.notes.is_empty());
        // Only t-dog takes an input that is not available in practice.
        assert_eq!(prepared.oracle(), id == "t-dog");
        for parameter in registry::find(id).unwrap().parameters {
            let used = prepared
                .inputs
                .iter()
                .find(|i| i.name == parameter.name)
                .unwrap();
            if used.source == Source::Known {
                assert_eq!(used.value, parameter.default.parse::<f64>().unwrap());
            }
        }
    }
}

/// |g| <= lg for all |theta| <= 3 |theta*|, where T-DoG's theorem keeps the iterates.
#[test]
fn the_bound_on_updates_of_t_dog() {
    let problem = ref_2();
    let prepared = prepare("t-dog", &[]).unwrap();
    let lg = prepared
        .inputs
        .iter()
        .find(|input| input.name == "lg")
        .unwrap();
    assert_eq!(lg.source, Source::Oracle);
    let expected = 1.044030650891055 * (1.0 + 1.9 * 1.044030650891055 * 3.0 * 1.7917578957241584);
    assert!((lg.value / expected - 1.0).abs() < 1e-12);
    let extreme: Vec<f64> = problem.theta_star().iter().map(|x| -3.0 * x).collect();
    assert!(problem.largest_update(&extreme) <= lg.value);

    let blind = Setting {
        known: None,
        ..Setting::of_problem(&problem, None, 1000)
    };
    let method = registry::find("t-dog").unwrap();
    let none: [(&str, f64); 0] = [];
    let message = method.prepare(&blind, &none).unwrap_err().to_string();
    assert!(message.starts_with("t-dog needs lg (bound on the norm of an update; "));
    assert!(!method.prepare(&blind, &[("lg", 3.0)]).unwrap().oracle());
}

#[test]
fn a_step_size_outside_its_bounds_is_reported() {
    let prepared = prepare("swift-td", &[("alpha_init", 0.5)]).unwrap();
    assert!(prepared.notes[0].starts_with("alpha_init = 0.5 is outside [eta_min, eta_max]"));
}

#[test]
fn methods_that_need_a_choice_do_not_apply_to_policy_evaluation() {
    for (id, needed) in [
        ("optimal-stopping", "a reward for stopping"),
        ("q-learning", "a choice of actions"),
    ] {
        let Err(Error::NotApplicable { method, why }) = prepare(id, &[]) else {
            panic!("{id} has nothing to choose from")
        };
        assert!(method == id && why.contains(needed));
    }
}
