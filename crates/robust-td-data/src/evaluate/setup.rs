//! Sets the options of an evaluation.

use std::sync::Arc;

use super::request::Constant;
use super::{Evaluation, Progress, ReportAt};
use crate::choice::Wanted;
use crate::columns::ColumnMap;
use crate::model::Model;
use crate::monitor::Monitor;
use crate::preset::Preset;
use crate::source::Format;
use crate::stored::Storage;

impl Evaluation {
    /// The discount factor gamma, from 0 to 1; 1 where every episode terminates.
    #[must_use]
    pub fn discount(mut self, discount: f64) -> Self {
        self.request.discount = Some(discount);
        self
    }

    /// The algorithm's id.
    #[must_use]
    pub fn algorithm(mut self, id: impl Into<String>) -> Self {
        self.request.algorithm = Some(id.into());
        self
    }

    /// The stepsize constant c, for algorithms that have one.
    #[must_use]
    pub fn c(mut self, c: f64) -> Self {
        self.request.c = Some(Constant::Fixed(c));
        self
    }

    /// Lets the data choose the constant c.
    #[must_use]
    pub fn c_auto(mut self) -> Self {
        self.request.c = Some(Constant::Auto);
        self
    }

    /// Learns from the first T transitions, with stepsizes for that horizon.
    #[must_use]
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.request.horizon = Some(horizon);
        self
    }

    /// A bound on the norm of the features.
    #[must_use]
    pub fn phi_inf(mut self, phi_inf: f64) -> Self {
        self.request.phi_inf = Some(phi_inf);
        self
    }

    /// A parameter of the algorithm, such as `radius` or `lambda`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: f64) -> Self {
        self.request.parameters.push((name.into(), value));
        self
    }

    /// The feature map, such as `standardise + bias`; `auto` compares several and takes the simplest of the best.
    #[must_use]
    pub fn features(self, spec: impl Into<String>) -> Self {
        self.compare_features([spec])
    }

    /// Compares these feature maps on rows that they were not fitted to, and takes the simplest of the best; `auto` stands for a list that
    /// depends on the log. A single map is taken as it is.
    ///
    /// Intervals of the answer do not include the choice.
    #[must_use]
    pub fn compare_features<I>(mut self, specs: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let specs = specs.into_iter().map(Into::into);
        let (auto, mut specs): (Vec<String>, _) =
            specs.partition(|spec: &String| spec.trim() == "auto");
        (self.request.features, self.request.wanted) = match (auto.len(), specs.len()) {
            (0, 0) => (None, None),
            (0, 1) => (specs.pop(), None),
            (auto, _) => {
                let auto = auto > 0;
                (None, Some(Wanted { auto, specs }))
            }
        };
        self
    }

    /// The number of passes over the files.
    #[must_use]
    pub fn passes(mut self, passes: u64) -> Self {
        self.request.passes = passes;
        self
    }

    /// Averages this number of independent learners, from 2 to 1,024, each on its own part of the log: another answer than that of one learner on all
    /// of it, but one that is computed in parallel, on whatever machines, to the same bits.
    ///
    /// Where there are episodes, a learner takes whole ones. Every learner has the step sizes for an equal share of the transitions. Intervals show how
    /// learners differ; a bias that they share is not reduced by averaging, and where the average does not solve the equations of the log there are none.
    #[must_use]
    pub fn learners(mut self, learners: u64) -> Self {
        self.learners = Some(learners);
        self
    }

    /// Bootstrap replicates for intervals: 0 for none, or from 8 to 4096.
    #[must_use]
    pub fn replicates(mut self, replicates: usize) -> Self {
        self.request.replicates = Some(replicates);
        self
    }

    /// Runs least squares alongside the learner for up to 500 features, for its sandwich intervals.
    #[must_use]
    pub fn sandwich(mut self) -> Self {
        self.request.sandwich = true;
        self
    }

    /// The confidence level of intervals, above 0 and below 1.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// The format of files; inferred from their names by default.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.log = self.log.format(format);
        self
    }

    /// Names of columns that differ from the layout's.
    #[must_use]
    pub fn columns(mut self, columns: ColumnMap) -> Self {
        self.log = self.log.columns(columns);
        self
    }

    /// The column names of a known tool.
    #[must_use]
    pub fn layout(mut self, preset: Preset) -> Self {
        self.log = self.log.layout(preset);
        self
    }

    /// The decimal sign of numbers in CSV files: a point, the default, or a comma.
    #[must_use]
    pub fn decimal(mut self, sign: char) -> Self {
        self.log = self.log.decimal(sign);
        self
    }

    /// The sign between groups of three digits in CSV files, such as a point or a space; by default there is none.
    #[must_use]
    pub fn thousands(mut self, sign: char) -> Self {
        self.log = self.log.thousands(sign);
        self
    }

    /// Skips up to this many bad rows; by default the first one is an error.
    #[must_use]
    pub fn skip_bad_rows(mut self, rows: u64) -> Self {
        self.log = self.log.skip_bad_rows(rows);
        self
    }

    /// Resumes a model: the result is that of one pass over all rows. A learner and a stream continue where they stopped; a model
    /// solved from files reads these again, which must be unchanged. Options that are set must have the model's values.
    #[must_use]
    pub fn resume(mut self, model: Model) -> Self {
        self.resumed = Some(model);
        self
    }

    /// Leaves out the comparison of returns with predicted values.
    #[must_use]
    pub fn no_check(mut self) -> Self {
        self.check = false;
        self
    }

    /// Also solves for the variance of the return, for up to 4,000 features: [`Fit::return_variance`](crate::Fit::return_variance).
    #[must_use]
    pub fn return_variance(mut self) -> Self {
        self.request.variance = true;
        self
    }

    /// The column that names clusters, such as users or machines, whose rows may depend on each other; the episode by default.
    #[must_use]
    pub fn cluster(mut self, column: impl Into<String>) -> Self {
        self.log = self.log.cluster(column);
        self
    }

    /// The number of threads; 0, the default, means one per CPU. The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Counts the rows that are read, in all passes, and stops the evaluation soon after it is cancelled, with
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    #[must_use]
    pub fn monitor(mut self, monitor: Monitor) -> Self {
        self.log = self.log.monitor(monitor);
        self
    }

    /// Sets when the model so far is passed to [`Evaluation::on_progress`].
    #[must_use]
    pub fn report_at(mut self, at: ReportAt) -> Self {
        self.report_at = Some(at);
        self
    }

    /// Sets a callback for progress.
    #[must_use]
    pub fn on_progress(mut self, listener: impl FnMut(Progress<'_>) + Send + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Sets the sizes in bytes and the times of the last change, in nanoseconds, of files that may not be on this machine yet; for
    /// [`run_in_parts`](Self::run_in_parts).
    #[must_use]
    pub fn known_files(mut self, files: impl IntoIterator<Item = (String, u64, u64)>) -> Self {
        self.log = self.log.known_files(files);
        self
    }

    /// Reads the files that a storage has from there, by ranges, instead of from this machine.
    #[must_use]
    pub fn storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.log = self.log.storage(storage);
        self
    }
}
