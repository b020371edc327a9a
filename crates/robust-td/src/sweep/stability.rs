//! Finds the c below which a step size exceeds the largest mean-square stable constant step.

use robust_td_core::Problem;
use robust_td_core::schedule::{RobustConstant, RobustDecay, Schedule};
use robust_td_core::stability::mean_square_threshold;
use robust_td_engine::{Family, Lane, Projection};

use super::study::{Figure, Study};

/// One threshold per (figure, variant), in that order; `None` where it could not be computed.
///
/// A constant step below the threshold step `eta*` keeps `E|theta_t|^2` bounded. For the constant family the
/// threshold of c is where `eta = eta*`. For decaying step sizes it is where the first step size is `eta*`, so that for every
/// larger c all steps are stable. All step sizes are proportional to 1/c.
pub fn thresholds(study: &Study, threads: usize) -> Vec<Vec<Option<f64>>> {
    let mut steps: Vec<(&Problem, Option<f64>)> = study
        .variants
        .iter()
        .map(|variant| (&variant.problem, None))
        .collect();
    // A threshold that fails, for whatever reason, is left out; the sweep stands.
    let _ = robust_td_engine::for_each(threads, &mut steps, |(problem, step)| {
        if affordable(problem) {
            *step = mean_square_threshold(problem).ok();
        }
    });
    let first = u64::from(study.published_indexing());
    let plan = study.plan();
    let threshold =
        |figure: &Figure, variant: usize, problem: &Problem, step: f64| -> Option<f64> {
            let phi_inf = problem.phi_inf();
            let unit = match figure.family {
                // A projection keeps iterates bounded at any step size.
                _ if figure.projection != Projection::None => return None,
                Family::Decaying => RobustDecay::new(study.steps, 1.0, phi_inf)
                    .ok()?
                    .step_size(first),
                Family::Constant => RobustConstant::new(study.steps, 1.0, phi_inf)
                    .ok()?
                    .step_size(0),
                Family::Plain => return Some(step),
                other => plan.eta(&Lane::new(variant, other, 1.0), 1),
            };
            Some(unit / step)
        };
    let of_figure = |figure: &Figure| {
        let steps = steps.iter().enumerate();
        steps
            .map(|(variant, &(problem, step))| threshold(figure, variant, problem, step?))
            .collect()
    };
    study.figures.iter().map(of_figure).collect()
}

/// Whether the second-moment map is small enough to compute its spectral radius as part of a sweep.
fn affordable(problem: &Problem) -> bool {
    problem.chain().transition().stored() * problem.dimension().pow(2) <= 200_000
}
