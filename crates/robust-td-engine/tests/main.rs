//! Runs the integration tests as one program, so that it is linked once.

mod common;
mod contest;
mod exact;
mod identical;
mod published_points;
mod ratio_error;
