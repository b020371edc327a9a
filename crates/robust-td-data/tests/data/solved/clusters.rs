//! Tests the column of clusters.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use robust_td_data::{Fit, StartValue};

use super::log::{Folder, assert_near};

/// Shuffled episodes of users whose rewards differ.
fn users(users: u64, episodes: u64) -> String {
    let mut stream = Stream::new(4, 0);
    let effects: Vec<f64> = (0..users).map(|_| 4.0 * stream.uniform()).collect();
    let mut text = String::from("obs_0,reward,terminated,episode,user\n");
    for episode in 0..users * episodes {
        let user = (stream.uniform() * users as f64) as usize;
        for step in 0..3 {
            let reward = effects[user] + stream.uniform();
            let terminated = u8::from(step == 2);
            writeln!(text, "{step},{reward},{terminated},{episode},u{user}").unwrap();
        }
    }
    text
}

fn width(fit: &Fit) -> f64 {
    let StartValue { lower, upper, .. } = fit.start_value().unwrap();
    upper - lower
}

#[test]
fn clusters_of_users_widen_the_intervals() {
    let folder = Folder::new();
    let text = users(40, 50);
    let ask = || folder.evaluation(&text).features("one-hot");
    let plain = ask().run().unwrap();
    let clustered = ask().cluster("user").run().unwrap();
    // Episodes of a user share its effect: 50 episodes tell little more about the mean of users than one.
    let ratio = width(&clustered) / width(&plain);
    assert!((3.0..10.0).contains(&ratio), "{ratio}");
    for (found, expected) in clustered.theta_bar().iter().zip(plain.theta_bar()) {
        assert_near(*found, *expected, 1e-9, "theta");
    }
    let [few, many] = [&clustered, &plain].map(|fit| fit.uncertainty().unwrap());
    assert_eq!((few.clusters, many.clusters), (Some(40), Some(2000)));
    assert_eq!(few.method, many.method);
    for state in 0..3 {
        let obs = [f64::from(state)];
        let [a, b] = [&clustered, &plain].map(|fit| fit.interval(&obs).unwrap().unwrap());
        assert!(a.1 - a.0 > 3.0 * (b.1 - b.0), "{a:?} {b:?}");
    }
}

#[test]
fn clusters_of_episodes_are_the_default() {
    let folder = Folder::new();
    for episodes in [5, 20] {
        let text = users(10, episodes);
        let ask = || folder.evaluation(&text).features("one-hot");
        let [plain, named] = [ask(), ask().cluster("episode")].map(|asked| asked.run().unwrap());
        let [a, b] = [&plain, &named].map(|fit| fit.start_value().unwrap());
        for (a, b) in [(a.value, b.value), (a.lower, b.lower), (a.upper, b.upper)] {
            assert_near(b, a, 1e-9, "start value");
        }
        for (a, b) in plain.theta_bar().iter().zip(named.theta_bar()) {
            assert_near(*b, *a, 1e-9, "theta");
        }
        let clusters = |fit: &Fit| fit.uncertainty().unwrap().clusters;
        assert_eq!(clusters(&plain), clusters(&named));
    }
}

#[test]
fn the_column_must_exist() {
    let folder = Folder::new();
    let evaluation = folder.evaluation(&users(5, 5)).cluster("site");
    let refused = evaluation.run().unwrap_err().to_string();
    assert!(refused.contains("site"), "{refused}");
}
