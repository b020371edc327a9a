//! Solves the equations of a log by repeated passes over it, for features too many for their matrix.
//!
//! The error of the value of the policy follows from one more solution, v = A^{-T} (mean features of the starts): the
//! contribution of a transition is its TD error times v.phi. Other values would each need a solution of their own, so they have no
//! interval.

use std::ops::ControlFlow;

use robust_td_core::Features;
use robust_td_core::fixed_point::Identified;
use robust_td_core::influence::Influence;
use robust_td_core::krylov::{Equations, Krylov, Progress, Solution};
use robust_td_core::support::leverage;

use super::Solver;
use super::answer::Answer;
use super::gather::Plan;
use super::unit::{Groups, Unit, Units};
use crate::chunks::{PassCounts, for_each_transition};
use crate::diagnostics::TdErrors;
use crate::error::Result;
use crate::replay::Replay;
use crate::sample::Sample;

/// The maximum number of passes for the answer, and for its error.
const MOST_PRODUCTS: [usize; 2] = [1000, 300];
/// The relative residual to reach. The relative error of values is within about ten times of it.
const TOLERANCE: f64 = 1e-4;
/// The largest error that the unsolved part of the equations may add, in standard errors.
const MOST_LEFT: f64 = 0.25;
/// The tolerance for the error, which is needed to a few digits only.
const ERROR_TOLERANCE: f64 = 2e-2;

/// The sums of the first pass.
struct Sums {
    b: Vec<f64>,
    squares: Vec<f64>,
    start_features: Vec<f64>,
    starts: u64,
    phi_inf: f64,
    units: Units,
    sample: Sample,
    counts: PassCounts,
}

/// Finds the answer; `progress` is called after every pass.
///
/// # Errors
/// Those of reading.
pub(super) fn answer(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Answer> {
    let sums = sums(replay, plan)?;
    let equations = Equations {
        discount: plan.discount,
    };
    let mut solve = |b: &[f64], tolerance: f64, adjoint: bool| -> Result<Solution> {
        let solver = Krylov {
            tolerance,
            max_products: MOST_PRODUCTS[usize::from(adjoint)],
            ..Krylov::default()
        };
        let product = |x: &[f64], y: &mut [f64]| -> Result<()> {
            y.fill(0.0);
            for_each_transition(replay, plan.map, plan.limit, |placed| match adjoint {
                false => equations.add_product(&placed.transition, x, y),
                true => equations.add_adjoint(&placed.transition, x, y),
            })?;
            Ok(())
        };
        solver.solve(b, &sums.squares, product, |state| {
            progress(state);
            ControlFlow::Continue(())
        })
    };
    let found = solve(&sums.b, TOLERANCE, false)?;
    let weights = solve(&sums.start_features, ERROR_TOLERANCE, true)?;
    let units = match plan.unit {
        Unit::Time => sums.counts.transitions,
        Unit::Episode => sums.counts.runs,
        _ => sums.units.count(),
    };
    let groups = Groups::new(plan.unit, units, &sums.units);
    let start = Features::Dense(&sums.start_features).dot(&found.theta);
    let [mut scores, mut starts, mut sizes, mut start_sizes] =
        [(); 4].map(|()| vec![0.0; groups.count()]);
    let mut td_errors = TdErrors::default();
    for_each_transition(replay, plan.map, plan.limit, |placed| {
        let (transition, group) = (&placed.transition, groups.of(placed));
        let delta = transition.td_error(&found.theta, plan.discount);
        td_errors.record(transition.ratio * delta);
        let phi = transition.features;
        scores[group] += transition.ratio * delta * phi.dot(&weights.theta);
        sizes[group] += 1.0;
        if !plan.episodic || placed.starts {
            starts[group] += (phi.dot(&found.theta) - start) / sums.starts.max(1) as f64;
            start_sizes[group] += 1.0;
        }
    })?;
    // What is left of the equations moves the value by the sum of the scores.
    let left: f64 = scores.iter().sum::<f64>().abs();
    let n = sums.counts.transitions;
    let parts = (scores.iter().zip(&sizes)).zip(starts.iter().zip(&start_sizes));
    let contributions: Vec<f64> = parts
        .map(|((score, rows), (start, own))| {
            let share = |count: f64, all: u64| leverage(count / all.max(1) as f64);
            score * share(*rows, n) + start * share(*own, sums.starts)
        })
        .collect();
    let seen = sums.squares.iter().filter(|square| **square > 0.0).count();
    let known = weights.residual <= 1.5 * ERROR_TOLERANCE
        && groups.count() > 1
        && n as f64 >= 1.5 * seen as f64 + 10.0;
    let (grouping, clusters) = (groups.grouping(), groups.clusters());
    let influence = Influence::of_one_value(grouping, groups.count(), clusters, n)?;
    let spread = influence.spread_with(Features::Dense(&[]), &contributions);
    let influence = (known && left <= MOST_LEFT * spread.standard_error()).then_some(influence);
    let scale = |square: &f64| (square / n.max(1) as f64).sqrt();
    Ok(Answer {
        solver: Solver::Iterative,
        products: Some((found.products + weights.products) as u64),
        held_out: None,
        rank: None,
        relative_residual: found.residual,
        tolerance: TOLERANCE,
        identified: Identified::all(sums.squares.iter().map(scale).collect()),
        contributions: influence.as_ref().map_or(Vec::new(), |_| contributions),
        influence,
        theta: found.theta,
        td_errors,
        phi_inf: sums.phi_inf,
        start_features: sums.start_features,
        starts: sums.starts,
        units,
        sample: sums.sample,
        counts: sums.counts,
    })
}

fn sums(replay: &mut Replay<'_>, plan: &Plan<'_>) -> Result<Sums> {
    let d = plan.map.outputs();
    let mut sums = Sums {
        b: vec![0.0; d],
        squares: vec![0.0; d],
        start_features: vec![0.0; d],
        starts: 0,
        phi_inf: 0.0,
        units: Units::default(),
        sample: Sample::default(),
        counts: PassCounts::default(),
    };
    let equations = Equations {
        discount: plan.discount,
    };
    sums.counts = for_each_transition(replay, plan.map, plan.limit, |placed| {
        let phi = placed.transition.features;
        equations.add_sums(&placed.transition, &mut sums.b, &mut sums.squares);
        let next = placed.transition.outcome.next_features();
        let next = next.map_or(0.0, |next| next.norm_sq());
        sums.phi_inf = sums.phi_inf.max(phi.norm_sq()).max(next);
        if !plan.episodic || placed.starts {
            phi.axpy(1.0, &mut sums.start_features);
            sums.starts += 1;
        }
        if plan.unit.is_named() {
            sums.units.add(plan.unit.key(placed));
        }
        sums.sample.consider(placed, plan.transitions);
    })?;
    sums.phi_inf = sums.phi_inf.sqrt();
    if sums.b.iter().chain(&sums.squares).any(|x| !x.is_finite()) {
        return Err(robust_td_core::Error::Overflow.into());
    }
    let count = sums.starts.max(1) as f64;
    sums.start_features.iter_mut().for_each(|sum| *sum /= count);
    Ok(sums)
}
