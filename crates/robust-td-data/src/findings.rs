//! Describes what a reader of an answer must know: whether it was learned, whether the features fit, whether the intervals hold.

use robust_td_core::number::short;

use crate::assess::Assessment;
use crate::averaged::Averaged;
use crate::inspect::{Finding, FindingKind};
use crate::learned::Learned;
use crate::returns::Verdict;
use crate::solved::{Solved, Unit};
use crate::start_value::StartValue;
use crate::words::counted;

/// A mean TD error is far from 0 beyond this number of standard errors,
const FAR: f64 = 5.0;
/// and this share of the root mean square.
const MATTERS: f64 = 0.01;

/// A finding about the whole log or its answer.
pub(crate) fn finding(kind: FindingKind, message: impl Into<String>) -> Finding {
    Finding {
        kind,
        message: message.into(),
        file: None,
        row: None,
        count: 1,
    }
}

/// The findings about any answer.
fn of_assessment(assessment: &Assessment, remedy: &str, richer: &str) -> Vec<Finding> {
    let mut list = Vec::new();
    if !assessment.converged() {
        list.push(not_learned(assessment.relative_residual, remedy));
    }
    // Where the answer is none, the features are not to blame.
    if let Some(check) = assessment.check.as_ref().filter(|_| assessment.converged())
        && check.verdict() == Verdict::DoesNotFit
    {
        let errors = check.largest().unwrap_or(f64::INFINITY);
        list.push(finding(
            FindingKind::FeaturesDoNotFit,
            format!(
                "predicted values differ from returns by up to {errors:.1} standard errors: the features cannot express the \
                 values, or the data come from several policies; {richer}"
            ),
        ));
    }
    list
}

fn not_learned(relative_residual: f64, remedy: &str) -> Finding {
    let how = match relative_residual.is_finite() {
        true => format!(
            "the equations of the log are solved only up to {} % of their size",
            short(100.0 * relative_residual)
        ),
        false => "the answer is not finite".into(),
    };
    finding(
        FindingKind::NotLearned,
        format!("not learned: {how}; {remedy}"),
    )
}

/// The findings about the answer of a learner.
pub(crate) fn of_learned(learned: &Learned) -> Vec<Finding> {
    let remedy = "the default algorithm solves them, or use more data";
    let richer = "try richer features, such as fourier, tiles or one-hot";
    (learned.assessment()).map_or(Vec::new(), |found| of_assessment(found, remedy, richer))
}

/// The findings about the average of independent learners.
pub(crate) fn of_averaged(averaged: &Averaged) -> Vec<Finding> {
    let remedy = "averaging does not reduce the bias that learners share: use fewer learners, so that each has more rows, or the default \
                  algorithm, which solves the equations on any number of workers";
    let richer = "try richer features, such as fourier, tiles or one-hot";
    let mut list = (averaged.assessment.as_ref())
        .map_or(Vec::new(), |found| of_assessment(found, remedy, richer));
    let facts = &averaged.facts;
    let (used, asked) = (averaged.report().averaged, averaged.learners);
    let of = match used == asked {
        true => String::new(),
        false => format!(
            " (of {asked}: the others have no episode that starts in their part of the log)"
        ),
    };
    list.push(finding(
        FindingKind::AverageOfLearners,
        format!(
            "the average of {used} independent learners{of} with {} to {} transitions each, not the answer of one: averaging does not reduce a bias that they share; \
             intervals are made of how the learners differ, and of how far the average is from solving the equations of the log",
            facts.fewest, facts.most
        ),
    ));
    let unknown = match averaged.converged() {
        None => Some(
            "whether this algorithm's answer is biased cannot be told from the equations of the log",
        ),
        Some(true) if used < 2 => Some("one learner does not show how learners differ"),
        Some(true) if averaged.error().is_none() => Some(
            "the residual of the log's equations may stand for a bias of more than 2 standard errors that the learners share; use fewer learners, or the \
             default algorithm",
        ),
        _ => None,
    };
    if let Some(why) = unknown {
        list.push(finding(
            FindingKind::IntervalsUnknown,
            format!("no intervals: {why}"),
        ));
    }
    list
}

/// The findings about the TD fixed point of a log, most serious first.
pub(crate) fn of_solved(solved: &Solved) -> Vec<Finding> {
    let facts = &solved.facts;
    let mut list = of_assessment(
        &solved.assessment,
        "use fewer or simpler features, or more data",
        match solved.choice {
            Some(_) => "none of the maps that were compared is richer and better; try others",
            None => "try the features auto, which compares several maps",
        },
    );
    if let Some(message) = StartValue::disagreement(solved) {
        list.push(finding(FindingKind::MonteCarloDiffers, message));
    }
    if let Some(rank) = facts.rank
        && let seen = solved.identified.seen()
        && rank + solved.features.redundant().max(1) < seen
        && 10 * rank < 9 * seen
    {
        list.push(finding(
            FindingKind::LowRank,
            format!(
                "only {rank} of the {seen} features are independent in this log; values that need the others have no bounded \
                 interval"
            ),
        ));
    }
    list.extend(off_policy(solved));
    list.extend(mean_td_error(solved));
    list.extend(intervals(solved));
    list
}

/// What limits the answer about a policy that was not followed.
fn off_policy(solved: &Solved) -> Vec<Finding> {
    let mut list = Vec::new();
    let Some(other) = &solved.off_policy else {
        return list;
    };
    if let Some(share) = other.unsupported_share.filter(|_| !solved.is_supported()) {
        list.push(finding(
            FindingKind::UnsupportedPolicy,
            format!(
                "{:.1} % of the policy's steps take an action where the log has none like it, so its value is not known: there is no interval; log these \
                 actions, or use features that states share",
                100.0 * share
            ),
        ));
    }
    let contradictions = solved.contradictions();
    if !contradictions.is_empty() {
        let others: Vec<String> = contradictions
            .iter()
            .map(|found| format!("{} ({})", found.method.name(), short(found.value)))
            .collect();
        list.push(finding(
            FindingKind::EstimatorsDiffer,
            format!(
                "least squares ({}) differs from {} by more than chance, so its value has no interval: the features cannot express the values of actions, or the \
                 propensities are wrong; try richer features, such as tiles, fourier or one-hot",
                short(solved.start_value().0),
                others.join(", ")
            ),
        ));
    }
    if !other.knows_starts {
        list.push(finding(
            FindingKind::PolicyAtStartUnknown,
            "the log does not show what the policy does at the first rows: the value is that of taking the logged action there, and following the policy \
             afterwards; add target_0, target_1, ... or target_action",
        ));
    }
    if let Some((why, effective)) = other.unreliable() {
        list.push(finding(
            FindingKind::FewEffectiveEpisodes,
            format!(
                "importance sampling has no interval ({effective:.1} effective episodes): {why}; rely on least squares, if the features fit"
            ),
        ));
    }
    if other.has_ratios && !solved.assessment.starts.episodic {
        list.push(finding(
            FindingKind::CutEpisodes,
            "no importance sampling: it needs episodes, and the log has none",
        ));
    } else if other.has_ratios && other.cut > 0 {
        list.push(finding(
            FindingKind::CutEpisodes,
            format!(
                "importance sampling leaves out {} that were cut; the others may be shorter or end differently; the doubly robust estimate \
                 replaces what would have followed by the predicted value there",
                counted(other.cut, "episode", "episodes")
            ),
        ));
    }
    list
}

fn mean_td_error(solved: &Solved) -> Option<Finding> {
    let errors = &solved.facts.td_errors;
    let (mean, rms) = (errors.mean().abs(), errors.rms());
    let chance = FAR * rms / (solved.facts.transitions.max(1) as f64).sqrt();
    let rounding = 1e-9 * solved.start_value().0.abs();
    (mean > chance && mean > MATTERS * rms && mean > rounding).then(|| {
        finding(
            FindingKind::MeanTdError,
            format!(
                "the mean TD error is {:.3e}, far from 0: the values are off on average; add `+ bias` to the features",
                errors.mean()
            ),
        )
    })
}

/// Why the log does not show how its answer varies, if it does not.
pub(crate) fn unknown_errors(solved: &Solved) -> Option<&'static str> {
    let facts = &solved.facts;
    if facts.td_errors.rms() == 0.0 && solved.theta.iter().all(|theta| *theta == 0.0) {
        return Some("every reward is 0, so the log does not show what others there are");
    }
    if facts.left_out > facts.transitions {
        return Some(
            "most rows have no successor, and those that have one may differ from the others; add next observations, or check that the episode \
             column names episodes",
        );
    }
    let mut findings = facts.findings.iter();
    if findings.any(|found| found.kind == FindingKind::CutRowsLeftOut) {
        return Some(
            "rows are left out because episodes were cut, while those that terminate are kept; add next observations",
        );
    }
    None
}

/// What limits the intervals.
fn intervals(solved: &Solved) -> Option<Finding> {
    let facts = &solved.facts;
    let kind = FindingKind::IntervalsUnknown;
    if let Some(why) = unknown_errors(solved) {
        return Some(finding(kind, format!("no intervals: {why}")));
    }
    let Some(influence) = &solved.influence else {
        let rows = counted(facts.transitions, "transition", "transitions");
        let features = counted(solved.theta.len() as u64, "feature", "features");
        let why = match facts.units {
            0 | 1 => "the log has only one episode or cluster".into(),
            _ if facts.products.is_some() => {
                format!("{rows} and this many products do not determine it for {features}")
            }
            _ => format!("{rows} are too few for {features}"),
        };
        return Some(finding(kind, format!("no intervals: {why}")));
    };
    if let Some(feature) = solved.rests_on_new() {
        let names = solved.features.names(&solved.assessment.columns);
        let name = names.get(feature).map_or("", String::as_str);
        return Some(finding(
            kind,
            format!(
                "cannot tell how precise the value of the policy is: rows lead to states whose features no row has, most of all {name}, so their \
                 values are not known and count as 0; use features that states share, or a log that continues from there"
            ),
        ));
    }
    if influence.is_of_one_value() {
        return Some(finding(
            kind,
            "only the value of the policy has an interval: with this many features, that of a row would take as long as the solution; use \
             fewer or coarser features for intervals of rows",
        ));
    }
    let starts = &solved.assessment.starts;
    let (_, spread) = solved.start_value();
    if !solved.contradictions().is_empty() {
        return None;
    }
    if starts.count < 2 || spread.is_none_or(|spread| !spread.reliable) {
        let why = match facts.unit {
            _ if starts.count < 2 => "the log has one start, which does not show how starts vary",
            _ if !solved.is_supported() => "the log does not show enough of what the policy does",
            _ if spread.is_none() => "it uses features that the log does not determine",
            Unit::Time if facts.transitions < 64 => {
                "64 transitions are the fewest that can show it"
            }
            Unit::Time => {
                "the noise stays correlated over a large part of the log, or rests on rare outcomes; a longer log, or an episode or cluster \
                 column, would help"
            }
            _ => "it rests on too few of the episodes or clusters",
        };
        return Some(finding(
            kind,
            format!("cannot tell how precise the value of the policy is: {why}"),
        ));
    }
    None
}
