//! Reports on logged data without learning from it.

use clap::Args;
use robust_td_data::{CategoryReport, DataReport, PolicyReport, Stats, TargetKind};

use crate::data_failure::number_flags;
use crate::failure::Failure;
use crate::log_argument::LogArgument;
use crate::report_argument::ReportArgument;
use crate::{output, text};

/// Describe logged transitions and report what looks wrong
#[derive(Debug, Args)]
#[command(after_help = "\
Bad rows are counted, not refused. Each finding names the first row where it
occurs. Files without rewards, as used by `predict`, can be inspected too.

Examples:
  robust-td inspect log.csv
  robust-td inspect log.csv --report data.html
  robust-td inspect 'logs/*.parquet' --layout minari
  robust-td inspect log.ndjson --column reward=r --json")]
// Bad rows are counted without it; scripts that pass it keep working.
#[command(mut_arg("skip_bad_rows", |argument| argument.hide(true)))]
pub struct Arguments {
    #[command(flatten)]
    log: LogArgument,

    #[command(flatten)]
    report: ReportArgument,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.report.check(None, &arguments.log.log()?)?;
    let report = arguments.log.log()?.inspect()?;
    (arguments.report).write(|command| robust_td::report::data(&report, command))?;
    if arguments.json {
        return output::print_json(&report);
    }
    output::print(&page(&report))
}

/// The whole page.
fn page(report: &DataReport) -> String {
    let range = |stats: Option<(f64, f64, f64, f64)>| match stats {
        Some((min, max, mean, deviation)) => format!(
            "{} to {}, mean {}, deviation {}",
            text::number(min),
            text::number(max),
            text::number(mean),
            text::number(deviation)
        ),
        None => "none".into(),
    };
    let tuple = |stats: &Stats| (stats.min, stats.max, stats.mean, stats.std);
    let mut rows = vec![
        ("files", text::count(report.files.len(), "file")),
        (
            "rows",
            format!(
                "{} good, {} bad; {}, {} without a successor",
                report.rows,
                report.bad_rows.count(),
                text::count(report.transitions as usize, "transition"),
                text::count(report.left_out as usize, "row")
            ),
        ),
        (
            "episodes",
            format!(
                "{}: {} terminated, {} truncated{}",
                report.episodes.count,
                report.episodes.terminated,
                report.episodes.truncated,
                match report.episodes.resumed {
                    0 => String::new(),
                    times => format!(
                        "; interleaved: {} resumed after rows of another one",
                        text::count(times as usize, "time")
                    ),
                }
            ),
        ),
        ("length", range(report.episodes.length.as_ref().map(tuple))),
        ("reward", range(report.reward.as_ref().map(tuple))),
        ("norm", range(report.obs_norm.as_ref().map(tuple))),
        ("dimension", report.dimension.to_string()),
    ];
    if let Some(policy) = &report.policy {
        rows.push(("actions", actions(policy)));
        let stats = [
            ("behaviour_prob", &policy.behaviour_prob),
            ("ratio", &policy.ratio),
        ];
        for (name, stats) in stats {
            rows.extend(stats.as_ref().map(|x| (name, range(Some(tuple(x))))));
        }
        rows.extend(policy.effective_rows.map(|effective| {
            let words = format!(
                "{} of {} rows, one decision each: the number of rows of the policy itself that would weigh as much",
                effective.round(),
                report.rows
            );
            ("effective", words)
        }));
    }
    const SHOWN: usize = 20;
    let features: Vec<String> = (report.features.iter().take(SHOWN))
        .map(|feature| format!("feature {}", feature.name))
        .collect();
    for (name, feature) in features.iter().zip(&report.features) {
        rows.push((name, range(Some(tuple(&feature.stats)))));
    }
    let names: Vec<String> = (report.categories.iter().take(SHOWN))
        .map(|category| format!("category {}", category.name))
        .collect();
    for (name, category) in names.iter().zip(&report.categories) {
        rows.push((name, levels(category)));
    }
    let mut page = text::definitions(&rows);
    if report.features.len() > SHOWN {
        page += &format!(
            "  ... and {} more\n",
            text::count(report.features.len() - SHOWN, "feature")
        );
    }
    page += "\n";
    page += &findings(report);
    page
}

/// The actions, with what the log and the policy do, and whether the log supports the policy.
fn actions(policy: &PolicyReport) -> String {
    const LISTED: usize = 8;
    if policy.target == TargetKind::Ratios {
        return "not logged; the policy is known by importance ratios only (rho)".into();
    }
    let rows: u64 = policy.actions.iter().map(|action| action.rows).sum();
    let percent = |share: f64| format!("{} %", text::number((1000.0 * share).round() / 10.0));
    let mut listed: Vec<String> = (policy.actions.iter().take(LISTED))
        .map(|action| {
            let logged = percent(action.rows as f64 / rows.max(1) as f64);
            format!(
                "{}: {logged} -> {}",
                action.name,
                percent(action.target_share)
            )
        })
        .collect();
    if policy.actions.len() > LISTED {
        listed.push("...".into());
    }
    let missing = match policy.never_logged_share > 0.0 {
        true => format!(
            "; {} of the policy's choices are never logged",
            percent(policy.never_logged_share)
        ),
        false => String::new(),
    };
    format!(
        "{} (logged -> policy): {}{missing}",
        policy.actions.len(),
        listed.join(", ")
    )
}

/// The levels of a category, the most frequent first.
fn levels(category: &CategoryReport) -> String {
    const LISTED: usize = 5;
    let more = if category.complete { "" } else { "more than " };
    let most: Vec<String> = (category.most.iter().take(LISTED))
        .map(|level| format!("{} ({})", level.level, level.rows))
        .collect();
    let rest = match category.levels as usize > LISTED {
        true => ", ...",
        false => "",
    };
    let missing = match category.missing {
        0 => String::new(),
        missing => format!("; missing in {}", text::count(missing as usize, "row")),
    };
    let count = text::count(category.levels as usize, "level");
    format!("{more}{count}: {}{rest}{missing}", most.join(", "))
}

/// The findings, one paragraph each.
pub fn findings(report: &DataReport) -> String {
    if report.findings.is_empty() {
        return "Nothing looks wrong.\n".into();
    }
    let paragraphs = report.findings.iter().map(|finding| {
        let place = match (&finding.file, finding.row) {
            (Some(file), Some(row)) => format!(" (first: {file}, row {row})"),
            _ => String::new(),
        };
        text::wrap("- ", 2, &format!("{}{place}", finding.message))
    });
    let remedies = (report.bad_rows.kinds().iter())
        .filter_map(|bad| number_flags(&bad.first.kind))
        .map(|flags| text::wrap("- ", 2, &format!("if such values are numbers, use {flags}")));
    paragraphs.chain(remedies).collect()
}
