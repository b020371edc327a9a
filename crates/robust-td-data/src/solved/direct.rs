//! Solves the equations of a log directly, from their sums.

use robust_td_core::Features;
use robust_td_core::fixed_point::FixedPoint;
use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::support::leverage;

use super::Solver;
use super::answer::Answer;
use super::gather::{Gathered, Plan};
use super::scores::{Scores, Start};
use super::unit::{Groups, Unit};
use crate::assess::TOLERANCE;
use crate::error::Result;
use crate::replay::Replay;

/// Finds the answer in two passes: one for the equations, one for the error of their solution.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(super) fn answer(replay: &mut Replay<'_>, plan: &Plan<'_>) -> Result<Answer> {
    let gathered = Gathered::take(replay, plan)?;
    let found = gathered.equations().solve()?;
    let count = gathered.starts.max(1) as f64;
    let sums = gathered.start_features.iter();
    let start_features: Vec<f64> = sums.map(|sum| sum / count).collect();
    let start = Start {
        mean: Features::Dense(&start_features).dot(&found.theta),
        count,
    };
    let units = match plan.unit {
        Unit::Time => gathered.counts.transitions,
        Unit::Episode => gathered.counts.runs,
        _ => gathered.units.count(),
    };
    let groups = Groups::new(plan.unit, units, &gathered.units);
    let scores = Scores::take(replay, plan, &groups, &found.theta, start)?;
    let influence = influence(&found, &scores.sums, &groups)?;
    let contributions = scores.starts.iter().zip(&scores.start_counts);
    let contributions = contributions.map(|(sum, own)| sum * leverage(own / count));
    Ok(Answer {
        solver: Solver::LeastSquares,
        products: None,
        held_out: plan.checks.then(|| held_out(&gathered, &found)).flatten(),
        contributions: influence
            .as_ref()
            .map_or(Vec::new(), |_| contributions.collect()),
        influence,
        rank: Some(found.rank),
        relative_residual: found.relative_residual,
        tolerance: TOLERANCE,
        identified: found.identified,
        theta: found.theta,
        td_errors: scores.td_errors,
        phi_inf: gathered.phi_inf,
        start_features,
        starts: gathered.starts,
        units,
        sample: gathered.sample,
        counts: gathered.counts,
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

/// theta without what is held out, if it knows the same features.
fn held_out(gathered: &Gathered, all: &FixedPoint) -> Option<Vec<f64>> {
    gathered.held_out.as_ref().filter(|held| held.count() > 0)?;
    let kept = gathered.kept.solve().ok()?;
    (kept.rank == all.rank).then_some(kept.theta)
}
