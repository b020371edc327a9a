//! Writes a comparison as CSV: one row per method, and the learning curves.

use robust_td_engine::contest::Estimate;

use super::results::{ComparisonResults, quantity};
use crate::number::csv as number;

/// `compare.csv`: one row per method, in the requested order.
pub fn compare_csv(comparison: &ComparisonResults) -> String {
    let mut csv = String::from(
        "label,id,standing,oracle,f,f_stderr,d_norm_sq,d_norm_sq_stderr,theta_error_sq,theta_error_sq_stderr,\
         f_of_mean,max_mean_theta_norm_sq,peak_step,divergence_rate,projections,updates,\
         guarantee_quantity,guarantee_bound\n",
    );
    for (contestant, score) in comparison.entries() {
        let mut fields = vec![
            contestant.label.clone(),
            contestant.method.id.into(),
            contestant.method.standing.word().into(),
            contestant.prepared.oracle().to_string(),
        ];
        for estimate in [score.f, score.d_norm_sq, score.theta_error_sq] {
            fields.extend(numbers(estimate));
        }
        let guarantee = contestant.prepared.guarantee.as_ref();
        fields.extend([
            number(score.f_of_mean),
            number(score.max_mean_theta_norm_sq),
            score.peak_step.to_string(),
            number(score.divergence_rate),
            score.projections.map_or(String::new(), number),
            score.updates.to_string(),
            guarantee.map_or("", |g| quantity(g.quantity)).into(),
            guarantee.map_or(String::new(), |g| number(g.bound)),
        ]);
        csv.push_str(&fields.join(","));
        csv.push('\n');
    }
    csv
}

/// `curves.csv`: f of each method's output against the number of samples.
pub fn curves_csv(comparison: &ComparisonResults) -> String {
    let mut csv = String::from("label,samples,f,f_stderr\n");
    for (contestant, score) in comparison.entries() {
        for point in &score.curve {
            let [mean, error] = numbers(point.f);
            let label = &contestant.label;
            csv.push_str(&format!("{label},{},{mean},{error}\n", point.samples));
        }
    }
    csv
}

/// Mean and standard error.
pub fn numbers(estimate: Estimate) -> [String; 2] {
    [estimate.mean, estimate.standard_error].map(number)
}
