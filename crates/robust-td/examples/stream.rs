//! Learns values from a stream with nothing to tune, and reads them off with confidence intervals.

use robust_td::random::Stream;
use robust_td::simulate::Sampler;
use robust_td::{Estimator, Result, Transition, catalog};

fn main() -> Result<()> {
    // A chain whose values are known: Boyan's thirteen states, sampled for 20,000 steps.
    let problem = catalog::problem("boyan", &[])?;
    let path = Sampler::new(&problem).trajectory(0, 20_000, &mut Stream::new(1, 0));

    let mut estimator = Estimator::new(problem.discount(), problem.dimension())?;
    for pair in path.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let reward = problem.reward(from, to);
        estimator.learn(&Transition::new(problem.phi(from), reward, problem.phi(to)));
    }

    println!("state    value    95 % interval        exact");
    let exact = problem.values(problem.theta_star());
    let mut covered = 0;
    for state in 0..problem.states() {
        let phi = problem.phi(state);
        let (value, interval) = (estimator.value(phi), estimator.interval(phi, 0.95)?);
        println!(
            "{state:5}  {value:7.2}  {:7.2} to {:6.2}  {:7.2}",
            interval.lower, interval.upper, exact[state]
        );
        covered += usize::from(interval.lower <= exact[state] && exact[state] <= interval.upper);
    }
    assert!(covered >= problem.states() - 1);
    Ok(())
}
