//! Holds the moments of eight lanes and advances them by single steps.

use serde::{Deserialize, Serialize};

use super::dispatch;
use super::moments::{Chain, Job, Layout, WIDTH};
use crate::kernel::{Kernel, Line};

/// Rows of moments, and the row of each state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pack {
    rows: Vec<Line>,
    place: Vec<u32>,
}

/// The inputs of a step for the eight lanes of a pack.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    /// Total probability: 1, or 0 for a direction in the space of moments.
    pub mass: [f64; WIDTH],
    /// Step sizes.
    pub eta: [f64; WIDTH],
    /// Weights of the averages.
    pub weight: [f64; WIDTH],
}

/// Sums over the states.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// Growth of E[S' A S].
    pub growth: [f64; WIDTH],
    /// E|theta|^2 after the step.
    pub norms: [f64; WIDTH],
}

impl Pack {
    /// All moments zero.
    pub fn new(chain: &Chain) -> Self {
        let length = Layout::new(chain.dimension).len();
        Self {
            rows: vec![Line::default(); chain.rows() * length],
            place: (0..chain.rows() as u32).collect(),
        }
    }

    /// A single row of moments, the sums over the states.
    pub fn of_totals(totals: Vec<Line>) -> Self {
        Self {
            rows: totals,
            place: vec![0],
        }
    }

    /// Whether it has the form of a new one, or of totals.
    pub fn fits(&self, new: &Self, chain: &Chain, totals: bool) -> bool {
        let length = Layout::new(chain.dimension).len();
        if totals {
            return self.rows.len() == length && self.place == [0];
        }
        let mut seen = vec![false; new.place.len()];
        self.rows.len() == new.rows.len()
            && self.place.len() == new.place.len()
            && (self.place.iter()).all(|&place| {
                let place = seen.get_mut(place as usize);
                place.is_some_and(|seen| !std::mem::replace(seen, true))
            })
    }

    /// The moments of state `s`.
    pub fn row(&self, s: usize, length: usize) -> &[Line] {
        &self.rows[self.place[s] as usize * length..][..length]
    }

    /// The moments of state `s`.
    pub fn row_mut(&mut self, s: usize, length: usize) -> &mut [Line] {
        &mut self.rows[self.place[s] as usize * length..][..length]
    }

    /// The sums of the moments over the first `states` rows.
    pub fn totals(&self, states: usize, length: usize) -> Vec<Line> {
        let mut totals = vec![Line::default(); length];
        for s in 0..states {
            let row = Line::numbers(self.row(s, length));
            for (sum, x) in Line::numbers_mut(&mut totals).iter_mut().zip(row) {
                *sum += x;
            }
        }
        totals
    }

    /// Takes one step from the distribution `p` of the state; `spare` is working memory.
    pub fn step(
        &mut self,
        chain: &Chain,
        kernel: Kernel,
        p: &[f64],
        drive: &Drive,
        spare: &mut Vec<u32>,
    ) -> Sums {
        spare.clear();
        spare.extend(chain.turn.iter().map(|&row| self.place[row as usize]));
        let mut job = Job {
            chain,
            p,
            rows: &mut self.rows,
            now: &self.place,
            next: spare,
            drive,
            sums: [Line::default(); 3],
        };
        dispatch::run(kernel, &mut job);
        let [cross, second, norms] = job.sums;
        std::mem::swap(&mut self.place, spare);
        let growth = |l: usize| {
            let w = drive.weight[l];
            w * (2.0 * cross[l] - w * second[l])
        };
        Sums {
            growth: std::array::from_fn(growth),
            norms: norms.0,
        }
    }
}
