//! Moves lanes of a constant stepsize by thousands of steps at once.
//!
//! A constant stepsize makes the step the same linear map L of the moments at all times. Once the chain
//! has mixed, the moments lie in the slow space of L: the moments of each state are a fixed linear
//! function of their sums over the states, the totals (1, m, M, q, C). A basis of that space, run forward
//! by the plain recursion, therefore tells how the totals of any slow state respond, and
//! E|theta_t|^2 at every step between follows by superposition.
//!
//! Only the 1 + d + d(d+1)/2 directions of (1, m, M) are run. S_j does not act back on theta, so that
//! (q_j, C_.j) moves like (1, m), driven by (m_j, M_j): those responses serve for all j.

use super::moments::{Chain, Layout, WIDTH};
use super::pack::{Drive, Pack};
use crate::kernel::Kernel;

/// Longest jump; a longer one is more accurate (errors of a jump repeat) but takes longer to prepare.
const LONGEST: u64 = 8192;
/// Steps between two looks at the basis.
const LOOK: u64 = 64;
/// Steps after which a basis that does not settle is given up.
const PATIENCE: u64 = 32 * LOOK;
/// A basis that moves by less, relative to its largest entry, is at the level of rounding.
const SETTLED: f64 = 1e-12;

/// Basis vectors per dimension: the directions of 1, m and M.
pub const fn directions(d: usize) -> usize {
    1 + d + d * (d + 1) / 2
}

/// Steps that may be spent on the basis of a lane so that it pays within `steps` steps.
pub const fn allowance(d: usize, steps: u64) -> u64 {
    steps / (4 * directions(d).next_multiple_of(WIDTH)) as u64
}

/// The slow space of one lane: the moments of every state as functions of the totals.
#[derive(Clone, Debug)]
pub struct Basis {
    /// Per state and moment the value in each direction.
    values: Vec<f64>,
    /// Steps that it took to find.
    pub steps: u64,
}

/// How the totals of a slow state respond to time.
#[derive(Clone, Debug)]
pub struct Response {
    dimension: usize,
    /// For 1, 2, 4, .. steps, per direction the totals and the growth of E[S' A S].
    jumps: Vec<Vec<f64>>,
    /// Per direction E|theta|^2 after 1, 2, 3, .. steps.
    norms: Vec<f64>,
}

/// The packs that carry the directions of one lane.
struct Bundle<'a> {
    chain: &'a Chain,
    /// Stationary distribution.
    p: &'a [f64],
    kernel: Kernel,
    packs: Vec<(Pack, Drive)>,
    spare: Vec<u32>,
}

impl<'a> Bundle<'a> {
    fn new(chain: &'a Chain, p: &'a [f64], kernel: Kernel, eta: f64, weight: f64) -> Self {
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

    /// Takes one step and shows its sums, pack by pack.
    fn step(&mut self, mut see: impl FnMut(usize, super::pack::Sums)) {
        for (b, (pack, drive)) in self.packs.iter_mut().enumerate() {
            let sums = pack.step(self.chain, self.kernel, self.p, drive, &mut self.spare);
            see(b, sums);
        }
    }

    fn load(&mut self, values: &[f64]) {
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

    /// Per moment the totals in each direction.
    fn totals(&self) -> Vec<f64> {
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
    /// Finds the slow space by running a basis until it no longer turns; none if it has not settled
    /// after `most` steps.
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
        // A basis that does not turn less for long has no space to settle in: a stepsize so large that
        // theta moves as fast as the chain mixes.
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
    /// those that its totals give.
    pub fn distance(&self, p: &[f64], pack: &Pack, lane: usize, d: usize) -> f64 {
        let (layout, count) = (Layout::new(d), directions(d));
        let totals: Vec<f64> = pack
            .totals(p.len(), layout.len())
            .iter()
            .map(|x| x.0[lane])
            .collect();
        let at = |s: usize, i: usize| &self.values[(s * layout.len() + i) * count..][..count];
        // The moments of theta, of q and of C differ in size: each kind has its own scale.
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
                // `max` drops a NaN, a comparison does not.
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

    /// Runs the basis forward; jumps are at most `most` steps long.
    pub fn respond(
        &self,
        chain: &Chain,
        p: &[f64],
        kernel: Kernel,
        (eta, weight): (f64, f64),
        most: u64,
    ) -> Response {
        let mut bundle = Bundle::new(chain, p, kernel, eta, weight);
        bundle.load(&self.values);
        let count = directions(chain.dimension);
        let steps = 1_usize << most.clamp(1, LONGEST).ilog2();
        let mut norms = vec![0.0; count * steps];
        let mut growth = vec![0.0; bundle.packs.len() * WIDTH];
        let mut jumps = Vec::new();
        for t in 0..steps {
            bundle.step(|b, sums| {
                for l in 0..WIDTH {
                    growth[b * WIDTH + l] += sums.growth[l];
                    if b * WIDTH + l < count {
                        norms[(b * WIDTH + l) * steps + t] = sums.norms[l];
                    }
                }
            });
            if (t + 1).is_power_of_two() {
                let mut jump = bundle.totals();
                jump.extend(&growth[..count]);
                jumps.push(jump);
            }
        }
        Response {
            dimension: chain.dimension,
            jumps,
            norms,
        }
    }
}

impl Response {
    /// Steps of the longest jump.
    pub fn longest(&self) -> u64 {
        1 << (self.jumps.len() - 1)
    }

    /// E|theta|^2 after 1, 2, .., out.len() steps from the totals.
    pub fn norms(&self, totals: &[f64], out: &mut [f64]) {
        let mut directions = self.norms.chunks_exact(self.longest() as usize);
        if let Some(first) = directions.next() {
            let steps = out.len();
            out.copy_from_slice(&first[..steps]);
        }
        for (norms, total) in directions.zip(totals) {
            for (x, norm) in out.iter_mut().zip(norms) {
                *x += total * norm;
            }
        }
    }

    /// Moves totals forward by `steps` and returns the growth of E[S' A S].
    pub fn jump(&self, form: &[f64], totals: &mut [f64], steps: u64) -> f64 {
        let mut growth = 0.0;
        for (k, jump) in self.jumps.iter().enumerate().rev() {
            if steps >> k & 1 == 1 {
                growth += self.apply(jump, form, totals);
            }
        }
        growth
    }

    fn apply(&self, jump: &[f64], form: &[f64], totals: &mut [f64]) -> f64 {
        let d = self.dimension;
        let (layout, count) = (Layout::new(d), directions(d));
        let old = totals.to_vec();
        let at = |i: usize| &jump[i * count..][..count];
        let respond = |i: usize| {
            let response = at(i);
            let mut x = response[0];
            for (c, total) in response[1..].iter().zip(&old) {
                x += c * total;
            }
            x
        };
        // (q_j, C_.j) moves like (1, m): `i` is a moment m_k or its sum over time, q_k.
        let carried = |i: usize, j: usize| {
            let response = at(i);
            let mut x = response[0] * old[layout.sum(j)];
            for l in 0..d {
                x += response[1 + l] * old[layout.cross(l, j)];
            }
            x
        };
        for (i, total) in totals.iter_mut().enumerate() {
            *total = respond(i);
        }
        let mut growth = respond(layout.len());
        for j in 0..d {
            totals[layout.sum(j)] += old[layout.sum(j)];
            for k in 0..d {
                totals[layout.cross(k, j)] += carried(layout.first(k), j);
                growth += 2.0 * form[k * d + j] * carried(layout.sum(k), j);
            }
        }
        growth
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
