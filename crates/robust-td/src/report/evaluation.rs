//! Fills in the page of an evaluation.

use robust_td_data::{Entry, EpisodeSample, EvaluationReport, Fit, ReturnCheck, ValueSample};
use robust_td_report::{Block, Cell, Column, Document, PageFigure, Section, Table};

use super::answers::answers;
use super::facts::{convergence, data};
use super::features::features;
use super::parts::{
    count, figure, findings, names, paragraph, percent, precise, quoted, rerun, section, short,
};
use super::pictures;
use super::policy;
use super::weights::weights;
use crate::error::Result;
use crate::number::counted;

/// The number of columns of a row that are shown.
const ROW: usize = 4;

/// The page.
///
/// # Errors
/// When a figure cannot be drawn.
pub fn document(fit: &Fit, command: Option<&str>) -> Result<Document> {
    let report = fit.report();
    let sample = fit.sample();
    let mut sections = vec![findings(&report.findings)];
    sections.extend(estimates(&report, sample, fit.confidence())?);
    sections.extend(report.check.as_ref().map(calibration).transpose()?);
    sections.extend(report.feature_choice.as_ref().map(features));
    sections.extend(values(&report, sample, fit.confidence())?);
    sections.extend(episodes(&report, sample)?);
    sections.push(weights(fit, &report)?);
    sections.push(convergence(fit, &report));
    sections.push(data(fit, &report));
    sections.push(rerun(
        command
            .map(String::from)
            .or_else(|| own_command(fit, &report)),
    ));
    Ok(Document {
        title: match report.off_policy {
            Some(_) => "Evaluation of a new policy from a log".into(),
            None => "Evaluation of a logged policy".into(),
        },
        summary: summary(fit, &report),
        answers: answers(&report, fit.confidence()),
        sections,
    })
}

fn summary(fit: &Fit, report: &EvaluationReport) -> String {
    let files: Vec<String> = fit.files().into_iter().map(String::from).collect();
    let from = match files.is_empty() {
        true => String::new(),
        false => format!(" of {}", names(&files, 3)),
    };
    let whose = match report.off_policy {
        Some(_) => "a policy that was not followed",
        None => "the logged policy",
    };
    format!(
        "The expected discounted return of {whose} at discount {}, estimated from {}{from}.",
        report.discount,
        count(report.steps, "transition")
    )
}

/// The command line that evaluates the same files in the same way.
fn own_command(fit: &Fit, report: &EvaluationReport) -> Option<String> {
    let files = fit.files();
    let names: Vec<String> = files.iter().map(|name| quoted(name)).collect();
    (!files.is_empty()).then(|| {
        format!(
            "robust-td evaluate {} --discount {} --features {}",
            names.join(" "),
            report.discount,
            quoted(&report.features)
        )
    })
}

fn gallery(figures: impl IntoIterator<Item = Option<PageFigure>>) -> Option<Block> {
    let figures: Vec<PageFigure> = figures.into_iter().flatten().collect();
    (!figures.is_empty()).then_some(Block::Gallery(figures))
}

/// The value and the mean return, and the values of starts.
fn estimates(
    report: &EvaluationReport,
    sample: Option<&ValueSample>,
    confidence: f64,
) -> Result<Option<Section>> {
    let Some(start) = report.start_value else {
        return Ok(None);
    };
    let (title, caption) = match report.monte_carlo {
        _ if report.off_policy.is_some() => (
            "The policy, by several estimators, and the one that was followed",
            "Least squares, the first, needs no propensities, but features that fit; importance sampling needs no features, but propensities; doubly \
             robust is right if either is. The mean return is that of the policy that was followed. A dotted line: the interval is not \
             known.",
        ),
        Some(_) => (
            "Two estimates",
            "The mean return is the plain mean over complete episodes. It needs no features, and estimates the same quantity where no \
             episode is cut.",
        ),
        None => ("The estimate and its interval", ""),
    };
    let unknown = report
        .off_policy
        .iter()
        .flat_map(|found| found.unknown_intervals());
    let caption = std::iter::once(caption.to_owned()).chain(unknown);
    let caption = caption.collect::<Vec<_>>().join(" ");
    let both = match report.monte_carlo.is_some() || start.upper.is_finite() {
        true => figure(title, caption, pictures::estimates(report, confidence))?,
        false => None,
    };
    let starts = match sample.filter(|sample| report.episodic && sample.starts.len() > 1) {
        Some(sample) => {
            let drawing = pictures::start_values(sample, Some(start.value));
            let caption = match sample.starts.len() as u64 == start.starts {
                true => "Their mean is the value of the policy.".into(),
                false => format!(
                    "A sample of {} of {}. The line is the mean over all of them.",
                    sample.starts.len(),
                    count(start.starts, "episode")
                ),
            };
            figure("Values of the first rows", caption, drawing)?
        }
        None => None,
    };
    let blocks: Vec<Block> = gallery([both, starts])
        .into_iter()
        .chain((report.off_policy.as_ref()).map(|found| policy::estimates(found, confidence)))
        .collect();
    Ok((!blocks.is_empty()).then(|| section("Value", "Value of the policy", blocks)))
}

fn calibration(check: &ReturnCheck) -> Result<Section> {
    let rows = match check.held_out {
        true => "Rows that were held out from the fit",
        false => "Rows of the log",
    };
    let mut text = format!(
        "{rows}, sorted by predicted value and cut into tenths. If the features can express the values, the mean return of each tenth \
         is close to its mean prediction."
    );
    if check.undetermined > 0 {
        text += &format!(
            " {} not compared, because the other rows do not have their features.",
            counted(check.undetermined, "row held out is", "rows held out are")
        );
    }
    if check.cut > 0 {
        text += &format!(
            " {} of {} episodes or parts were cut; what would have followed is replaced by the predicted value there.",
            check.cut, check.episodes
        );
    }
    let caption = "Bars are one standard error of the difference, by episodes.";
    let picture = figure(
        "By tenths of the rows",
        caption,
        pictures::calibration(check),
    )?;
    let blocks = vec![paragraph(text), beside(picture, tenths(check))];
    Ok(section("Check", "Predicted values against returns", blocks))
}

/// A table with a figure beside it, if there is one.
fn beside(figure: Option<PageFigure>, table: Table) -> Block {
    match figure {
        Some(figure) => Block::Beside(figure, table),
        None => Block::Table(table),
    }
}

fn tenths(check: &ReturnCheck) -> Table {
    let far = check.tenths.iter().any(|tenth| check.is_remarkable(tenth));
    let rows = check.tenths.iter().enumerate().map(|(k, tenth)| {
        let key = |name: &str| format!("check.tenths.{k}.{name}");
        let mut row = vec![
            Cell::word((k + 1).to_string()),
            Cell::exact_count(tenth.rows, key("rows")),
            Cell::exact_count(tenth.episodes, key("episodes")),
            precise(Some(tenth.predicted), tenth.stderr, key("predicted")),
            precise(Some(tenth.discounted_return), tenth.stderr, key("return")),
            Cell::exact(Some(tenth.difference), key("difference")),
            Cell::exact(tenth.stderr, key("stderr")),
        ];
        row.extend(far.then(|| match check.is_far_off(tenth) {
            true => Cell::Mark {
                text: "far off".into(),
                good: false,
            },
            false if check.is_remarkable(tenth) => Cell::word("large"),
            false => Cell::word(""),
        }));
        row
    });
    let numbers = [
        "rows",
        "episodes",
        "mean prediction",
        "mean return",
        "difference",
        "standard error",
    ];
    let mut columns = vec![Column::words("tenth")];
    columns.extend(numbers.map(Column::numbers));
    columns.extend(far.then(|| Column::words("")));
    Table {
        title: "Tenths".into(),
        rows: rows.collect(),
        columns,
        ..Table::default()
    }
}

/// The distribution of values, and some rows with theirs.
fn values(
    report: &EvaluationReport,
    sample: Option<&ValueSample>,
    confidence: f64,
) -> Result<Option<Section>> {
    let picture = match sample {
        Some(sample) => {
            let caption = match sample.values.len() as u64 == report.steps {
                true => String::new(),
                false => format!("A sample of {}.", count(sample.values.len() as u64, "row")),
            };
            figure(
                "Distribution of the values",
                caption,
                pictures::values(sample),
            )?
        }
        None => None,
    };
    let block = match report.typical_rows.is_empty() {
        true => gallery([picture]),
        false => Some(beside(picture, typical_rows(report, confidence))),
    };
    let text = match report.typical_rows.is_empty() {
        true => "The predicted values of rows.",
        false => {
            "The predicted values of rows, and some rows from the smallest to the largest value."
        }
    };
    Ok(block.map(|block| section("Rows", "Values of rows", vec![paragraph(text), block])))
}

fn typical_rows(report: &EvaluationReport, confidence: f64) -> Table {
    let rows = report.typical_rows.iter().enumerate().map(|(i, row)| {
        let names = report.columns.iter().zip(&row.obs);
        let mut obs: Vec<String> = names
            .take(ROW)
            .map(|(name, x)| match x {
                Entry::Number(x) => format!("{name} = {}", short(*x)),
                Entry::Text(level) => format!("{name} = {level}"),
                Entry::Missing => format!("{name} missing"),
            })
            .collect();
        if row.obs.len() > ROW {
            obs.push(format!("... {} columns", row.obs.len()));
        }
        let key = |name: &str| format!("typical_rows.{i}.{name}");
        let width = row.upper.zip(row.lower).map(|(upper, lower)| upper - lower);
        vec![
            Cell::prose(obs.join(", ")),
            precise(Some(row.value), width, key("value")),
            precise(row.lower, width, key("lower")),
            precise(row.upper, width, key("upper")),
        ]
    });
    Table {
        title: "Rows".into(),
        columns: vec![
            Column::words("row"),
            Column::numbers("predicted value"),
            Column::numbers(format!("{} from", percent(confidence))),
            Column::numbers("to"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

/// Values along some episodes.
fn episodes(report: &EvaluationReport, sample: Option<&ValueSample>) -> Result<Option<Section>> {
    let mut figures = Vec::new();
    let list = sample.map_or(&[][..], |sample| &sample.episodes);
    let drawn = |episode: &&EpisodeSample| {
        episode.values.len() > 1 && episode.values.iter().all(|x| x.is_finite())
    };
    for episode in list.iter().filter(drawn) {
        let title = pictures::episode_title(episode, report.episodic);
        figures.push(figure(
            title,
            "",
            pictures::episode(episode, report.discount),
        )?);
    }
    let Some(block) = gallery(figures) else {
        return Ok(None);
    };
    let weighted = list.iter().any(|episode| episode.weighted);
    let mut text = String::from(match report.episodic {
        true => "Episodes chosen at random, the same ones every time. ",
        false => "",
    });
    text += match weighted {
        true => {
            "Their returns are those of the logging policy, not of the policy that is evaluated, so they are left out."
        }
        false => {
            "The return of a row is the discounted sum of the rewards that follow it. Where an episode does not terminate, the predicted \
             value replaces what would have followed. Returns scatter around good predictions: one episode is one draw."
        }
    };
    let title = match report.episodic {
        true => "Values along some episodes",
        false => "Values along the log",
    };
    Ok(Some(section(
        "Episodes",
        title,
        vec![paragraph(text), block],
    )))
}
