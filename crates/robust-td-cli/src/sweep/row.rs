//! Holds what a sweep found at one figure, problem and c, and writes it as CSV.

use std::fmt::Write;

use robust_td_engine::{ExactLane, LaneResult};

use super::spec::GridPoint;
use super::study::Study;
use robust_td::number::csv as number;

/// One row of `results.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the figure.
    pub figure: usize,
    /// Place of the problem among the study's variants.
    pub variant: usize,
    /// Place of c in the paper's grid.
    pub c_index: Option<usize>,
    /// The stepsize constant.
    pub c: f64,
    /// What was found there.
    pub found: Found,
}

/// What was found at one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// `max_t E|theta_t|^2 / |theta*|^2`.
    pub ratio: f64,
    /// The first step that attains the maximum.
    pub peak_step: u64,
    /// Share of diverged runs; nothing in exact mode.
    pub divergence_rate: Option<f64>,
    /// `E f(avg)`.
    pub gap: f64,
    /// The learning curve.
    pub curve: Vec<CurvePoint>,
    /// What only runs can tell.
    pub sampled: Option<LaneResult>,
}

/// A point of a learning curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Updates done.
    pub step: u64,
    /// `E|theta_t|^2`.
    pub norm_sq: f64,
    /// `E f(avg)`.
    pub gap: f64,
    /// Standard errors of both, where runs were averaged.
    pub standard_errors: Option<[f64; 2]>,
}

/// The rows of a sampled study, whose lanes come in the order of [`Study::lanes`].
pub fn sampled(study: &Study, lanes: Vec<LaneResult>) -> Vec<Row> {
    let found = lanes.into_iter().map(|lane| Found {
        ratio: lane.ratio,
        peak_step: lane.peak_step,
        divergence_rate: Some(lane.divergence_rate),
        gap: lane.gap.mean,
        curve: lane
            .curve
            .iter()
            .map(|point| CurvePoint {
                step: point.step,
                norm_sq: point.norm.mean,
                gap: point.gap.mean,
                standard_errors: Some([point.norm.standard_error, point.gap.standard_error]),
            })
            .collect(),
        sampled: Some(lane),
    });
    places(study).zip(found).map(row).collect()
}

/// The rows of an exact study, whose lanes come in the order of [`Study::lanes`].
pub fn exact(study: &Study, lanes: Vec<ExactLane>) -> Vec<Row> {
    places(study)
        .zip(lanes.iter().map(expected))
        .map(row)
        .collect()
}

/// What an exact lane found.
pub fn expected(lane: &ExactLane) -> Found {
    Found {
        ratio: lane.ratio,
        peak_step: lane.peak_step,
        divergence_rate: None,
        gap: lane.gap,
        curve: lane
            .curve
            .iter()
            .map(|point| CurvePoint {
                step: point.step,
                norm_sq: point.norm,
                gap: point.gap,
                standard_errors: None,
            })
            .collect(),
        sampled: None,
    }
}

fn row(((figure, variant, point), found): ((usize, usize, GridPoint), Found)) -> Row {
    Row {
        figure,
        variant,
        c_index: point.index,
        c: point.c,
        found,
    }
}

/// The (figure, variant, c) of each lane, in the order of [`Study::lanes`].
fn places(study: &Study) -> impl Iterator<Item = (usize, usize, GridPoint)> + '_ {
    study.figures.iter().flat_map(move |figure| {
        (0..study.variants.len()).flat_map(move |variant| {
            study
                .grid
                .iter()
                .map(move |&point| (figure.number, variant, point))
        })
    })
}

/// `results.csv`: the contract's columns, then what a researcher wants next to them.
pub fn results_csv(study: &Study, rows: &[Row]) -> String {
    let mut csv = String::from(
        "figure,mode,scale,omega,kappa,c_index,c,ratio,divergence_rate,gap,\
         peak_step,ratio_stderr,divergence_rate_stderr,gap_stderr,\
         max_norm_sq_lower,max_norm_sq_median,max_norm_sq_upper,\
         final_norm_sq_lower,final_norm_sq_median,final_norm_sq_upper\n",
    );
    for row in rows {
        let variant = &study.variants[row.variant];
        let mut fields = vec![
            row.figure.to_string(),
            study.mode.name().to_string(),
            number(variant.scale),
            number(variant.problem.omega()),
            number(variant.problem.kappa()),
            row.c_index.map_or(String::new(), |index| index.to_string()),
            number(row.c),
            number(row.found.ratio),
            row.found.divergence_rate.map_or(String::new(), number),
            number(row.found.gap),
            row.found.peak_step.to_string(),
        ];
        match &row.found.sampled {
            Some(lane) => fields.extend(
                [
                    lane.ratio_standard_error,
                    lane.divergence_standard_error,
                    lane.gap.standard_error,
                    lane.max_norm.lower,
                    lane.max_norm.median,
                    lane.max_norm.upper,
                    lane.final_norm.lower,
                    lane.final_norm.median,
                    lane.final_norm.upper,
                ]
                .map(number),
            ),
            None => fields.extend(std::iter::repeat_n(String::new(), 9)),
        }
        csv.push_str(&fields.join(","));
        csv.push('\n');
    }
    csv
}

/// `curves.csv`: the learning curves of every lane.
pub fn curves_csv(study: &Study, rows: &[Row]) -> String {
    let mut csv = String::from(
        "figure,scale,c_index,c,t,norm_sq,norm_sq_stderr,f_of_average,f_of_average_stderr\n",
    );
    for row in rows {
        let index = row.c_index.map_or(String::new(), |index| index.to_string());
        let scale = number(study.variants[row.variant].scale);
        for point in &row.found.curve {
            let errors = point.standard_errors.map(|errors| errors.map(number));
            let [norm_error, gap_error] = errors.unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(
                csv,
                "{},{scale},{index},{},{},{},{norm_error},{},{gap_error}",
                row.figure,
                number(row.c),
                point.step,
                number(point.norm_sq),
                number(point.gap),
            );
        }
    }
    csv
}
