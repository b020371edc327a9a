//! Builds the random walk between two ends, with one feature per state.
//!
//! Sources: R. S. Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3, 1988;
//! the walk with 19 states and ends -1 and +1 is that of Sutton and Barto, "Reinforcement Learning", 2nd ed., Examples
//! 7.1 and Figure 12.3. Each step goes left or right with probability 1/2; stepping off the left end gives -1, off the
//! right end +1, all else 0. Episodes start in the centre and are joined into one chain by an end state (`episode.rs`).
//!
//! Known answer: features are tabular, so `theta*` is the value function V of the episodic walk. With `kappa = acosh(1/gamma)`, that is with the roots
//! `e^kappa`, `e^-kappa` of `V(i) = gamma/2 (V(i-1) + V(i+1))`, and `c = (n-1)/2`,
//! ```text
//! V(i) = (1/gamma) sinh(kappa (i - c)) / sinh(kappa (n+1)/2)     ->  (i - c) / ((n+1)/2)  as gamma -> 1
//! ```
//! The chain is periodic when every way from the centre to an end and back to the centre has even length (5, 9, 13
//! states, ...); those sizes are rejected with the period.

use super::episode::{self, Move};
use super::parameter::whole_in;
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "random-walk",
    aliases: &[],
    summary: "walk between -1 and +1 with one feature per state (19 states), episodes joined end to start",
    source: "Sutton 1988; Sutton and Barto, Reinforcement Learning (2nd ed.), Example 7.1",
    parameters: &[
        Parameter::new(
            "states",
            19.0,
            "number of states between the ends",
            "a whole number from 2 to 1000",
            |x| whole_in(x, 2, 1000),
        ),
        Parameter::discount(0.99),
    ],
    build,
};

fn build(values: &Values) -> Result<Problem> {
    let n = values.whole("states");
    let moves = (0..n).flat_map(|from| {
        let step = |to: Option<usize>, reward: f64| Move {
            from,
            to,
            probability: 0.5,
            reward: if to.is_none() { reward } else { 0.0 },
        };
        [
            step(from.checked_sub(1), -1.0),
            step(Some(from + 1).filter(|&to| to < n), 1.0),
        ]
    });
    let tabular = |s, j| if s == j { 1.0 } else { 0.0 };
    episode::continuing(n, (n - 1) / 2, moves, n, tabular, values["discount"])
}

#[cfg(test)]
mod tests {
    use crate::catalog::problem;
    use crate::model::problem::Problem;

    fn walk(states: usize, discount: f64) -> Problem {
        problem(
            "random-walk",
            &[("states", states as f64), ("discount", discount)],
        )
        .unwrap()
    }

    #[test]
    fn values_rise_linearly_without_discount() {
        for n in [2, 7, 19, 100] {
            let p = walk(n, 1.0 - 1e-9);
            let half = (n + 1) as f64 / 2.0;
            for (i, value) in p.theta_star().iter().enumerate() {
                let expected = (i as f64 - (n - 1) as f64 / 2.0) / half;
                // The discount bends the line by at most (1 - gamma) (n+1)^2 / 12 or so.
                assert!((value - expected).abs() <= 1e-9 * half * half);
            }
        }
    }

    #[test]
    fn values_are_a_hyperbolic_sine_with_discount() {
        for n in [2, 3, 19, 50] {
            for discount in [0.5_f64, 0.9, 0.99, 0.9999] {
                let p = walk(n, discount);
                let rate = discount.recip().acosh();
                let centre = (n - 1) as f64 / 2.0;
                for (i, value) in p.theta_star().iter().enumerate() {
                    let expected = (rate * (i as f64 - centre)).sinh()
                        / (rate * (n + 1) as f64 / 2.0).sinh()
                        / discount;
                    assert!(
                        (value - expected).abs() <= 1e-12,
                        "{value} is not {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn stationary_weights_are_expected_visits() {
        // From the centre of 2m - 1 states, state i is visited m - |i - (m-1)| times, in all m^2, before the end.
        let p = walk(19, 0.99);
        for (i, weight) in p.stationary().iter().enumerate() {
            let visits = if i == 19 {
                1.0
            } else {
                10.0 - (i as f64 - 9.0).abs()
            };
            assert!((weight * 101.0 / visits - 1.0).abs() <= 1e-14);
        }
    }

    #[test]
    fn walks_with_an_even_way_round_are_refused() {
        let message = problem("random-walk", &[("states", 5.0)])
            .unwrap_err()
            .to_string();
        assert!(message.contains("period 2"), "{message}");
    }
}
