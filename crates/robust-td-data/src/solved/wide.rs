//! Solves the equations of a log with many features of which few are nonzero in each row.
//!
//! One pass adds up their sparse matrix, which is then factored. Where the factors would be too large, its products are iterated; where
//! the matrix itself is too large, those of passes over the log.

use robust_td_core::krylov::Progress;
use robust_td_core::sparse::{SparseFactors, SparsePoint, SparseSystem};

use super::Solver;
use super::answer::{Answer, HeldOut};
use super::gather::{Gathered, Plan, Sparse, Summary};
use super::iterate;
use super::scores::with_errors;
use crate::assess::TOLERANCE;
use crate::diagnostics::TdErrors;
use crate::error::Result;
use crate::memory;
use crate::replay::Replay;

/// The maximum number of multiplications for the factors: about half a minute.
const MOST_WORK: f64 = 5e11;
/// The maximum number of entries of the influence of groups on features, which a model file stores: 64 megabytes.
const MOST_INFLUENCE: usize = 1 << 23;
/// With fewer groups than this, errors are not estimated for all features.
const FEWEST_GROUPS: usize = 48;

/// The maximum number of groups for this number of features; none if they are too few.
pub(super) fn most_groups(features: usize) -> Option<usize> {
    Some(MOST_INFLUENCE / features.max(1)).filter(|most| *most >= FEWEST_GROUPS)
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
    let (Some(factors), Some(found)) = (factors, found) else {
        return iterate::answer(replay, plan, &system, log, kept, progress);
    };
    let mut answer = direct(replay, plan, &system, &factors, found, log)?;
    drop(factors);
    answer.held_out = kept.and_then(|kept| {
        let system = kept.sums.into_system().ok()?;
        let found = system.factor(fill, MOST_WORK)?.solve()?;
        let alike = system.seen() == answer.identified.seen() && found.rank == answer.rank;
        HeldOut::new(found.theta, alike, found.identified)
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
        shown: None,
        td_errors: TdErrors::default(),
        start_features: iterate::start_features(system, &log),
        units: log.unit_count(plan.unit),
        log,
    };
    match most_groups(system.seen()) {
        Some(most) => with_errors(replay, plan, answer, system, most, |scores| {
            Ok(factors.influence(scores))
        }),
        None => {
            let weights = factors.adjoint(&answer.start_features);
            let known = answer.identified.covers(answer.start_phi());
            iterate::with_error_of_starts(replay, plan, answer, system, &weights, known)
        }
    }
}
