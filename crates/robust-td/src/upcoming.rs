//! Works out step sizes some at a time, to the same bits.
//!
//! A logarithm, a root and a quotient take longer than a step of few features, which has to wait for them. Those of sixteen
//! steps overlap in the CPU.

use crate::schedule::Schedule;

/// Step sizes that are worked out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Upcoming {
    /// The first step that is not among them.
    end: u64,
    /// Those of the steps before, each at its number modulo their count.
    sizes: [f64; Self::COUNT as usize],
}

impl Upcoming {
    const COUNT: u64 = 16;

    /// The step size of step t; the schedule must always be the same one.
    #[inline]
    pub fn step_size(&mut self, schedule: &impl Schedule, t: u64) -> f64 {
        if self.end.wrapping_sub(t).wrapping_sub(1) >= Self::COUNT {
            self.work_out(schedule, t);
        }
        self.sizes[(t % Self::COUNT) as usize]
    }

    #[inline(never)]
    fn work_out(&mut self, schedule: &impl Schedule, t: u64) {
        let first = t - t % Self::COUNT;
        for (t, size) in (first..).zip(&mut self.sizes) {
            *size = schedule.step_size(t);
        }
        self.end = first.saturating_add(Self::COUNT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::RobustDecay;

    #[test]
    fn step_sizes_are_those_of_the_schedule_from_anywhere() {
        let schedule = RobustDecay::new(1000, 0.3, 1.1).unwrap();
        for start in [0, 1, 15, 16, 17, 1000, 1 << 40] {
            let mut upcoming = Upcoming::default();
            for t in (start..start + 40).chain([start]) {
                let expected = schedule.step_size(t);
                assert_eq!(
                    upcoming.step_size(&schedule, t).to_bits(),
                    expected.to_bits()
                );
            }
        }
    }
}
