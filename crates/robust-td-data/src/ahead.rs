//! Reads batches ahead on a thread of its own, while the last one is learned from.
//!
//! When learning is the slower of the two, that thread would wait; instead it writes the features of what it has read.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};

use robust_td_core::features::FeatureMap;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::reader::Reader;
use crate::schema::Schema;
use crate::written::Written;

/// How many batches are read ahead at most: the memory does not depend on the log's size.
const AHEAD: usize = 2;

/// A reader that works at the same time as whoever uses its batches; these are the same, in the same order.
#[derive(Debug)]
pub struct ReadAhead {
    files: Vec<String>,
    schema: Schema,
    bad_rows: u64,
    full: Receiver<Result<Message>>,
    empty: Sender<Batch>,
}

/// A batch, or none at the end of the log, with the number of bad rows until then.
#[derive(Debug)]
struct Message {
    batch: Option<Batch>,
    bad_rows: u64,
}

impl ReadAhead {
    /// Starts to read.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(reader: Reader) -> Result<Self> {
        Self::spawn(reader, None)
    }

    /// Starts to read for a model, whose features are written in spare time; the numbers are the same.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start_for(reader: Reader, model: &Model) -> Result<Self> {
        let map = Some(model.features()).filter(|map| Written::suits(map));
        Self::spawn(reader, map.cloned().map(Arc::new))
    }

    fn spawn(reader: Reader, map: Option<Arc<FeatureMap>>) -> Result<Self> {
        let (files, schema) = (reader.files().to_vec(), reader.schema().clone());
        let (to_full, full) = sync_channel(AHEAD);
        let (empty, from_empty) = channel();
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || read_all(reader, map.as_ref(), &to_full, &from_empty))
            .map_err(|error| Error::Thread {
                message: error.to_string(),
            })?;
        Ok(Self {
            files,
            schema,
            bad_rows: 0,
            full,
            empty,
        })
    }

    /// As [`Reader::read`]; what was in the batch is dropped.
    ///
    /// # Errors
    /// Those of [`Reader::read`], after all batches before.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        // Without a word of the end the log must not seem complete.
        let message = self.full.recv().map_err(|_| Error::Thread {
            message: "it stopped before the end of the log".to_owned(),
        })?;
        let message = message?;
        self.bad_rows = message.bad_rows;
        let Some(next) = message.batch else {
            return Ok(false);
        };
        // At the end of the log nobody takes used batches back.
        let _ = self.empty.send(std::mem::replace(batch, next));
        Ok(true)
    }

    /// The roles that the log has columns for.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many bad rows were skipped until the end of the last batch that was given out.
    #[must_use]
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows
    }

    /// The names of the inputs, in the order of [`Batch::file`].
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

/// Reads until the log ends, a row is bad, or nobody listens any more.
fn read_all(
    mut reader: Reader,
    map: Option<&Arc<FeatureMap>>,
    full: &SyncSender<Result<Message>>,
    empty: &Receiver<Batch>,
) {
    loop {
        let mut batch = empty.try_recv().unwrap_or_default();
        let read = reader.read(&mut batch);
        let more = matches!(read, Ok(true));
        let message = read.map(|more| Message {
            batch: more.then_some(batch),
            bad_rows: reader.bad_rows().count(),
        });
        let sent = match full.try_send(message) {
            Err(TrySendError::Full(mut message)) => {
                if let (Some(map), Ok(Message { batch, .. })) = (map, &mut message)
                    && let Some(batch) = batch.as_mut().filter(|b| b.dimension() == map.inputs())
                {
                    batch.write_features(map);
                }
                full.send(message).is_ok()
            }
            sent => sent.is_ok(),
        };
        if !sent || !more {
            return;
        }
    }
}
