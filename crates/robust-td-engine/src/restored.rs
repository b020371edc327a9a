//! Checks that what a checkpoint holds has the form that its plan gives it.
//!
//! A checkpoint carries a checksum, but anyone can compute one: nothing that is read is used as a size or an index before it
//! was compared with what the plan itself makes.

use crate::context::Context;
use crate::diagnostics::{CurvePoint, Peak, Record};
use crate::layout::Unit;
use crate::marks::Mark;
use crate::plan::Plan;
use crate::results::UnitResult;
use crate::unit::UnitState;

/// Whether a curve has the steps at which it is recorded, up to `done`.
pub(crate) fn curve_fits(curve: &[CurvePoint], cuts: &[u64], done: u64) -> bool {
    let steps = cuts.iter().take_while(|&&cut| cut <= done);
    curve.iter().map(|point| &point.step).eq(steps)
}

/// Whether a peak was reached within the first `done` steps; before the first one there is none.
pub(crate) fn peak_fits(peak: &Peak, done: u64) -> bool {
    peak.step <= done && (peak.step > 0) == (peak.sum > 0.0) && !peak.sum.is_nan()
}

impl Record {
    /// Whether it can be the record of the same lane as a new one, after `done` steps.
    fn fits(&self, new: &Self, plan: &Plan, cuts: &[u64], done: u64) -> bool {
        let read = |values: &[f64], step: u64| match done >= step {
            true => values.len() == plan.runs,
            false => values.is_empty(),
        };
        (self.lane, self.exponent) == (new.lane, new.exponent)
            && curve_fits(&self.curve, cuts, done)
            && read(&self.gaps, plan.gap_step())
            && read(&self.finals, plan.simulate)
            && read(&self.maxima, plan.simulate)
    }
}

impl Mark {
    fn fits(&self, new: &Self, done: u64) -> bool {
        self.done <= done
            && self.generators.len() == new.generators.len()
            && (self.generators.iter())
                .zip(&new.generators)
                .all(|(own, new)| own.is_like(new))
            && self.states.len() == new.states.len()
            && self.thetas.len() == new.thetas.len()
            && (self.thetas.iter())
                .zip(&new.thetas)
                .all(|(own, new)| own.len() == new.len())
    }

    /// Whether the chain can be in its states.
    fn is_within(&self, states: usize) -> bool {
        let states = u32::try_from(states).unwrap_or(u32::MAX);
        self.states
            .as_flattened()
            .iter()
            .all(|state| *state < states)
    }
}

impl UnitState {
    /// Whether it can be a state of the unit after its `done` steps.
    pub fn fits(&self, context: &Context, unit: usize) -> bool {
        let (plan, unit) = (&context.plan, &context.units[unit]);
        if self.done > plan.simulate {
            return false;
        }
        let (new, states) = (Self::new(context, unit), plan.variants[0].states());
        let mark = new.as_mark();
        let own = self.as_mark();
        let sizes =
            |cell: &crate::unit::CellState| [&cell.theta, &cell.average, &cell.max].map(Vec::len);
        let lanes = |peaks: &[Vec<Peak>]| peaks.iter().map(Vec::len).collect::<Vec<_>>();
        let ascending = self.marks.is_sorted_by(|a, b| a.done < b.done);
        own.fits(&mark, self.done)
            && own.is_within(states)
            && self.cells.len() == new.cells.len()
            && (self.cells.iter())
                .zip(&new.cells)
                .all(|(own, new)| sizes(own) == sizes(new))
            && lanes(&self.peaks) == lanes(&new.peaks)
            && self
                .peaks
                .iter()
                .flatten()
                .all(|peak| peak_fits(peak, self.done))
            && self.records.len() == new.records.len()
            && (self.records.iter())
                .zip(&new.records)
                .all(|(own, new)| own.fits(new, plan, &context.cuts, self.done))
            && ascending
            && self.can_replay(unit)
            && (self.marks.iter()).all(|own| own.fits(&mark, self.done) && own.is_within(states))
            && (self.spreads.is_empty() || self.done == plan.simulate)
            && (self.spreads.is_empty()
                || self
                    .spreads
                    .iter()
                    .map(Vec::len)
                    .eq(new.peaks.iter().map(Vec::len)))
    }
}

impl UnitState {
    /// Whether no peak that is replayed lies before the first mark, which is taken here if there is none yet.
    fn can_replay(&self, unit: &Unit) -> bool {
        let first = self.marks.first().map_or(self.done, |mark| mark.done);
        let lanes = unit.banks.iter().flat_map(|bank| &bank.outputs);
        let replayed = |peak: &Peak| peak.step > 0 && peak.sum.is_finite();
        lanes
            .zip(self.peaks.iter().flatten())
            .all(|(outputs, peak)| outputs.is_empty() || !replayed(peak) || peak.step > first)
    }
}

impl UnitResult {
    /// Whether it can be the result of the unit.
    pub fn fits(&self, context: &Context, unit: usize) -> bool {
        let (plan, unit) = (&context.plan, &context.units[unit]);
        let outputs = unit.banks.iter().flat_map(|bank| &bank.outputs).flatten();
        let new: Vec<Record> = outputs.map(|&output| Record::new(output)).collect();
        let steps = plan.simulate;
        self.peaks().len() == new.len()
            && self.peaks().iter().all(|(peak, _)| peak_fits(peak, steps))
            && self.records().len() == new.len()
            && (self.records().iter())
                .zip(&new)
                .all(|(own, new)| own.fits(new, plan, &context.cuts, steps))
    }
}
