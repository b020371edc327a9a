//! Replays a unit to the step of a lane's peak, to measure how |theta_t|^2 varies over the runs
//! there.
//!
//! The kernels keep the sum over runs of |theta_t|^2 per step, not the individual runs. A mark
//! holds the state needed to replay from a step: iterates, chain states and generators. Marks are
//! taken periodically; a mark is kept while some lane's peak lies between it and the next one. A
//! finished unit replays from each kept mark to the peaks after it, only with the packs that have
//! them, in the same blocks and hence bit-identically.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::diagnostics::Estimate;
use crate::generators::{GROUP, Generators};
use crate::kernel::{CELL, Kernel};
use crate::layout::Unit;
use crate::tables::squared_norm;
use crate::unit::{Scratch, UnitState};

/// TD updates between two marks: enough to make taking marks cheap, few enough to make replaying
/// cheap.
const UPDATES: u64 = 1 << 23;
/// The maximum distance between two marks, as a fraction 1/PART of a run.
const PART: u64 = 64;

/// The state needed to replay from a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Updates done.
    pub done: u64,
    /// See [`UnitState`].
    pub generators: Vec<Generators>,
    /// See [`UnitState`].
    pub states: Vec<[u32; GROUP]>,
    /// The iterates of each cell.
    pub thetas: Vec<Vec<f64>>,
}

/// Steps between two marks of a unit.
fn span(context: &Context, unit: &Unit) -> u64 {
    let updates = (unit.computed_lanes() * context.plan.runs).max(1) as u64;
    (UPDATES / updates).min(context.plan.simulate / PART)
}

/// Takes a mark if the last one is old enough, and drops those that no peak needs.
pub fn mark(context: &Context, unit: &Unit, state: &mut UnitState) {
    let due = state
        .marks
        .last()
        .is_none_or(|last| state.done - last.done >= span(context, unit));
    if !due {
        return;
    }
    let mut marks = std::mem::take(&mut state.marks);
    let ends: Vec<u64> = marks.iter().skip(1).map(|m| m.done).collect();
    let mut ends = ends.into_iter().chain([state.done]);
    marks.retain(|mark| {
        let range = mark.done + 1..=ends.next().unwrap_or(state.done);
        state
            .peaks
            .iter()
            .flatten()
            .any(|p| range.contains(&p.step))
    });
    marks.push(state.as_mark());
    state.marks = marks;
}

/// The standard errors over runs of |theta_t|^2 at the peak of every lane, bank by bank.
///
/// Infinite after an overflow, zero for a lane that stayed at zero.
pub fn spreads(
    context: &Context,
    unit: &Unit,
    state: &UnitState,
    kernel: Kernel,
    scratch: &mut Scratch,
) -> Vec<Vec<f64>> {
    let mut spreads: Vec<Vec<f64>> = Vec::new();
    // Step, bank and lane of the peaks to visit.
    let mut visits = Vec::new();
    for (b, (bank, peaks)) in unit.banks.iter().zip(&state.peaks).enumerate() {
        let mut spread = vec![0.0; peaks.len()];
        for (lane, peak) in peaks.iter().enumerate() {
            if bank.outputs[lane].is_empty() || peak.step == 0 {
                continue;
            }
            if peak.sum.is_finite() {
                visits.push((peak.step, b, lane));
            } else {
                spread[lane] = f64::INFINITY;
            }
        }
        spreads.push(spread);
    }
    visits.sort_unstable();
    let mut rest = &visits[..];
    let ends = state.marks.iter().skip(1).map(|m| m.done);
    for (mark, end) in state.marks.iter().zip(ends.chain([u64::MAX])) {
        let (here, later) = rest.split_at(rest.partition_point(|(step, ..)| *step <= end));
        rest = later;
        if here.is_empty() {
            continue;
        }
        let mut walk = UnitState::from_mark(context, unit, mark);
        let pack = |(_, b, lane): &(u64, usize, usize)| (*b, lane / unit.banks[*b].pack_lanes());
        let packs: HashSet<_> = here.iter().map(pack).collect();
        let wanted = |b: usize, pack: usize| packs.contains(&(b, pack));
        for same in here.chunk_by(|(a, ..), (b, ..)| a == b) {
            let step = same[0].0;
            let mut count = walk.next_block(context);
            while walk.done + (count as u64) < step {
                walk.block(context, unit, kernel, scratch, count, wanted);
                count = walk.next_block(context);
            }
            // Only part of the block, because the peak is inside it.
            let mut there = walk.clone();
            let part = (step - walk.done) as usize;
            there.block(context, unit, kernel, scratch, part, wanted);
            for &(_, b, lane) in same {
                let norms = there.norms(context, unit, b, lane);
                spreads[b][lane] = Estimate::of(&norms).standard_error;
            }
        }
    }
    spreads
}

impl UnitState {
    /// |theta|^2 of a lane, run by run.
    fn norms(&self, context: &Context, unit: &Unit, bank: usize, lane: usize) -> Vec<f64> {
        let runs = context.plan.runs;
        let d = context.plan.variants[0].dimension;
        let before: usize = unit.banks[..bank].iter().map(|b| b.cells(runs)).sum();
        let norm = |run: usize| {
            let (cell, slot) = unit.banks[bank].place(run, lane);
            let theta = &self.cells[before + cell].theta;
            let theta: Vec<f64> = (0..d).map(|j| theta[j * CELL + slot]).collect();
            squared_norm(&theta)
        };
        (0..runs).map(norm).collect()
    }
}
