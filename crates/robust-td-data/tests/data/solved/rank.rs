//! Tests features that are not independent, or not seen.

use robust_td_data::{FindingKind, Fit};

use super::log::{assert_near, fit, interval, walk};

fn kinds(fit: &Fit) -> Vec<FindingKind> {
    fit.findings().iter().map(|found| found.kind).collect()
}

fn assert_same(found: &Fit, expected: &Fit, obs: [&[f64]; 2], what: &str) {
    let value = expected.value(obs[1]).unwrap();
    assert_near(found.value(obs[0]).unwrap(), value, 1e-8, what);
    let (a, b) = (interval(found, obs[0]), interval(expected, obs[1]));
    for k in 0..2 {
        assert!(b[k].is_finite(), "{what}: {b:?}");
        // The correction for leverage depends on the basis, but hardly.
        let width = b[1] - b[0];
        assert_near(a[k] / width, b[k] / width, 1e-3, what);
    }
}

#[test]
fn a_repeated_column_changes_no_value() {
    let text = walk(8, 400, 3);
    let twice: String = (text.lines().enumerate())
        .map(|(i, line)| match i {
            0 => format!("obs_1,{line}\n"),
            _ => {
                let state: f64 = line.split(',').next().unwrap().parse().unwrap();
                format!("{},{line}\n", 3.0 * state)
            }
        })
        .collect();
    let one = fit(&text, "identity + bias");
    let two = fit(&twice, "identity + bias");
    let ranks = [&one, &two].map(|fit| fit.report().rank);
    assert_eq!(ranks, [Some(2), Some(2)]);
    assert_eq!(two.converged(), Some(true));
    for state in [0.0, 3.0, 7.0] {
        assert_same(&two, &one, [&[state, 3.0 * state], &[state]], "seen");
    }
    // A row where the two columns differ is not identified.
    assert_eq!(
        interval(&two, &[1.0, 1.0]),
        [f64::NEG_INFINITY, f64::INFINITY]
    );
    let [a, b] = [&one, &two].map(|fit| fit.start_value().unwrap());
    for (a, b) in [(a.value, b.value), (a.lower, b.lower), (a.upper, b.upper)] {
        assert_near(b, a, 1e-8, "start value");
    }
    // The weights of the columns are not identified, that of the bias is.
    let bounded = two.uncertainty().unwrap().upper;
    let bounded: Vec<bool> = bounded.iter().map(|upper| upper.is_finite()).collect();
    assert_eq!(bounded, [false, false, true]);
    assert!(!kinds(&two).contains(&FindingKind::LowRank));
    assert!(!kinds(&two).contains(&FindingKind::NotLearned));
}

/// Columns that are nearly multiples of each other, of any size: the answer is that of one of them.
#[test]
fn nearly_equal_columns_and_scales_change_no_value() {
    let text = walk(8, 400, 3);
    let one = fit(&text, "identity + bias");
    let with = |column: &dyn Fn(f64, f64) -> [f64; 2]| -> String {
        let lines = text.lines().enumerate().map(|(i, line)| match i {
            0 => format!("obs_0,obs_1,{}\n", line.split_once(',').unwrap().1),
            _ => {
                let (state, rest) = line.split_once(',').unwrap();
                let sign = if i * i % 7 < 3 { 1.0 } else { -1.0 };
                let [a, b] = column(state.parse().unwrap(), sign);
                format!("{a:e},{b:e},{rest}\n")
            }
        });
        lines.collect()
    };
    let differing = [1e-8, 1e-10, 1e-12, 1e-14, 1e-16].map(|by| (1.0, 1.0, by));
    let scaled = [
        (1.0, 1e150),
        (1.0, 1e-150),
        (1e150, 1e-150),
        (1e-150, 1e-150),
    ];
    let scaled = scaled.map(|(a, b)| (a, b, 0.0));
    for (a, b, by) in differing.into_iter().chain(scaled) {
        let what = format!("{a:e}, {b:e}, {by:e}");
        let two = fit(
            &with(&|x, sign| [a * x, b * x * (1.0 + sign * by)]),
            "identity + bias",
        );
        assert_eq!((two.report().rank, two.report().dimension), (Some(2), 3));
        assert_eq!(two.converged(), Some(true), "{what}");
        assert!(two.theta_bar().iter().all(|x| x.is_finite()), "{what}");
        for state in [0.0, 3.0, 7.0] {
            assert_same(&two, &one, [&[a * state, b * state], &[state]], &what);
        }
        // The log does not say what the columns do apart from each other.
        let unknown = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(interval(&two, &[a * 3.0, b * 5.0]), unknown, "{what}");
    }
}

#[test]
fn a_bias_beside_indicators_changes_no_value() {
    let text = walk(8, 400, 4);
    let plain = fit(&text, "one-hot");
    let biased = fit(&text, "one-hot + bias");
    assert_eq!(plain.report().rank, Some(8));
    assert_eq!(
        (biased.report().rank, biased.report().dimension),
        (Some(8), 9)
    );
    assert_eq!(biased.converged(), Some(true));
    for state in 0..8 {
        let obs = [f64::from(state)];
        assert_same(&biased, &plain, [&obs, &obs], "state");
    }
    // A few dependent features are no finding.
    for fit in [&plain, &biased] {
        assert!(!kinds(fit).contains(&FindingKind::LowRank));
        assert!(!kinds(fit).contains(&FindingKind::IntervalsUnknown));
    }
}

#[test]
fn what_was_never_seen_is_unbounded() {
    let text = walk(8, 400, 5);
    let plain = fit(&text, "one-hot");
    let more = fit(&text, "one-hot(count=12)");
    assert_eq!((more.report().rank, more.report().dimension), (Some(8), 12));
    assert_eq!(more.converged(), Some(true));
    for state in 0..8 {
        let obs = [f64::from(state)];
        assert_same(&more, &plain, [&obs, &obs], "state");
    }
    // Neither map has learned anything about these, whether it has a feature for them or not.
    for (fit, state) in [
        (&more, 8),
        (&more, 11),
        (&more, 12),
        (&plain, 8),
        (&plain, 99),
    ] {
        let obs = [f64::from(state)];
        assert_eq!(fit.value(&obs).unwrap(), 0.0);
        assert_eq!(interval(fit, &obs), [f64::NEG_INFINITY, f64::INFINITY]);
    }
    assert!(!kinds(&more).contains(&FindingKind::LowRank));
}

#[test]
fn far_fewer_independent_features_than_features_are_a_finding() {
    // Every value of the log is one of 4 states, which polynomials of degree 9 cannot tell apart further.
    let text = walk(4, 400, 6);
    let fit = fit(&text, "polynomial(degree=9)");
    assert_eq!(fit.report().rank, Some(4));
    assert_eq!(fit.converged(), Some(true));
    assert!(
        kinds(&fit).contains(&FindingKind::LowRank),
        "{:?}",
        kinds(&fit)
    );
    let plain = super::log::fit(&text, "one-hot");
    for state in 0..4 {
        let obs = [f64::from(state)];
        let value = plain.value(&obs).unwrap();
        assert_near(fit.value(&obs).unwrap(), value, 1e-6, "value");
    }
}
