//! States what the paper proves as numbers: constants, conditions, lemma sums and certificates.
//!
//! The order of reading is the order of the paper: [`constants`] (the threshold `c_0` and the radius
//! `rho_c`), [`horizon`] (how long `T` must be), [`lemma_sums`] (the sums behind the proof),
//! [`step_sums`] and [`best_lag`] (the same sums for any stepsizes, without rounding),
//! [`certificate`] (the bounds P, X, Y and C), [`mod@recommend`] (the `c` that makes Y smallest) and [`mod@certify`] (all of it
//! for one problem). [`lambda`] carries the potential and certificate Y over to TD(lambda). [`proof_terms`] computes the quantities of the proof along a trajectory.
//! for one problem; [`best_bound`] is the short form). [`lyapunov`] serves the bound of Srikant and Ying. [`proof_terms`] computes the quantities of the proof along a trajectory.

pub mod best_bound;
pub mod best_lag;
mod blocks;
pub mod certificate;
pub mod certify;
pub mod constants;
pub mod horizon;
pub mod lambda;
pub mod lemma_sums;
pub mod lyapunov;
pub mod proof_terms;
pub mod recommend;
mod report;
pub mod step_sums;
mod sufficient_horizon;

pub use certificate::{Certificate, Hypothesis, Inputs};
pub use certify::Certification;
pub use proof_terms::ProofTerms;
pub use recommend::{Recommendation, recommend};
pub use report::CertificationReport;
pub use step_sums::{StepProfile, StepSums};
