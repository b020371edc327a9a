//! Converts a Markov decision process with a policy into the chain that the policy induces.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::chain::{Chain, require_probability, require_stochastic, require_unit_sum};
use crate::model::reward::Reward;

/// A finite Markov decision process.
///
/// Under a policy `mu(a|s)` it becomes the chain and the reward of the paper,
/// ```text
/// P(s,s') = sum_a mu(a|s) P_a(s,s')
/// r(s,s') = E[r | s, s'] = sum_a mu(a|s) P_a(s,s') r_a(s,s') / P(s,s')
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mdp {
    transitions: Vec<SparseMatrix>,
    rewards: Vec<Reward>,
}

impl Mdp {
    /// A process from one transition matrix per action, and one reward per action or one for all of them.
    pub fn new(transitions: Vec<SparseMatrix>, rewards: Vec<impl Into<Reward>>) -> Result<Self> {
        let rewards: Vec<Reward> = rewards.into_iter().map(Into::into).collect();
        let Some(first) = transitions.first() else {
            return Err(Error::Length {
                what: "mdp.transition",
                expected: 1,
                found: 0,
            });
        };
        let states = first.size();
        for (action, transition) in transitions.iter().enumerate() {
            if transition.size() != states {
                return Err(Error::Shape {
                    what: "mdp.transition",
                    rows: transition.size(),
                    columns: transition.size(),
                    expected: format!("{states} x {states} (as for action 0)"),
                });
            }
            require_stochastic(&format!("mdp.transition, action {action}"), transition)?;
        }
        if rewards.len() != 1 && rewards.len() != transitions.len() {
            return Err(Error::Length {
                what: "mdp.reward",
                expected: transitions.len(),
                found: rewards.len(),
            });
        }
        for reward in &rewards {
            reward.require_valid("mdp.reward", states)?;
        }
        Ok(Self {
            transitions,
            rewards,
        })
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.transitions[0].size()
    }

    /// Number of actions.
    pub fn actions(&self) -> usize {
        self.transitions.len()
    }

    /// The transition matrix `P_a`.
    pub fn transition(&self, action: usize) -> &SparseMatrix {
        &self.transitions[action]
    }

    /// The reward `r_a(from, to)`.
    pub fn reward(&self, action: usize, from: usize, to: usize) -> f64 {
        self.rewards[action.min(self.rewards.len() - 1)].get(from, to)
    }

    /// The chain and the reward under a policy, given as an n x actions matrix of probabilities.
    pub fn under(&self, policy: &Matrix) -> Result<(Chain, Reward)> {
        let states = self.states();
        if policy.rows() != states || policy.columns() != self.actions() {
            return Err(Error::Shape {
                what: "policy",
                rows: policy.rows(),
                columns: policy.columns(),
                expected: format!("{states} x {} (states x actions)", self.actions()),
            });
        }
        let mut transition = SparseMatrix::with_capacity(states, 0);
        let mut reward = SparseMatrix::with_capacity(states, 0);
        // (probability, probability-weighted reward) of each successor, and the list of successors.
        let mut onward = vec![(0.0, 0.0); states];
        for s in 0..states {
            let mut successors = std::collections::BTreeSet::new();
            for (action, &chance) in policy.row(s).iter().enumerate() {
                require_probability("policy", s, action, chance)?;
                for (to, p) in self.transitions[action].entries(s) {
                    if chance * p > 0.0 {
                        successors.insert(to);
                        onward[to].0 += chance * p;
                        onward[to].1 += chance * p * self.reward(action, s, to);
                    }
                }
            }
            require_unit_sum("policy", s, policy.row(s).iter().sum())?;
            for to in successors {
                let (probability, weighted) = std::mem::take(&mut onward[to]);
                transition.push(to, probability);
                reward.push(to, weighted / probability);
            }
            transition.end_row();
            reward.end_row();
        }
        Ok((Chain::from_sparse(transition)?, Reward::Sparse(reward)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(rows: [[f64; 2]; 2]) -> SparseMatrix {
        SparseMatrix::from_dense(&Matrix::from_rows(&rows).unwrap())
    }

    #[test]
    fn the_policy_mixes_transitions_and_rewards() {
        let go = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap();
        let stay = Matrix::from_rows(&[[-1.0, 0.0], [0.0, 8.0]]).unwrap();
        let mdp = Mdp::new(
            vec![
                sparse([[0.2, 0.8], [0.8, 0.2]]),
                sparse([[1.0, 0.0], [0.0, 1.0]]),
            ],
            vec![go, stay],
        )
        .unwrap();
        let policy = Matrix::from_rows(&[[0.5, 0.5], [0.25, 0.75]]).unwrap();
        let (chain, reward) = mdp.under(&policy).unwrap();
        assert_eq!(
            chain.transition().to_dense().as_slice(),
            &[0.6, 0.4, 0.2, 0.8]
        );
        let Reward::Sparse(reward) = reward else {
            panic!("a sparse reward")
        };
        // r(0,0) = (0.5 * 0.2 * 1 + 0.5 * 1 * -1) / 0.6
        assert!((reward.get(0, 0) - (0.1 - 0.5) / 0.6).abs() < 1e-15);
        assert!((reward.get(0, 1) - 2.0).abs() < 1e-15);
        assert!((reward.get(1, 1) - (0.05 * 4.0 + 0.75 * 8.0) / 0.8).abs() < 1e-14);
    }

    #[test]
    fn one_reward_serves_all_actions() {
        let reward = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap();
        let moves = vec![
            sparse([[0.5, 0.5], [0.5, 0.5]]),
            sparse([[0.1, 0.9], [0.6, 0.4]]),
        ];
        let mdp = Mdp::new(moves, vec![reward.clone()]).unwrap();
        let policy = Matrix::from_fn(2, 2, |_, _| 0.5);
        let (_, induced) = mdp.under(&policy).unwrap();
        let Reward::Sparse(induced) = induced else {
            panic!("a sparse reward")
        };
        for (found, expected) in induced.to_dense().as_slice().iter().zip(reward.as_slice()) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn a_policy_that_is_no_distribution_is_refused() {
        let mdp = Mdp::new(
            vec![sparse([[0.5, 0.5], [0.5, 0.5]])],
            vec![Matrix::zeros(2, 2)],
        )
        .unwrap();
        let policy = Matrix::from_rows(&[[1.0], [0.9]]).unwrap();
        let message = mdp.under(&policy).unwrap_err().to_string();
        assert_eq!(message, "policy: row 1 sums to 0.9, not to 1 within 1e-9");
    }
}
