//! Prints coverage and width of intervals as lines of a Markdown table.

use std::io::Write;

use crate::run::{Answer, Answers};
use crate::scenario::Scenario;

/// The quantile of the normal distribution for 95 %.
const QUANTILE: f64 = 1.96;

/// Prints the head of the table.
pub fn header() {
    println!(
        "| scenario | rows | d | coverage (worst) | width | bias | cannot tell | start value |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

/// Prints the line of a scenario.
pub fn line(scenario: &Scenario, answers: &[Answers]) {
    let truths = scenario.queries.iter().enumerate();
    let of_row = |(k, &(_, truth)): (usize, &(Vec<f64>, f64))| {
        let found: Vec<Answer> = answers.iter().map(|log| log.values[k]).collect();
        Summary::of(&found, truth)
    };
    let rows: Vec<Summary> = truths.map(of_row).collect();
    let mean = |of: fn(&Summary) -> f64| mean(rows.iter().map(of).filter(|x| !x.is_nan()));
    let worst = rows.iter().map(|row| row.coverage);
    let starts: Vec<Answer> = answers.iter().filter_map(|log| log.start).collect();
    println!(
        "| {} | {} | {} | {} ({}) | {} | {:.2} | {} | {} |",
        scenario.name,
        scenario.rows,
        scenario.dimension,
        percent(mean(|row| row.coverage)),
        percent(worst.fold(f64::NAN, f64::min)),
        ratio(mean(|row| row.width)),
        mean(|row| row.bias),
        percent(mean(|row| row.silent)),
        match starts.is_empty() {
            true => "-".into(),
            false => Summary::of(&starts, scenario.start_value).cell(),
        },
    );
    // Lines appear while the rest runs, even in a pipe.
    let _ = std::io::stdout().flush();
}

/// Answers to one question, from all logs.
struct Summary {
    /// The share of intervals that contain the truth.
    coverage: f64,
    /// The mean width of intervals over the oracle's.
    width: f64,
    /// The mean error over the standard deviation.
    bias: f64,
    /// The share of answers without a bounded interval.
    silent: f64,
}

impl Summary {
    fn of(answers: &[Answer], truth: f64) -> Self {
        let bounded = |answer: &Answer| {
            answer
                .interval
                .filter(|(low, high)| (high - low).is_finite())
        };
        let intervals: Vec<(f64, f64)> = answers.iter().filter_map(bounded).collect();
        let values = (answers.iter().map(|answer| answer.value)).filter(|value| value.is_finite());
        let values: Vec<f64> = values.collect();
        let center = mean(values.iter().copied());
        let squares: f64 = values.iter().map(|x| (x - center) * (x - center)).sum();
        let deviation = (squares / (values.len() as f64 - 1.0)).sqrt();
        let contains =
            |&(low, high): &(f64, f64)| f64::from(u8::from(low <= truth && truth <= high));
        let widths = intervals.iter().map(|(low, high)| high - low);
        Self {
            coverage: mean(intervals.iter().map(contains)),
            width: mean(widths) / (2.0 * QUANTILE * deviation),
            bias: (center - truth) / deviation,
            silent: 1.0 - intervals.len() as f64 / answers.len() as f64,
        }
    }

    fn cell(&self) -> String {
        let [coverage, silent] = [self.coverage, self.silent].map(percent);
        format!("{coverage}, {}, {silent}", ratio(self.width))
    }
}

/// The mean; NaN of nothing.
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    sum / count
}

fn percent(share: f64) -> String {
    shown(share, format!("{:.1} %", 100.0 * share))
}

fn ratio(ratio: f64) -> String {
    let text = match ratio < 1000.0 {
        true => format!("{ratio:.2}x"),
        false => format!("{ratio:.0e}x"),
    };
    shown(ratio, text)
}

fn shown(number: f64, text: String) -> String {
    if number.is_nan() { "-".into() } else { text }
}
