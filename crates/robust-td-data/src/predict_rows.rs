//! Predicts the values of observations in memory, on all threads.

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::evaluate::request::threads;
use crate::fault::{Fault, FaultKind};
use crate::fit::Fit;
use crate::monitor::Monitor;
use crate::predictor::{Predictions, Predictor};

/// The number of rows that are predicted at a time.
const ROWS: usize = 1024;
/// Fewer rows than this are not worth a second thread.
const FEW: usize = 4 * ROWS;

impl Fit {
    /// The values of observations that are stored one after the other, with the ends of their intervals if `intervals` is set
    /// and there are any.
    ///
    /// # Errors
    /// When the length is not a multiple of what the feature map expects, a number or a value is not finite, the model
    /// diverged, or the monitor is cancelled.
    pub fn predict_rows(
        &self,
        observations: &[f64],
        intervals: bool,
        monitor: &Monitor,
    ) -> Result<Predictions> {
        let width = self.model().features().inputs();
        if !observations.len().is_multiple_of(width) {
            let (expected, found) = (width, observations.len() % width);
            return Err(Error::ModelInput { expected, found });
        }
        let predictor = self.predictor(intervals)?;
        let rows = observations.len() / width;
        let threads = match rows < FEW {
            true => 1,
            false => threads(0),
        };
        if threads == 1 {
            return predict(predictor, observations, width, 0, monitor);
        }
        let share = rows.div_ceil(threads).max(1);
        let parts: Vec<Result<Predictions>> = std::thread::scope(|scope| {
            let parts = observations.chunks(share * width).enumerate();
            let started: Vec<_> = parts
                .map(|(k, part)| {
                    let predictor = predictor.clone();
                    scope.spawn(move || predict(predictor, part, width, k * share, monitor))
                })
                .collect();
            let joined = started.into_iter().map(|part| {
                part.join().map_err(|_| Error::Thread {
                    message: "a worker stopped while predicting".to_owned(),
                })?
            });
            joined.collect()
        });
        let mut all = Predictions::default();
        for part in parts {
            all.append(&mut part?);
        }
        Ok(all)
    }
}

/// The predictions for some rows; `first` is the number of rows before them.
fn predict(
    mut predictor: Predictor,
    observations: &[f64],
    width: usize,
    first: usize,
    monitor: &Monitor,
) -> Result<Predictions> {
    let (mut all, mut found) = (Predictions::default(), Predictions::default());
    for (k, part) in observations.chunks(ROWS * width).enumerate() {
        monitor.check()?;
        let before = first + k * ROWS;
        if let Some(at) = part.iter().position(|x| !x.is_finite()) {
            return Err(not_finite(part[at], before + at / width, at % width));
        }
        let rows = part.len() / width;
        let batch = Batch {
            dimension: width,
            obs: part.to_vec(),
            rows: (before..before + rows).map(|row| row as u64 + 1).collect(),
            ..Batch::default()
        };
        predictor.predict(&batch, &mut found)?;
        monitor.add_rows(rows);
        all.append(&mut found);
    }
    Ok(all)
}

fn not_finite(value: f64, row: usize, column: usize) -> Error {
    let fault = Fault {
        file: "obs".to_owned(),
        row: row as u64 + 1,
        line: None,
        column: Some(column.to_string()),
        kind: FaultKind::NotFinite {
            value: value.to_string(),
        },
    };
    Error::BadRow {
        fault: Box::new(fault),
    }
}
