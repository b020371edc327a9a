//! Adds up the equations of a log, in one pass.

use robust_td_core::equations::Equations;
use robust_td_core::features::FeatureMap;

use super::unit::{Unit, Units};
use crate::chunks::{Chunk, PassCounts, for_each_chunk};
use crate::error::Result;
use crate::replay::Replay;
use crate::sample::Sample;

/// What all passes over a log need to know.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub map: &'a FeatureMap,
    pub discount: f64,
    pub unit: Unit,
    /// Whether the value of the policy is that of the first rows of episodes; otherwise it is that of all rows.
    pub episodic: bool,
    /// The number of transitions, as far as it is known.
    pub transitions: u64,
    /// Whether some units are held out to check the features.
    pub holds_out: bool,
    /// Whether that check is made.
    pub checks: bool,
    pub threads: usize,
    pub limit: Option<u64>,
}

/// The sums over a log.
pub(crate) struct Gathered {
    /// Of what is not held out, and of what is.
    pub kept: Equations,
    pub held_out: Option<Equations>,
    pub phi_inf: f64,
    /// The rows that the value of the policy is the mean of: the sum of their features, and their number.
    pub start_features: Vec<f64>,
    pub starts: u64,
    pub units: Units,
    pub sample: Sample,
    pub counts: PassCounts,
}

impl Gathered {
    fn new(plan: &Plan<'_>) -> Result<Self> {
        let d = plan.map.outputs();
        let equations = || Equations::new(d, plan.discount);
        Ok(Self {
            kept: equations()?,
            held_out: plan.holds_out.then(equations).transpose()?,
            phi_inf: 0.0,
            start_features: vec![0.0; d],
            starts: 0,
            units: Units::default(),
            sample: Sample::default(),
            counts: PassCounts::default(),
        })
    }

    /// Makes the pass.
    ///
    /// # Errors
    /// Those of reading.
    pub fn take(replay: &mut Replay<'_>, plan: &Plan<'_>) -> Result<Self> {
        let mut all = Self::new(plan)?;
        let counts = for_each_chunk(
            replay,
            plan,
            |chunk| part(chunk, plan),
            |part| {
                all.merge(part?);
                Ok(())
            },
        )?;
        all.counts = counts;
        all.phi_inf = all.phi_inf.sqrt();
        Ok(all)
    }

    fn merge(&mut self, part: Self) {
        self.kept.merge(part.kept);
        if let (Some(all), Some(part)) = (&mut self.held_out, part.held_out) {
            all.merge(part);
        }
        self.phi_inf = self.phi_inf.max(part.phi_inf);
        let features = self.start_features.iter_mut().zip(&part.start_features);
        features.for_each(|(sum, x)| *sum += x);
        self.starts += part.starts;
        part.units
            .keys()
            .into_iter()
            .for_each(|key| self.units.add(key));
        self.sample.merge(part.sample);
    }

    /// The equations of all transitions.
    pub fn equations(&self) -> Equations {
        let mut all = self.kept.clone();
        if let Some(held_out) = &self.held_out {
            all.merge(held_out.clone());
        }
        all
    }
}

/// The sums of one chunk; `phi_inf` is still squared.
fn part(chunk: &Chunk, plan: &Plan<'_>) -> Result<Gathered> {
    let mut part = Gathered::new(plan)?;
    chunk.for_each(plan.map, |placed| {
        let (transition, phi) = (&placed.transition, placed.transition.features);
        let held = plan.unit.is_held_out(placed, plan.transitions);
        match &mut part.held_out {
            Some(held_out) if held => held_out.add(transition),
            _ => part.kept.add(transition),
        }
        let next = transition.outcome.next_features();
        let next = next.map_or(0.0, |next| next.norm_sq());
        part.phi_inf = part.phi_inf.max(phi.norm_sq()).max(next);
        if !plan.episodic || placed.starts {
            phi.axpy(1.0, &mut part.start_features);
            part.starts += 1;
        }
        if plan.unit.is_named() {
            part.units.add(plan.unit.key(placed));
        }
        part.sample.consider(placed, plan.transitions);
    });
    Ok(part)
}
