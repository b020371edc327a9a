//! Computes by brute force the inputs that methods take from the exact problem, and compares.

use proptest::prelude::*;
use robust_td_core::learner::{Learner, Steps, srikant_ying};
use robust_td_core::registry;
use robust_td_core::registry::{Setting, Source};
use robust_td_core::{Matrix, Problem};

use crate::common::dot;
use crate::walk::{family, mixing, sparse_problem};

/// P^t by repeated squaring in plain loops.
fn power(problem: &Problem, t: usize) -> Matrix {
    let n = problem.states();
    let product = |a: &Matrix, b: &Matrix| {
        Matrix::from_fn(n, n, |i, j| (0..n).map(|k| a.get(i, k) * b.get(k, j)).sum())
    };
    let (mut result, mut square) = (Matrix::identity(n), problem.chain().transition().to_dense());
    let mut left = t;
    while left > 0 {
        if left % 2 == 1 {
            result = product(&result, &square);
        }
        square = product(&square, &square);
        left /= 2;
    }
    result
}

fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>()
}

/// dbar(t).
pub fn pair_distances(problem: &Problem, t: usize) -> f64 {
    let power = power(problem, t);
    let rows = 0..power.rows();
    rows.clone()
        .flat_map(|i| rows.clone().map(move |j| (i, j)))
        .map(|(i, j)| total_variation(power.row(i), power.row(j)))
        .fold(0.0, f64::max)
}

/// d(t).
pub fn stationary_distances(problem: &Problem, t: usize) -> f64 {
    let power = power(problem, t);
    (0..power.rows())
        .map(|s| total_variation(power.row(s), problem.stationary()))
        .fold(0.0, f64::max)
}

/// Mitra's step, decreased until step <= curvature / (8 tau(step^2)). The largest step satisfies this with equality, so the
/// candidates are curvature / (8k).
pub fn largest_mitra_step(curvature: f64, alpha: f64) -> f64 {
    (1..)
        .map(|k| curvature / (8.0 * f64::from(k)))
        .find(|step| {
            let tau = ((2.0 / (step * step)).ln() / (1.0 / alpha).ln()).ceil();
            *step <= curvature / (8.0 * tau) * (1.0 + 1e-12)
        })
        .unwrap()
}

/// Solves a small linear system by elimination with pivoting.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs()))
            .unwrap();
        rows.swap(column, pivot);
        let lead = rows[column].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != column {
                let factor = row[column] / lead[column];
                row.iter_mut()
                    .zip(&lead)
                    .for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

/// The extreme eigenvalues of the Lyapunov solution, by the Kronecker form and power iteration on it.
fn largest_lyapunov_eigenvalue(problem: &Problem, scale: f64) -> f64 {
    let d = problem.dimension();
    let a = |i: usize, j: usize| scale * scale * problem.a().get(i, j);
    let rows = (0..d * d)
        .map(|row| {
            let (i, j) = (row / d, row % d);
            let mut equation: Vec<f64> = (0..d * d)
                .map(|column| {
                    let (k, l) = (column / d, column % d);
                    let left = if l == j { a(k, i) } else { 0.0 };
                    left + if k == i { a(l, j) } else { 0.0 }
                })
                .collect();
            equation.push(if i == j { 1.0 } else { 0.0 });
            equation
        })
        .collect();
    let p = Matrix::new(d, d, solve(rows)).unwrap();
    let mut x: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * i as f64).collect();
    for _ in 0..20_000 {
        x = p.times(&x);
        let norm = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
    }
    p.quadratic(&x)
}

/// The step of Srikant and Ying in the units of their features.
pub fn largest_srikant_step(problem: &Problem, horizon: usize) -> f64 {
    let gamma = problem.discount();
    let ph = 1.0 / (1.0 + gamma).sqrt();
    let scale = ph / problem.phi_inf();
    let distance = problem.theta_star_norm() / scale;
    let b_max = problem.r_inf() * ph + 2.0 * ph * ph * distance;
    let g_max = largest_lyapunov_eigenvalue(problem, scale);
    let distances = well_mixed(problem);
    let allowed = |eps: f64| {
        let mixed = |d: &f64| 2.0 * b_max.max(2.0 * ph * ph) * d <= eps;
        let tau = 1.0 + distances.iter().position(mixed).unwrap() as f64;
        let slack = 1.0 + 1e-12;
        let drift = 62.0 * g_max * (1.0 + b_max) * eps * tau + eps * g_max;
        drift <= 0.05 * slack && eps * tau <= 0.25 * slack
    };
    let t = horizon as f64;
    let wanted = g_max * t.ln() / t;
    if allowed(wanted) {
        return wanted;
    }
    // The largest step satisfies one of the conditions with equality.
    let candidates = (1..).map(|tau| {
        let tau = f64::from(tau);
        (0.05 / (62.0 * g_max * (1.0 + b_max) * tau + g_max)).min(0.25 / tau)
    });
    candidates.into_iter().find(|&eps| allowed(eps)).unwrap()
}

/// The distances up to a lag at which the chain has fully mixed.
fn well_mixed(problem: &Problem) -> Vec<f64> {
    let mixing = mixing(problem);
    mixing.bounds(100 * mixing.t_mix() as usize, 1 << 30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// T42: the step satisfies both conditions, and no larger one does.
    #[test]
    fn srikant_and_ying_take_the_largest_step(seed in any::<u64>(), factor in 1.0001..50.0) {
        let problem = sparse_problem(seed);
        let constants = srikant_ying::Constants::of(&problem, problem.phi_inf()).unwrap();
        let distances = well_mixed(&problem);
        let step = constants.largest_step(&distances).unwrap();
        let slack = 1.0 - 1e-12;
        prop_assert!(constants.allows(&distances, step * slack) || constants.allows(&distances, step));
        prop_assert!(!constants.allows(&distances, 1.01 * step));
        prop_assert!(!constants.allows(&distances, factor * step));
    }

    /// d(k-1) <= 4 * 2^(-k/tau) for all k, 1 <= tau <= t_mix, and tau is close to the smallest such value.
    #[test]
    fn the_mixing_time_of_pairs_holds(seed in any::<u64>()) {
        let problem = sparse_problem(seed);
        let mixing = mixing(&problem);
        let tau = mixing.pair_mixing_time(1 << 30);
        prop_assert!(tau >= 1.0 && tau <= mixing.t_mix() as f64);
        prop_assume!(mixing.t_mix() <= 1000);
        let mut needed = 1.0_f64;
        let distances = mixing.distances(40 * mixing.t_mix() as usize);
        for (j, d) in distances.into_iter().enumerate().take_while(|&(_, d)| d > 1e-9) {
            let k = j as f64 + 1.0;
            prop_assert!(d <= 4.0 * (-k / tau).exp2() * (1.0 + 1e-9), "k = {}", k);
            needed = needed.max(k / (4.0 / d).log2());
        }
        prop_assert!(needed <= tau * (1.0 + 1e-9));
        prop_assert!(tau <= 1.2 * needed + 1.0, "{} where {} may do", tau, needed);
    }

    /// Samsonov's t_mix is that of dbar <= 1/4.
    #[test]
    fn the_time_to_a_level_is_the_first(seed in any::<u64>(), level in 0.01..0.9) {
        let problem = sparse_problem(seed);
        let mixing = mixing(&problem);
        for level in [level, 0.25, 0.5] {
            let t = mixing.time_to(level) as usize;
            let distances = mixing.pairwise_distances(t);
            prop_assert!(distances[t] <= level + 1e-11);
            prop_assert!(t == 1 || distances[t - 1] > level);
        }
        prop_assert_eq!(mixing.time_to(0.5), mixing.t_mix());
    }
}

/// Inputs from the exact problem are marked as such, under their names.
#[test]
fn oracle_inputs_are_named() {
    let problem = sparse_problem(11);
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 5000);
    let oracle = |id: &str, given: &[(&str, f64)]| -> Vec<&'static str> {
        let prepared = registry::find(id)
            .unwrap()
            .prepare(&setting, given)
            .unwrap();
        let oracle = prepared
            .inputs
            .iter()
            .filter(|i| i.source == Source::Oracle);
        oracle.map(|input| input.name).collect()
    };
    for (id, expected) in [
        ("bhandari-a", vec!["radius"]),
        ("bhandari-b", vec!["step", "omega", "radius"]),
        ("bhandari-c", vec!["omega", "radius"]),
        ("liu-olshevsky", vec!["radius"]),
        ("srikant-ying", vec!["t_mix", "g_max", "|theta*|", "step"]),
        ("patil-tail", vec!["drop", "alpha"]),
        ("patil-reg", vec!["drop", "alpha"]),
        ("samsonov", vec!["drop", "t_mix"]),
        ("mitra", vec!["step", "omega", "alpha"]),
        ("li-exp", vec![]),
        ("li-exp-reg", vec![]),
        ("lee26", vec!["tau_mix"]),
        ("lee26-mixfree", vec![]),
        ("td-const-certified", vec!["t_mix", "u"]),
        ("alg1", vec![]),
        ("alg1-doubling", vec![]),
    ] {
        assert_eq!(oracle(id, &[]), expected, "{id}");
    }
    assert!(oracle("patil-reg", &[("drop", 3.0)]).is_empty());
    assert!(oracle("lee26", &[("tau_mix", 3.0)]).is_empty());
    assert!(oracle("mitra", &[("step", 0.01)]).is_empty());
    assert_eq!(oracle("bhandari-c", &[("radius", 3.0)]), ["omega"]);
}

/// Steps are for features of norm 1; radius, omega and lambda are in the units of the features.
#[test]
fn given_values_are_used_in_their_units() {
    let problem = sparse_problem(11);
    let square = problem.phi_inf().powi(2);
    let setting = Setting::of_problem(&problem, None, 900);
    let recipe = |id: &str, given: &[(&str, f64)]| {
        let prepared = registry::find(id)
            .unwrap()
            .prepare(&setting, given)
            .unwrap();
        prepared.learner.recipe().unwrap()
    };
    let constant = |step: f64| Steps::Constant { eta: step / square };
    let b = recipe("bhandari-b", &[("radius", 3.5), ("step", 1e-3)]);
    assert_eq!((b.radius, b.steps), (Some(3.5), constant(1e-3)));
    let c = recipe("bhandari-c", &[("omega", 0.25), ("radius", 2.0)]);
    let first = 1.0 / (0.25 * (1.0 - problem.discount()));
    assert_eq!(c.steps, Steps::Harmonic { first });
    let c = recipe("bhandari-c", &[("radius", 2.0)]);
    let first = 1.0 / (problem.omega() * (1.0 - problem.discount()));
    assert_eq!(c.steps, Steps::Harmonic { first });
    assert_eq!(recipe("mitra", &[("step", 0.5)]).steps, constant(0.5));
    let samsonov = recipe("samsonov", &[("step", 0.5), ("drop", 4.0)]);
    assert_eq!(samsonov.steps, constant(0.5));
    let regularised = recipe("patil-reg", &[("drop", 4.0), ("lambda", 0.125)]);
    assert_eq!(regularised.regulariser, 0.125);
    assert_eq!(
        recipe("li-exp", &[("step", 0.5)]).steps,
        Steps::Exponential {
            first: 0.5 / square,
            horizon: 900
        }
    );
    let lee = recipe("lee26", &[("tau_mix", 4.0), ("c", 3.0)]);
    assert_eq!(
        lee.steps,
        Steps::Robust {
            scale: 3.0 * square * 4.0
        }
    );
}

#[test]
fn the_family_is_found_and_described() {
    assert!(family().contains(&"bhandari-a") && family().contains(&"liu-olshevsky"));
    for id in family() {
        let method = registry::find(id).unwrap();
        assert!(!method.title.is_empty() && !method.reference.is_empty());
    }
}
