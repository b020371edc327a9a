//! Requires that the feature map that the data choose is nearly as close to the known values as the best candidate.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::f64::consts::TAU;
use std::fmt::Write;
use std::fs;

use robust_td::evaluate;
use robust_td::logs::{FeatureChoice, Unit};
use robust_td_core::catalog;
use robust_td_core::random::Stream;

/// The largest error of the choice, relative to that of the best candidate.
const MOST: f64 = 1.3;

/// A log, and the true values of some of its observations.
struct Known {
    name: &'static str,
    path: String,
    discount: f64,
    values: Vec<(Vec<f64>, f64)>,
    _folder: Option<tempfile::TempDir>,
}

impl Known {
    /// Writes a log.
    fn new(name: &'static str, discount: f64, text: &str, values: Vec<(Vec<f64>, f64)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        fs::write(&path, text).unwrap();
        Self {
            name,
            path: path.display().to_string(),
            discount,
            values,
            _folder: Some(folder),
        }
    }

    fn choice(&self) -> FeatureChoice {
        let fit = evaluate([&self.path])
            .discount(self.discount)
            .features("auto")
            .no_check()
            .run()
            .unwrap();
        let choice = fit.feature_choice().unwrap().clone();
        // The answer is that of the chosen map, fitted to all rows.
        assert_eq!(fit.report().features, choice.chosen);
        let own = evaluate([&self.path])
            .discount(self.discount)
            .features(&choice.chosen)
            .no_check()
            .run()
            .unwrap();
        assert_eq!(fit.theta_bar(), own.theta_bar());
        choice
    }

    /// The root mean squared error of a map's values.
    fn error(&self, features: &str) -> f64 {
        let fit = evaluate([&self.path])
            .discount(self.discount)
            .features(features)
            .no_check()
            .run()
            .unwrap();
        let squares = self.values.iter().map(|(obs, truth)| {
            let value = fit.value(obs).unwrap();
            (value - truth) * (value - truth)
        });
        (squares.sum::<f64>() / self.values.len() as f64).sqrt()
    }

    /// Requires a choice that is nearly the best one.
    fn chooses_well(&self) -> FeatureChoice {
        let (ratio, choice) = self.ratio();
        assert!(ratio <= MOST, "{}: {ratio}, {choice:?}", self.name);
        choice
    }

    /// The error of the choice relative to that of the best candidate.
    fn ratio(&self) -> (f64, FeatureChoice) {
        let choice = self.choice();
        let compared = choice.candidates.iter().filter(|c| c.error.is_some());
        let errors: Vec<(f64, &str)> = compared
            .map(|candidate| (self.error(&candidate.features), &candidate.features[..]))
            .collect();
        assert!(errors.len() >= 3, "{choice:?}");
        let best = errors.iter().min_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
        let own = errors.iter().find(|x| x.1 == choice.chosen).unwrap();
        println!("{}: {own:?}, best {best:?}", self.name);
        (own.0 / best.0, choice)
    }
}

/// A trajectory of a problem of the catalog, whose observation is the number of the state.
fn trajectory(name: &'static str, rows: usize) -> Known {
    let problem = catalog::problem(name, &[]).unwrap();
    let truth = problem.true_values();
    let mut random = Stream::new(7, 0);
    let (mut state, mut text) = (problem.start(), String::from("obs_0,reward\n"));
    let mut values = Vec::new();
    for _ in 0..rows {
        let (mut left, mut next) = (random.uniform(), state);
        for edge in problem.edges().filter(|edge| edge.from == state) {
            next = edge.to;
            left -= edge.probability;
            if left < 0.0 {
                break;
            }
        }
        writeln!(text, "{state},{}", problem.reward(state, next)).unwrap();
        values.push((vec![state as f64], truth[state]));
        state = next;
    }
    Known::new(name, problem.discount(), &text, values)
}

#[test]
fn on_problems_of_the_catalog() {
    for name in ["random-walk", "garnet", "boyan"] {
        let choice = trajectory(name, 20_000).chooses_well();
        assert_eq!(choice.unit, Unit::Time);
    }
}

/// Requires nearly the best choice on average over four logs of one continuous variable, whose episodes are all cut: x' by `step` from x
/// and a normal draw. On a single log, two of three good maps may differ by chance more than by their errors.
fn chooses_well_on_average(
    name: &'static str,
    discount: f64,
    size: [usize; 2],
    step: impl Fn(f64, f64) -> f64,
    reward: impl Fn(f64) -> f64,
    value: impl Fn(f64) -> f64,
) -> Vec<FeatureChoice> {
    let logs = (0..4).map(|seed| episodes(name, seed, discount, size, &step, &reward, &value));
    let (ratios, choices): (Vec<f64>, Vec<FeatureChoice>) = logs.map(|log| log.ratio()).unzip();
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / 4.0).exp();
    println!("{name}: {ratios:?}, mean {mean}");
    assert!(mean <= MOST, "{name}: {ratios:?}");
    choices
}

fn episodes(
    name: &'static str,
    seed: u64,
    discount: f64,
    [count, length]: [usize; 2],
    step: impl Fn(f64, f64) -> f64,
    reward: impl Fn(f64) -> f64,
    value: impl Fn(f64) -> f64,
) -> Known {
    let mut random = Stream::new(11, seed);
    let mut normal = || {
        let [u, v] = [random.uniform(), random.uniform()];
        (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
    };
    let mut text = String::from("episode,obs_0,next_obs_0,reward,truncated\n");
    let mut values = Vec::new();
    for episode in 0..count {
        let mut x = step(0.0, 3.0 * normal());
        for t in 0..length {
            let next = step(x, normal());
            let (r, last) = (reward(x) + normal(), u8::from(t + 1 == length));
            writeln!(text, "{episode},{x},{next},{r},{last}").unwrap();
            values.push((vec![x], value(x)));
            x = next;
        }
    }
    Known::new(name, discount, &text, values)
}

/// x' = rho x + noise of variance 1 - rho^2, with rho = 0.8.
fn autoregression(x: f64, normal: f64) -> f64 {
    0.8 * x + 0.6 * normal
}

#[test]
fn where_values_are_linear() {
    let gamma = 0.95;
    let value = |x| x / (1.0 - 0.8 * gamma);
    chooses_well_on_average("linear", gamma, [80, 60], autoregression, |x| x, value);
}

#[test]
fn where_values_are_quadratic() {
    // V = a x^2 + b.
    let gamma = 0.95;
    let a = 1.0 / (1.0 - 0.64 * gamma);
    let b = gamma * 0.36 * a / (1.0 - gamma);
    let value = |x| a * x * x + b;
    chooses_well_on_average(
        "quadratic",
        gamma,
        [80, 60],
        autoregression,
        |x| x * x,
        value,
    );
}

#[test]
fn where_values_are_periodic() {
    // A walk on the circle, x' = x + 0.3 + 0.4 noise: sin(3 x) and cos(3 x) turn and shrink together.
    let (gamma, turn, shrink) = (0.95, 0.9, (-9.0 * 0.16 / 2.0_f64).exp());
    let [re, im] = [
        1.0 - gamma * shrink * f64::cos(turn),
        -gamma * shrink * f64::sin(turn),
    ];
    // Im(e^(3ix) / (re + i im))
    let value = |x: f64| ((3.0 * x).sin() * re - (3.0 * x).cos() * im) / (re * re + im * im);
    let step = |x: f64, normal: f64| (x + 0.3 + 0.4 * normal).rem_euclid(TAU);
    let reward = |x: f64| (3.0 * x).sin();
    chooses_well_on_average("periodic", gamma, [80, 60], step, reward, value);
}

#[test]
fn where_values_are_constant() {
    chooses_well_on_average(
        "constant",
        0.95,
        [80, 60],
        autoregression,
        |_| 1.0,
        |_| 20.0,
    );
}

#[test]
fn where_short_episodes_are_all_cut() {
    // The discount leaves 0.66 of a return behind the cut.
    let gamma = 0.98;
    let value = |x| x / (1.0 - 0.8 * gamma);
    let choices = chooses_well_on_average("short", gamma, [200, 20], autoregression, |x| x, value);
    assert!(choices.iter().all(|choice| choice.closed > 0.5));
}

fn stored(name: &str) -> String {
    format!("{}/tests/logs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The values of the rows of a stored log, given those of the states.
#[test]
fn on_the_discrete_gymnasium_logs() {
    let text = fs::read_to_string(stored("truth.json")).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    for name in ["frozen_lake", "taxi"] {
        let path = stored(&format!("{name}.csv.gz"));
        let truth: Vec<f64> = serde_json::from_value(all[name]["values"].clone()).unwrap();
        let visits = states(&path);
        let log = Known {
            name: "gymnasium",
            path,
            discount: 0.99,
            values: visits
                .into_iter()
                .map(|state| (vec![state], truth[state as usize]))
                .collect(),
            _folder: None,
        };
        assert_eq!(log.chooses_well().chosen, "one-hot", "{name}");
    }
}

/// The first column of a log.
fn states(path: &str) -> Vec<f64> {
    observations(path, 1)
        .into_iter()
        .map(|row| row[0])
        .collect()
}

fn observations(path: &str, columns: usize) -> Vec<Vec<f64>> {
    use robust_td_data::{Batch, ReadOptions, Reader, Source};
    let mut reader =
        Reader::open(Source::find(&[path], None).unwrap(), ReadOptions::default()).unwrap();
    let (mut batch, mut rows) = (Batch::default(), Vec::new());
    while reader.read(&mut batch).unwrap() {
        rows.extend((0..batch.len()).map(|i| batch.obs(i)[..columns].to_vec()));
    }
    rows
}

/// CartPole of Gymnasium under the policy of the stored log: the true value of a row is the mean return of rollouts from it.
#[test]
fn on_the_cart_pole_log() {
    let mut random = Stream::new(3, 0);
    let path = stored("cart_pole.csv.gz");
    let rows = observations(&path, 4);
    let every = rows.len() / 200;
    let values = rows.into_iter().step_by(every).map(|obs| {
        let rollouts = (0..300).map(|_| rollout(&obs, &mut random));
        let mean = rollouts.sum::<f64>() / 300.0;
        (obs, mean)
    });
    let log = Known {
        name: "cart_pole",
        path,
        discount: 0.99,
        values: values.collect(),
        _folder: None,
    };
    log.chooses_well();
    // The simulation here is that of the stored truth.
    let start = (0..20_000).map(|_| {
        let start: Vec<f64> = (0..4).map(|_| 0.1 * random.uniform() - 0.05).collect();
        rollout(&start, &mut random)
    });
    let start = start.sum::<f64>() / 20_000.0;
    assert!((start - 51.899).abs() < 1.0, "{start}");
}

/// The return of a rollout.
fn rollout(start: &[f64], random: &mut Stream) -> f64 {
    let [mut x, mut speed, mut angle, mut turn] = [start[0], start[1], start[2], start[3]];
    let (mut total, mut weight) = (0.0, 1.0);
    while weight > 1e-6 {
        total += weight;
        weight *= 0.99;
        let right = match random.uniform() < 0.6 {
            true => random.uniform() < 0.5,
            false => angle + 0.5 * turn > 0.0,
        };
        let force = if right { 10.0 } else { -10.0 };
        let (sin, cos) = angle.sin_cos();
        let push = (force + 0.05 * turn * turn * sin) / 1.1;
        let spin = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1));
        let slide = push - 0.05 * spin * cos / 1.1;
        x += 0.02 * speed;
        speed += 0.02 * slide;
        angle += 0.02 * turn;
        turn += 0.02 * spin;
        if x.abs() > 2.4 || angle.abs() > 12.0 * TAU / 360.0 {
            break;
        }
    }
    total
}
