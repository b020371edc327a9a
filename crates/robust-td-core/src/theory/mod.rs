//! Computes the paper's theory as numbers: constants, conditions, lemma sums and certificates.
//!
//! Read the modules in the order of the paper: [`constants`] (the threshold `c_0` and the radius `rho_c`),
//! [`horizon`] (how long `T` must be), [`lemma_sums`] (the sums behind the proof), [`step_sums`] and
//! [`best_lag`] (the same sums for any step sizes, without rounding), [`certificate`] (the bounds P, X, Y and
//! C), [`mod@recommend`] (the `c` that minimises Y) and [`mod@certify`] (all of these for one problem;
//! [`best_bound`] is the fast version). [`coordinates`] repeats them in other linear coordinates of the features, among which
//! [`scaling`] finds the best diagonal ones. [`lambda`] extends the potential and certificate Y to TD(lambda).
//! [`lyapunov`] serves the bound of Srikant and Ying.
//!
//! The proof itself: [`proof_terms`] has its quantities along a trajectory, [`total_variation`] and [`lookback`] the lemmas on the bias of
//! Markov data, [`update_norms`] the variance lemma and the telescoping inequality in expectation.

pub mod best_bound;
pub mod best_lag;
mod blocks;
pub mod certificate;
pub mod certify;
pub mod constants;
pub mod coordinates;
pub mod horizon;
pub mod lambda;
pub mod lemma_sums;
pub mod lookback;
pub mod lyapunov;
pub mod proof_terms;
pub mod recommend;
mod report;
pub mod scaling;
pub mod step_sums;
mod sufficient_horizon;
pub mod total_variation;
pub mod update_norms;

pub use certificate::{Certificate, Hypothesis, Inputs};
pub use certify::Certification;
pub use proof_terms::ProofTerms;
pub use recommend::{Recommendation, recommend};
pub use report::CertificationReport;
pub use step_sums::{StepProfile, StepSums};
