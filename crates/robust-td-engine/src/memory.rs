//! Estimates the memory of sweeps and contests, to be compared with a limit before it is taken.

use crate::contest::Contest;
use crate::error::{Error, Result};
use crate::exact::{Layout, WIDTH};
use crate::generators::GROUP;
use crate::kernel::CELL;
use crate::plan::{Mode, Plan};
use crate::tables::Tables;
use crate::unit::BLOCK;

/// Bytes per trajectory of Julia's generator; the others need less than a line.
const DSFMT: u64 = 400 * 8;
const GENERATOR: u64 = 64;
/// Copies of a unit in progress: itself, its marks, as deposited, and as written to the checkpoint.
const COPIES: u64 = 5;
/// Bytes per step and trajectory of a sampled block: draws, rows and buckets.
const SAMPLED: u64 = 24;
/// The same for contests, whose blocks have this number of steps.
const CONTEST_BLOCK: u64 = 2048;
/// Numbers of a lane that are kept per run: gap, final and largest norm, twice.
const KEPT: u64 = 6 * 8;

/// Refuses what needs more than the limit, if there is one.
pub(crate) fn check(runs: usize, needed: u64, limit: Option<u64>) -> Result<()> {
    match limit {
        Some(limit) if needed > limit => Err(Error::Memory {
            runs,
            needed,
            limit,
        }),
        _ => Ok(()),
    }
}

/// Refuses the expectations of a plan that need more than the limit, if there is one.
pub(crate) fn check_exact(plan: &Plan, threads: usize, limit: Option<u64>) -> Result<()> {
    let needed = plan.exact_memory(threads);
    match (limit, plan.variants.first()) {
        (Some(limit), Some(tables)) if needed > limit => Err(Error::ExactMemory {
            states: tables.states(),
            features: tables.dimension,
            needed,
            limit,
        }),
        _ => Ok(()),
    }
}

fn product(factors: &[u64]) -> u64 {
    factors
        .iter()
        .fold(1, |product, factor| product.saturating_mul(*factor))
}

impl Plan {
    /// The bytes that a sampled sweep needs, about.
    #[must_use]
    pub fn memory(&self, threads: usize) -> u64 {
        let (runs, lanes) = (self.runs as u64, self.lanes.len() as u64);
        let tables = self.variants.first();
        let dimension = tables.map_or(0, |tables| tables.dimension as u64);
        let states = tables.map_or(0, |tables| tables.states() as u64);
        let (cells, generator) = match self.mode {
            Mode::Algorithm { .. } => (runs, GENERATOR),
            Mode::Tdx => (runs.div_ceil(GROUP as u64), GENERATOR),
            Mode::Published => (runs.div_ceil(GROUP as u64), DSFMT),
        };
        // Lanes that share trajectories are in banks of a cell each.
        let banks = match self.mode {
            Mode::Algorithm { .. } => lanes.div_ceil(CELL as u64),
            Mode::Tdx | Mode::Published => lanes.min(self.variants.len() as u64 * 4),
        };
        let cell = product(&[8 * CELL as u64, 2 * dimension + 1]);
        let unit = product(&[cells, banks, cell]).saturating_add(product(&[runs, generator]));
        let buckets = states.min(BLOCK as u64) * 4
            + if states > BLOCK as u64 {
                16 * states
            } else {
                0
            };
        let sampled = product(&[runs, SAMPLED * BLOCK as u64 + buckets]);
        let each = product(&[COPIES, unit]).saturating_add(sampled);
        product(&[threads as u64, each]).saturating_add(product(&[lanes, runs, KEPT]))
    }
}

impl Plan {
    /// The bytes that the expectations of a sweep need, about.
    #[must_use]
    pub fn exact_memory(&self, threads: usize) -> u64 {
        let bytes = |tables: &Tables| {
            let (n, d) = (tables.states() as u64, tables.dimension as u64);
            let edges = tables.rows.iter().map(|row| row.columns.len() as u64).sum();
            // Edges with their psi, the features, and the form.
            let chain = product(&[edges, 48 + 8 * d]).saturating_add(8 * d * (n + d));
            // A row of moments per state, and spare ones.
            let length = Layout::new(tables.dimension).len() as u64;
            (chain, product(&[2 * n, length, 8 * WIDTH as u64]))
        };
        let each: Vec<(u64, u64)> = self.variants.iter().map(bytes).collect();
        let chains = each.iter().map(|(chain, _)| *chain);
        let unit = each.iter().map(|(_, unit)| *unit).max().unwrap_or(0);
        let units = product(&[threads as u64, COPIES, unit]);
        chains.fold(units, u64::saturating_add)
    }
}

impl Contest {
    /// Refuses a contest that needs more memory than the limit, with or without a checkpoint.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn check_memory(&self, checkpoint: bool, limit: Option<u64>) -> Result<()> {
        check(self.runs, self.memory(checkpoint), limit)
    }

    /// The bytes that a contest needs, about; with a checkpoint the state is copied, encoded, collected, and read back.
    #[must_use]
    pub fn memory(&self, checkpoint: bool) -> u64 {
        let runs = self.runs as u64;
        let learners = self.entrants.iter().map(|entrant| {
            // What is saved of a learner is most of what it holds.
            let copies = if checkpoint { 2 + COPIES } else { 2 };
            copies * crate::checkpoint::encode(&entrant.learner).len() as u64 + 256
        });
        let each = learners.fold(0, u64::saturating_add);
        let lanes = product(&[
            runs.div_ceil(GROUP as u64),
            64 * CONTEST_BLOCK,
            self.entrants.len() as u64,
        ]) / 8;
        let sampled = product(&[runs, 2 * SAMPLED * CONTEST_BLOCK / 3]);
        let kept = product(&[runs, self.entrants.len() as u64, KEPT]);
        product(&[runs, each])
            .saturating_add(lanes)
            .saturating_add(sampled)
            .saturating_add(kept)
    }
}
