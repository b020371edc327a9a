//! Learns value functions from streamed transitions, one algorithm per file behind one trait.
//!
//! [`alg1`] is the paper's algorithm and the model to copy for another one. A learner is fed
//! [`Transition`]s, whose [`Features`] are rows of a table or vectors from a stream, dense or sparse. It can
//! be saved at any moment with any serde format and, restored, continues to the same bits.
//!
//! ```
//! use robust_td_core::learner::{Alg1, Features, Learner, Transition, alg1};
//!
//! // Two states that swap, reward 1 for leaving state 0; V(0) = 1 / (1 - 0.25), V(1) = 0.5 V(0).
//! let table = [[1.0, 0.0], [0.0, 1.0]];
//! let params = alg1::Params::decaying(0.5, 100_000, 0.05).check()?;
//! let mut learner = Alg1::new(params, 2)?;
//! for t in 0..100_000 {
//!     let (from, to) = (Features::Dense(&table[t % 2]), Features::Dense(&table[(t + 1) % 2]));
//!     let reward = if t % 2 == 0 { 1.0 } else { 0.0 };
//!     learner.step(&Transition::continues(from, reward, to));
//! }
//! let value = learner.output();
//! assert!((value[0] - 4.0 / 3.0).abs() < 0.02 && (value[1] - 2.0 / 3.0).abs() < 0.02);
//! assert!(!learner.health().diverged());
//! # Ok::<(), robust_td_core::Error>(())
//! ```

pub mod adatd;
pub mod alg1;
mod any;
pub mod average;
pub mod bhandari;
pub mod certified_constant;
pub mod coin_betting;
pub mod dog;
pub mod doubling;
pub mod etd;
mod features;
mod gradient;
pub mod gtd2;
mod health;
pub mod implicit_td;
pub mod iterate;
mod knowledge;
pub mod li_exponential;
pub mod liu_olshevsky;
pub mod lstd;
pub mod lstd_batch;
pub mod method;
pub mod methods;
pub mod mitra;
pub mod optimal_stopping;
pub mod patil;
mod phase;
pub mod q_learning;
pub mod recipe;
pub mod samsonov;
pub mod single_stepsize;
pub mod srikant_ying;
mod steps;
pub mod swift_td;
pub mod td0;
pub mod td_lambda;
pub mod tdc;
pub(crate) mod trace;
mod transition;
pub(crate) mod upcoming;

pub use adatd::AdaTd;
pub use alg1::Alg1;
pub use any::AnyLearner;
pub use coin_betting::CoinBetting;
pub use dog::Dog;
pub use doubling::Doubling;
pub use etd::Etd;
pub use features::Features;
pub use gtd2::Gtd2;
pub use health::{DIVERGENCE_THRESHOLD, Health};
pub use implicit_td::ImplicitTd;
pub use liu_olshevsky::MeanAdjusted;
pub use lstd::Lstd;
pub use lstd_batch::LstdBatch;
pub use phase::Phase;
pub use recipe::Recipe;
pub use steps::Steps;
pub use swift_td::SwiftTd;
pub use td_lambda::TdLambda;
pub use td0::Td0;
pub use tdc::Tdc;
pub use transition::{Outcome, Transition};

use crate::error::{Error, Result};

/// A policy-evaluation algorithm with linear function approximation, V(s) = phi(s) . theta.
pub trait Learner {
    /// The name that the command line and the saved models use.
    fn id(&self) -> &'static str;

    /// The length of the feature vectors.
    fn dimension(&self) -> usize {
        self.theta().len()
    }

    /// The discount gamma.
    fn discount(&self) -> f64;

    /// How many transitions came, those that the method dropped included.
    fn steps(&self) -> u64;

    /// How many of them led to an update.
    fn updates(&self) -> u64 {
        self.steps()
    }

    /// How often an iterate was brought back to the ball; none for methods that do not project.
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

    /// As [`Learner::step`]; returns the TD error at [`Learner::theta`] before, which some methods know anyway.
    ///
    /// A method's own error may differ where [`Transition::td_error`] is not linear, or where a phase begins with this
    /// step, from another iterate.
    ///
    /// # Panics
    /// As [`Learner::step`].
    #[inline]
    fn learn(&mut self, transition: &Transition<'_>) -> f64 {
        let td_error = transition.td_error(self.theta(), self.discount());
        self.step(transition);
        td_error
    }

    /// Says that the next transition does not follow the last one, so that eligibility traces start from zero.
    ///
    /// Needed only where an episode breaks off without a transition that ends it.
    fn start_episode(&mut self) {}

    /// The last iterate; a portfolio copies it when asked, so it is not for every step there.
    fn theta(&self) -> &[f64];

    /// The algorithm's answer, for example an average of its iterates.
    fn output(&self) -> Vec<f64>;

    /// A constant added to all values, V(s) = phi(s) . output + offset; 0 for most methods.
    fn value_offset(&self) -> f64 {
        0.0
    }

    /// How far the iterates went.
    fn health(&self) -> &Health;
}

/// Refuses a discount outside [0, 1).
pub(crate) fn check_discount(value: f64) -> Result<()> {
    if !(0.0..1.0).contains(&value) {
        return Err(Error::Discount { value });
    }
    Ok(())
}
