//! Streams the transitions of a log to a visitor.

use std::ops::ControlFlow;

use crate::batch::Batch;
use crate::error::Result;
use crate::pairing::{Pairing, Step};
use crate::reader::Reader;

/// The transitions of a log, in order.
///
/// ```
/// use std::ops::ControlFlow;
/// use robust_td_data::{Compression, Format, Pairing, ReadOptions, Reader, Source, Transitions};
///
/// let text = "obs_0,reward,terminated\n1,10,0\n2,20,0\n3,30,1\n";
/// let source = Source::stream("log", Format::Csv, Compression::None, text.as_bytes())?;
/// let reader = Reader::open(vec![source], ReadOptions::default())?;
/// let mut transitions = Transitions::new(reader, Pairing::default());
/// let mut seen = Vec::new();
/// transitions.for_each(|step| {
///     seen.push((step.obs[0], step.reward, step.next_obs().map(|next| next[0])));
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(seen, [(1.0, 10.0, Some(2.0)), (2.0, 20.0, Some(3.0)), (3.0, 30.0, None)]);
/// # Ok::<(), robust_td_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Transitions {
    reader: Reader,
    pairing: Pairing,
    batch: Batch,
    /// The first row of the batch not yet consumed.
    next: usize,
}

impl Transitions {
    /// The transitions of a reader's log; a restored pairing resumes where it was saved.
    #[must_use]
    pub fn new(reader: Reader, pairing: Pairing) -> Self {
        Self {
            reader,
            pairing,
            batch: Batch::default(),
            next: 0,
        }
    }

    /// Yields transitions until the log ends or `visit` breaks; a further call resumes. Does not allocate per
    /// row.
    ///
    /// # Errors
    /// Those of [`Reader::read`].
    pub fn for_each(
        &mut self,
        mut visit: impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        loop {
            let mut flow = ControlFlow::Continue(());
            self.next = self
                .pairing
                .push(self.reader.schema(), &self.batch, self.next, |step| {
                    flow = visit(step);
                    flow
                });
            if flow.is_break() {
                return Ok(flow);
            }
            // The rows of the old batch are all consumed; if reading fails, none is consumed twice.
            self.next = 0;
            if !self.reader.read(&mut self.batch)? {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// The state of pairing, to be saved with the learner.
    #[must_use]
    pub fn pairing(&self) -> &Pairing {
        &self.pairing
    }

    /// The reader.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }
}
