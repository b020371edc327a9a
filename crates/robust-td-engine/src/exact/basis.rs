//! Finds the space to which the moments of a constant step size converge as the chain mixes.
//!
//! With a constant step size, the step is the same linear map L of the moments at all times. Once
//! the chain has mixed, the moments lie in the slow space of L: the moments of each state are a
//! fixed linear function of their sums over the states, the totals (1, m, M, q, C).
//!
//! Only the 1 + d + d(d+1)/2 directions of (1, m, M) are run. S_j does not influence theta, so
//! (q_j, C_.j) evolves like (1, m), driven by (m_j, M_j): the same directions serve for all j.

use super::moments::{Chain, Layout, WIDTH};
use super::pack::{Drive, Pack, Sums};
use crate::kernel::Kernel;

/// Steps between two checks of the basis.
const LOOK: u64 = 64;
/// Steps without progress after which a basis that does not settle is abandoned.
const PATIENCE: u64 = 32 * LOOK;
/// A basis that moves by less, relative to its largest entry, has settled to rounding level.
const SETTLED: f64 = 1e-12;

/// Maximum number of directions (nine features) and of entries of a basis.
const MOST_DIRECTIONS: usize = 55;
const MOST_NUMBERS: usize = 1 << 19;

/// Basis vectors per dimension: the directions of 1, m and M.
pub const fn directions(d: usize) -> usize {
    1 + d + d * (d + 1) / 2
}

/// The number of steps that may be spent on the basis of a lane so that it pays off within `steps`
/// steps; zero when the basis is too large for memory, since every thread holds those of eight
/// lanes.
pub const fn allowance(states: usize, d: usize, steps: u64) -> u64 {
    let count = directions(d);
    if count > MOST_DIRECTIONS || states * Layout::new(d).len() * count > MOST_NUMBERS {
        return 0;
    }
    steps / (4 * count.next_multiple_of(WIDTH)) as u64
}

/// The slow space of one lane: the moments of every state as functions of the totals.
#[derive(Clone, Debug)]
pub struct Basis {
    /// The value of every state and moment in each direction.
    pub values: Vec<f64>,
    /// The number of steps it took to find.
    pub steps: u64,
}

/// The packs that hold the directions of one lane.
pub struct Bundle<'a> {
    chain: &'a Chain,
    /// Stationary distribution.
    p: &'a [f64],
    kernel: Kernel,
    pub packs: Vec<(Pack, Drive)>,
    spare: Vec<u32>,
}

impl<'a> Bundle<'a> {
    pub fn new(chain: &'a Chain, p: &'a [f64], kernel: Kernel, eta: f64, weight: f64) -> Self {
        let count = directions(chain.dimension).div_ceil(WIDTH);
        let pack = |b: usize| {
            let mut drive = Drive {
                mass: [0.0; WIDTH],
                eta: [eta; WIDTH],
                weight: [weight; WIDTH],
            };
            if b == 0 {
                drive.mass[0] = 1.0;
            }
            (Pack::new(chain), drive)
        };
        let packs = (0..count).map(pack).collect();
        Self {
            chain,
            p,
            kernel,
            packs,
            spare: Vec::new(),
        }
    }

    fn length(&self) -> usize {
        Layout::new(self.chain.dimension).len()
    }

    /// Takes one step and reports its sums, pack by pack.
    pub fn step(&mut self, mut see: impl FnMut(usize, Sums)) {
        for (b, (pack, drive)) in self.packs.iter_mut().enumerate() {
            let sums = pack.step(self.chain, self.kernel, self.p, drive, &mut self.spare);
            see(b, sums);
        }
    }

    pub fn load(&mut self, values: &[f64]) {
        let (length, count) = (self.length(), directions(self.chain.dimension));
        for (i, value) in values.chunks_exact(count).enumerate() {
            for (direction, x) in value.iter().enumerate() {
                let pack = &mut self.packs[direction / WIDTH].0;
                pack.row_mut(i / length, length)[i % length].0[direction % WIDTH] = *x;
            }
        }
    }

    fn store(&self, values: &mut [f64]) {
        let (length, count) = (self.length(), directions(self.chain.dimension));
        for (i, value) in values.chunks_exact_mut(count).enumerate() {
            for (direction, x) in value.iter_mut().enumerate() {
                let pack = &self.packs[direction / WIDTH].0;
                *x = pack.row(i / length, length)[i % length].0[direction % WIDTH];
            }
        }
    }

    /// The totals of each moment in each direction.
    pub fn totals(&self) -> Vec<f64> {
        let (states, length) = (self.p.len(), self.length());
        let count = directions(self.chain.dimension);
        let packs: Vec<_> = self
            .packs
            .iter()
            .map(|p| p.0.totals(states, length))
            .collect();
        let at = |i: usize, direction: usize| packs[direction / WIDTH][i].0[direction % WIDTH];
        (0..length * count)
            .map(|k| at(k / count, k % count))
            .collect()
    }
}

impl Basis {
    /// Finds the slow space by running a basis until it stops changing; `None` if it has not
    /// settled after `most` steps.
    pub fn find(
        chain: &Chain,
        p: &[f64],
        kernel: Kernel,
        (eta, weight): (f64, f64),
        most: u64,
    ) -> Option<Self> {
        let mut bundle = Bundle::new(chain, p, kernel, eta, weight);
        let (length, count) = (bundle.length(), directions(chain.dimension));
        // The directions in proportion to the stationary distribution.
        let mut values = vec![0.0; p.len() * length * count];
        for (s, &p) in p.iter().enumerate() {
            for direction in 1..count {
                values[(s * length + direction - 1) * count + direction] = p;
            }
        }
        let mut next = values.clone();
        let mut before = f64::INFINITY;
        let mut least = (f64::INFINITY, 0);
        let mut steps = 0;
        // A basis that keeps changing has no space to settle in: the step size is so large that theta
        // moves as fast as the chain mixes.
        while steps < most && steps <= least.1 + PATIENCE {
            bundle.load(&values);
            for _ in 0..LOOK {
                bundle.step(|_, _| ());
            }
            steps += LOOK;
            bundle.store(&mut next);
            normalise(&mut next, p, chain.dimension)?;
            let change = largest(values.iter().zip(&next).map(|(a, b)| a - b));
            let change = change / largest(next.iter().copied());
            std::mem::swap(&mut values, &mut next);
            if change <= SETTLED && change >= 0.9 * before {
                return Some(Self { values, steps });
            }
            if !change.is_finite() {
                return None;
            }
            before = change;
            if change < least.0 {
                least = (change, steps);
            }
        }
        None
    }

    /// The largest difference, relative to the largest moment, between the moments of a lane and
    /// those implied by its totals.
    pub fn distance(&self, p: &[f64], pack: &Pack, lane: usize, d: usize) -> f64 {
        let (layout, count) = (Layout::new(d), directions(d));
        let totals: Vec<f64> = pack
            .totals(p.len(), layout.len())
            .iter()
            .map(|x| x.0[lane])
            .collect();
        let at = |s: usize, i: usize| &self.values[(s * layout.len() + i) * count..][..count];
        // The moments of theta, of q and of C differ in size, so each kind has its own scale.
        let (mut error, mut scale) = ([0.0_f64; 3], [0.0_f64; 3]);
        for s in 0..p.len() {
            for (i, line) in pack.row(s, layout.len()).iter().enumerate() {
                let value = at(s, i);
                let mut x = value[0];
                for (c, total) in value[1..].iter().zip(&totals) {
                    x += c * total;
                }
                let mut kind = 0;
                if i >= layout.cross(0, 0) {
                    kind = 2;
                    let (k, j) = ((i - layout.cross(0, 0)) / d, (i - layout.cross(0, 0)) % d);
                    let mean = at(s, layout.first(k));
                    x += mean[0] * totals[layout.sum(j)];
                    for l in 0..d {
                        x += mean[1 + l] * totals[layout.cross(l, j)];
                    }
                } else if i >= layout.sum(0) {
                    kind = 1;
                    x += p[s] * totals[i];
                }
                // `max` drops NaN; a comparison does not.
                let e = (line.0[lane] - x).abs();
                error[kind] = if e <= error[kind] { error[kind] } else { e };
                scale[kind] = scale[kind].max(line.0[lane].abs());
            }
        }
        let relative = |k: usize| {
            if error[k] == 0.0 {
                0.0
            } else {
                error[k] / scale[k]
            }
        };
        largest((0..3).map(relative))
    }
}

/// The largest absolute value; infinite if a value is not finite.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most, x| match x.is_finite() {
        true => x.abs().max(most),
        false => f64::INFINITY,
    })
}

/// Gives direction i the total 1 in its own moment of (1, m, M) and 0 in all others.
fn normalise(values: &mut [f64], p: &[f64], d: usize) -> Option<()> {
    let (layout, count) = (Layout::new(d), directions(d));
    let width = layout.len() * count;
    let totals = |values: &[f64]| {
        let mut totals = vec![0.0; width];
        for row in values.chunks_exact(width) {
            for (total, x) in totals.iter_mut().zip(row) {
                *total += x;
            }
        }
        totals
    };
    let mut matrix = vec![0.0; count * count];
    matrix[0] = 1.0;
    matrix[count..].copy_from_slice(&totals(values)[..(count - 1) * count]);
    let inverse = invert(matrix, count)?;
    let mut mixed = vec![0.0; count];
    for value in values.chunks_exact_mut(count) {
        mixed.fill(0.0);
        for (x, row) in value.iter().zip(inverse.chunks_exact(count)) {
            for (sum, factor) in mixed.iter_mut().zip(row) {
                *sum += x * factor;
            }
        }
        value.copy_from_slice(&mixed);
    }
    let totals = totals(values);
    let total = |i: usize, direction: usize| totals[i * count + direction];
    for (row, p) in values.chunks_exact_mut(width).zip(p) {
        let mean = row[..d * count].to_vec();
        for direction in 0..count {
            for j in 0..d {
                let sum = total(layout.sum(j), direction);
                row[layout.sum(j) * count + direction] -= p * sum;
                for k in 0..d {
                    let mut x = mean[k * count] * sum;
                    for l in 0..d {
                        x += mean[k * count + 1 + l] * total(layout.cross(l, j), direction);
                    }
                    row[layout.cross(k, j) * count + direction] -= x;
                }
            }
        }
    }
    Some(())
}

/// The inverse of a square matrix by elimination with row pivots.
fn invert(mut a: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; n * n];
    for i in 0..n {
        inverse[i * n + i] = 1.0;
    }
    for column in 0..n {
        let size = |r: usize| a[r * n + column].abs();
        let pivot = (column..n).max_by(|&x, &y| size(x).total_cmp(&size(y)))?;
        let divisor = a[pivot * n + column];
        if !(divisor.abs() > 0.0 && divisor.is_finite()) {
            return None;
        }
        for matrix in [&mut a, &mut inverse] {
            for k in 0..n {
                matrix.swap(column * n + k, pivot * n + k);
                matrix[column * n + k] /= divisor;
            }
        }
        for r in (0..n).filter(|&r| r != column) {
            let factor = a[r * n + column];
            for matrix in [&mut a, &mut inverse] {
                for k in 0..n {
                    matrix[r * n + k] -= factor * matrix[column * n + k];
                }
            }
        }
    }
    Some(inverse)
}
