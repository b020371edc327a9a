//! Tests theta and the value of the policy against independent computations.

use robust_td_data::{Error, OptionError, OptionName};

use super::log::{Folder, Row, assert_near, csv, episodes, fit, interval, walk};

/// Solves a dense system by Gaussian elimination with pivoting.
fn gauss(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        a.swap(k, pivot.unwrap());
        b.swap(k, pivot.unwrap());
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    b
}

/// A transition: the row, and the observation that follows.
type Pair = (Row, Option<[f64; 2]>);

/// theta for the features obs_0, obs_1 and 1.
fn theta(pairs: &[Pair], discount: f64) -> Vec<f64> {
    let (mut a, mut b) = (vec![vec![0.0; 3]; 3], vec![0.0; 3]);
    for (row, next) in pairs {
        let phi = [row.obs[0], row.obs[1], 1.0];
        let after = next.map_or([0.0; 3], |[u, v]| [u, v, 1.0]);
        for i in 0..3 {
            for j in 0..3 {
                a[i][j] += row.rho * phi[i] * (phi[j] - discount * after[j]);
            }
            b[i] += row.rho * phi[i] * row.reward;
        }
    }
    gauss(a, b)
}

/// Every 37th row is bad.
fn is_bad(i: usize) -> bool {
    i % 37 == 20
}

/// The log with bad rows, with or without the columns of next observations.
fn with_bad_rows(rows: &[Row], next: bool) -> String {
    let text = csv(rows);
    let lines = text.lines().enumerate().map(|(i, line)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if i > 0 && is_bad(i - 1) {
            cells[2] = "oops";
        }
        if !next {
            cells.drain(3..5);
        }
        cells.join(",") + "\n"
    });
    lines.collect()
}

#[test]
fn theta_solves_the_equations_of_the_log() {
    let rows = episodes(1500, 4);
    let folder = Folder::new();
    for next in [true, false] {
        // A row's successor is its next observation; without one, the next row of its episode, unless one is missing in between.
        let pair = |i: usize| -> Option<Pair> {
            let row = rows[i];
            if is_bad(i) {
                return None;
            }
            if row.terminated {
                return Some((row, None));
            }
            let after = match next {
                true => Some(row.next),
                false => (rows.get(i + 1))
                    .filter(|after| after.episode == row.episode && !is_bad(i + 1))
                    .map(|after| after.obs),
            };
            after.map(|after| (row, Some(after)))
        };
        let pairs: Vec<Pair> = (0..rows.len()).filter_map(pair).collect();
        let bad = (0..rows.len()).filter(|i| is_bad(*i)).count() as u64;
        let fit = (folder.evaluation(&with_bad_rows(&rows, next)))
            .features("identity + bias")
            .skip_bad_rows(bad)
            .run()
            .unwrap();
        assert_eq!(fit.algorithm(), "auto");
        assert_eq!((fit.steps(), fit.bad_rows()), (pairs.len() as u64, bad));
        assert_eq!((fit.converged(), fit.report().rank), (Some(true), Some(3)));
        let expected = theta(&pairs, 0.9);
        for (found, expected) in fit.theta_bar().iter().zip(&expected) {
            assert_near(*found, *expected, 1e-9, "theta");
        }
        assert!(fit.report().relative_residual.unwrap() < 1e-12);
        // The value of the policy is the mean over the first rows of episodes.
        let start = fit.start_value().unwrap();
        assert!(start.lower < start.value && start.value < start.upper);
        let values: f64 = starts(&rows, &pairs)
            .iter()
            .map(|row| fit.value(&row.obs).unwrap())
            .sum();
        let count = starts(&rows, &pairs).len();
        assert_eq!(start.starts, count as u64, "next_obs: {next}");
        assert_near(start.value, values / count as f64, 1e-12, "start value");
    }
}

/// The first transitions of episodes, as far as no row is missing before them.
fn starts(rows: &[Row], pairs: &[Pair]) -> Vec<Row> {
    let used = |row: &Row| pairs.iter().any(|pair| pair.0.obs == row.obs);
    let mut list = Vec::new();
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| used(row)) {
        let follows = i.checked_sub(1).map(|before| &rows[before]);
        let follows = follows.is_some_and(|before| {
            let ended = before.terminated || before.truncated;
            before.episode == row.episode && !ended && used(before)
        });
        if !follows && !i.checked_sub(1).is_some_and(is_bad) {
            list.push(*row);
        }
    }
    list
}

#[test]
fn units_do_not_matter() {
    let rows = episodes(3000, 7);
    let plain = fit(&csv(&rows), "identity + bias");
    for factor in [1e6, 1e-6] {
        let scaled: Vec<Row> = (rows.iter())
            .map(|row| Row {
                obs: [row.obs[0], factor * row.obs[1]],
                next: [row.next[0], factor * row.next[1]],
                ..*row
            })
            .collect();
        let other = fit(&csv(&scaled), "identity + bias");
        for (row, other_row) in rows.iter().zip(&scaled).step_by(97) {
            let value = plain.value(&row.obs).unwrap();
            assert_near(other.value(&other_row.obs).unwrap(), value, 1e-6, "value");
            let ends = interval(&plain, &row.obs);
            let others = interval(&other, &other_row.obs);
            assert!(ends[0] < value && value < ends[1]);
            (0..2).for_each(|k| assert_near(others[k], ends[k], 1e-6, "interval"));
        }
        let [a, b] = [&plain, &other].map(|fit| fit.start_value().unwrap());
        for (a, b) in [(a.value, b.value), (a.lower, b.lower), (a.upper, b.upper)] {
            assert_near(b, a, 1e-6, "start value");
        }
    }
    // The value of a sum in another currency is the same sum in that currency.
    let cents: Vec<Row> = (rows.iter())
        .map(|row| Row {
            reward: 1e8 * row.reward,
            ..*row
        })
        .collect();
    let other = fit(&csv(&cents), "identity + bias");
    let [a, b] = [&plain, &other].map(|fit| fit.start_value().unwrap());
    for (a, b) in [(a.value, b.value), (a.lower, b.lower), (a.upper, b.upper)] {
        assert_near(b / 1e8, a, 1e-6, "start value");
    }
    let kinds = |fit: &robust_td_data::Fit| -> Vec<_> {
        fit.findings().iter().map(|found| found.kind).collect()
    };
    assert_eq!(kinds(&plain), kinds(&other));
    assert!(!other.diverged());
}

#[test]
fn without_discount_the_value_is_the_mean_return() {
    let text = walk(6, 300, 2);
    let folder = Folder::new();
    let undiscounted = |text: &str| {
        let evaluation = folder.evaluation(text).discount(1.0);
        evaluation.features("one-hot").run()
    };
    let fit = undiscounted(&text).unwrap();
    let rewards = text.lines().skip(1).map(|line| line.split(',').nth(1));
    let sum: f64 = rewards.map(|r| r.unwrap().parse::<f64>().unwrap()).sum();
    let start = fit.start_value().unwrap();
    assert_eq!(start.starts, 300);
    assert_near(start.value, sum / 300.0, 1e-9, "start value");
    let monte_carlo = fit.monte_carlo().unwrap();
    assert_near(monte_carlo.value, sum / 300.0, 1e-9, "mean return");
    assert_eq!(monte_carlo.episodes, 300);
    assert!(start.lower < start.value && start.value < start.upper);
    assert!(start.upper.is_finite());

    // One episode that does not terminate has no finite value.
    let cut: Vec<&str> = text.lines().collect();
    let unfinished = cut[..cut.len() - 1].join("\n");
    let refused = undiscounted(&unfinished).unwrap_err();
    assert!(
        matches!(
            &refused,
            Error::Option(OptionError::Range {
                option: OptionName::Discount,
                ..
            })
        ),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("but 299 of 300 do"),
        "{refused}"
    );
    let plain = "obs_0,reward\n1,2\n2,3\n1,1\n2,2\n";
    assert!(undiscounted(plain).is_err());
}

#[test]
fn a_horizon_uses_the_first_transitions() {
    let rows = episodes(3000, 9);
    let folder = Folder::new();
    let ask = |rows: &[Row]| folder.evaluation(&csv(rows)).features("identity + bias");
    for horizon in [1500, 2000] {
        let cut = ask(&rows).horizon(horizon as u64).run().unwrap();
        let short = ask(&rows[..horizon]).run().unwrap();
        assert_eq!(cut.steps(), horizon as u64);
        assert_eq!(cut.theta_bar(), short.theta_bar());
        assert_eq!(cut.start_value(), short.start_value());
        assert_eq!(cut.monte_carlo(), short.monte_carlo());
        assert_eq!(cut.check(), short.check());
        assert_eq!(cut.typical_rows(), short.typical_rows());
        assert_eq!(cut.uncertainty(), short.uncertainty());
        assert_eq!(cut.report().rows, short.report().rows);
        let obs = rows[5].obs;
        assert_eq!(interval(&cut, &obs), interval(&short, &obs));
    }
    // Beyond the end of the log, it is the whole log.
    let whole = ask(&rows).run().unwrap();
    let more = ask(&rows).horizon(10_000).run().unwrap();
    assert_eq!(more.theta_bar(), whole.theta_bar());
    assert_eq!(more.start_value(), whole.start_value());
}

#[test]
fn features_that_change_while_they_read_are_refused() {
    let folder = Folder::new();
    let evaluation = folder.evaluation(&csv(&episodes(100, 1)));
    let refused = evaluation.features("running + bias").run().unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains("use standardise instead of running"),
        "{message}"
    );
}

#[test]
fn the_defaults_are_standardised_features_with_a_bias() {
    let folder = Folder::new();
    let text = csv(&episodes(2000, 3));
    let fit = folder.evaluation(&text).run().unwrap();
    let report = fit.report();
    assert_eq!(report.features, "standardise + bias");
    assert_eq!(report.feature_names.len(), 3);
    assert_eq!(report.feature_names[2], "bias");
    // They span the same functions as the plain columns with a bias.
    let plain = folder
        .evaluation(&text)
        .features("identity + bias")
        .run()
        .unwrap();
    for obs in [[2.0, -1.0], [1.0, 0.0], [3.0, -2.0]] {
        let value = plain.value(&obs).unwrap();
        assert_near(fit.value(&obs).unwrap(), value, 1e-9, "value");
        let (a, b) = (interval(&fit, &obs), interval(&plain, &obs));
        // The correction for leverage depends on the basis, but hardly.
        (0..2).for_each(|k| assert_near(a[k], b[k], 1e-3, "interval"));
    }
}
