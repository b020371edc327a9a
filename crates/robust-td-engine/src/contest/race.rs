//! Drives all entrants through the blocks of a contest.

use std::sync::atomic::Ordering;

use super::judge::{Answer, Judge};
use super::score::{CurvePoint, Score};
use super::team::Team;
use super::trajectories::{BLOCK, Course, Walkers};
use super::{Contest, ContestOptions};
use crate::diagnostics::{Estimate, Peak};
use crate::error::{Error, Result};
use crate::generators::GROUP;
use crate::grid::log_spaced;
use crate::run::Progress;
use crate::threads::{for_each, threads};

/// Runs a validated contest, unless it is cancelled.
pub fn run(contest: &Contest, options: &ContestOptions<'_>) -> Result<Vec<Score>> {
    let mut race = Race::new(contest, options);
    race.report();
    for cut in log_spaced(contest.horizon, contest.points_per_decade) {
        while race.done < cut {
            if options
                .cancel
                .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            {
                let Progress { done, total } = race.progress();
                return Err(Error::Cancelled { done, total });
            }
            race.block((cut - race.done).min(BLOCK as u64) as usize)?;
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
    peak: Peak,
    curve: Vec<CurvePoint>,
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
                standing.peak.see(sum, step);
            }
        }
        self.done += count as u64;
        Ok(())
    }

    /// The samples processed by all entrants in all runs.
    fn progress(&self) -> Progress {
        let per_sample = (self.contest.entrants.len() * self.contest.runs) as u64;
        Progress {
            done: self.done * per_sample,
            total: self.contest.horizon * per_sample,
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
            standing.curve.push(CurvePoint {
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
                max_mean_theta_norm_sq: standing.peak.sum / runs,
                peak_step: standing.peak.step,
                divergence_rate: team.diverged(lane) as f64 / runs,
                projections: team.projections(lane).map(|count| count as f64 / runs),
                updates: team.updates(lane, self.done),
                curve: standing.curve,
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
            peak: Peak::default(),
            curve: Vec::new(),
        }
    }
}
