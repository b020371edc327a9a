//! Drives all entrants through the blocks of a contest.

use super::judge::{Answer, Judge, finite_or_infinite};
use super::parallel::{for_each, threads};
use super::score::{CurvePoint, Score};
use super::solo::Solo;
use super::trajectories::{BLOCK, Course, Walkers};
use super::{Contest, ContestOptions};
use crate::diagnostics::Estimate;
use crate::generators::GROUP;
use crate::grid::log_spaced;
use crate::run::Progress;

/// Runs a checked contest.
pub fn run(contest: &Contest, options: &ContestOptions<'_>) -> Vec<Score> {
    let mut race = Race::new(contest, options);
    race.report();
    for cut in log_spaced(contest.horizon, contest.points_per_decade) {
        while race.done < cut {
            race.block((cut - race.done).min(BLOCK as u64) as usize);
            race.report();
        }
        race.read_curves();
    }
    race.scores()
}

/// All entrants after the same number of samples.
struct Race<'a> {
    contest: &'a Contest,
    options: &'a ContestOptions<'a>,
    threads: usize,
    judge: Judge<'a>,
    course: Course,
    /// One per eight runs.
    walkers: Vec<Walkers>,
    /// Per entrant its groups of runs.
    cells: Vec<Cell>,
    standings: Vec<Standing>,
    done: u64,
}

/// Eight runs of an entrant.
struct Cell {
    group: usize,
    runs: Solo,
}

/// What is known of an entrant so far.
#[derive(Clone, Default)]
struct Standing {
    /// The largest sum over runs of |theta_t|^2, and its first t.
    peak: f64,
    peak_step: u64,
    curve: Vec<CurvePoint>,
}

impl<'a> Race<'a> {
    fn new(contest: &'a Contest, options: &'a ContestOptions<'a>) -> Self {
        let Contest {
            problem,
            runs,
            seed,
            ..
        } = contest;
        let groups = 0..runs.div_ceil(GROUP);
        let cell = |learner, group| Cell {
            group,
            runs: Solo::new(learner, (runs - group * GROUP).min(GROUP)),
        };
        let cells = contest
            .entrants
            .iter()
            .flat_map(|e| groups.clone().map(move |group| cell(&e.learner, group)));
        Self {
            contest,
            options,
            threads: threads(options.threads),
            judge: Judge::new(problem),
            course: Course::new(problem),
            walkers: groups
                .clone()
                .map(|group| Walkers::new(problem, *seed, group * GROUP))
                .collect(),
            cells: cells.collect(),
            standings: vec![Standing::default(); contest.entrants.len()],
            done: 0,
        }
    }

    /// Advances everybody by `count` samples.
    fn block(&mut self, count: usize) {
        let (kernel, course, problem) = (self.options.kernel, &self.course, &self.contest.problem);
        for_each(self.threads, &mut self.walkers, |walkers| {
            walkers.walk(course, kernel, count);
        });
        let walkers = &self.walkers;
        for_each(self.threads, &mut self.cells, |cell| {
            cell.runs
                .advance(problem, course, &walkers[cell.group], count);
        });
        let cells = self.cells.chunks(self.walkers.len());
        for (standing, cells) in self.standings.iter_mut().zip(cells) {
            for t in 0..count {
                let sum = cells.iter().map(|cell| cell.runs.norms[t]).sum();
                standing.see(self.done + 1 + t as u64, sum);
            }
        }
        self.done += count as u64;
    }

    fn report(&self) {
        if let Some(progress) = self.options.progress {
            let per_sample = (self.contest.entrants.len() * self.contest.runs) as u64;
            progress(Progress {
                done: self.done * per_sample,
                total: self.contest.horizon * per_sample,
            });
        }
    }

    /// What all runs of each entrant answer with now.
    fn answers(&self) -> impl Iterator<Item = Vec<Answer>> {
        let cells = self.cells.chunks(self.walkers.len());
        cells.map(|cells| cells.iter().flat_map(|cell| cell.runs.answers()).collect())
    }

    fn read_curves(&mut self) {
        let estimates: Vec<_> = self
            .answers()
            .map(|answers| Estimate::of(&self.judged(&answers, Judge::f)))
            .collect();
        for (standing, f) in self.standings.iter_mut().zip(estimates) {
            standing.curve.push(CurvePoint {
                samples: self.done,
                f,
            });
        }
    }

    fn judged(&self, answers: &[Answer], measure: impl Fn(&Judge<'a>, &Answer) -> f64) -> Vec<f64> {
        answers
            .iter()
            .map(|answer| measure(&self.judge, answer))
            .collect()
    }

    fn scores(self) -> Vec<Score> {
        let runs = self.contest.runs as f64;
        let answers = self.answers();
        let cells = self.cells.chunks(self.walkers.len());
        let score = |((answers, cells), standing): ((Vec<Answer>, &[Cell]), &Standing)| {
            let measured = |measure: fn(&Judge<'a>, &Answer) -> f64| {
                Estimate::of(&self.judged(&answers, measure))
            };
            let projections: Option<u64> = cells.iter().map(|cell| cell.runs.projections()).sum();
            Score {
                f: measured(Judge::f),
                d_norm_sq: measured(Judge::d_norm_sq),
                theta_error_sq: measured(Judge::theta_error_sq),
                f_of_mean: self.judge.f(&Answer::mean(&answers)),
                max_mean_theta_norm_sq: standing.peak / runs,
                peak_step: standing.peak_step,
                divergence_rate: cells.iter().map(|cell| cell.runs.diverged()).sum::<usize>()
                    as f64
                    / runs,
                projections: projections.map(|sum| sum as f64 / runs),
                updates: cells[0].runs.updates(),
                curve: standing.curve.clone(),
            }
        };
        answers.zip(cells).zip(&self.standings).map(score).collect()
    }
}

impl Standing {
    /// Takes note of a sum of |theta_t|^2; one that is not finite is the peak for ever.
    fn see(&mut self, t: u64, sum: f64) {
        if !(sum <= self.peak) && self.peak < f64::INFINITY {
            (self.peak, self.peak_step) = (finite_or_infinite(sum), t);
        }
    }
}
