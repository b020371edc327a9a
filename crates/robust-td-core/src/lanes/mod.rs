//! Advances many iterates over one stream of transitions, with the uniform averages of their tails.

mod advance;
mod difference;
mod line;
mod linear;
mod norms;
mod recent;
mod step;
#[cfg(test)]
mod tests;

use robust_td_simd::run;
use serde::{Deserialize, Serialize};

pub(crate) use advance::{AdvanceAll, AdvanceAndWatch, Change, Measure, Watch};
pub(crate) use difference::Difference;
pub(crate) use line::{Line, WIDTH};
pub(crate) use linear::{Map, Outer};
use norms::Norms;
use recent::{AddAll, OfLane, Recent};

/// Iterates on the same transitions, each with its own step size.
///
/// Lane l is entry l mod 16 of line l / 16.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "SavedLanes", into = "SavedLanes")]
pub(crate) struct Lanes {
    dimension: usize,
    /// theta: all coordinates of the first line, then of the next.
    theta: Vec<Line>,
    /// sum_j S_j Delta_j over the moves since the average started, with S_j iterates counted at move j; excludes `recent`.
    moves: Vec<Line>,
    /// The moves not yet added.
    recent: Recent,
    /// The number of iterates in the averages.
    counted: u64,
}

impl Lanes {
    /// `lines` lines of lanes at theta = 0.
    pub fn zero(dimension: usize, lines: usize) -> Self {
        let zeros = vec![Line::default(); dimension * lines];
        Self {
            dimension,
            moves: zeros.clone(),
            theta: zeros,
            recent: Recent::default(),
            counted: 0,
        }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Whether the buffers match this dimension and number of lines.
    pub fn fits(&self, dimension: usize, lines: usize) -> bool {
        let numbers = dimension * lines;
        self.dimension == dimension && [self.theta.len(), self.moves.len()] == [numbers; 2]
    }

    /// The number of iterates in the averages.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// Adds the recent moves.
    pub fn settle(&mut self) {
        run(AddAll {
            recent: &self.recent,
            sums: &mut self.moves,
        });
        self.recent.clear();
    }

    /// Restarts the averages at the next iterate.
    pub fn restart_averages(&mut self) {
        self.moves.fill(Line::default());
        self.recent.clear();
        self.counted = 0;
    }

    /// Coordinate `j` of a lane's iterate.
    #[inline]
    pub fn theta(&self, lane: usize, j: usize) -> f64 {
        self.theta[self.place(lane, j)][lane % WIDTH]
    }

    /// A lane's average of the iterates before each step since the averages started; the current iterate if there is none.
    pub fn average(&self, lane: usize) -> Vec<f64> {
        let mut entries = vec![0.0; self.dimension];
        run(OfLane {
            recent: &self.recent,
            sums: &self.moves[self.place(lane, 0)..],
            lane,
            out: &mut entries,
        });
        for (j, entry) in entries.iter_mut().enumerate() {
            *entry = average(self.theta(lane, j), *entry, self.counted);
        }
        entries
    }

    /// Writes the averages.
    pub fn write_averages(&mut self, out: &mut [Line]) {
        self.settle();
        let pairs = self.theta.iter().zip(&self.moves);
        for (out, (theta, moves)) in out.iter_mut().zip(pairs) {
            for l in 0..WIDTH {
                out[l] = average(theta[l], moves[l], self.counted);
            }
        }
    }

    /// The iterates: all coordinates of the first line, then of the next.
    pub fn iterates(&self) -> &[Line] {
        &self.theta
    }

    /// Writes the sums of the iterates in the averages.
    pub fn write_sums(&mut self, out: &mut [Line]) {
        self.settle();
        let (counted, pairs) = (self.counted as f64, self.theta.iter().zip(&self.moves));
        for (out, (theta, moves)) in out.iter_mut().zip(pairs) {
            for l in 0..WIDTH {
                out[l] = counted * theta[l] - moves[l];
            }
        }
    }

    /// Writes |theta|^2 of a single line of lanes.
    pub fn write_norms(&self, norms: &mut Line) {
        let theta = &self.theta;
        run(Norms { theta, norms });
    }

    /// Multiplies all iterates by a factor; the averages keep the iterates counted so far.
    pub fn scale(&mut self, factor: f64) {
        self.settle();
        let weight = self.counted as f64 * (factor - 1.0);
        for (theta, moves) in self.theta.iter_mut().zip(&mut self.moves) {
            for l in 0..WIDTH {
                moves[l] += weight * theta[l];
                theta[l] *= factor;
            }
        }
    }

    /// Resets a lane and its average to zero.
    pub fn clear(&mut self, lane: usize) {
        self.settle();
        for j in 0..self.dimension {
            let place = self.place(lane, j);
            self.theta[place][lane % WIDTH] = 0.0;
            self.moves[place][lane % WIDTH] = 0.0;
        }
    }

    /// Sets the first d lanes to the unit vectors and the others to zero, including their averages.
    pub fn start_from_units(&mut self) {
        self.theta.fill(Line::default());
        for j in 0..self.dimension {
            let place = self.place(j, j);
            self.theta[place][j % WIDTH] = 1.0;
        }
        self.restart_averages();
    }

    #[inline]
    fn place(&self, lane: usize, j: usize) -> usize {
        lane / WIDTH * self.dimension + j
    }
}

/// The saved form of lanes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLanes {
    dimension: usize,
    #[serde(with = "crate::exact_float")]
    theta: Vec<Line>,
    #[serde(with = "crate::exact_float")]
    moves: Vec<Line>,
    #[serde(deserialize_with = "crate::count::read")]
    counted: u64,
}

impl From<Lanes> for SavedLanes {
    fn from(mut lanes: Lanes) -> Self {
        lanes.settle();
        Self {
            dimension: lanes.dimension,
            theta: lanes.theta,
            moves: lanes.moves,
            counted: lanes.counted,
        }
    }
}

impl From<SavedLanes> for Lanes {
    fn from(saved: SavedLanes) -> Self {
        Self {
            dimension: saved.dimension,
            theta: saved.theta,
            moves: saved.moves,
            recent: Recent::default(),
            counted: saved.counted,
        }
    }
}

/// theta - U / S, as in [`average`](crate::iterate::average).
#[inline(always)]
fn average(theta: f64, moves: f64, counted: u64) -> f64 {
    if counted == 0 {
        theta
    } else {
        theta - moves / counted as f64
    }
}
