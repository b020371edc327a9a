//! Adds up the equations of a log, in one pass.

use std::sync::atomic::{AtomicUsize, Ordering};

use robust_td_core::equations::Equations;
use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Features, Transition};
use robust_td_core::sparse::SparseSums;
use serde::{Deserialize, Serialize};

use super::unit::{Groups, Unit, Units};
use crate::chunks::{Chunk, PassCounts, Placed, Run, TransitionSink, for_each_chunk};
use crate::error::Result;
use crate::fold::{Fold, Merge};
use crate::replay::Replay;
use crate::sample::Sample;

/// The maximum number of features for dense sums. At this number they take 128 megabytes each.
pub(super) const LARGEST: usize = 4000;
/// The minimum number of features for a sparse matrix.
const FEWEST_SPARSE: usize = 1000;
/// A sparse matrix needs this number of features for each pair of nonzero ones in a row.
const PER_PAIR: usize = 8;

/// The number of transitions in a chunk with dense sums: making these takes some 200 times the time of adding them up.
pub(crate) const DENSE_CHUNK: u64 = 4096;
/// The smallest number of transitions in a chunk with other sums, whose addition costs more; and their number per feature.
const SHORTEST_CHUNK: u64 = 16_384;
const PER_FEATURE: u64 = 64;

/// How the equations are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// As a dense matrix.
    Dense,
    /// As a sparse matrix, as long as it fits.
    Sparse,
    /// Without a matrix.
    Products,
}

impl Route {
    /// The route for a map.
    pub fn of(map: &FeatureMap) -> Self {
        let (d, (here, next)) = (map.outputs(), map.nonzero());
        let is_sparse = map.is_sparse() && PER_PAIR * here * next <= d;
        match d {
            _ if is_sparse && d >= FEWEST_SPARSE => Self::Sparse,
            _ if d <= LARGEST => Self::Dense,
            _ => Self::Products,
        }
    }
}

/// What all passes over a log need to know.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub map: &'a FeatureMap,
    pub discount: f64,
    pub unit: Unit,
    /// Whether the value of the policy is that of the first rows of episodes; otherwise it is that of all rows.
    pub episodic: bool,
    /// Whether rows of several episodes are interleaved.
    pub interleaved: bool,
    /// The number of transitions, as far as it is known.
    pub transitions: u64,
    /// Whether some units are held out to check the features.
    pub holds_out: bool,
    /// Whether that check is made.
    pub checks: bool,
    pub threads: usize,
    pub limit: Option<u64>,
}

impl Plan<'_> {
    /// The number of transitions in a chunk, such that adding up the sums of chunks costs little beside making them, and that there
    /// are chunks for several threads.
    pub fn chunk_length(&self) -> u64 {
        match Route::of(self.map) {
            Route::Dense => DENSE_CHUNK,
            _ => SHORTEST_CHUNK.max(PER_FEATURE * self.map.outputs().min(LARGEST) as u64),
        }
    }
}

/// The sums of the equations, and of the features of the starts.
pub(super) trait Sums: Sized + Clone + Send {
    /// No transitions; `most` is the number of entries that a sparse matrix may have.
    fn new(plan: &Plan<'_>, most: usize) -> Result<Self>;
    fn count(&self) -> u64;
    fn add(&mut self, transition: &Transition<'_>);
    fn add_run(&mut self, run: &Run<'_>) {
        run.transitions()
            .for_each(|transition| self.add(&transition));
    }
    fn add_start(&mut self, phi: &Features<'_>);
    /// Finishes the work of a part that needs no other.
    fn end(&mut self) {}
    fn merge(&mut self, other: Self);
    /// Whether the matrix is left out.
    fn lacks_matrix(&self) -> bool {
        false
    }
}

/// Dense sums.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Dense {
    pub equations: Equations,
    pub start_features: Vec<f64>,
}

impl Sums for Dense {
    fn new(plan: &Plan<'_>, _: usize) -> Result<Self> {
        let d = plan.map.outputs();
        Ok(Self {
            equations: Equations::new(d, plan.discount)?,
            start_features: vec![0.0; d],
        })
    }

    fn count(&self) -> u64 {
        self.equations.count()
    }

    fn add(&mut self, transition: &Transition<'_>) {
        self.equations.add(transition);
    }

    fn add_run(&mut self, run: &Run<'_>) {
        let Run {
            phi, next, ratios, ..
        } = *run;
        self.equations.add_rows(phi, next, run.rewards, ratios);
    }

    fn add_start(&mut self, phi: &Features<'_>) {
        phi.axpy(1.0, &mut self.start_features);
    }

    fn end(&mut self) {
        self.equations.flush();
    }

    fn merge(&mut self, other: Self) {
        self.equations.merge(other.equations);
        let features = self.start_features.iter_mut().zip(&other.start_features);
        features.for_each(|(sum, x)| *sum += x);
    }
}

/// Sparse sums, with a limit.
#[derive(Clone)]
pub(super) struct Sparse {
    pub sums: SparseSums,
    most: usize,
}

impl Sums for Sparse {
    fn new(plan: &Plan<'_>, most: usize) -> Result<Self> {
        let sums = SparseSums::new(plan.map.outputs(), plan.discount, most > 0)?;
        Ok(Self { sums, most })
    }

    fn count(&self) -> u64 {
        self.sums.count()
    }

    fn add(&mut self, transition: &Transition<'_>) {
        self.sums.add(transition);
    }

    fn add_start(&mut self, phi: &Features<'_>) {
        self.sums.add_start(*phi);
    }

    fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        if self.sums.has_matrix() && self.sums.stored() > self.most {
            self.sums.leave_out_matrix();
        }
    }

    fn lacks_matrix(&self) -> bool {
        !self.sums.has_matrix()
    }
}

/// The sums over a log.
#[derive(Serialize, Deserialize)]
pub(super) struct Gathered<S> {
    /// Of what is not held out, and of what is.
    kept: S,
    held_out: Option<S>,
    summary: Summary,
}

/// What is known about a log beside its equations.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Summary {
    pub phi_inf: f64,
    /// The number of rows that the value of the policy is the mean of.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub starts: u64,
    pub units: Units,
    pub sample: Sample,
    #[serde(skip)]
    pub counts: PassCounts,
}

impl<S: Sums> Gathered<S> {
    fn new(plan: &Plan<'_>, most: usize) -> Result<Self> {
        let sums = || S::new(plan, most);
        Ok(Self {
            kept: sums()?,
            held_out: plan.holds_out.then(sums).transpose()?,
            summary: Summary::default(),
        })
    }

    /// Makes the pass.
    ///
    /// # Errors
    /// Those of reading.
    pub fn take(replay: &mut Replay<'_>, plan: &Plan<'_>, most: usize) -> Result<Self> {
        let mut all = Self::new(plan, most)?;
        // Once the matrix is left out, no chunk needs to add it up.
        let most = AtomicUsize::new(most);
        let counts = for_each_chunk(
            replay,
            plan,
            |chunk| part(chunk, plan, most.load(Ordering::Relaxed)),
            |part| {
                all.merge(part?);
                if all.kept.lacks_matrix() {
                    most.store(0, Ordering::Relaxed);
                }
                Ok(())
            },
        )?;
        Ok(all.counted(counts))
    }

    /// Makes one pass over a log, or a node of it, for several plans, which differ in their discounts.
    ///
    /// # Errors
    /// Those of reading.
    pub fn fold(
        replay: &mut Replay<'_>,
        plans: &[Plan<'_>],
    ) -> Result<(Fold<Vec<Self>>, PassCounts)> {
        let mut fold = Fold::default();
        let Some(first) = plans.first() else {
            return Ok((fold, PassCounts::default()));
        };
        let counts = for_each_chunk(
            replay,
            first,
            |chunk| {
                let parts = plans.iter().map(|plan| part(chunk, plan, 0));
                parts.collect::<Result<Vec<_>>>()
            },
            |parts| {
                fold.push(parts?);
                Ok(())
            },
        )?;
        Ok((fold, counts))
    }

    /// The sums of a log from what its nodes give.
    pub fn finish(
        fold: Fold<Vec<Self>>,
        plans: &[Plan<'_>],
        counts: PassCounts,
    ) -> Result<Vec<Self>> {
        let all = plans.iter().map(|plan| Self::new(plan, 0));
        let mut all = all.collect::<Result<Vec<_>>>()?;
        all.merge(fold.finish().unwrap_or_default());
        Ok(all.into_iter().map(|each| each.counted(counts)).collect())
    }

    fn counted(mut self, counts: PassCounts) -> Self {
        self.summary.counts = counts;
        self.summary.phi_inf = self.summary.phi_inf.sqrt();
        self
    }

    /// The sums of all transitions, and those of what is kept if something is held out for the check.
    pub fn split(self, checks: bool) -> (S, Option<S>, Summary) {
        let Self {
            mut kept,
            held_out,
            summary,
        } = self;
        let held_out = held_out.filter(|held_out| held_out.count() > 0);
        let copy = (checks && held_out.is_some()).then(|| kept.clone());
        if let Some(held_out) = held_out {
            kept.merge(held_out);
        }
        (kept, copy, summary)
    }
}

impl<S: Sums> Merge for Gathered<S> {
    fn merge(&mut self, part: Self) {
        self.kept.merge(part.kept);
        if let (Some(all), Some(part)) = (&mut self.held_out, part.held_out) {
            all.merge(part);
        }
        self.summary.merge(part.summary);
    }
}

impl Gathered<Dense> {
    /// Whether its sizes are those of a map.
    pub fn fits(&self, features: usize, inputs: usize, holds_out: bool) -> bool {
        let sums = [Some(&self.kept), self.held_out.as_ref()];
        let mut sums = sums.into_iter().flatten();
        self.held_out.is_some() == holds_out
            && self.summary.sample.fits(inputs)
            && sums.all(|sums| {
                sums.equations.dimension() == features && sums.start_features.len() == features
            })
    }
}

impl Summary {
    fn merge(&mut self, part: Self) {
        self.phi_inf = self.phi_inf.max(part.phi_inf);
        self.starts += part.starts;
        let units = part.units.keys().into_iter();
        units.for_each(|key| self.units.add(key));
        self.sample.merge(part.sample);
    }

    /// The number of independent units.
    pub fn unit_count(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Time => self.counts.transitions,
            Unit::Episode => self.counts.runs,
            _ => self.units.count(),
        }
    }

    /// The groups of transitions for the error, at most this number.
    pub fn groups(&self, unit: Unit, most: usize) -> Groups {
        Groups::new(unit, self.unit_count(unit), &self.units, most)
    }
}

/// The sums of one chunk; `phi_inf` is still squared.
fn part<S: Sums>(chunk: &Chunk, plan: &Plan<'_>, most: usize) -> Result<Gathered<S>> {
    let mut gathering = Gathering {
        part: Gathered::<S>::new(plan, most)?,
        plan,
    };
    chunk.send_to(plan.map, &mut gathering);
    let mut part = gathering.part;
    part.kept.end();
    part.held_out.iter_mut().for_each(Sums::end);
    Ok(part)
}

/// The sums of a chunk so far.
struct Gathering<'a, S> {
    part: Gathered<S>,
    plan: &'a Plan<'a>,
}

impl<S: Sums> TransitionSink for Gathering<'_, S> {
    fn one(&mut self, placed: &Placed<'_>) {
        let Self { part, plan } = self;
        let (transition, phi) = (&placed.transition, &placed.transition.features);
        match &mut part.held_out {
            Some(held_out) if plan.unit.is_held_out(placed, plan.transitions) => {
                held_out.add(transition);
            }
            _ => part.kept.add(transition),
        }
        let summary = &mut part.summary;
        if !plan.episodic || placed.starts {
            // Starts are not held out.
            part.kept.add_start(placed.own());
            summary.starts += 1;
        }
        let next = transition.outcome.next_features();
        let next = next.map_or(0.0, |next| next.norm_sq());
        summary.phi_inf = summary.phi_inf.max(phi.norm_sq()).max(next);
        if plan.unit.is_named() {
            summary.units.add(plan.unit.key(placed));
        }
        summary.sample.consider(placed, plan.transitions);
    }

    fn run(&mut self, run: &Run<'_>) {
        let Self { part, plan } = self;
        match &mut part.held_out {
            Some(held_out) => run.split(
                |number| (plan.unit).part(plan.unit.key_in(run, number), plan.transitions),
                |part_of_log, run| match plan.unit.holds_out_part(part_of_log) {
                    true => held_out.add_run(run),
                    false => part.kept.add_run(run),
                },
            ),
            None => part.kept.add_run(run),
        }
        let (summary, d) = (&mut part.summary, plan.map.outputs());
        if !plan.episodic {
            let rows = run.phi.chunks_exact(d);
            rows.for_each(|phi| part.kept.add_start(&Features::Dense(phi)));
            summary.starts += run.len() as u64;
        }
        let rows = run.phi.chunks_exact(d).chain(run.own_next(d));
        let norms = rows.map(|phi| Features::Dense(phi).norm_sq());
        summary.phi_inf = norms.fold(summary.phi_inf, f64::max);
        if plan.unit.is_named() {
            summary.units.add(run.cluster);
        }
        summary.sample.consider_run(run, plan.transitions);
    }
}
