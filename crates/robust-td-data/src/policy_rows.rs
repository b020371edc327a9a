//! Computes the state-action features of transitions under a policy that was not followed.

use robust_td_core::features::{FeatureMap, Row};
use robust_td_core::learner::{Features, Outcome, Transition};

use crate::actions::Policy;
use crate::pairing::Step;

/// Buffers for the features of an observation with the action taken, the same with the policy's actions, and the next observation with
/// the policy's actions.
pub(crate) struct PolicyRows {
    actions: usize,
    inputs: [Vec<f64>; 3],
    rows: [Row; 3],
}

impl PolicyRows {
    /// Buffers for a map of state-action features; none for other maps.
    pub fn for_map(map: &FeatureMap) -> Option<Self> {
        let actions = map.actions().len();
        (actions > 0).then(|| Self {
            actions,
            inputs: Default::default(),
            rows: [(); 3].map(|()| Row::for_map(map)),
        })
    }

    /// The transition of a step from phi(s, a) to the mean of phi(s', a') over the policy's actions a', and the observation with the policy's
    /// weights there, with its features. Where the policy is not known at the observation, it takes the logged action.
    #[inline]
    pub fn of<'a>(
        &'a mut self,
        map: &FeatureMap,
        step: &Step<'_>,
    ) -> (Transition<'a>, &'a [f64], Features<'a>) {
        let choice = step.choice();
        let taken = Policy::Takes(choice.action);
        let own = match choice.own {
            Policy::Unknown => taken,
            known => known,
        };
        self.write(map, 0, step.obs, taken);
        self.write(map, 1, step.obs, own);
        if let Some(next) = step.next_obs() {
            self.write(map, 2, next, choice.next);
        }
        let [here, own, next] = [0, 1, 2].map(|k| self.rows[k].features());
        let outcome = match step.outcome {
            Outcome::Terminated => Outcome::Terminated,
            Outcome::Truncated(_) => Outcome::Truncated(next),
            _ => Outcome::Continues(next),
        };
        let transition = Transition::new(here, step.reward, outcome);
        (transition, &self.inputs[1], own)
    }

    fn write(&mut self, map: &FeatureMap, k: usize, obs: &[f64], policy: Policy<'_>) {
        write_input(&mut self.inputs[k], obs, policy, self.actions);
        map.write(&self.inputs[k], &mut self.rows[k]);
    }
}

/// Writes an observation followed by the policy's weights of all actions.
pub(crate) fn write_input(input: &mut Vec<f64>, obs: &[f64], policy: Policy<'_>, actions: usize) {
    input.clear();
    input.extend_from_slice(obs);
    policy.write(actions, input);
}
