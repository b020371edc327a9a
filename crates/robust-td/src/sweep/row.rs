//! Holds the results of a sweep row by row and writes them as CSV.

use std::fmt::Write;

use robust_td_engine::{Family, LaneResult, Projection};

use super::grid::GridPoint;
use super::study::Study;
use crate::number::csv as number;

/// The result for one schedule, feature scaling and c: one row of `results.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow {
    /// Number of the figure, one per schedule.
    pub figure: usize,
    /// Index of the scaling in the sweep's scales.
    pub variant: usize,
    /// The feature scaling.
    pub scale: f64,
    /// Index of c in the paper's grid.
    pub c_index: Option<usize>,
    /// The results, with standard errors and learning curve.
    pub found: LaneResult,
}

impl SweepRow {
    /// The step size schedule.
    #[must_use]
    pub fn schedule(&self) -> Family {
        self.found.lane.family
    }

    /// The projection.
    #[must_use]
    pub fn projection(&self) -> Projection {
        self.found.lane.projection
    }

    /// `E|V - V*|_D^2` of the averaged iterate after the last step; `None` in exact mode.
    #[must_use]
    pub fn d_norm_sq(&self) -> Option<f64> {
        self.found.curve.last()?.d_norm
    }

    /// The step size constant.
    #[must_use]
    pub fn c(&self) -> f64 {
        self.found.lane.c
    }

    /// `max_t E|theta_t|^2 / |theta*|^2`; infinite after an overflow.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.found.ratio
    }

    /// Share of diverged runs; `None` in exact mode.
    #[must_use]
    pub fn divergence_rate(&self) -> Option<f64> {
        self.found.divergence_rate()
    }

    /// `E f` of the averaged iterate.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.found.gap
    }
}

/// The rows of a study, whose lanes come in the order of [`Study::lanes`].
pub(super) fn rows(study: &Study, lanes: Vec<LaneResult>) -> Vec<SweepRow> {
    places(study)
        .zip(lanes)
        .map(|((figure, variant, point), found)| SweepRow {
            figure,
            variant,
            scale: study.variants[variant].scale,
            c_index: point.index,
            found,
        })
        .collect()
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

/// `results.csv`: the columns that scripts rely on first, then further ones.
pub(super) fn results_csv(study: &Study, rows: &[SweepRow]) -> String {
    let mut csv = String::from(
        "figure,mode,scale,omega,kappa,c_index,c,ratio,divergence_rate,gap,\
         peak_step,ratio_stderr,divergence_rate_stderr,gap_stderr,\
         max_norm_sq_lower,max_norm_sq_median,max_norm_sq_upper,\
         final_norm_sq_lower,final_norm_sq_median,final_norm_sq_upper,\
         schedule,projection,d_norm_sq\n",
    );
    for row in rows {
        let variant = &study.variants[row.variant];
        let mut fields = vec![
            row.figure.to_string(),
            study.mode.name().to_string(),
            number(row.scale),
            number(variant.problem.omega()),
            number(variant.problem.kappa()),
            row.c_index.map_or(String::new(), |index| index.to_string()),
            number(row.c()),
            number(row.ratio()),
            row.divergence_rate().map_or(String::new(), number),
            number(row.gap()),
            row.found.peak_step.to_string(),
        ];
        match &row.found.sampled {
            Some(sampled) => fields.extend(
                [
                    sampled.ratio_standard_error,
                    sampled.divergence_standard_error,
                    sampled.gap_standard_error,
                    sampled.max_norm.lower,
                    sampled.max_norm.median,
                    sampled.max_norm.upper,
                    sampled.final_norm.lower,
                    sampled.final_norm.median,
                    sampled.final_norm.upper,
                ]
                .map(number),
            ),
            None => fields.extend(std::iter::repeat_n(String::new(), 9)),
        }
        fields.push(row.schedule().name().into());
        fields.push(row.projection().name().into());
        fields.push(row.d_norm_sq().map_or(String::new(), number));
        csv.push_str(&fields.join(","));
        csv.push('\n');
    }
    csv
}

/// `curves.csv`: the learning curves of all rows.
pub(super) fn curves_csv(rows: &[SweepRow]) -> String {
    let mut csv = String::from(
        "figure,scale,c_index,c,t,norm_sq,norm_sq_stderr,f_of_average,f_of_average_stderr,d_norm_sq\n",
    );
    for row in rows {
        let index = row.c_index.map_or(String::new(), |index| index.to_string());
        let scale = number(row.scale);
        for point in &row.found.curve {
            let errors = point.standard_errors.map(|errors| errors.map(number));
            let [norm_error, gap_error] = errors.unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(
                csv,
                "{},{scale},{index},{},{},{},{norm_error},{},{gap_error},{}",
                row.figure,
                number(row.c()),
                point.step,
                number(point.norm),
                number(point.gap),
                point.d_norm.map_or(String::new(), number),
            );
        }
    }
    csv
}
