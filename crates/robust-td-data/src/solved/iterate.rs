//! Solves the equations of a log by repeated products with their matrix: a stored one, or by passes over the log.
//!
//! The error of all values takes a solution per group of transitions. Where that is too much, the error of the value of the policy
//! follows from one more solution, v = A^{-T} (mean features of the starts): the contribution of a transition is its TD
//! error times v.phi. Other values would each need a solution of their own, so they have no interval then.

use std::ops::ControlFlow;

use robust_td_core::Matrix;
use robust_td_core::fixed_point::Identified;
use robust_td_core::influence::Influence;
use robust_td_core::krylov::{End, Krylov, Progress, RowProducts, Solution};
use robust_td_core::learner::{Features, Transition};
use robust_td_core::sparse::SparseSystem;
use robust_td_core::support::leverage;

use super::Solver;
use super::answer::{Answer, HeldOut};
use super::gather::{Plan, Route, Sparse, Summary};
use super::scores::{At, Scores, Scoring, with_errors};
use super::wide::most_groups;
use crate::chunks::for_each_chunk;
use crate::diagnostics::TdErrors;
use crate::error::Result;
use crate::replay::Replay;

/// The maximum number of passes for the answer, and for its error.
const MOST_PRODUCTS: [usize; 2] = [1000, 300];
/// The maximum number of multiplications with a stored matrix, instead.
const MOST_WORK: usize = 1 << 36;
/// The relative residual up to which an answer counts as converged where the noise does not allow more. The relative error of values is
/// within about ten times of it.
const TOLERANCE: f64 = 1e-4;
/// The relative residual to reach with a stored matrix, whose products cost little.
const AIM: f64 = 1e-6;
/// The relative residual that passes over the log aim at first.
const ROUGH: f64 = 1e-2;
/// The share of the noise in the equations that passes over the log may leave unsolved: on tile-coded logs values are then within a tenth of
/// their standard errors.
const SHARE_OF_NOISE: f64 = 1e-2;
/// The largest error that the unsolved part of the equations may add, in standard errors.
const MOST_LEFT: f64 = 0.25;
/// The tolerance for the error, which is needed to a few digits only.
const ERROR_TOLERANCE: f64 = 2e-2;
/// One product with a stored matrix in this number is reported.
const REPORTED: usize = 100;
/// The tolerance for the influence of groups, of which values use parts.
const INFLUENCE_TOLERANCE: f64 = 1e-3;
/// The tolerance for what the log identifies.
const PROBE_TOLERANCE: f64 = 1e-8;
/// The number of random vectors that show it.
const PROBES: u64 = 8;

/// The sums of the scores, times the weights of one value, and the number of rows of each group.
struct OneValue<'a> {
    groups: usize,
    weights: &'a [f64],
}

impl Scoring for OneValue<'_> {
    type Sum = Vec<[f64; 2]>;

    fn start(&self) -> Self::Sum {
        vec![[0.0; 2]; self.groups]
    }

    fn add(&self, sum: &mut Self::Sum, group: usize, transition: &Transition<'_>, delta: f64) {
        let [score, rows] = &mut sum[group];
        *score += transition.ratio * delta * transition.features.dot(self.weights);
        *rows += 1.0;
    }
}

/// Finds the answer; `progress` is called after every product.
///
/// # Errors
/// Those of reading.
pub(super) fn answer(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    system: &SparseSystem,
    log: Summary,
    kept: Option<Sparse>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Answer> {
    let is_stored = system.stored().is_some();
    let (found, tolerance) = match is_stored {
        true => {
            let found = solve_stored(system, &system.b, AIM, false, progress)?;
            (found, TOLERANCE)
        }
        false => solve_by_passes(replay, plan, system, progress)?,
    };
    let start_features = start_features(system, &log);
    // By passes over the log, it would take as long as the answer.
    let held_out = match kept.filter(|_| is_stored && found.end == End::Converged) {
        Some(kept) => held_out(kept, system, progress)?,
        None => None,
    };
    let all = match is_stored && found.end == End::Converged {
        true => all_errors(system, plan, &log, found.products, progress)?,
        false => None,
    };
    let mut answer = Answer {
        solver: Solver::Iterative,
        products: Some(found.products as u64),
        held_out,
        rank: None,
        relative_residual: found.residual,
        tolerance,
        identified: Identified::all(system.scale().to_vec()),
        contributions: Vec::new(),
        influence: None,
        theta: found.theta,
        shown: None,
        td_errors: TdErrors::default(),
        start_features,
        units: log.unit_count(plan.unit),
        log,
    };
    let all = all.map(|(most, identified)| {
        answer.identified = identified;
        most
    });
    if let Some((feature, amounts)) = system.entered() {
        let reach = solve_stored(system, amounts, INFLUENCE_TOLERANCE, false, progress)?.theta;
        answer.identified = answer.identified.entering(feature, reach, &answer.theta);
    }
    if let Some(most) = all {
        return with_errors(replay, plan, answer, system, most, |scores| {
            influence(system, &scores, progress)
        });
    }
    let b = &answer.start_features;
    let weights = match is_stored {
        true => solve_stored(system, b, ERROR_TOLERANCE, true, progress),
        false => solve(system, b, ERROR_TOLERANCE, true, progress, |x, y| {
            pass(replay, plan, x, y, true)
        }),
    }?;
    answer.products = Some((found.products + weights.products) as u64);
    let known = weights.residual <= 1.5 * ERROR_TOLERANCE;
    with_error_of_starts(replay, plan, answer, system, &weights.theta, known)
}

/// Solves A theta = b by passes over the log, and returns the tolerance too.
///
/// The TD errors of a log are noise, so its equations are known up to S (b - A theta*), about sqrt(number of features) times the
/// root mean square of the TD errors. A residual far below that says nothing about the policy, so it is not iterated further.
fn solve_by_passes(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    system: &SparseSystem,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Solution, f64)> {
    let rough = solve(system, &system.b, ROUGH, false, progress, |x, y| {
        pass(replay, plan, x, y, false)
    })?;
    let noise = noise(replay, plan, system, &rough.theta)?;
    let tolerance = (SHARE_OF_NOISE * noise).clamp(TOLERANCE, ROUGH);
    if rough.end != End::Converged || rough.residual <= tolerance {
        return Ok((rough, tolerance));
    }
    let mut left = vec![0.0; system.b.len()];
    pass(replay, plan, &rough.theta, &mut left, false)?;
    let pairs = left.iter_mut().zip(&system.b);
    pairs.for_each(|(left, b)| *left = b - *left);
    let before = rough.products + 1;
    let aim = tolerance / rough.residual;
    let mut told = |state: Progress| {
        progress(Progress {
            products: before + state.products,
            residual: rough.residual * state.residual,
        });
    };
    let more = solve(system, &left, aim, false, &mut told, |x, y| {
        pass(replay, plan, x, y, false)
    })?;
    let theta = rough.theta.iter().zip(&more.theta);
    let found = Solution {
        theta: theta.map(|(x, more)| x + more).collect(),
        residual: rough.residual * more.residual,
        products: before + more.products,
        end: more.end,
    };
    Ok((found, tolerance))
}

/// The size of the noise in the equations, relative to |S b|.
fn noise(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    system: &SparseSystem,
    theta: &[f64],
) -> Result<f64> {
    let (mut squares, mut count) = (0.0, 0_u64);
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let mut squares = 0.0;
            chunk.for_each(plan.map, |placed| {
                let transition = &placed.transition;
                let delta = transition.ratio * transition.td_error(theta, plan.discount);
                squares += delta * delta;
            });
            (squares, chunk.transitions)
        },
        |(more, transitions)| {
            squares += more;
            count += transitions;
            Ok(())
        },
    )?;
    let pairs = system.b.iter().zip(&system.squares);
    let whole: f64 = pairs
        .filter(|(_, square)| **square > 0.0)
        .map(|(b, square)| b * b / square)
        .sum();
    let noise = (system.seen() as f64 * squares / count.max(1) as f64).sqrt();
    Ok(match whole > 0.0 {
        true => noise / whole.sqrt(),
        false => 0.0,
    })
}

/// Solves A x = b or A' x = b with the given product.
fn solve(
    system: &SparseSystem,
    b: &[f64],
    tolerance: f64,
    adjoint: bool,
    progress: &mut dyn FnMut(Progress),
    product: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
) -> Result<Solution> {
    let most = MOST_PRODUCTS[usize::from(adjoint)];
    let stored = |entries: usize| (MOST_WORK / entries.max(1)).clamp(most, 10 * most);
    let solver = Krylov {
        tolerance,
        max_products: system.stored().map_or(most, stored),
        ..Krylov::default()
    };
    let every = system.stored().map_or(1, |_| REPORTED);
    solver.solve(b, &system.squares, product, |state| {
        if state.products.is_multiple_of(every) {
            progress(state);
        }
        ControlFlow::Continue(())
    })
}

/// The answer without what is held out, if it converges.
fn held_out(
    kept: Sparse,
    all: &SparseSystem,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<HeldOut>> {
    let system = kept.sums.into_system()?;
    if system.stored().is_none() {
        return Ok(None);
    }
    let found = solve_stored(&system, &system.b, AIM, false, progress)?;
    if found.end != End::Converged {
        return Ok(None);
    }
    let identified = Identified::all(system.scale().to_vec());
    Ok(HeldOut::new(
        found.theta,
        system.seen() == all.seen(),
        identified,
    ))
}

/// The same with the stored matrix.
fn solve_stored(
    system: &SparseSystem,
    b: &[f64],
    tolerance: f64,
    adjoint: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Solution> {
    solve(system, b, tolerance, adjoint, progress, |x, y| {
        system.product(x, y, adjoint);
        Ok(())
    })
}

/// The maximum number of groups and what the log identifies, if the error of all values can be found in reasonable time, given the
/// number of products of one solution.
fn all_errors(
    system: &SparseSystem,
    plan: &Plan<'_>,
    log: &Summary,
    products: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<(usize, Identified)>> {
    let (Some(entries), Some(most)) = (system.stored(), most_groups(system.seen())) else {
        return Ok(None);
    };
    let solutions = log.groups(plan.unit, most).count() + 2 * PROBES as usize;
    let product = entries + Krylov::default().vectors() * system.seen();
    if solutions * products > MOST_WORK / product {
        return Ok(None);
    }
    let mut probes = Vec::new();
    for k in 0..PROBES {
        // The part of random signs that A' x cannot reach is what is left after solving A' x = A' (signs).
        let mut probe = Identified::probe(system.scale(), k);
        let mut image = vec![0.0; probe.len()];
        system.product(&probe, &mut image, true);
        let found = solve_stored(system, &image, PROBE_TOLERANCE, true, progress)?;
        if found.end != End::Converged {
            return Ok(None);
        }
        let pairs = probe.iter_mut().zip(&found.theta);
        pairs.for_each(|(sign, x)| *sign -= x);
        probes.push(probe);
    }
    let (identified, _) = Identified::from_probes(system.scale().to_vec(), &probes);
    Ok(Some((most, identified)))
}

/// A^{-1} times each row of scores, both for the features seen.
fn influence(
    system: &SparseSystem,
    scores: &Matrix,
    progress: &mut dyn FnMut(Progress),
) -> Result<Matrix> {
    let mut influence = Matrix::zeros(scores.rows(), scores.columns());
    let mut b = vec![0.0; system.b.len()];
    for k in 0..scores.rows() {
        for (score, &j) in scores.row(k).iter().zip(system.features()) {
            b[j as usize] = *score;
        }
        let found = solve_stored(system, &b, INFLUENCE_TOLERANCE, false, progress)?;
        for (w, &j) in influence.row_mut(k).iter_mut().zip(system.features()) {
            *w = found.theta[j as usize];
        }
    }
    Ok(influence)
}

/// The mean features of the starts.
pub(super) fn start_features(system: &SparseSystem, log: &Summary) -> Vec<f64> {
    let count = log.starts.max(1) as f64;
    system.starts.iter().map(|sum| sum / count).collect()
}

/// Adds the error of the value of the policy, given the weights A^{-T} (mean features of the starts) if they are known.
pub(super) fn with_error_of_starts(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    answer: Answer,
    system: &SparseSystem,
    weights: &[f64],
    known: bool,
) -> Result<Answer> {
    let groups = answer.log.groups(plan.unit, usize::MAX);
    let scoring = OneValue {
        groups: groups.count(),
        weights,
    };
    let mut sums = scoring.start();
    let scores = Scores::take(replay, plan, &groups, At::of(&answer), &scoring, |part| {
        for (sum, part) in sums.iter_mut().zip(part) {
            sum[0] += part[0];
            sum[1] += part[1];
        }
    })?;
    let n = answer.log.counts.transitions;
    // What is left of the equations moves the value by the sum of the scores.
    let left = sums.iter().map(|[score, _]| score).sum::<f64>().abs();
    let starts = scores.contributions(answer.log.starts);
    let contributions: Vec<f64> = sums
        .iter()
        .zip(starts)
        .map(|([score, rows], start)| score * leverage(rows / n.max(1) as f64) + start)
        .collect();
    let (grouping, clusters) = (groups.grouping(), groups.clusters());
    let sizes: Vec<f64> = sums.iter().map(|[_, rows]| *rows).collect();
    let influence = Influence::of_one_value(grouping, &sizes, clusters, n)?;
    let spread = influence.spread_with(Features::Dense(&[]), &contributions);
    let rank = answer.rank.unwrap_or(system.seen()) as f64;
    let enough = n as f64 >= 1.5 * rank + 10.0;
    let known =
        known && enough && groups.count() > 1 && left <= MOST_LEFT * spread.standard_error();
    let influence = known.then_some(influence);
    Ok(Answer {
        contributions: influence.as_ref().map_or(Vec::new(), |_| contributions),
        influence,
        td_errors: scores.td_errors,
        ..answer
    })
}

/// y = A x, or y = A' x, by a pass over the log.
fn pass(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    x: &[f64],
    y: &mut [f64],
    adjoint: bool,
) -> Result<()> {
    y.fill(0.0);
    let rows = RowProducts {
        discount: plan.discount,
    };
    // Threads find the terms, or their sums where they are many; adding these in the order of the log gives the same bits for any
    // number of threads.
    let adds_up = Route::of(plan.map) != Route::Sparse;
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let mut sums = vec![0.0; if adds_up { x.len() } else { 0 }];
            let mut terms: Vec<(u32, f64)> = Vec::new();
            chunk.for_each(plan.map, |placed| {
                rows.terms(&placed.transition, x, adjoint, |j, term| match adds_up {
                    true => sums[j] += term,
                    false => terms.push((j as u32, term)),
                });
            });
            (sums, terms)
        },
        |(sums, terms)| {
            y.iter_mut().zip(sums).for_each(|(y, sum)| *y += sum);
            for (j, term) in terms {
                y[j as usize] += term;
            }
            Ok(())
        },
    )?;
    Ok(())
}
