//! Summarises the results of every lane, sampled or in expectation.

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::diagnostics::{CurvePoint, Estimate, Peak, Record};
use crate::plan::{Lane, Plan};
use crate::unit::UnitState;

/// Quantiles over runs, by linear interpolation between order statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Smallest value.
    pub min: f64,
    /// First quartile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub upper: f64,
    /// Largest value.
    pub max: f64,
}

impl Quantiles {
    /// Quantiles of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let position = share * (sorted.len() - 1) as f64;
            let (low, part) = (position.floor() as usize, position.fract());
            // Without this check an infinite neighbour of weight zero would give NaN.
            if part == 0.0 {
                sorted[low]
            } else {
                sorted[low] * (1.0 - part) + sorted[low + 1] * part
            }
        };
        Self {
            min: at(0.0),
            lower: at(0.25),
            median: at(0.5),
            upper: at(0.75),
            max: at(1.0),
        }
    }
}

/// The diagnostics of one lane: means over runs, or exact expectations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneResult {
    /// The lane.
    pub lane: Lane,
    /// max_t E|theta_t|^2 over |theta*|^2; infinite after an overflow.
    pub ratio: f64,
    /// First step that attains the maximum (or overflows).
    pub peak_step: u64,
    /// E f of the averaged iterate at the gap step.
    pub gap: f64,
    /// Learning curve; for exact expectations it ends at an overflow.
    pub curve: Vec<CurvePoint>,
    /// Statistics over runs; `None` for exact expectations.
    pub sampled: Option<Sampled>,
}

impl LaneResult {
    /// Share of runs that diverged; `None` for exact expectations.
    pub fn divergence_rate(&self) -> Option<f64> {
        self.sampled.as_ref().map(|sampled| sampled.divergence_rate)
    }
}

/// The statistics of a lane over its runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    /// Standard error over runs of |theta_t|^2 at the step of the maximum, over |theta*|^2.
    ///
    /// By the delta method this is the error of the maximum itself, with its step taken as given. It does not
    /// reflect that the largest of many means is biased upwards.
    pub ratio_standard_error: f64,
    /// Share of runs with |theta_t|^2 > 1e12, or not finite, at some t (1e20 in [`Mode::Tdx`](crate::Mode::Tdx)).
    pub divergence_rate: f64,
    /// Binomial standard error of the divergence rate.
    pub divergence_standard_error: f64,
    /// Standard error of the gap; NaN for one run.
    pub gap_standard_error: f64,
    /// |theta|^2 after the last step, over runs.
    pub final_norm: Quantiles,
    /// max_t |theta_t|^2 of each run, over runs.
    pub max_norm: Quantiles,
}

/// A finished sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// One result per lane, in the order of the plan.
    pub lanes: Vec<LaneResult>,
    /// The number of TD updates computed.
    pub lane_steps: u64,
    /// Step at which the gaps were read.
    pub gap_step: u64,
}

/// The result of a finished unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitResult {
    /// One per record, with its standard error.
    peaks: Vec<(Peak, f64)>,
    records: Vec<Record>,
}

impl UnitResult {
    /// Extracts the diagnostics of a finished unit.
    pub fn of(context: &Context, unit: usize, state: UnitState) -> Self {
        let outputs = context.units[unit].banks.iter().flat_map(|b| &b.outputs);
        let peaks = state.peaks.iter().flatten().copied();
        let peaks = peaks.zip(state.spreads.iter().flatten().copied());
        let slots = outputs.zip(peaks);
        let peaks = slots.flat_map(|(outputs, peak)| outputs.iter().map(move |_| peak));
        Self {
            peaks: peaks.collect(),
            records: state.records,
        }
    }

    pub fn peaks(&self) -> &[(Peak, f64)] {
        &self.peaks
    }

    pub fn records(&self) -> &[Record] {
        &self.records
    }
}

impl Results {
    /// Sorts the lanes, each with its index, into the order of the plan.
    pub(crate) fn new(mut lanes: Vec<(usize, LaneResult)>, lane_steps: u64, plan: &Plan) -> Self {
        lanes.sort_by_key(|(index, _)| *index);
        Self {
            lanes: lanes.into_iter().map(|(_, result)| result).collect(),
            lane_steps,
            gap_step: plan.gap_step(),
        }
    }
}

/// The results of all units of a sampled sweep.
pub(crate) fn collect(context: &Context, units: Vec<UnitResult>) -> Results {
    let lanes = lanes(context, units);
    Results::new(lanes, context.lane_steps(), &context.plan)
}

/// The results of the lanes of some units, each with its index.
pub(crate) fn lanes(context: &Context, units: Vec<UnitResult>) -> Vec<(usize, LaneResult)> {
    let found = units.into_iter();
    let found = found.flat_map(|unit| unit.peaks.into_iter().zip(unit.records));
    found
        .map(|(peak, record)| (record.lane, summarise(context, peak, record)))
        .collect()
}

fn summarise(context: &Context, (peak, spread): (Peak, f64), record: Record) -> LaneResult {
    let plan = &context.plan;
    let lane = plan.lanes[record.lane];
    let runs = plan.runs as f64;
    let scale = f64::powi(2.0, -record.exponent);
    let square = scale * scale;
    let theta_star = plan.variants[lane.variant].theta_star_squared();
    let mean = peak.sum / runs * square;
    let maxima = record.maxima.iter();
    let diverged = maxima.filter(|m| plan.diverged(**m)).count();
    let rate = diverged as f64 / runs;
    let gap = Estimate::of(&record.gaps);
    LaneResult {
        lane,
        ratio: mean / theta_star,
        peak_step: peak.step,
        gap: gap.mean,
        curve: record.curve,
        sampled: Some(Sampled {
            ratio_standard_error: spread * square / theta_star,
            divergence_rate: rate,
            divergence_standard_error: (rate * (1.0 - rate) / runs).sqrt(),
            gap_standard_error: gap.standard_error,
            final_norm: Quantiles::of(&record.finals),
            max_norm: Quantiles::of(&record.maxima),
        }),
    }
}
