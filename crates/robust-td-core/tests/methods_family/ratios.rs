//! Checks which methods weight samples by importance ratios.

use robust_td_core::catalog;
use robust_td_core::learner::{Features, Learner, Transition};
use robust_td_core::registry::Setting;
use robust_td_core::registry::{self, AnyLearner};

use crate::stream::bits;
use crate::walk::mixing;

/// The last iterate after a short cycle whose samples have the given ratios in turn.
fn theta(mut learner: AnyLearner, ratios: [f64; 2]) -> Vec<u64> {
    let table = [[0.6, 0.1], [0.2, 0.5], [0.3, 0.7]];
    for t in 0..30 {
        let (here, next) = (&table[t % 3], &table[(t + 1) % 3]);
        let step = Transition::new(Features::Dense(here), 1.0, Features::Dense(next));
        learner.step(&step.with_ratio(ratios[t % 2]));
    }
    bits(learner.theta())
}

#[test]
fn ratios_make_a_difference_to_the_methods_that_are_said_to_use_them() {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 30);
    let users: Vec<&str> = registry::with_ratios().map(|method| method.id).collect();
    let mut checked = Vec::new();
    for method in registry::METHODS {
        let Ok(prepared) = method.prepare::<&str>(&setting, &[]) else {
            continue;
        };
        let of = |ratios| theta(prepared.learner.clone(), ratios);
        let differs = of([1.0, 1.0]) != of([0.5, 1.5]);
        assert_eq!(differs, users.contains(&method.id), "{}", method.id);
        checked.push(method.id);
    }
    assert!(users.iter().all(|id| checked.contains(id)), "{checked:?}");
    assert!(checked.len() > 20, "{checked:?}");
}
