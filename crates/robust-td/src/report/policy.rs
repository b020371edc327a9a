//! Fills in the section on the actions of a log and a policy that was not followed.

use robust_td_data::{DataReport, OffPolicyReport, PolicyReport, Stats};
use robust_td_report::{Block, Cell, Column, Section, Table};

use super::data::{stats_row, stats_table};
use super::parts::{count, paragraph, percent, precise, section};

/// The number of actions that the table lists.
const LISTED: usize = 1000;

/// The actions, the propensities and the importance ratios.
pub fn policy(report: &DataReport) -> Option<Section> {
    let policy = report.policy.as_ref()?;
    let mut blocks = vec![paragraph(text(policy, report.rows))];
    if !policy.actions.is_empty() {
        blocks.push(Block::Table(actions(policy)));
    }
    let rows = [
        ("behaviour_prob", &policy.behaviour_prob),
        ("ratio", &policy.ratio),
    ];
    let row = |(name, stats): (&str, &Option<Stats>)| {
        let stats = stats.as_ref()?;
        Some(stats_row(name, &format!("policy.{name}"), stats))
    };
    let rows: Vec<Vec<Cell>> = rows.into_iter().filter_map(row).collect();
    if !rows.is_empty() {
        blocks.push(Block::Table(stats_table("Propensities and ratios", rows)));
    }
    Some(section("Policy", "Actions and the policy", blocks))
}

/// The estimates of the value of a policy that was not followed.
pub fn estimates(found: &OffPolicyReport, confidence: f64) -> Block {
    let rows = found.estimates.iter().enumerate().map(|(k, estimate)| {
        let key = |name: &str| format!("off_policy.estimates.{k}.{name}");
        let is_known = estimate.upper.is_finite();
        let width = is_known.then_some(estimate.upper - estimate.lower);
        let end = |value: f64, name: &str| match is_known {
            true => precise(Some(value), width, key(name)),
            false => Cell::word("not known"),
        };
        vec![
            Cell::word(estimate.method.name()),
            precise(Some(estimate.value), width, key("value")),
            end(estimate.lower, "lower"),
            end(estimate.upper, "upper"),
            Cell::exact_count(estimate.episodes, key("episodes")),
            match estimate.effective_sample_size {
                Some(_) => precise(
                    estimate.effective_sample_size,
                    None,
                    key("effective_sample_size"),
                ),
                None => Cell::word("–"),
            },
        ]
    });
    Block::Table(Table {
        title: "Estimates".into(),
        columns: vec![
            Column::words("estimator"),
            Column::numbers("value"),
            Column::numbers(format!("{} from", percent(confidence))),
            Column::numbers("to"),
            Column::numbers("episodes"),
            Column::numbers("effective"),
        ],
        rows: rows.collect(),
        ..Table::default()
    })
}

fn text(policy: &PolicyReport, rows: u64) -> String {
    let effective = policy.effective_rows.map_or(String::new(), |effective| {
        format!(
            " For one decision each, the {} weigh as much as {} of the policy itself.",
            count(rows, "row"),
            count(effective.round() as u64, "row")
        )
    });
    format!(
        "What the log did, and what the policy would do that was not followed. The importance ratio of a row is the policy's probability of the \
         logged action over behaviour_prob; the ratios average 1 where the propensities are right and the log supports the policy.{effective}"
    )
}

fn actions(policy: &PolicyReport) -> Table {
    let row = |(k, action): (usize, &robust_td_data::ActionReport)| {
        let key = |name: &str| format!("policy.actions.{k}.{name}");
        vec![
            Cell::prose(action.name.clone()),
            Cell::exact_count(action.rows, key("rows")),
            Cell::exact(Some(action.target_share), key("target_share")),
        ]
    };
    Table {
        title: "Actions".into(),
        columns: vec![
            Column::words("action"),
            Column::numbers("logged rows"),
            Column::numbers("mean probability under the policy"),
        ],
        rows: (policy.actions.iter().enumerate().take(LISTED))
            .map(row)
            .collect(),
        ..Table::default()
    }
}
