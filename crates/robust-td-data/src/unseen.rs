//! Counts rows whose category the log of a model did not have.

use robust_td_core::features::level::MISSING;
use robust_td_core::features::{FeatureMap, Level};

use crate::inspect::{Finding, FindingKind};
use crate::words::counted;

/// Rows with a level of a category that the log of the model did not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Unseen {
    /// Their number.
    pub rows: u64,
    /// The column of the first one.
    pub column: String,
    /// Its level.
    pub level: String,
    /// Its number in its file, from 1, and the file if there is one.
    pub row: u64,
    /// The file, if it is known.
    pub file: Option<String>,
    /// The code of the level.
    pub(crate) code: f64,
}

impl Unseen {
    /// The first row with such a level.
    pub(crate) fn first(map: &FeatureMap, column: usize, code: f64, row: u64) -> Self {
        let name = map.columns().get(column).map(|input| input.name.clone());
        Self {
            rows: 1,
            column: name.unwrap_or_else(|| format!("obs_{column}")),
            level: match code {
                MISSING => "a missing value".into(),
                code => code.to_string(),
            },
            row,
            file: None,
            code,
        }
    }

    /// Names the level by its text, and the file.
    pub(crate) fn name(&mut self, label: impl Fn(f64) -> Option<String>, file: Option<&String>) {
        if let Some(text) = label(self.code) {
            self.level = format!("{text:?}");
        }
        self.file = file.cloned();
    }

    /// The rows of both; the first one is that of `all`.
    pub(crate) fn join(all: Option<Self>, more: Option<Self>) -> Option<Self> {
        match (all, more) {
            (Some(all), Some(more)) => Some(Self {
                rows: all.rows + more.rows,
                ..all
            }),
            (all, more) => all.or(more),
        }
    }

    /// The same as a finding.
    #[must_use]
    pub fn finding(&self) -> Finding {
        Finding {
            kind: FindingKind::UnseenLevels,
            message: self.to_string(),
            file: self.file.clone(),
            row: Some(self.row),
            count: self.rows,
        }
    }
}

impl std::fmt::Display for Unseen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            column, level, row, ..
        } = self;
        let rows = counted(self.rows, "row has", "rows have");
        let place = (self.file.as_ref()).map_or(String::new(), |file| format!("{file}, "));
        write!(
            f,
            "{rows} a category that the log of the model does not have (first: {place}row {row}, column {column}: {level}); the value \
             leaves it out, and its interval is unbounded"
        )
    }
}

/// A value of an observation, as it is shown.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A number.
    Number(f64),
    /// A level of a category.
    Text(String),
    /// A missing level; null in JSON.
    Missing,
}

impl Entry {
    /// The value in a column of the observation of a map.
    pub(crate) fn of(map: &FeatureMap, column: usize, value: f64) -> Self {
        let category = map
            .columns()
            .get(column)
            .is_some_and(|input| input.category);
        if !category {
            return Self::Number(value);
        }
        match map.label(column, value) {
            Some(text) => Self::Text(text.into()),
            None if value == Level::Missing.code() => Self::Missing,
            None => Self::Number(value),
        }
    }
}
