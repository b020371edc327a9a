//! Turns panics of worker threads into errors, so that a defect ends a run instead of leaving it waiting.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// Runs work; a panic in it is [`Error::Worker`].
///
/// What the work leaves inconsistent must not be used again.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Error::Worker {
        message: message(panic.as_ref()),
    })
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no reason given".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::checkpoint::{self, Stage};
    use crate::context::Context;
    use crate::kernel::Kernel;
    use crate::plan::{Family, Lane, Mode, Plan};
    use crate::run::{Options, Sweep, execute, run};
    use crate::tables::Tables;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(caught(|| 3).ok(), Some(3));
        // Unwinding without the hook, which would print to the test's output.
        let panics: [Box<dyn Any + Send>; 2] = [Box::new("text"), Box::new("text".to_owned())];
        for panic in panics {
            let error = caught(|| std::panic::resume_unwind(panic)).unwrap_err();
            assert!(matches!(error, Error::Worker { message } if message == "text"));
        }
    }

    /// Units that count to a thousand; one of them panics, or stands still, half way.
    struct Counting {
        bad: usize,
        stands_still: bool,
    }

    impl Sweep for Counting {
        type State = u64;
        type Output = u64;
        type Scratch = ();

        fn hash(&self) -> blake3::Hash {
            blake3::hash(b"counting")
        }
        fn units(&self) -> usize {
            6
        }
        fn steps(&self) -> u64 {
            1000
        }
        fn updates_per_step(&self, _: usize) -> u64 {
            1
        }
        fn slice(&self, _: usize) -> u64 {
            10
        }
        fn scratch(&self) {}
        fn start(&self, _: usize) -> u64 {
            0
        }
        fn done(&self, state: &u64) -> u64 {
            *state
        }
        fn advance(&self, unit: usize, state: &mut u64, _: Kernel, (): &mut (), steps: u64) {
            if unit == self.bad && *state == 500 {
                if self.stands_still {
                    return;
                }
                std::panic::resume_unwind(Box::new("half way"));
            }
            *state += steps;
        }
        fn finish(&self, unit: usize, _: u64) -> u64 {
            unit as u64
        }
        fn state_fits(&self, _: usize, state: &u64) -> bool {
            *state <= self.steps()
        }
        fn output_fits(&self, unit: usize, output: &u64) -> bool {
            *output == unit as u64
        }
    }

    #[test]
    fn a_failed_worker_ends_the_run_and_nothing_is_lost() {
        for (threads, stands_still) in [(1, false), (3, false), (2, true)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("checkpoint");
            let options = Options {
                threads,
                checkpoint: Some(path.clone()),
                resume: true,
                interval: Duration::ZERO,
                ..Options::default()
            };
            let bad = Counting {
                bad: 1,
                stands_still,
            };
            let message = execute(&bad, &options).unwrap_err().to_string();
            let expected = if stands_still {
                "unit 1 does not advance beyond step 500"
            } else {
                "half way"
            };
            assert!(message.ends_with(expected), "{message}");
            // The unit continues from its last deposit, the others from theirs.
            let stages = checkpoint::read(&path, &bad.hash(), 6).unwrap().unwrap();
            assert_eq!(stages[1], Stage::Running(checkpoint::encode(&500_u64)));
            let good = Counting {
                bad: 9,
                stands_still,
            };
            let units = execute(&good, &options).unwrap().finished().unwrap();
            assert!(units.into_iter().eq(0..6));
        }
    }

    #[test]
    fn a_forged_checkpoint_is_an_error() {
        let problem = robust_td_core::catalog::problem("two-state", &[]).unwrap();
        let plan = |runs: usize| Plan {
            variants: vec![Tables::from(&problem)],
            lanes: vec![Lane::new(0, Family::Decaying, 1.0)],
            runs,
            horizon: 1000,
            simulate: 1000,
            mode: Mode::Algorithm { seed: 1 },
            curve_points_per_decade: 4,
        };
        let (small, large) = (Context::new(plan(1)), plan(20));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        // A unit of fewer runs, with a valid checksum.
        let stage = Stage::Running(checkpoint::encode(&small.start(0)));
        let options = Options {
            checkpoint: Some(path.clone()),
            resume: true,
            ..Options::default()
        };
        let units = Context::new(large.clone()).units.len();
        checkpoint::write(&path, &large.hash(), &vec![stage; units]).unwrap();
        let failed = run(large, &options);
        assert!(failed.is_err(), "{failed:?}");
    }
}
