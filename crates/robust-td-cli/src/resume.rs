//! Says how to continue a run that a signal stopped, or whose checkpoint cannot be used.

use std::path::Path;

use robust_td_engine::Error as Engine;

use crate::failure::Failure;

/// Adds the remedy for a checkpoint that cannot be resumed, and how to continue after a signal.
pub fn with_remedy(error: robust_td::Error, out: &Path) -> Failure {
    match error {
        robust_td::Error::Engine(
            error @ (Engine::CheckpointDamaged { .. }
            | Engine::CheckpointVersion { .. }
            | Engine::CheckpointForeign { .. }),
        ) => Failure::Usage(format!(
            "{error}; remove it, or run without --resume to start from scratch"
        )),
        error => Failure::from(error).if_stopped(&format!(
            "the checkpoint is in {}: run the same command with --resume to continue",
            out.display()
        )),
    }
}
