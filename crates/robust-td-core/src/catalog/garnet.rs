//! Builds random decision processes of any size under a random policy.
//!
//! Source: T. W. Archibald, K. I. M. McKinnon and L. C. Thomas, "On the generation of Markov decision processes",
//! Journal of the Operational Research Society 46, 1995 (Garnet: generalised average reward non-stationary environment
//! test-bench). In each state each action leads to `branching` distinct states, drawn uniformly, with probabilities that
//! are the gaps between sorted uniforms; the policy's probabilities are drawn the same way. The reward of an action in a
//! state and the features are uniform in [-1, 1).
//!
//! One change: in every state one of the successors of action 0 is the next state on a random cycle through all states,
//! so that the chain is irreducible whatever the draw. (It can still be periodic when there is one action and one
//! successor: the cycle itself.)
//!
//! Randomness: part k of the problem (cycle, transitions, rewards, policy, features) uses stream (seed, k), so that the
//! decision process does not depend on the number of features.
//!
//! Known answer: none in closed form; the tests compare with independent routes and pin one instance.

use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::mdp::Mdp;
use crate::model::problem::Problem;
use crate::model::reward::Reward;
use crate::random::Stream;

pub(super) const ENTRY: Entry = Entry {
    name: "garnet",
    aliases: &[],
    summary: "random decision process under a random policy, sparse, any size",
    source: "Archibald, McKinnon and Thomas, On the generation of Markov decision processes, JORS 46, 1995",
    parameters: &[
        Parameter::new(
            "states",
            100.0,
            "number of states",
            "a whole number from 2 to 10000000",
            |x| whole_in(x, 2, 10_000_000),
        ),
        Parameter::new(
            "actions",
            4.0,
            "actions per state",
            "a whole number from 1 to 1000",
            |x| whole_in(x, 1, 1000),
        ),
        Parameter::new(
            "branching",
            5.0,
            "successors per state and action",
            "a whole number from 1 to 1000, at most `states`",
            |x| whole_in(x, 1, 1000),
        ),
        Parameter::new(
            "dimension",
            8.0,
            "number of features",
            "a whole number from 1 to 1000, at most `states`",
            |x| whole_in(x, 1, 1000),
        ),
        Parameter::new(
            "seed",
            1.0,
            "which random process",
            "a whole number from 0 to 4294967295",
            |x| whole_in(x, 0, u32::MAX),
        ),
        Parameter::discount(0.95),
    ],
    build,
};

/// The largest number of transitions, and of entries of the features: gigabytes.
const MOST_NUMBERS: usize = 1 << 28;

fn build(values: &Values) -> Result<Problem> {
    let (states, actions) = (values.whole("states"), values.whole("actions"));
    let (branching, dimension) = (values.whole("branching"), values.whole("dimension"));
    for (name, value) in [("branching", branching), ("dimension", dimension)] {
        values.require(
            name,
            value <= states,
            format!("at most `states` = {states}"),
        )?;
    }
    let edges = states.saturating_mul(actions).saturating_mul(branching);
    for (name, size, what) in [
        ("branching", edges, "`states` x `actions` x `branching`"),
        (
            "dimension",
            states.saturating_mul(dimension),
            "`states` x `dimension`",
        ),
    ] {
        let expected = format!("such that {what} is at most {MOST_NUMBERS}");
        values.require(name, size <= MOST_NUMBERS, expected)?;
    }
    let seed = values.whole("seed") as u64;
    let mdp = decision_process(seed, states, actions, branching)?;
    let (chain, reward) = mdp.under(&policy(seed, states, actions)?)?;
    let features = symmetric_uniforms(&mut Stream::new(seed, 4), states * dimension);
    let features = Matrix::new(states, dimension, features)?;
    Problem::new(chain, features, reward, values["discount"], 0)
}

/// The decision process, without a policy; `branching` is at most the number of states.
///
/// # Errors
/// When there are no actions.
pub fn decision_process(seed: u64, states: usize, actions: usize, branching: usize) -> Result<Mdp> {
    Mdp::new(
        transitions(seed, states, actions, branching),
        rewards(seed, states, actions),
    )
}

/// One transition matrix per action.
fn transitions(seed: u64, states: usize, actions: usize, branching: usize) -> Vec<SparseMatrix> {
    let onward = random_cycle(&mut Stream::new(seed, 0), states);
    let mut stream = Stream::new(seed, 1);
    (0..actions)
        .map(|action| {
            let mut transition = SparseMatrix::with_capacity(states, states * branching);
            for next in &onward {
                let mut successors = if action == 0 {
                    // The cycle's successor and others; indices at or above it are shifted by one to skip it.
                    let mut others = distinct(&mut stream, states - 1, branching - 1);
                    others
                        .iter_mut()
                        .filter(|s| **s >= *next)
                        .for_each(|s| *s += 1);
                    others.push(*next);
                    others
                } else {
                    distinct(&mut stream, states, branching)
                };
                successors.sort_unstable();
                let probabilities = gaps(&mut stream, branching);
                successors
                    .into_iter()
                    .zip(probabilities)
                    .for_each(|(to, probability)| transition.push(to, probability));
                transition.end_row();
            }
            transition
        })
        .collect()
}

/// One reward per state for each action.
fn rewards(seed: u64, states: usize, actions: usize) -> Vec<Reward> {
    let mut stream = Stream::new(seed, 2);
    (0..actions)
        .map(|_| Reward::PerState(symmetric_uniforms(&mut stream, states)))
        .collect()
}

fn policy(seed: u64, states: usize, actions: usize) -> Result<Matrix> {
    let mut stream = Stream::new(seed, 3);
    let chances = (0..states).flat_map(|_| gaps(&mut stream, actions));
    Matrix::new(states, actions, chances.collect())
}

/// The successor of each state on a uniformly random cycle through all of them (Sattolo's shuffle).
fn random_cycle(stream: &mut Stream, states: usize) -> Vec<usize> {
    let mut onward: Vec<usize> = (0..states).collect();
    for i in (1..states).rev() {
        onward.swap(i, below(stream, i));
    }
    onward
}

/// `count` distinct numbers below `bound`, each set equally likely (Floyd's method).
fn distinct(stream: &mut Stream, bound: usize, count: usize) -> Vec<usize> {
    let mut chosen = std::collections::BTreeSet::new();
    for last in bound - count..bound {
        let candidate = below(stream, last + 1);
        if !chosen.insert(candidate) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().collect()
}

/// The lengths of the pieces into which `count - 1` uniforms cut [0, 1], none of them zero.
fn gaps(stream: &mut Stream, count: usize) -> Vec<f64> {
    loop {
        let mut cuts: Vec<f64> = (1..count).map(|_| stream.uniform()).collect();
        cuts.push(0.0);
        cuts.push(1.0);
        cuts.sort_unstable_by(f64::total_cmp);
        let gaps: Vec<f64> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if gaps.iter().all(|&gap| gap > 0.0) {
            return gaps;
        }
    }
}

/// An integer below `bound`; the bias is at most bound / 2^53.
fn below(stream: &mut Stream, bound: usize) -> usize {
    (stream.uniform() * bound as f64) as usize
}

fn symmetric_uniforms(stream: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| 2.0 * stream.uniform() - 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::problem;

    #[test]
    fn each_action_has_its_successors_and_action_zero_the_cycle() {
        let (states, actions, branching) = (40, 3, 4);
        let matrices = transitions(7, states, actions, branching);
        assert_eq!(matrices.len(), actions);
        for matrix in &matrices {
            for s in 0..states {
                let (columns, probabilities) = matrix.row(s);
                assert_eq!(columns.len(), branching);
                assert!(columns.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(probabilities.iter().all(|&p| p > 0.0));
                assert!((probabilities.iter().sum::<f64>() - 1.0).abs() <= 1e-15);
            }
        }
        let onward = random_cycle(&mut Stream::new(7, 0), states);
        let mut visited = vec![false; states];
        let mut at = 0;
        for _ in 0..states {
            assert!(matrices[0].get(at, onward[at]) > 0.0);
            visited[at] = true;
            at = onward[at];
        }
        assert!(at == 0 && visited.iter().all(|&seen| seen));
    }

    #[test]
    fn successors_are_drawn_evenly() {
        let (bound, count, draws) = (10, 3, 20_000);
        let mut stream = Stream::new(5, 5);
        let mut tally = vec![0.0; bound];
        for _ in 0..draws {
            let chosen = distinct(&mut stream, bound, count);
            assert_eq!(chosen.len(), count);
            chosen.iter().for_each(|&k| tally[k] += 1.0);
        }
        let share = count as f64 / bound as f64;
        let deviation = (share * (1.0 - share) * f64::from(draws)).sqrt();
        for seen in tally {
            assert!((seen - share * f64::from(draws)).abs() <= 5.0 * deviation);
        }
    }

    #[test]
    fn the_mean_update_over_states_actions_and_successors_vanishes_at_the_fixed_point() {
        let p = problem("garnet", &[("seed", 3.0)]).unwrap();
        let transitions = transitions(3, 100, 4, 5);
        let rewards = rewards(3, 100, 4);
        let policy = policy(3, 100, 4).unwrap();
        let values = p.values(p.theta_star());
        let mut mean = vec![0.0; p.dimension()];
        for s in 0..100 {
            for action in 0..4 {
                for (to, probability) in transitions[action].entries(s) {
                    let delta = rewards[action].get(s, to) + 0.95 * values[to] - values[s];
                    let weight = p.stationary()[s] * policy.get(s, action) * probability * delta;
                    mean.iter_mut()
                        .zip(p.phi(s))
                        .for_each(|(sum, x)| *sum += weight * x);
                }
            }
        }
        assert!(mean.iter().all(|x| x.abs() <= 1e-15), "{mean:?}");
    }

    #[test]
    fn the_chain_depends_on_the_seed_and_not_on_the_features() {
        let p = |settings: &[(&str, f64)]| problem("garnet", settings).unwrap();
        assert_eq!(p(&[]).chain(), p(&[("dimension", 3.0)]).chain());
        assert_eq!(p(&[]), p(&[("seed", 1.0)]));
        assert_ne!(p(&[]).chain(), p(&[("seed", 2.0)]).chain());
        assert!(p(&[("branching", 1.0)]).omega() > 0.0);
    }

    #[test]
    fn the_default_instance_stays_the_same() {
        let p = problem("garnet", &[]).unwrap();
        let found = [
            p.omega(),
            p.theta_star()[0],
            p.theta_star()[7],
            p.stationary()[0],
        ];
        // Computed by an independent program in another language that follows this file's description.
        let expected = [
            0.1957714703874064,
            -0.09978255599502528,
            0.05756994057911014,
            0.01690234326120023,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-14,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn a_bare_cycle_is_refused_as_periodic() {
        let settings = [("states", 12.0), ("actions", 1.0), ("branching", 1.0)];
        let message = problem("garnet", &settings).unwrap_err().to_string();
        assert!(message.contains("period 12"), "{message}");
    }

    #[test]
    fn parameters_must_fit_each_other() {
        let message = problem("garnet", &[("states", 4.0)])
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "garnet: branching is 5, but must be at most `states` = 4"
        );
    }
}
