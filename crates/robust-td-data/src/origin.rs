//! Remembers the files of a log, so that a model can be evaluated again together with more of them.

use serde::{Deserialize, Serialize};

use crate::columns::ColumnMap;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::options::ReadAs;
use crate::path_name::path_of;
use crate::preset::Preset;
use crate::source::Format;

/// The files of a log, and how they were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// Their names, as they were given, and their sizes in bytes.
    pub files: Vec<(String, u64)>,
    pub format: Option<Format>,
    pub columns: ColumnMap,
    pub preset: Preset,
    #[serde(default, skip_serializing_if = "Dialect::is_default")]
    pub dialect: Dialect,
    pub skip_bad_rows: u64,
}

impl Origin {
    /// How the files were read.
    pub fn read_as(&self) -> ReadAs {
        ReadAs {
            columns: self.columns.clone(),
            preset: self.preset,
            dialect: self.dialect,
            inputs: Vec::new(),
        }
    }

    /// The names of the files.
    ///
    /// # Errors
    /// When one of them cannot be found, or has changed, or the log was in memory.
    pub fn unchanged(&self) -> Result<Vec<String>> {
        if self.files.is_empty() {
            return Err(Error::OriginInMemory);
        }
        for (file, bytes) in &self.files {
            if size(file).is_none_or(|now| now != *bytes) {
                return Err(Error::OriginChanged { file: file.clone() });
            }
        }
        Ok(self.files.iter().map(|(file, _)| file.clone()).collect())
    }
}

/// The size of a file, if it exists.
pub(crate) fn size(file: &str) -> Option<u64> {
    std::fs::metadata(path_of(file)).ok().map(|data| data.len())
}

/// The size of a file, and the time of its last change in nanoseconds; zeros where they are not known.
pub(crate) fn version(file: &str) -> (u64, u64) {
    let Ok(data) = std::fs::metadata(path_of(file)) else {
        return (0, 0);
    };
    let changed = data.modified().ok();
    let since = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    (data.len(), since.map_or(0, |since| since.as_nanos() as u64))
}
