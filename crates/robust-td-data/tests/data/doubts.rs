//! Tests that an estimate which may be further off than its error says has no interval, and that the page says why.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use robust_td_data::{FindingKind, Fit, OffPolicyMethod};

use crate::off_policy::{by, csv, evaluated, fit, rows, truth};

const WITH_WEIGHTS: [OffPolicyMethod; 3] = [
    OffPolicyMethod::PerDecision,
    OffPolicyMethod::Weighted,
    OffPolicyMethod::DoublyRobust,
];

fn has(fit: &Fit, kind: FindingKind) -> bool {
    fit.findings().iter().any(|finding| finding.kind == kind)
}

/// Why none of the estimates with weights has an interval.
fn reasons(fit: &Fit) -> [String; 3] {
    WITH_WEIGHTS.map(|method| {
        let found = by(fit, method);
        assert!(
            found.lower.is_infinite() && found.upper.is_infinite(),
            "{found:?}"
        );
        found.reason.unwrap()
    })
}

/// A cost x^2 that linear features cannot express: x' = 0.8 x + 0.5 (action - 1/2) sign(x) + noise, so that action 0 keeps x small. Ends one time in four.
fn quadratic(episodes: usize, seed: u64) -> String {
    let mut stream = Stream::new(seed, 0);
    let mut text =
        String::from("episode,obs_0,action,reward,terminated,behaviour_prob,target_0,target_1\n");
    for episode in 0..episodes {
        let mut x = 2.0 * stream.uniform() - 1.0;
        loop {
            let action = usize::from(stream.uniform() < 0.5);
            let (cost, ends) = (-x * x, stream.uniform() < 0.25);
            writeln!(
                text,
                "{episode},{x},{action},{cost},{},0.5,0.8,0.2",
                u8::from(ends)
            )
            .unwrap();
            if ends {
                break;
            }
            x = 0.8 * x + (action as f64 - 0.5) * x.signum() + 0.2 * (stream.uniform() - 0.5);
        }
    }
    text
}

/// Importance sampling needs no features, and shows that linear ones do not fit.
#[test]
fn estimators_that_contradict_each_other_are_a_finding() {
    let text = quadratic(3000, 1);
    let linear = evaluated(&text, |evaluation| {
        evaluation.features("standardise + bias")
    });
    assert!(
        has(&linear, FindingKind::EstimatorsDiffer),
        "{:?}",
        linear.findings()
    );
    let start = linear.start_value().unwrap();
    assert!(
        start.lower.is_infinite() && start.upper.is_infinite(),
        "{start:?}"
    );
    let robust = by(&linear, OffPolicyMethod::DoublyRobust);
    assert!(robust.upper.is_finite(), "{robust:?}");
    let least = by(&linear, OffPolicyMethod::LeastSquares);
    assert_eq!(
        least.reason.as_deref(),
        Some("other estimators contradict it")
    );
    // With features that fit, they agree.
    let richer = evaluated(&text, |evaluation| {
        evaluation.features("tiles(tilings=4, bins=16, low=-2, high=2)")
    });
    assert!(
        !has(&richer, FindingKind::EstimatorsDiffer),
        "{:?}",
        richer.findings()
    );
    let found = richer.start_value().unwrap();
    assert!(
        robust.lower < found.value && found.value < robust.upper,
        "{found:?} {robust:?}"
    );
    // Chance alone is none.
    for seed in 0..40 {
        let fit = fit(&csv(&rows(300, 0.0, 300 + seed), true, 2));
        assert!(!has(&fit, FindingKind::EstimatorsDiffer), "{seed}");
    }
}

#[test]
fn episodes_that_were_cut_leave_importance_sampling_without_an_interval() {
    let fit = fit(&csv(&rows(400, 0.15, 5), true, 2));
    let [plain, weighted, robust] = reasons(&fit);
    assert!(plain.contains("were cut and are left out"), "{plain}");
    assert_eq!(plain, weighted);
    assert!(
        robust.contains("is what least squares predicts"),
        "{robust}"
    );
    // Least squares is right all the same.
    let (start, value) = (fit.start_value().unwrap(), truth(2));
    assert!(
        start.lower < value && value < start.upper,
        "{start:?} {value}"
    );
}

#[test]
fn weights_cannot_make_up_for_actions_that_the_log_lacks() {
    let mut rows = rows(500, 0.0, 6);
    rows.iter_mut()
        .filter(|row| row.state == 1 && row.action == 0)
        .for_each(|row| row.action = 1);
    for reason in reasons(&fit(&csv(&rows, true, 2))) {
        assert!(
            reason.contains("where the log has none like them"),
            "{reason}"
        );
    }
}

#[test]
fn wrong_propensities_leave_no_interval() {
    let text = csv(&rows(800, 0.0, 8), true, 2);
    let mut lines = text.lines();
    let mut wrong = format!("{}\n", lines.next().unwrap());
    for line in lines {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        let chance: f64 = cells[6].parse().unwrap();
        cells[6] = (0.6 * chance).to_string();
        wrong += &(cells.join(",") + "\n");
    }
    let fit = fit(&wrong);
    assert!(has(&fit, FindingKind::WrongPropensities));
    for reason in reasons(&fit) {
        assert!(reason.contains("do not average 1"), "{reason}");
    }
}

/// Columns such as target_mail need no option.
#[test]
fn targets_may_carry_the_names_of_actions() {
    let numbered = csv(&rows(200, 0.0, 9), true, 2);
    let mut named = numbered.clone();
    for (k, name) in ["none", "mail", "call"].into_iter().enumerate() {
        named = named.replacen(&format!("target_{k}"), &format!("target_{name}"), 2);
    }
    let (numbered, named) = (fit(&numbered), fit(&named));
    assert_eq!(
        named.off_policy().unwrap().actions,
        ["none", "mail", "call"]
    );
    assert_eq!(numbered.start_value(), named.start_value());
}

/// Two states, of which the second terminates one time in five; windows of four rows, with or without next observations.
fn windows(next_obs: bool) -> String {
    let mut stream = Stream::new(3, 0);
    let mut text = String::from(match next_obs {
        true => "episode,obs_0,reward,terminated,next_obs_0\n",
        false => "episode,obs_0,reward,terminated\n",
    });
    for episode in 0..400 {
        let mut state = u8::from(stream.uniform() < 0.5);
        for _ in 0..4 {
            let ends = state == 1 && stream.uniform() < 0.2;
            let next = u8::from(stream.uniform() < 0.5);
            write!(text, "{episode},{state},1,{}", u8::from(ends)).unwrap();
            text += &if next_obs {
                format!(",{next}\n")
            } else {
                "\n".into()
            };
            if ends {
                break;
            }
            state = next;
        }
    }
    text
}

#[test]
fn rows_left_out_because_of_a_cut_are_a_finding() {
    let one_hot = |next_obs: bool| fit(&windows(next_obs));
    let (whole, cut) = (one_hot(true), one_hot(false));
    // V(0) = 1 + gamma (V(0) + V(1)) / 2, V(1) = 1 + 0.8 gamma (V(0) + V(1)) / 2, with gamma = 0.9.
    let mean = 1.0 / (1.0 - 0.9 * 0.9);
    let start = whole.start_value().unwrap();
    assert!(start.lower < mean && mean < start.upper, "{start:?} {mean}");
    assert!(!has(&whole, FindingKind::CutRowsLeftOut));
    assert!(has(&cut, FindingKind::CutRowsLeftOut));
    let start = cut.start_value().unwrap();
    assert!(start.value < mean && start.upper.is_infinite(), "{start:?}");
}
