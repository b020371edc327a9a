//! Solves the equations of a log directly, from their dense sums.

use robust_td_core::fixed_point::FixedPoint;
use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::learner::Transition;

use super::Solver;
use super::answer::{Answer, HeldOut};
use super::gather::{Dense, Gathered, Plan};
use super::scores::{At, Scores, Scoring};
use super::unit::Groups;
use crate::assess::TOLERANCE;
use crate::error::Result;
use crate::replay::Replay;

/// The sums of the scores of dense features.
struct DenseScores {
    groups: usize,
    dimension: usize,
}

impl Scoring for DenseScores {
    type Sum = GroupSums;

    fn start(&self) -> GroupSums {
        GroupSums::new(self.groups, self.dimension)
    }

    fn add(&self, sum: &mut GroupSums, group: usize, transition: &Transition<'_>, delta: f64) {
        sum.add(group, transition, delta);
    }
}

/// Finds the answer in two passes: one for the equations, one for the error of their solution.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(super) fn answer(replay: &mut Replay<'_>, plan: &Plan<'_>) -> Result<Answer> {
    let gathered = Gathered::<Dense>::take(replay, plan, 0)?;
    let (all, kept, log) = gathered.split(plan.checks);
    let found = all.equations.solve()?;
    let count = log.starts.max(1) as f64;
    let start_features: Vec<f64> = (all.start_features.iter()).map(|sum| sum / count).collect();
    let at = At {
        theta: &found.theta,
        start_features: &start_features,
        starts: log.starts,
    };
    let groups = log.groups(plan.unit, usize::MAX);
    let scoring = DenseScores {
        groups: groups.count(),
        dimension: found.theta.len(),
    };
    let mut sums = scoring.start();
    let scores = Scores::take(replay, plan, &groups, at, &scoring, |part| {
        sums.merge(&part);
    })?;
    let influence = influence(&found, &sums, &groups)?;
    let known = influence.is_some();
    Ok(Answer {
        solver: Solver::LeastSquares,
        products: None,
        held_out: kept.and_then(|kept| held_out(&kept, &found)),
        contributions: match known {
            true => scores.contributions(log.starts),
            false => Vec::new(),
        },
        influence,
        rank: Some(found.rank),
        relative_residual: found.relative_residual,
        tolerance: TOLERANCE,
        identified: found.identified,
        theta: found.theta,
        td_errors: scores.td_errors,
        start_features,
        units: log.unit_count(plan.unit),
        log,
    })
}

/// The influence of the groups, if there are enough transitions to estimate errors.
fn influence(found: &FixedPoint, sums: &GroupSums, groups: &Groups) -> Result<Option<Influence>> {
    if !found.has_enough_samples() || groups.count() < 2 {
        return Ok(None);
    }
    let influence = Influence::new(found, groups.grouping(), sums, groups.clusters())?;
    Ok(Some(influence))
}

/// The answer without what is held out.
fn held_out(kept: &Dense, all: &FixedPoint) -> Option<HeldOut> {
    let kept = kept.equations.solve().ok()?;
    HeldOut::new(kept.theta, kept.rank == all.rank, kept.identified)
}
