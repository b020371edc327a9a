//! Fills in the section on the actions of a log and a policy that was not followed.

use robust_td_data::{DataReport, PolicyReport, Stats};
use robust_td_report::{Block, Cell, Column, Section, Table};

use super::data::{stats_row, stats_table};
use super::parts::{count, paragraph, section};

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
