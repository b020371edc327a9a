//! States the mathematics of unprojected temporal-difference learning with linear function approximation.

pub mod random;
