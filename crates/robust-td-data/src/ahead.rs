//! Reads batches ahead on a separate thread while the caller learns from the last one.
//!
//! When learning is slower than reading, that thread also precomputes the features of what it has read.

use std::sync::Arc;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel,
};
use std::time::Duration;

use robust_td_core::features::FeatureMap;

use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::learned::Learned;
use crate::monitor::Monitor;
use crate::reader::Reader;
use crate::schema::Schema;
use crate::written::Written;

/// The smallest and the largest number of batches read ahead, and the bytes that more than the former may take: memory does not depend on
/// the size of the log. Threads that wait for each other at every batch lose time.
const AHEAD: (usize, usize) = (2, 16);
const BYTES: usize = 1 << 25;

/// The number of batches to be ahead, given the size of one.
pub(crate) fn ahead(rows: usize, columns: usize) -> usize {
    let bytes = rows.saturating_mul(columns.max(1)).saturating_mul(8);
    (BYTES / bytes.max(1)).clamp(AHEAD.0, AHEAD.1)
}
/// How often a waiting caller checks whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// A reader that runs concurrently with its user; the batches and their order are those of [`Reader`].
#[derive(Debug)]
pub struct ReadAhead {
    files: Vec<String>,
    schema: Schema,
    bad_rows: BadRows,
    full: Receiver<Result<Message>>,
    empty: Sender<Batch>,
    monitor: Monitor,
    /// The last row that was returned.
    row: u64,
    /// The number of batches to return after the stream is ended: those that were read before.
    left: usize,
}

/// A batch, or `None` at the end of the log, with the bad rows so far.
#[derive(Debug)]
struct Message {
    batch: Option<Batch>,
    bad_rows: BadRows,
}

impl ReadAhead {
    /// Starts reading.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(reader: Reader) -> Result<Self> {
        Self::spawn(reader, None)
    }

    /// Starts reading for a model and precomputes its features in spare time; the results are the same.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_for(reader: Reader, model: &Learned) -> Result<Self> {
        let map = Some(model.features()).filter(|map| Written::suits(map));
        Self::spawn(reader, map.cloned().map(Arc::new))
    }

    fn spawn(reader: Reader, map: Option<Arc<FeatureMap>>) -> Result<Self> {
        let (files, schema) = (reader.files().to_vec(), reader.schema().clone());
        let monitor = reader.monitor().clone();
        let ahead = match reader.is_stream() {
            true => AHEAD.0,
            false => ahead(
                reader.batch_rows(),
                reader.dimension().unwrap_or(usize::MAX),
            ),
        };
        let (to_full, full) = sync_channel(ahead);
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
            bad_rows: BadRows::default(),
            full,
            empty,
            monitor,
            row: 0,
            left: ahead + 1,
        })
    }

    /// As [`Reader::read`]; the old content of the batch is dropped.
    ///
    /// # Errors
    /// Those of [`Reader::read`], after all earlier batches.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        let Some(message) = self.receive()? else {
            self.monitor.end_after(self.row);
            return Ok(false);
        };
        self.bad_rows = message.bad_rows;
        let Some(next) = message.batch else {
            return Ok(false);
        };
        self.row = next.rows.last().copied().unwrap_or(self.row);
        // At the end of the log the reader no longer accepts used batches.
        let _ = self.empty.send(std::mem::replace(batch, next));
        Ok(true)
    }

    /// The next message; none if the stream was ended from outside and all that was read before is returned.
    ///
    /// The reading thread may wait for a pipe for ever, so the caller looks up now and then.
    fn receive(&mut self) -> Result<Option<Message>> {
        loop {
            self.monitor.check()?;
            let ended = self.monitor.is_ended();
            if ended && self.left == 0 {
                return Ok(None);
            }
            self.left -= usize::from(ended);
            match self.full.recv_timeout(TICK) {
                // What follows the last complete row is cut off with the stream.
                Ok(Err(_)) if self.monitor.is_ended() => return Ok(None),
                Ok(message) => return message.map(Some),
                Err(RecvTimeoutError::Timeout) if ended => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                // Without an explicit end message the log must not appear complete.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Thread {
                        message: "it stopped before the end of the log".to_owned(),
                    });
                }
            }
        }
    }

    /// The roles that have columns in the log.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The bad rows skipped up to the end of the last batch returned.
    #[must_use]
    pub fn bad_rows(&self) -> &BadRows {
        &self.bad_rows
    }

    /// The names of the inputs, in the order of [`Batch::file`].
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

/// Reads until the log ends, a row is bad, or the receiver is dropped.
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
            bad_rows: reader.bad_rows().clone(),
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
