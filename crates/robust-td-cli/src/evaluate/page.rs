//! Prints the result of an evaluation: the answer first, then what it rests on.

use robust_td_data::{
    Entry, EvaluationReport, Finding, FindingKind, MonteCarlo, ReturnVariance, StartValue, Unit,
    Warning,
};

use super::{choice, features, intervals, off_policy, returns};
use crate::text;

/// The number of weights that a page shows.
const SHOWN: usize = 12;

/// The whole page; `verbose` adds how the answer was computed.
pub fn page(report: &EvaluationReport, confidence: f64, verbose: bool) -> String {
    let mut page = text::definitions(&answer(report, confidence));
    for finding in &report.findings {
        page += &text::wrap("  - ", 4, &finding.message);
    }
    if let Some(found) = &report.off_policy {
        page += &off_policy::page(found, confidence);
    }
    if !report.typical_rows.is_empty() {
        page += &typical_rows(report, confidence);
    }
    if let Some(check) = &report.check {
        page += &returns::page(check);
    }
    if let Some(choice) = &report.feature_choice {
        page += &features::page(choice);
    }
    page += &weights(report, confidence);
    page += "\nData\n";
    page += &text::definitions(&data(report));
    if verbose {
        page += "\nHow it was computed\n";
        page += &text::definitions(&internals(report));
        if let Some(choice) = &report.choice {
            page += &choice::table(choice);
        }
        if let Some(found) = report.intervals.as_ref().filter(|found| found.has_routes()) {
            page += &intervals::table(found, &report.theta_bar);
        }
    }
    page
}

/// The first lines: the value of the policy, whether it was learned, whether the features fit.
fn answer(report: &EvaluationReport, confidence: f64) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(start) = &report.start_value {
        rows.push((
            "value of the policy",
            start_value(report, start, confidence),
        ));
    }
    if let Some(monte_carlo) = &report.monte_carlo {
        let name = match report.off_policy {
            // Of another policy than the value above.
            Some(_) => "logged policy",
            None => "mean return",
        };
        rows.push((name, mean_return(report, monte_carlo, confidence)));
    }
    if let Some(found) = &report.return_variance {
        rows.push(("return varies by", deviation(found, confidence)));
    }
    rows.push(("converged", converged(report)));
    if let Some(check) = &report.check {
        let words = match report.converged {
            Some(false) => "not known: the answer has not converged".into(),
            _ => returns::verdict(check),
        };
        rows.push(("features fit", words));
    }
    if report.off_policy.is_some() {
        let differ = |finding: &Finding| finding.kind == FindingKind::EstimatorsDiffer;
        let words = match report.findings.iter().any(differ) {
            true => "no: other estimators differ from least squares by more than chance",
            false => "not compared: the returns are those of the policy that was followed",
        };
        rows.push(("features fit", words.into()));
    }
    if let Some(choice) = &report.feature_choice {
        rows.push(("features chosen", features::summary(choice)));
    }
    if let Some(suggestion) = report.suggestion {
        rows.push(("suggestion", suggestion.into()));
    }
    if !report.findings.is_empty() {
        let count = text::count(report.findings.len(), "finding");
        rows.push(("findings", count));
    }
    rows
}

fn start_value(report: &EvaluationReport, start: &StartValue, confidence: f64) -> String {
    let value = text::number(start.value);
    let over = match report.episodic {
        true => {
            let starts = text::count(start.starts as usize, "episode");
            match report.episodes.filter(|all| *all > start.starts) {
                // Its findings count all of them.
                Some(all) => format!(
                    "the first rows of {starts} (of {all}; those of the others are not used: no successor, or a bad row)"
                ),
                None => format!("the first rows of {starts}"),
            }
        }
        false => "all rows".into(),
    };
    let interval = match (report.converged, start.upper.is_finite()) {
        (Some(false), _) => "not learned, so there is no interval".into(),
        (_, true) => interval(start.lower, start.upper, confidence),
        (_, false) if report.unit.is_some() || report.learners.is_some() => {
            "no interval: see below".into()
        }
        (_, false) => "no interval: use the default algorithm for one".into(),
    };
    format!("{value}, {interval}; mean over {over}")
}

fn mean_return(report: &EvaluationReport, found: &MonteCarlo, confidence: f64) -> String {
    let value = text::number(found.value);
    let mut episodes = text::count(found.episodes as usize, "complete episode");
    let starts = report.start_value.map_or(0, |start| start.starts);
    // What is left out is not left out by chance: the long episodes are cut.
    if let cut @ 1.. = starts.saturating_sub(found.episodes) {
        episodes += &match cut {
            1 => ", without the one that was cut".into(),
            _ => format!(", without the {cut} that were cut"),
        };
        if report.off_policy.is_some() {
            episodes += ", so not comparable with the value";
        }
    }
    match found.upper.is_finite() {
        true => {
            let interval = interval(found.lower, found.upper, confidence);
            let of = match report.off_policy {
                Some(_) => "mean return of the policy that was followed, over",
                None => "plain mean over",
            };
            format!("{value}, {interval}; {of} {episodes}")
        }
        false => format!("{value}, of {episodes}"),
    }
}

/// The standard deviation of the return.
fn deviation(found: &ReturnVariance, confidence: f64) -> String {
    if found.standard_deviation.is_nan() {
        return "not known: the features give a negative variance; try richer ones".into();
    }
    let mut words = format!(
        "{} (standard deviation)",
        text::number(found.standard_deviation)
    );
    words += &match found.upper.is_finite() {
        true => format!(", {}", interval(found.lower, found.upper, confidence)),
        false => ", no interval".into(),
    };
    if let Some(observed) = found.observed {
        words += &format!("; {} among complete episodes", text::number(observed));
    }
    words
}

fn interval(lower: f64, upper: f64, confidence: f64) -> String {
    let [percent, lower, upper] = [100.0 * confidence, lower, upper].map(text::number);
    format!("{percent} % interval {lower} to {upper}")
}

fn converged(report: &EvaluationReport) -> String {
    let residual = report.relative_residual.map_or(String::new(), |residual| {
        format!(
            " (relative residual of the log's equations {})",
            text::number(residual)
        )
    });
    match (report.diverged, report.converged) {
        (true, _) => format!("no: it diverged{residual}"),
        (_, Some(true)) => format!("yes{residual}"),
        (_, Some(false)) => format!("no: not learned{residual}"),
        (_, None) => "not known: the log was read only once".into(),
    }
}

fn typical_rows(report: &EvaluationReport, confidence: f64) -> String {
    let percent = text::number(100.0 * confidence);
    let mut page = String::from("\nValues of rows, from the smallest to the largest\n");
    let mut rows = vec![[
        "row".into(),
        "value".into(),
        format!("{percent} % interval"),
    ]];
    for row in &report.typical_rows {
        let names = report.columns.iter().zip(&row.obs);
        let mut obs: Vec<String> = names
            .take(4)
            .map(|(name, x)| match x {
                Entry::Number(x) => format!("{name} = {}", text::number(*x)),
                Entry::Text(level) => format!("{name} = {level}"),
                Entry::Missing => format!("{name} missing"),
            })
            .collect();
        if row.obs.len() > 4 {
            obs.push(format!("... {} columns", row.obs.len()));
        }
        let ends = match (row.lower, row.upper) {
            (Some(lower), Some(upper)) if upper.is_finite() => {
                format!("{} to {}", text::number(lower), text::number(upper))
            }
            (Some(_), _) => "unbounded".into(),
            _ => "-".into(),
        };
        rows.push([obs.join(", "), text::number(row.value), ends]);
    }
    page += &text::columns(&rows);
    page
}

/// The weights of the features by name.
fn weights(report: &EvaluationReport, confidence: f64) -> String {
    let mut page = String::from("\nWeights of the features\n");
    let known = report.intervals.as_ref();
    let percent = text::number(100.0 * confidence);
    let mut rows = vec![[
        "feature".into(),
        "weight".into(),
        known.map_or(String::new(), |_| format!("{percent} % interval")),
    ]];
    for (j, weight) in report.theta_bar.iter().enumerate().take(SHOWN) {
        let ends = known.map_or(String::new(), |found| match found.upper[j].is_finite() {
            true => {
                let [lower, upper] = [found.lower[j], found.upper[j]].map(text::number);
                format!("{lower} to {upper}")
            }
            false => "unbounded".into(),
        });
        let name = report.feature_names.get(j).cloned();
        let name = name.unwrap_or_else(|| format!("feature {j}"));
        rows.push([name, text::number(*weight), ends]);
    }
    page += &text::columns(&rows);
    if report.theta_bar.len() > SHOWN {
        page += &format!(
            "  ... {} in all; --json lists them\n",
            report.theta_bar.len()
        );
    }
    page
}

/// What the answer rests on.
pub fn data(report: &EvaluationReport) -> Vec<(&'static str, String)> {
    let rank = report
        .rank
        .map_or(String::new(), |rank| format!(", {rank} independent"));
    let mut rows = vec![
        (
            "log",
            format!(
                "{} from {}; {} without a successor, {} skipped",
                text::count(report.steps as usize, "transition"),
                text::count(report.rows as usize, "row"),
                text::count(report.left_out as usize, "row"),
                text::count(report.bad_rows as usize, "bad row")
            ),
        ),
        (
            "features",
            format!(
                "{}: {}{rank}",
                report.features,
                text::count(report.dimension, "feature")
            ),
        ),
        (
            "method",
            match report.solver {
                Some(solver) => format!("{}, discount {}", solver.name(), report.discount),
                None => {
                    let average = report.learners.map_or(String::new(), |learners| {
                        format!("average of {} learners of ", learners.averaged)
                    });
                    format!(
                        "{average}{}, discount {}",
                        report.algorithm, report.discount
                    )
                }
            },
        ),
    ];
    if let (Some(unit), Some(found)) = (report.unit, &report.intervals) {
        let clusters = found.clusters.unwrap_or(0) as usize;
        let words = match unit {
            Unit::Time => {
                "the rows are one trajectory whose noise may be correlated over time".into()
            }
            Unit::Episode => {
                format!(
                    "{} are independent of each other",
                    text::count(clusters, "episode")
                )
            }
            Unit::Cluster => {
                format!(
                    "{} are independent of each other",
                    text::count(clusters, "cluster")
                )
            }
        };
        rows.push(("intervals", format!("{}; {words}", found.meaning)));
    }
    if report.too_short {
        rows.push(("intervals", Warning::TooFewRows.to_string()));
    }
    rows.push(("seconds", format!("{:.2}", report.seconds)));
    rows
}

fn internals(report: &EvaluationReport) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        (
            "norm of features",
            format!("at most {}", text::number(report.phi_inf)),
        ),
        ("iterates", iterates(report)),
        (
            "TD error",
            format!(
                "mean {}, root mean square {}, largest {}",
                text::number(report.td_error.mean),
                text::number(report.td_error.rms),
                text::number(report.td_error.max)
            ),
        ),
    ];
    if let Some(residual) = report.residual {
        let value = text::number(residual);
        let meaning = "|mean of delta phi| on blocks not learned from yet; 0 at the TD fixed point";
        rows.push(("TD residual", format!("{value} ({meaning})")));
    }
    if let Some(choice) = &report.choice {
        rows.insert(1, ("constant", choice::summary(choice)));
    }
    if let Some(projections) = report.projections {
        rows.push(("projections", projections.to_string()));
    }
    rows
}

/// How far the iterates went.
fn iterates(report: &EvaluationReport) -> String {
    let largest = text::number(report.max_theta_norm_sq);
    match (report.solved, report.diverged_at) {
        // A solver has no step size to diverge with; a nearly singular matrix can make theta large for a while.
        (true, _) => format!("none, solved for: largest |theta|^2 {largest}"),
        (false, Some(step)) => format!("diverged at step {step}"),
        (false, None) => format!("bounded: largest |theta|^2 {largest}"),
    }
}
