//! Works out the step sizes of a schedule some at a time.
//!
//! # Performance
//! The CPU overlaps the logarithm, the root and the division of one step size with those of another, which it cannot
//! where each is followed by its step.

use crate::schedule::Schedule;

/// How many step sizes are worked out together.
const COUNT: u64 = 16;

/// Step sizes of one schedule; it is not saved with a learner, since it follows from the schedule.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Upcoming {
    /// The first step after those whose sizes are known; 0 while none is.
    end: u64,
    /// The size of step t is at t modulo their number.
    sizes: [f64; COUNT as usize],
}

impl Upcoming {
    /// The step size of step t, by the schedule that all calls must share.
    #[inline]
    pub fn step_size(&mut self, schedule: &impl Schedule, t: u64) -> f64 {
        // Wrapping, so that one comparison finds t outside of the last COUNT steps before the end on either side.
        if self.end.wrapping_sub(t).wrapping_sub(1) >= COUNT {
            self.work_out(schedule, t);
        }
        self.sizes[(t % COUNT) as usize]
    }

    #[inline(never)]
    fn work_out(&mut self, schedule: &impl Schedule, t: u64) {
        let first = t - t % COUNT;
        for (size, t) in self.sizes.iter_mut().zip(first..) {
            *size = schedule.step_size(t);
        }
        self.end = first.saturating_add(COUNT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::RobustDecay;

    #[test]
    fn sizes_are_those_of_the_schedule_in_any_order() {
        let schedule = RobustDecay::new(1000, 2.0, 1.0).unwrap();
        let mut upcoming = Upcoming::default();
        for t in (0..50).chain([15, 16, 3, 1 << 40, 0]).chain(20..40) {
            let found = upcoming.step_size(&schedule, t);
            assert_eq!(found.to_bits(), schedule.step_size(t).to_bits(), "{t}");
        }
    }
}
