//! Computes exact expectations next to the threshold of divergence, where sampled means mislead.

use robust_td_engine::{Options, Projection};

use super::row::SweepRow;
use super::spec::Mode;
use super::study::Study;
use crate::error::Result;

/// Steps of the exact run: near the threshold `E|theta_t|^2` peaks within the first steps.
const STEPS: u64 = 6_000;
/// Values of c on either side of the threshold.
const NEIGHBOURS: usize = 3;
/// The largest problem, by stored transitions times d^2, on which the exact run takes no longer than a sweep.
const LARGEST: usize = 100_000;
/// The largest dimension for the same reason.
const LARGEST_DIMENSION: usize = 16;

/// The sampled rows next to the threshold, with exact expectations instead of their means.
///
/// Rows that peaked late are left out, since a short run does not reach their peak, and so are problems that are too large.
pub(super) fn exact_near_threshold(
    study: &Study,
    rows: &[SweepRow],
    options: &Options<'_>,
) -> Result<Vec<SweepRow>> {
    let problem = &study.variants[0].problem;
    let size = problem.chain().transition().stored() * problem.dimension().pow(2);
    if study.mode == Mode::Exact || size > LARGEST || problem.dimension() > LARGEST_DIMENSION {
        return Ok(Vec::new());
    }
    let lanes = rows.chunk_by(|a, b| (a.figure, a.variant) == (b.figure, b.variant));
    let chosen: Vec<&SweepRow> = lanes.flat_map(near_threshold).collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let mut plan = study.plan();
    plan.simulate = study.simulate.min(STEPS);
    plan.lanes = chosen.iter().map(|row| row.found.lane).collect();
    let results = robust_td_engine::exact(plan, options)?.finished()?;
    let expected = chosen.into_iter().zip(results.lanes);
    Ok(expected
        .map(|(row, found)| SweepRow {
            found,
            ..row.clone()
        })
        .collect())
}

/// The rows of one figure and scaling next to its threshold; none where nothing diverged.
fn near_threshold(lane: &[SweepRow]) -> impl Iterator<Item = &SweepRow> {
    let quiet = lane
        .iter()
        .rev()
        .take_while(|row| row.divergence_rate() == Some(0.0));
    let first = lane.len() - quiet.count();
    let near = match first {
        0 => 0..0,
        _ => first.saturating_sub(NEIGHBOURS)..(first + NEIGHBOURS).min(lane.len()),
    };
    lane[near].iter().filter(|row| {
        let projected = row.found.lane.projection != Projection::None;
        !projected && row.found.peak_step <= STEPS / 2
    })
}
