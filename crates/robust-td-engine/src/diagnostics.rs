//! Measures boundedness, divergence and suboptimality of the lanes.

use robust_td_core::iterate::nan_as_infinity;
use robust_td_simd::{Simd, Work};
use serde::{Deserialize, Serialize};

use crate::kernel::{CELL, Line, PACK, QUAD};
use crate::layout::Output;
use crate::plan::Plan;

/// The largest sum over runs of |theta_t|^2 so far, and its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Sum over runs.
    pub sum: f64,
    /// First step that attains it.
    pub step: u64,
}

impl Peak {
    /// Compares with the sum of a step; one that is not finite counts as infinite.
    #[inline(always)]
    pub(crate) fn see(&mut self, sum: f64, step: u64) {
        let sum = if sum.is_finite() { sum } else { f64::INFINITY };
        if sum > self.sum {
            *self = Self { sum, step };
        }
    }

    /// Compares with the sums of consecutive steps after `done`; `largest` is their maximum, ignoring NaN, and
    /// `last` the last of them.
    #[inline(always)]
    fn see_all(&mut self, largest: f64, last: f64, done: u64, mut sums: impl Iterator<Item = f64>) {
        // NaN follows an overflow and persists, so the last sum shows it.
        let largest = if last.is_nan() {
            f64::INFINITY
        } else {
            largest
        };
        if largest > self.sum {
            let at = sums.position(|sum| !(sum < largest)).unwrap_or(0);
            self.see(largest, done + 1 + at as u64);
        }
    }
}

/// Updates the peaks of a pack after a block, dispatched to the best instruction set.
pub(crate) struct UpdatePeaks<'a> {
    pub split: bool,
    pub peaks: &'a mut [Peak],
    /// For each step, eight sums over runs.
    pub sums: &'a [Line],
    /// The number of updates before the block.
    pub done: u64,
}

impl Work for UpdatePeaks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) {
        match self.split {
            true => update_split(self.peaks, self.sums, self.done),
            false => update_broadcast(self.peaks, self.sums, self.done),
        }
    }
}

/// Updates the peaks of eight lanes from eight sums over runs per step.
#[inline(always)]
fn update_broadcast(peaks: &mut [Peak], rows: &[Line], done: u64) {
    let mut largest = [0.0; PACK];
    for row in rows {
        for lane in 0..PACK {
            largest[lane] = if row[lane] > largest[lane] {
                row[lane]
            } else {
                largest[lane]
            };
        }
    }
    let last = rows.last().copied().unwrap_or_default();
    for (lane, peak) in peaks.iter_mut().enumerate() {
        peak.see_all(
            largest[lane],
            last[lane],
            done,
            rows.iter().map(|row| row[lane]),
        );
    }
}

/// Updates the peaks of four lanes from steps x 2 sums, each over half of the trajectories.
#[inline(always)]
fn update_split(peaks: &mut [Peak], rows: &[Line], done: u64) {
    let mut largest = [0.0; QUAD];
    for row in rows {
        let total = total(row);
        for lane in 0..QUAD {
            largest[lane] = if total[lane] > largest[lane] {
                total[lane]
            } else {
                largest[lane]
            };
        }
    }
    let last = rows.last().map_or([0.0; QUAD], total);
    for (lane, peak) in peaks.iter_mut().enumerate() {
        peak.see_all(
            largest[lane],
            last[lane],
            done,
            rows.iter().map(|row| total(row)[lane]),
        );
    }
}

/// The sum over all trajectories.
#[inline(always)]
fn total(row: &Line) -> [f64; QUAD] {
    std::array::from_fn(|lane| row[lane] + row[QUAD + lane])
}

/// Mean over runs with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean over runs.
    pub mean: f64,
    /// Standard deviation over sqrt(runs); NaN for one run.
    pub standard_error: f64,
}

impl Estimate {
    /// Mean and standard error; a non-finite value makes the mean infinite. A single value has no
    /// standard error: it is NaN.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if !mean.is_finite() {
            return Self {
                mean: f64::INFINITY,
                standard_error: f64::INFINITY,
            };
        }
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        Self {
            mean,
            standard_error: (squares / (count - 1.0) / count).sqrt(),
        }
    }
}

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Updates done.
    pub step: u64,
    /// E|theta_t|^2.
    pub norm: f64,
    /// E f of the averaged iterate.
    pub gap: f64,
    /// Standard errors of norm and gap over runs; `None` for exact expectations.
    pub standard_errors: Option<[f64; 2]>,
    /// E|V - V*|_D^2 of the averaged iterate; `None` for exact expectations.
    pub d_norm: Option<f64>,
}

/// The measurements of one lane of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Index of the lane.
    pub lane: usize,
    /// Its iterates are 2^-exponent times the computed ones.
    pub exponent: i32,
    /// The learning curve so far.
    pub curve: Vec<CurvePoint>,
    /// For each run, at the gap step: f of the averaged iterate.
    pub gaps: Vec<f64>,
    /// For each run, at the last step: |theta|^2.
    pub finals: Vec<f64>,
    /// For each run: the maximum of |theta_t|^2, infinite after an overflow.
    pub maxima: Vec<f64>,
}

impl Record {
    /// An empty record.
    pub fn new(output: Output) -> Self {
        Self {
            lane: output.lane,
            exponent: output.exponent,
            curve: Vec::new(),
            gaps: Vec::new(),
            finals: Vec::new(),
            maxima: Vec::new(),
        }
    }

    /// Reads all runs at step `done`; `lane(run)` returns iterate and weighted sum, with coordinates CELL
    /// apart, and the maximum.
    ///
    /// Loops over coordinates, then over all runs, so that the compiler can vectorise.
    pub fn read<'a>(
        &mut self,
        plan: &Plan,
        done: u64,
        weight: f64,
        lane: impl Fn(usize) -> (&'a [f64], &'a [f64], f64),
    ) {
        let tables = &plan.variants[plan.lanes[self.lane].variant];
        let (runs, d) = (plan.runs, tables.dimension);
        let scale = f64::powi(2.0, -self.exponent);
        let square = scale * scale;
        let mut norms = vec![0.0; runs];
        let mut maxima = vec![0.0; runs];
        let mut errors = vec![0.0; d * runs];
        for run in 0..runs {
            let (theta, average, max) = lane(run);
            maxima[run] = max * square;
            for j in 0..d {
                norms[run] += theta[j * CELL] * theta[j * CELL];
                errors[j * runs + run] = average[j * CELL];
            }
        }
        for (norm, max) in norms.iter_mut().zip(&mut maxima) {
            *norm = nan_as_infinity(*norm * square);
            if *norm == f64::INFINITY {
                *max = f64::INFINITY;
            }
        }
        for (errors, solution) in errors.chunks_mut(runs).zip(&tables.theta_star) {
            for x in errors {
                *x = *x / weight * scale - solution;
            }
        }
        let gaps = quadratic_forms(&tables.a, &errors, runs);
        let (norm, gap) = (Estimate::of(&norms), Estimate::of(&gaps));
        let d_norms = quadratic_forms(&tables.sigma, &errors, runs);
        self.curve.push(CurvePoint {
            step: done,
            norm: norm.mean,
            gap: gap.mean,
            standard_errors: Some([norm.standard_error, gap.standard_error]),
            d_norm: Some(Estimate::of(&d_norms).mean),
        });
        if done == plan.gap_step() {
            self.gaps = gaps;
        }
        if done == plan.simulate {
            self.finals = norms;
            self.maxima = maxima;
        }
    }
}

/// e' A e of every run, with NaN as infinity; row j of `errors` holds coordinate j of all runs.
fn quadratic_forms(a: &[f64], errors: &[f64], runs: usize) -> Vec<f64> {
    let mut forms = vec![0.0; runs];
    let mut products = vec![0.0; runs];
    let rows = a.chunks(errors.len() / runs);
    for (row, own) in rows.zip(errors.chunks(runs)) {
        products.fill(0.0);
        for (a, column) in row.iter().zip(errors.chunks(runs)) {
            for (product, e) in products.iter_mut().zip(column) {
                *product += a * e;
            }
        }
        for ((form, e), product) in forms.iter_mut().zip(own).zip(&products) {
            *form += e * product;
        }
    }
    forms.into_iter().map(nan_as_infinity).collect()
}
