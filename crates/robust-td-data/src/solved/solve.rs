//! Evaluates a log by solving its equations.

use robust_td_core::features::FeatureMap;
use robust_td_core::krylov;
use robust_td_core::learner::LinearValue;

use super::answer::Answer;
use super::gather::{LARGEST, Plan, Route};
use super::other_policy::{columns, other_policy};
use super::unit::Unit;
use super::variance::variance;
use super::{Facts, Solved, direct, wide};
use crate::assess::{Assessment, Starts};
use crate::choice::{self, FeatureChoice, Wanted};
use crate::elsewhere::Engine;
use crate::error::{Error, Result};
use crate::findings;
use crate::inspect::DataReport;
use crate::log::Log;
use crate::memory;
use crate::option_error::{OptionError, OptionName};
use crate::replay::Replay;
use crate::returns::{self, Predicts};
use crate::sample::Predictions;
use crate::spec::Spec;
use crate::survey::Survey;

/// The memory for the sums of chunks that are processed at the same time.
const CHUNK_MEMORY: usize = 1 << 30;
/// With fewer units than this, none are held out.
const FEWEST_HELD_OUT: u64 = 40;

/// What to evaluate, and how.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub discount: f64,
    pub spec: Spec,
    /// What to choose the feature map among, instead.
    pub wanted: Option<Wanted>,
    pub horizon: Option<u64>,
    pub check: bool,
    /// Whether the variance of the return is solved for, too.
    pub variance: bool,
    pub threads: usize,
}

/// The progress of a solution.
pub(crate) enum Stage<'a> {
    /// The log was read once.
    Surveyed(&'a DataReport),
    /// A map was fitted, to be compared with others: its number from 1, how many there are, and the map.
    Compared(usize, usize, &'a str),
    /// An iterative solution took another product.
    Product(krylov::Progress),
}

/// Finds the TD fixed point of a log.
///
/// # Errors
/// Those of reading, of the feature map, and a discount of 1 where an episode does not terminate.
pub(crate) fn solve(
    log: &mut Log,
    request: &Request,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Solved> {
    solve_replay(&mut Replay::new(log, request.threads), request, tell)
}

/// As [`solve`], with the passes after the first computed elsewhere.
///
/// # Errors
/// As [`solve`], those of the engine, and what cannot be computed in parts.
pub(crate) fn solve_elsewhere(
    log: &mut Log,
    request: &Request,
    engine: &mut dyn Engine,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Solved> {
    let what = match request {
        _ if !log.is_files() => "with a log in memory",
        Request {
            horizon: Some(_), ..
        } => "with a horizon",
        Request {
            wanted: Some(_), ..
        } => "to choose among feature maps",
        Request { variance: true, .. } => "with the variance of the return",
        _ => {
            let mut replay = Replay::elsewhere(log, request.threads, engine);
            return solve_replay(&mut replay, request, tell);
        }
    };
    Err(Error::NotInParts { what: what.into() })
}

/// Refuses a log that is not read in parts.
pub(crate) fn check_parts(map: &FeatureMap, report: &DataReport) -> Result<()> {
    let what = match &report.schema {
        schema if schema.ratio || schema.policy.is_some() => {
            "for a policy that was not followed (rho or target columns)".to_owned()
        }
        _ if report.episodes.resumed > 0 => {
            "with rows of several episodes interleaved; sort them by episode".to_owned()
        }
        _ if Route::of(map) != Route::Dense => {
            format!("with {} features of {}", map.outputs(), map.spec())
        }
        _ => return Ok(()),
    };
    Err(Error::NotInParts { what })
}

/// As [`solve`], for a log that may be in memory.
///
/// # Errors
/// As [`solve`].
pub(crate) fn solve_replay(
    replay: &mut Replay<'_>,
    request: &Request,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Solved> {
    let (survey, choice) = survey(replay, request, tell)?;
    let mut all = solve_surveyed(replay, std::slice::from_ref(request), &survey, choice, tell)?;
    all.pop().ok_or(Error::NoTransitions)
}

/// Finds the TD fixed points of a log for several discounts: the same bits as one by one, in the same passes over the log if a direct
/// solution fits.
///
/// # Errors
/// As [`solve`].
pub(crate) fn solve_each(
    log: &mut Log,
    request: &Request,
    discounts: &[f64],
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Vec<Solved>> {
    let replay = &mut Replay::new(log, request.threads);
    let of = |&discount: &f64| Request {
        discount,
        ..request.clone()
    };
    let requests: Vec<Request> = discounts.iter().map(of).collect();
    if request.wanted.is_none() {
        let (survey, _) = survey(replay, request, tell)?;
        return solve_surveyed(replay, &requests, &survey, None, tell);
    }
    // The best map depends on the discount.
    let one = |request: &Request| solve_replay(replay, request, tell);
    requests.iter().map(one).collect()
}

/// Reads the log once, and fits or chooses its feature map.
fn survey(
    replay: &mut Replay<'_>,
    request: &Request,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<(Survey, Option<FeatureChoice>)> {
    Ok(match &request.wanted {
        Some(wanted) => {
            let (survey, choice) = choice::choose(replay, request, wanted, tell)?;
            (survey, Some(choice))
        }
        None => (Survey::take(replay, &request.spec, false)?, None),
    })
}

/// Solves for each request; they differ in their discounts.
fn solve_surveyed(
    replay: &mut Replay<'_>,
    requests: &[Request],
    survey: &Survey,
    choice: Option<FeatureChoice>,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Vec<Solved>> {
    let (map, report) = (&survey.features, &survey.report);
    tell(Stage::Surveyed(report));
    if map.adapts() {
        return Err(refused_map(map.spec()));
    }
    if replay.is_elsewhere() {
        check_parts(map, report)?;
    }
    let mut plans = Vec::new();
    for request in requests {
        check_undiscounted(request.discount, report)?;
        let most = request.horizon.unwrap_or(u64::MAX);
        let transitions = report.transitions.min(most);
        if transitions == 0 {
            return Err(Error::NoTransitions);
        }
        check_size(map, transitions, replay.stored())?;
        let plan = plan(map, report, request, transitions);
        plans.push(Plan {
            threads: threads(map, request.threads, requests.len()),
            ..plan
        });
    }
    if requests.iter().any(|request| request.variance) {
        check_variance(map, &plans)?;
    }
    let mut answers = answers(replay, &plans, tell)?;
    let others = (plans.iter().zip(&mut answers))
        .map(|(plan, answer)| other_policy(replay, plan, survey, answer));
    let others = others.collect::<Result<Vec<_>>>()?;
    let value = |theta: &Vec<f64>| LinearValue {
        theta: theta.clone(),
        offset: 0.0,
    };
    let predictions: Vec<Predictions> = (answers.iter_mut())
        .map(|answer| {
            let sample = std::mem::take(&mut answer.log.sample);
            sample.predictions(map, &value(&answer.theta))
        })
        .collect();
    // The returns are those of the policy that was followed.
    let followed = others.iter().all(Option::is_none);
    let checks = requests.iter().any(|request| request.check) && followed;
    let checked = match checks {
        false => Vec::new(),
        true => {
            let jobs = plans.iter().zip(&answers).map(|(plan, answer)| {
                let holds_out = answer.held_out.is_some();
                let all = value(&answer.theta);
                let predicts = match &answer.held_out {
                    None => Predicts::all(all),
                    Some(held_out) => Predicts {
                        value: value(&held_out.theta),
                        identified: held_out.identified.as_ref(),
                        all,
                        noise: 0.0,
                    },
                };
                let noise = answer.td_errors.rms();
                let predicts = Predicts { noise, ..predicts };
                (Plan { holds_out, ..*plan }, predicts)
            });
            let jobs: Vec<(Plan<'_>, Predicts<'_>)> = jobs.collect();
            let edges = predictions
                .iter()
                .map(|found| returns::edges(found.values()));
            returns::check_each(replay, &jobs, edges.collect())?
        }
    };
    let variances = plans.iter().zip(&answers).map(|(plan, answer)| {
        let wanted = requests.iter().any(|request| request.variance);
        wanted.then(|| variance(replay, plan, answer)).transpose()
    });
    let variances = variances.collect::<Result<Vec<_>>>()?;
    let (mut checked, mut variances) = (checked.into_iter(), variances.into_iter());
    let mut others = others.into_iter();
    let each = requests.iter().zip(&plans).zip(answers).zip(predictions);
    let solved = each.map(|(((request, plan), answer), predictions)| {
        let other = others.next().flatten();
        let (check, complete) = match &other {
            Some(found) => (None, found.complete),
            None => {
                let (check, complete) = checked.next().unzip();
                (check, complete.flatten())
            }
        };
        let mut solved = Solved {
            discount: request.discount,
            origin: replay.origin(),
            limit: request.horizon,
            assessment: Assessment {
                relative_residual: answer.relative_residual,
                tolerance: answer.tolerance,
                columns: columns(replay, map),
                starts: Starts {
                    count: answer.log.starts,
                    episodic: plan.episodic,
                    features: answer.start_features,
                    contributions: answer.contributions,
                },
                check,
                complete,
                typical: predictions.typical(),
                sample: Some(predictions.into_sample()),
            },
            stream: None,
            off_policy: other.map(|found| found.answer),
            choice: choice.clone(),
            variance: variances.next().flatten(),
            facts: Facts {
                solver: answer.solver,
                products: answer.products,
                unit: plan.unit,
                units: answer.units,
                rows: answer.log.counts.rows,
                transitions: answer.log.counts.transitions,
                left_out: answer.log.counts.left_out,
                bad_rows: replay.bad_rows().count(),
                episodes: (plan.episodic && plan.limit.is_none()).then_some(report.episodes.count),
                rank: answer.rank,
                phi_inf: answer.log.phi_inf,
                td_errors: answer.td_errors,
                findings: report.findings.clone(),
            },
            identified: answer.identified,
            influence: answer.influence,
            theta: answer.theta,
            features: map.clone(),
        };
        solved.doubt_check();
        solved.forget_unknown_errors();
        let more = findings::of_solved(&solved);
        solved.facts.findings.splice(0..0, more);
        solved
    });
    Ok(solved.collect())
}

/// Refuses dense equations that take long although the log hardly determines any of them, or is so short, as it is stored, that it
/// cannot hold much.
fn check_size(map: &FeatureMap, transitions: u64, stored: Option<u64>) -> Result<()> {
    /// Up to here a solution takes a second,
    const FEW: usize = 1000;
    /// and up to here some three, and 300 MB, for any file; beyond, the square of the columns is at most this many times its bytes.
    const COLUMNS: u64 = 2000;
    const SQUARES_PER_BYTE: u64 = 6;
    let (features, columns) = (map.outputs(), map.inputs() as u64);
    if Route::of(map) != Route::Dense || features <= FEW {
        return Ok(());
    }
    let expected = if 2 * transitions < features as u64 {
        format!(
            "fewer features than that: {features}, more than twice the {transitions} transitions of the log, which cannot determine them; use fewer columns or more rows"
        )
    } else if let Some(bytes) = stored
        && columns > COLUMNS
        && columns * columns / SQUARES_PER_BYTE > bytes
    {
        let limit = bytes.saturating_mul(SQUARES_PER_BYTE).isqrt();
        let limit = limit.max(COLUMNS);
        format!(
            "for at most {limit} columns in files of {bytes} bytes; these have {columns}: use fewer columns, or, if the log is right, write it as CSV without \
             compression"
        )
    } else {
        return Ok(());
    };
    Err(OptionError::Range {
        option: OptionName::Features,
        value: map.spec().into(),
        expected,
    }
    .into())
}

/// The variance of the return takes dense matrices.
fn check_variance(map: &FeatureMap, plans: &[Plan<'_>]) -> Result<()> {
    let (found, limit) = (map.outputs(), LARGEST);
    if found > limit {
        let option = OptionName::ReturnVariance;
        return Err(OptionError::TooManyFeatures {
            option,
            found,
            limit,
        }
        .into());
    }
    memory::check_direct(found, plans.first().map_or(1, |plan| plan.threads), 2)
}

/// The answers of plans that differ in their discounts: directly in the same passes, otherwise one after the other.
fn answers(
    replay: &mut Replay<'_>,
    plans: &[Plan<'_>],
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Vec<Answer>> {
    let Some(first) = plans.first() else {
        return Ok(Vec::new());
    };
    let features = first.map.outputs();
    let route = Route::of(first.map);
    if route == Route::Dense {
        memory::check_direct(features, first.threads, plans.len())?;
        return direct::answers(replay, plans);
    }
    memory::check_iterative(features)?;
    let most = match route {
        Route::Sparse => memory::most_entries(),
        _ => 0,
    };
    let answers = plans.iter().map(|plan| {
        let mut progress = |state| tell(Stage::Product(state));
        wide::answer(replay, plan, most, &mut progress)
    });
    answers.collect()
}

/// How to pass over a log with a map.
pub(crate) fn plan<'a>(
    map: &'a FeatureMap,
    report: &DataReport,
    request: &Request,
    transitions: u64,
) -> Plan<'a> {
    let episodes = report.has_episodes().then_some(report.episodes.count);
    let unit = Unit::of(report.schema.cluster, episodes);
    let units = match unit {
        Unit::Time => transitions,
        _ => report.episodes.count,
    };
    Plan {
        map,
        discount: request.discount,
        unit,
        episodic: report.has_episodes(),
        interleaved: report.episodes.resumed > 0,
        transitions,
        // Also without the check, so that it does not change the order of additions.
        holds_out: units >= FEWEST_HELD_OUT,
        checks: request.check,
        threads: threads(map, request.threads, 1),
        limit: request.horizon,
    }
}

/// The number of threads for which the sums of chunks fit in memory, for several systems at the same time.
fn threads(map: &FeatureMap, most: usize, systems: usize) -> usize {
    let d = map.outputs();
    let fit = CHUNK_MEMORY
        / d.saturating_mul(32 * (d + 1))
            .saturating_mul(systems.max(1));
    match Route::of(map) {
        Route::Dense => most.min(fit.max(1)),
        _ => most,
    }
}

/// A map that the files cannot be read several times with.
pub(crate) fn refused_map(spec: &str) -> Error {
    OptionError::Range {
        option: OptionName::Features,
        value: spec.into(),
        expected: "a map that does not change while it reads, because the files are read several times: use standardise instead \
                   of running"
            .into(),
    }
    .into()
}

/// A discount of 1 needs every episode to terminate.
pub(crate) fn check_undiscounted(discount: f64, report: &DataReport) -> Result<()> {
    let episodes = &report.episodes;
    if discount < 1.0 || (episodes.count > 0 && episodes.terminated == episodes.count) {
        return Ok(());
    }
    Err(OptionError::Range {
        option: OptionName::Discount,
        value: "1".into(),
        expected: format!(
            "below 1 for this log: a sum of rewards without discount is finite only where every episode terminates, but {} of \
             {} do",
            episodes.terminated, episodes.count
        ),
    }
    .into())
}
