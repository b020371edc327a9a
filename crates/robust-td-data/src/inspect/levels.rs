//! Counts the levels of a category.

use std::collections::BTreeMap;

use robust_td_core::features::MAX_LEVELS;
use robust_td_core::features::level::MISSING;
use serde::{Deserialize, Serialize};

use crate::labels::Labels;

/// The number of levels that are listed.
const LISTED: usize = 10;

/// A column of categories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CategoryReport {
    /// Its name.
    pub name: String,
    /// The number of levels; beyond 100,000 they are not counted.
    pub levels: u64,
    /// Whether all levels were counted.
    pub complete: bool,
    /// The number of rows with a missing value.
    pub missing: u64,
    /// The most frequent levels.
    pub most: Vec<LevelCount>,
}

/// A level of a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelCount {
    /// Its text.
    pub level: String,
    /// The number of its rows.
    pub rows: u64,
}

/// The rows of each level so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Levels {
    rows: BTreeMap<u64, u64>,
    missing: u64,
    more: bool,
}

impl Levels {
    pub fn add(&mut self, code: f64) {
        if code == MISSING {
            self.missing += 1;
            return;
        }
        let full = self.rows.len() >= MAX_LEVELS;
        match self.rows.get_mut(&code.to_bits()) {
            Some(rows) => *rows += 1,
            None if full => self.more = true,
            None => {
                self.rows.insert(code.to_bits(), 1);
            }
        }
    }

    /// Adds the rows of a later part of the log.
    pub fn merge(&mut self, later: Self) {
        self.missing += later.missing;
        self.more |= later.more;
        for (code, rows) in later.rows {
            *self.rows.entry(code).or_default() += rows;
        }
        self.more |= self.rows.len() > MAX_LEVELS;
    }

    /// Whether all levels are counted.
    pub fn is_complete(&self) -> bool {
        !self.more
    }

    /// The report on a column of this name.
    pub fn report(&self, name: String, labels: &Labels) -> CategoryReport {
        let text = |code: f64| labels.get(code).unwrap_or_else(|| code.to_string());
        let mut levels: Vec<LevelCount> = (self.rows.iter())
            .map(|(&code, &rows)| LevelCount {
                level: text(f64::from_bits(code)),
                rows,
            })
            .collect();
        levels.sort_by(|a, b| b.rows.cmp(&a.rows).then_with(|| a.level.cmp(&b.level)));
        levels.truncate(LISTED);
        CategoryReport {
            name,
            levels: self.rows.len() as u64,
            complete: !self.more,
            missing: self.missing,
            most: levels,
        }
    }
}
