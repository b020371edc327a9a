//! Advances many iterates over one stream of transitions, with the uniform averages of their tails.

mod kernel;
mod vector;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::Features;

use kernel::{Advance, Norms};
pub(crate) use kernel::{Change, Line, Measure, WIDTH, with_vectors};

/// Iterates that see the same transitions, each with steps of its own.
///
/// Lane l is at place l mod 8 of line l / 8.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedLanes", into = "SavedLanes")]
pub(crate) struct Lanes {
    dimension: usize,
    /// theta: the coordinates of one line after the other.
    theta: Vec<Line>,
    /// sum_j S_j Delta_j over the moves since the average began, S_j iterates counted at move j.
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

    pub fn lines(&self) -> usize {
        self.theta.len() / self.dimension
    }

    /// How many iterates the averages count.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// One step of all lanes; `deltas` holds their rewards and becomes their temporal-difference errors.
    #[inline]
    pub fn advance(&mut self, change: &Change<'_>, gains: &[Line], deltas: &mut [Line]) {
        self.counted += 1;
        with_vectors(Advance {
            change,
            counted: self.counted as f64,
            gains,
            theta: &mut self.theta,
            moves: &mut self.moves,
            deltas,
        });
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

    /// Writes the averages of the first lines.
    pub fn write_averages(&self, out: &mut [Line]) {
        let pairs = self.theta.iter().zip(&self.moves);
        for (out, (theta, moves)) in out.iter_mut().zip(pairs) {
            for l in 0..WIDTH {
                out[l] = average(theta[l], moves[l], self.counted);
            }
        }
    }

    /// |theta|^2 of the coordinates where some features are, or of all for dense ones.
    #[inline]
    pub fn norms(&self, features: Features<'_>, norms: &mut [Line]) {
        with_vectors(Norms {
            features,
            theta: &self.theta,
            norms,
        });
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

/// What is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLanes {
    dimension: usize,
    #[serde(with = "crate::exact_float")]
    theta: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    moves: Vec<f64>,
    counted: u64,
}

impl From<Lanes> for SavedLanes {
    fn from(lanes: Lanes) -> Self {
        Self {
            dimension: lanes.dimension,
            theta: flat(&lanes.theta),
            moves: flat(&lanes.moves),
            counted: lanes.counted,
        }
    }
}

impl TryFrom<SavedLanes> for Lanes {
    type Error = Error;

    fn try_from(saved: SavedLanes) -> Result<Self> {
        let whole = saved.dimension * WIDTH;
        if whole == 0
            || !saved.theta.len().is_multiple_of(whole)
            || saved.moves.len() != saved.theta.len()
        {
            let contradiction = format!(
                "{} and {} numbers for lanes of dimension {}",
                saved.theta.len(),
                saved.moves.len(),
                saved.dimension
            );
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            dimension: saved.dimension,
            theta: lines(&saved.theta),
            moves: lines(&saved.moves),
            counted: saved.counted,
        })
    }
}

/// The numbers of lines, one after the other.
pub(crate) fn flat(lines: &[Line]) -> Vec<f64> {
    lines.iter().flat_map(|line| line.0).collect()
}

/// The lines of numbers, a multiple of eight.
pub(crate) fn lines(numbers: &[f64]) -> Vec<Line> {
    let line = |eight: &[f64]| Line(std::array::from_fn(|l| eight[l]));
    numbers.chunks_exact(WIDTH).map(line).collect()
}

/// Room for gamma phi(s') - phi(s), dense or sparse.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Difference {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Difference {
    /// gamma next - here, in the view of `here`; `None` for next is zero.
    #[inline]
    pub fn of<'a>(
        &'a mut self,
        here: Features<'_>,
        next: Option<Features<'_>>,
        gamma: f64,
    ) -> Features<'a> {
        self.values.clear();
        self.indices.clear();
        match (here, next) {
            (Features::Dense(here), Some(Features::Dense(next))) => {
                let entries = here.iter().zip(next).map(|(x, y)| gamma * y - x);
                self.values.extend(entries);
                Features::Dense(&self.values)
            }
            (Features::Dense(here), None) => {
                self.values.extend(here.iter().map(|x| -x));
                Features::Dense(&self.values)
            }
            (here, next) => {
                self.merge(here, next, gamma);
                Features::Sparse {
                    indices: &self.indices,
                    values: &self.values,
                }
            }
        }
    }

    /// The same for sparse features, or one of each: both are in the order of their indices, and so is the result.
    fn merge(&mut self, here: Features<'_>, next: Option<Features<'_>>, gamma: f64) {
        let mut next = entries(next.unwrap_or(Features::Dense(&[]))).peekable();
        let mut push = |i: u32, x: f64| {
            self.indices.push(i);
            self.values.push(x);
        };
        for (i, x) in entries(here) {
            while let Some((j, y)) = next.next_if(|(j, _)| *j < i) {
                push(j, gamma * y);
            }
            match next.next_if(|(j, _)| *j == i) {
                Some((_, y)) => push(i, gamma * y - x),
                None => push(i, -x),
            }
        }
        next.for_each(|(j, y)| push(j, gamma * y));
    }
}

/// The entries of a feature vector.
fn entries<'a>(features: Features<'a>) -> impl Iterator<Item = (u32, f64)> + 'a {
    let (dense, indices, values): (&[f64], &[u32], &[f64]) = match features {
        Features::Dense(entries) => (entries, &[], &[]),
        Features::Sparse { indices, values } => (&[], indices, values),
    };
    let sparse = indices.iter().zip(values).map(|(i, x)| (*i, *x));
    (0_u32..).zip(dense.iter().copied()).chain(sparse)
}
