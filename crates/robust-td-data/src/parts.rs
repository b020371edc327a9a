//! Cuts the rows of a log into parts of a fixed length, whatever its files and batches.

use std::ops::Range;
use std::sync::Arc;

use crate::batch::Batch;
use crate::error::Result;
use crate::schema::Schema;

/// The number of rows in a part.
pub(crate) const ROWS: usize = 4096;

/// Consecutive rows of a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub schema: Arc<Schema>,
    /// The number of rows before.
    pub before: u64,
    pieces: Vec<(Arc<Batch>, Range<usize>)>,
    rows: usize,
}

impl Part {
    /// The rows, as consecutive rows of batches.
    pub fn pieces(&self) -> impl Iterator<Item = (&Batch, Range<usize>)> {
        let pieces = self.pieces.iter();
        pieces.map(|(batch, rows)| (batch.as_ref(), rows.clone()))
    }

    /// About the number of bytes of its observations and next observations.
    pub fn bytes(&self) -> u64 {
        let next = self.pieces.first();
        let vectors = 1 + u64::from(next.is_some_and(|(batch, _)| !batch.next_obs.is_empty()));
        8 * vectors * (self.rows as u64).saturating_mul(self.dimension() as u64)
    }

    /// The length of the observations.
    pub fn dimension(&self) -> usize {
        self.pieces.first().map_or(0, |(batch, _)| batch.dimension)
    }
}

/// The part that is not full yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    open: Part,
}

impl Parts {
    /// Parts of a log after this number of rows.
    pub fn after(before: u64) -> Self {
        let open = Part {
            before,
            ..Part::default()
        };
        Self { open }
    }

    /// Adds the rows of a batch, and calls `full` with every part that is full.
    ///
    /// # Errors
    /// Those of `full`.
    pub fn push(
        &mut self,
        schema: &Schema,
        batch: &Arc<Batch>,
        mut full: impl FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        if self.open.schema.as_ref() != schema {
            self.open.schema = Arc::new(schema.clone());
        }
        let mut from = 0;
        while from < batch.len() {
            let open = &mut self.open;
            let end = batch.len().min(from + ROWS - open.rows);
            open.pieces.push((batch.clone(), from..end));
            open.rows += end - from;
            from = end;
            if open.rows == ROWS {
                let next = Part {
                    schema: open.schema.clone(),
                    before: open.before + ROWS as u64,
                    ..Part::default()
                };
                full(std::mem::replace(open, next))?;
            }
        }
        Ok(())
    }

    /// The last part, if it has rows.
    pub fn finish(self) -> Option<Part> {
        Some(self.open).filter(|part| part.rows > 0)
    }
}
