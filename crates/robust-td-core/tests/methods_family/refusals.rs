//! Checks that invalid inputs are rejected with the method, the parameter and the valid range.

use robust_td_core::registry;
use robust_td_core::registry::Setting;
use robust_td_core::{Chain, Matrix, Mixing, Problem, Reward};

use crate::common::ref_2;
use crate::walk::{family, mixing};

#[test]
fn values_out_of_range_are_refused_with_method_name_and_range() {
    let problem = ref_2();
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 1000);
    for id in family() {
        let method = registry::find(id).unwrap();
        for parameter in method.parameters {
            for value in [-1.0, f64::NAN, f64::INFINITY, 0.0] {
                let message = method
                    .prepare(&setting, &[(parameter.name, value)])
                    .expect_err(parameter.name)
                    .to_string();
                for part in [id, parameter.name, &parameter.range.words()] {
                    assert!(message.contains(part), "{message}");
                }
            }
        }
        let message = method.prepare(&setting, &[("nonsense", 1.0)]).unwrap_err();
        assert!(message.to_string().contains(id));
    }
}

#[test]
fn conditions_beyond_a_range_are_refused_too() {
    let problem = ref_2();
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 1000);
    let refusal = |id: &str, given: &[(&str, f64)]| {
        let method = registry::find(id).unwrap();
        method.prepare(&setting, given).unwrap_err().to_string()
    };
    // 1 / (2 omega' (1-gamma)) = 1.09 / (2 * 0.09 * 0.1).
    let message = refusal("bhandari-b", &[("step", 61.0)]);
    assert!(
        message.starts_with("bhandari-b: step is 61, but must be above 0 and below"),
        "{message}"
    );
    assert!(message.contains("60.5555"), "{message}");
    let message = refusal("lee26", &[("tau_mix", 0.5)]);
    assert_eq!(
        message,
        "lee26: tau_mix is 0.5, but must be finite and at least 1"
    );
    let message = refusal("patil-tail", &[("drop", 2.5)]);
    assert!(message.contains("a whole number"), "{message}");
}

#[test]
fn a_horizon_without_samples_is_refused() {
    let problem = ref_2();
    let mixing = mixing(&problem);
    for (id, horizon, least) in [
        ("bhandari-a", 0, 1),
        ("liu-olshevsky", 0, 1),
        ("samsonov", 2, 3),
        ("patil-tail", 0, 1),
        ("li-exp", 0, 1),
        ("td-const-certified", 0, 1),
    ] {
        let setting = Setting::of_problem(&problem, Some(&mixing), horizon);
        let refused = registry::find(id)
            .unwrap()
            .prepare::<&str>(&setting, &[])
            .unwrap_err();
        let expected = format!("{id}: horizon is {horizon}, but must be at least {least}");
        assert_eq!(refused.to_string(), expected);
    }
}

/// Without a model the methods name the inputs they need, and run when those are given.
#[test]
fn data_alone_must_bring_what_is_needed() {
    let setting = Setting {
        discount: 0.9,
        dimension: 3,
        horizon: 5000,
        phi_inf: 2.0,
        known: None,
    };
    type Given = &'static [(&'static str, f64)];
    let cases: [(&str, &str, Given); 8] = [
        ("bhandari-a", "radius", &[("radius", 5.0)]),
        ("bhandari-b", "step", &[("radius", 5.0), ("step", 0.1)]),
        ("bhandari-c", "omega", &[("radius", 5.0), ("omega", 0.1)]),
        ("liu-olshevsky", "radius", &[("radius", 5.0)]),
        ("patil-tail", "drop", &[("drop", 5.0)]),
        ("samsonov", "drop", &[("drop", 5.0)]),
        ("mitra", "step", &[("step", 0.1)]),
        ("lee26", "tau_mix", &[("tau_mix", 5.0)]),
    ];
    for (id, name, given) in cases {
        let method = registry::find(id).unwrap();
        let missing = method
            .prepare::<&str>(&setting, &[])
            .unwrap_err()
            .to_string();
        let expected = format!("{id} needs {name} (");
        assert!(missing.starts_with(&expected), "{missing}");
        let prepared = method.prepare(&setting, given).unwrap();
        assert!(!prepared.oracle() && prepared.guarantee.is_none(), "{id}");
    }
    for id in ["li-exp", "li-exp-reg", "lee26-mixfree"] {
        let method = registry::find(id).unwrap();
        assert!(!method.prepare::<&str>(&setting, &[]).unwrap().oracle());
    }
    for id in ["srikant-ying", "td-const-certified"] {
        let method = registry::find(id).unwrap();
        let refused = method
            .prepare::<&str>(&setting, &[])
            .unwrap_err()
            .to_string();
        assert!(refused.starts_with(&format!("{id} does not apply: it needs the exact problem")));
    }
}

/// A ring of states, each with its own feature.
fn tabular(states: usize) -> Problem {
    let p = Matrix::from_fn(states, states, |i, j| {
        if i == j || (i + 1) % states == j {
            0.5
        } else {
            0.0
        }
    });
    let chain = Chain::from_dense(&p).unwrap();
    let reward = Reward::PerTransition(Matrix::from_fn(states, states, |i, _| i as f64));
    Problem::new(chain, Matrix::identity(states), reward, 0.5, 0).unwrap()
}

#[test]
fn methods_that_cannot_run_say_why() {
    let large = tabular(101);
    let mixing = Mixing::of(large.chain()).unwrap().unwrap();
    let setting = Setting::of_problem(&large, Some(&mixing), 1000);
    let method = registry::find("srikant-ying").unwrap();
    let refused = method.prepare::<&str>(&setting, &[]).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("up to 100 features; the problem has 101")
    );
    // Mixing may be unknown even if the problem is known.
    let setting = Setting::of_problem(&large, None, 1000);
    for id in [
        "srikant-ying",
        "td-const-certified",
        "patil-tail",
        "samsonov",
        "mitra",
        "lee26",
    ] {
        let method = registry::find(id).unwrap();
        let refused = method.prepare::<&str>(&setting, &[]).unwrap_err();
        assert!(refused.to_string().contains("too many states"), "{refused}");
    }
}

#[test]
fn conditions_that_fail_are_noted() {
    let problem = ref_2();
    let mixing = mixing(&problem);
    let notes = |id: &str, horizon: u64, given: &[(&str, f64)]| {
        let setting = Setting::of_problem(&problem, Some(&mixing), horizon);
        let prepared = registry::find(id)
            .unwrap()
            .prepare(&setting, given)
            .unwrap();
        assert_eq!(prepared.guarantee, None, "{id}");
        prepared.notes.join("; ")
    };
    for (id, horizon, given, expected) in [
        (
            "bhandari-a",
            1000,
            &[("radius", 0.5)][..],
            "radius 0.5 is below |theta*|",
        ),
        (
            "bhandari-c",
            1000,
            &[("omega", 0.5)],
            "omega = 0.5 is above the true",
        ),
        (
            "patil-tail",
            30,
            &[],
            "1 updates: too few for a tail average",
        ),
        ("samsonov", 5, &[], "0 updates: too few for a tail average"),
        ("samsonov", 100, &[], "the theorem needs T >="),
        ("samsonov", 5000, &[("step", 0.1)], "step 0.1 is above"),
        ("mitra", 1000, &[("step", 0.1)], "step 0.1 is above"),
        ("lee26", 1000, &[], "c = 1 is not above 12485.68"),
        (
            "lee26",
            1000,
            &[("c", 2e4), ("tau_mix", 1.0)],
            "tau_mix = 1 is below",
        ),
        ("td-const-certified", 100, &[], "not certified: T >="),
    ] {
        let found = notes(id, horizon, given);
        assert!(found.contains(expected), "{id}: {found}");
    }
}
