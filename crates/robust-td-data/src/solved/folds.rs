//! Solves the equations of a log without each of its folds in turn.

use robust_td_core::fixed_point::Identified;

use super::gather::{Dense, Plan, Route, Sparse, Sums};
use super::split::{FOLDS, Split};
use crate::chunks::for_each_chunk;
use crate::error::Result;
use crate::memory;
use crate::replay::Replay;

/// The maximum number of multiplications for the factors of one fold's sparse matrix: a few seconds.
const MOST_WORK: f64 = 5e10;

/// The TD fixed point of a log without one fold.
pub(crate) struct Without {
    pub theta: Vec<f64>,
    pub identified: Identified,
}

/// The fixed points without each fold in turn; a reason in words if they cannot be found.
///
/// # Errors
/// Those of reading.
pub(crate) fn without_each(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    split: &Split,
) -> Result<std::result::Result<Vec<Without>, String>> {
    let overflow = "its features or their sums overflow";
    Ok(match Route::of(plan.map) {
        Route::Dense => {
            if let Err(error) = memory::check_direct(plan.map.outputs(), plan.threads, 2) {
                return Ok(Err(error.to_string()));
            }
            let sums = take::<Dense>(replay, plan, split, 0)?;
            complements(sums, |sums: Dense| {
                let found = sums.equations.solve().map_err(|_| overflow.to_owned())?;
                Ok(Without {
                    theta: found.theta,
                    identified: found.identified,
                })
            })
        }
        Route::Sparse => {
            let sums = take::<Sparse>(replay, plan, split, memory::most_entries())?;
            complements(sums, |sums: Sparse| {
                let system = sums.sums.into_system().map_err(|_| overflow.to_owned())?;
                let factors = system.factor(memory::most_fill(), MOST_WORK);
                let found = factors.as_ref().and_then(|factors| factors.solve());
                let found = found.ok_or("its equations take too long to solve several times")?;
                Ok(Without {
                    theta: found.theta,
                    identified: found.identified,
                })
            })
        }
        Route::Products => Err("it has too many features to be solved several times".into()),
    })
}

/// The sums of each fold.
fn take<S: Sums>(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    split: &Split,
    most: usize,
) -> Result<Vec<S>> {
    let new = || {
        let folds = (0..FOLDS).map(|_| S::new(plan, most));
        folds.collect::<Result<Vec<S>>>()
    };
    let mut all = new()?;
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let mut folds = new()?;
            chunk.for_each(plan.map, |placed| {
                folds[split.of(placed).1].add(&placed.transition);
            });
            Ok(folds)
        },
        |part: Result<Vec<S>>| {
            let folds = all.iter_mut().zip(part?);
            folds.for_each(|(sum, part)| sum.merge(part));
            Ok(())
        },
    )?;
    Ok(all)
}

/// What `solve` makes of the sums of all folds but one, for each in turn.
fn complements<S: Sums>(
    sums: Vec<S>,
    solve: impl Fn(S) -> std::result::Result<Without, String>,
) -> std::result::Result<Vec<Without>, String> {
    let without = (0..FOLDS).map(|left_out| {
        let mut others = sums.iter().enumerate().filter(|(k, _)| *k != left_out);
        let (_, first) = others.next().ok_or("there is only one fold")?;
        let kept = others.fold(first.clone(), |mut kept, (_, sum)| {
            kept.merge(sum.clone());
            kept
        });
        solve(kept)
    });
    without.collect()
}
