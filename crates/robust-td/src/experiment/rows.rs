//! Writes an experiment as CSV.

use robust_td_core::registry::Quantity;

use super::ExperimentResults;
use super::spec::bound;
use crate::number::csv as number;

/// `results.csv`: one row per value and method.
pub fn results_csv(results: &ExperimentResults) -> String {
    let mut csv = String::from(
        "vary,value,label,f,f_stderr,d_norm_sq,d_norm_sq_stderr,max_mean_theta_norm_sq,divergence_rate,\
         projections,updates,f_of_mean,theta_error_sq,theta_error_sq_stderr,oracle,horizon,omega,f_zero,theta_star_norm_sq,f_bound,comparison_bound\n",
    );
    let plan = &results.plan;
    for (point, scores) in plan.points.iter().zip(&results.scores) {
        for (contestant, score) in point.contestants.iter().zip(scores) {
            let problem = &point.problem;
            let fields = [
                plan.varied().to_string(),
                point.value.map_or(String::new(), number),
                contestant.label.clone(),
                number(score.f.mean),
                number(score.f.standard_error),
                number(score.d_norm_sq.mean),
                number(score.d_norm_sq.standard_error),
                number(score.max_mean_theta_norm_sq),
                number(score.divergence_rate),
                score.projections.map_or(String::new(), number),
                score.updates.to_string(),
                number(score.f_of_mean),
                number(score.theta_error_sq.mean),
                number(score.theta_error_sq.standard_error),
                contestant.prepared.oracle().to_string(),
                point.length.horizon.to_string(),
                number(problem.omega()),
                number(problem.f_zero()),
                number(problem.theta_star_norm().powi(2)),
                bound(contestant, Quantity::F).map_or(String::new(), number),
                point.comparison_bound.map_or(String::new(), number),
            ];
            csv.push_str(&fields.join(","));
            csv.push('\n');
        }
    }
    csv
}

/// `agents.csv`: E f of the mean of N independent outputs.
pub fn agents_csv(results: &ExperimentResults) -> String {
    let mut csv = String::from("vary,value,label,kind,agents,f,bias,spread,speed_up\n");
    let plan = &results.plan;
    for split in &results.splits {
        for &agents in &plan.spec.agents {
            let fields = [
                plan.varied().to_string(),
                plan.points[split.point].value.map_or(String::new(), number),
                split.label.clone(),
                if split.exact { "exact" } else { "sampled" }.into(),
                agents.to_string(),
                number(split.f(agents)),
                number(split.bias),
                number(split.spread),
                number(split.f(1) / split.f(agents)),
            ];
            csv.push_str(&fields.join(","));
            csv.push('\n');
        }
    }
    csv
}
