//! Computes the expectations of a sweep without sampling: E|theta_t|^2 at every step and E f of the average.
//!
//! Steps are counted according to the plan's mode: Algorithm 1 by default, the published
//! program's indexing with [`Mode::Published`](crate::Mode::Published). Eight lanes of one variant form a unit.
//! A unit ends early once the expectations of all its lanes have overflowed. Lanes with a constant
//! step size jump over many steps at once when the chain has mixed (see `jumps.rs`).

mod basis;
mod dispatch;
mod jumps;
mod moments;
mod pack;
mod response;
#[cfg(test)]
mod tests;

use robust_td_core::iterate::nan_as_infinity;
use serde::{Deserialize, Serialize};

use crate::diagnostics::{CurvePoint, Peak};
use crate::error::{Error, Result};
use crate::family::{Family, Projection};
use crate::kernel::Kernel;
use crate::layout::{Output, computed_lanes};
use crate::memory;
use crate::plan::{Lane, Plan};
use crate::restored::peak_fits;
use crate::results::{LaneResult, Results};
use crate::run::{Options, Outcome, Sweep, execute};
use crate::schedule::Pattern;
use crate::threads::threads;
use dispatch::MAX_DIMENSION;
use jumps::{Pace, Prepared};
use moments::Chain;
pub(crate) use moments::{Layout, WIDTH};
use pack::{Drive, Pack};

/// Computes the expectations of a plan; its number of runs is ignored.
///
/// # Errors
/// As for [`crate::run`], and [`Error::Tables`] for a dimension above 64.
pub fn exact(plan: Plan, options: &Options<'_>) -> Result<Outcome> {
    plan.check()?;
    options.kernel.check()?;
    memory::check_exact(&plan, threads(options.threads), options.max_memory)?;
    let sweep = ExactSweep::checked(plan)?;
    let per_step: u64 = (0..sweep.units())
        .map(|unit| sweep.updates_per_step(unit))
        .sum();
    let lane_steps = per_step.saturating_mul(sweep.steps());
    let outcome = execute(&sweep, options)?;
    Ok(outcome.map(|units| {
        let lanes = units.into_iter().flatten().collect();
        Results::new(lanes, lane_steps, &sweep.plan)
    }))
}

/// Eight lanes of one variant.
struct ExactUnit {
    variant: usize,
    pattern: Pattern,
    outputs: Vec<Vec<Output>>,
    /// Step sizes eta = b_t k1 + k0 and weights w = b_t w1 + w0.
    k1: [f64; WIDTH],
    k0: [f64; WIDTH],
    w1: [f64; WIDTH],
    w0: [f64; WIDTH],
}

pub(crate) struct ExactSweep {
    pub plan: Plan,
    units: Vec<ExactUnit>,
    chains: Vec<Chain>,
    cuts: Vec<u64>,
    /// The limiting distribution of the state.
    mixed: Vec<f64>,
}

/// The moments of eight lanes between two steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExactState {
    done: u64,
    p: Vec<f64>,
    /// The moments of every state, or their totals once the unit jumps.
    pack: Pack,
    pace: Pace,
    /// E|theta|^2, E[S' A S] and the total weights.
    norms: [f64; WIDTH],
    squared: [f64; WIDTH],
    weight: [f64; WIDTH],
    peaks: [Peak; WIDTH],
    /// For each lane.
    curves: Vec<Vec<CurvePoint>>,
    gaps: [f64; WIDTH],
    overflowed: bool,
}

/// Working memory of a thread.
#[derive(Default)]
pub(crate) struct Scratch {
    p: Vec<f64>,
    place: Vec<u32>,
    prepared: Prepared,
}

impl ExactSweep {
    /// The sweep of a valid plan, if its expectations can be computed.
    pub fn checked(plan: Plan) -> Result<Self> {
        if plan.variants[0].dimension > MAX_DIMENSION {
            let what = format!("dimension above {MAX_DIMENSION} in exact mode");
            return Err(Error::Tables { what });
        }
        let projected = |lane: &Lane| lane.projection != Projection::None;
        match plan.lanes.iter().any(projected) {
            true => Err(Error::ExactProjection),
            false => Ok(Self::new(plan)),
        }
    }

    fn new(plan: Plan) -> Self {
        let computed = computed_lanes(&plan);
        let mut units = Vec::new();
        for variant in 0..plan.variants.len() {
            let own = computed.iter().filter(|(l, _)| l.variant == variant);
            // Units do not mix constant step sizes, which allow jumps, with others.
            for constant in [false, true] {
                let own = own
                    .clone()
                    .filter(|(l, _)| l.family.is_constant() == constant);
                let mut patterns = Vec::new();
                for pattern in own.clone().map(|(l, _)| plan.pattern(l.family)) {
                    if !patterns.contains(&pattern) {
                        patterns.push(pattern);
                    }
                }
                for pattern in patterns {
                    let of_pattern = |l: &Lane| plan.pattern(l.family) == pattern;
                    let lanes: Vec<_> = own.clone().filter(|(l, _)| of_pattern(l)).collect();
                    // From the end of the grid, since lanes with the smallest c overflow early.
                    let eights = lanes.rchunks(WIDTH);
                    units.extend(eights.map(|eight| ExactUnit::new(&plan, variant, eight)));
                }
            }
        }
        let chains: Vec<_> = plan.variants.iter().map(Chain::new).collect();
        let cuts = plan.curve_steps();
        let mixed = jumps::mixed(&plan, &chains[0]);
        Self {
            plan,
            units,
            chains,
            cuts,
            mixed,
        }
    }

    /// Takes one step.
    fn step(
        &self,
        unit: &ExactUnit,
        state: &mut ExactState,
        kernel: Kernel,
        scratch: &mut Scratch,
    ) {
        let chain = &self.chains[unit.variant];
        let b = unit.pattern.at(state.done + 1);
        let drive = unit.drive(b);
        for (total, w) in state.weight.iter_mut().zip(drive.weight) {
            *total += w;
        }
        let sums = state
            .pack
            .step(chain, kernel, &state.p, &drive, &mut scratch.place);
        chain.move_distribution(&state.p, &mut scratch.p);
        std::mem::swap(&mut state.p, &mut scratch.p);
        for (square, growth) in state.squared.iter_mut().zip(sums.growth) {
            *square += growth;
        }
        state.norms = sums.norms;
        state.done += 1;
        for l in 0..WIDTH {
            state.peaks[l].see(state.norms[l], state.done);
        }
        state.notice_overflow(unit);
    }

    /// E f of the average, E[(S/W - theta*)' A (S/W - theta*)].
    fn gaps(&self, unit: &ExactUnit, state: &ExactState) -> [f64; WIDTH] {
        let star = &self.plan.variants[unit.variant].theta_star;
        let chain = &self.chains[unit.variant];
        let d = chain.dimension;
        let layout = Layout::new(d);
        let mut mean = vec![[0.0; WIDTH]; d];
        let mut square = state.squared;
        // The published average counts theta_1..theta_t: S and the current iterate.
        let last = if self.plan.mode.is_theirs() { 1.0 } else { 0.0 };
        let states = match state.pace {
            Pace::Jumps => 1,
            Pace::Undecided | Pace::Steps => state.p.len(),
        };
        let totals = state.pack.totals(states, layout.len());
        let at = |i: usize, l: usize| totals[i].0[l];
        for l in 0..WIDTH {
            for i in 0..d {
                mean[i][l] += at(layout.sum(i), l) + last * at(layout.first(i), l);
                for j in 0..d {
                    let second = at(layout.second(i.min(j), i.max(j)), l);
                    let cross = 2.0 * at(layout.cross(i, j), l);
                    square[l] += chain.form[i * d + j] * last * (cross + second);
                }
            }
        }
        std::array::from_fn(|l| {
            // Without weight the sums are 0, too, and f is that of theta_0.
            let weight = match state.weight[l] {
                0.0 => 1.0,
                weight => weight,
            };
            let mut f = square[l] / weight / weight;
            for i in 0..d {
                for j in 0..d {
                    let linear = star[i] * (star[j] - 2.0 * (mean[j][l] / weight));
                    f += chain.form[i * d + j] * linear;
                }
            }
            nan_as_infinity(f)
        })
    }

    fn record(&self, unit: &ExactUnit, state: &mut ExactState) {
        let gaps = self.gaps(unit, state);
        for l in 0..WIDTH {
            let (step, norm, gap) = (state.done, state.norms[l], gaps[l]);
            if norm.is_finite() {
                state.curves[l].push(CurvePoint {
                    step,
                    norm,
                    gap,
                    standard_errors: None,
                    d_norm: None,
                });
            }
        }
        if state.done == self.plan.gap_step() {
            state.gaps = gaps;
        }
    }
}

impl ExactUnit {
    fn new(plan: &Plan, variant: usize, lanes: &[&(Lane, Vec<Output>)]) -> Self {
        let family = lanes
            .first()
            .map_or(Family::Decaying, |(lane, _)| lane.family);
        let mut unit = Self {
            variant,
            pattern: plan.pattern(family),
            outputs: vec![Vec::new(); WIDTH],
            k1: [0.0; WIDTH],
            k0: [0.0; WIDTH],
            w1: [0.0; WIDTH],
            w0: [1.0; WIDTH],
        };
        for (i, (lane, outputs)) in lanes.iter().enumerate() {
            (unit.k1[i], unit.k0[i]) = plan.step_size(lane);
            if plan.weighted(lane.family) {
                (unit.w1[i], unit.w0[i]) = (1.0, 0.0);
            }
            unit.outputs[i].clone_from(outputs);
        }
        unit
    }

    /// The step sizes and weights for the decay `b`.
    fn drive(&self, b: f64) -> Drive {
        Drive {
            mass: [1.0; WIDTH],
            eta: std::array::from_fn(|i| b.mul_add(self.k1[i], self.k0[i])),
            weight: std::array::from_fn(|i| b.mul_add(self.w1[i], self.w0[i])),
        }
    }

    fn is_constant(&self) -> bool {
        [self.k1, self.w1].as_flattened().iter().all(|&k| k == 0.0)
    }
}

impl ExactState {
    fn notice_overflow(&mut self, unit: &ExactUnit) {
        // Lanes without an output have step size zero and never overflow.
        let lanes = unit.outputs.iter().zip(&self.peaks);
        let used = lanes.filter(|(outputs, _)| !outputs.is_empty());
        self.overflowed = used.map(|(_, p)| p.sum).all(f64::is_infinite);
    }
}

impl Sweep for ExactSweep {
    type State = ExactState;
    type Output = Vec<(usize, LaneResult)>;
    type Scratch = Scratch;

    fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"exact").update(self.plan.hash().as_bytes());
        hasher.finalize()
    }

    fn units(&self) -> usize {
        self.units.len()
    }

    fn steps(&self) -> u64 {
        self.plan.simulate
    }

    fn updates_per_step(&self, unit: usize) -> u64 {
        self.units[unit]
            .outputs
            .iter()
            .filter(|o| !o.is_empty())
            .count() as u64
    }

    fn slice(&self, _unit: usize) -> u64 {
        let edges = self.chains[0].edges.len().max(1);
        let cost = edges * self.plan.variants[0].dimension.pow(2);
        (2_000_000 / cost).max(1) as u64
    }

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn start(&self, unit: usize) -> ExactState {
        let variant = self.units[unit].variant;
        let tables = &self.plan.variants[variant];
        let mut p = vec![0.0; tables.states()];
        p[tables.start] = 1.0;
        ExactState {
            done: 0,
            p,
            pack: Pack::new(&self.chains[variant]),
            pace: self.first_pace(&self.units[unit]),
            norms: [0.0; WIDTH],
            squared: [0.0; WIDTH],
            weight: [0.0; WIDTH],
            peaks: [Peak::default(); WIDTH],
            curves: vec![Vec::new(); WIDTH],
            gaps: [f64::INFINITY; WIDTH],
            overflowed: false,
        }
    }

    fn done(&self, state: &ExactState) -> u64 {
        if state.overflowed {
            self.plan.simulate
        } else {
            state.done
        }
    }

    fn advance(
        &self,
        unit: usize,
        state: &mut ExactState,
        kernel: Kernel,
        scratch: &mut Scratch,
        steps: u64,
    ) {
        let end = (state.done + steps).min(self.plan.simulate);
        while state.done < end && !state.overflowed {
            match self.next_pace(unit, state, kernel, scratch) {
                None => return,
                Some(Pace::Jumps) => self.jump(unit, state, scratch),
                Some(Pace::Undecided | Pace::Steps) => {
                    self.step(&self.units[unit], state, kernel, scratch);
                }
            }
            if self.cuts.binary_search(&state.done).is_ok() {
                self.record(&self.units[unit], state);
            }
        }
    }

    fn finish(&self, unit: usize, state: ExactState) -> Self::Output {
        let mut lanes = Vec::new();
        for (l, outputs) in self.units[unit].outputs.iter().enumerate() {
            for output in outputs {
                let lane = self.plan.lanes[output.lane];
                let scale = f64::powi(2.0, -output.exponent);
                let square = scale * scale;
                let tables = &self.plan.variants[lane.variant];
                let scaled = |p: &CurvePoint| CurvePoint {
                    norm: p.norm * square,
                    ..*p
                };
                let overflow = state.peaks[l].sum.is_infinite();
                let result = LaneResult {
                    lane,
                    ratio: state.peaks[l].sum * square / tables.theta_star_squared(),
                    peak_step: state.peaks[l].step,
                    gap: if overflow {
                        f64::INFINITY
                    } else {
                        state.gaps[l]
                    },
                    curve: state.curves[l].iter().map(scaled).collect(),
                    sampled: None,
                };
                lanes.push((output.lane, result));
            }
        }
        lanes
    }

    fn state_fits(&self, unit: usize, state: &ExactState) -> bool {
        let new = self.start(unit);
        let (done, chain) = (state.done, &self.chains[self.units[unit].variant]);
        let counted = |curve: &Vec<CurvePoint>| curve.len() <= self.cuts.len();
        done <= self.plan.simulate
            && state.p.len() == new.p.len()
            && (new.pace != Pace::Steps || state.pace == Pace::Steps)
            && state.pack.fits(&new.pack, chain, state.pace == Pace::Jumps)
            && state.peaks.iter().all(|peak| peak_fits(peak, done))
            && state.curves.len() == new.curves.len()
            && state.curves.iter().all(counted)
    }

    fn output_fits(&self, unit: usize, output: &Self::Output) -> bool {
        let outputs = self.units[unit].outputs.iter().flatten();
        outputs
            .map(|output| output.lane)
            .eq(output.iter().map(|(lane, _)| *lane))
            && output.iter().all(|(lane, result)| {
                result.lane == self.plan.lanes[*lane]
                    && result.sampled.is_none()
                    && result.peak_step <= self.plan.simulate
                    && result.curve.len() <= self.cuts.len()
            })
    }
}
