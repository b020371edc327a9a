//! Runs sweeps of unprojected temporal-difference learning on vector lanes and threads.
//!
//! A [`Plan`] lists problems that share a chain, lanes (feature variant, step size family, c), runs and a horizon; [`run`]
//! executes it over threads and vector lanes and returns [`Results`]. Results are the same bytes for
//! every [`Kernel`], thread count and interruption, because every lane performs the same operations
//! in the same order (see `kernel/step.rs` for them, and for the use of fused multiply-add).
//! [`contest`](contest()) runs any methods on the same trajectories of one problem.

#![forbid(unsafe_code)]

mod checkpoint;
pub mod contest;
mod context;
pub mod diagnostics;
pub mod error;
pub mod exact;
mod family;
mod generators;
pub mod grid;
mod job;
pub mod kernel;
mod layout;
mod marks;
mod memory;
mod panics;
pub mod plan;
mod restored;
pub mod results;
mod run;
mod sampler;
mod schedule;
pub mod tables;
mod threads;
mod unit;
mod walks;

pub use contest::{Contest, ContestOptions, Entrant, Score, Series, contest};
pub use diagnostics::CurvePoint;
pub use error::{Error, Result};
pub use exact::exact;
pub use job::Job;
pub use kernel::Kernel;
pub use plan::{Family, Lane, Mode, Plan, Projection};
pub use results::{LaneResult, Quantiles, Results, Sampled};
pub use run::{Options, Outcome, Progress, run, single};
pub use tables::Tables;
pub use threads::{MOST_THREADS, for_each, threads};
