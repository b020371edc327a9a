//! Adds up the scores of a log at its fixed point, group by group.

use robust_td_core::influence::GroupSums;

use super::gather::Plan;
use super::unit::Groups;
use crate::chunks::{Chunk, for_each_chunk};
use crate::diagnostics::TdErrors;
use crate::error::Result;
use crate::replay::Replay;

/// The sums of each group.
pub(crate) struct Scores {
    pub sums: GroupSums,
    /// (phi.theta - mean) / number, over the rows that the value of the policy is the mean of.
    pub starts: Vec<f64>,
    /// The number of these rows.
    pub start_counts: Vec<f64>,
    pub td_errors: TdErrors,
}

/// The mean value over the starts, and their number.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    pub mean: f64,
    pub count: f64,
}

impl Scores {
    fn new(groups: usize, dimension: usize) -> Self {
        Self {
            sums: GroupSums::new(groups, dimension),
            starts: vec![0.0; groups],
            start_counts: vec![0.0; groups],
            td_errors: TdErrors::default(),
        }
    }

    /// Makes the pass, for a theta and what is known about the starts.
    ///
    /// # Errors
    /// Those of reading.
    pub fn take(
        replay: &mut Replay<'_>,
        plan: &Plan<'_>,
        groups: &Groups,
        theta: &[f64],
        start: Start,
    ) -> Result<Self> {
        let mut all = Self::new(groups.count(), theta.len());
        for_each_chunk(
            replay,
            plan,
            |chunk| part(chunk, plan, groups, theta, start),
            |part| {
                all.merge(&part);
                Ok(())
            },
        )?;
        Ok(all)
    }

    fn merge(&mut self, part: &Self) {
        self.sums.merge(&part.sums);
        let starts = self.starts.iter_mut().zip(&part.starts);
        starts.for_each(|(sum, x)| *sum += x);
        let counts = self.start_counts.iter_mut().zip(&part.start_counts);
        counts.for_each(|(sum, x)| *sum += x);
        self.td_errors.merge(&part.td_errors);
    }
}

fn part(chunk: &Chunk, plan: &Plan<'_>, groups: &Groups, theta: &[f64], start: Start) -> Scores {
    let mut part = Scores::new(groups.count(), theta.len());
    chunk.for_each(plan.map, |placed| {
        let transition = &placed.transition;
        let group = groups.of(placed);
        let delta = transition.td_error(theta, plan.discount);
        part.td_errors.record(transition.ratio * delta);
        part.sums.add(group, transition, delta);
        if !plan.episodic || placed.starts {
            let away = transition.features.dot(theta) - start.mean;
            part.starts[group] += away / start.count;
            part.start_counts[group] += 1.0;
        }
    });
    part
}
