//! Implements every method from its formulas, with plain loops, and compares.

use proptest::prelude::*;
use robust_td_core::Problem;
use robust_td_core::learner::Learner;
use robust_td_core::registry;
use robust_td_core::registry::{Prepared, Setting};

use crate::common::{distance, dot, norm};
use crate::defaults::{
    largest_mitra_step, largest_srikant_step, pair_distances, stationary_distances,
};
use crate::stream::{End, Sample, assert_close};
use crate::walk::{family, feed, mixing, samples, sparse_problem};

/// The kind of average.
pub enum Answer {
    Last,
    Uniform,
    Weighted,
    /// The mean of the iterates from this one on, including the last.
    From(usize),
}

/// A TD(0)-type method in plain form.
pub struct Line {
    pub eta: Box<dyn Fn(usize) -> f64>,
    /// Whether sample i = 1, 2, 3, ... is used.
    pub uses: Box<dyn Fn(usize) -> bool>,
    pub radius: f64,
    pub lambda: f64,
    pub answer: Answer,
}

/// The result of a method.
pub struct Ended {
    pub theta: Vec<f64>,
    pub output: Vec<f64>,
    pub updates: u64,
    /// The number of steps that left the ball: certainly, and possibly, where rounding leaves doubt.
    pub projections: std::ops::RangeInclusive<u64>,
}

impl Line {
    fn new(eta: impl Fn(usize) -> f64 + 'static, answer: Answer) -> Self {
        Self {
            eta: Box::new(eta),
            uses: Box::new(|_| true),
            radius: f64::INFINITY,
            lambda: 0.0,
            answer,
        }
    }

    /// Stores every iterate and computes the average at the end.
    pub fn run(&self, samples: &[Sample], discount: f64) -> Ended {
        let d = samples[0].features.len();
        let mut thetas = vec![vec![0.0; d]];
        let mut weights = Vec::new();
        let (mut surely, mut possibly) = (0, 0);
        for (i, sample) in samples.iter().enumerate() {
            if !(self.uses)(i + 1) {
                continue;
            }
            let theta = thetas.last().unwrap();
            let next = match sample.end {
                End::Terminated => 0.0,
                _ => dot(&sample.next, theta),
            };
            let delta = sample.reward + discount * next - dot(&sample.features, theta);
            let eta = (self.eta)(weights.len());
            let mut moved: Vec<f64> = (0..d)
                .map(|i| theta[i] + eta * (delta * sample.features[i] - self.lambda * theta[i]))
                .collect();
            let norm = dot(&moved, &moved).sqrt();
            surely += u64::from(norm > self.radius * (1.0 + 1e-12));
            possibly += u64::from(norm > self.radius * (1.0 - 1e-12));
            if norm > self.radius {
                moved.iter_mut().for_each(|x| *x *= self.radius / norm);
            }
            thetas.push(moved);
            weights.push(eta);
        }
        let n = weights.len();
        let weights: Vec<f64> = match self.answer {
            Answer::Last => (0..=n).map(|j| f64::from(u8::from(j == n))).collect(),
            Answer::Uniform => (0..=n).map(|j| f64::from(u8::from(j < n))).collect(),
            Answer::Weighted => weights.into_iter().chain([0.0]).collect(),
            Answer::From(first) => (0..=n)
                .map(|j| f64::from(u8::from(j >= first.min(n))))
                .collect(),
        };
        let total: f64 = weights.iter().sum();
        let output = (0..d)
            .map(|i| {
                let sum: f64 = weights.iter().zip(&thetas).map(|(w, x)| w * x[i]).sum();
                sum / total
            })
            .collect();
        Ended {
            theta: thetas[n].clone(),
            output,
            updates: n as u64,
            projections: surely..=possibly,
        }
    }
}

/// Whether two vectors agree to 1e-10 of the larger of 1 and the norm.
fn agree(found: &[f64], expected: &[f64]) -> bool {
    distance(found, expected) <= 1e-10 * norm(expected).max(1.0)
}

/// Harmonic steps far above 1/phi_inf^2 throw the iterates across the ball, which amplifies rounding without limit; in that
/// case omega is set explicitly.
fn well_conditioned(problem: &Problem, id: &str) -> Vec<(&'static str, f64)> {
    let least = 0.25 * problem.phi_inf().powi(2) / (1.0 - problem.discount());
    let given = id == "bhandari-c" && problem.omega() < least;
    if given {
        vec![("omega", least)]
    } else {
        vec![]
    }
}

/// The input of the method with this name.
fn told(prepared: &Prepared, name: &str) -> f64 {
    let found = prepared.inputs.iter().find(|input| input.name == name);
    found.unwrap().value
}

/// The method at its defaults, from the formulas of the papers.
pub fn line(problem: &Problem, id: &str, horizon: usize, prepared: &Prepared) -> Line {
    let (gamma, ph) = (problem.discount(), problem.phi_inf());
    let rest = 1.0 - gamma;
    let t = horizon as f64;
    let omega = problem.omega();
    let radius = 2.0 * problem.r_inf() / (omega.sqrt() * rest.powf(1.5));
    let t_mix = (1..)
        .find(|&k| pair_distances(problem, k) <= 0.5 + 1e-12)
        .unwrap();
    let alpha = 0.5_f64.powf(1.0 / t_mix as f64);
    let root = |answer| Line {
        radius,
        ..Line::new(move |_| 1.0 / (ph * ph * t.sqrt()), answer)
    };
    let constant = |eta: f64, answer| Line::new(move |_| eta, answer);
    match id {
        "bhandari-a" | "liu-olshevsky" => root(Answer::Uniform),
        "bhandari-b" => {
            let limit = 1.0 / (4.0 * omega / (ph * ph) * rest);
            Line {
                radius,
                ..constant(limit.min(0.1) / (ph * ph), Answer::Last)
            }
        }
        "bhandari-c" => {
            let omega = told(prepared, "omega");
            let eta = move |t: usize| 1.0 / (omega * (t as f64 + 1.0) * rest);
            Line {
                radius,
                ..Line::new(eta, Answer::Uniform)
            }
        }
        "srikant-ying" => {
            let scale = 1.0 / (ph * (1.0 + gamma).sqrt());
            let eps = largest_srikant_step(problem, horizon);
            constant(eps * scale * scale, Answer::Last)
        }
        "patil-tail" | "patil-reg" => {
            // ln(1/alpha) = ln(2) / t_mix; the slack is for integers, at powers of two.
            let lag = t_mix as f64 * (2.0 * t.powi(3)).log2();
            let group = 1 + (lag - 1e-9).ceil() as usize;
            let updates = (1..=horizon)
                .filter(|i| (i - 1).is_multiple_of(group))
                .count();
            let answer = Answer::From(updates / 2 + 1);
            let uses = Box::new(move |i: usize| (i - 1).is_multiple_of(group));
            if id == "patil-tail" {
                let eta = rest / ((1.0 + gamma).powi(2) * ph.powi(2));
                return Line {
                    uses,
                    ..constant(eta, answer)
                };
            }
            let lambda = ph * ph / ((updates - updates / 2) as f64).sqrt();
            let square = 2.0 * lambda * (1.0 + gamma) * ph.powi(2);
            let eta = lambda / (lambda.powi(2) + square + (1.0 + gamma).powi(2) * ph.powi(4));
            Line {
                uses,
                lambda,
                ..constant(eta, answer)
            }
        }
        "samsonov" => {
            let quarter = (1..)
                .find(|&k| pair_distances(problem, k) <= 0.25 + 1e-12)
                .unwrap();
            let log = (t / (1.0 / (t * t))).ln();
            let group = (quarter as f64 * 1.5 * t.log2() - 1e-9).ceil() as usize;
            let updates = horizon / group;
            let eta = rest / (128.0 * log) / (ph * ph);
            Line {
                uses: Box::new(move |i| i.is_multiple_of(group)),
                ..constant(eta, Answer::From(updates / 2 + 1))
            }
        }
        "mitra" => {
            let step = largest_mitra_step(omega / (ph * ph) * rest, alpha);
            constant(step / (ph * ph), Answer::Last)
        }
        "li-exp" | "li-exp-reg" => {
            let plain = id == "li-exp";
            let eta = move |j: usize| rest / 4.0 / (ph * ph) * (1.0 / t).powf(j as f64 / t);
            Line {
                lambda: if plain { 0.0 } else { ph * ph / t.sqrt() },
                ..Line::new(eta, Answer::Last)
            }
        }
        "lee26" => {
            // Another test checks that it is valid and small.
            let tau = told(prepared, "tau_mix");
            let eta = move |j: usize| {
                let j = j as f64;
                1.0 / (tau * ph * ph * (j + 3.0).ln() * (j + 1.0).sqrt())
            };
            Line::new(eta, Answer::Weighted)
        }
        "lee26-mixfree" => {
            let eta = move |j: usize| {
                let j = j as f64;
                1.0 / (ph * ph * (j + 1.0).sqrt() * (j + 3.0).ln().powi(2))
            };
            Line::new(eta, Answer::Weighted)
        }
        "td-const-certified" => {
            let lag = (0..)
                .find(|&j| stationary_distances(problem, j) <= 1.0 / t.sqrt())
                .unwrap();
            let root = (8.0 * lag as f64 + 1.0).sqrt();
            let eta = 1.0 / ((1.0 + gamma) * ph * ph * (8.0 + 4.0 * root) * t.sqrt());
            constant(eta, Answer::Uniform)
        }
        other => panic!("no reference for {other}"),
    }
}

/// On REF-2, where dbar(t) = 0.6^t: 2 lags to 1/2 and 3 to 1/4, so at T = 2^8 the formulas give integers.
#[test]
fn whole_numbers_are_not_rounded_up() {
    let problem = crate::common::ref_2();
    let mixing = mixing(&problem);
    let setting = Setting::of_problem(&problem, Some(&mixing), 256);
    // 1 + log2(2 T^3) * 2 = 1 + 25 * 2, and log2(T^3) / 2 * 3 = 12 * 3.
    for (id, drop) in [
        ("patil-tail", 51.0),
        ("patil-reg", 51.0),
        ("samsonov", 36.0),
    ] {
        let method = registry::find(id).unwrap();
        let prepared = method.prepare::<&str>(&setting, &[]).unwrap();
        let found = prepared.inputs.iter().find(|input| input.name == "drop");
        assert_eq!(found.unwrap().value, drop, "{id}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Dense and sparse, at and before the horizon.
    #[test]
    fn every_method_is_its_formulas(seed in any::<u64>(), length in 3usize..400, share in 0.1..1.0) {
        let problem = sparse_problem(seed);
        let mixing = mixing(&problem);
        let samples = samples(&problem, length, seed);
        let seen = ((length as f64 * share) as usize).max(1);
        let setting = Setting::of_problem(&problem, Some(&mixing), length as u64);
        for id in family() {
            let given = well_conditioned(&problem, id);
            let prepared = registry::find(id).unwrap().prepare(&setting, &given).unwrap();
            let line = line(&problem, id, length, &prepared);
            for n in [seen, length] {
                let expected = line.run(&samples[..n], problem.discount());
                for sparse in [false, true] {
                    let mut learner = prepared.learner.clone();
                    feed(&mut learner, &samples[..n], sparse);
                    prop_assert!(agree(learner.theta(), &expected.theta), "{}", id);
                    prop_assert!(agree(&learner.output(), &expected.output), "{}", id);
                    prop_assert_eq!(learner.updates(), expected.updates, "{}", id);
                    prop_assert_eq!(learner.steps(), n as u64);
                    if let Some(projections) = learner.projections() {
                        prop_assert!(expected.projections.contains(&projections), "{}", id);
                    }
                }
            }
        }
    }

    /// The adjustment of liu-olshevsky: average reward / (1-gamma) - mean of V_avg over the visited states.
    #[test]
    fn the_mean_adjustment_is_its_formula(seed in any::<u64>(), length in 3usize..300) {
        let problem = sparse_problem(seed);
        let mixing = mixing(&problem);
        let samples = samples(&problem, length, seed);
        let setting = Setting::of_problem(&problem, Some(&mixing), length as u64);
        let method = registry::find("liu-olshevsky").unwrap();
        let prepared = method.prepare::<&str>(&setting, &[]).unwrap();
        prop_assert_eq!(prepared.learner.value_offset(), 0.0);
        let line = line(&problem, "liu-olshevsky", length, &prepared);
        let average = line.run(&samples, problem.discount()).output;
        let n = length as f64;
        let reward: f64 = samples.iter().map(|sample| sample.reward).sum();
        let value: f64 = samples.iter().map(|sample| dot(&sample.features, &average)).sum();
        let expected = reward / n / (1.0 - problem.discount()) - value / n;
        for sparse in [false, true] {
            let mut learner = prepared.learner.clone();
            feed(&mut learner, &samples, sparse);
            assert_close(&[learner.value_offset()], &[expected], 1e-10);
        }
    }
}
