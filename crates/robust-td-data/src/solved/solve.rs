//! Evaluates a log by solving its equations.

use robust_td_core::krylov;
use robust_td_core::learner::LinearValue;

use super::gather::{Plan, Route};
use super::unit::Unit;
use super::{Facts, Solved, direct, wide};
use crate::assess::{Assessment, Starts};
use crate::error::{Error, Result};
use crate::findings;
use crate::inspect::DataReport;
use crate::log::Log;
use crate::memory;
use crate::option_error::{OptionError, OptionName};
use crate::replay::Replay;
use crate::returns;
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
    pub horizon: Option<u64>,
    pub check: bool,
    pub threads: usize,
}

/// The progress of a solution.
pub(crate) enum Stage<'a> {
    /// The log was read once.
    Surveyed(&'a DataReport),
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

/// As [`solve`], for a log that may be in memory.
///
/// # Errors
/// As [`solve`].
pub(crate) fn solve_replay(
    replay: &mut Replay<'_>,
    request: &Request,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<Solved> {
    let survey = Survey::take(replay, &request.spec, false)?;
    let (map, report) = (&survey.features, &survey.report);
    tell(Stage::Surveyed(report));
    if map.adapts() {
        return Err(refused_map(request.spec.text()));
    }
    check_undiscounted(request.discount, report)?;
    let most = request.horizon.unwrap_or(u64::MAX);
    let transitions = report.transitions.min(most);
    if transitions == 0 {
        return Err(Error::NoTransitions);
    }
    let mut plan = plan(&survey, request, transitions);
    let answer = match Route::of(map) {
        Route::Dense => {
            memory::check_direct(map.outputs(), plan.threads)?;
            direct::answer(replay, &plan)?
        }
        route => {
            memory::check_iterative(map.outputs())?;
            let most = match route {
                Route::Sparse => memory::most_entries(),
                _ => 0,
            };
            let mut progress = |state| tell(Stage::Product(state));
            wide::answer(replay, &plan, most, &mut progress)?
        }
    };
    let value = |theta: &Vec<f64>| LinearValue {
        theta: theta.clone(),
        offset: 0.0,
    };
    let predictions = answer.log.sample.predictions(map, &value(&answer.theta));
    // The returns are those of the logging policy.
    let checks = request.check && !report.schema.ratio;
    let (check, complete) = match checks {
        false => (None, None),
        true => {
            plan.holds_out = answer.held_out.is_some();
            let value = value(answer.held_out.as_ref().unwrap_or(&answer.theta));
            let edges = returns::edges(predictions.values());
            let (check, complete) = returns::check(replay, &plan, &value, edges)?;
            (Some(check), complete)
        }
    };
    let mut solved = Solved {
        discount: request.discount,
        origin: replay.origin(),
        limit: request.horizon,
        assessment: Assessment {
            relative_residual: answer.relative_residual,
            tolerance: answer.tolerance,
            columns: replay.columns(map.inputs()),
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
        facts: Facts {
            solver: answer.solver,
            products: answer.products,
            unit: plan.unit,
            units: answer.units,
            rows: answer.log.counts.rows,
            transitions: answer.log.counts.transitions,
            left_out: answer.log.counts.left_out,
            bad_rows: replay.bad_rows().count(),
            rank: answer.rank,
            phi_inf: answer.log.phi_inf,
            td_errors: answer.td_errors,
            findings: survey.report.findings,
        },
        identified: answer.identified,
        influence: answer.influence,
        theta: answer.theta,
        features: survey.features,
    };
    solved.forget_unknown_errors();
    let more = findings::of_solved(&solved);
    solved.facts.findings.splice(0..0, more);
    Ok(solved)
}

fn plan<'a>(survey: &'a Survey, request: &Request, transitions: u64) -> Plan<'a> {
    let (map, report) = (&survey.features, &survey.report);
    let episodes = report.has_episodes().then_some(report.episodes.count);
    let unit = Unit::of(report.schema.cluster, episodes);
    let units = match unit {
        Unit::Time => transitions,
        _ => report.episodes.count,
    };
    let d = map.outputs();
    let most_threads = CHUNK_MEMORY / d.saturating_mul(32 * (d + 1));
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
        threads: match Route::of(map) {
            Route::Dense => request.threads.min(most_threads.max(1)),
            _ => request.threads,
        },
        limit: request.horizon,
    }
}

fn refused_map(spec: &str) -> Error {
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
fn check_undiscounted(discount: f64, report: &DataReport) -> Result<()> {
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
