//! Runs contests one after the other under one checkpoint.
//!
//! A contest is a unit of the checkpoint, as those of sweeps are: waiting, in progress with the state of its learners, or done with its
//! scores. Resumed contests give the same bits.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::saved::Saved;
use super::score::Score;
use super::{Contest, ContestOptions, race};
use crate::checkpoint::{self, Stage};
use crate::error::{Error, Result};
use crate::run::INTERVAL;
use crate::tables::Tables;

/// The share of the time that writing may take: a large state is written less often.
const WRITING: u32 = 10;

/// The contests of a series and what is done of them.
#[derive(Debug)]
pub struct Series {
    checkpoint: Option<PathBuf>,
    hash: blake3::Hash,
    stages: Vec<Stage>,
    /// The samples of each contest, over all entrants and runs.
    work: Vec<u64>,
    written: Instant,
    /// The time from one checkpoint to the next.
    pause: Duration,
}

impl Series {
    /// A series without a checkpoint.
    #[must_use]
    pub fn unsaved(contests: usize) -> Self {
        Self {
            checkpoint: None,
            hash: blake3::Hash::from_bytes([0; 32]),
            stages: vec![Stage::Waiting; contests],
            work: vec![0; contests],
            written: Instant::now(),
            pause: INTERVAL,
        }
    }

    /// A series with a checkpoint file. With `resume` it continues from that file, if it exists.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or belongs to other contests.
    pub fn saved(
        path: &Path,
        resume: bool,
        contests: impl IntoIterator<Item = Contest>,
    ) -> Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"robust-td contests 1");
        let mut work = Vec::new();
        for contest in contests {
            contest.check()?;
            hasher.update(contest.hash().as_bytes());
            work.push(contest.work());
        }
        let hash = hasher.finalize();
        let stages = match resume {
            true => checkpoint::read(path, &hash, work.len())?,
            false => None,
        };
        Ok(Self {
            checkpoint: Some(path.into()),
            hash,
            stages: stages.unwrap_or_else(|| vec![Stage::Waiting; work.len()]),
            work,
            written: Instant::now(),
            pause: INTERVAL,
        })
    }

    /// Runs a contest of the series, or what is left of it; one score per entrant, in order.
    ///
    /// # Errors
    /// As [`contest`](super::contest()), and when the checkpoint is damaged or cannot be written. After a cancellation it is up to date, and the
    /// error counts the work of all contests.
    pub fn run(
        &mut self,
        place: usize,
        contest: &Contest,
        options: &ContestOptions<'_>,
    ) -> Result<Vec<Score>> {
        contest.check()?;
        contest.check_memory(self.checkpoint.is_some(), options.max_memory)?;
        // Learners that run individually use vectors of their own, which follow the process-wide kernel.
        robust_td_simd::set_kernel(options.kernel)?;
        let path = self.path();
        let start = match &self.stages[place] {
            Stage::Waiting => None,
            Stage::Running(state) => Some(checkpoint::decode::<Saved>(path, state)?),
            Stage::Finished(bytes) => {
                let scores: Vec<Score> = checkpoint::decode(path, bytes)?;
                checkpoint::require(path, contest.scores_fit(&scores))?;
                return Ok(scores);
            }
        };
        let scores = race::run(contest, options, start, &mut Keeper(self, place));
        let scores = scores.map_err(|error| match error {
            Error::Cancelled { done, total } => self.cancelled(done, total),
            other => other,
        })?;
        if self.checkpoint.is_some() {
            self.stages[place] = Stage::Finished(checkpoint::encode(&scores));
            if self.is_due() || place + 1 == self.stages.len() {
                self.write()?;
            }
        }
        Ok(scores)
    }

    /// The name of the checkpoint in messages.
    fn path(&self) -> &Path {
        let path = self.checkpoint.as_deref();
        path.unwrap_or(Path::new("the checkpoint"))
    }

    /// The error of a contest that was cancelled, with the work of the finished ones.
    fn cancelled(&self, done: u64, total: u64) -> Error {
        if self.checkpoint.is_none() {
            return Error::Cancelled { done, total };
        }
        let finished = |(stage, work): (&Stage, &u64)| match stage {
            Stage::Finished(_) => *work,
            Stage::Waiting | Stage::Running(_) => 0,
        };
        let finished = self.stages.iter().zip(&self.work).map(finished);
        Error::Cancelled {
            done: finished.fold(done, u64::saturating_add),
            total: self
                .work
                .iter()
                .fold(0, |sum, work| sum.saturating_add(*work)),
        }
    }

    fn is_due(&self) -> bool {
        self.checkpoint.is_some() && self.written.elapsed() >= self.pause
    }

    fn write(&mut self) -> Result<()> {
        let Some(path) = &self.checkpoint else {
            return Ok(());
        };
        let start = Instant::now();
        checkpoint::write(path, &self.hash, &self.stages)?;
        self.pause = INTERVAL.max((WRITING - 1) * start.elapsed());
        self.written = Instant::now();
        Ok(())
    }
}

/// Keeps the state of a contest in its place of the checkpoint.
pub(super) struct Keeper<'a>(&'a mut Series, usize);

impl Keeper<'_> {
    /// Whether it is time to save.
    pub fn is_due(&self) -> bool {
        self.0.is_due()
    }

    /// Refuses a state that does not fit its contest.
    pub fn require(&self, fits: bool) -> Result<()> {
        checkpoint::require(self.0.path(), fits)
    }

    /// Writes a checkpoint with this state, unless the series has none.
    pub fn save(&mut self, state: impl FnOnce() -> Saved) -> Result<()> {
        let Self(series, place) = self;
        if series.checkpoint.is_some() {
            series.stages[*place] = Stage::Running(checkpoint::encode(&state()));
        }
        series.write()
    }
}

impl Contest {
    /// The samples of all entrants in all runs.
    pub(super) fn work(&self) -> u64 {
        let each = (self.entrants.len() as u64).saturating_mul(self.runs as u64);
        each.saturating_mul(self.horizon)
    }

    /// A stable hash of everything that determines the scores.
    fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let sizes = (
            self.horizon,
            self.runs as u64,
            self.seed,
            self.points_per_decade,
        );
        hasher.update(&checkpoint::encode(&Tables::from(&self.problem)));
        hasher.update(&checkpoint::encode(&sizes));
        for entrant in &self.entrants {
            let entrant = checkpoint::encode(&(&entrant.label, &entrant.learner));
            hasher.update(&entrant);
        }
        hasher.finalize()
    }
}
