//! Maps an observation and weights of actions to state-action features.
//!
//! # Formula
//! With phi(s) the features of the observation and w one weight per action,
//! ```text
//! phi(s, w) = w (x) phi(s):   block k is w_k phi(s)
//! ```
//! The weights of one action, w = e_a, give phi(s, a), and theta.phi(s, a) = Q(s, a). The probabilities w = pi(.|s) of a policy give the mean
//! over its actions, and theta.phi(s, pi) = V(s). Because both are one linear map, least squares on them is LSTDQ.
//!
//! # Reference
//! Lagoudakis & Parr, "Least-squares policy iteration", JMLR 4, 2003, section 5.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use super::sink::Sink;
use super::{FeatureMap, MAX_FEATURES, Map, Row};
use crate::error::Result;
use crate::features::spec::refused;

thread_local! {
    /// The features of the last observation, so that writing does not allocate.
    static OBSERVATION: RefCell<Row> = RefCell::new(Row::default());
}

/// The features of an observation, once per action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PerAction {
    /// The map of the observation.
    observation: Box<FeatureMap>,
    /// The names of the actions.
    actions: Vec<String>,
}

impl PerAction {
    pub fn outputs(&self) -> usize {
        self.actions.len() * self.observation.outputs()
    }

    /// The number of features that the others determine by construction.
    pub fn redundant(&self) -> usize {
        self.actions.len() * self.observation.redundant()
    }

    /// The largest number of nonzero features with one action.
    pub fn active(&self) -> usize {
        self.observation.active()
    }

    /// Writes the blocks of the actions whose weights are not 0.
    pub fn write(&self, x: &[f64], sink: &mut (impl Sink + ?Sized)) {
        let (observation, weights) = x.split_at(self.observation.inputs());
        let d = self.observation.outputs();
        OBSERVATION.with_borrow_mut(|row| {
            row.become_for(&self.observation);
            self.observation.write(observation, row);
            for (k, weight) in weights.iter().enumerate() {
                if *weight != 0.0 {
                    (row.features()).for_each(|j, x| sink.put(k * d + j, weight * x));
                }
            }
        });
    }

    pub fn fits(&self, inputs: usize) -> bool {
        // Not nested: the row of the observation is shared.
        !self.actions.is_empty()
            && self.observation.actions().is_empty()
            && self.observation.inputs() + self.actions.len() == inputs
    }

    pub fn norm_sq_bound(&self) -> Option<f64> {
        // The squares of weights that sum to 1 sum to at most 1.
        self.observation.norm_bound().map(|bound| bound * bound)
    }

    /// The first column of the observation whose level was not seen.
    pub fn unseen(&self, x: &[f64]) -> Option<usize> {
        self.observation.unseen(&x[..self.observation.inputs()])
    }

    /// The text of a level.
    pub fn label(&self, column: usize, code: f64) -> Option<&str> {
        self.observation.label(column, code)
    }

    pub fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        let d = self.observation.outputs();
        let inputs: Vec<String> = (0..self.observation.inputs()).map(input).collect();
        let name = self.observation.name(index % d, &inputs);
        format!("{}: {name}", self.actions[index / d])
    }
}

impl FeatureMap {
    /// The state-action features of these actions: the observation is followed by one weight per action.
    ///
    /// # Errors
    /// When there are no actions, or there would be too many features.
    pub fn per_action(self, actions: Vec<String>) -> Result<Self> {
        let outputs = self.outputs().checked_mul(actions.len());
        if !outputs.is_some_and(|outputs| (1..=MAX_FEATURES).contains(&outputs)) {
            let problem = format!(
                "with {} actions it would make no feature, or more than {MAX_FEATURES}",
                actions.len()
            );
            return Err(refused(self.spec(), problem));
        }
        Ok(Self {
            spec: self.spec.clone(),
            inputs: self.inputs + actions.len(),
            columns: self.columns.clone(),
            stages: vec![vec![Map::PerAction(PerAction {
                observation: Box::new(self),
                actions,
            })]],
        })
    }

    /// The names of the actions whose weights follow the observation; empty if the map is not one of state-action features.
    #[must_use]
    pub fn actions(&self) -> &[String] {
        match self.stages.first().map(Vec::as_slice) {
            Some([Map::PerAction(map)]) => &map.actions,
            _ => &[],
        }
    }

    /// The largest number of nonzero features of an observation with one action, and with the mean over all actions.
    #[must_use]
    pub fn nonzero(&self) -> (usize, usize) {
        let active = self.active();
        (active, active * self.actions().len().max(1))
    }

    /// The largest number of nonzero features of an observation, with one action.
    fn active(&self) -> usize {
        match self.stages.last() {
            Some(maps) => maps.iter().map(Map::active).sum(),
            None => self.inputs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Fitting;
    use super::*;

    fn map(spec: &str) -> FeatureMap {
        let map = Fitting::new(spec, 2).unwrap().finish().unwrap();
        map.per_action(vec!["left".into(), "right".into()]).unwrap()
    }

    fn written(map: &FeatureMap, x: &[f64]) -> Vec<f64> {
        let mut row = Row::for_map(map);
        map.write(x, &mut row);
        row.to_dense()
    }

    #[test]
    fn blocks_are_weighted_features_of_the_observation() {
        let map = map("identity + bias");
        assert_eq!((map.inputs(), map.outputs()), (4, 6));
        let [left, right] = [[2.0, 3.0, 1.0, 0.0], [2.0, 3.0, 0.0, 1.0]];
        assert_eq!(written(&map, &left), [2.0, 3.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(written(&map, &right), [0.0, 0.0, 0.0, 2.0, 3.0, 1.0]);
        let mixed = written(&map, &[2.0, 3.0, 0.25, 0.75]);
        assert_eq!(mixed, [0.5, 0.75, 0.25, 1.5, 2.25, 0.75]);
        assert_eq!(map.nonzero(), (3, 6));
        let names = map.names(&["x".into(), "y".into()]);
        assert_eq!(names[..3], ["left: x", "left: y", "left: bias"]);
        assert_eq!(names[5], "right: bias");
        assert_eq!(map.actions(), ["left", "right"]);
        assert_eq!(map.spec(), "identity + bias");
    }

    #[test]
    fn sparse_and_staged_maps_have_the_same_blocks() {
        for spec in [
            "tiles(tilings=3, bins=4, low=0, high=1)",
            "one-hot(column=1, count=3) + bias",
            "polynomial(degree=2) | identity + bias",
        ] {
            let own = Fitting::new(spec, 2).unwrap().finish().unwrap();
            let phi = written(&own, &[0.3, 1.0]);
            let all = written(&map(spec), &[0.3, 1.0, 0.25, 0.75]);
            let expected: Vec<f64> = ([0.25, 0.75].iter())
                .flat_map(|weight| phi.iter().map(move |x| weight * x))
                .collect();
            assert_eq!(all, expected, "{spec}");
        }
    }

    #[test]
    fn a_saved_map_is_restored_and_checked() {
        let map = map("identity");
        let json = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<FeatureMap>(&json).unwrap(), map);
        let broken = json.replace("\"inputs\":4", "\"inputs\":5");
        assert!(serde_json::from_str::<FeatureMap>(&broken).is_err());
        assert!(FeatureMap::identity(1).per_action(Vec::new()).is_err());
    }
}
