//! Adds up the scores of a log at its fixed point, group by group.

use robust_td_core::Matrix;
use robust_td_core::fixed_point::Identified;
use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::learner::{Features, Transition};
use robust_td_core::sparse::{SparseGroupSums, SparseSystem};
use robust_td_core::support::leverage;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::gather::Plan;
use super::unit::Groups;
use crate::chunks::{Chunk, Placed, Run, TransitionSink, for_each_chunk};
use crate::diagnostics::TdErrors;
use crate::error::Result;
use crate::fold::Merge;
use crate::off_policy::support::{Shown, Unsupported};
use crate::replay::Replay;

/// The answer that scores are taken at.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub theta: &'a [f64],
    /// The mean features of the starts, and their number.
    pub start_features: &'a [f64],
    pub starts: u64,
    /// What the log shows.
    pub identified: &'a Identified,
}

impl<'a> At<'a> {
    /// The place of an answer.
    pub fn of(answer: &'a Answer) -> Self {
        Self {
            theta: &answer.theta,
            start_features: &answer.start_features,
            starts: answer.log.starts,
            identified: &answer.identified,
        }
    }

    fn mean(&self) -> f64 {
        Features::Dense(self.start_features).dot(self.theta)
    }

    fn count(&self) -> f64 {
        self.starts.max(1) as f64
    }
}

/// The sums of each group, beside those of the scores.
#[derive(Serialize, Deserialize)]
pub(super) struct Scores {
    /// (phi.theta - mean) / number, over the rows that the value of the policy is the mean of.
    starts: Vec<f64>,
    /// The number of these rows.
    start_counts: Vec<f64>,
    pub td_errors: TdErrors,
    /// What the log does not show of a policy that was not followed.
    #[serde(skip)]
    pub unsupported: Option<Unsupported>,
}

/// An answer whose scores are added up.
pub(super) struct Job<'a, S> {
    pub plan: &'a Plan<'a>,
    pub groups: &'a Groups,
    pub at: At<'a>,
    pub scoring: &'a S,
}

/// How the scores of a chunk are added up: the start of a sum, and a transition with its group and TD error added to it.
pub(super) trait Scoring: Sync {
    type Sum: Send;
    fn start(&self) -> Self::Sum;
    fn add(&self, sum: &mut Self::Sum, group: usize, transition: &Transition<'_>, delta: f64);
    fn add_run(&self, sum: &mut Self::Sum, group: usize, run: &Run<'_>, deltas: &[f64]) {
        for (transition, &delta) in run.transitions().zip(deltas) {
            self.add(sum, group, &transition, delta);
        }
    }
}

impl Scores {
    pub fn new(groups: usize, plan: &Plan<'_>) -> Self {
        Self {
            starts: vec![0.0; groups],
            start_counts: vec![0.0; groups],
            td_errors: TdErrors::default(),
            unsupported: Unsupported::for_map(plan.map),
        }
    }

    /// Makes the pass; `take` receives the sums of the chunks in order.
    ///
    /// # Errors
    /// Those of reading.
    pub fn take<S: Scoring>(
        replay: &mut Replay<'_>,
        plan: &Plan<'_>,
        groups: &Groups,
        at: At<'_>,
        scoring: &S,
        mut take: impl FnMut(S::Sum),
    ) -> Result<Self> {
        let job = Job {
            plan,
            groups,
            at,
            scoring,
        };
        let mut all = Self::new(groups.count(), plan);
        Self::for_each(replay, &[job], |parts| {
            for (sum, part) in parts {
                take(sum);
                all.merge(part);
            }
        })?;
        Ok(all)
    }

    /// Makes one pass for several answers; `take` receives what a chunk adds to each of them, in order.
    ///
    /// # Errors
    /// Those of reading.
    pub fn for_each<S: Scoring>(
        replay: &mut Replay<'_>,
        jobs: &[Job<'_, S>],
        mut take: impl FnMut(Vec<(S::Sum, Self)>),
    ) -> Result<()> {
        let Some(first) = jobs.first() else {
            return Ok(());
        };
        for_each_chunk(
            replay,
            first.plan,
            |chunk| -> Vec<_> { jobs.iter().map(|job| part(chunk, job)).collect() },
            |parts| {
                take(parts);
                Ok(())
            },
        )?;
        Ok(())
    }

    /// What each group contributes to the error of the value of the policy by its starts.
    pub fn contributions(&self, starts: u64) -> Vec<f64> {
        let pairs = self.starts.iter().zip(&self.start_counts);
        let all = starts.max(1) as f64;
        pairs.map(|(sum, own)| sum * leverage(own / all)).collect()
    }

    /// Whether it has this number of groups.
    pub fn fits(&self, groups: usize) -> bool {
        self.starts.len() == groups && self.start_counts.len() == groups
    }
}

impl Merge for Scores {
    fn merge(&mut self, part: Self) {
        let starts = self.starts.iter_mut().zip(&part.starts);
        starts.for_each(|(sum, x)| *sum += x);
        let counts = self.start_counts.iter_mut().zip(&part.start_counts);
        counts.for_each(|(sum, x)| *sum += x);
        self.td_errors.merge(&part.td_errors);
        if let (Some(all), Some(part)) = (&mut self.unsupported, &part.unsupported) {
            all.merge(part);
        }
    }
}

/// The sums of the scores of sparse features.
struct SparseScores<'a> {
    system: &'a SparseSystem,
    groups: usize,
}

impl<'a> Scoring for SparseScores<'a> {
    type Sum = SparseGroupSums<'a>;

    fn start(&self) -> Self::Sum {
        SparseGroupSums::new(self.system, self.groups)
    }

    fn add(&self, sum: &mut Self::Sum, group: usize, transition: &Transition<'_>, delta: f64) {
        sum.add(group, transition, delta);
    }
}

/// Adds the error of all values to an answer with sparse features, by groups of at most `most`, if there are enough
/// transitions; `solve` finds A^{-1} times each row of scores.
///
/// # Errors
/// Those of reading and of `solve`.
pub(super) fn with_errors(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    answer: Answer,
    system: &SparseSystem,
    most: usize,
    solve: impl FnOnce(Matrix) -> Result<Matrix>,
) -> Result<Answer> {
    let groups = answer.log.groups(plan.unit, most);
    let scoring = SparseScores {
        system,
        groups: groups.count(),
    };
    let mut sums = GroupSums::new(groups.count(), system.seen());
    let scores = Scores::take(replay, plan, &groups, At::of(&answer), &scoring, |part| {
        part.add_to(&mut sums);
    })?;
    let rank = answer.rank.unwrap_or(system.seen()) as f64;
    let enough = answer.log.counts.transitions as f64 >= 1.5 * rank + 10.0;
    let mut answer = Answer {
        td_errors: scores.td_errors,
        ..answer
    };
    if enough && groups.count() > 1 {
        let (seen, grouping) = (system.features().to_vec(), groups.grouping());
        let unsupported = scores.unsupported.as_ref();
        let (rows, shown) = solve_with(sums.take_scores(), unsupported, &seen, solve)?;
        if let (Some(found), [missing, steps]) = (unsupported, &shown[..]) {
            answer.shown = Some(Shown {
                share: found.share([missing, steps], &answer.start_features),
                missing: missing.clone(),
            });
        }
        answer.influence = Some(Influence::of_seen(
            rows,
            seen,
            grouping,
            &sums,
            groups.clusters(),
        )?);
        answer.contributions = scores.contributions(answer.log.starts);
    }
    Ok(answer)
}

/// Solves for the rows of scores, and for what the log does not show of a policy, in the coordinates of all features.
fn solve_with(
    scores: Matrix,
    unsupported: Option<&Unsupported>,
    seen: &[u32],
    solve: impl FnOnce(Matrix) -> Result<Matrix>,
) -> Result<(Matrix, Vec<Vec<f64>>)> {
    let Some(unsupported) = unsupported else {
        return Ok((solve(scores)?, Vec::new()));
    };
    let groups = scores.rows();
    let all = Matrix::from_fn(groups + 2, seen.len(), |k, j| match k < groups {
        true => scores.get(k, j),
        false => unsupported.sums[k - groups][seen[j] as usize],
    });
    drop(scores);
    let found = solve(all)?;
    let shown = (unsupported.sums.iter().enumerate()).map(|(k, sums)| {
        let mut row = vec![0.0; sums.len()];
        for (j, &feature) in seen.iter().enumerate() {
            row[feature as usize] = found.get(groups + k, j);
        }
        row
    });
    let shown = shown.collect();
    let rows = Matrix::from_fn(groups, seen.len(), |k, j| found.get(k, j));
    Ok((rows, shown))
}

fn part<S: Scoring>(chunk: &Chunk, job: &Job<'_, S>) -> (S::Sum, Scores) {
    let mut scored = Scored {
        job,
        sum: job.scoring.start(),
        scores: Scores::new(job.groups.count(), job.plan),
        mean: job.at.mean(),
        count: job.at.count(),
        values: Default::default(),
        deltas: Vec::new(),
    };
    chunk.send_to(job.plan.map, &mut scored);
    (scored.sum, scored.scores)
}

/// The scores of a chunk so far.
struct Scored<'a, S: Scoring> {
    job: &'a Job<'a, S>,
    sum: S::Sum,
    scores: Scores,
    /// The value of the policy, and the number of rows that it is the mean of.
    mean: f64,
    count: f64,
    /// Values of the observations of a run and of the next ones, and its TD errors.
    values: [Vec<f64>; 2],
    deltas: Vec<f64>,
}

impl<S: Scoring> Scored<'_, S> {
    #[inline(always)]
    fn add_start(&mut self, group: usize, value: f64) {
        let away = value - self.mean;
        self.scores.starts[group] += away / self.count;
        self.scores.start_counts[group] += 1.0;
    }
}

impl<S: Scoring> TransitionSink for Scored<'_, S> {
    fn one(&mut self, placed: &Placed<'_>) {
        let Job {
            plan,
            groups,
            at,
            scoring,
        } = *self.job;
        let transition = &placed.transition;
        let group = groups.of(placed);
        let delta = transition.td_error(at.theta, plan.discount);
        self.scores.td_errors.record(transition.ratio * delta);
        scoring.add(&mut self.sum, group, transition, delta);
        let is_start = !plan.episodic || placed.starts;
        if let Some(unsupported) = &mut self.scores.unsupported {
            unsupported.add(placed, at.identified, plan.discount, is_start);
        }
        if is_start {
            self.add_start(group, placed.own().dot(at.theta));
        }
    }

    fn run(&mut self, run: &Run<'_>) {
        let Job {
            plan, groups, at, ..
        } = *self.job;
        run.split(
            |number| groups.of_run(run, number),
            |group, run| {
                let [here, next] = &mut self.values;
                run.values(at.theta, [&mut *here, &mut *next]);
                let values = here.iter().zip(next).zip(run.rewards);
                let deltas =
                    values.map(|((value, next), reward)| reward + plan.discount * *next - value);
                self.deltas.clear();
                self.deltas.extend(deltas);
                for (delta, ratio) in self.deltas.iter().zip(run.ratios) {
                    self.scores.td_errors.record(ratio * delta);
                }
                let scoring = self.job.scoring;
                scoring.add_run(&mut self.sum, group, run, &self.deltas);
                if !plan.episodic {
                    for i in 0..run.len() {
                        self.add_start(group, self.values[0][i]);
                    }
                }
            },
        );
    }
}
