//! Drives all entrants through the blocks of a contest.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::judge::{Answer, Judge};
use super::saved::{Record, Saved};
use super::score::{CurvePoint, Score};
use super::series::Keeper;
use super::team::Team;
use super::trajectories::{BLOCK, Course, Walkers};
use super::{Contest, ContestOptions};
use crate::diagnostics::Estimate;
use crate::error::{Error, Result};
use crate::generators::GROUP;
use crate::grid::log_spaced;
use crate::run::Progress;
use crate::threads::{for_each, threads};

/// The time of a block, about: how soon a contest stops or saves its state.
const PACE: Duration = Duration::from_millis(100);
/// The length of the first block. Results do not depend on the lengths.
const FIRST_BLOCK: usize = 64;

/// Runs a validated contest from its start or a saved state, unless it is cancelled.
pub(super) fn run(
    contest: &Contest,
    options: &ContestOptions<'_>,
    start: Option<Saved>,
    keeper: &mut Keeper<'_>,
) -> Result<Vec<Score>> {
    let mut race = Race::new(contest, options);
    if let Some(saved) = start {
        keeper.require(race.restore(saved))?;
    }
    race.report();
    let (mut longest, begun) = (FIRST_BLOCK, race.done);
    let cuts = log_spaced(contest.horizon, contest.points_per_decade);
    // The points up to a saved state are in it.
    for cut in cuts.into_iter().filter(|&cut| cut > begun) {
        while race.done < cut {
            if options
                .cancel
                .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            {
                keeper.save(|| race.state())?;
                let Progress { done, total } = race.progress();
                return Err(Error::Cancelled { done, total });
            }
            if keeper.is_due() {
                keeper.save(|| race.state())?;
            }
            let start = Instant::now();
            race.block((cut - race.done).min(longest as u64) as usize)?;
            longest = match start.elapsed() {
                long if long > PACE => (longest / 2).max(1),
                short if short < PACE / 4 => (2 * longest).min(BLOCK),
                _ => longest,
            };
            race.report();
        }
        race.read_curves();
    }
    Ok(race.scores())
}

/// The state of all entrants after the same number of samples.
struct Race<'a> {
    contest: &'a Contest,
    options: &'a ContestOptions<'a>,
    threads: usize,
    judge: Judge<'a>,
    course: Course<'a>,
    /// One per eight runs.
    walkers: Vec<Walkers>,
    teams: Vec<Team>,
    /// One per entrant.
    standings: Vec<Standing>,
    done: u64,
}

/// The place of an entrant in its team, and its statistics so far.
struct Standing {
    team: usize,
    lane: usize,
    record: Record,
}

impl<'a> Race<'a> {
    fn new(contest: &'a Contest, options: &'a ContestOptions<'a>) -> Self {
        let (problem, teams) = (&contest.problem, Team::of(contest));
        let mut places = vec![(0, 0); contest.entrants.len()];
        for (team, entrants) in teams.iter().map(|team| &team.entrants).enumerate() {
            for (lane, &entrant) in entrants.iter().enumerate() {
                places[entrant] = (team, lane);
            }
        }
        let first_runs = (0..contest.runs).step_by(GROUP);
        Self {
            contest,
            options,
            threads: threads(options.threads),
            judge: Judge::new(problem),
            course: Course::new(problem, teams.iter().any(Team::is_pack)),
            walkers: first_runs
                .map(|first| Walkers::new(problem, contest.seed, first))
                .collect(),
            teams,
            standings: places.into_iter().map(Standing::new).collect(),
            done: 0,
        }
    }

    /// What is saved.
    fn state(&self) -> Saved {
        let positions = self.walkers.iter().map(Walkers::position);
        let records = self.standings.iter().map(|standing| &standing.record);
        Saved {
            done: self.done,
            positions: positions.cloned().collect(),
            teams: self.teams.iter().map(Team::state).collect(),
            records: records.cloned().collect(),
        }
    }

    /// Takes a saved state; whether it can be that of the contest. If not, the race is of no use.
    fn restore(&mut self, saved: Saved) -> bool {
        let (done, states) = (saved.done, self.contest.problem.states());
        let fits = saved.fits(self.contest)
            && saved.positions.len() == self.walkers.len()
            && saved.teams.len() == self.teams.len()
            && (self.walkers.iter_mut().zip(saved.positions))
                .all(|(walkers, position)| walkers.restore(position, states))
            && (self.teams.iter_mut().zip(saved.teams))
                .all(|(team, state)| team.restore(state, done));
        for (standing, record) in self.standings.iter_mut().zip(saved.records) {
            standing.record = record;
        }
        self.done = done;
        fits
    }

    /// Advances all entrants by `count` samples.
    fn block(&mut self, count: usize) -> Result<()> {
        let (kernel, course, done) = (self.options.kernel, &self.course, self.done);
        for_each(self.threads, &mut self.walkers, |walkers| {
            walkers.walk(course, kernel, count);
        })?;
        for_each(self.threads, &mut self.teams, |team| {
            team.prepare(done, count)
        })?;
        let mut tasks = Vec::new();
        for team in &mut self.teams {
            team.add_tasks(&mut tasks);
        }
        let walkers = &self.walkers;
        for_each(self.threads, &mut tasks, |task| {
            task.run(course, walkers, kernel, count);
        })?;
        let mut sums = [0.0; BLOCK];
        for standing in &mut self.standings {
            self.teams[standing.team].write_norms(standing.lane, &mut sums[..count]);
            for (step, &sum) in (done + 1..).zip(&sums[..count]) {
                standing.record.peak.see(sum, step);
            }
        }
        self.done += count as u64;
        Ok(())
    }

    /// The samples processed by all entrants in all runs.
    fn progress(&self) -> Progress {
        let per_sample =
            (self.contest.entrants.len() as u64).saturating_mul(self.contest.runs as u64);
        Progress {
            done: self.done.saturating_mul(per_sample),
            total: self.contest.work(),
        }
    }

    fn report(&self) {
        if let Some(progress) = self.options.progress {
            progress(self.progress());
        }
    }

    fn read_curves(&mut self) {
        for standing in &mut self.standings {
            let answers = self.teams[standing.team].answers(standing.lane);
            standing.record.curve.push(CurvePoint {
                samples: self.done,
                f: self.judge.estimate(&answers, Judge::f),
            });
        }
    }

    fn scores(self) -> Vec<Score> {
        let (judge, runs) = (&self.judge, self.contest.runs as f64);
        let score = |standing: Standing| {
            let (team, lane) = (&self.teams[standing.team], standing.lane);
            let answers = team.answers(lane);
            let f_of_runs: Vec<f64> = answers.iter().map(|answer| judge.f(answer)).collect();
            Score {
                f: Estimate::of(&f_of_runs),
                f_of_runs,
                d_norm_sq: judge.estimate(&answers, Judge::d_norm_sq),
                theta_error_sq: judge.estimate(&answers, Judge::theta_error_sq),
                f_of_mean: judge.f(&Answer::mean(&answers)),
                max_mean_theta_norm_sq: standing.record.peak.sum / runs,
                peak_step: standing.record.peak.step,
                divergence_rate: team.diverged(lane) as f64 / runs,
                projections: team.projections(lane).map(|count| count as f64 / runs),
                updates: team.updates(lane, self.done),
                curve: standing.record.curve,
            }
        };
        self.standings.into_iter().map(score).collect()
    }
}

impl Standing {
    fn new((team, lane): (usize, usize)) -> Self {
        Self {
            team,
            lane,
            record: Record::default(),
        }
    }
}
