//! Tests whether importance ratios average 1, as they do where the propensities are right.
//!
//! If rho_t = pi(a_t|s_t) / mu(a_t|s_t) with the probability mu of the action that was taken, then for every action k
//! ```text
//! d_t(k) = 1{a_t = k} rho_t - pi(k|s_t)
//! ```
//! has mean 0 given all that came before. Its sums over independent units (episodes or clusters, pooled into groups) give a t statistic. The level is
//! strict, one in a million for all actions together, because ratios have long tails. A policy that takes an action where the log never
//! does has a mean below 0, too.

use robust_td_core::spread::two_sided;

use crate::actions::Policy;
use crate::hash::mix;

/// The number of groups of units.
const GROUPS: usize = 256;
/// The minimum number of groups with rows, of rows with an action, and of rows in which the policy takes it.
const FEWEST_GROUPS: usize = 20;
const FEWEST_ROWS: f64 = 50.0;
/// The probability of a false alarm.
const LEVEL: f64 = 1e-6;
/// Smaller relative deviations do not matter.
const MATTERS: f64 = 0.02;

/// Sums over rows, action by action.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Balance {
    actions: Vec<Sums>,
    groups: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq)]
struct Sums {
    /// The number of rows with the action.
    taken: f64,
    /// The sums of its ratios, and of its probabilities under the policy.
    ratios: f64,
    expected: f64,
    differences: Vec<f64>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            taken: 0.0,
            ratios: 0.0,
            expected: 0.0,
            differences: vec![0.0; GROUPS],
        }
    }
}

/// An action whose ratios do not average 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unbalanced {
    pub action: usize,
    /// The mean of its ratios where the policy takes it, which should be 1.
    pub mean: f64,
    /// The number of rows with the action.
    pub rows: u64,
}

impl Balance {
    /// Adds a row of a unit: its action, its ratio and the policy at its observation.
    pub fn add(&mut self, unit: u64, action: usize, ratio: f64, policy: Policy<'_>) {
        let reached = match policy {
            Policy::Unknown => return,
            Policy::Takes(own) => own.max(action),
            Policy::Draws(weights) => action.max(weights.len().saturating_sub(1)),
        };
        if self.actions.len() <= reached {
            self.actions.resize_with(reached + 1, Sums::default);
        }
        self.groups.resize(GROUPS, false);
        let group = (mix(unit) % GROUPS as u64) as usize;
        self.groups[group] = true;
        let taken = &mut self.actions[action];
        taken.taken += 1.0;
        taken.ratios += ratio;
        taken.differences[group] += ratio;
        let mut expect = |action: usize, weight: f64| {
            self.actions[action].expected += weight;
            self.actions[action].differences[group] -= weight;
        };
        match policy {
            Policy::Unknown => {}
            Policy::Takes(own) => expect(own, 1.0),
            Policy::Draws(weights) => {
                let weights = weights.iter().enumerate();
                weights.for_each(|(k, weight)| expect(k, *weight));
            }
        }
    }

    /// The action whose ratios are furthest from an average of 1, if one is beyond chance.
    pub fn worst(&self) -> Option<Unbalanced> {
        let groups = self.groups.iter().filter(|has| **has).count();
        if groups < FEWEST_GROUPS {
            return None;
        }
        let level = LEVEL / self.actions.len() as f64;
        let limit = two_sided(1.0 - level, groups as f64 - 1.0);
        let far = self
            .actions
            .iter()
            .enumerate()
            .filter_map(|(action, sums)| {
                let mean = sums.ratios / sums.expected;
                let enough = sums.taken >= FEWEST_ROWS && sums.expected >= FEWEST_ROWS;
                let beyond = sums.statistic(&self.groups, groups as f64).abs() > limit;
                (enough && beyond && (mean - 1.0).abs() > MATTERS).then_some(Unbalanced {
                    action,
                    mean,
                    rows: sums.taken as u64,
                })
            });
        far.max_by(|a, b| a.mean.ln().abs().total_cmp(&b.mean.ln().abs()))
    }
}

impl Sums {
    /// The t statistic of the differences of groups.
    fn statistic(&self, has_rows: &[bool], groups: f64) -> f64 {
        let own = || self.differences.iter().zip(has_rows);
        let own = || own().filter(|(_, has)| **has).map(|(sum, _)| *sum);
        let sum: f64 = own().sum();
        let mean = sum / groups;
        let squares: f64 = own().map(|x| (x - mean).powi(2)).sum();
        sum / (squares * groups / (groups - 1.0)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use robust_td_core::random::Stream;

    /// Rows of 400 units of 10 rows, in which action 1 has a probability between 0.1 and 0.6, logged as `wrong` times it.
    fn worst(seed: u64, wrong: f64, per_unit: bool) -> Option<Unbalanced> {
        let (mut balance, mut stream) = (Balance::default(), Stream::new(seed, 0));
        for unit in 0..400 {
            let mut fixed = None;
            for _ in 0..10 {
                let chance = 0.1 + 0.5 * stream.uniform();
                let draw = usize::from(stream.uniform() < 0.3);
                let (action, chance) = match per_unit {
                    // One draw for the whole unit.
                    true => (*fixed.get_or_insert(draw), 0.3),
                    false => (usize::from(stream.uniform() < chance), chance),
                };
                let own = [1.0 - chance, chance][action];
                let logged = if action == 1 { wrong * own } else { own };
                let target = [0.2, 0.8];
                balance.add(
                    unit,
                    action,
                    target[action] / logged,
                    Policy::Draws(&target),
                );
            }
        }
        balance.worst()
    }

    #[test]
    fn right_propensities_are_not_blamed() {
        for seed in 0..300 {
            assert_eq!(worst(seed, 1.0, false), None, "{seed}");
            assert_eq!(worst(seed, 1.0, true), None, "{seed}");
        }
    }

    #[test]
    fn wrong_propensities_are_blamed_by_action() {
        for seed in 0..50 {
            for wrong in [0.7, 1.5] {
                let found = worst(seed, wrong, false).unwrap();
                assert_eq!(found.action, 1);
                assert!((found.mean * wrong - 1.0).abs() < 0.15, "{found:?}");
            }
        }
    }

    #[test]
    fn few_rows_say_nothing() {
        let mut balance = Balance::default();
        for unit in 0..40 {
            balance.add(unit, 0, 3.0 + unit as f64, Policy::Takes(0));
        }
        assert_eq!(balance.worst(), None);
    }
}
