//! Generates transitions, with episode ends and importance ratios, that can be replayed in dense and sparse form.

use robust_td_core::Problem;
use robust_td_core::learner::{Features, Learner, Outcome, Transition};
use robust_td_core::random::Stream;
use robust_td_core::registry::Setting;
use robust_td_core::registry::{self, AnyLearner};

use crate::common::{between, norm, random_problem, random_vector, trajectory};

/// The outcome of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    Continues,
    Terminated,
    Truncated,
}

/// One owned transition.
#[derive(Debug, Clone)]
pub struct Sample {
    pub phi: Vec<f64>,
    pub reward: f64,
    pub next: Vec<f64>,
    pub end: End,
    pub ratio: f64,
}

impl Sample {
    /// phi(s'), zero after a terminated episode.
    pub fn bootstrap(&self) -> Vec<f64> {
        match self.end {
            End::Terminated => vec![0.0; self.next.len()],
            End::Continues | End::Truncated => self.next.clone(),
        }
    }

    /// Whether the next sample belongs to another episode.
    pub fn ends(&self) -> bool {
        self.end != End::Continues
    }

    /// Passes on the sample, dense or sparse.
    pub fn with<R>(&self, sparse: bool, receive: impl FnOnce(&Transition<'_>) -> R) -> R {
        let (phi, next) = (entries(&self.phi), entries(&self.next));
        let view = |dense, (indices, values)| match sparse {
            false => Features::Dense(dense),
            true => Features::Sparse { indices, values },
        };
        let next = view(&self.next, (&next.0, &next.1));
        let outcome = match self.end {
            End::Continues => Outcome::Continues(next),
            End::Terminated => Outcome::Terminated,
            End::Truncated => Outcome::Truncated(next),
        };
        let phi = view(&self.phi, (&phi.0, &phi.1));
        receive(&Transition::new(phi, self.reward, outcome).with_ratio(self.ratio))
    }
}

fn entries(dense: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let nonzero = (0u32..).zip(dense).filter(|(_, value)| **value != 0.0);
    nonzero.map(|(i, v)| (i, *v)).unzip()
}

/// Recorded samples with their constants.
#[derive(Debug, Clone)]
pub struct Recording {
    pub dimension: usize,
    pub discount: f64,
    pub phi_inf: f64,
    pub samples: Vec<Sample>,
}

impl Recording {
    /// A trajectory of a random problem; no episodes, no ratios.
    pub fn of_problem(seed: u64, length: usize) -> Self {
        let problem = random_problem(seed);
        let states = trajectory(&problem, &mut Stream::new(seed, 99), length + 1);
        let sample = |pair: &[usize]| Sample {
            phi: problem.phi(pair[0]).to_vec(),
            reward: problem.reward(pair[0], pair[1]),
            next: problem.phi(pair[1]).to_vec(),
            end: End::Continues,
            ratio: 1.0,
        };
        Self {
            dimension: problem.dimension(),
            discount: problem.discount(),
            phi_inf: problem.phi_inf(),
            samples: states.windows(2).map(sample).collect(),
        }
    }

    /// Episodes over a table of random features, about half of them zero, with ratios up to `most`.
    pub fn episodes(seed: u64, length: usize, most: f64) -> Self {
        let mut stream = Stream::new(seed, 7);
        let dimension = 1 + (stream.uniform() * 12.0) as usize;
        let mut table: Vec<Vec<f64>> = (0..7)
            .map(|_| random_vector(&mut stream, dimension, 1.5))
            .collect();
        for x in table.iter_mut().flatten() {
            if stream.uniform() < 0.5 {
                *x = 0.0;
            }
        }
        table.push(vec![0.0; dimension]);
        let mut state = 0;
        let samples = (0..length)
            .map(|_| {
                let (from, to) = (state, (stream.uniform() * 8.0) as usize);
                let end = match (stream.uniform() * 16.0) as usize {
                    0 => End::Terminated,
                    1 => End::Truncated,
                    _ => End::Continues,
                };
                let ends = end != End::Continues;
                state = if ends {
                    (stream.uniform() * 8.0) as usize
                } else {
                    to
                };
                Sample {
                    phi: table[from].clone(),
                    reward: between(&mut stream, -1.0, 1.0),
                    next: table[to].clone(),
                    end,
                    ratio: if most == 1.0 {
                        1.0
                    } else {
                        between(&mut stream, 0.0, most)
                    },
                }
            })
            .collect();
        Self {
            dimension,
            discount: between(&mut stream, 0.0, 0.95),
            phi_inf: table.iter().map(|phi| norm(phi)).fold(0.1, f64::max),
            samples,
        }
    }

    /// The setting without a known model.
    pub fn setting(&self) -> Setting<'static> {
        Setting {
            discount: self.discount,
            dimension: self.dimension,
            horizon: self.samples.len().max(3) as u64,
            phi_inf: self.phi_inf,
            known: None,
        }
    }

    /// A new learner of a method.
    pub fn learner(&self, id: &str, given: &[(&str, f64)]) -> AnyLearner {
        let method = registry::find(id).unwrap();
        method.prepare(&self.setting(), given).unwrap().learner
    }

    /// Feeds every sample.
    pub fn feed<L: Learner>(&self, mut learner: L, sparse: bool) -> L {
        for sample in &self.samples {
            sample.with(sparse, |transition| learner.step(transition));
        }
        learner
    }
}

/// Feeds a trajectory of a problem from its start.
pub fn feed_problem<L: Learner>(problem: &Problem, mut learner: L, steps: usize, run: u64) -> L {
    let states = trajectory(problem, &mut Stream::new(5, run), steps + 1);
    for pair in states.windows(2) {
        learner.step(&Transition::of_problem(problem, pair[0], pair[1]));
    }
    learner
}
