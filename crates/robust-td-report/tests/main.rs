//! Runs the integration tests as one program, so that it is linked once.

mod browser;
mod common;
mod figures;
mod report;
