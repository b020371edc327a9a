//! Arranges the lanes of a plan into units of work that share trajectories.
//!
//! A unit is independent of all others and holds banks of lanes driven by the same trajectories. In
//! algorithm mode a bank has up to 32 lanes of one variant, and every run has its own cell. In
//! published mode a trajectory belongs to one (c, run); a bank has four lanes, two variants times
//! two families, and a cell holds eight runs.
//!
//! A variant whose features are exactly 2^k times those of another needs no lanes of its own: its
//! iterates are 2^-k times the other's to the bit (see [`Tables::binary_scale_of`]).
//!
//! [`Tables::binary_scale_of`]: crate::tables::Tables::binary_scale_of

use std::collections::HashMap;

use crate::generators::GROUP;
use crate::kernel::{CELL, PACK, QUAD};
use crate::plan::{Family, Lane, Mode, Plan};

/// A lane of the plan that a computed lane represents: its iterates are 2^-exponent times the
/// computed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Index of the lane in the plan.
    pub lane: usize,
    /// Exponent k: its features are 2^k times the computed ones.
    pub exponent: i32,
}

/// Lanes that advance together.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Whether a trajectory drives four lanes of two variants, or all lanes of one.
    pub split: bool,
    /// The variants of the even and odd lanes.
    pub variants: [usize; 2],
    /// Packs in use when a cell is full.
    pub packs: usize,
    /// The plan lanes that each of the 32 (broadcast) or 4 (split) lanes represents.
    pub outputs: Vec<Vec<Output>>,
    /// Step sizes eta = b_t k1 + k0.
    pub k1: [f64; CELL],
    /// See `k1`.
    pub k0: [f64; CELL],
    /// Per pack: whether averages are weighted by b_t.
    pub weighted: [bool; CELL / PACK],
}

/// An independent unit of work of the sweep.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The c whose bits seed the trajectories, in published mode.
    pub c: Option<f64>,
    /// Banks that share the trajectories.
    pub banks: Vec<Bank>,
}

impl Unit {
    /// The number of lanes that are computed, not copied.
    pub fn computed_lanes(&self) -> usize {
        self.banks
            .iter()
            .flat_map(|b| &b.outputs)
            .filter(|o| !o.is_empty())
            .count()
    }
}

/// Arranges a validated plan.
pub fn arrange(plan: &Plan) -> Vec<Unit> {
    let computed = computed_lanes(plan);
    match plan.mode {
        Mode::Published => published(plan, &computed),
        Mode::Algorithm { .. } => algorithm(plan, &computed),
    }
}

/// The lanes to compute, in plan order, with the plan lanes they represent.
pub fn computed_lanes(plan: &Plan) -> Vec<(Lane, Vec<Output>)> {
    let key = |variant: usize, lane: &Lane| (variant, lane.family, lane.c.to_bits());
    let present: std::collections::HashSet<_> = plan
        .lanes
        .iter()
        .map(|lane| key(lane.variant, lane))
        .collect();
    let copies: Vec<Vec<(usize, i32)>> = (0..plan.variants.len())
        .map(|v| {
            let scale = |base: usize| plan.variants[v].binary_scale_of(&plan.variants[base]);
            (0..v)
                .filter_map(|base| scale(base).map(|k| (base, k)))
                .collect()
        })
        .collect();
    let mut computed: Vec<(Lane, Vec<Output>)> = Vec::new();
    let mut position = HashMap::new();
    for (index, lane) in plan.lanes.iter().enumerate() {
        let copy = copies[lane.variant]
            .iter()
            .find(|(base, _)| lane.family != Family::Plain && present.contains(&key(*base, lane)));
        let (base, exponent) = copy.copied().unwrap_or((lane.variant, 0));
        let at = *position.entry(key(base, lane)).or_insert_with(|| {
            computed.push((
                Lane {
                    variant: base,
                    ..*lane
                },
                Vec::new(),
            ));
            computed.len() - 1
        });
        computed[at].1.push(Output {
            lane: index,
            exponent,
        });
    }
    computed
}

/// One unit per c; banks of two variants times two families.
fn published(plan: &Plan, computed: &[(Lane, Vec<Output>)]) -> Vec<Unit> {
    distinct(computed.iter().map(|(lane, _)| lane.c.to_bits()))
        .into_iter()
        .map(|bits| {
            let lanes: Vec<_> = computed
                .iter()
                .filter(|(l, _)| l.c.to_bits() == bits)
                .collect();
            let variants = distinct(lanes.iter().map(|(l, _)| l.variant));
            let families = distinct(lanes.iter().map(|(l, _)| l.family));
            let mut banks = Vec::new();
            for pair in variants.chunks(2) {
                for two in families.chunks(2) {
                    let mut bank = Bank::empty(true, [pair[0], *pair.last().unwrap_or(&pair[0])]);
                    bank.packs = CELL / PACK;
                    for (f, &family) in two.iter().enumerate() {
                        for (v, &variant) in pair.iter().enumerate() {
                            let found = lanes
                                .iter()
                                .find(|(l, _)| l.family == family && l.variant == variant);
                            if let Some((lane, outputs)) = found {
                                bank.put(plan, 2 * f + v, lane, outputs);
                            }
                        }
                    }
                    banks.push(bank);
                }
            }
            Unit {
                c: Some(f64::from_bits(bits)),
                banks,
            }
        })
        .collect()
}

/// One unit per 32 lanes of one variant; a pack has only one kind of average.
fn algorithm(plan: &Plan, computed: &[(Lane, Vec<Output>)]) -> Vec<Unit> {
    let mut units = Vec::new();
    for variant in distinct(computed.iter().map(|(lane, _)| lane.variant)) {
        let mut packs = Vec::new();
        for weighted in [true, false] {
            let lanes: Vec<_> = computed
                .iter()
                .filter(|(l, _)| l.variant == variant && plan.weighted(l.family) == weighted)
                .collect();
            packs.extend(lanes.chunks(PACK).map(|pack| (weighted, pack.to_vec())));
        }
        for four in packs.chunks(CELL / PACK) {
            let mut bank = Bank::empty(false, [variant; 2]);
            bank.packs = four.len();
            for (p, (weighted, lanes)) in four.iter().enumerate() {
                bank.weighted[p] = *weighted;
                for (i, (lane, outputs)) in lanes.iter().enumerate() {
                    bank.put(plan, p * PACK + i, lane, outputs);
                }
            }
            units.push(Unit {
                c: None,
                banks: vec![bank],
            });
        }
    }
    units
}

impl Bank {
    fn empty(split: bool, variants: [usize; 2]) -> Self {
        Self {
            split,
            variants,
            packs: 0,
            outputs: vec![Vec::new(); if split { QUAD } else { CELL }],
            k1: [0.0; CELL],
            k0: [0.0; CELL],
            weighted: [false; CELL / PACK],
        }
    }

    /// Lanes of a pack.
    pub fn pack_lanes(&self) -> usize {
        if self.split { QUAD } else { PACK }
    }

    /// The number of cells for `runs` runs.
    pub fn cells(&self, runs: usize) -> usize {
        if self.split {
            runs.div_ceil(GROUP)
        } else {
            runs
        }
    }

    /// The cell of a run, and the position of lane `slot` in it.
    pub fn place(&self, run: usize, slot: usize) -> (usize, usize) {
        if self.split {
            (run / GROUP, QUAD * (run % GROUP) + slot)
        } else {
            (run, slot)
        }
    }

    /// Puts a lane into a slot (of all eight trajectories of a split bank).
    fn put(&mut self, plan: &Plan, slot: usize, lane: &Lane, outputs: &[Output]) {
        let (k1, k0) = plan.step_size(lane);
        let step = if self.split { QUAD } else { CELL };
        for at in (slot..CELL).step_by(step) {
            self.k1[at] = k1;
            self.k0[at] = k0;
        }
        self.outputs[slot] = outputs.to_vec();
    }
}

/// The distinct values in order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
