//! Solves the equations of a log with many features of which few are nonzero in each row.
//!
//! The matrix A is added up as a sparse one ([`SparseSums`]), scaled ([`SparseSystem`]) and factored ([`SparseFactors`]), as long
//! as the fill of its factors allows. Beyond, its products serve [`krylov`](crate::krylov).

mod factors;
mod groups;
mod ledger;
mod sums;
mod system;
#[cfg(test)]
mod tests;

pub use factors::{SparseFactors, SparsePoint};
pub use groups::SparseGroupSums;
pub use sums::SparseSums;
pub use system::SparseSystem;
