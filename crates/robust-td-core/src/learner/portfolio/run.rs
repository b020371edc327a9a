//! Runs the lanes of the portfolio over the samples of one horizon.

use std::sync::OnceLock;

use robust_td_simd::{Simd, Work};
use serde::{Deserialize, Serialize};

use super::judge::Judge;
use super::replicates::Replicates;
use super::{Answer, LaneReport};
use crate::iterate::{Health, nan_as_infinity};
use crate::lanes::{AdvanceAndWatch, Change, Difference, Lanes, Line, Watch};
use crate::phi::{Features, Transition};

/// Constants c of the portfolio: from 50, which the theorem covers, down to 1.6e-6, two per decade.
pub const CONSTANTS: [f64; 16] = [
    50.0, 15.8, 5.0, 1.58, 0.5, 0.158, 0.05, 0.0158, 5e-3, 1.58e-3, 5e-4, 1.58e-4, 5e-5, 1.58e-5,
    5e-6, 1.58e-6,
];
/// The number of steps between checks of the lanes' TD errors.
const CHECK: u64 = 64;
/// A lane is retired when the root mean square of its TD errors exceeds this multiple of r_inf / (1 - gamma).
///
/// At the TD fixed point it is at most 2, since predictions with root mean square above r_inf / (1 - gamma) are no fixed point.
const EXCESS: f64 = 20.0;
/// Replicates switch to another lane when its residual is smaller by this factor; lanes of similar quality have
/// similar errors.
const CLEARLY: f64 = 1.25;
/// The first 1/8 of the run is excluded from the average.
const BURN_IN: u64 = 8;

/// The lanes and their statistics.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    horizon: u64,
    #[serde(deserialize_with = "crate::count::read")]
    steps: u64,
    lanes: Lanes,
    retired: Vec<Option<u64>>,
    /// Norms, and TD errors since the last check.
    watch: Watch,
    /// Sparse steps since the norms were last summed in full; after a dense step the maximum value.
    corrections: u64,
    /// 1/c, or 0 for a retired lane.
    #[serde(with = "crate::exact_float")]
    inverses: Line,
    leader: usize,
    /// The leader's norms, and whether it diverged.
    health: Health,
    judge: Judge,
    replicates: Option<Replicates>,
    /// Scratch space for gamma phi(s') - phi(s).
    #[serde(skip)]
    difference: Difference,
    /// The leader's iterate, copied on the first request.
    #[serde(skip)]
    theta: OnceLock<Vec<f64>>,
}

impl Run {
    /// All lanes at zero.
    pub fn new(dimension: usize, horizon: u64, replicates: usize, seed: u64) -> Self {
        Self {
            horizon,
            steps: 0,
            lanes: Lanes::zero(dimension, 1),
            retired: vec![None; CONSTANTS.len()],
            watch: Watch::default(),
            corrections: 0,
            inverses: inverses(&[None; CONSTANTS.len()]),
            leader: 0,
            health: Health::default(),
            judge: Judge::new(dimension, horizon),
            replicates: (replicates > 0).then(|| Replicates::new(replicates, seed, dimension)),
            difference: Difference::default(),
            theta: OnceLock::new(),
        }
    }

    /// Whether the run has this horizon and has made this number of steps.
    pub fn is_at(&self, horizon: u64, steps: u64) -> bool {
        (self.horizon, self.steps) == (horizon, steps)
    }

    /// Whether the parts are consistent with each other and with the number of replicates.
    pub fn is_whole(&self, replicates: usize) -> bool {
        let (n, d) = (CONSTANTS.len(), self.dimension());
        let own = self.replicates.as_ref().map_or(0, Replicates::count);
        d > 0
            && own == replicates
            && self.leader < n
            && self.retired.len() == n
            && self.lanes.fits(d, 1)
            && self.judge.fits(d)
            && (self.replicates.as_ref()).is_none_or(|replicates| replicates.fits(d))
    }

    pub fn dimension(&self) -> usize {
        self.lanes.dimension()
    }

    pub fn theta(&self) -> &[f64] {
        self.theta.get_or_init(|| {
            let coordinates = 0..self.dimension();
            coordinates
                .map(|j| self.lanes.theta(self.leader, j))
                .collect()
        })
    }

    /// Reads before it writes, because the iterate is rarely requested.
    #[inline]
    fn forget_theta(&mut self) {
        if self.theta.get().is_some() {
            self.theta.take();
        }
    }

    pub fn health(&self) -> &Health {
        &self.health
    }

    /// One step of all lanes: eta = unit / c, r_inf is the largest reward so far. Returns the leader's TD error.
    #[inline]
    pub fn step(
        &mut self,
        transition: &Transition<'_>,
        unit: f64,
        r_inf: f64,
        discount: f64,
    ) -> f64 {
        if self.steps == self.horizon / BURN_IN {
            self.restart_averages();
        }
        let error = robust_td_simd::run(VectorPart {
            run: self,
            transition,
            unit,
            discount,
        });
        self.steps += 1;
        self.forget_theta();
        self.health.max_theta_norm_sq = self.largest_norm(self.leader);
        if self.steps <= CHECK || self.steps.is_multiple_of(CHECK) {
            self.retire(r_inf / (1.0 - discount));
        }
        if self.judge.has_measured() {
            self.judged();
        }
        if self.steps.is_power_of_two()
            && let Some(replicates) = &mut self.replicates
        {
            replicates.set_length();
        }
        error
    }

    /// Starts the averages at the current step.
    #[cold]
    fn restart_averages(&mut self) {
        self.lanes.restart_averages();
        self.judge.restart();
        if let Some(replicates) = &mut self.replicates {
            replicates.restart_averages();
        }
    }

    /// Updates the leader after a measurement.
    #[inline(never)]
    fn judged(&mut self) {
        self.choose();
        // Just after a restart the new average is worse than the previous one.
        if self.lanes.counted() >= self.steps / 16
            && let Some(replicates) = &mut self.replicates
        {
            replicates.follow(self.lanes.average(self.leader));
        }
    }

    /// Dense steps recompute the norms, sparse steps correct them; sums them in full before rounding errors accumulate, as
    /// `Iterate` does.
    #[inline(always)]
    fn keep_norms(&mut self, phi: &Features<'_>) {
        match phi {
            Features::Dense(_) => self.corrections = u64::MAX,
            Features::Sparse { .. } => {
                if self.corrections >= self.dimension() as u64 {
                    self.corrections = 0;
                    self.lanes.write_norms(&mut self.watch.norms);
                }
                self.corrections += 1;
            }
        }
    }

    /// The largest |theta|^2 of a lane; infinite if an iterate was not finite.
    fn largest_norm(&self, lane: usize) -> f64 {
        nan_as_infinity(self.watch.largest[lane])
    }

    /// Retires the lanes whose TD errors or iterates are too large.
    #[inline(never)]
    fn retire(&mut self, value_bound: f64) {
        // The first steps are the largest, so early checks run after each step over all steps so far.
        let seen = (self.steps - 1) % CHECK + 1;
        let limit = seen as f64 * (EXCESS * value_bound).powi(2);
        let mut retiring = [false; CONSTANTS.len()];
        for (lane, retiring) in retiring.iter_mut().enumerate() {
            let square = self.watch.squares[lane];
            let bounded = square <= limit && self.largest_norm(lane).is_finite();
            if !bounded && self.retired[lane].is_none() {
                self.retired[lane] = Some(self.steps);
                // Replaces NaN, which the next comparison would lose.
                self.watch.largest[lane] = self.largest_norm(lane);
                *retiring = true;
            }
        }
        if seen == CHECK {
            self.watch.squares = Line::default();
        }
        if !retiring.contains(&true) {
            return;
        }
        self.inverses = inverses(&self.retired);
        self.choose();
        for lane in (0..CONSTANTS.len()).filter(|&lane| retiring[lane]) {
            self.lanes.clear(lane);
            self.watch.norms[lane] = 0.0;
            self.watch.squares[lane] = 0.0;
        }
        if self.health.diverged_at.is_none() && self.retired.iter().all(Option::is_some) {
            self.health.diverged_at = Some(self.steps);
        }
    }

    /// Makes the lane with the smallest residual the leader; before the first measurement, the largest constant.
    #[inline(never)]
    fn choose(&mut self) {
        let residual = |lane: &usize| self.judge.residual(*lane).map_or(0.0, nan_as_infinity);
        let alive = (0..CONSTANTS.len()).filter(|&lane| self.retired[lane].is_none());
        let best = alive.min_by(|a, b| residual(a).total_cmp(&residual(b)));
        let new = best.unwrap_or(self.leader);
        if let Some(old) = self.replicates.as_ref().map(Replicates::lane) {
            let retired = self.retired[old].is_some();
            let worse = residual(&old) > CLEARLY * residual(&new);
            let (larger, answer) = (CONSTANTS[old] / CONSTANTS[new], self.lanes.average(new));
            match &mut self.replicates {
                Some(replicates) if retired => replicates.start_anew(new, answer),
                Some(replicates) if worse => replicates.change_lane(new, larger),
                _ => {}
            }
        }
        if new != self.leader {
            self.leader = new;
            self.health.max_theta_norm_sq = self.largest_norm(new);
            self.forget_theta();
        }
    }

    /// The leader's average.
    pub fn output(&self) -> Vec<f64> {
        self.lanes.average(self.leader)
    }

    /// The answer so far.
    pub fn answer(&self) -> Answer {
        let lane = |lane: usize| LaneReport {
            c: CONSTANTS[lane],
            residual: match self.retired[lane] {
                None => self.judge.residual(lane),
                Some(_) => None,
            },
            retired_at: self.retired[lane],
            max_theta_norm_sq: self.largest_norm(lane),
        };
        Answer {
            samples: self.steps,
            c: CONSTANTS[self.leader],
            lanes: (0..CONSTANTS.len()).map(lane).collect(),
            health: self.health,
            output: self.output(),
            bootstrap: match self.health.diverged() {
                true => None,
                false => self.replicates.as_ref().and_then(Replicates::bootstrap),
            },
        }
    }
}

/// 1/c of the active lanes.
fn inverses(retired: &[Option<u64>]) -> Line {
    Line::new(std::array::from_fn(|lane| match retired[lane] {
        None => 1.0 / CONSTANTS[lane],
        Some(_) => 0.0,
    }))
}

/// The vectorised part of a step. It is one function, so that intermediate results stay in registers instead of going
/// through memory.
struct VectorPart<'a> {
    run: &'a mut Run,
    transition: &'a Transition<'a>,
    unit: f64,
    discount: f64,
}

impl Work for VectorPart<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> f64 {
        let (phi, next) = (
            &self.transition.features,
            self.transition.outcome.next_features(),
        );
        self.run.keep_norms(phi);
        let run = &mut *self.run;
        let change = Change {
            psi: run.difference.of(s, phi, next, self.discount),
            phi,
            reward: self.transition.reward,
        };
        let measure = run.judge.watch(&change, &mut run.lanes);
        if let Some(replicates) = &mut run.replicates {
            let eta = self.unit * run.inverses[replicates.lane()];
            replicates.step(s, &change, eta);
        }
        let mut advance = AdvanceAndWatch {
            lanes: &mut run.lanes,
            change: &change,
            eta: self.unit,
            factors: &run.inverses,
            watch: &mut run.watch,
            measure,
            leader: run.leader,
        };
        advance.run(s)
    }
}
