//! Advances sixteen lanes by one step at once.
//!
//! # Performance
//! A step waits for its stores more than for its arithmetic. So inputs are read in place, intermediate results stay in
//! registers, and the sums of moves are updated only once every few steps (file `recent.rs`).

use robust_td_simd::{Simd, Vector, Wide, Work};
use serde::{Deserialize, Serialize};

use super::Lanes;
use super::line::{Line, WIDTH};
use super::step::{Score, Step};
use crate::phi::Features;

/// One transition as used by the lanes: delta = reward + psi.theta, theta += eta delta phi.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// gamma phi(s') - phi(s).
    pub psi: Features<'a>,
    /// phi(s).
    pub phi: &'a Features<'a>,
    /// r.
    pub reward: f64,
}

impl Change<'_> {
    /// delta of one theta, with the bits of [`Features::dot`].
    #[inline(always)]
    pub fn td_error<S: Simd>(&self, s: S, theta: &[f64]) -> f64 {
        self.reward
            + match self.psi {
                Features::Dense(psi) if psi.len() <= WIDTH => {
                    s.load16_some(psi).mul(s.load16_some(theta)).sum()
                }
                psi => psi.dot(theta),
            }
    }
}

/// A step of several lines of lanes, with the same step size for all.
pub struct AdvanceAll<'a> {
    /// The lanes.
    pub lanes: &'a mut Lanes,
    /// The transition.
    pub change: &'a Change<'a>,
    /// The reward that replaces that of the transition.
    pub reward: f64,
    /// The factor of each lane on the reward.
    pub weights: &'a [Line],
    /// The step size.
    pub eta: f64,
}

impl Work for AdvanceAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let Change { psi, phi, .. } = *self.change;
        self.lanes.count(phi);
        for (line, weights) in self.weights.iter().enumerate() {
            let reward = s.splat16(self.reward).mul(s.load16(weights));
            let [delta] = plus_dots(s, [reward], psi, [self.lanes.line(line)]);
            let mut step = Step::new(s, s.splat16(self.eta), delta, self.lanes.counted);
            step.take(phi, self.lanes, line, None);
        }
        self.lanes.complete(s, phi);
    }
}

/// The norms and TD errors of the lanes of a line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// |theta|^2; kept current only by sparse steps, which need it.
    #[serde(with = "crate::exact_float")]
    pub norms: Line,
    /// The largest |theta|^2.
    #[serde(with = "crate::exact_float")]
    pub largest: Line,
    /// Sums of squared TD errors.
    #[serde(with = "crate::exact_float")]
    pub squares: Line,
}

/// Parameter vectors whose residuals are measured: sums += (r + psi.theta) phi.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The d coordinates of theta.
    #[serde(with = "crate::exact_float")]
    pub theta: Vec<Line>,
    /// The d coordinates of the sums.
    #[serde(with = "crate::exact_float")]
    pub sums: Vec<Line>,
}

/// A monitored step of a single line of lanes; optionally measures other parameter vectors first.
///
/// Returns the TD error of one lane.
pub struct AdvanceAndWatch<'a> {
    /// The lanes.
    pub lanes: &'a mut Lanes,
    /// The transition.
    pub change: &'a Change<'a>,
    /// The step size.
    pub eta: f64,
    /// The factor of each lane on the step size.
    pub factors: &'a Line,
    /// The norms and TD errors to update.
    pub watch: &'a mut Watch,
    /// The measurement to update.
    pub measure: Option<&'a mut Measure>,
    /// The lane whose error is returned.
    pub leader: usize,
}

impl Work for AdvanceAndWatch<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> f64 {
        let Change { psi, phi, reward } = *self.change;
        let (lanes, watch) = (&mut *self.lanes, &mut *self.watch);
        lanes.count(phi);
        let reward = s.splat16(reward);
        let (delta, score) = match &mut self.measure {
            None => {
                let [delta] = plus_dots(s, [reward], psi, [lanes.line(0)]);
                (delta, None)
            }
            Some(Measure { theta, sums }) => {
                let [own, delta] = plus_dots(s, [reward; 2], psi, [lanes.line(0), theta]);
                (own, Some(Score { delta, sums }))
            }
        };
        let eta = s.splat16(self.eta).mul(s.load16(self.factors));
        let mut step = Step::new(s, eta, delta, lanes.counted);
        step.take(phi, lanes, 0, score);
        lanes.complete(s, phi);
        let norms = match phi {
            Features::Dense(_) => step.after,
            Features::Sparse { .. } => {
                let norms = s.load16(&watch.norms).add(step.after.sub(step.before));
                norms.store(&mut watch.norms);
                norms
            }
        };
        let largest = s.load16(&watch.largest).max(norms);
        largest.store(&mut watch.largest);
        let squares = delta.fma(delta, s.load16(&watch.squares));
        squares.store(&mut watch.squares);
        delta.lane(self.leader)
    }
}

/// The parts of a step that all kinds of step share.
impl Lanes {
    /// Counts the iterate before a step; before a sparse step the sums of moves are brought up to date.
    #[inline(always)]
    fn count(&mut self, phi: &Features<'_>) {
        self.counted += 1;
        if matches!(phi, Features::Sparse { .. }) && !self.recent.is_empty() {
            self.settle();
        }
    }

    /// The coordinates of a line.
    #[inline(always)]
    fn line(&self, line: usize) -> &[Line] {
        &self.theta[line * self.dimension..][..self.dimension]
    }

    /// Ends a step after all lines have taken it.
    #[inline(always)]
    fn complete<S: Simd>(&mut self, s: S, phi: &Features<'_>) {
        if matches!(phi, Features::Dense(_)) {
            self.recent.push(s, &mut self.moves);
        }
    }
}

/// start + x.theta for N lines of thetas, summed in two independent parts: even indices and odd indices.
#[inline(always)]
fn plus_dots<S: Simd, const N: usize>(
    s: S,
    starts: [S::Wide; N],
    x: Features<'_>,
    thetas: [&[Line]; N],
) -> [S::Wide; N] {
    let (mut even, mut odd) = (starts, [s.splat16(0.0); N]);
    match x {
        Features::Dense(x) => {
            let thetas = thetas.map(|theta| theta[..x.len()].as_chunks::<2>());
            let (pairs, last) = x.as_chunks::<2>();
            for (j, x) in pairs.iter().enumerate() {
                let [x, y] = [s.splat16(x[0]), s.splat16(x[1])];
                for n in 0..N {
                    let theta = &thetas[n].0[j];
                    even[n] = x.fma(s.load16(&theta[0]), even[n]);
                    odd[n] = y.fma(s.load16(&theta[1]), odd[n]);
                }
            }
            if let [x] = last {
                for n in 0..N {
                    even[n] = s.splat16(*x).fma(s.load16(&thetas[n].1[0]), even[n]);
                }
            }
        }
        Features::Sparse { indices, values } => {
            for (j, x) in indices.iter().zip(values) {
                // Adding 0 to the other part costs less than a branch.
                let parts = [[*x, 0.0], [0.0, *x]][(j % 2) as usize];
                let [x, y] = [s.splat16(parts[0]), s.splat16(parts[1])];
                for n in 0..N {
                    let theta = s.load16(&thetas[n][*j as usize]);
                    even[n] = x.fma(theta, even[n]);
                    odd[n] = y.fma(theta, odd[n]);
                }
            }
        }
    }
    for n in 0..N {
        even[n] = even[n].add(odd[n]);
    }
    even
}
