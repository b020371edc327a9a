//! Solves the equations of a log with many features of which few are nonzero in each row.
//!
//! One pass adds up their sparse matrix, which is then factored. Where the factors would be too large, its products are iterated; where
//! the matrix itself is too large, those of passes over the log.

use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::krylov::Progress;
use robust_td_core::learner::Transition;
use robust_td_core::sparse::{SparseFactors, SparseGroupSums, SparsePoint, SparseSystem};

use super::Solver;
use super::answer::Answer;
use super::gather::{Gathered, Plan, Sparse, Summary};
use super::iterate;
use super::scores::{At, Scores, Scoring};
use crate::assess::TOLERANCE;
use crate::error::Result;
use crate::memory;
use crate::replay::Replay;

/// The maximum number of multiplications for the factors: about half a minute.
const MOST_WORK: f64 = 2e11;
/// The maximum number of entries of the influence of groups on features, which a model file stores: 64 megabytes.
const MOST_INFLUENCE: usize = 1 << 23;
/// With fewer groups than this, errors are not estimated for all features.
const FEWEST_GROUPS: usize = 48;

/// The sums of the scores of sparse features.
struct SparseScores<'a> {
    system: &'a SparseSystem,
    groups: usize,
}

impl<'a> Scoring for SparseScores<'a> {
    type Sum = SparseGroupSums<'a>;

    fn new(&self) -> Self::Sum {
        SparseGroupSums::new(self.system, self.groups)
    }

    fn add(&self, sum: &mut Self::Sum, group: usize, transition: &Transition<'_>, delta: f64) {
        sum.add(group, transition, delta);
    }
}

/// Finds the answer, with a sparse matrix of up to `most` entries; `progress` is called after every product of an iteration.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(super) fn answer(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    most: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<Answer> {
    let gathered = Gathered::<Sparse>::take(replay, plan, most)?;
    let (all, kept, log) = gathered.split(plan.checks);
    let system = all.sums.into_system()?;
    let fill = memory::most_fill();
    let factors = system.factor(fill, MOST_WORK);
    let found = factors.as_ref().and_then(SparseFactors::solve);
    let (Some(factors), Some(found)) = (&factors, found) else {
        return iterate::answer(replay, plan, &system, log, progress);
    };
    let mut answer = direct(replay, plan, &system, factors, found, log)?;
    answer.held_out = kept.and_then(|kept| {
        let system = kept.sums.into_system().ok()?;
        let found = system.factor(fill, MOST_WORK)?.solve()?;
        (system.seen() == answer.identified.seen() && found.rank == answer.rank)
            .then_some(found.theta)
    });
    Ok(answer)
}

/// The answer from factors, with the error of all values if the groups fit, else that of the starts.
fn direct(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    system: &SparseSystem,
    factors: &SparseFactors<'_>,
    found: SparsePoint,
    log: Summary,
) -> Result<Answer> {
    let most = MOST_INFLUENCE / system.seen().max(1);
    let rank = found.rank.unwrap_or(system.seen()) as f64;
    let enough = log.counts.transitions as f64 >= 1.5 * rank + 10.0;
    let answer = Answer {
        solver: Solver::LeastSquares,
        products: None,
        held_out: None,
        contributions: Vec::new(),
        influence: None,
        rank: found.rank,
        relative_residual: found.relative_residual,
        tolerance: TOLERANCE,
        identified: found.identified,
        theta: found.theta,
        td_errors: Default::default(),
        start_features: iterate::start_features(system, &log),
        units: log.unit_count(plan.unit),
        log,
    };
    if most < FEWEST_GROUPS {
        let weights = factors.adjoint(&answer.start_features);
        let known = answer.identified.covers(answer.start_phi());
        return iterate::with_error_of_starts(replay, plan, answer, &weights, enough && known);
    }
    let groups = answer.log.groups(plan.unit, most);
    let scoring = SparseScores {
        system,
        groups: groups.count(),
    };
    let mut sums = GroupSums::new(groups.count(), system.seen());
    let scores = Scores::take(replay, plan, &groups, At::of(&answer), &scoring, |part| {
        part.add_to(&mut sums);
    })?;
    let influence = match enough && groups.count() > 1 {
        true => {
            let (grouping, clusters) = (groups.grouping(), groups.clusters());
            Some(Influence::of_sparse(factors, grouping, &sums, clusters)?)
        }
        false => None,
    };
    Ok(Answer {
        contributions: match influence.is_some() {
            true => scores.contributions(answer.log.starts),
            false => Vec::new(),
        },
        influence,
        td_errors: scores.td_errors,
        ..answer
    })
}
