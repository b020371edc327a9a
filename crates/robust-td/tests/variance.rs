//! Compares the variance of the return with closed forms, another route to it, and simulated returns.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write;
use std::fs;

use robust_td::logs::ReturnVariance;
use robust_td::{Fit, evaluate};
use robust_td_core::random::Stream;

/// Evaluates a log with the columns episode, obs_0, next_obs_0, reward, terminated.
fn fit(rows: &str, discount: f64, features: &str) -> Fit {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv");
    let head = "episode,obs_0,next_obs_0,reward,terminated\n";
    fs::write(&path, format!("{head}{rows}")).unwrap();
    evaluate([path.display().to_string()])
        .discount(discount)
        .features(features)
        .return_variance()
        .threads(1)
        .no_check()
        .run()
        .unwrap()
}

/// Episodes of the walk on 1 to 5 that ends at 0, or at 6 with reward 1. Their return without discount is 1 with probability start / 6.
fn walk(start: usize, episodes: usize, random: &mut Stream) -> String {
    let mut text = String::new();
    for episode in 0..episodes {
        let mut state = start;
        while (1..=5).contains(&state) {
            let next = if random.uniform() < 0.5 {
                state - 1
            } else {
                state + 1
            };
            let ends = u8::from(!(1..=5).contains(&next));
            let reward = u8::from(next == 6);
            writeln!(text, "{episode},{state},{next},{reward},{ends}").unwrap();
            state = next;
        }
    }
    text
}

#[test]
fn a_return_of_zero_or_one_has_the_variance_of_a_coin() {
    let fit = fit(&walk(3, 4000, &mut Stream::new(1, 0)), 1.0, "one-hot");
    let found = fit.return_variance().unwrap();
    assert!((found.standard_deviation - 0.5).abs() < 0.01, "{found:?}");
    assert!(
        found.lower < 0.5 && found.upper - found.lower < 0.05,
        "{found:?}"
    );
    assert_eq!((found.between, found.starts), (0.0, 4000));
    // From each state p (1 - p), and the coin of the starts: the features of a state fit both.
    for state in 1..=5 {
        let p = state as f64 / 6.0;
        let deviation = fit.return_deviation(&[state as f64]).unwrap().unwrap();
        assert!(
            (deviation - (p * (1.0 - p)).sqrt()).abs() < 0.02,
            "{state}: {deviation}"
        );
    }
}

/// The plain standard deviation of the returns is another estimate of the same number.
#[test]
fn complete_episodes_show_the_same_deviation() {
    let rows = walk(2, 3000, &mut Stream::new(2, 0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv");
    fs::write(
        &path,
        format!("episode,obs_0,next_obs_0,reward,terminated\n{rows}"),
    )
    .unwrap();
    let fit = evaluate([path.display().to_string()])
        .discount(0.95)
        .features("one-hot")
        .return_variance()
        .run()
        .unwrap();
    let found = fit.return_variance().unwrap();
    let observed = found.observed.unwrap();
    assert!(
        found.lower < observed && observed < found.upper,
        "{found:?}"
    );
    assert!(
        (found.standard_deviation / observed - 1.0).abs() < 0.03,
        "{found:?}"
    );
}

/// From, to, reward, and whether it terminates.
type Move = (usize, usize, f64, bool);

/// With a feature per state, W = M - V^2, where M solves the equation of the second moment on the log's own frequencies.
#[test]
fn it_is_the_second_moment_minus_the_square_of_the_value() {
    let (states, gamma) = (4, 0.9);
    let mut random = Stream::new(4, 0);
    let (mut text, mut moves) = (String::new(), Vec::new());
    for episode in 0..200 {
        let mut state = (4.0 * random.uniform()) as usize;
        for _ in 0..15 {
            let next = (state + 1 + (2.0 * random.uniform()) as usize) % states;
            let reward = random.uniform() + state as f64;
            let ends = random.uniform() < 0.1;
            writeln!(text, "{episode},{state},{next},{reward},{}", u8::from(ends)).unwrap();
            moves.push((state, next, reward, ends));
            if ends {
                break;
            }
            state = next;
        }
    }
    // V and M by dense systems of counts.
    let solve = |discount: f64, reward: &dyn Fn(&Move) -> f64| {
        let mut a = vec![vec![0.0; states + 1]; states];
        for step in &moves {
            let (from, to, _, ends) = *step;
            a[from][from] += 1.0;
            if !ends {
                a[from][to] -= discount;
            }
            a[from][states] += reward(step);
        }
        eliminated(a)
    };
    let value = solve(gamma, &|step| step.2);
    let after = |step: &Move| if step.3 { 0.0 } else { value[step.1] };
    let second = solve(gamma * gamma, &|step| {
        step.2 * step.2 + 2.0 * gamma * step.2 * after(step)
    });
    let fit = fit(&text, gamma, "one-hot");
    for state in 0..states {
        let deviation = fit.return_deviation(&[state as f64]).unwrap().unwrap();
        let exact = second[state] - value[state] * value[state];
        assert!(
            (deviation * deviation - exact).abs() < 1e-9 * exact,
            "{state}"
        );
    }
}

/// The solution of (A | b), whose diagonal dominates.
fn eliminated(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let pivot = a[k].clone();
        for (_, row) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k] / pivot[k];
            row.iter_mut()
                .zip(&pivot)
                .for_each(|(x, p)| *x -= factor * p);
        }
    }
    (0..n).map(|k| a[k][n] / a[k][k]).collect()
}

/// A linear value, x' = 0.8 x + 0.6 noise, reward x + noise: the variance is that of a sum of independent terms, the same for all x.
fn linear(random: &mut Stream, episodes: usize) -> String {
    let mut text = String::new();
    for episode in 0..episodes {
        let mut x = 2.0 * random.uniform() - 1.0;
        for _ in 0..25 {
            // Uniform noise of variance 1.
            let mut noise = || 12.0_f64.sqrt() * (random.uniform() - 0.5);
            let (next, reward) = (0.8 * x + 0.6 * noise(), x + noise());
            writeln!(text, "{episode},{x},{next},{reward},0").unwrap();
            x = next;
        }
    }
    text
}

/// Within: (1 + gamma^2 0.36 / (1 - 0.8 gamma)^2) / (1 - gamma^2). Between: that of a uniform start, 1/3 / (1 - 0.8 gamma)^2.
fn linear_truth(gamma: f64) -> f64 {
    let slope = 1.0 / (1.0 - 0.8 * gamma);
    let within = (1.0 + gamma * gamma * 0.36 * slope * slope) / (1.0 - gamma * gamma);
    (within + slope * slope / 3.0).sqrt()
}

#[test]
fn linear_features_suffice_although_the_second_moment_is_quadratic() {
    let gamma = 0.9;
    let rows = linear(&mut Stream::new(6, 0), 2000);
    let fit = fit(&rows, gamma, "standardise + bias");
    let (found, truth) = (fit.return_variance().unwrap(), linear_truth(gamma));
    assert!(
        found.lower < truth && truth < found.upper,
        "{found:?} {truth}"
    );
    assert!(
        (found.standard_deviation / truth - 1.0).abs() < 0.02,
        "{found:?} {truth}"
    );
}

#[test]
fn intervals_of_the_deviation_cover() {
    let gamma = 0.9;
    let walk_truth = (1.0 / 3.0 * (2.0 / 3.0_f64)).sqrt();
    let (mut held, mut known) = ([0; 2], [0; 2]);
    for seed in 0..120 {
        let mut random = Stream::new(100, seed);
        let logs = [
            (
                fit(&linear(&mut random, 60), gamma, "standardise + bias"),
                linear_truth(gamma),
            ),
            (fit(&walk(2, 120, &mut random), 1.0, "one-hot"), walk_truth),
        ];
        for (k, (fit, truth)) in logs.into_iter().enumerate() {
            let found: ReturnVariance = fit.return_variance().unwrap();
            known[k] += usize::from(found.upper.is_finite());
            held[k] += usize::from(
                found.upper.is_finite() && found.lower <= truth && truth <= found.upper,
            );
        }
    }
    println!("{held:?} of {known:?}");
    for (held, known) in held.into_iter().zip(known) {
        assert!(
            known >= 100 && 100 * held >= 90 * known,
            "{held} of {known}"
        );
    }
}
