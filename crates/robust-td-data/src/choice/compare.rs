//! Compares feature maps on rows that they were not fitted to.

use std::ops::ControlFlow;

use robust_td_core::features::{FeatureMap, Fitting};

use super::candidates::{Facts, Listed, auto, with_categories};
use super::columns::Columns;
use super::field::{Candidate, Field};
use super::losses::Losses;
use super::pairs::Pairs;
use super::{FeatureCandidate, FeatureChoice, ROUNDING, Wanted};
use crate::elsewhere::tasks::Window;
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::inspect::{DataReport, Inspector};
use crate::option_error::{OptionError, OptionName};
use crate::replay::Replay;
use crate::solved::folds::without_each;
use crate::solved::gather::Plan;
use crate::solved::split::Split;
use crate::solved::{Request, Stage, check_undiscounted, plan, refused_map};
use crate::survey::{Block, Survey, end_pass, for_each_part};

/// The maximum number of maps to compare.
const MOST: usize = 32;
/// The maximum number of references that others are compared with.
const ROUNDS: usize = 4;

/// Chooses a map: the survey of the log with that map, and the comparison.
///
/// # Errors
/// Those of reading, an invalid map among those requested, and a log on which no map can be compared.
pub(crate) fn choose(
    replay: &mut Replay<'_>,
    request: &Request,
    wanted: &Wanted,
    tell: &mut dyn FnMut(Stage<'_>),
) -> Result<(Survey, FeatureChoice)> {
    let (report, discrete) = look(replay)?;
    check_undiscounted(request.discount, &report)?;
    if report.schema.ratio || report.schema.policy.is_some() {
        return Err(refused(
            wanted,
            "one map, because the returns of this log are those of the logging policy and cannot be compared with the values of another \
             one",
        ));
    }
    let transitions = (report.transitions).min(request.horizon.unwrap_or(u64::MAX));
    if transitions == 0 {
        return Err(Error::NoTransitions);
    }
    let facts = Facts {
        transitions,
        discrete,
    };
    let inputs = report.schema.inputs(report.dimension);
    let mut list = match wanted.auto {
        true if inputs.iter().any(|input| input.category) => with_categories(&facts, &inputs),
        true => auto(&facts),
        false => Vec::new(),
    };
    for spec in &wanted.specs {
        if list.iter().all(|listed| listed.spec != *spec) {
            list.push(Listed {
                spec: spec.clone(),
                dimension: None,
                left_out: None,
            });
        }
    }
    if list.len() > MOST {
        return Err(refused(wanted, &format!("at most {MOST} maps")));
    }
    let (listed, left_out): (Vec<_>, Vec<_>) = list
        .into_iter()
        .partition(|listed| listed.left_out.is_none());
    let mut candidates: Vec<FeatureCandidate> = left_out
        .into_iter()
        .map(|listed| {
            let why = listed.left_out.unwrap_or_default();
            FeatureCandidate::left_out(listed.spec, listed.dimension, why)
        })
        .collect();
    let maps = fit(replay, &report, wanted, listed, &mut candidates)?;
    let constant = constant_map(&report)?;
    let base = plan(&constant, &report, request, transitions);
    let split = Split::new(
        base.unit,
        report.episodes.count,
        transitions,
        request.discount,
    );
    // The value of a row whose features were never seen without its fold: a constant.
    let constant = match without_each(replay, &base, &split)? {
        Ok(without) => without,
        Err(why) => return Err(refused(wanted, &format!("one map: {why}"))),
    };
    let mut compared = Vec::new();
    let count = maps.len();
    for (k, map) in maps.into_iter().enumerate() {
        tell(Stage::Compared(k + 1, count, map.spec()));
        let plan = folded(&map, &report, request, transitions);
        match without_each(replay, &plan, &split)? {
            Ok(without) => compared.push(Candidate { map, without }),
            Err(why) => {
                let dimension = Some(map.outputs() as u64);
                candidates.push(FeatureCandidate::left_out(
                    map.spec().into(),
                    dimension,
                    why,
                ));
            }
        }
    }
    let field = Field {
        base,
        split,
        candidates: &compared,
        constant: &constant,
    };
    let mut found = Losses::new(compared.len(), request.discount);
    field.for_each_part(replay, |part| found.add(part))?;
    let finite = |k: &usize| found.mean_square(*k).is_finite();
    let smallest = (0..compared.len())
        .filter(finite)
        .min_by(|&j, &k| found.mean_square(j).total_cmp(&found.mean_square(k)));
    let mut best = smallest;
    let (mut units, mut differences) = (0, Vec::new());
    // The best by returns is the first reference; one that beats it is the next.
    for round in 1..=ROUNDS {
        let Some(reference) = best else { break };
        let mut pairs = Pairs::new(
            compared.len(),
            reference,
            request.discount,
            field.is_ordered(),
        );
        field.for_each_part(replay, |part| pairs.add(part))?;
        (units, differences) = pairs.finish();
        // Maps of the same values differ by rounding.
        let rounding = ROUNDING * found.mean_square(reference);
        for (difference, _) in &mut differences {
            *difference = if difference.abs() <= rounding {
                0.0
            } else {
                *difference
            };
        }
        let better = (0..compared.len())
            .filter(finite)
            .min_by(|&j, &k| differences[j].0.total_cmp(&differences[k].0));
        match better {
            Some(better) if differences[better].0 < 0.0 && round < ROUNDS => {
                best = Some(better);
            }
            _ => break,
        }
    }
    for (k, candidate) in compared.iter().enumerate() {
        let (spec, dimension) = (candidate.map.spec(), candidate.map.outputs() as u64);
        let own = found.mean_square(k);
        let (Some(best), true) = (best, own.is_finite()) else {
            let why = "its predictions overflow".into();
            candidates.push(FeatureCandidate::left_out(
                spec.into(),
                Some(dimension),
                why,
            ));
            continue;
        };
        let (difference, stderr) = differences[k];
        // a^2 - b^2 = (a - b) (a + b)
        let sum = own.sqrt() + found.mean_square(best).sqrt();
        let scale = if sum > 0.0 { sum } else { 1.0 };
        candidates.push(FeatureCandidate {
            features: spec.into(),
            dimension: Some(dimension),
            error: Some(own.sqrt()),
            difference: Some(difference / scale),
            stderr: (k != best).then_some(stderr / scale),
            chosen: false,
            left_out: None,
        });
    }
    let mut choice = FeatureChoice {
        chosen: String::new(),
        unit: split.unit(),
        units,
        rows: found.rows,
        closed: found.closed(),
        candidates,
    };
    if units < 2 || !choice.decide() {
        let why = "one map: the log has too few episodes, clusters or rows to compare maps on";
        return Err(refused(wanted, why));
    }
    let chosen = compared
        .into_iter()
        .find(|candidate| candidate.map.spec() == choice.chosen);
    let features = chosen.ok_or(Error::NoTransitions)?.map;
    let survey = Survey {
        features,
        phi_inf: 0.0,
        report,
    };
    Ok((survey, choice))
}

/// The report on a log, and for each column the number of its values if it looks discrete.
fn look(replay: &mut Replay<'_>) -> Result<(DataReport, Vec<Option<usize>>)> {
    let (mut inspector, mut columns) = (Inspector::default(), Columns::default());
    replay.for_each(|schema, batch| {
        inspector.push(schema, batch);
        columns.push(batch);
        Ok(ControlFlow::Continue(()))
    })?;
    let report = inspector.finish(replay.schema(), replay.files(), replay.bad_rows());
    match report.rows {
        0 => Err(Error::NoInput {
            what: "the files contain no usable rows",
        }),
        _ => Ok((report, columns.counts())),
    }
}

/// Fits the maps, all of them in the same passes; those of `auto` that cannot be fitted are left out.
fn fit(
    replay: &mut Replay<'_>,
    report: &DataReport,
    wanted: &Wanted,
    listed: Vec<Listed>,
    left_out: &mut Vec<FeatureCandidate>,
) -> Result<Vec<FeatureMap>> {
    let mut leave_out = |listed: &Listed, error: Error| match wanted.specs.contains(&listed.spec) {
        true => Err(error),
        false => {
            let (spec, why) = (listed.spec.clone(), error.to_string());
            left_out.push(FeatureCandidate::left_out(spec, listed.dimension, why));
            Ok(())
        }
    };
    let labels = replay.labels().clone();
    let mut fittings = Vec::new();
    for listed in listed {
        match Fitting::with_columns(&listed.spec, report.schema.inputs(report.dimension)) {
            Ok(fitting) => fittings.push((listed, fitting, None)),
            Err(error) => leave_out(&listed, error.into())?,
        }
    }
    while fittings
        .iter()
        .any(|(_, fitting, failed)| failed.is_none() && fitting.needs_pass())
    {
        let mut observed: Vec<Result<Fold<Block>>> =
            fittings.iter().map(|_| Ok(Fold::default())).collect();
        for_each_part(
            replay,
            Window::ALL,
            |_, _, _| Ok(()),
            |part| -> Vec<_> {
                let each = fittings.iter().map(|(_, fitting, failed)| {
                    let fits = failed.is_none();
                    fits.then(|| Block::of_fitting(&part, fitting))
                });
                each.collect()
            },
            |parts| {
                for (all, part) in observed.iter_mut().zip(parts) {
                    let (Ok(found), Some(part)) = (&mut *all, part) else {
                        continue;
                    };
                    let merged = part.map(|part| found.push(part));
                    let failed = found.nodes().find_map(Block::failure);
                    if let Some(error) = merged.err().or(failed) {
                        *all = Err(error);
                    }
                }
                Ok(())
            },
        )?;
        for ((_, fitting, failed), observed) in fittings.iter_mut().zip(observed) {
            if failed.is_none() && fitting.needs_pass() {
                *failed = observed
                    .and_then(|found| {
                        let found = found.finish().and_then(|block| block.observed);
                        end_pass(fitting, found, &|code| labels.get(code))
                    })
                    .err();
            }
        }
    }
    let mut maps = Vec::new();
    for (listed, fitting, failed) in fittings {
        let map = match failed {
            Some(error) => Err(error),
            None => fitting.finish().map_err(Error::from),
        };
        match map {
            Ok(map) if map.adapts() => leave_out(&listed, refused_map(map.spec()))?,
            Ok(map) => maps.push(map),
            Err(error) => leave_out(&listed, error)?,
        }
    }
    Ok(maps)
}

fn constant_map(report: &DataReport) -> Result<FeatureMap> {
    Ok(Fitting::new("bias", report.dimension).and_then(Fitting::finish)?)
}

/// The plan of a map with the sums of four folds, which take twice the memory of two.
fn folded<'a>(
    map: &'a FeatureMap,
    report: &DataReport,
    request: &Request,
    transitions: u64,
) -> Plan<'a> {
    let plan = plan(map, report, request, transitions);
    Plan {
        threads: match plan.threads < request.threads {
            true => (plan.threads / 2).max(1),
            false => plan.threads,
        },
        ..plan
    }
}

fn refused(wanted: &Wanted, expected: &str) -> Error {
    OptionError::Range {
        option: OptionName::Features,
        value: wanted.text(),
        expected: expected.into(),
    }
    .into()
}
