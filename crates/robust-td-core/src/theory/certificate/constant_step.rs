//! Certifies one tuned constant step in closed form, without logarithms of the horizon (certificate C).
//!
//! Let `kap = 1 + gamma`, `u = min{ j : d(j) <= 1/sqrt T }` with `u + 1 <= T/64`, `x = max(|theta*|, Gs/(kap phi_inf^2))` and
//!
//! ```text
//! eta = 1 / ( kap phi_inf^2 (8 + 4 sqrt(8u+1)) sqrt T )     for all t, uniform average
//! E|theta_t - theta*|^2 <= 3.7 x^2,     E f(avg_T) <= kap phi_inf^2 (14.8 + 7.4 sqrt(8u+1)) x^2 / sqrt T
//! ```
//!
//! The bound grows with `|theta*|`, `Gs` and the lag. It is **not** monotone in the discount, even with `|theta*|` and `Gs` fixed: it has the factor
//! `kap x^2 = max(kap |theta*|^2, Gs^2/(kap phi_inf^4))`, whose second term falls as `kap` rises, because the step is smaller. `theta*` and `Gs` also
//! change with the discount, and `Gs` may fall: with constant rewards and a constant feature it is 0 for every discount. Nor is it monotone in
//! `phi_inf` with `Gs` fixed, and it falls with `T` only as long as the lag stays the same.
//!
//! Proved by bounding certificate Y. Unlike Algorithm 1 the step needs the mixing time; like it, nothing depends on `omega`.

use super::{Certificate, Hypothesis, Inputs, Relation};

/// The lag `u = min{ j : d(j) <= 1/sqrt T }`, or `None` when it lies beyond the known distances.
pub fn lag(inputs: &Inputs, horizon: u64) -> Option<u64> {
    let target = 1.0 / (horizon as f64).sqrt();
    inputs
        .distances
        .iter()
        .position(|&distance| distance <= target)
        .map(|lag| lag as u64)
}

/// The certified constant step at lag `u`.
pub fn step_size(inputs: &Inputs, horizon: u64, lag: u64) -> f64 {
    let root = (8.0 * lag as f64 + 1.0).sqrt();
    let square = inputs.phi_inf * inputs.phi_inf;
    1.0 / (inputs.growth() * square * (8.0 + 4.0 * root) * (horizon as f64).sqrt())
}

/// The certificate for the constant step [`step_size`] at [`lag`].
pub fn certify(inputs: &Inputs, horizon: u64) -> Certificate {
    let t = horizon as f64;
    let Some(lag) = lag(inputs, horizon) else {
        let last = inputs.distances.last().copied().unwrap_or(f64::NAN);
        let name = format!(
            "the mixing distance at lag {}",
            inputs.distances.len().saturating_sub(1)
        );
        return Certificate {
            bound: None,
            iterate_bound: None,
            norm_bound: None,
            lag: None,
            a2: None,
            hypotheses: vec![Hypothesis::new(
                name,
                Relation::AtMost,
                1.0 / t.sqrt(),
                last,
            )],
        };
    };
    let growth = inputs.growth();
    let square = inputs.phi_inf * inputs.phi_inf;
    let root = (8.0 * lag as f64 + 1.0).sqrt();
    let radius = inputs
        .distance
        .max(inputs.update_at_solution / (growth * square));
    let iterate_bound = 3.7 * radius * radius;
    // A2 of certificate Y is at most 4 kap s + kap^2 s^2 (8u+1) for the step s/(phi_inf^2 sqrt T).
    let relative = 1.0 / (8.0 + 4.0 * root);
    Certificate {
        bound: Some(growth * square * (14.8 + 7.4 * root) * radius * radius / t.sqrt()),
        iterate_bound: Some(iterate_bound),
        norm_bound: Some((iterate_bound.sqrt() + inputs.distance).powi(2)),
        lag: Some(lag),
        a2: Some(4.0 * relative + (relative * root).powi(2)),
        hypotheses: vec![Hypothesis::new(
            "T",
            Relation::AtLeast,
            64.0 * (lag as f64 + 1.0),
            t,
        )],
    }
}
