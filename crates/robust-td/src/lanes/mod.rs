//! Advances many iterates over one stream of transitions, with the uniform averages of their tails.

mod advance;
mod difference;
mod line;
mod linear;
mod norms;
#[cfg(test)]
mod tests;
mod vector;
mod work;

use serde::{Deserialize, Serialize};

use advance::Advance;
pub(crate) use advance::{AdvanceAll, AdvanceAndWatch, Change, Measure, Watch};
pub(crate) use difference::Difference;
pub(crate) use line::{Line, WIDTH};
pub(crate) use linear::{Map, Outer};
use norms::Norms;
pub(crate) use vector::Vector;
pub(crate) use work::{Work, with_vectors};

/// Iterates that see the same transitions, each with steps of its own.
///
/// Lane l is at place l mod 16 of line l / 16.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lanes {
    dimension: usize,
    /// theta: the coordinates of one line after the other.
    #[serde(with = "crate::exact_float")]
    theta: Vec<Line>,
    /// sum_j S_j Delta_j over the moves since the average began, S_j iterates counted at move j.
    #[serde(with = "crate::exact_float")]
    moves: Vec<Line>,
    /// How many iterates the averages count.
    counted: u64,
}

impl Lanes {
    /// So many lines of lanes at theta = 0.
    pub fn zero(dimension: usize, lines: usize) -> Self {
        let zeros = vec![Line::default(); dimension * lines];
        Self {
            dimension,
            moves: zeros.clone(),
            theta: zeros,
            counted: 0,
        }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Whether there are so many lines of a dimension.
    pub fn fits(&self, dimension: usize, lines: usize) -> bool {
        let numbers = dimension * lines;
        self.dimension == dimension && [self.theta.len(), self.moves.len()] == [numbers; 2]
    }

    /// How many iterates the averages count.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// One step of all lanes with another reward, which they multiply by weights; to be done.
    #[inline]
    pub fn advance<'a>(
        &'a mut self,
        change: &'a Change<'a>,
        reward: f64,
        eta: f64,
        weights: &'a [Line],
    ) -> AdvanceAll<'a> {
        self.counted += 1;
        AdvanceAll {
            change,
            reward,
            eta,
            weights,
            counted: self.counted as f64,
            dimension: self.dimension,
            theta: &mut self.theta,
            moves: &mut self.moves,
        }
    }

    /// One step of a single line of lanes, which multiply the step size by factors, under watch; to be done.
    #[inline]
    pub fn advance_and_watch<'a>(
        &'a mut self,
        change: &'a Change<'a>,
        eta: f64,
        factors: &'a Line,
        watch: Watch<'a>,
        measure: Option<Measure<'a>>,
    ) -> AdvanceAndWatch<'a> {
        self.counted += 1;
        AdvanceAndWatch {
            advance: Advance {
                change,
                counted: self.counted as f64,
                theta: &mut self.theta,
                moves: &mut self.moves,
            },
            eta,
            factors,
            watch,
            measure,
        }
    }

    /// Starts the averages anew from the next iterate on.
    pub fn restart_averages(&mut self) {
        self.moves.fill(Line::default());
        self.counted = 0;
    }

    /// Coordinate `j` of a lane's iterate.
    #[inline]
    pub fn theta(&self, lane: usize, j: usize) -> f64 {
        self.theta[self.place(lane, j)][lane % WIDTH]
    }

    /// A lane's average: of the iterates before each step since the averages began; the iterate if there is none.
    pub fn average(&self, lane: usize) -> Vec<f64> {
        let entry = |j: usize| {
            let place = self.place(lane, j);
            average(
                self.theta[place][lane % WIDTH],
                self.moves[place][lane % WIDTH],
                self.counted,
            )
        };
        (0..self.dimension).map(entry).collect()
    }

    /// Writes the averages.
    pub fn write_averages(&self, out: &mut [Line]) {
        let pairs = self.theta.iter().zip(&self.moves);
        for (out, (theta, moves)) in out.iter_mut().zip(pairs) {
            for l in 0..WIDTH {
                out[l] = average(theta[l], moves[l], self.counted);
            }
        }
    }

    /// Writes coordinate after coordinate, for each the iterates of all lanes, and the sums of the iterates that the averages count.
    pub fn write_rows(&self, iterates: &mut [f64], sums: &mut [f64]) {
        let (d, counted) = (self.dimension, self.counted as f64);
        let (iterates, _) = iterates.as_chunks_mut::<WIDTH>();
        let (sums, _) = sums.as_chunks_mut::<WIDTH>();
        let lines = self.theta.len() / d;
        for (place, (theta, moves)) in self.theta.iter().zip(&self.moves).enumerate() {
            let row = place % d * lines + place / d;
            iterates[row] = theta.0;
            sums[row] = std::array::from_fn(|l| counted * theta[l] - moves[l]);
        }
    }

    /// Writes |theta|^2 of a single line of lanes.
    pub fn write_norms(&self, norms: &mut Line) {
        let theta = &self.theta;
        with_vectors(Norms { theta, norms });
    }

    /// Multiplies all iterates by a factor from now on; the averages keep what they have counted.
    pub fn scale(&mut self, factor: f64) {
        let weight = self.counted as f64 * (factor - 1.0);
        for (theta, moves) in self.theta.iter_mut().zip(&mut self.moves) {
            for l in 0..WIDTH {
                moves[l] += weight * theta[l];
                theta[l] *= factor;
            }
        }
    }

    /// Puts a lane back to zero, its average too.
    pub fn clear(&mut self, lane: usize) {
        for j in 0..self.dimension {
            let place = self.place(lane, j);
            self.theta[place][lane % WIDTH] = 0.0;
            self.moves[place][lane % WIDTH] = 0.0;
        }
    }

    /// Puts the first d lanes to the unit vectors and the others to zero, their averages too.
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

/// theta - U / S, as in [`average`](crate::learner::average).
#[inline(always)]
fn average(theta: f64, moves: f64, counted: u64) -> f64 {
    if counted == 0 {
        theta
    } else {
        theta - moves / counted as f64
    }
}
