//! Assembles and checks one row.

use crate::actions::{At, ChoiceCell, RowChoice};
use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::labels::Coder;
use crate::layout::{Layout, Target};
use robust_td_core::features::level::MISSING;

/// One row under construction.
#[derive(Debug, Clone)]
pub(crate) struct LogRow {
    pub obs: Vec<f64>,
    pub next_obs: Vec<f64>,
    pub reward: Option<f64>,
    pub terminated: bool,
    pub truncated: bool,
    pub episode: u64,
    pub cluster: u64,
    pub ratio: f64,
    pub choice: RowChoice,
    /// A cell of the next observation that is missing, which only matters if something follows.
    missing_next: Option<Bad>,
    /// The codes of categories.
    coder: Coder,
}

impl LogRow {
    /// A row with space for the layout's columns; lists allocate their own.
    pub fn of(layout: &Layout) -> Self {
        let count = |of: fn(&Target) -> bool| layout.targets.iter().filter(|t| of(t)).count();
        let here = |t: &Target| matches!(t, Target::Obs(_) | Target::Level { next: false, .. });
        let next = |t: &Target| matches!(t, Target::NextObs(_) | Target::Level { next: true, .. });
        Self {
            obs: vec![0.0; count(here)],
            next_obs: vec![0.0; count(next)],
            reward: layout.reward,
            terminated: false,
            truncated: false,
            episode: 0,
            cluster: 0,
            ratio: 1.0,
            choice: RowChoice::of(
                layout.schema.policy.as_ref(),
                [At::Own, At::Next].map(|at| {
                    let own = |t: &&Target| {
                        matches!(t, Target::Choice(ChoiceCell::Weight(own, _)) if *own == at)
                    };
                    layout.targets.iter().filter(own).count()
                }),
                (layout.targets).contains(&Target::Choice(ChoiceCell::Taken)),
            ),
            missing_next: None,
            coder: Coder::new(layout.labels.clone()),
        }
    }

    /// Stores the level that a text means.
    pub fn set_level(&mut self, target: Target, text: &[u8]) -> std::result::Result<(), FaultKind> {
        let code = self.coder.code(text);
        if let (
            Ok(code),
            Target::Level {
                only_text: true, ..
            },
        ) = (&code, target)
            && !robust_td_core::features::level::is_text(*code)
        {
            return Err(FaultKind::NumberInText {
                value: crate::fault::shown(text.trim_ascii()),
                column: String::new(),
            });
        }
        self.put_level(target, code)
    }

    /// Stores the level of a number.
    pub fn set_number_level(
        &mut self,
        target: Target,
        value: f64,
    ) -> std::result::Result<(), FaultKind> {
        let code = self.coder.number_code(value);
        self.put_level(target, code)
    }

    fn put_level(
        &mut self,
        target: Target,
        code: std::result::Result<f64, FaultKind>,
    ) -> std::result::Result<(), FaultKind> {
        let Target::Level {
            index,
            next,
            missing,
            ..
        } = target
        else {
            return Ok(());
        };
        let code = match code {
            Err(FaultKind::Missing | FaultKind::MissingField) if missing => MISSING,
            code => code?,
        };
        match next {
            true => self.next_obs[index] = code,
            false => self.obs[index] = code,
        }
        Ok(())
    }

    /// Stores a number for a numeric target; false if it is out of bounds.
    #[inline]
    pub fn set_number(&mut self, target: Target, value: f64) -> bool {
        if !value.is_finite() {
            return false;
        }
        match target {
            Target::Obs(k) => self.obs[k] = value,
            Target::NextObs(k) => self.next_obs[k] = value,
            Target::Reward => self.reward = Some(value),
            Target::Choice(cell) => self.choice.set_number(cell, value),
            _ if !(value >= 0.0) => return false,
            _ => self.ratio = value,
        }
        true
    }

    /// Stores a flag.
    #[inline]
    pub fn set_flag(&mut self, target: Target, value: bool) {
        match target {
            Target::Terminated => self.terminated = value,
            _ => self.truncated = value,
        }
    }

    /// Stores the number of an episode, a cluster or an action, whose text may be needed for a message.
    #[inline]
    pub fn set_id(&mut self, target: Target, id: u64, text: impl FnOnce() -> String) {
        match target {
            Target::Cluster => self.cluster = id,
            Target::Choice(cell) => self.choice.set_id(cell, id, text),
            _ => self.episode = id,
        }
    }

    /// Accepts a cell that cannot be read if it is a missing one of a next observation, until the whole row is known.
    #[cold]
    pub fn miss(
        &mut self,
        target: Target,
        column: usize,
        kind: FaultKind,
    ) -> std::result::Result<(), Bad> {
        if let Target::Level { missing: true, .. } = target
            && matches!(kind, FaultKind::Missing | FaultKind::MissingField)
        {
            return self
                .put_level(target, Err(kind))
                .map_err(|kind| Bad::at(column, kind));
        }
        let kind = match (target, kind) {
            (Target::Choice(_), FaultKind::NotAnEpisode { value }) => {
                FaultKind::not_an_action(&value, "an integer or text")
            }
            (_, kind) => kind,
        };
        let bad = Bad::at(column, kind);
        let missing = matches!(bad.kind, FaultKind::Missing | FaultKind::MissingField);
        match target {
            Target::NextObs(_) | Target::NextObsList | Target::Level { next: true, .. }
                if missing =>
            {
                self.missing_next.get_or_insert(bad);
                Ok(())
            }
            Target::Choice(cell) if missing && cell.is_next() => {
                self.missing_next.get_or_insert(bad);
                Ok(())
            }
            _ => Err(bad),
        }
    }

    /// Replaces a missing next observation, which is not used if the row is terminated; otherwise the row is bad.
    #[inline]
    fn settle(&mut self, layout: &Layout) -> std::result::Result<(), Bad> {
        match self.missing_next.take() {
            None => {}
            Some(bad) if !self.terminated => return Err(bad),
            Some(_) => self.next_obs.clone_from(&self.obs),
        }
        let settled = self.choice.settle(self.terminated);
        settled.map_err(|(cell, kind)| Bad {
            column: layout.place(cell),
            kind,
        })
    }

    /// Whether no cell of the next observation is missing.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.missing_next.is_none()
    }

    /// Forgets what was missing in a row that cannot be read.
    fn forget(&mut self) {
        self.missing_next = None;
    }

    /// The cleared list for a list target.
    #[inline]
    pub fn list(&mut self, target: Target) -> &mut Vec<f64> {
        let list = match target {
            Target::NextObsList => &mut self.next_obs,
            Target::Choice(cell) => self.choice.list(cell),
            _ => &mut self.obs,
        };
        list.clear();
        list
    }
}

/// The reason why a number was rejected.
pub(crate) fn refused_number(value: f64, text: String) -> FaultKind {
    match value.is_finite() {
        true => FaultKind::NegativeRatio { value: text },
        false => FaultKind::NotFinite { value: text },
    }
}

/// A fault within a row, before its place is known.
#[derive(Debug, Clone)]
pub(crate) struct Bad {
    /// The index of the column.
    pub column: Option<usize>,
    pub kind: FaultKind,
}

impl Bad {
    pub fn at(column: usize, kind: FaultKind) -> Self {
        Self {
            column: Some(column),
            kind,
        }
    }

    pub fn row(kind: FaultKind) -> Self {
        Self { column: None, kind }
    }
}

/// About the maximum number of values of the observations in a batch. They take 32 MiB; memory of that size goes back to the system when it
/// is freed, that of smaller batches is kept by the allocator for each thread.
const MOST_VALUES: usize = 1 << 22;

/// State shared by all rows of a log: the length of observations, and the bad rows.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub batch_rows: usize,
    /// Whether a batch ends where the next row is still to come, as on a stream.
    pub eager: bool,
    pub dimension: Option<usize>,
    pub bad: BadRows,
    /// Whether rows were skipped since the last good one.
    pub gap: bool,
}

impl Ledger {
    /// The maximum number of rows in a batch, given the length of observations if it is known: fewer if they are long.
    pub fn most_rows(&self, dimension: Option<usize>) -> usize {
        let fit = MOST_VALUES.div_ceil(dimension.unwrap_or(1).max(1));
        self.batch_rows.min(fit)
    }

    /// Adds a row to the batch, or skips it if it is bad and skipping is allowed.
    #[inline]
    pub fn enter(
        &mut self,
        batch: &mut Batch,
        row: &mut LogRow,
        layout: &Layout,
        place: Place<'_>,
        read: std::result::Result<(), Bad>,
    ) -> Result<()> {
        let settled = match &read {
            Ok(()) => row.settle(layout),
            Err(_) => {
                row.forget();
                Ok(())
            }
        };
        match read
            .and(settled)
            .and_then(|()| self.check_lengths(row, layout))
        {
            Ok(()) => {
                if batch.is_empty() {
                    batch.reserve(self.most_rows(self.dimension), row);
                }
                batch.push(row, place.row, self.gap);
                self.gap = false;
                Ok(())
            }
            Err(bad) => {
                self.gap = true;
                self.bad.skip(Fault {
                    file: place.file.to_owned(),
                    row: place.row,
                    line: place.line,
                    column: bad.column.map(|index| layout.name(index)),
                    kind: explained(bad, layout),
                })
            }
        }
    }

    #[inline]
    fn check_lengths(&mut self, row: &LogRow, layout: &Layout) -> std::result::Result<(), Bad> {
        let expected = self.dimension.unwrap_or(row.obs.len());
        let wrong_obs = row.obs.len() != expected || row.obs.is_empty();
        let wrong_next = layout.schema.next_obs && row.next_obs.len() != expected;
        if wrong_obs || wrong_next {
            return Err(ragged(row, layout, expected, wrong_obs));
        }
        self.dimension = Some(expected);
        Ok(())
    }
}

/// The fault of a cell with the name of its column, where the remedy needs it.
#[cold]
fn explained(bad: Bad, layout: &Layout) -> FaultKind {
    let Some(index) = bad.column else {
        return bad.kind;
    };
    let (target, column) = (layout.targets.get(index), layout.name(index));
    match (bad.kind, target) {
        (FaultKind::Missing, Some(Target::Level { .. })) => FaultKind::MissingLevel { column },
        (FaultKind::NumberInText { value, .. }, _) => FaultKind::NumberInText { value, column },
        (FaultKind::NotANumber { value }, Some(Target::Obs(_) | Target::NextObs(_)))
            if crate::fault::is_word(&value) =>
        {
            FaultKind::TextInNumbers { value, column }
        }
        (kind, _) => kind,
    }
}

#[cold]
fn ragged(row: &LogRow, layout: &Layout, expected: usize, wrong_obs: bool) -> Bad {
    let (list, found) = match wrong_obs {
        true => (Target::ObsList, row.obs.len()),
        false => (Target::NextObsList, row.next_obs.len()),
    };
    let kind = match found {
        0 if expected == 0 => FaultKind::NotAList {
            value: "[]".to_owned(),
        },
        _ => FaultKind::Ragged { expected, found },
    };
    Bad {
        column: layout.targets.iter().position(|&target| target == list),
        kind,
    }
}

/// The place of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub file: &'a str,
    pub row: u64,
    pub line: Option<u64>,
}
