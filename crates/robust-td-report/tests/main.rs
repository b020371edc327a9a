//! Runs the integration tests as one program, so that it is linked once.

mod browser;
mod charts;
mod common;
mod figures;
mod report;
