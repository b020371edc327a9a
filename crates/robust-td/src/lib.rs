//! States the mathematics of unprojected temporal-difference learning with linear function approximation.

pub mod catalog;
pub mod chain;
mod elimination;
pub mod error;
mod linalg;
pub mod matrix;
pub mod mdp;
pub mod mixing;
pub mod problem;
pub mod random;
mod structure;
pub mod theory;

pub use chain::Chain;
pub use error::{Error, Result};
pub use matrix::{Matrix, SparseMatrix};
pub use mdp::Mdp;
pub use mixing::Mixing;
pub use problem::{Problem, Reward};
