//! Measures how much of a policy's behaviour a log does not show.
//!
//! # Formula
//! Let m(s) be the probability that the policy takes an action in s some feature of which the log never shows. From a start with the features
//! phi, the expected discounted number of such steps is m(s) + gamma times that of what follows: a value function with m(s') as the
//! reward, found by the same equations A z = sum of phi_t gamma m(s_t'). Divided by the expected discounted number of all steps, it is
//! the share of the policy that rests on nothing. The values of these steps are not identified, and neither is any value that depends on them.

use robust_td_core::features::FeatureMap;
use robust_td_core::fixed_point::Identified;
use robust_td_core::learner::Features;

use crate::actions::Policy;
use crate::chunks::Placed;

/// A larger share makes the value of the policy unknown.
pub(crate) const TOLERATED: f64 = 1e-3;

/// Sums for the share: one row for steps that are not shown, one for all steps.
#[derive(Clone)]
pub(crate) struct Unsupported {
    /// sum of phi gamma m(s'), and sum of phi gamma [something follows].
    pub sums: [Vec<f64>; 2],
    /// The number of features per action.
    block: usize,
    /// The sum of m over the starts, and their number.
    starts: f64,
    count: f64,
}

/// How much of a policy a log shows.
pub(crate) struct Shown {
    /// The share of its discounted steps that the log does not show.
    pub share: f64,
    /// The expected discounted number of these steps after phi is that inner product with phi.
    pub missing: Vec<f64>,
}

impl Unsupported {
    /// Sums for a map of state-action features; none for other maps.
    pub fn for_map(map: &FeatureMap) -> Option<Self> {
        let (actions, dimension) = (map.actions().len(), map.outputs());
        (actions > 0).then(|| Self {
            sums: [(); 2].map(|()| vec![0.0; dimension]),
            block: dimension / actions,
            starts: 0.0,
            count: 0.0,
        })
    }

    /// Adds a transition of a policy that was not followed.
    pub fn add(
        &mut self,
        placed: &Placed<'_>,
        identified: &Identified,
        discount: f64,
        is_start: bool,
    ) {
        let Some(choice) = placed.choice else { return };
        let block = self.block;
        let phi = placed.transition.features;
        if let Some(next) = placed.transition.outcome.next_features() {
            let missing = missing(*next, choice.next, identified, block);
            if missing > 0.0 {
                phi.axpy(discount * missing, &mut self.sums[0]);
            }
            phi.axpy(discount, &mut self.sums[1]);
        }
        if is_start {
            self.starts += missing(*placed.own(), choice.own, identified, block);
            self.count += 1.0;
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (all, part) in self.sums.iter_mut().zip(&other.sums) {
            all.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        self.starts += other.starts;
        self.count += other.count;
    }

    /// The share, from A^{-1} times the two sums and the mean features of the starts.
    pub fn share(&self, solved: [&[f64]; 2], starts: &[f64]) -> f64 {
        let dot = |z: &[f64]| Features::Dense(starts).dot(z);
        let missing = self.starts / self.count.max(1.0) + dot(solved[0]);
        let steps = 1.0 + dot(solved[1]);
        (missing / steps.max(1.0)).clamp(0.0, 1.0)
    }
}

/// The probability of actions some feature of which was never seen.
fn missing(phi: Features<'_>, policy: Policy<'_>, identified: &Identified, block: usize) -> f64 {
    if identified.has_seen(phi) {
        return 0.0;
    }
    let (mut sum, mut last) = (0.0, None);
    phi.for_each(|j, x| {
        let action = j / block;
        if x != 0.0 && last != Some(action) && !identified.has_feature(j) {
            last = Some(action);
            sum += match policy {
                Policy::Draws(weights) => weights[action],
                _ => 1.0,
            };
        }
    });
    sum
}
