//! Computes the expectations of a sweep without sampling: E|theta_t|^2 at every step and E f of the average.
//!
//! The steps are counted as the plan's mode counts them: Algorithm 1 by default, the published
//! program's indexing with [`Mode::Published`]. Eight lanes of one variant form a unit.
//! A unit ends early once the expectations of all its lanes have overflowed.

mod dispatch;
mod moments;

use serde::{Deserialize, Serialize};

use crate::diagnostics::Peak;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Line, values, values_mut};
use crate::layout::{Output, computed_lanes};
use crate::plan::{Lane, Mode, Plan};
use crate::run::{Executed, Options, Progress, Sweep, execute};
use crate::schedule::decay;
use dispatch::MAX_DIMENSION;
use moments::{Chain, Layout, Raw, WIDTH};

/// A point of an expected learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactPoint {
    /// Updates done.
    pub step: u64,
    /// E|theta_t|^2.
    pub norm: f64,
    /// E f of the averaged iterate.
    pub gap: f64,
}

/// The expectations of one lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactLane {
    /// The lane.
    pub lane: Lane,
    /// max_t E|theta_t|^2 over |theta*|^2; infinite after an overflow.
    pub ratio: f64,
    /// First step that attains the maximum (or overflows).
    pub peak_step: u64,
    /// E f of the averaged iterate at the gap step.
    pub gap: f64,
    /// Expected learning curve; it ends where the expectation overflows.
    pub curve: Vec<ExactPoint>,
}

/// How an exact sweep ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ExactOutcome {
    /// One result per lane, in the order of the plan.
    Finished(Vec<ExactLane>),
    /// The sweep was cancelled; the checkpoint, if any, is up to date.
    Cancelled(Progress),
}

/// Computes the expectations of a plan; its runs do not matter.
///
/// # Errors
/// As for [`crate::run`], and [`Error::Tables`] for a dimension above 64.
pub fn exact(plan: Plan, options: &Options<'_>) -> Result<ExactOutcome> {
    plan.check()?;
    options.kernel.check()?;
    if plan.variants[0].dimension > MAX_DIMENSION {
        let what = format!("dimension above {MAX_DIMENSION} in exact mode");
        return Err(Error::Tables { what });
    }
    let sweep = ExactSweep::new(plan);
    match execute(&sweep, options)? {
        Executed::Cancelled(progress) => Ok(ExactOutcome::Cancelled(progress)),
        Executed::Finished(units) => {
            let mut lanes: Vec<(usize, ExactLane)> = units.into_iter().flatten().collect();
            lanes.sort_by_key(|(index, _)| *index);
            Ok(ExactOutcome::Finished(
                lanes.into_iter().map(|(_, lane)| lane).collect(),
            ))
        }
    }
}

/// Eight lanes of one variant.
struct ExactUnit {
    variant: usize,
    outputs: Vec<Vec<Output>>,
    /// Stepsizes eta = b_t k1 + k0 and weights w = b_t w1 + w0.
    k1: [f64; WIDTH],
    k0: [f64; WIDTH],
    w1: [f64; WIDTH],
    w0: [f64; WIDTH],
}

struct ExactSweep {
    plan: Plan,
    units: Vec<ExactUnit>,
    chains: Vec<Chain>,
    cuts: Vec<u64>,
}

/// The moments of eight lanes between two steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ExactState {
    done: u64,
    p: Vec<f64>,
    now: Vec<Line>,
    /// E[S S'], d x d x WIDTH, and the total weights.
    squared: Vec<f64>,
    weight: [f64; WIDTH],
    peaks: [Peak; WIDTH],
    /// Per lane.
    curves: Vec<Vec<ExactPoint>>,
    gaps: [f64; WIDTH],
    overflowed: bool,
}

impl ExactSweep {
    fn new(plan: Plan) -> Self {
        let computed = computed_lanes(&plan);
        let mut units = Vec::new();
        for variant in 0..plan.variants.len() {
            let lanes: Vec<_> = computed
                .iter()
                .filter(|(l, _)| l.variant == variant)
                .collect();
            for eight in lanes.chunks(WIDTH) {
                let mut unit = ExactUnit {
                    variant,
                    outputs: vec![Vec::new(); WIDTH],
                    k1: [0.0; WIDTH],
                    k0: [0.0; WIDTH],
                    w1: [0.0; WIDTH],
                    w0: [1.0; WIDTH],
                };
                for (i, (lane, outputs)) in eight.iter().enumerate() {
                    (unit.k1[i], unit.k0[i]) = plan.stepsize(lane);
                    if plan.weighted(lane.family) {
                        (unit.w1[i], unit.w0[i]) = (1.0, 0.0);
                    }
                    unit.outputs[i].clone_from(outputs);
                }
                units.push(unit);
            }
        }
        let chains = plan.variants.iter().map(Chain::new).collect();
        let cuts = plan.curve_steps();
        Self {
            plan,
            units,
            chains,
            cuts,
        }
    }

    /// E|theta|^2 of each lane.
    fn norms(&self, state: &ExactState) -> [f64; WIDTH] {
        let d = self.plan.variants[0].dimension;
        let layout = Layout::new(d);
        let mut norms = [0.0; WIDTH];
        for row in values(&state.now).chunks_exact(layout.len() * WIDTH) {
            for i in 0..d {
                let at = layout.second(i, i) * WIDTH;
                for (norm, x) in norms.iter_mut().zip(&row[at..at + WIDTH]) {
                    *norm += x;
                }
            }
        }
        norms
    }

    /// Takes one step.
    fn step(&self, unit: &ExactUnit, state: &mut ExactState, kernel: Kernel, next: &mut Vec<Line>) {
        let chain = &self.chains[unit.variant];
        let d = chain.dimension;
        let layout = Layout::new(d);
        let b = decay(self.plan.stepsize_index(state.done + 1));
        let mut eta = [0.0; WIDTH];
        let mut weight = [0.0; WIDTH];
        for i in 0..WIDTH {
            eta[i] = b.mul_add(unit.k1[i], unit.k0[i]);
            weight[i] = b.mul_add(unit.w1[i], unit.w0[i]);
            state.weight[i] += weight[i];
        }
        let mut totals = vec![Line::default(); layout.len()];
        next.resize(state.now.len(), Line::default());
        let raw = Raw {
            chain,
            p: &state.p,
            now: values_mut(&mut state.now).as_mut_ptr(),
            next: values_mut(next).as_mut_ptr(),
            totals: values_mut(&mut totals).as_mut_ptr(),
            eta: eta.as_ptr(),
            weight: weight.as_ptr(),
        };
        // SAFETY: all arrays have states x row x WIDTH, row x WIDTH or WIDTH entries; the kernel is checked.
        unsafe { dispatch::run(kernel, &raw) };
        let totals = values(&totals);
        std::mem::swap(&mut state.now, next);
        state.p = chain.move_distribution(&state.p);
        for i in 0..d {
            for j in 0..d {
                let (a, b) = (layout.cross(i, j) * WIDTH, layout.cross(j, i) * WIDTH);
                let m = layout.second(i.min(j), i.max(j)) * WIDTH;
                for l in 0..WIDTH {
                    let w = weight[l];
                    let growth = totals[a + l] + totals[b + l] - w * totals[m + l];
                    state.squared[(i * d + j) * WIDTH + l] += w * growth;
                }
            }
        }
        state.done += 1;
        let norms = self.norms(state);
        for (peak, norm) in state.peaks.iter_mut().zip(norms) {
            let broken = !norm.is_finite();
            if peak.sum < f64::INFINITY && (broken || norm > peak.sum) {
                let sum = if broken { f64::INFINITY } else { norm };
                *peak = Peak {
                    sum,
                    step: state.done,
                };
            }
        }
        // Lanes without an output have stepsize zero and never overflow.
        let used = unit
            .outputs
            .iter()
            .zip(&state.peaks)
            .filter(|(o, _)| !o.is_empty());
        state.overflowed = used.map(|(_, p)| p.sum).all(f64::is_infinite);
    }

    /// E f of the average, E[(S/W - theta*)' A (S/W - theta*)].
    fn gaps(&self, unit: &ExactUnit, state: &ExactState) -> [f64; WIDTH] {
        let tables = &self.plan.variants[unit.variant];
        let d = tables.dimension;
        let layout = Layout::new(d);
        let mut mean = vec![[0.0; WIDTH]; d];
        let mut square = vec![[0.0; WIDTH]; d * d];
        // The published average counts theta_1..theta_t: S and the current iterate.
        let last = if self.plan.mode == Mode::Published {
            1.0
        } else {
            0.0
        };
        for (x, s) in square.iter_mut().zip(state.squared.chunks_exact(WIDTH)) {
            x.copy_from_slice(s);
        }
        for row in values(&state.now).chunks_exact(layout.len() * WIDTH) {
            let at = |i: usize, l: usize| row[i * WIDTH + l];
            for l in 0..WIDTH {
                for i in 0..d {
                    mean[i][l] += at(layout.sum(i), l) + last * at(layout.first(i), l);
                    for j in 0..d {
                        let second = at(layout.second(i.min(j), i.max(j)), l);
                        let cross = at(layout.cross(i, j), l) + at(layout.cross(j, i), l);
                        square[i * d + j][l] += last * (cross + second);
                    }
                }
            }
        }
        let star = &tables.theta_star;
        std::array::from_fn(|l| {
            let weight = state.weight[l];
            let mut f = 0.0;
            for i in 0..d {
                for j in 0..d {
                    let linear = mean[i][l] / weight * star[j] + star[i] * (mean[j][l] / weight);
                    let entry = square[i * d + j][l] / weight / weight - linear + star[i] * star[j];
                    f += tables.a[i * d + j] * entry;
                }
            }
            if f.is_nan() { f64::INFINITY } else { f }
        })
    }

    fn record(&self, unit: &ExactUnit, state: &mut ExactState) {
        let gaps = self.gaps(unit, state);
        let norms = self.norms(state);
        for l in 0..WIDTH {
            let (step, norm, gap) = (state.done, norms[l], gaps[l]);
            if norm.is_finite() {
                state.curves[l].push(ExactPoint { step, norm, gap });
            }
        }
        if state.done == self.plan.gap_step() {
            state.gaps = gaps;
        }
    }
}

impl Sweep for ExactSweep {
    type State = ExactState;
    type Output = Vec<(usize, ExactLane)>;
    type Scratch = Vec<Line>;

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
        (10_000_000 / cost).max(1) as u64
    }

    fn scratch(&self) -> Vec<Line> {
        Vec::new()
    }

    fn start(&self, _unit: usize) -> ExactState {
        let tables = &self.plan.variants[0];
        let (n, d) = (tables.states(), tables.dimension);
        let mut p = vec![0.0; n];
        p[tables.start] = 1.0;
        ExactState {
            done: 0,
            p,
            now: vec![Line::default(); n * Layout::new(d).len()],
            squared: vec![0.0; d * d * WIDTH],
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
        next: &mut Vec<Line>,
        steps: u64,
    ) {
        let unit = &self.units[unit];
        let end = (state.done + steps).min(self.plan.simulate);
        while state.done < end && !state.overflowed {
            self.step(unit, state, kernel, next);
            if self.cuts.binary_search(&state.done).is_ok() {
                self.record(unit, state);
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
                let scaled = |p: &ExactPoint| ExactPoint {
                    norm: p.norm * square,
                    ..*p
                };
                let overflow = state.peaks[l].sum.is_infinite();
                let result = ExactLane {
                    lane,
                    ratio: state.peaks[l].sum * square / tables.theta_star_squared(),
                    peak_step: state.peaks[l].step,
                    gap: if overflow {
                        f64::INFINITY
                    } else {
                        state.gaps[l]
                    },
                    curve: state.curves[l].iter().map(scaled).collect(),
                };
                lanes.push((output.lane, result));
            }
        }
        lanes
    }
}
