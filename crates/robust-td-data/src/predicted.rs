//! Predicts the values of the rows of a log, batch by batch.

use std::sync::Arc;

use arrow_array::{StringArray, UInt64Array};

use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::error::Result;
use crate::labels::Labels;
use crate::log::Log;
use crate::options::Purpose;
use crate::predictor::{Predictions, Predictor};
use crate::reader::Reader;
use crate::unseen::Unseen;

/// What limits predicted values.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The rows with an unbounded interval whose categories the log of the model has.
    pub unbounded: Option<Unbounded>,
    /// The rows with a category that the log of the model did not have.
    pub unseen: Option<Unseen>,
    /// The bad rows that were skipped and have no value.
    pub skipped: BadRows,
}

/// Rows about which the log of a model says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbounded {
    /// Their number.
    pub rows: u64,
    /// The file of the first one.
    pub file: String,
    /// Its number in its file, from 1.
    pub row: u64,
}

/// The rows of a log with their values, batch by batch.
pub(crate) struct PredictedRows {
    pub reader: Reader,
    labels: Labels,
    pub batch: Batch,
    predictor: Predictor,
    /// Whether rows are copied with their numbers, because some may be skipped.
    shows_places: bool,
}

impl PredictedRows {
    /// The rows of a log.
    ///
    /// # Errors
    /// Those of [`Log::open`].
    pub fn open(mut log: Log, predictor: Predictor) -> Result<Self> {
        Ok(Self {
            shows_places: log.skips(),
            labels: log.labels().clone(),
            reader: log.open(Purpose::Predict)?,
            batch: Batch::default(),
            predictor,
        })
    }

    /// Replaces the predictions by those of the next batch; false at the end of the log.
    pub fn read(&mut self, found: &mut Predictions) -> Result<bool> {
        let more = self.reader.read(&mut self.batch)?;
        if more {
            let predicted = self.predictor.predict(&self.batch, found);
            predicted.map_err(|error| error.of_batch(self.reader.files(), &self.batch))?;
            if let Some(unseen) = &mut found.unseen {
                let file = self.reader.files().get(self.batch.file());
                unseen.name(|code| self.labels.get(code), file);
            }
            if self.shows_places {
                self.add_places();
            }
        }
        Ok(more)
    }

    /// The rows of the last batch with an unbounded interval, added to those before.
    pub fn unbounded(&self, before: Option<Unbounded>, found: &Predictions) -> Option<Unbounded> {
        let Some((rows, row)) = found.unbounded else {
            return before;
        };
        let first = || Unbounded {
            rows: 0,
            file: self.reader.files()[self.batch.file()].clone(),
            row,
        };
        let mut all = before.unwrap_or_else(first);
        all.rows += rows;
        Some(all)
    }

    /// Copies the numbers of the rows, and the name of their file if there are several.
    fn add_places(&mut self) {
        let rows: UInt64Array = self.batch.row_numbers().iter().copied().collect();
        let (count, files) = (rows.len(), self.reader.files());
        self.batch.kept.put_first("row", Arc::new(rows));
        if let Some(file) = files.get(self.batch.file()).filter(|_| files.len() > 1) {
            let names = std::iter::repeat_n(Some(file.as_str()), count);
            let names: StringArray = names.collect();
            self.batch.kept.put_first("file", Arc::new(names));
        }
    }
}
