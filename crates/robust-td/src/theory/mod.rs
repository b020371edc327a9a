//! States what the paper proves as numbers: constants, conditions, lemma sums and certificates.
//!
//! The order of reading is the order of the paper: [`constants`] (the threshold `c_0` and the radius
//! `rho_c`), [`horizon`] (how long `T` must be), [`lemma_sums`] (the sums behind the proof),
//! [`step_sums`] and [`best_lag`] (the same sums for any stepsizes, without rounding),
//! [`certificate`] (the bounds P, X, Y and C) and [`recommend`] (the `c` that makes Y smallest).

pub mod best_lag;
mod blocks;
pub mod certificate;
pub mod constants;
pub mod horizon;
pub mod lemma_sums;
pub mod recommend;
pub mod step_sums;

pub use certificate::{Certificate, Hypothesis, Inputs};
pub use recommend::{Recommendation, recommend};
pub use step_sums::{StepProfile, StepSums};
