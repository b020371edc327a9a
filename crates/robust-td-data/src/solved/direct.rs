//! Solves the equations of a log directly, from their dense sums.

use robust_td_core::Matrix;
use robust_td_core::fixed_point::FixedPoint;
use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::learner::Transition;
use serde::{Deserialize, Serialize};

use super::Solver;
use super::answer::{Answer, HeldOut};
use super::gather::{Dense, Gathered, Plan, Summary};
use super::passes::{self, Pass};
use super::scores::{At, Job, Scores, Scoring};
use super::unit::Groups;
use crate::assess::TOLERANCE;
use crate::chunks::Run;
use crate::error::Result;
use crate::fold::{Fold, Merge};
use crate::off_policy::support::Shown;
use crate::replay::Replay;

/// The sums of the scores of dense features.
pub(super) struct DenseScores {
    groups: usize,
    dimension: usize,
}

impl DenseScores {
    pub fn new(groups: usize, dimension: usize) -> Self {
        Self { groups, dimension }
    }
}

impl Scoring for DenseScores {
    type Sum = GroupSums;

    fn start(&self) -> GroupSums {
        GroupSums::new(self.groups, self.dimension)
    }

    fn add(&self, sum: &mut GroupSums, group: usize, transition: &Transition<'_>, delta: f64) {
        sum.add(group, transition, delta);
    }

    fn add_run(&self, sum: &mut GroupSums, group: usize, run: &Run<'_>, deltas: &[f64]) {
        sum.add_rows(group, run.phi, run.ratios, deltas);
    }
}

/// A fixed point before its error is known.
struct Point {
    found: FixedPoint,
    kept: Option<Dense>,
    log: Summary,
    start_features: Vec<f64>,
    groups: Groups,
    scoring: DenseScores,
}

impl Point {
    fn new(gathered: Gathered<Dense>, plan: &Plan<'_>) -> Result<Self> {
        let (all, kept, log) = gathered.split(plan.checks);
        let found = all.equations.solve()?;
        let count = log.starts.max(1) as f64;
        let groups = log.groups(plan.unit, usize::MAX);
        Ok(Self {
            kept,
            start_features: (all.start_features.iter()).map(|sum| sum / count).collect(),
            scoring: DenseScores {
                groups: groups.count(),
                dimension: found.theta.len(),
            },
            found,
            groups,
            log,
        })
    }

    fn job<'a>(&'a self, plan: &'a Plan<'a>) -> Job<'a, DenseScores> {
        Job {
            plan,
            groups: &self.groups,
            at: At {
                theta: &self.found.theta,
                start_features: &self.start_features,
                starts: self.log.starts,
                identified: &self.found.identified,
            },
            scoring: &self.scoring,
        }
    }

    /// The pass that adds up its scores.
    fn pass(&self) -> Pass {
        Pass::Scores {
            theta: self.found.theta.clone(),
            start_features: self.start_features.clone(),
            starts: self.log.starts,
            identified: self.found.identified.clone(),
            groups: self.groups.clone(),
        }
    }

    fn answer(self, plan: &Plan<'_>, scores: Scores, sums: &GroupSums) -> Result<Answer> {
        let Self {
            found, kept, log, ..
        } = self;
        let influence = influence(&found, sums, &self.groups)?;
        let known = influence.is_some();
        let shown = (scores.unsupported.as_ref()).map(|unsupported| {
            let [missing, steps] = &unsupported.sums;
            let dimension = found.theta.len();
            let rows = Matrix::from_fn(2, dimension, |k, j| [missing, steps][k][j]);
            let solved = found.influence(&rows);
            Shown {
                share: unsupported.share([solved.row(0), solved.row(1)], &self.start_features),
                missing: solved.row(0).to_vec(),
            }
        });
        Ok(Answer {
            solver: Solver::LeastSquares,
            products: None,
            held_out: kept.and_then(|kept| held_out(&kept, &found)),
            contributions: match known {
                true => scores.contributions(log.starts),
                false => Vec::new(),
            },
            influence,
            rank: Some(found.rank),
            relative_residual: found.relative_residual,
            tolerance: TOLERANCE,
            identified: found.identified,
            theta: found.theta,
            shown,
            td_errors: scores.td_errors,
            start_features: self.start_features,
            units: log.unit_count(plan.unit),
            log,
        })
    }
}

/// Finds the answers of several plans, which differ in their discounts, in two passes: one for the equations, one for the error of their
/// solutions.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(super) fn answers(replay: &mut Replay<'_>, plans: &[Plan<'_>]) -> Result<Vec<Answer>> {
    let gathered = gathered(replay, plans)?;
    let points = gathered.into_iter().zip(plans);
    let points = points.map(|(gathered, plan)| Point::new(gathered, plan));
    let points = points.collect::<Result<Vec<_>>>()?;
    let jobs = points
        .iter()
        .zip(plans)
        .map(|(point, plan)| point.job(plan));
    let jobs: Vec<Job<'_, DenseScores>> = jobs.collect();
    let none = jobs.iter().map(Scored::none);
    let mut all: Vec<Scored> = none.collect();
    let fold = match (replay.parts(), &points[..], plans) {
        (Some((elsewhere, log)), [point], [plan]) => {
            passes::run(elsewhere, log, plan, point.pass())?
        }
        _ => Scored::fold(replay, &jobs)?,
    };
    all.merge(fold.finish().unwrap_or_default());
    let each = points.into_iter().zip(plans).zip(all);
    each.map(|((point, plan), found)| point.answer(plan, found.scores, &found.sums))
        .collect()
}

/// The sums of the equations of several plans.
fn gathered(replay: &mut Replay<'_>, plans: &[Plan<'_>]) -> Result<Vec<Gathered<Dense>>> {
    let (fold, counts) = match (replay.parts(), plans) {
        (Some((elsewhere, log)), [plan]) => {
            let counts = elsewhere.counts;
            (passes::run(elsewhere, log, plan, Pass::Equations)?, counts)
        }
        _ => Gathered::fold(replay, plans)?,
    };
    Gathered::finish(fold, plans, counts)
}

/// The scores of a part of the log, group by group.
#[derive(Serialize, Deserialize)]
pub(super) struct Scored {
    sums: GroupSums,
    scores: Scores,
}

impl Scored {
    /// Makes one pass over a log, or a node of it, for several answers.
    ///
    /// # Errors
    /// Those of reading.
    pub fn fold(replay: &mut Replay<'_>, jobs: &[Job<'_, DenseScores>]) -> Result<Fold<Vec<Self>>> {
        let mut fold = Fold::default();
        Scores::for_each(replay, jobs, |parts| {
            let parts = parts.into_iter();
            fold.push(parts.map(|(sums, scores)| Self { sums, scores }).collect());
        })?;
        Ok(fold)
    }

    /// Whether its sizes are these.
    pub fn fits(&self, groups: usize, features: usize) -> bool {
        let scores = self.sums.scores();
        self.scores.fits(groups) && (scores.rows(), scores.columns()) == (groups, features)
    }

    /// No transitions.
    fn none(job: &Job<'_, DenseScores>) -> Self {
        Self {
            sums: job.scoring.start(),
            scores: Scores::new(job.groups.count(), job.plan),
        }
    }
}

impl Merge for Scored {
    fn merge(&mut self, later: Self) {
        self.sums.merge(&later.sums);
        self.scores.merge(later.scores);
    }
}

/// The influence of the groups, if there are enough transitions to estimate errors.
fn influence(found: &FixedPoint, sums: &GroupSums, groups: &Groups) -> Result<Option<Influence>> {
    if !found.has_enough_samples() || groups.count() < 2 {
        return Ok(None);
    }
    let influence = Influence::new(found, groups.grouping(), sums, groups.clusters())?;
    Ok(Some(influence))
}

/// The answer without what is held out.
fn held_out(kept: &Dense, all: &FixedPoint) -> Option<HeldOut> {
    let kept = kept.equations.solve().ok()?;
    HeldOut::new(kept.theta, kept.rank == all.rank, kept.identified)
}
