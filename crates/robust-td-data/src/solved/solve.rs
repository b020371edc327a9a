//! Evaluates a log by solving its equations, in a fixed number of passes over it.

use robust_td_core::Features;
use robust_td_core::fixed_point::FixedPoint;
use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::learner::LinearValue;
use robust_td_core::support::leverage;

use super::gather::{Gathered, Plan};
use super::scores::{Scores, Start};
use super::unit::{Groups, Unit};
use super::{Facts, Solved, Solver};
use crate::assess::{Assessment, Starts, TOLERANCE};
use crate::error::{Error, Result};
use crate::findings;
use crate::inspect::{DataReport, FindingKind};
use crate::log::Log;
use crate::option_error::{OptionError, OptionName};
use crate::replay::Replay;
use crate::returns;
use crate::survey::Survey;

/// The maximum number of features for a direct solution. At this number the sums take 128 megabytes each.
const LARGEST: usize = 4000;
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

/// Finds the TD fixed point of a log.
///
/// # Errors
/// Those of reading, of the feature map, and a discount of 1 where an episode does not terminate.
pub(crate) fn solve(
    log: &mut Log,
    request: &Request,
    surveyed: &mut dyn FnMut(&DataReport),
) -> Result<Solved> {
    let mut replay = Replay::new(log);
    let survey = Survey::take(&mut replay, &request.spec, false)?;
    let report = &survey.report;
    surveyed(report);
    check_undiscounted(request.discount, report)?;
    let map = &survey.features;
    if map.adapts() {
        return Err(OptionError::Range {
            option: OptionName::Features,
            value: request.spec.clone(),
            expected: "a map that does not change while it reads, because the files are read several times: \
                       standardise instead of running"
                .into(),
        }
        .into());
    }
    let d = map.outputs();
    let transitions = request
        .horizon
        .map_or(report.transitions, |most| report.transitions.min(most));
    if transitions == 0 {
        return Err(Error::NoTransitions);
    }
    let unit = unit(report);
    let units = if unit == Unit::Time {
        transitions
    } else {
        report.episodes.count
    };
    let most_threads = CHUNK_MEMORY / (32 * d * (d + 1));
    let mut plan = Plan {
        map,
        discount: request.discount,
        unit,
        episodic: report.has_episodes(),
        transitions,
        holds_out: request.check && units >= FEWEST_HELD_OUT,
        threads: request.threads.min(most_threads.max(1)),
        limit: request.horizon,
    };
    if d > LARGEST {
        return Err(Error::NoInput {
            what: "too many features",
        });
    }
    let gathered = Gathered::take(&mut replay, &plan)?;
    let found = gathered.equations().solve()?;
    let starts = start_features(&gathered);
    let mean = Features::Dense(&starts).dot(&found.theta);
    let groups = Groups::new(unit, units_of(unit, &gathered), gathered.units.clone());
    let start = Start {
        mean,
        count: gathered.starts.max(1) as f64,
    };
    let scores = Scores::take(&mut replay, &plan, &groups, &found.theta, start)?;
    let influence = influence(&found, &scores.sums, &groups, gathered.counts.transitions)?;
    let value = LinearValue {
        theta: found.theta.clone(),
        offset: 0.0,
    };
    let predictions = gathered.sample.clone().predictions(map, &value);
    let (check, complete) = match request.check {
        false => (None, None),
        true => {
            let held_out = held_out_theta(&gathered, &found);
            plan.holds_out = held_out.is_some();
            let value = held_out.map_or(value, |theta| LinearValue { theta, offset: 0.0 });
            let edges = returns::edges(predictions.values());
            let (check, complete) = returns::check(&mut replay, &plan, &value, edges)?;
            (Some(check), complete)
        }
    };
    let contributions = match influence {
        Some(_) => {
            let sums = scores.starts.iter().zip(&scores.start_counts);
            sums.map(|(sum, count)| sum * leverage(count / start.count))
                .collect()
        }
        None => Vec::new(),
    };
    let counts = gathered.counts;
    let mut solved = Solved {
        discount: request.discount,
        identified: found.identified.clone(),
        influence,
        assessment: Assessment {
            relative_residual: found.relative_residual,
            tolerance: TOLERANCE,
            columns: replay.columns(map.inputs()),
            starts: Starts {
                count: gathered.starts,
                episodic: plan.episodic,
                features: starts,
                contributions,
            },
            check,
            complete,
            typical: predictions.typical(),
        },
        facts: Facts {
            solver: Solver::LeastSquares,
            products: None,
            unit,
            units: units_of(unit, &gathered),
            rows: counts.rows,
            transitions: counts.transitions,
            left_out: counts.left_out,
            bad_rows: replay.bad_rows().count(),
            rank: Some(found.rank),
            phi_inf: gathered.phi_inf,
            td_errors: scores.td_errors,
            findings: survey.report.findings,
        },
        theta: found.theta,
        features: survey.features,
    };
    let more = findings::of_solved(&solved);
    solved.facts.findings.splice(0..0, more);
    Ok(solved)
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
            "below 1 here: only where every episode terminates are undiscounted returns finite, but {} of {} episodes terminate",
            episodes.terminated, episodes.count
        ),
    }
    .into())
}

fn unit(report: &DataReport) -> Unit {
    let mixed = (report.findings.iter()).any(|found| found.kind == FindingKind::MixedEpisodes);
    let episodes = report.has_episodes().then_some(report.episodes.count);
    Unit::of(report.schema.cluster, episodes, mixed)
}

/// The number of units in the transitions that were used.
fn units_of(unit: Unit, gathered: &Gathered) -> u64 {
    match unit {
        Unit::Time => gathered.counts.transitions,
        Unit::Episode => gathered.counts.runs,
        _ => gathered.units.count(),
    }
}

/// The mean features of the starts.
fn start_features(gathered: &Gathered) -> Vec<f64> {
    let count = gathered.starts.max(1) as f64;
    gathered
        .start_features
        .iter()
        .map(|sum| sum / count)
        .collect()
}

/// The influence of the groups, if there are enough transitions to estimate errors.
fn influence(
    found: &FixedPoint,
    sums: &GroupSums,
    groups: &Groups,
    transitions: u64,
) -> Result<Option<Influence>> {
    let (n, rank) = (transitions as f64, found.rank as f64);
    if n < 1.5 * rank + 10.0 || groups.count() < 2 {
        return Ok(None);
    }
    Ok(Some(Influence::new(
        found,
        groups.grouping(),
        sums,
        groups.clusters(),
    )?))
}

/// theta without what is held out, if it knows the same features.
fn held_out_theta(gathered: &Gathered, all: &FixedPoint) -> Option<Vec<f64>> {
    gathered.held_out.as_ref()?;
    let kept = gathered.kept.solve().ok()?;
    (kept.rank == all.rank).then_some(kept.theta)
}
