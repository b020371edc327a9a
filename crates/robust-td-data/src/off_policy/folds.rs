//! Fits the values of a policy without each part of the episodes.

use robust_td_core::equations::Equations;
use robust_td_core::learner::LinearValue;

use super::episodes::part;
use crate::chunks::for_each_chunk;
use crate::error::Result;
use crate::replay::Replay;
use crate::solved::Unit;
use crate::solved::gather::Plan;

/// The number of parts.
const PARTS: usize = 5;
/// The maximum number of features: the equations of all parts are in memory at once.
const MOST_FEATURES: usize = 500;
/// The minimum number of independent units.
const FEWEST_UNITS: u64 = 40;

/// One value function per part, fitted without it; none if there are too many features or too few episodes.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(super) fn values(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    units: u64,
) -> Result<Option<Vec<LinearValue>>> {
    let d = plan.map.outputs();
    if d > MOST_FEATURES || units < FEWEST_UNITS || plan.unit == Unit::Time {
        return Ok(None);
    }
    let empty = || -> Result<Equations> { Ok(Equations::new(d, plan.discount)?) };
    let parts = || (0..PARTS).map(|_| empty()).collect::<Result<Vec<_>>>();
    let mut sums = parts()?;
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let mut own = parts()?;
            chunk.for_each(plan.map, |placed| {
                own[part(plan.unit.key(placed), PARTS)].add(&placed.transition);
            });
            Ok(own)
        },
        |own: Result<_>| {
            sums.iter_mut()
                .zip(own?)
                .for_each(|(sum, own): (&mut Equations, Equations)| sum.merge(own));
            Ok(())
        },
    )?;
    let without = |left_out: usize| -> Result<LinearValue> {
        let mut all = empty()?;
        let kept = sums.iter().enumerate().filter(|(k, _)| *k != left_out);
        kept.for_each(|(_, part)| all.merge(part.clone()));
        Ok(LinearValue {
            theta: all.solve()?.theta,
            offset: 0.0,
        })
    };
    let values = (0..PARTS).map(without).collect::<Result<Vec<_>>>()?;
    Ok(Some(values))
}
