//! Checks returns against predictions: the sums, what is left out, and the message about too few features.

use std::fmt::Write as _;

use robust_td_core::features::Fitting;
use robust_td_core::random::Stream;
use robust_td_core::registry;
use robust_td_core::registry::Setting;
use robust_td_data::{
    Batch, Compression, Decile, Error, Format, Model, ReadOptions, Reader, ReturnCheck, Source,
};

const DISCOUNT: f64 = 0.9;

fn open(text: &str) -> Result<Reader, Error> {
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    let source = Source::stream("log", Format::Csv, Compression::None, bytes)?;
    let options = ReadOptions {
        batch_rows: 100,
        ..ReadOptions::default()
    };
    Reader::open(vec![source], options)
}

/// A model of the log by least squares.
fn model(text: &str, spec: &str) -> Model {
    let mut batch = Batch::default();
    let mut fitting = Fitting::new(spec, 1).unwrap();
    while fitting.needs_pass() {
        let mut reader = open(text).unwrap();
        while reader.read(&mut batch).unwrap() {
            for &observation in batch.observations() {
                fitting.observe(&[observation]).unwrap();
            }
        }
        fitting.end_pass().unwrap();
    }
    let features = fitting.finish().unwrap();
    let setting = Setting {
        discount: DISCOUNT,
        dimension: features.outputs(),
        horizon: 1000,
        phi_inf: 1.0,
        known: None,
    };
    let lstd = registry::find("lstd").unwrap();
    let learner = lstd.prepare(&setting, &[("ridge", 1e-9)]).unwrap().learner;
    let mut model = Model::new(features, learner, 1.0, None).unwrap();
    let mut reader = open(text).unwrap();
    while reader.read(&mut batch).unwrap() {
        let schema = reader.schema().clone();
        model.learn(&schema, &batch, 0, u64::MAX).unwrap();
    }
    model
}

fn check(text: &str, spec: &str) -> ReturnCheck {
    let model = model(text, spec);
    ReturnCheck::take(&mut || open(text), &model)
        .unwrap()
        .unwrap()
}

fn largest(check: &ReturnCheck) -> f64 {
    let all = check.deciles.iter().map(|d| d.standard_errors().unwrap());
    all.fold(0.0, f64::max)
}

/// Episodes on a chain of 13 states: one or two steps up at a time with noisy rewards, until terminated or truncated.
fn chain(episodes: usize, cut: f64) -> String {
    let mut text = String::from("obs_0,reward,terminated,truncated,episode\n");
    let mut stream = Stream::new(7, 0);
    for episode in 0..episodes {
        let (mut state, mut truncated) = (0, false);
        while state < 13 && !truncated {
            let next = state + 1 + usize::from(stream.uniform() < 0.5);
            let reward = state as f64 + 4.0 * stream.uniform();
            truncated = stream.uniform() < cut;
            let terminated = u8::from(next >= 13);
            let flags = format!("{terminated},{}", u8::from(truncated));
            writeln!(text, "{state},{reward},{flags},{episode}").unwrap();
            state = next;
        }
    }
    text
}

#[test]
fn a_chain_with_a_feature_per_state_passes() {
    let text = chain(2000, 0.0);
    let check = check(&text, "one-hot");
    assert_eq!((check.episodes, check.left_out_episodes), (2000, 0));
    assert_eq!(check.rows, text.lines().count() as u64 - 1);
    assert_eq!(
        check.rows,
        check.deciles.iter().map(|d| d.rows).sum::<u64>()
    );
    assert!((8..=10).contains(&check.deciles.len()));
    assert!(check.deciles.is_sorted_by(|a, b| a.predicted < b.predicted));
    assert!(largest(&check) < 4.0, "{check:?}");
    // The mean return rises with the predicted value by far more than the differences.
    let (first, last) = (check.deciles[0], check.deciles[check.deciles.len() - 1]);
    assert!(last.discounted_return - first.discounted_return > 10.0);
}

#[test]
fn a_chain_with_few_features_does_not() {
    let text = chain(2000, 0.0);
    let constant = check(&text, "bias");
    assert_eq!(constant.deciles.len(), 1);
    assert!(largest(&constant) > 20.0, "{constant:?}");
    let linear = check(&text, "bias + identity");
    assert!(linear.deciles.len() >= 8);
    assert!(largest(&linear) > 20.0, "{linear:?}");
}

#[test]
fn the_sums_are_those_of_a_look_back() {
    let text = chain(300, 0.05);
    let model = model(&text, "bias + identity");
    let check = ReturnCheck::take(&mut || open(&text), &model)
        .unwrap()
        .unwrap();
    let theta = robust_td_core::learner::Learner::output(model.learner());
    // Episodes of (prediction, return), only those that end with terminated.
    let mut episodes: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut rows: Vec<(f64, f64)> = Vec::new();
    let mut left_out = (0, 0);
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        rows.push((theta[0] + theta[1] * cells[0], cells[1]));
        if cells[2] == 1.0 {
            for i in (0..rows.len() - 1).rev() {
                rows[i].1 += DISCOUNT * rows[i + 1].1;
            }
            episodes.push(std::mem::take(&mut rows));
        } else if cells[3] == 1.0 {
            // Without next observations the truncated row has no successor, so it is no transition.
            left_out.0 += u64::from(rows.len() > 1);
            left_out.1 += rows.len() as u64 - 1;
            rows.clear();
        }
    }
    assert!(left_out.0 > 20 && episodes.len() > 20);
    assert_eq!(check.episodes, episodes.len() as u64);
    assert_eq!((check.left_out_episodes, check.left_out_rows), left_out);
    // With a value per state the groups are known by their rows.
    let mut values: Vec<f64> = episodes.iter().flatten().map(|row| row.0).collect();
    values.sort_by(f64::total_cmp);
    let mut lowest = 0;
    for decile in &check.deciles {
        let (low, high) = (values[lowest], values[lowest + decile.rows as usize - 1]);
        lowest += decile.rows as usize;
        assert_close(decile, &by_hand(&episodes, low, high));
    }
    assert_eq!(lowest, values.len());
}

/// The group of the predictions in a range.
fn by_hand(episodes: &[Vec<(f64, f64)>], low: f64, high: f64) -> Decile {
    let own = |episode: &Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        let rows = episode.iter().copied();
        rows.filter(|row| (low..=high).contains(&row.0)).collect()
    };
    let clusters: Vec<Vec<(f64, f64)>> = episodes.iter().map(own).collect();
    let clusters: Vec<_> = clusters.iter().filter(|rows| !rows.is_empty()).collect();
    let rows: Vec<(f64, f64)> = clusters
        .iter()
        .flat_map(|rows| rows.iter())
        .copied()
        .collect();
    let n = rows.len() as f64;
    let predicted = rows.iter().map(|row| row.0).sum::<f64>() / n;
    let discounted_return = rows.iter().map(|row| row.1).sum::<f64>() / n;
    let difference = predicted - discounted_return;
    let excess = |rows: &Vec<(f64, f64)>| rows.iter().map(|(v, g)| v - g - difference).sum::<f64>();
    let squares: f64 = clusters.iter().map(|rows| excess(rows).powi(2)).sum();
    let m = clusters.len() as f64;
    Decile {
        rows: rows.len() as u64,
        episodes: clusters.len() as u64,
        predicted,
        discounted_return,
        difference,
        stderr: Some((m / (m - 1.0) * squares).sqrt() / n),
    }
}

fn assert_close(found: &Decile, expected: &Decile) {
    assert_eq!(
        (found.rows, found.episodes),
        (expected.rows, expected.episodes)
    );
    for (a, b) in [
        (found.predicted, expected.predicted),
        (found.discounted_return, expected.discounted_return),
        (found.difference, expected.difference),
        (found.stderr.unwrap(), expected.stderr.unwrap()),
    ] {
        assert!((a - b).abs() < 1e-9, "{found:?} {expected:?}");
    }
}

#[test]
fn logs_without_a_complete_episode_have_no_deciles() {
    let text = "obs_0,reward\n1,2\n0,1\n1,0\n0,3\n";
    let check = check(text, "one-hot");
    assert_eq!((check.episodes, check.rows), (0, 0));
    assert_eq!((check.left_out_episodes, check.left_out_rows), (1, 3));
    assert!(check.deciles.is_empty());
}

#[test]
fn one_episode_has_no_standard_error() {
    let text = "obs_0,reward,terminated\n0,1,0\n1,2,0\n2,4,1\n0,1,0\n";
    let one = check(text, "bias");
    let decile = one.deciles[0];
    assert_eq!((one.episodes, decile.rows, decile.stderr), (1, 3, None));
    let returns = (1.0 + 0.9 * 2.0 + 0.81 * 4.0) + (2.0 + 0.9 * 4.0) + 4.0;
    assert!((decile.discounted_return - returns / 3.0).abs() < 1e-12);
    assert_eq!(decile.standard_errors(), None);
}

#[test]
fn the_sample_is_bounded_and_its_groups_are_tenths() {
    // One episode with enough rows to thin the sample, after a longer one that does not count.
    let mut text = String::from("obs_0,reward,terminated\n");
    let mut stream = Stream::new(3, 0);
    for rows in [150_000, 100_000, 100_000] {
        for row in 0..rows {
            let terminated = u8::from(row + 1 == rows && rows < 150_000);
            let hole = if row + 1 == rows && rows == 150_000 {
                "x"
            } else {
                "0"
            };
            writeln!(text, "{},{hole},{terminated}", stream.uniform()).unwrap();
        }
    }
    let skipping = |text: &str| {
        let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
        let source = Source::stream("log", Format::Csv, Compression::None, bytes)?;
        let options = ReadOptions {
            skip_bad_rows: 1,
            ..ReadOptions::default()
        };
        Reader::open(vec![source], options)
    };
    let model = model("obs_0,reward,terminated\n1,1,1\n2,2,1\n", "identity");
    let check = ReturnCheck::take(&mut || skipping(&text), &model)
        .unwrap()
        .unwrap();
    assert_eq!((check.episodes, check.left_out_episodes), (2, 1));
    assert_eq!(check.rows, 200_000);
    assert_eq!(check.deciles.len(), 10);
    for decile in &check.deciles {
        assert!((19_000..=21_000).contains(&decile.rows), "{}", decile.rows);
    }
}
