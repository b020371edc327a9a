//! Defines decision processes with two policies, one that is followed and one whose exact values are known.

use std::fmt::Write as _;

use robust_td_core::catalog::garnet;
use robust_td_core::random::Stream;
use robust_td_core::{Matrix, Mdp, SparseMatrix};

/// A decision process in episodes.
pub struct Process {
    /// The name.
    pub name: &'static str,
    /// Transitions and mean rewards of each action.
    pub mdp: Mdp,
    /// The probability that the episode terminates on entering a state.
    pub ends: Vec<f64>,
    /// The probabilities of the first state.
    pub start: Vec<f64>,
    /// The policy that is followed, and the one that is evaluated: states x actions.
    pub logged: Matrix,
    /// The policy that is evaluated.
    pub target: Matrix,
    /// gamma.
    pub discount: f64,
    /// The range of the noise of rewards.
    pub noise: f64,
}

/// All processes.
///
/// # Errors
/// When a process is not valid.
pub fn all() -> robust_td_core::Result<Vec<Process>> {
    Ok(vec![walk()?, grid()?, random()?])
}

/// Seven places in a row, one step to the left or to the right; reward 1 at the right end. Both ends are terminal.
fn walk() -> robust_td_core::Result<Process> {
    let moves = |step: i32| sparse(7, |s| vec![((s as i32 + step).clamp(0, 6) as usize, 1.0)]);
    let reward = Matrix::from_fn(7, 7, |_, to| f64::from(u8::from(to == 6)));
    Ok(Process {
        name: "random walk, 7 places, 2 actions",
        mdp: Mdp::new(vec![moves(-1), moves(1)], vec![reward])?,
        ends: vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        start: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        logged: Matrix::from_fn(7, 2, |_, _| 0.5),
        target: Matrix::from_fn(7, 2, |_, a| [0.35, 0.65][a]),
        discount: 0.95,
        noise: 0.0,
    })
}

/// The grid of the catalog with 3 x 3 cells: the walker goes north, west, east or south, and stays at walls; reward 1 in a corner.
fn grid() -> robust_td_core::Result<Process> {
    let side = 3;
    let place = |cell: usize, action: usize| {
        let (x, y) = (cell % side, cell / side);
        match action {
            0 if y > 0 => cell - side,
            1 if x > 0 => cell - 1,
            2 if x + 1 < side => cell + 1,
            3 if y + 1 < side => cell + side,
            _ => cell,
        }
    };
    let cells = side * side;
    let moves = (0..4).map(|action| sparse(cells, |cell| vec![(place(cell, action), 1.0)]));
    let reward = Matrix::from_fn(cells, cells, |_, to| f64::from(u8::from(to == cells - 1)));
    Ok(Process {
        name: "grid world, 3 x 3, 4 actions",
        mdp: Mdp::new(moves.collect(), vec![reward])?,
        ends: vec![0.1; cells],
        start: vec![1.0 / cells as f64; cells],
        logged: Matrix::from_fn(cells, 4, |_, _| 0.25),
        target: Matrix::from_fn(cells, 4, |_, a| [0.15, 0.15, 0.35, 0.35][a]),
        discount: 0.95,
        noise: 1.0,
    })
}

/// A random process of the catalog, with rewards of each action.
fn random() -> robust_td_core::Result<Process> {
    let (states, actions) = (10, 3);
    let mut stream = Stream::new(11, 0);
    // At least 1/6, so that every action is seen.
    let mut policy = || {
        let row = |stream: &mut Stream| {
            let weights: Vec<f64> = (0..actions).map(|_| stream.uniform()).collect();
            let sum: f64 = weights.iter().sum();
            weights
                .into_iter()
                .map(move |w| 0.5 / actions as f64 + 0.5 * w / sum)
                .collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = (0..states).map(|_| row(&mut stream)).collect();
        Matrix::from_fn(states, actions, |s, a| rows[s][a])
    };
    Ok(Process {
        name: "garnet, 10 states, 3 actions",
        mdp: garnet::decision_process(1, states, actions, 3)?,
        ends: vec![0.1; states],
        start: vec![1.0 / states as f64; states],
        logged: policy(),
        target: policy(),
        discount: 0.9,
        noise: 1.0,
    })
}

/// The matrix of these entries.
fn sparse(states: usize, row: impl Fn(usize) -> Vec<(usize, f64)>) -> SparseMatrix {
    let mut dense = Matrix::zeros(states, states);
    for s in 0..states {
        let entries = row(s).into_iter();
        entries.for_each(|(to, p)| dense.row_mut(s)[to] += p);
    }
    SparseMatrix::from_dense(&dense)
}

impl Process {
    /// Q of the evaluated policy, states x actions, by iteration to the last digit.
    pub fn action_values(&self) -> Matrix {
        let (states, actions) = (self.mdp.states(), self.mdp.actions());
        let mut q = Matrix::zeros(states, actions);
        for _ in 0..5000 {
            let value: Vec<f64> = (0..states).map(|s| self.mean(&q, s)).collect();
            q = Matrix::from_fn(states, actions, |s, a| {
                let onward = self.mdp.transition(a).entries(s).map(|(to, p)| {
                    p * (self.mdp.reward(a, s, to)
                        + self.discount * (1.0 - self.ends[to]) * value[to])
                });
                onward.sum()
            });
        }
        q
    }

    /// V(s) of the evaluated policy from its Q.
    pub fn mean(&self, q: &Matrix, s: usize) -> f64 {
        (0..self.mdp.actions())
            .map(|a| self.target.get(s, a) * q.get(s, a))
            .sum()
    }

    /// The value of the evaluated policy.
    pub fn value(&self) -> f64 {
        let q = self.action_values();
        (0..self.mdp.states())
            .map(|s| self.start[s] * self.mean(&q, s))
            .sum()
    }

    /// A log of the policy that is followed, as CSV.
    pub fn log(&self, episodes: usize, seed: u64, number: u64) -> String {
        let mut stream = Stream::new(seed, number);
        let actions = self.mdp.actions();
        let mut text = String::from("episode,obs_0,action,reward,terminated,behaviour_prob");
        (0..actions).for_each(|a| write!(text, ",target_{a}").expect("a string"));
        text.push('\n');
        for episode in 0..episodes {
            let mut state = draw(&mut stream, self.start.iter().copied().enumerate());
            loop {
                let action = draw(
                    &mut stream,
                    self.logged.row(state).iter().copied().enumerate(),
                );
                let next = draw(&mut stream, self.mdp.transition(action).entries(state));
                let reward =
                    self.mdp.reward(action, state, next) + self.noise * (stream.uniform() - 0.5);
                let ends = stream.uniform() < self.ends[next];
                let chance = self.logged.get(state, action);
                write!(
                    text,
                    "{episode},{state},{action},{reward},{},{chance}",
                    u8::from(ends)
                )
                .expect("a string");
                (self.target.row(state).iter())
                    .for_each(|p| write!(text, ",{p}").expect("a string"));
                text.push('\n');
                if ends {
                    break;
                }
                state = next;
            }
        }
        text
    }
}

/// Draws one of several with the given probabilities.
fn draw(stream: &mut Stream, weights: impl Iterator<Item = (usize, f64)>) -> usize {
    let (mut left, mut last) = (stream.uniform(), 0);
    for (k, weight) in weights {
        if weight > 0.0 {
            last = k;
            left -= weight;
            if left < 0.0 {
                return k;
            }
        }
    }
    last
}
