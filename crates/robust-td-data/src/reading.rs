//! Describes how to read a log on another machine, as it was read here.

use std::sync::Arc;

use robust_td_core::features::{ColumnUse, Input};
use serde::{Deserialize, Serialize};

use crate::columns::ColumnMap;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::log::Log;
use crate::monitor::Monitor;
use crate::observed::Observed;
use crate::origin;
use crate::preset::Preset;
use crate::schema::Schema;
use crate::source::Format;
use crate::stored::{Seek, Stores};

/// The size of a file in bytes and the time of its last change. They are part of the tasks that read it, so that a state of other contents is that
/// of another task, and those of other files remain.
pub(crate) type Version = (u64, u64);

/// The files of a log, and how they were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reading {
    pub files: Vec<String>,
    pub format: Option<Format>,
    pub columns: ColumnMap,
    pub preset: Preset,
    pub dialect: Dialect,
    pub skip_bad_rows: u64,
    /// The columns of the observation that the first file fixed for the others.
    pub fixed: Option<Vec<Input>>,
    /// Otherwise, the feature maps that name columns.
    pub maps: Option<Vec<String>>,
    /// What this machine adds.
    #[serde(skip)]
    pub here: Here,
}

/// What belongs to the machine that reads: not a part of a description.
#[derive(Debug, Clone, Default)]
pub(crate) struct Here {
    /// Stops the reading.
    pub monitor: Monitor,
    /// The files that are stored elsewhere.
    pub stores: Stores,
    /// A place in the first file that is read.
    pub seek: Option<Seek>,
}

impl PartialEq for Here {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Reading {
    /// Refuses files of other sizes than those that were surveyed. (Copies on other machines may have other times.)
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub fn check_sizes(&self, first: usize, versions: &[Version]) -> Result<()> {
        for (file, (size, _)) in self.files.iter().skip(first).zip(versions) {
            // What cannot be found is reported when it is opened.
            let now = self.here.stores.length(file).or_else(|| origin::size(file));
            if now.is_some_and(|now| now != *size) {
                return Err(Error::Changed { file: file.clone() });
            }
        }
        Ok(())
    }

    /// The log.
    ///
    /// # Errors
    /// When a feature map is malformed.
    pub fn log(&self) -> Result<Log> {
        self.log_of(&self.files)
    }

    /// The log of some of the files.
    ///
    /// # Errors
    /// When a feature map is malformed.
    pub fn log_of(&self, files: &[String]) -> Result<Log> {
        let mut log = Log::files(files.iter().cloned())
            .columns(self.columns.clone())
            .layout(self.preset)
            .skip_bad_rows(self.skip_bad_rows)
            .with_here(&self.here);
        if let Some(format) = self.format {
            log = log.format(format);
        }
        log.read_like(self.dialect, self.observed()?);
        Ok(log)
    }

    fn observed(&self) -> Result<Observed> {
        Ok(match (&self.fixed, &self.maps) {
            (Some(inputs), _) => Observed::Fixed {
                inputs: inputs.as_slice().into(),
                by_name: true,
            },
            (None, Some(maps)) => {
                let maps: Vec<&str> = maps.iter().map(String::as_str).collect();
                Observed::Used(Arc::new(ColumnUse::of(&maps)?))
            }
            (None, None) => Observed::Anything,
        })
    }
}

/// The columns that the first file of a log fixes for the others.
pub(crate) fn fixed(observed: &Observed, schema: &Schema) -> Option<Vec<Input>> {
    let named = match observed {
        Observed::Used(used) => used.names().next().is_some(),
        _ => false,
    };
    let fixes = (named || !schema.categories.is_empty()) && !schema.inputs.is_empty();
    fixes.then(|| schema.inputs.clone())
}
