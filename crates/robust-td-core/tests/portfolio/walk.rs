//! Feeds trajectories of catalog problems to learners.

use robust_td_core::Problem;
use robust_td_core::learner::{Features, Transition};
use robust_td_core::random::Stream;
use robust_td_core::simulate::Sampler;

/// Calls `visit` with the transitions of a trajectory.
pub fn walk(problem: &Problem, steps: usize, seed: u64, mut visit: impl FnMut(&Transition<'_>)) {
    let sampler = Sampler::new(problem);
    let states = sampler.trajectory(problem.start(), steps, &mut Stream::new(seed, 0));
    for pair in states.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|s| Features::Dense(problem.phi(s)));
        visit(&Transition::new(from, problem.reward(pair[0], pair[1]), to));
    }
}
