//! Evaluates a log by solving its equations.

use robust_td_core::features::FeatureMap;
use robust_td_core::fixed_point::Identified;
use robust_td_core::krylov;
use robust_td_core::learner::LinearValue;

use super::answer::Answer;
use super::gather::{Plan, Route};
use super::unit::Unit;
use super::{Facts, Solved, direct, wide};
use crate::assess::{Assessment, Starts};
use crate::choices::PolicyKind;
use crate::error::{Error, Result};
use crate::findings;
use crate::inspect::DataReport;
use crate::log::Log;
use crate::memory;
use crate::off_policy::support::TOLERATED;
use crate::off_policy::{self, OffPolicy, TargetKind, Wanted};
use crate::option_error::{OptionError, OptionName};
use crate::replay::Replay;
use crate::returns::{self, CompleteReturns};
use crate::survey::Survey;

/// The memory for the sums of chunks that are processed at the same time.
const CHUNK_MEMORY: usize = 1 << 30;
/// With fewer units than this, none are held out.
const FEWEST_HELD_OUT: u64 = 40;

/// What to evaluate, and how.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub discount: f64,
    pub spec: String,
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
        return Err(refused_map(&request.spec));
    }
    check_undiscounted(request.discount, report)?;
    let most = request.horizon.unwrap_or(u64::MAX);
    let transitions = report.transitions.min(most);
    if transitions == 0 {
        return Err(Error::NoTransitions);
    }
    let mut plan = plan(&survey, request, transitions);
    let mut answer = match Route::of(map) {
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
    let other = off_policy(replay, &plan, &survey, &mut answer)?;
    let predictions = answer.log.sample.predictions(map, &value(&answer.theta));
    let (check, complete) = match &other {
        // The returns are those of the policy that was followed.
        Some(found) => (None, found.complete),
        None if !request.check => (None, None),
        None => {
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
        off_policy: other.map(|found| found.answer),
        identified: answer.identified,
        influence: answer.influence,
        theta: answer.theta,
        features: survey.features,
    };
    solved.forget_unknown_errors();
    let mut more = findings::of_solved(&solved);
    more.extend(
        survey
            .policy
            .findings(solved.features.actions(), replay.files()),
    );
    solved.facts.findings.splice(0..0, more);
    Ok(solved)
}

/// What importance sampling finds about a policy that was not followed, and the returns of the one that was; what depends on actions that the
/// log does not show becomes unknown.
fn off_policy(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    survey: &Survey,
    answer: &mut Answer,
) -> Result<Option<Other>> {
    let schema = &survey.report.schema;
    let (target, has_ratios, knows_starts) = match &schema.policy {
        None if !schema.ratio => return Ok(None),
        None => (TargetKind::Ratios, true, true),
        Some(policy) => {
            let known = policy.own != PolicyKind::Unknown;
            let shown = if known { policy.own } else { policy.next };
            let ratios = schema.ratio || (policy.propensity && known);
            (shown.into(), ratios, known)
        }
    };
    if let Some(shown) = answer
        .shown
        .as_ref()
        .filter(|found| found.share > TOLERATED)
    {
        answer.identified = std::mem::replace(&mut answer.identified, Identified::all(Vec::new()))
            .without(&shown.missing);
    }
    let value = LinearValue {
        theta: answer.theta.clone(),
        offset: 0.0,
    };
    let wanted = Wanted {
        value: &value,
        has_ratios,
        knows_starts,
        units: answer.units,
    };
    let found = off_policy::estimate(replay, plan, &wanted)?;
    Ok(Some(Other {
        complete: found.complete,
        answer: OffPolicy {
            target,
            actions: survey.features.actions().to_vec(),
            unsupported_share: answer.shown.as_ref().map(|shown| shown.share),
            knows_starts,
            has_ratios,
            cut: found.cut,
            estimates: found.estimates,
        },
    }))
}

struct Other {
    complete: Option<CompleteReturns>,
    answer: OffPolicy,
}

/// The columns of the observation, and the weights of actions.
fn columns(replay: &Replay<'_>, map: &FeatureMap) -> Vec<String> {
    let actions = map.actions();
    let mut columns = replay.columns(map.inputs() - actions.len());
    columns.extend(actions.iter().map(|action| format!("target_{action}")));
    columns
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
