//! Advances units with constant step sizes by many steps at once when they are in their slow spaces.

use serde::{Deserialize, Serialize};

use super::basis::{Basis, allowance};
use super::moments::{Chain, Layout, WIDTH};
use super::pack::Pack;
use super::response::Response;

use super::{ExactState, ExactSweep, ExactUnit, Scratch};
use crate::kernel::{Kernel, Line};
use crate::plan::Plan;

/// The number of steps before the search for the slow space starts; lanes that overflow early do not need it.
const BEGIN: u64 = 1024;
/// Largest relative distance from the slow space at which a state may jump.
const CLOSE: f64 = 1e-12;

/// The largest number of transitions that are followed to find the limiting distribution: seconds of work.
const MOST_MOVES: u64 = 1 << 31;

/// How a unit advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// Step by step until it is near the slow space.
    Undecided,
    /// Step by step to the end.
    Steps,
    /// By many steps at once; the pack holds totals.
    Jumps,
}

/// The data that a thread has prepared for the jumps of one unit; rebuilt after an interruption.
#[derive(Default)]
pub struct Prepared {
    unit: Option<usize>,
    /// The lanes prepared so far; `None` for lanes without output or with an overflow.
    lanes: Vec<Option<(Basis, Response)>>,
    failed: bool,
    norms: Vec<f64>,
}

/// The distribution of the state after the maximum number of steps that a basis may take to settle.
pub fn mixed(plan: &Plan, chain: &Chain) -> Vec<f64> {
    let tables = &plan.variants[0];
    let mut p = vec![0.0; tables.states()];
    p[tables.start] = 1.0;
    let mut next = Vec::new();
    let steps = allowance(p.len(), tables.dimension, plan.simulate);
    // What has not mixed then does not jump: a unit compares itself with the slow space first.
    for _ in 0..steps.min(MOST_MOVES / chain.edges.len().max(1) as u64) {
        chain.move_distribution(&p, &mut next);
        if p == next {
            break;
        }
        std::mem::swap(&mut p, &mut next);
    }
    p
}

impl Prepared {
    /// The step from which the unit may jump: twice the time that the bases needed to settle.
    fn switch(&self) -> u64 {
        let longest = self.lanes.iter().flatten().map(|(basis, _)| basis.steps);
        (2 * longest.max().unwrap_or(0)).max(BEGIN)
    }
}

impl ExactSweep {
    fn allowance(&self) -> u64 {
        let dimension = self.chains[0].dimension;
        allowance(self.mixed.len(), dimension, self.plan.simulate)
    }

    /// How a unit starts.
    pub(super) fn first_pace(&self, unit: &ExactUnit) -> Pace {
        if unit.is_constant() && self.allowance() >= BEGIN {
            Pace::Undecided
        } else {
            Pace::Steps
        }
    }

    /// How a unit advances next; `None` while there is more to prepare. Lanes are prepared one at a
    /// time so that the caller can check for interruption in between.
    pub(super) fn next_pace(
        &self,
        unit: usize,
        state: &mut ExactState,
        kernel: Kernel,
        scratch: &mut Scratch,
    ) -> Option<Pace> {
        if state.pace == Pace::Steps || state.done < BEGIN {
            return Some(Pace::Steps);
        }
        let prepared = &mut scratch.prepared;
        if prepared.unit != Some(unit) {
            *prepared = Prepared {
                unit: Some(unit),
                ..Prepared::default()
            };
        }
        if !prepared.failed && prepared.lanes.len() < WIDTH {
            self.prepare(unit, state, kernel, prepared);
            return None;
        }
        if state.pace == Pace::Undecided {
            if prepared.failed {
                state.pace = Pace::Steps;
            } else if state.done >= prepared.switch() {
                state.pace = self.decide(unit, state, prepared);
            }
        }
        Some(state.pace)
    }

    /// Prepares the next lane.
    fn prepare(&self, unit: usize, state: &ExactState, kernel: Kernel, prepared: &mut Prepared) {
        let (lane, unit) = (prepared.lanes.len(), &self.units[unit]);
        if unit.outputs[lane].is_empty() || state.peaks[lane].sum.is_infinite() {
            prepared.lanes.push(None);
            return;
        }
        let chain = &self.chains[unit.variant];
        let most = self.allowance();
        let drive = (unit.k0[lane], unit.w0[lane]);
        match Basis::find(chain, &self.mixed, kernel, drive, most) {
            Some(basis) => {
                let response = Response::of(&basis, chain, &self.mixed, kernel, drive, most);
                prepared.lanes.push(Some((basis, response)));
            }
            None => prepared.failed = true,
        }
    }

    /// Whether all lanes are in their slow spaces; if so, the totals replace the moments.
    fn decide(&self, unit: usize, state: &mut ExactState, prepared: &Prepared) -> Pace {
        let d = self.chains[self.units[unit].variant].dimension;
        let distance = |(lane, slow): (usize, &Option<(Basis, Response)>)| match slow {
            Some((basis, _)) => basis.distance(&self.mixed, &state.pack, lane, d),
            None => 0.0,
        };
        if !prepared
            .lanes
            .iter()
            .enumerate()
            .map(distance)
            .all(|x| x <= CLOSE)
        {
            return Pace::Steps;
        }
        let totals = state.pack.totals(self.mixed.len(), Layout::new(d).len());
        state.pack = Pack::of_totals(totals);
        Pace::Jumps
    }

    /// Jumps to the next step to record, or as far as possible.
    pub(super) fn jump(&self, unit: usize, state: &mut ExactState, scratch: &mut Scratch) {
        let unit = &self.units[unit];
        let form = &self.chains[unit.variant].form;
        let Prepared { lanes, norms, .. } = &mut scratch.prepared;
        let next = self.cuts.partition_point(|&cut| cut <= state.done);
        let end = self.cuts.get(next).copied().unwrap_or(self.plan.simulate);
        let longest = lanes.iter().flatten().map(|(_, r)| r.longest()).min();
        let steps = (end - state.done).min(longest.unwrap_or(u64::MAX));
        for (l, slow) in lanes.iter().enumerate() {
            let Some((_, response)) = slow else {
                state.norms[l] = f64::INFINITY;
                continue;
            };
            let length = Layout::new(self.chains[unit.variant].dimension).len();
            let totals: &mut [Line] = state.pack.row_mut(0, length);
            let mut lane: Vec<f64> = totals.iter().map(|line| line.0[l]).collect();
            norms.resize(steps as usize, 0.0);
            response.norms(&lane, norms);
            state.squared[l] += response.jump(form, &mut lane, steps);
            for (line, x) in totals.iter_mut().zip(lane) {
                line.0[l] = x;
            }
            for (step, &norm) in (state.done + 1..).zip(norms.iter()) {
                state.peaks[l].see(norm, step);
            }
            state.norms[l] = norms[steps as usize - 1];
            state.weight[l] += steps as f64 * unit.w0[l];
        }
        state.done += steps;
        state.notice_overflow(unit);
    }
}
