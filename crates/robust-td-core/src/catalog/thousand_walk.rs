//! Builds the long random walk whose states are lumped into a few groups.
//!
//! Source: Sutton and Barto, "Reinforcement Learning", 2nd ed., Example 9.1 and Figures 9.1 and 9.2. From each of 1000
//! states the walk jumps to one of the 100 neighbours on either side, all 200 equally likely; a jump beyond the left end
//! ends the episode with -1, beyond the right end with +1. Episodes start at state 500 and are joined into one chain by
//! an end state (`episode.rs`). Feature j marks the states of group j (10 groups of 100).
//!
//! Known answer: `theta*` solves, for each group g, the averaged Bellman equation
//! ```text
//! theta(g) = sum_{s in g} pi(s) (rbar(s) + gamma sum_{s'} P(s,s') theta(g(s'))) / sum_{s in g} pi(s)
//! ```
//! It rises from group to group, and nearly mirrors itself (`theta(g)` is about `-theta(9-g)`): the start, visited
//! 1.37% of the time according to the book, counts for the left middle group and pulls it up. With an odd number of
//! states in an odd number of groups the start is in the middle and the mirror is exact.

use super::episode::{self, Move};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "thousand-walk",
    aliases: &[],
    summary: "1000-state walk with jumps of up to 100, states aggregated in 10 groups",
    source: "Sutton and Barto, Reinforcement Learning (2nd ed.), Example 9.1",
    parameters: &[
        Parameter::new(
            "states",
            1000.0,
            "number of states between the ends",
            "a whole number from 3 to 10000",
            |x| whole_in(x, 3, 10_000),
        ),
        Parameter::new(
            "reach",
            100.0,
            "longest jump",
            "a whole number from 1 to 1000, at most half of `states`",
            |x| whole_in(x, 1, 1000),
        ),
        Parameter::new(
            "groups",
            10.0,
            "number of groups, the dimension of theta",
            "a whole number from 1 to 1000, at most `states`",
            |x| whole_in(x, 1, 1000),
        ),
        Parameter::discount(0.99),
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let (n, reach, groups) = (
        values.whole("states"),
        values.whole("reach"),
        values.whole("groups"),
    );
    // Longer jumps could leave a state over both ends, with two rewards for one transition.
    values.require(
        "reach",
        2 * reach <= n,
        format!("at most half of `states` = {n}"),
    )?;
    values.require("groups", groups <= n, format!("at most `states` = {n}"))?;
    let chance = 1.0 / (2 * reach) as f64;
    let moves = (0..n).flat_map(|from| {
        let off_left = reach.saturating_sub(from);
        let off_right = (from + reach + 1).saturating_sub(n);
        let jumps = (from - (reach - off_left)..=from + reach - off_right)
            .filter(move |&to| to != from)
            .map(move |to| Move {
                from,
                to: Some(to),
                probability: chance,
                reward: 0.0,
            });
        let ends = [(off_left, -1.0), (off_right, 1.0)]
            .into_iter()
            .filter(|&(count, _)| count > 0)
            .map(move |(count, reward)| Move {
                from,
                to: None,
                probability: count as f64 / (2 * reach) as f64,
                reward,
            });
        jumps.chain(ends)
    });
    let member = |s: usize, j: usize| if s * groups / n == j { 1.0 } else { 0.0 };
    episode::continuing(n, (n - 1) / 2, moves, groups, member, values["discount"])
}

#[cfg(test)]
mod tests {
    use crate::catalog::problem;
    use crate::model::problem::Problem;

    /// The averaged Bellman equation, iterated with visit counts that are themselves iterated.
    fn averaged_fixed_point(p: &Problem, groups: usize) -> Vec<f64> {
        let n = p.states() - 1;
        let edges: Vec<_> = p.edges().collect();
        let group = |s: usize| s * groups / n;
        let weights = iterate(vec![1.0; n + 1], |weights| {
            let mut next = vec![0.0; n + 1];
            for edge in &edges {
                next[edge.to] += weights[edge.from] * edge.probability;
            }
            next
        });
        iterate(vec![0.0; groups], |theta| {
            let (mut sums, mut sizes) = (vec![0.0; groups], vec![0.0; groups]);
            for edge in edges.iter().filter(|edge| edge.from < n) {
                let onward = if edge.to < n {
                    theta[group(edge.to)]
                } else {
                    0.0
                };
                let weight = weights[edge.from] * edge.probability;
                sums[group(edge.from)] += weight * (edge.reward + p.discount() * onward);
                sizes[group(edge.from)] += weight;
            }
            sums.iter()
                .zip(&sizes)
                .map(|(sum, size)| sum / size)
                .collect()
        })
    }

    /// Repeats a contraction until it moves no entry by more than 1e-15.
    fn iterate(mut x: Vec<f64>, step: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        for _ in 0..100_000 {
            let next = step(&x);
            let moved = next.iter().zip(&x).map(|(a, b)| (a - b).abs());
            let settled = moved.fold(0.0, f64::max) <= 1e-15;
            x = next;
            if settled {
                return x;
            }
        }
        panic!("the iteration does not settle");
    }

    #[test]
    fn fixed_point_solves_the_averaged_bellman_equation() {
        for (states, reach, groups, discount) in
            [(200, 20, 10, 0.99), (100, 3, 7, 0.9), (30, 15, 30, 0.999)]
        {
            let settings = [
                ("states", f64::from(states)),
                ("reach", f64::from(reach)),
                ("groups", f64::from(groups)),
                ("discount", discount),
            ];
            let p = problem("thousand-walk", &settings).unwrap();
            let expected = averaged_fixed_point(&p, groups as usize);
            for (found, expected) in p.theta_star().iter().zip(&expected) {
                assert!(
                    (found - expected).abs() <= 1e-11,
                    "{found} is not {expected}"
                );
            }
        }
    }

    #[test]
    fn the_published_walk_rises_and_nearly_mirrors_itself() {
        let p = problem("thousand-walk", &[("discount", 1.0 - 1e-9)]).unwrap();
        let theta = p.theta_star();
        assert!(theta.windows(2).all(|pair| pair[0] < pair[1]));
        for g in 0..10 {
            // The start has about 8% of the visits to its group: the step to the left of that group is larger than
            // the step to its right by a factor 1.2, a fifth of the step's 0.12 to 0.15.
            assert!((theta[g] + theta[9 - g]).abs() <= 0.15, "{theta:?}");
        }
        assert!(theta[0] > -1.0 && theta[9] < 1.0);
        for (found, expected) in theta.iter().zip(averaged_fixed_point(&p, 10)) {
            assert!(
                (found - expected).abs() <= 1e-11,
                "{found} is not {expected}"
            );
        }
        // The start is where the book puts it: state 500, counting from 1.
        assert_eq!((p.start(), p.states(), p.dimension()), (499, 1001, 10));
        assert_eq!(p.chain().transition().get(0, 1000), 0.5);
        assert_eq!(p.reward(0, 1000), -1.0);
        assert_eq!(p.chain().transition().get(900, 1000), 0.005);
        assert_eq!(p.reward(900, 1000), 1.0);
        assert_eq!(p.chain().transition().get(899, 1000), 0.0);
    }

    #[test]
    fn published_state_distribution() {
        // Sutton and Barto, section 9.3, in per cent of the time within episodes.
        let p = problem("thousand-walk", &[]).unwrap();
        let percent = |s: usize| 100.0 * p.stationary()[s] / (1.0 - p.stationary()[1000]);
        assert!((percent(499) - 1.37).abs() <= 0.005, "{}", percent(499));
        assert!((percent(500) - 0.17).abs() <= 0.005, "{}", percent(500));
        assert!((percent(0) - 0.0147).abs() <= 5e-5, "{}", percent(0));
        assert!((percent(999) - 0.0147).abs() <= 5e-5, "{}", percent(999));
    }

    #[test]
    fn an_odd_walk_mirrors_itself_exactly() {
        let settings = [("states", 99.0), ("reach", 10.0), ("groups", 9.0)];
        let p = problem("thousand-walk", &settings).unwrap();
        let theta = p.theta_star();
        for g in 0..9 {
            assert!((theta[g] + theta[8 - g]).abs() <= 1e-14);
        }
    }

    #[test]
    fn parameters_must_fit_each_other() {
        let refused =
            |settings: &[(&str, f64)]| problem("thousand-walk", settings).unwrap_err().to_string();
        assert_eq!(
            refused(&[("reach", 501.0)]),
            "thousand-walk: reach is 501, but must be at most half of `states` = 1000"
        );
        assert_eq!(
            refused(&[("states", 8.0), ("reach", 2.0)]),
            "thousand-walk: groups is 10, but must be at most `states` = 8"
        );
    }
}
