//! Runs the lanes of the portfolio over the samples of one horizon.

use serde::{Deserialize, Serialize};

use super::judge::Judge;
use super::replicates::Replicates;
use super::{Answer, LaneReport};
use crate::error::{Error, Result};
use crate::lanes::{Change, Lanes, Line, WIDTH, flat, lines};
use crate::learner::{Features, Health};

/// Constants c of the portfolio: from 50, which the theorem covers, down to 1.6e-6, two for each decade.
pub const CONSTANTS: [f64; 16] = [
    50.0, 15.8, 5.0, 1.58, 0.5, 0.158, 0.05, 0.0158, 5e-3, 1.58e-3, 5e-4, 1.58e-4, 5e-5, 1.58e-5,
    5e-6, 1.58e-6,
];
/// The lines of the constants.
const LINES: usize = CONSTANTS.len() / WIDTH;
/// Steps between two looks at the lanes' temporal-difference errors.
const CHECK: u64 = 64;
/// A lane is retired when the root mean square of its temporal-difference errors exceeds this multiple of r_inf / (1 - gamma).
///
/// At the TD fixed point it is at most 2: no predictions of root mean square above r_inf / (1 - gamma) are a fixed point.
const EXCESS: f64 = 20.0;
/// Replicates change to another lane when its residual is smaller by this factor: lanes that are about as good have
/// about the same error.
const CLEARLY: f64 = 1.25;
/// One over the share of the run whose iterates do not count in the answer.
const BURN_IN: u64 = 8;

/// The lanes and what is known about them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub(crate) struct Run {
    horizon: u64,
    steps: u64,
    lanes: Lanes,
    retired: Vec<Option<u64>>,
    norms: Vec<Line>,
    /// The largest norms so far.
    largest: Vec<Line>,
    /// Sparse steps since the norms were last summed in full.
    corrections: u64,
    /// Sums of squared temporal-difference errors since the last look.
    squares: Vec<Line>,
    /// Sums of the squared features.
    feature_squares: Vec<f64>,
    leader: usize,
    judge: Judge,
    replicates: Option<Replicates>,
    /// The leader's iterate, and how far it went.
    theta: Vec<f64>,
    health: Health,
    /// 1/c, or 0 for a lane that is retired.
    inverses: Vec<Line>,
    scratch: Scratch,
}

/// Memory for one step.
#[derive(Debug, Clone, PartialEq, Default)]
struct Scratch {
    gains: Vec<Line>,
    deltas: Vec<Line>,
    before: Vec<Line>,
    after: Vec<Line>,
}

impl Scratch {
    fn new() -> Self {
        let zeros = vec![Line::default(); LINES];
        Self {
            gains: zeros.clone(),
            deltas: zeros.clone(),
            before: zeros.clone(),
            after: zeros,
        }
    }
}

impl Run {
    /// All lanes at zero.
    pub fn new(dimension: usize, horizon: u64, replicates: usize, seed: u64) -> Self {
        Self {
            horizon,
            steps: 0,
            lanes: Lanes::zero(dimension, LINES),
            retired: vec![None; CONSTANTS.len()],
            norms: vec![Line::default(); LINES],
            largest: vec![Line::default(); LINES],
            corrections: 0,
            squares: vec![Line::default(); LINES],
            feature_squares: vec![0.0; dimension],
            leader: 0,
            judge: Judge::new(dimension, LINES, horizon),
            replicates: (replicates > 0).then(|| Replicates::new(replicates, seed, dimension)),
            theta: vec![0.0; dimension],
            health: Health::default(),
            inverses: inverses(&[None; CONSTANTS.len()]),
            scratch: Scratch::new(),
        }
    }

    pub fn dimension(&self) -> usize {
        self.lanes.dimension()
    }

    /// Whether it is so far in a run of a horizon.
    pub fn is_at(&self, horizon: u64, steps: u64) -> bool {
        (self.horizon, self.steps) == (horizon, steps)
    }

    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    pub fn health(&self) -> &Health {
        &self.health
    }

    /// One step of all lanes: eta = unit / c. `value_bound` is r_inf / (1 - gamma) so far.
    pub fn step(&mut self, change: &Change<'_>, unit: f64, value_bound: f64) {
        if self.steps == self.horizon / BURN_IN {
            self.lanes.restart_averages();
            self.judge.restart();
            if let Some(replicates) = &mut self.replicates {
                replicates.restart_averages();
            }
        }
        let judged = self.judge.watch(change, &self.lanes);
        change.phi.for_each(|j, x| self.feature_squares[j] += x * x);
        self.set_gains(unit);
        if let Some(replicates) = &mut self.replicates {
            replicates.step(change, unit / CONSTANTS[replicates.lane()]);
        }
        let sparse = matches!(change.phi, Features::Sparse { .. });
        let scratch = &mut self.scratch;
        if sparse {
            self.lanes.norms(change.phi, &mut scratch.before);
        }
        scratch.deltas.fill(Line::of(change.reward));
        self.lanes
            .advance(change, &scratch.gains, &mut scratch.deltas);
        self.lanes.norms(change.phi, &mut scratch.after);
        self.steps += 1;
        self.follow_norms(sparse);
        for (squares, delta) in self.squares.iter_mut().zip(&self.scratch.deltas) {
            for l in 0..WIDTH {
                squares[l] += delta[l] * delta[l];
            }
        }
        let (leader, lanes) = (self.leader, &self.lanes);
        change
            .phi
            .for_each(|j, _| self.theta[j] = lanes.theta(leader, j));
        if self.steps <= CHECK || self.steps.is_multiple_of(CHECK) {
            self.retire(value_bound);
        }
        if judged {
            self.choose();
        }
        if let Some(replicates) = &mut self.replicates {
            // Just after a restart the average is worse than the one before.
            if judged && self.lanes.counted() >= self.steps / 16 {
                replicates.follow(self.lanes.average(self.leader));
            }
            if self.steps.is_power_of_two() {
                replicates.set_length();
            }
        }
    }

    fn set_gains(&mut self, unit: f64) {
        for (gains, inverse) in self.scratch.gains.iter_mut().zip(&self.inverses) {
            for l in 0..WIDTH {
                gains[l] = unit * inverse[l];
            }
        }
    }

    /// Brings |theta|^2 of the lanes up to date, as `Iterate` does.
    fn follow_norms(&mut self, sparse: bool) {
        let Scratch { before, after, .. } = &self.scratch;
        if sparse {
            self.corrections += 1;
            for (norm, (after, before)) in self.norms.iter_mut().zip(after.iter().zip(before)) {
                for l in 0..WIDTH {
                    norm[l] += after[l] - before[l];
                }
            }
            if self.corrections >= self.theta.len() as u64 {
                self.corrections = 0;
                let all = Features::Dense(&[]);
                self.lanes.norms(all, &mut self.norms);
            }
        } else {
            self.norms.copy_from_slice(after);
        }
        for (largest, norm) in self.largest.iter_mut().zip(&self.norms) {
            for l in 0..WIDTH {
                // Keeps NaN, so that it is seen at the next look.
                largest[l] = if norm[l] <= largest[l] {
                    largest[l]
                } else {
                    norm[l]
                };
            }
        }
        self.health.max_theta_norm_sq = self.largest_norm(self.leader);
    }

    /// The largest |theta|^2 of a lane; infinite once an iterate was not finite.
    fn largest_norm(&self, lane: usize) -> f64 {
        let norm = self.largest[lane / WIDTH][lane % WIDTH];
        if norm.is_nan() { f64::INFINITY } else { norm }
    }

    /// Retires the lanes whose temporal-difference errors or iterates are too large.
    fn retire(&mut self, value_bound: f64) {
        // The first steps are the largest: after each of them, all so far are looked at.
        let seen = (self.steps - 1) % CHECK + 1;
        let limit = seen as f64 * (EXCESS * value_bound).powi(2);
        let mut retiring = [false; CONSTANTS.len()];
        for (lane, retiring) in retiring.iter_mut().enumerate() {
            let square = self.squares[lane / WIDTH][lane % WIDTH];
            let bounded = square <= limit && self.largest_norm(lane).is_finite();
            if !bounded && self.retired[lane].is_none() {
                self.retired[lane] = Some(self.steps);
                *retiring = true;
            }
        }
        if seen == CHECK {
            self.squares.fill(Line::default());
        }
        if !retiring.contains(&true) {
            return;
        }
        self.inverses = inverses(&self.retired);
        self.choose();
        for lane in (0..CONSTANTS.len()).filter(|&lane| retiring[lane]) {
            self.lanes.clear(lane);
            self.norms[lane / WIDTH][lane % WIDTH] = 0.0;
            self.squares[lane / WIDTH][lane % WIDTH] = 0.0;
        }
        if self.health.diverged_at.is_none() && self.retired.iter().all(Option::is_some) {
            self.health.diverged_at = Some(self.steps);
        }
    }

    /// Makes the lane with the smallest residual the leader; before anything is measured, the largest constant.
    fn choose(&mut self) {
        let squares = self.mean_squares();
        let residual = |lane: &usize| match self.judge.residual(*lane, &squares) {
            Some(residual) if residual.is_nan() => f64::INFINITY,
            Some(residual) => residual,
            None => 0.0,
        };
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
            for j in 0..self.theta.len() {
                self.theta[j] = self.lanes.theta(new, j);
            }
        }
    }

    fn mean_squares(&self) -> Vec<f64> {
        let count = self.steps.max(1) as f64;
        self.feature_squares.iter().map(|x| x / count).collect()
    }

    /// The answer so far.
    pub fn answer(&self) -> Answer {
        let squares = self.mean_squares();
        let lane = |lane: usize| LaneReport {
            c: CONSTANTS[lane],
            residual: match self.retired[lane] {
                None => self.judge.residual(lane, &squares),
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
            output: self.lanes.average(self.leader),
            bootstrap: self.replicates.as_ref().and_then(Replicates::bootstrap),
        }
    }
}

/// 1/c of the lanes that go on.
fn inverses(retired: &[Option<u64>]) -> Vec<Line> {
    let inverse = |lane: usize| match retired[lane] {
        None => 1.0 / CONSTANTS[lane],
        Some(_) => 0.0,
    };
    let line = |l: usize| Line(std::array::from_fn(|i| inverse(WIDTH * l + i)));
    (0..LINES).map(line).collect()
}

/// What is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    horizon: u64,
    steps: u64,
    lanes: Lanes,
    retired: Vec<Option<u64>>,
    health: Health,
    #[serde(with = "crate::exact_float")]
    norms: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    largest: Vec<f64>,
    corrections: u64,
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    feature_squares: Vec<f64>,
    leader: usize,
    judge: Judge,
    replicates: Option<Replicates>,
}

impl From<Run> for Saved {
    fn from(run: Run) -> Self {
        Self {
            horizon: run.horizon,
            steps: run.steps,
            lanes: run.lanes,
            retired: run.retired,
            health: run.health,
            norms: flat(&run.norms),
            largest: flat(&run.largest),
            corrections: run.corrections,
            squares: flat(&run.squares),
            feature_squares: run.feature_squares,
            leader: run.leader,
            judge: run.judge,
            replicates: run.replicates,
        }
    }
}

impl TryFrom<Saved> for Run {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let (n, d) = (CONSTANTS.len(), saved.lanes.dimension());
        let replicates = saved.replicates.as_ref();
        let fits = saved.leader < n
            && [saved.retired.len(), saved.largest.len()] == [n; 2]
            && [saved.norms.len(), saved.squares.len()] == [n; 2]
            && saved.feature_squares.len() == d
            && saved.lanes.lines() == LINES
            && saved.judge.fits(d, LINES)
            && replicates.is_none_or(|replicates| replicates.fits(d));
        if !fits {
            let contradiction = format!("a portfolio whose parts do not fit dimension {d}");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            horizon: saved.horizon,
            steps: saved.steps,
            theta: (0..d).map(|j| saved.lanes.theta(saved.leader, j)).collect(),
            inverses: inverses(&saved.retired),
            scratch: Scratch::new(),
            lanes: saved.lanes,
            retired: saved.retired,
            health: saved.health,
            norms: lines(&saved.norms),
            largest: lines(&saved.largest),
            corrections: saved.corrections,
            squares: lines(&saved.squares),
            feature_squares: saved.feature_squares,
            leader: saved.leader,
            judge: saved.judge,
            replicates: saved.replicates.map(Replicates::restored),
        })
    }
}
