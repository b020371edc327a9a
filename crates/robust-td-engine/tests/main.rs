//! Runs the integration tests as one program, to link only once.

mod common;
mod contest;
mod contest_resume;
mod exact;
mod identical;
mod published_points;
mod ratio_error;
mod schedules;
mod tdx;
