//! Tests logs that enter states which no row of them leaves.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use robust_td_data::{Doubt, FindingKind, Fit, Verdict};

use super::log::{Folder, interval};

/// Windows of four rows over a column that grows, with rewards of 1 for ever and uniform noise of this width: with discount 0.9 every value
/// is 10. Of `windows`, this many reach the state 9, where the others return to 0. There are several such columns of states.
fn growing(windows: usize, enter: usize, noise: f64, columns: usize) -> String {
    let mut text = String::from("episode,obs_0,next_obs_0,reward,truncated\n");
    let mut stream = Stream::new(5, 0);
    for window in 0..windows {
        let first = 10 * (window % columns);
        for state in 0..4 {
            let reward = 1.0 + noise * (stream.uniform() - 0.5);
            let next = match state {
                3 if window < enter => 9,
                3 => 0,
                _ => state + 1,
            };
            let (cut, state, next) = (u8::from(state == 3), first + state, first + next);
            writeln!(text, "{window},{state},{next},{reward},{cut}").unwrap();
        }
    }
    text
}

fn fit(text: &str, spec: &str) -> Fit {
    let folder = Folder::new();
    folder.evaluation(text).features(spec).run().unwrap()
}

fn reason(fit: &Fit) -> Option<String> {
    let mut findings = fit.findings().into_iter();
    let found = findings.find(|found| found.kind == FindingKind::IntervalsUnknown)?;
    Some(found.message)
}

#[test]
fn values_that_rest_on_them_are_not_known() {
    // Directly with dense sums, and with sparse ones.
    for columns in [1, 250] {
        let fit = fit(&growing(4000, 4000, 0.2, columns), "one-hot");
        let start = fit.start_value().unwrap();
        // 1 + 0.9 + 0.81 + 0.729: state 9 counts as 0.
        assert!((start.value - 3.439).abs() < 0.05, "{columns}: {start:?}");
        assert_eq!(
            [start.lower, start.upper],
            [f64::NEG_INFINITY, f64::INFINITY]
        );
        assert_eq!(interval(&fit, &[2.0]), [f64::NEG_INFINITY, f64::INFINITY]);
        let reason = reason(&fit).unwrap();
        assert!(reason.contains("whose features no row has"), "{reason}");
        let check = fit.check().unwrap();
        assert_eq!(check.doubt, Some(Doubt::NewStates));
        assert_eq!(check.verdict(), Verdict::Unknown);
        assert_eq!(fit.report().features_fit, Some("not known"));
    }
}

#[test]
fn a_few_such_transitions_do_not_matter() {
    let many = fit(&growing(4000, 0, 10.0, 1), "one-hot");
    let start = many.start_value().unwrap();
    assert!(start.lower < 10.0 && 10.0 < start.upper, "{start:?}");
    // One of 16,000 transitions: the value is off by little of the width of the interval.
    let one = fit(&growing(4000, 1, 10.0, 1), "one-hot");
    let start = one.start_value().unwrap();
    assert!(start.lower < 10.0 && 10.0 < start.upper, "{start:?}");
    assert_eq!((reason(&one), one.check().unwrap().doubt), (None, None));
}

/// Features that states share give new states a value.
#[test]
fn shared_features_leave_no_doubt() {
    let fit = fit(&growing(200, 200, 0.2, 1), "standardise + bias");
    let start = fit.start_value().unwrap();
    assert!(start.lower < 10.0 && 10.0 < start.upper, "{start:?}");
    assert_eq!(reason(&fit), None);
}
