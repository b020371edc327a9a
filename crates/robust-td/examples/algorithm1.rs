//! Runs the paper's Algorithm 1 on a stream and compares its values with the exact ones.

use robust_td::learner::alg1::{Alg1, Alg1Params};
use robust_td::random::Stream;
use robust_td::simulate::Sampler;
use robust_td::{Features, Learner, Result, Transition, catalog};

fn main() -> Result<()> {
    let problem = catalog::problem("two-state", &[])?;
    let steps = 100_000;
    let path = Sampler::new(&problem).trajectory(0, steps, &mut Stream::new(1, 0));

    // Algorithm 1 takes only the discount, the horizon, a bound on the features, and c.
    let params = Alg1Params::decaying(problem.discount(), steps as u64, 0.05, problem.phi_inf());
    let mut learner = Alg1::new(params, problem.dimension())?;
    for pair in path.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        learner.step(&Transition::new(
            Features::Dense(problem.phi(from)),
            problem.reward(from, to),
            Features::Dense(problem.phi(to)),
        ));
    }

    let theta = learner.output();
    println!("theta  = {theta:?}\ntheta* = {:?}", problem.theta_star());
    println!(
        "f = {:.2e}, f(0) = {:.2e}",
        problem.f(&theta),
        problem.f_zero()
    );
    assert!(problem.f(&theta) < 0.02 * problem.f_zero());
    assert!(!learner.health().diverged());
    Ok(())
}
