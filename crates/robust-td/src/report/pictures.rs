//! Draws the pictures of an evaluation.

use robust_td_data::{
    EpisodeSample, EvaluationReport, OffPolicyMethod, ReturnCheck, Tenth, ValueSample,
};
use robust_td_report::{
    Chart, Drawing, Error, ErrorBar, IntervalFigure, IntervalRow, Layer, Strip, Tone,
};

use super::histogram::bars;
use super::parts::{count, percent, range, short};

/// The number of rows of an episode that a picture shows.
const SHOWN: usize = 400;
/// The number of places along an episode whose numbers the pointer finds.
const PLACES: usize = 80;

/// The value of the policy and the mean return on one axis.
pub fn estimates(report: &EvaluationReport, confidence: f64) -> Result<Drawing, Error> {
    let row = |label: &str, value: f64, ends: (f64, f64), tone| IntervalRow {
        label: label.into(),
        value,
        ends: Some(ends),
        hint: match ends.1.is_finite() {
            true => format!(
                "{label}: {}, interval {}",
                short(value),
                range(ends.0, ends.1)
            ),
            false => format!("{label}: {}, interval not known", short(value)),
        },
        tone,
    };
    let value = report.start_value.as_ref();
    let mean = report.monte_carlo.as_ref();
    let rows = [
        value.map(|x| {
            let label = match report.off_policy {
                Some(_) => "least squares",
                None => "value of the policy",
            };
            row(label, x.value, (x.lower, x.upper), Tone::First)
        }),
        mean.map(|x| {
            let label = match report.off_policy {
                Some(_) => "logged policy",
                None => "mean return",
            };
            row(label, x.value, (x.lower, x.upper), Tone::Second)
        }),
    ];
    let others = report.off_policy.iter().flat_map(|found| &found.estimates);
    let others = others
        .filter(|x| x.method != OffPolicyMethod::LeastSquares)
        .map(|x| row(x.method.name(), x.value, (x.lower, x.upper), Tone::First));
    let mut rows: Vec<IntervalRow> = rows.into_iter().flatten().collect();
    rows.splice(1.min(rows.len())..1.min(rows.len()), others);
    IntervalFigure {
        title: "The value of the policy and the mean return".into(),
        x: format!("discounted return, {} interval", percent(confidence)),
        rows,
        zero: false,
    }
    .draw()
}

/// Predicted values against returns, by tenths.
pub fn calibration(check: &ReturnCheck) -> Result<Drawing, Error> {
    let point = |(k, tenth): (usize, &Tenth)| {
        let (x, y) = (tenth.predicted, tenth.discounted_return);
        ErrorBar {
            x,
            y,
            ends: tenth.stderr.map(|error| (y - error, y + error)),
            hint: format!(
                "tenth {}: predicted {}, return {}, standard error {}; {} of {}",
                k + 1,
                short(x),
                short(y),
                tenth.stderr.map_or("not known".into(), short),
                count(tenth.rows, "row"),
                count(tenth.episodes, "episode")
            ),
        }
    };
    let of = |far: bool| -> Vec<ErrorBar> {
        let tenths = check.tenths.iter().enumerate();
        tenths
            .filter(|(_, tenth)| check.is_far_off(tenth) == far)
            .map(point)
            .collect()
    };
    let mut layers = vec![Layer::Diagonal {
        label: "perfect agreement".into(),
    }];
    let kinds = [
        ("a tenth of the rows", of(false), Tone::First),
        ("far off", of(true), Tone::Wrong),
    ];
    for (label, points, tone) in kinds {
        if !points.is_empty() {
            let label = label.into();
            layers.push(Layer::Points {
                label,
                points,
                tone,
            });
        }
    }
    Chart {
        title: "Predicted values against returns".into(),
        x: "mean predicted value".into(),
        y: "mean return".into(),
        layers,
        same_axes: true,
    }
    .draw()
}

/// The distribution of the values of rows.
pub fn values(sample: &ValueSample) -> Result<Drawing, Error> {
    histogram(
        "Values of rows",
        "predicted value",
        "rows",
        bars(&sample.values, "row"),
        None,
    )
}

/// The distribution of the values of first rows, with their mean over the log.
pub fn start_values(sample: &ValueSample, mean: Option<f64>) -> Result<Drawing, Error> {
    let bars = bars(&sample.starts, "episode");
    histogram(
        "Values of first rows",
        "predicted value of the first row",
        "episodes",
        bars,
        mean,
    )
}

/// A histogram, with a line at the mean if it is given.
pub fn histogram(
    title: &str,
    x: &str,
    y: &str,
    bars: Vec<robust_td_report::Bar>,
    mean: Option<f64>,
) -> Result<Drawing, Error> {
    let mut layers = vec![Layer::Bars {
        label: String::new(),
        bars,
    }];
    if let Some(x) = mean.filter(|x| x.is_finite()) {
        let label = format!("mean {}", short(x));
        layers.push(Layer::Vertical { label, x });
    }
    Chart {
        title: title.into(),
        x: x.into(),
        y: y.into(),
        layers,
        same_axes: false,
    }
    .draw()
}

/// The title of an episode's picture.
pub fn episode_title(episode: &EpisodeSample, episodic: bool) -> String {
    let rows = episode.values.len();
    match (episodic, episode.whole) {
        (false, _) => format!("The first {}", count(rows as u64, "row")),
        (true, false) => format!(
            "Episode {}, first {}",
            episode.number + 1,
            count(rows as u64, "row")
        ),
        (true, true) => format!(
            "Episode {}: {}, {}",
            episode.number + 1,
            count(rows as u64, "row"),
            if episode.terminated {
                "terminated"
            } else {
                "truncated"
            }
        ),
    }
}

/// Predicted values along an episode, and its returns.
pub fn episode(episode: &EpisodeSample, discount: f64) -> Result<Drawing, Error> {
    let rows = episode.values.len().min(SHOWN);
    let returns = match episode.weighted {
        true => Vec::new(),
        false => episode.returns(discount),
    };
    let curve = |values: &[f64]| -> Vec<(f64, f64)> {
        let numbered = values.iter().take(rows).enumerate();
        numbered.map(|(t, y)| ((t + 1) as f64, *y)).collect()
    };
    let line = |label: &str, values: &[f64], tone| Layer::Line {
        label: label.into(),
        points: curve(values),
        tone,
    };
    let mut layers = Vec::new();
    if !returns.is_empty() {
        layers.push(line("return", &returns, Tone::Second));
    }
    layers.push(line("predicted value", &episode.values, Tone::First));
    layers.push(Layer::Strips {
        strips: strips(&episode.values[..rows], &returns),
    });
    Chart {
        title: format!("Values along episode {}", episode.number + 1),
        x: "row of the episode".into(),
        y: "value".into(),
        layers,
        same_axes: false,
    }
    .draw()
}

/// Strips that show the numbers of rows; in a long episode, of every few rows.
fn strips(values: &[f64], returns: &[f64]) -> Vec<Strip> {
    let stride = values.len().div_ceil(PLACES).max(1);
    (0..values.len())
        .step_by(stride)
        .map(|t| {
            let found =
                (returns.get(t)).map_or(String::new(), |x| format!(", return {}", short(*x)));
            let middle = (t + 1) as f64;
            Strip {
                low: middle - 0.5 * stride as f64,
                high: middle + 0.5 * stride as f64,
                hint: format!("row {}: predicted {}{found}", t + 1, short(values[t])),
            }
        })
        .collect()
}
