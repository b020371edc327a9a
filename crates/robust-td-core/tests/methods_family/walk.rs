//! Generates trajectories of random problems, with episode ends and zero features.

use robust_td_core::learner::Learner;
use robust_td_core::random::Stream;
use robust_td_core::registry::{AnyLearner, METHODS, Method, Setting};
use robust_td_core::{Matrix, Mixing, Problem};

use crate::common::{random_problem, trajectory};
use crate::stream::{End, Sample};

/// The ids of the methods under test: those that run as TD(0) with a recipe, and the mean-adjusted one on top of it.
pub fn family() -> Vec<&'static str> {
    let problem = random_problem(1);
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 100);
    let belongs = |method: &&&Method| {
        let prepared = method.prepare::<&str>(&setting, &[]);
        prepared.is_ok_and(|prepared| {
            matches!(
                prepared.learner,
                AnyLearner::Td0(_) | AnyLearner::MeanAdjusted(_)
            )
        })
    };
    METHODS
        .iter()
        .filter(belongs)
        .map(|method| method.id)
        .collect()
}

/// A random problem with about a third of its features zero, if they remain linearly independent.
pub fn sparse_problem(seed: u64) -> Problem {
    let problem = random_problem(seed);
    let phi = problem.features();
    let thinned = Matrix::from_fn(phi.rows(), phi.columns(), |s, i| {
        let value = phi.get(s, i);
        if value.abs() < 0.5 { 0.0 } else { value }
    });
    match problem.with_features(thinned) {
        Ok(thinned) if thinned.omega() >= 1e-8 => thinned,
        _ => problem,
    }
}

/// The mixing of a problem's chain.
pub fn mixing(problem: &Problem) -> Mixing {
    Mixing::of(problem.chain()).unwrap().unwrap()
}

/// A trajectory in which one step of sixteen terminates an episode and one truncates it.
pub fn samples(problem: &Problem, count: usize, seed: u64) -> Vec<Sample> {
    let mut stream = Stream::new(seed, 7);
    let states = trajectory(problem, &mut stream, count + 1);
    states
        .windows(2)
        .map(|pair| Sample {
            features: problem.phi(pair[0]).to_vec(),
            reward: problem.reward(pair[0], pair[1]),
            next: problem.phi(pair[1]).to_vec(),
            end: match (16.0 * stream.uniform()) as u32 {
                0 => End::Terminated,
                1 => End::Truncated,
                _ => End::Continues,
            },
        })
        .collect()
}

/// Feeds all samples, dense or sparse.
pub fn feed(learner: &mut dyn Learner, samples: &[Sample], sparse: bool) {
    for sample in samples {
        if sparse {
            sample.feed_sparse(learner);
        } else {
            sample.feed(learner);
        }
    }
}
