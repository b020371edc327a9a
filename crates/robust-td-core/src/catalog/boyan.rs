//! Builds Boyan's chain, whose values are linear in four interpolated features.
//!
//! Source: J. A. Boyan, "Technical update: least-squares temporal difference learning", Machine Learning 49, 2002,
//! Figure 2. From state i >= 2 the chain goes to i - 1 or i - 2, each with probability 1/2 and reward -3; from 1 to 0
//! with reward -2; from 0 the episode ends with reward 0. Episodes start at 12 and are joined into one chain by an end
//! state (`episode.rs`). The features of states 12, 8, 4, 0 are the four unit vectors; between them they are interpolated.
//!
//! Known answer: without discount `V(i) = -2 i`, so `theta* -> (-24, -16, -8, 0)` as gamma -> 1.

use super::episode::{self, Move};
use super::{Entry, Parameter, Values};
use crate::error::Result;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "boyan",
    aliases: &[],
    summary: "Boyan's 13-state chain with 4 interpolated features, episodes joined end to start",
    source: "Boyan, Technical update: least-squares temporal difference learning, Machine Learning 49, 2002",
    parameters: &[Parameter::discount(0.99)],
    build,
};

const FIRST: usize = 12;

fn build(values: &Values) -> Result<Problem> {
    let moves = (0..=FIRST).flat_map(|from| {
        let step = |to, probability, reward| Move {
            from,
            to,
            probability,
            reward,
        };
        match from {
            0 => vec![step(None, 1.0, 0.0)],
            1 => vec![step(Some(0), 1.0, -2.0)],
            _ => vec![
                step(Some(from - 1), 0.5, -3.0),
                step(Some(from - 2), 0.5, -3.0),
            ],
        }
    });
    // Feature j peaks at state 12 - 4j and falls to zero four states away.
    let hat = |s: usize, j: usize| (1.0 - s.abs_diff(FIRST - 4 * j) as f64 / 4.0).max(0.0);
    episode::continuing(FIRST + 1, FIRST, moves, 4, hat, values["discount"])
}

#[cfg(test)]
mod tests {
    use crate::catalog::{all_close, problem};

    #[test]
    fn published_answer_without_discount() {
        let p = problem("boyan", &[("discount", 1.0 - 1e-8)]).unwrap();
        for (found, expected) in p.theta_star().iter().zip([-24.0, -16.0, -8.0, 0.0]) {
            // Discounting removes less than 12 steps' worth of the value.
            assert!((found - expected).abs() <= 1e-8 * 12.0 * 24.0, "{found}");
        }
    }

    #[test]
    fn features_of_the_paper() {
        let p = problem("boyan", &[]).unwrap();
        all_close(p.phi(12), &[1.0, 0.0, 0.0, 0.0]);
        all_close(p.phi(11), &[0.75, 0.25, 0.0, 0.0]);
        all_close(p.phi(6), &[0.0, 0.5, 0.5, 0.0]);
        all_close(p.phi(1), &[0.0, 0.0, 0.25, 0.75]);
        all_close(p.phi(0), &[0.0, 0.0, 0.0, 1.0]);
        all_close(p.phi(13), &[0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn true_values_follow_the_recurrence_with_discount() {
        // Computed downstream from V(0) = 0. The end state of the joined chain leads back to the start, so
        // its share is subtracted.
        let gamma = 0.9;
        let p = problem("boyan", &[("discount", gamma)]).unwrap();
        let joined = p.true_values();
        let mut episodic = vec![0.0, -2.0];
        let mut to_end = vec![gamma, gamma * gamma];
        for i in 2..=12 {
            episodic.push(-3.0 + gamma / 2.0 * (episodic[i - 1] + episodic[i - 2]));
            to_end.push(gamma / 2.0 * (to_end[i - 1] + to_end[i - 2]));
        }
        for i in 0..=12 {
            assert!((joined[i] - to_end[i] * joined[13] - episodic[i]).abs() <= 1e-13 * 24.0);
        }
    }
}
