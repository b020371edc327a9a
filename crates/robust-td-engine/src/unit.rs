//! Advances one unit of the sweep block by block.

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::diagnostics::{Peak, Record, UpdatePeaks};
use crate::generators::{GROUP, Generators};
use crate::kernel::{Block, CELL, Job, Kernel, Line, PACK, Projection, Sharing};
use crate::layout::{Bank, Unit};
use crate::marks::{Mark, mark, spreads};
use crate::walks::{CHUNK, Sample, Sampled};

/// The number of steps of a block.
pub const BLOCK: usize = 1024;

/// The lanes of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellState {
    /// d x CELL iterates.
    pub theta: Vec<f64>,
    /// d x CELL weighted sums of iterates.
    pub average: Vec<f64>,
    /// CELL maxima of |theta_t|^2.
    pub max: Vec<f64>,
}

/// The state of a unit between two blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitState {
    /// Updates done.
    pub done: u64,
    generators: Vec<Generators>,
    states: Vec<[u32; GROUP]>,
    /// By bank; in each, one cell per run (broadcast) or per eight runs (split).
    pub cells: Vec<CellState>,
    /// Sum of b_t so far.
    pub decay_sum: f64,
    /// By bank and lane.
    pub peaks: Vec<Vec<Peak>>,
    /// By bank, lane and output.
    pub records: Vec<Record>,
    /// States from which to replay to the peaks.
    pub marks: Vec<Mark>,
    /// By bank and lane, at the end: the standard error over runs of |theta_t|^2 at the peak.
    pub spreads: Vec<Vec<f64>>,
}

impl UnitState {
    /// The unit before its first step.
    pub fn new(context: &Context, unit: &Unit) -> Self {
        let plan = &context.plan;
        let d = plan.variants[0].dimension;
        let groups = plan.runs.div_ceil(GROUP);
        let cell = CellState {
            theta: vec![0.0; d * CELL],
            average: vec![0.0; d * CELL],
            max: vec![0.0; CELL],
        };
        let cells = unit.banks.iter().map(|b| b.cells(plan.runs)).sum();
        let outputs = unit.banks.iter().flat_map(|b| &b.outputs).flatten();
        Self {
            done: 0,
            generators: context.generators(unit),
            states: vec![[plan.variants[0].start as u32; GROUP]; groups],
            cells: vec![cell; cells],
            decay_sum: 0.0,
            peaks: unit
                .banks
                .iter()
                .map(|b| vec![Peak::default(); b.outputs.len()])
                .collect(),
            records: outputs.map(|&output| Record::new(output)).collect(),
            marks: Vec::new(),
            spreads: Vec::new(),
        }
    }

    /// The state needed to replay from here.
    pub fn as_mark(&self) -> Mark {
        Mark {
            done: self.done,
            generators: self.generators.clone(),
            states: self.states.clone(),
            thetas: self.cells.iter().map(|c| c.theta.clone()).collect(),
        }
    }

    /// The unit at a mark: its iterates, without averages and diagnostics.
    pub fn from_mark(context: &Context, unit: &Unit, mark: &Mark) -> Self {
        let mut state = Self::new(context, unit);
        state.done = mark.done;
        state.generators.clone_from(&mark.generators);
        state.states.clone_from(&mark.states);
        for (cell, theta) in state.cells.iter_mut().zip(&mark.thetas) {
            cell.theta.clone_from(theta);
        }
        state
    }

    /// Advances by at least `steps` steps, or to the end.
    pub fn advance(
        &mut self,
        context: &Context,
        unit: &Unit,
        kernel: Kernel,
        scratch: &mut Scratch,
        steps: u64,
    ) {
        let end = (self.done + steps).min(context.plan.simulate);
        while self.done < end {
            mark(context, unit, self);
            let count = self.next_block(context);
            self.block(context, unit, kernel, scratch, count, |_, _| true);
            if context.cuts.binary_search(&self.done).is_ok() {
                self.record(context, unit);
            }
        }
        if self.done == context.plan.simulate {
            self.spreads = spreads(context, unit, self, kernel, scratch);
        }
    }

    /// The length of the next block, which ends at the next point of the curves or earlier.
    pub fn next_block(&self, context: &Context) -> usize {
        let cut = context.cuts.partition_point(|&cut| cut <= self.done);
        let next = context.cuts.get(cut).unwrap_or(&context.plan.simulate);
        (next - self.done).min(BLOCK as u64) as usize
    }

    /// Takes `count` steps with the wanted packs, given by bank and number.
    pub fn block(
        &mut self,
        context: &Context,
        unit: &Unit,
        kernel: Kernel,
        scratch: &mut Scratch,
        count: usize,
        wanted: impl Fn(usize, usize) -> bool,
    ) {
        scratch.weights(context, unit, kernel, self.done, count);
        for (group, generators) in self.generators.iter_mut().enumerate() {
            let (sampled, states) = (&mut scratch.groups[group], &mut self.states[group]);
            let work = Sample {
                sampled,
                context,
                unit,
                generators,
                states,
                draws: &mut scratch.draws,
                count,
            };
            kernel.run(work);
        }
        let mut rest = &mut self.cells[..];
        for (b, (bank, peaks)) in unit.banks.iter().zip(&mut self.peaks).enumerate() {
            let (cells, others) = rest.split_at_mut(bank.cells(context.plan.runs));
            rest = others;
            // All packs of a split bank have the same lanes and share their sums.
            let packs = if bank.split { 1 } else { bank.packs };
            let peaks = peaks.chunks_mut(bank.pack_lanes()).take(packs);
            for (pack, peaks) in peaks.enumerate().filter(|(pack, _)| wanted(b, *pack)) {
                scratch.sums[..=count].fill(Line::default());
                scratch.run_pack(context, kernel, (bank, pack), cells, count);
                let work = UpdatePeaks {
                    split: bank.split,
                    peaks,
                    sums: &scratch.sums[1..=count],
                    done: self.done,
                };
                kernel.run(work);
            }
        }
        self.decay_sum += scratch.totals[1];
        self.done += count as u64;
    }

    /// Records the learning curves.
    fn record(&mut self, context: &Context, unit: &Unit) {
        let plan = &context.plan;
        let mut records = self.records.iter_mut();
        let mut first_cell = 0;
        for bank in &unit.banks {
            let cell_count = bank.cells(plan.runs);
            let cells = &self.cells[first_cell..first_cell + cell_count];
            first_cell += cell_count;
            for (slot, outputs) in bank.outputs.iter().enumerate() {
                let weight = if bank.classes[slot / PACK].weighted {
                    self.decay_sum
                } else {
                    self.done as f64
                };
                for record in records.by_ref().take(outputs.len()) {
                    record.read(plan, self.done, weight, |run| {
                        let (cell, lane) = bank.place(run, slot);
                        let cell = &cells[cell];
                        (&cell.theta[lane..], &cell.average[lane..], cell.max[lane])
                    });
                }
            }
        }
    }
}

/// Scratch space of one thread.
#[derive(Debug)]
pub struct Scratch {
    groups: Vec<Sampled>,
    draws: Box<[[u64; GROUP]; CHUNK]>,
    sums: Vec<Line>,
    buckets: Vec<Line>,
    /// For each pattern of the unit, b_t of the steps.
    decays: Vec<Vec<f64>>,
    ones: Vec<f64>,
    /// Coefficients of the uniform and of the b_t-weighted average.
    coefficients: [Vec<f64>; 2],
    totals: [f64; 2],
}

impl Scratch {
    /// Scratch space for the units of a plan.
    pub fn new(context: &Context) -> Self {
        let states = context.plan.variants[0].states();
        let groups = context.plan.runs.div_ceil(GROUP);
        Self {
            groups: (0..groups).map(|_| Sampled::new(states)).collect(),
            draws: Box::new([[0; GROUP]; CHUNK]),
            sums: vec![Line::default(); BLOCK + 1],
            buckets: vec![Line::default(); states.min(BLOCK) * CELL / PACK],
            decays: Vec::new(),
            ones: vec![1.0; BLOCK],
            coefficients: [vec![0.0; BLOCK], vec![0.0; BLOCK]],
            totals: [0.0; 2],
        }
    }

    /// Advances one pack of all runs (all packs of a split bank) through the sampled block.
    fn run_pack(
        &mut self,
        context: &Context,
        kernel: Kernel,
        (bank, pack): (&Bank, usize),
        cells: &mut [CellState],
        count: usize,
    ) {
        let tables = context.tables(bank);
        let class = bank.classes[pack];
        let kind = usize::from(class.weighted);
        let weights = match class.weighted {
            true => &self.decays[0],
            false => &self.ones,
        };
        let line = |k: &[f64; CELL]| Line::new(std::array::from_fn(|i| k[pack * PACK + i]));
        let cells_of_group = if bank.split { 1 } else { GROUP };
        for (group, cells) in cells.chunks_mut(cells_of_group).enumerate() {
            let sampled = &self.groups[group];
            let block = Block {
                sharing: match bank.split {
                    true => Sharing::Split {
                        runs: (context.plan.runs - group * GROUP).min(GROUP),
                    },
                    false => Sharing::Broadcast { pack },
                },
                dimension: context.plan.variants[0].dimension,
                k1: line(&bank.k1),
                k0: line(&bank.k0),
                decay: &self.decays[class.pattern][..count],
                projection: class.projected.then(|| Projection {
                    radius: line(&bank.radius),
                    weights: &weights[..count],
                    after: context.plan.mode.is_theirs(),
                }),
                coefficients: &self.coefficients[kind][..count],
                weight: self.totals[kind],
                moves: &sampled.moves,
                buckets_at: &sampled.buckets_at,
                table: &tables.transitions,
                features: &tables.features,
                bucket_states: &sampled.bucket_states,
                bucket_count: sampled.bucket_count,
                bucket_capacity: sampled.capacity,
            };
            let (sums, buckets) = (&mut self.sums, &mut self.buckets);
            let mut job = Job {
                block,
                cells,
                sums,
                buckets,
            };
            job.run(kernel);
        }
    }

    /// Step size decays and the Abel coefficients x_t of the averages.
    ///
    /// Update i of the block's n contributes to the iterates after it. The published average counts the
    /// iterates after update i: x_i = n - i. Algorithm 1 counts the iterates before the updates
    /// i+1, .., n-1 with their weights w: x_i = w_{i+1} + .. + w_{n-1}.
    fn weights(&mut self, context: &Context, unit: &Unit, kernel: Kernel, done: u64, count: usize) {
        self.decays
            .resize_with(unit.patterns.len(), || vec![0.0; BLOCK]);
        for (pattern, decays) in unit.patterns.iter().zip(&mut self.decays) {
            pattern.fill(kernel, done, &mut decays[..count]);
        }
        let published = context.plan.mode.is_theirs();
        let (mut uniform, mut weighted) = (0.0, 0.0);
        for i in (0..count).rev() {
            let own = if published { 1.0 } else { 0.0 };
            self.coefficients[0][i] = uniform + own;
            self.coefficients[1][i] = weighted;
            uniform += 1.0;
            weighted += self.decays[0][i];
        }
        self.totals = [uniform, weighted];
    }
}
