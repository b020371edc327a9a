//! Combines the two ways to run methods: as vector lanes, or individually.

use super::Contest;
use super::judge::Answer;
use super::pack::{Pack, PackRuns, lane_recipe};
use super::saved::SavedTeam;
use super::solo::Solo;
use super::trajectories::{Course, Walkers};
use crate::generators::GROUP;
use crate::kernel::{Kernel, PACK};

/// Entrants that advance together, with all their runs in groups of eight.
#[derive(Debug)]
pub struct Team {
    /// The entrants, by lane.
    pub entrants: Vec<usize>,
    runs: Runs,
}

#[derive(Debug)]
enum Runs {
    Pack(Box<Pack>, Vec<PackRuns>),
    Solo(Vec<Solo>),
}

impl Team {
    /// Forms the teams of a contest.
    pub fn of(contest: &Contest) -> Vec<Self> {
        let groups = || {
            let runs = |group: usize| (contest.runs - group * GROUP).min(GROUP);
            (0..contest.runs.div_ceil(GROUP)).map(runs)
        };
        let (mut lanes, mut teams) = (Vec::new(), Vec::new());
        for (index, entrant) in contest.entrants.iter().enumerate() {
            match lane_recipe(&entrant.learner) {
                Some(recipe) => lanes.push((index, recipe)),
                None => teams.push(Self {
                    entrants: vec![index],
                    runs: Runs::Solo(groups().map(|n| Solo::new(&entrant.learner, n)).collect()),
                }),
            }
        }
        let dimension = contest.problem.dimension();
        teams.extend(lanes.chunks(PACK).map(|lanes| {
            let (entrants, recipes) = lanes.iter().copied().unzip();
            let runs = groups().map(|n| PackRuns::new(dimension, n)).collect();
            Self {
                entrants,
                runs: Runs::Pack(Box::new(Pack::new(recipes)), runs),
            }
        }));
        teams
    }

    /// What is saved.
    pub fn state(&self) -> SavedTeam {
        match &self.runs {
            Runs::Pack(pack, groups) => {
                let groups = groups.iter().map(|runs| runs.state().clone());
                SavedTeam::Pack(pack.totals, groups.collect())
            }
            Runs::Solo(groups) => {
                let groups = groups.iter().map(|runs| runs.learners().to_vec());
                SavedTeam::Solo(groups.collect())
            }
        }
    }

    /// Takes a saved state, unless it cannot be that of this team after `done` samples.
    pub fn restore(&mut self, state: SavedTeam, done: u64) -> bool {
        match (&mut self.runs, state) {
            (Runs::Pack(pack, groups), SavedTeam::Pack(totals, saved)) => {
                pack.totals = totals;
                groups.len() == saved.len()
                    && (groups.iter_mut().zip(saved)).all(|(runs, state)| runs.restore(state, done))
            }
            (Runs::Solo(groups), SavedTeam::Solo(saved)) => {
                groups.len() == saved.len()
                    && (groups.iter_mut().zip(saved)).all(|(runs, state)| runs.restore(state, done))
            }
            _ => false,
        }
    }

    /// Whether these are lanes, which need the course's table.
    pub fn is_pack(&self) -> bool {
        matches!(self.runs, Runs::Pack(..))
    }

    /// Prepares the `count` samples after the first `done`.
    pub fn prepare(&mut self, done: u64, count: usize) {
        if let Runs::Pack(pack, _) = &mut self.runs {
            pack.tabulate(done, count);
        }
    }

    /// Adds one task per group of runs.
    pub fn add_tasks<'a>(&'a mut self, tasks: &mut Vec<Task<'a>>) {
        match &mut self.runs {
            Runs::Pack(pack, groups) => {
                let groups = groups.iter_mut().enumerate();
                tasks.extend(groups.map(|(group, runs)| Task {
                    group,
                    runs: Group::Pack(pack, runs),
                }));
            }
            Runs::Solo(groups) => {
                let groups = groups.iter_mut().enumerate();
                tasks.extend(groups.map(|(group, runs)| Task {
                    group,
                    runs: Group::Solo(runs),
                }));
            }
        }
    }

    /// Writes the sums over runs of |theta_t|^2 at the steps of the block.
    pub fn write_norms(&self, lane: usize, sums: &mut [f64]) {
        sums.fill(0.0);
        match &self.runs {
            Runs::Pack(_, groups) => groups.iter().for_each(|runs| runs.add_norms(lane, sums)),
            Runs::Solo(groups) => groups.iter().for_each(|runs| runs.add_norms(sums)),
        }
    }

    /// The current answers of the runs of a method.
    pub fn answers(&self, lane: usize) -> Vec<Answer> {
        match &self.runs {
            Runs::Pack(pack, groups) => {
                let answers = groups.iter().flat_map(|runs| runs.answers(pack, lane));
                answers.collect()
            }
            Runs::Solo(groups) => groups.iter().flat_map(Solo::answers).collect(),
        }
    }

    /// The number of diverged runs of a method.
    pub fn diverged(&self, lane: usize) -> usize {
        match &self.runs {
            Runs::Pack(_, groups) => groups.iter().map(|runs| runs.diverged(lane)).sum(),
            Runs::Solo(groups) => groups.iter().map(Solo::diverged).sum(),
        }
    }

    /// Projections in all runs of a method, if it projects.
    pub fn projections(&self, lane: usize) -> Option<u64> {
        match &self.runs {
            Runs::Pack(pack, groups) => {
                let counts = groups.iter().map(|runs| runs.projections(pack, lane));
                counts.sum()
            }
            Runs::Solo(groups) => groups.iter().map(Solo::projections).sum(),
        }
    }

    /// The number of updates of each run of a method after `samples` samples.
    pub fn updates(&self, lane: usize, samples: u64) -> u64 {
        match &self.runs {
            Runs::Pack(pack, _) => pack.updates(lane, samples),
            Runs::Solo(groups) => groups.first().map_or(0, Solo::updates),
        }
    }
}

/// A group of eight runs of a team, to be advanced by one block.
pub struct Task<'a> {
    group: usize,
    runs: Group<'a>,
}

enum Group<'a> {
    Pack(&'a Pack, &'a mut PackRuns),
    Solo(&'a mut Solo),
}

impl Task<'_> {
    /// Advances through the block that the walkers have sampled.
    pub fn run(&mut self, course: &Course<'_>, walkers: &[Walkers], kernel: Kernel, count: usize) {
        let walkers = &walkers[self.group];
        match &mut self.runs {
            Group::Pack(pack, runs) => runs.advance(pack, course, walkers, kernel, count),
            Group::Solo(runs) => runs.advance(course, walkers, count),
        }
    }
}
