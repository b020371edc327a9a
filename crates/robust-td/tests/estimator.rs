//! Checks the estimator: exact values, coverage of its intervals, refusals, saving.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use robust_td::random::Stream;
use robust_td::simulate::Sampler;
use robust_td::{Error, Estimator, Features, Interval, Outcome, Problem, Transition, catalog};

fn trained(problem: &Problem, steps: usize, run: u64) -> Estimator {
    let path = Sampler::new(problem).trajectory(0, steps, &mut Stream::new(11, run));
    let mut estimator = Estimator::new(problem.discount(), problem.dimension()).unwrap();
    for pair in path.windows(2) {
        estimator.learn(&Transition::new(
            problem.phi(pair[0]),
            problem.reward(pair[0], pair[1]),
            problem.phi(pair[1]),
        ));
    }
    estimator
}

#[test]
fn intervals_hold_at_their_confidence() {
    for (name, low, high) in [("two-state", 0.92, 0.98), ("boyan", 0.92, 0.98)] {
        let problem = catalog::problem(name, &[]).unwrap();
        let (runs, phi) = (400, problem.phi(1));
        let exact: f64 = phi
            .iter()
            .zip(problem.theta_star())
            .map(|(x, y)| x * y)
            .sum();
        let covered = (0..runs).filter(|run| {
            let interval = trained(&problem, 8_000, *run).interval(phi, 0.95).unwrap();
            interval.lower <= exact && exact <= interval.upper
        });
        let share = covered.count() as f64 / runs as f64;
        assert!((low..=high).contains(&share), "{name}: {share}");
    }
}

/// Standard normal, nearly.
fn normal(stream: &mut Stream) -> f64 {
    (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0
}

/// The kinds of noise in the rewards of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    /// Independent of each other.
    White,
    /// The same, and a small slow component.
    Slow,
    /// The same, and an effect of the user in all of their many short episodes.
    Users,
    /// The same, and an effect of each of ten long episodes.
    Episodes,
}

/// The estimate of 1 + x + noise with white x, and whether the intervals of V(1) and of the value of the policy hold.
fn covered(noise: Noise, run: u64) -> [bool; 2] {
    let mut stream = Stream::new(17, run);
    let mut estimator = Estimator::new(0.9, 2).unwrap();
    let effects: Vec<f64> = (0..60).map(|_| 0.3 * normal(&mut stream)).collect();
    let (mut x, mut slow) = (normal(&mut stream), normal(&mut stream));
    let (mut user, ends) = (0, if noise == Noise::Users { 0.1 } else { 0.0 });
    for t in 0..10_000 {
        let effect = match noise {
            Noise::White => 0.0,
            Noise::Slow => {
                slow = 0.99 * slow + (1.0_f64 - 0.99 * 0.99).sqrt() * normal(&mut stream);
                0.1 * slow
            }
            Noise::Users => effects[user],
            Noise::Episodes => effects[t / 1000],
        };
        let (reward, next) = (1.0 + x + effect + normal(&mut stream), normal(&mut stream));
        let (here, after) = ([1.0, x], [1.0, next]);
        let cut = noise == Noise::Episodes && t % 1000 == 999;
        let over = stream.uniform() < ends;
        let outcome = match (over, cut) {
            (true, _) => Outcome::Terminated,
            (_, true) => Outcome::Truncated(Features::Dense(&after)),
            _ => Outcome::Continues(Features::Dense(&after)),
        };
        let transition = Transition::new(&here, reward, outcome);
        match noise {
            Noise::Users => estimator.learn_from(user as u64, &transition),
            _ => estimator.learn(&transition),
        }
        if over {
            user = (60.0 * stream.uniform()) as usize;
        }
        x = next;
    }
    let constant = 1.0 / (1.0 - 0.9 * (1.0 - ends));
    let holds = |interval: Interval, exact: f64| interval.lower <= exact && exact <= interval.upper;
    [
        holds(
            estimator.interval(&[1.0, 1.0], 0.95).unwrap(),
            1.0 + constant,
        ),
        holds(estimator.start_interval(0.95).unwrap(), constant),
    ]
}

#[test]
fn intervals_hold_under_slow_noise_and_in_clusters() {
    let runs = 400;
    for noise in [Noise::White, Noise::Slow, Noise::Users, Noise::Episodes] {
        let mut counts = [0; 2];
        for run in 0..runs {
            let found = covered(noise, run);
            counts[0] += usize::from(found[0]);
            counts[1] += usize::from(found[1]);
        }
        for count in counts {
            let share = count as f64 / runs as f64;
            assert!((0.92..=0.98).contains(&share), "{noise:?}: {counts:?}");
        }
    }
}

#[test]
fn one_start_does_not_show_how_starts_vary() {
    let mut estimator = Estimator::new(0.9, 1).unwrap();
    for t in 0..500 {
        let reward = f64::from(t * 7 % 5);
        estimator.learn(&Transition::new(&[1.0], reward, &[1.0]));
    }
    // No episode has ended: the mean over all states.
    assert!(estimator.start_interval(0.95).unwrap().upper.is_finite());
    estimator.learn(&Transition::terminated(&[1.0], 1.0));
    assert!(estimator.start_interval(0.95).unwrap().upper.is_infinite());
    let value = estimator.start_value();
    assert!((value - estimator.value(&[1.0])).abs() < 1e-12);
}

#[test]
fn values_do_not_depend_on_the_units_of_features() {
    let problem = catalog::problem("boyan", &[]).unwrap();
    let scale = [1e6, 1e-6, 1.0, 37.0];
    let scaled = |state: usize| -> Vec<f64> {
        problem
            .phi(state)
            .iter()
            .zip(scale)
            .map(|(x, s)| x * s)
            .collect()
    };
    let path = Sampler::new(&problem).trajectory(0, 5_000, &mut Stream::new(3, 0));
    let [mut plain, mut other] = [(); 2].map(|()| Estimator::new(0.99, 4).unwrap());
    for pair in path.windows(2) {
        let reward = problem.reward(pair[0], pair[1]);
        let (phi, next) = (problem.phi(pair[0]), problem.phi(pair[1]));
        plain.learn(&Transition::new(phi, reward, next));
        other.learn(&Transition::new(&scaled(pair[0]), reward, &scaled(pair[1])));
    }
    for state in 0..problem.states() {
        let (a, b) = (plain.value(problem.phi(state)), other.value(&scaled(state)));
        assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn a_terminated_episode_has_no_value_after_it() {
    let mut estimator = Estimator::new(0.5, 1).unwrap();
    for _ in 0..1000 {
        estimator.learn(&Transition::new(&[1.0], 1.0, &[1.0]));
        estimator.learn(&Transition::terminated(&[1.0], 1.0));
    }
    // Half of the steps end the episode: V = 1 + 0.5 * 0.5 V.
    assert!((estimator.value(&[1.0]) - 1.0 / 0.75).abs() < 1e-9);
}

#[test]
fn what_cannot_be_learned_is_refused_and_leaves_no_trace() {
    assert!(Estimator::new(1.0, 2).is_err() && Estimator::new(0.9, 0).is_err());
    let mut estimator = Estimator::new(0.9, 2).unwrap();
    assert_eq!(estimator.value(&[1.0, 2.0]), 0.0);
    let good = Transition::new(&[1.0, 0.0], 1.0, &[0.0, 1.0]);
    estimator.try_learn(&good).unwrap();
    let before = estimator.value(&[1.0, 0.0]);
    for bad in [
        Transition::new(&[1.0], 1.0, &[0.0, 1.0]),
        Transition::new(&[1.0, 0.0], f64::NAN, &[0.0, 1.0]),
        Transition::new(&[1.0, f64::INFINITY], 1.0, &[0.0, 1.0]),
        Transition::new(&[1.0, 0.0], 1.0, &[0.0, f64::NAN]),
    ] {
        assert!(estimator.try_learn(&bad).is_err());
    }
    assert_eq!(estimator.value(&[1.0, 0.0]).to_bits(), before.to_bits());
    assert_eq!(estimator.transitions(), 1);
    let early = estimator.interval(&[1.0, 0.0], 0.95).unwrap_err();
    assert!(
        matches!(early, Error::TooFewTransitions { seen: 1 }),
        "{early}"
    );
    assert!(estimator.interval(&[1.0, 0.0], 1.0).is_err());
}

#[test]
fn a_restored_estimator_continues_to_the_same_bits() {
    let problem = catalog::problem("two-state", &[]).unwrap();
    let mut whole = trained(&problem, 3_000, 5);
    let mut restored: Estimator =
        serde_json::from_str(&serde_json::to_string(&whole).unwrap()).unwrap();
    for estimator in [&mut whole, &mut restored] {
        for _ in 0..500 {
            estimator.learn(&Transition::new(problem.phi(0), 0.3, problem.phi(1)));
        }
    }
    let ends = [&whole, &restored].map(|e| e.interval(problem.phi(0), 0.9).unwrap());
    assert_eq!(ends[0], ends[1]);
    assert_eq!(whole.theta(), restored.theta());
}
