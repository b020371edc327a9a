//! Sets up the learner of a stream of feature vectors.

use super::Evaluation;
use super::learner_choice::NewModel;
use super::request::Request;
use crate::error::Result;
use crate::log::Log;
use crate::schema::Schema;
use robust_td_core::registry::{self, AnyLearner};

impl Evaluation {
    /// An evaluation of feature vectors that the caller passes to a [`learner`](Self::learner) one by one.
    #[must_use]
    pub fn online() -> Self {
        Self::new(Log::files(Vec::<String>::new()))
    }

    /// The learner for a stream of feature vectors of the given length, chosen as for any stream: what a log would be
    /// measured for must be set.
    ///
    /// ```
    /// use robust_td_core::{Learner, Transition};
    /// use robust_td_data::Evaluation;
    ///
    /// let mut learner = Evaluation::online().discount(0.5).learner(1)?;
    /// learner.step(&Transition::new(&[1.0], 3.0, &[1.0]));
    /// assert!((learner.value((&[1.0]).into()) - 6.0).abs() < 1e-12);
    /// # Ok::<(), robust_td_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// When an option is out of range or missing.
    pub fn learner(&self, dimension: usize) -> Result<AnyLearner> {
        self.request.check()?;
        let algorithm = match self.request.is_auto() {
            true => Some(registry::FOR_LOGS.into()),
            false => self.request.algorithm.clone(),
        };
        let request = Request {
            algorithm,
            features: Some("identity".into()),
            ..self.request.clone()
        };
        let model = NewModel::choose(&request, true)?.model(&Schema::default(), dimension)?;
        Ok(model.learner().clone())
    }
}
