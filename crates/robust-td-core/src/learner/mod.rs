//! Learns value functions from streamed transitions, one algorithm per file behind one trait.
//!
//! [`alg1`] is the paper's algorithm and the template for new ones; `list.rs` lists them all. A learner takes
//! [`Transition`]s, whose [`Features`] are rows of a table or vectors from a stream, dense or sparse. It can
//! be saved at any time with any serde format, and a restored learner continues bit-identically.
//!
//! ```
//! use robust_td_core::learner::alg1::{Alg1, Alg1Params};
//! use robust_td_core::{Learner, Transition};
//!
//! // Two states that swap, reward 1 for leaving state 0; V(0) = 1 / (1 - 0.25), V(1) = 0.5 V(0).
//! let table = [[1.0, 0.0], [0.0, 1.0]];
//! let phi_inf = 1.0;
//! let mut learner = Alg1::new(Alg1Params::decaying(0.5, 100_000, 0.05, phi_inf), 2)?;
//! for t in 0..100_000 {
//!     let reward = if t % 2 == 0 { 1.0 } else { 0.0 };
//!     learner.step(&Transition::new(&table[t % 2], reward, &table[(t + 1) % 2]));
//! }
//! let value = learner.value_function();
//! assert!((value.value(&table[0]) - 4.0 / 3.0).abs() < 0.02);
//! assert!((value.value(&table[1]) - 2.0 / 3.0).abs() < 0.02);
//! assert!(!learner.health().diverged());
//! # Ok::<(), robust_td_core::Error>(())
//! ```

pub(crate) mod forward;
mod gradient;
mod knowledge;
mod list;
pub mod lstd_batch;
pub mod recipe;
mod saved_id;
mod value;

use list::modules;

algorithms!(modules);

pub use gradient::GradientParams;
pub(crate) use list::algorithms;
pub use lstd_batch::LstdBatch;
pub use recipe::Recipe;
pub use value::LinearValue;

pub use crate::iterate::{DIVERGENCE_THRESHOLD, Health};
pub use crate::phi::{Features, Outcome, Transition};
pub use crate::schedule::{Phase, Steps};

/// A policy-evaluation algorithm with linear function approximation, V(s) = phi(s) . theta.
pub trait Learner {
    /// The id on the command line and in saved models.
    fn id(&self) -> &'static str;

    /// The length of the feature vectors.
    fn dimension(&self) -> usize {
        self.theta().len()
    }

    /// The discount gamma.
    fn discount(&self) -> f64;

    /// The number of transitions so far, including those the method dropped.
    fn steps(&self) -> u64;

    /// The number of updates.
    fn updates(&self) -> u64 {
        self.steps()
    }

    /// The number of projections onto the ball; `None` for methods that do not project.
    fn projections(&self) -> Option<u64> {
        None
    }

    /// The constants of a TD(0)-type method, from which a faster kernel can run it.
    fn recipe(&self) -> Option<Recipe> {
        None
    }

    /// Learns from one transition. Does not allocate.
    ///
    /// # Panics
    /// When the features do not have the learner's dimension; see [`Transition::check`].
    fn step(&mut self, transition: &Transition<'_>);

    /// As [`Learner::step`]; also returns the TD error at the previous [`Learner::theta`], which some methods compute anyway.
    ///
    /// A method's own error may differ where [`Transition::td_error`] is not linear, or where this step starts a phase
    /// from another iterate.
    ///
    /// # Panics
    /// As [`Learner::step`].
    #[inline]
    fn learn(&mut self, transition: &Transition<'_>) -> f64 {
        let td_error = transition.td_error(self.theta(), self.discount());
        self.step(transition);
        td_error
    }

    /// Marks the next transition as the start of an episode, so that eligibility traces restart from zero.
    ///
    /// Needed only when an episode breaks off without a terminated or truncated transition.
    fn start_episode(&mut self) {}

    /// Whether what it learns from a transition depends on those before it in the same episode, as with eligibility traces. If so,
    /// the transitions of an episode must follow each other.
    fn has_traces(&self) -> bool {
        false
    }

    /// The last iterate. A portfolio copies it on demand, so avoid calling it at every step there.
    fn theta(&self) -> &[f64];

    /// The algorithm's output, for example an average of its iterates.
    fn output(&self) -> Vec<f64>;

    /// A constant added to all values, V(s) = phi(s) . output + offset; 0 for most methods.
    ///
    /// [`Learner::value`] and [`Learner::value_function`] include it.
    fn value_offset(&self) -> f64 {
        0.0
    }

    /// The value of a state, V(s) = phi(s) . output + offset.
    ///
    /// Computes the output at each call; for many states call [`Learner::value_function`] once.
    ///
    /// # Panics
    /// When the features do not have the learner's dimension.
    fn value(&self, features: Features<'_>) -> f64 {
        self.value_function().value(features)
    }

    /// The learned value function, for many states.
    fn value_function(&self) -> LinearValue {
        LinearValue {
            theta: self.output(),
            offset: self.value_offset(),
        }
    }

    /// The constant selected from the data, with its evidence; `None` for methods with a given constant.
    fn choice(&self) -> Option<portfolio::Answer> {
        None
    }

    /// The number of bootstrap replicates that run alongside; 0 for most methods.
    fn replicates(&self) -> usize {
        0
    }

    /// The largest norm, and whether the iterates diverged.
    fn health(&self) -> &Health;
}
