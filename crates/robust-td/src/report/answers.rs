//! Answers what a reader of an evaluation wants to know first.

use robust_td_data::{
    EvaluationReport, FindingKind, MonteCarlo, ReturnCheck, ReturnVariance, StartValue, Verdict,
};
use robust_td_report::{Answer, Cell, Mood};

use super::parts::{answer, count, percent, precise, short};

/// The value of the policy, the mean return beside it, whether the answer converged, whether the features fit.
pub fn answers(report: &EvaluationReport, confidence: f64) -> Vec<Answer> {
    let mut list = vec![value(report, confidence)];
    list.extend((report.monte_carlo.as_ref()).map(|found| mean_return(report, found, confidence)));
    list.extend((report.return_variance.as_ref()).map(|found| deviation(found, confidence)));
    list.push(converged(report));
    list.push(features(report));
    list
}

fn value(report: &EvaluationReport, confidence: f64) -> Answer {
    let name = "Value of the policy";
    let Some(start) = &report.start_value else {
        let why = "this algorithm does not report it for this input";
        return answer(
            name,
            Cell::word("not known"),
            vec![Cell::prose(why)],
            Mood::Plain,
        );
    };
    let mut detail = match (report.converged, start.upper.is_finite()) {
        (Some(false), _) => vec![Cell::prose("not learned, so there is no interval;")],
        (_, false) => vec![Cell::prose("no interval: see the findings;")],
        (_, true) => interval("start_value", start.lower, start.upper, confidence),
    };
    detail.push(Cell::prose(over(report, start)));
    let width = start.upper - start.lower;
    let value = precise(Some(start.value), Some(width), "start_value.value".into());
    answer(name, value, detail, Mood::Plain)
}

fn over(report: &EvaluationReport, start: &StartValue) -> String {
    match report.episodic {
        true => {
            let of = match report.episodes.filter(|all| *all > start.starts) {
                Some(all) => format!(" of {all}"),
                None => String::new(),
            };
            let starts = count(start.starts, "episode");
            format!("mean over the first rows of {starts}{of}")
        }
        false => "mean over all rows".into(),
    }
}

/// The words of an interval, with the keys of its ends.
fn interval(key: &str, lower: f64, upper: f64, confidence: f64) -> Vec<Cell> {
    vec![
        Cell::prose(format!("{} interval", percent(confidence))),
        precise(Some(lower), Some(upper - lower), format!("{key}.lower")),
        Cell::prose("to"),
        precise(Some(upper), Some(upper - lower), format!("{key}.upper")),
        Cell::prose("–"),
    ]
}

fn mean_return(report: &EvaluationReport, found: &MonteCarlo, confidence: f64) -> Answer {
    let mut detail = match found.upper.is_finite() {
        true => interval("monte_carlo", found.lower, found.upper, confidence),
        false => Vec::new(),
    };
    let episodes = count(found.episodes, "complete episode");
    let (agrees, mood) = agreement(report, found);
    detail.push(Cell::prose(format!("plain mean over {episodes}; {agrees}")));
    let width = found.upper - found.lower;
    let value = precise(Some(found.value), Some(width), "monte_carlo.value".into());
    let name = match report.off_policy {
        Some(_) => "Logged policy",
        None => "Mean return",
    };
    answer(name, value, detail, mood)
}

fn deviation(found: &ReturnVariance, confidence: f64) -> Answer {
    let name = "Return varies by";
    if found.standard_deviation.is_nan() {
        let why = "the features give a negative variance; try richer ones";
        let detail = vec![Cell::prose(why)];
        return answer(name, Cell::word("not known"), detail, Mood::Plain);
    }
    let mut detail = match found.upper.is_finite() {
        true => interval("return_variance", found.lower, found.upper, confidence),
        false => vec![Cell::prose("no interval;")],
    };
    detail.push(Cell::prose("standard deviation of the return from a start"));
    let width = found.upper - found.lower;
    let key = "return_variance.standard_deviation".into();
    let value = precise(Some(found.standard_deviation), Some(width), key);
    answer(name, value, detail, Mood::Plain)
}

/// Whether the value and the mean return agree.
fn agreement(report: &EvaluationReport, found: &MonteCarlo) -> (&'static str, Mood) {
    let kinds = report.findings.iter().map(|finding| finding.kind);
    if report.off_policy.is_some() {
        let cut = report
            .start_value
            .is_some_and(|start| found.episodes < start.starts);
        let words = match cut {
            true => {
                "the policy that was followed; not comparable with the value, because the episodes that were cut are left out"
            }
            false => "the policy that was followed",
        };
        return (words, Mood::Plain);
    }
    let differs = kinds
        .into_iter()
        .any(|kind| kind == FindingKind::MonteCarloDiffers);
    let Some(start) = &report.start_value else {
        return ("there is no value to compare it with", Mood::Plain);
    };
    if report.converged == Some(false) {
        return ("the value was not learned", Mood::Plain);
    }
    if differs {
        return ("differs from the value by more than chance", Mood::Bad);
    }
    if found.episodes < start.starts {
        let why = "not comparable with the value, because the episodes that were cut are left out";
        return (why, Mood::Plain);
    }
    match start.upper.is_finite() && found.upper.is_finite() {
        true => ("agrees with the value within the error", Mood::Good),
        false => (
            "the errors are not known well enough to compare it",
            Mood::Plain,
        ),
    }
}

fn converged(report: &EvaluationReport) -> Answer {
    let (value, mood, words) = match (report.diverged, report.converged) {
        (true, _) => ("no", Mood::Bad, "the iterates diverged"),
        (_, Some(true)) => (
            "yes",
            Mood::Good,
            "the answer solves the equations of the log",
        ),
        (_, Some(false)) => ("no", Mood::Bad, "the equations of the log are not solved"),
        (_, None) => ("not known", Mood::Plain, "the log was read only once"),
    };
    let mut detail = vec![Cell::prose(words)];
    if let Some(residual) = report.relative_residual {
        detail.push(Cell::prose("– relative residual"));
        detail.push(Cell::Exact {
            value: residual,
            digits: 2,
            key: "relative_residual".into(),
        });
    }
    if let Some(suggestion) = report.suggestion {
        detail.push(Cell::prose(format!("– {suggestion}")));
    }
    answer("Converged", Cell::word(value), detail, mood)
}

fn features(report: &EvaluationReport) -> Answer {
    let mut kinds = report.findings.iter().map(|finding| finding.kind);
    let differ = kinds.any(|kind| kind == FindingKind::EstimatorsDiffer);
    let (value, mood, words) = match (&report.check, report.converged) {
        (None, _) if differ => (
            "no",
            Mood::Bad,
            "other estimators differ from least squares by more than chance".into(),
        ),
        (None, _) if report.off_policy.is_some() => (
            "not known",
            Mood::Plain,
            "the returns are those of the policy that was followed".into(),
        ),
        (None, _) => (
            "not known",
            Mood::Plain,
            "predictions were not compared with returns".into(),
        ),
        (_, Some(false)) => (
            "not known",
            Mood::Plain,
            "the answer has not converged".into(),
        ),
        (Some(check), _) => verdict(check),
    };
    answer(
        "Features fit",
        Cell::word(value),
        vec![Cell::prose(words)],
        mood,
    )
}

fn verdict(check: &ReturnCheck) -> (&'static str, Mood, String) {
    let largest = check.largest().map_or(String::new(), |largest| {
        let errors = short((10.0 * largest).round() / 10.0);
        format!("; the largest difference is {errors} standard errors")
    });
    match check.verdict() {
        Verdict::Fits => (
            "yes",
            Mood::Good,
            format!("predicted values match the returns{largest}"),
        ),
        Verdict::DoesNotFit => (
            "no",
            Mood::Bad,
            format!("predicted values differ from the returns{largest}"),
        ),
        Verdict::AllEqual => (
            "not known",
            Mood::Plain,
            "nearly all predicted values are equal".into(),
        ),
        Verdict::Unknown => {
            let why = check.why_unknown();
            ("not known", Mood::Plain, format!("{why}{largest}"))
        }
    }
}
