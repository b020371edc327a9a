//! Presents a comparison as JSON, under the names that scripts rely on.

use robust_td_core::catalog::Setting;
use robust_td_core::registry::Input;
use robust_td_engine::contest::{self, Score};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::results::{ComparisonResults, quantity};
use crate::contest::field::{Contestant, Skipped};

/// A comparison as one JSON object.
#[derive(Debug, Serialize)]
pub struct ComparisonReport<'a> {
    problem: &'a str,
    horizon: u64,
    runs: u64,
    algorithms: Vec<Entry<'a>>,
    skipped: &'a [Skipped],
    #[serde(serialize_with = "settings")]
    set: &'a [(String, Setting)],
    seed: u64,
    f_zero: f64,
}

/// One method.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    id: &'static str,
    #[serde(serialize_with = "inputs")]
    inputs: &'a [Input],
    oracle: bool,
    f: Estimate,
    d_norm_sq: Estimate,
    max_mean_theta_norm_sq: f64,
    divergence_rate: f64,
    projections: Option<f64>,
    updates: u64,
    label: &'a str,
    #[serde(serialize_with = "settings")]
    settings: &'a [(String, f64)],
    standing: &'static str,
    notes: &'a [String],
    guarantee: Option<Guarantee>,
    theta_error_sq: Estimate,
    f_of_mean: f64,
    peak_step: u64,
}

#[derive(Debug, Serialize)]
struct Estimate {
    mean: f64,
    stderr: f64,
}

#[derive(Debug, Serialize)]
struct Guarantee {
    quantity: &'static str,
    bound: f64,
    statement: &'static str,
}

impl<'a> ComparisonReport<'a> {
    /// The object for a comparison, methods in the requested order.
    pub(super) fn new(comparison: &'a ComparisonResults) -> Self {
        Self {
            problem: &comparison.name,
            horizon: comparison.length.horizon,
            runs: comparison.length.runs,
            algorithms: comparison.entries().map(entry).collect(),
            skipped: &comparison.field.skipped,
            set: &comparison.settings,
            seed: comparison.length.seed,
            f_zero: comparison.problem.f_zero(),
        }
    }
}

fn entry<'a>((contestant, score): (&'a Contestant, &'a Score)) -> Entry<'a> {
    let guarantee = contestant.prepared.guarantee.as_ref();
    Entry {
        id: contestant.method.id,
        inputs: &contestant.prepared.inputs,
        oracle: contestant.prepared.oracle(),
        f: estimate(score.f),
        d_norm_sq: estimate(score.d_norm_sq),
        max_mean_theta_norm_sq: score.max_mean_theta_norm_sq,
        divergence_rate: score.divergence_rate,
        projections: score.projections,
        updates: score.updates,
        label: &contestant.label,
        settings: &contestant.settings,
        standing: contestant.method.standing.word(),
        notes: &contestant.prepared.notes,
        guarantee: guarantee.map(|guarantee| Guarantee {
            quantity: quantity(guarantee.quantity),
            bound: guarantee.bound,
            statement: guarantee.statement,
        }),
        theta_error_sq: estimate(score.theta_error_sq),
        f_of_mean: score.f_of_mean,
        peak_step: score.peak_step,
    }
}

fn estimate(estimate: contest::Estimate) -> Estimate {
    Estimate {
        mean: estimate.mean,
        stderr: estimate.standard_error,
    }
}

fn inputs<S: Serializer>(inputs: &[Input], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(inputs.len()))?;
    for input in inputs {
        map.serialize_entry(input.name, &input.value)?;
    }
    map.end()
}

/// Named values as an object.
pub fn settings<V: Serialize, S: Serializer>(
    settings: &[(String, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(settings.len()))?;
    for (name, value) in settings {
        map.serialize_entry(name, value)?;
    }
    map.end()
}
