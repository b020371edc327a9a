//! Recommends what to do about a finding whose message does not.

use robust_td_data::FindingKind;

/// What to do; empty if the message says it.
pub fn advice(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::MissingValues | FindingKind::NotFiniteValues | FindingKind::BadRows => {
            "Fix these rows at their source, or skip them if they are few and do not depend on the outcome."
        }
        FindingKind::NoTransitions => {
            "Add next_obs columns, or keep at least two consecutive rows per episode."
        }
        FindingKind::Misaligned => {
            "Check how next_obs was made: it is the observation that follows the action of the same row."
        }
        FindingKind::NextIsSame => {
            "Check the next_obs columns. Without them, the successor is taken from the next row."
        }
        FindingKind::TerminatedAndTruncated => {
            "If the process did not end there, clear the terminated flag."
        }
        FindingKind::EpisodesWithoutEnd => {
            "If you know how episodes end, add a terminated or truncated column."
        }
        FindingKind::ConstantFeature => "Remove the column, or check that it was logged.",
        FindingKind::CollinearFeature => {
            "Values are not affected. To read the weights, remove one of the columns."
        }
        FindingKind::ConstantReward => "Check that this is the right reward column.",
        FindingKind::DuplicatedRows => "Check whether rows were written twice.",
        FindingKind::MonteCarloDiffers => {
            "Compare predicted values with returns below, try richer features, and check the terminated and truncated columns."
        }
        FindingKind::RowsAfterEnd => "Sort the rows by time, and give every episode its own name.",
        FindingKind::LowRank => "Use fewer features, or a log with more varied rows.",
        FindingKind::IntervalsUnknown => {
            "A longer log, or a column that names episodes or clusters, can make intervals possible."
        }
        FindingKind::UnusedRatios => "Use an algorithm that weighs rows by them, such as auto.",
        _ => "",
    }
}
