//! Arranges the lanes of a plan into units of work that share trajectories.
//!
//! A unit is independent of all others and holds banks of lanes driven by the same trajectories. In
//! algorithm mode a bank has up to 32 lanes of one variant, and every run has its own cell. In
//! the authors' modes a trajectory belongs to one (c, run); a bank has four lanes, two variants times
//! two rules (step sizes and projection) or one variant times four, and a cell holds eight runs. The step sizes of a pack
//! all follow one pattern, and either all of its lanes are projected or none.
//!
//! A variant whose features are exactly 2^k times those of another needs no lanes of its own: its
//! iterates are 2^-k times the other's to the bit (see [`Tables::binary_scale_of`]).
//!
//! [`Tables::binary_scale_of`]: crate::tables::Tables::binary_scale_of

use std::collections::HashMap;

use crate::family::{Family, Projection};
use crate::generators::GROUP;
use crate::kernel::{CELL, PACK, QUAD};
use crate::plan::{Lane, Plan};
use crate::schedule::Pattern;

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
    /// The radii of the projections.
    pub radius: [f64; CELL],
    /// What the lanes of each pack have in common.
    pub classes: [Class; CELL / PACK],
}

/// What the lanes of a pack have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// How the step sizes fall: index in [`Unit::patterns`].
    pub pattern: usize,
    /// Whether averages are weighted by b_t.
    pub weighted: bool,
    /// Whether iterates are projected.
    pub projected: bool,
}

/// An independent unit of work of the sweep.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The c whose bits seed the trajectories, in published mode.
    pub c: Option<f64>,
    /// Banks that share the trajectories.
    pub banks: Vec<Bank>,
    /// How step sizes fall; the first is that of [`Family::Decaying`](crate::plan::Family), whose b_t are the weights of weighted averages.
    pub patterns: Vec<Pattern>,
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
    match plan.mode.is_theirs() {
        true => published(plan, &computed),
        false => algorithm(plan, &computed),
    }
}

/// The patterns of a unit, that of the decaying family first.
fn patterns(plan: &Plan, computed: &[(Lane, Vec<Output>)]) -> Vec<Pattern> {
    let own = computed.iter().map(|(lane, _)| plan.pattern(lane.family));
    distinct([plan.pattern(Family::Decaying)].into_iter().chain(own))
}

/// What a lane has in common with those of its pack.
fn class(plan: &Plan, patterns: &[Pattern], lane: &Lane) -> Class {
    let own = plan.pattern(lane.family);
    Class {
        pattern: patterns.iter().position(|p| *p == own).unwrap_or(0),
        weighted: plan.weighted(lane.family),
        projected: lane.projection != Projection::None,
    }
}

/// The lanes to compute, in plan order, with the plan lanes they represent.
pub fn computed_lanes(plan: &Plan) -> Vec<(Lane, Vec<Output>)> {
    let key = |variant: usize, lane: &Lane| {
        let rule = (lane.family, lane.projection);
        (variant, rule, lane.c.to_bits())
    };
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
        // A radius follows the features only up to rounding.
        let scales = lane.family.follows_features() && lane.projection == Projection::None;
        let copy = copies[lane.variant]
            .iter()
            .find(|(base, _)| scales && present.contains(&key(*base, lane)));
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

/// One unit per c; banks of two variants times two rules, or of one variant times four.
fn published(plan: &Plan, computed: &[(Lane, Vec<Output>)]) -> Vec<Unit> {
    let patterns = patterns(plan, computed);
    distinct(computed.iter().map(|(lane, _)| lane.c.to_bits()))
        .into_iter()
        .map(|bits| {
            let lanes: Vec<_> = computed
                .iter()
                .filter(|(l, _)| l.c.to_bits() == bits)
                .collect();
            let variants = distinct(lanes.iter().map(|(l, _)| l.variant));
            let classes = distinct(lanes.iter().map(|(l, _)| class(plan, &patterns, l)));
            let mut banks = Vec::new();
            for pair in variants.chunks(2) {
                for &class_of_bank in &classes {
                    let own = lanes
                        .iter()
                        .filter(|(l, _)| class(plan, &patterns, l) == class_of_bank);
                    let rules = distinct(own.map(|(l, _)| (l.family, l.projection)));
                    for some in rules.chunks(QUAD / pair.len()) {
                        let last = *pair.last().unwrap_or(&pair[0]);
                        let mut bank = Bank::empty(true, [pair[0], last]);
                        bank.packs = CELL / PACK;
                        bank.classes = [class_of_bank; CELL / PACK];
                        for (r, &rule) in some.iter().enumerate() {
                            for (v, &variant) in pair.iter().enumerate() {
                                let found = lanes.iter().find(|(l, _)| {
                                    (l.family, l.projection) == rule && l.variant == variant
                                });
                                if let Some((lane, outputs)) = found {
                                    bank.put(plan, pair.len() * r + v, lane, outputs);
                                }
                            }
                        }
                        banks.push(bank);
                    }
                }
            }
            Unit {
                c: Some(f64::from_bits(bits)),
                banks,
                patterns: patterns.clone(),
            }
        })
        .collect()
}

/// One unit per 32 lanes of one variant; the lanes of a pack are of one class.
fn algorithm(plan: &Plan, computed: &[(Lane, Vec<Output>)]) -> Vec<Unit> {
    let patterns = patterns(plan, computed);
    let mut units = Vec::new();
    for variant in distinct(computed.iter().map(|(lane, _)| lane.variant)) {
        let own = computed.iter().filter(|(l, _)| l.variant == variant);
        let mut packs = Vec::new();
        let mut classes = distinct(own.clone().map(|(l, _)| class(plan, &patterns, l)));
        // Weighted averages first.
        classes.sort_by_key(|class| !class.weighted);
        for of_pack in classes {
            let lanes: Vec<_> = own
                .clone()
                .filter(|(l, _)| class(plan, &patterns, l) == of_pack)
                .collect();
            packs.extend(lanes.chunks(PACK).map(|pack| (of_pack, pack.to_vec())));
        }
        for four in packs.chunks(CELL / PACK) {
            let mut bank = Bank::empty(false, [variant; 2]);
            bank.packs = four.len();
            for (p, (class, lanes)) in four.iter().enumerate() {
                bank.classes[p] = *class;
                for (i, (lane, outputs)) in lanes.iter().enumerate() {
                    bank.put(plan, p * PACK + i, lane, outputs);
                }
            }
            units.push(Unit {
                c: None,
                banks: vec![bank],
                patterns: patterns.clone(),
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
            radius: [f64::INFINITY; CELL],
            classes: [Class::default(); CELL / PACK],
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
            self.radius[at] = plan.radius(lane);
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
