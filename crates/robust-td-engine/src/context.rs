//! Prepares the data that all units of a plan share: the sampler and the tables of the kernels.

use std::collections::HashMap;

use crate::generators::{DsfmtGroup, GROUP, Generators, SplitMixGroup, StreamGroup};
use crate::grid::published_seed;
use crate::layout::{Bank, Unit, arrange};
use crate::plan::{Mode, Plan};
use crate::sampler::Sampler;
use crate::tables::Tables;

/// Rows of numbers read by the kernels.
#[derive(Clone, Debug)]
pub struct KernelTables {
    /// For each transition r, psi = gamma phi' - phi, phi (in pairs of variants when split).
    pub transitions: Vec<f64>,
    /// For each state phi (in pairs of variants when split).
    pub features: Vec<f64>,
    /// Length of a row of `transitions`.
    pub stride: usize,
}

/// A plan, arranged and tabulated.
#[derive(Debug)]
pub struct Context {
    /// The plan.
    pub plan: Plan,
    /// Its units.
    pub units: Vec<Unit>,
    /// Steps at which blocks end so that curves can be recorded.
    pub cuts: Vec<u64>,
    /// The chain.
    pub sampler: Sampler,
    tables: HashMap<(bool, [usize; 2]), KernelTables>,
}

impl Context {
    /// Prepares a validated plan.
    pub fn new(plan: Plan) -> Self {
        let units = arrange(&plan);
        let bits = match plan.mode {
            Mode::Published => 52,
            Mode::Algorithm { .. } | Mode::Tdx => 53,
        };
        let sampler = Sampler::new(&plan.variants[0], bits, plan.mode != Mode::Tdx);
        let mut tables = HashMap::new();
        for bank in units.iter().flat_map(|u| &u.banks) {
            tables
                .entry((bank.split, bank.variants))
                .or_insert_with(|| tabulate(&plan.variants, &sampler, bank));
        }
        let cuts = plan.curve_steps();
        Self {
            plan,
            units,
            cuts,
            sampler,
            tables,
        }
    }

    /// The tables of a bank.
    pub fn tables(&self, bank: &Bank) -> &KernelTables {
        &self.tables[&(bank.split, bank.variants)]
    }

    /// The generators of a unit's runs, eight at a time.
    pub fn generators(&self, unit: &Unit) -> Vec<Generators> {
        (0..self.plan.runs.div_ceil(GROUP))
            .map(|group| {
                let first = (group * GROUP) as u64;
                let c = unit.c.unwrap_or(0.0);
                let seed = |g: usize| published_seed(c, first + g as u64 + 1);
                match self.plan.mode {
                    Mode::Published => {
                        Generators::Dsfmt(DsfmtGroup::new(std::array::from_fn(seed)))
                    }
                    Mode::Tdx => {
                        Generators::SplitMix(SplitMixGroup::new(std::array::from_fn(seed)))
                    }
                    Mode::Algorithm { seed } => Generators::Stream(StreamGroup::new(seed, first)),
                }
            })
            .collect()
    }

    /// The number of lane-steps that the plan computes.
    pub fn lane_steps(&self) -> u64 {
        let lanes: usize = self.units.iter().map(Unit::computed_lanes).sum();
        let lanes = (lanes as u64).saturating_mul(self.plan.runs as u64);
        lanes.saturating_mul(self.plan.simulate)
    }
}

/// The rows of a bank's variants.
fn tabulate(variants: &[Tables], sampler: &Sampler, bank: &Bank) -> KernelTables {
    let used = if bank.split { 2 } else { 1 };
    let tables: Vec<&Tables> = bank.variants[..used]
        .iter()
        .map(|&v| &variants[v])
        .collect();
    let (n, d) = (tables[0].states(), tables[0].dimension);
    let mut transitions = Vec::new();
    for (s, next) in sampler.transitions() {
        let row = &tables[0].rows[s];
        // Padding entries are never taken, so any reward works.
        let at = row
            .columns
            .iter()
            .position(|&column| column as usize == next);
        let reward = at.map_or(0.0, |i| row.rewards[i]);
        transitions.extend(tables.iter().map(|_| reward));
        for j in 0..d {
            let psi = |t: &&Tables| t.discount * t.phi(next)[j] - t.phi(s)[j];
            transitions.extend(tables.iter().map(psi));
        }
        for j in 0..d {
            transitions.extend(tables.iter().map(|t| t.phi(s)[j]));
        }
    }
    let mut features = Vec::with_capacity(n * d * used);
    for s in 0..n {
        for j in 0..d {
            features.extend(tables.iter().map(|t| t.phi(s)[j]));
        }
    }
    KernelTables {
        transitions,
        features,
        stride: (2 * d + 1) * used,
    }
}
