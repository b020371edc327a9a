//! Tests the sample of values that pictures are drawn from.

use robust_td_data::{Fit, Model, inspect};

use super::log::{Folder, csv, episodes};

fn fit(text: &str, threads: usize) -> Fit {
    let folder = Folder::new();
    folder.evaluation(text).threads(threads).run().unwrap()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_mean_over_all_starts_is_the_value_of_the_policy() {
    let fit = fit(&without_ratios(&csv(&episodes(5000, 3))), 1);
    let (sample, start) = (fit.sample().unwrap(), fit.start_value().unwrap());
    assert_eq!(sample.starts.len() as u64, start.starts);
    assert!((mean(&sample.starts) - start.value).abs() < 1e-9);
    assert!((500..5000).contains(&sample.values.len()));
    assert!(sample.values.is_sorted());
    // Standardised features have deviation 1, the constant has none.
    let last = sample.deviations.len() - 1;
    assert!(
        sample.deviations[..last]
            .iter()
            .all(|x| (x - 1.0).abs() < 0.1)
    );
    assert_eq!(sample.deviations[last], 0.0);
}

#[test]
fn episodes_are_whole_and_their_returns_are_those_of_the_log() {
    let rows = episodes(3000, 4);
    let fit = fit(&without_ratios(&csv(&rows)), 1);
    let sample = fit.sample().unwrap();
    assert_eq!(sample.episodes.len(), 6);
    for episode in &sample.episodes {
        let own: Vec<_> = (rows.iter())
            .filter(|row| row.episode == episode.number)
            .collect();
        assert!(
            own.iter()
                .map(|row| row.reward)
                .eq(episode.rewards.iter().copied())
        );
        let values = own.iter().map(|row| fit.value(&row.obs).unwrap());
        assert!(values.eq(episode.values.iter().copied()));
        let last = own.last().unwrap();
        assert_eq!(episode.terminated, last.terminated);
        assert_eq!(episode.whole, last.terminated || last.truncated);
        assert!(!episode.weighted);
        if episode.terminated {
            let discounted = own
                .iter()
                .rev()
                .fold(0.0, |sum, row| row.reward + 0.9 * sum);
            assert!((episode.returns(0.9)[0] - discounted).abs() < 1e-9);
        }
    }
}

#[test]
fn the_sample_does_not_depend_on_threads_and_is_not_saved() {
    // Several chunks.
    let text = csv(&episodes(50_000, 5));
    let one = fit(&text, 1);
    assert_eq!(one.sample(), fit(&text, 4).sample());
    let sample = one.sample().unwrap();
    assert!((500..=2048).contains(&sample.starts.len()));
    assert!(sample.episodes.iter().all(|episode| episode.weighted));
    let restored = Model::from_json(&one.model().to_json().unwrap()).unwrap();
    assert_eq!(Fit::new(restored, 0.95).unwrap().sample(), None);
}

#[test]
fn an_inspected_log_has_a_sample_of_rows_and_all_correlations() {
    let rows = episodes(2000, 6);
    let folder = Folder::new();
    let report = inspect([folder.write("log.csv", csv(&rows))]).unwrap();
    let sample = &report.sample;
    assert!(
        sample
            .rewards
            .iter()
            .copied()
            .eq(rows.iter().map(|row| row.reward))
    );
    assert!(
        sample.features[1]
            .iter()
            .copied()
            .eq(rows.iter().map(|row| row.obs[1]))
    );
    assert_eq!(sample.lengths.iter().sum::<f64>(), 2000.0);
    let means = [0, 1].map(|k| report.features[k].stats.mean);
    let products = rows
        .iter()
        .map(|row| (row.obs[0] - means[0]) * (row.obs[1] - means[1]));
    let covariance = products.sum::<f64>() / 2000.0;
    let deviations = report.features[0].stats.std * report.features[1].stats.std;
    let correlation = sample.correlations[0][1].unwrap();
    assert!((correlation - covariance / deviations).abs() < 1e-9);
}

/// The log without its last column.
fn without_ratios(csv: &str) -> String {
    let lines = csv.lines().filter_map(|line| line.rsplit_once(','));
    lines.map(|(line, _)| format!("{line}\n")).collect()
}
