//! Draws a study's figures and fills in its report.

use robust_td_core::Constants;
use robust_td_core::theory::{Certificate, Certification, constants::C0};
use robust_td_report::{
    CertificateRow, Clamp, ConstantsRow, ExpectationRow, Fact, Report, ReportFigure, Rerun,
    RunFacts, SweepFigure, SweepPoint, SweepRow, ThresholdRow,
};

use super::execute::Execution;
use super::printed::{self, CLAMP};
use super::row::Row;
use super::spec::{Indexing, Mode};
use super::stability;
use super::study::{Figure, Study};
use crate::failure::Failure;

/// Resolution of the PNG figures.
pub const DPI: f64 = 300.0;

/// What was computed around a sweep, to be drawn and reported.
pub struct Findings<'a> {
    /// The sweep.
    pub study: &'a Study,
    /// What it found.
    pub rows: &'a [Row],
    /// Exact expectations near the threshold, for sampled modes.
    pub exact: &'a [Row],
    /// How it was executed.
    pub execution: &'a Execution,
    /// The command line.
    pub command: &'a str,
    thresholds: Vec<Vec<Option<f64>>>,
    certifications: Vec<Option<Certification>>,
}

impl<'a> Findings<'a> {
    /// Adds what is known without running: stability thresholds and certificates.
    pub fn new(
        study: &'a Study,
        rows: &'a [Row],
        exact: &'a [Row],
        execution: &'a Execution,
        command: &'a str,
    ) -> Self {
        // One after the other: at T = 10^7 each holds its stepsizes in memory.
        let certify =
            |variant: &super::study::Variant| variant.problem.certify(study.steps, None).ok();
        Self {
            study,
            rows,
            exact,
            execution,
            command,
            thresholds: stability::thresholds(study),
            certifications: study.variants.iter().map(certify).collect(),
        }
    }

    /// The constants of a problem.
    pub fn constants(&self, variant: usize) -> Constants {
        match &self.certifications[variant] {
            Some(certification) => certification.constants.clone(),
            None => Constants::new(&self.study.variants[variant].problem, None),
        }
    }

    fn rows_of(&self, figure: &Figure, variant: usize) -> impl Iterator<Item = &'a Row> {
        let number = figure.number;
        self.rows
            .iter()
            .filter(move |row| row.figure == number && row.variant == variant)
    }

    /// The panels of one figure.
    pub fn figure(&self, place: usize) -> SweepFigure {
        let figure = &self.study.figures[place];
        let rows = self
            .study
            .variants
            .iter()
            .enumerate()
            .map(|(variant, v)| SweepRow {
                label: format!("scale {}", v.scale),
                omega: Some(v.problem.omega()),
                kappa: Some(v.problem.kappa()),
                values: self.rows_of(figure, variant).map(point).collect(),
                exact: self
                    .exact
                    .iter()
                    .filter(|row| row.figure == figure.number && row.variant == variant)
                    .map(|row| SweepPoint {
                        gap: None,
                        ..point(row)
                    })
                    .collect(),
                printed: printed::overlay(self.study, self.rows, figure.number, variant),
                mean_square_threshold: self.thresholds[place][variant],
                gap_at_zero: Some(v.problem.f_zero()),
            });
        SweepFigure {
            title: figure.title.clone(),
            values_label: match self.study.mode {
                Mode::Exact => "exact expectation".into(),
                _ => format!("mean of {} runs", self.study.runs),
            },
            exact_label: "exact expectation".into(),
            printed_label: "printed in the paper".into(),
            rows: rows.collect(),
            clamp: Clamp {
                low: CLAMP.0,
                high: CLAMP.1,
            },
            theory_threshold: Some(C0),
        }
    }

    /// The report, with the figures that [`Self::figure`] draws.
    pub fn report(&self) -> Result<Report, Failure> {
        let study = self.study;
        let mut figures = Vec::new();
        for (place, figure) in study.figures.iter().enumerate() {
            let drawing = self
                .figure(place)
                .draw()
                .map_err(|e| Failure::Run(e.to_string()))?;
            figures.push(ReportFigure {
                title: figure.title.clone(),
                caption: self.caption(),
                drawing,
            });
        }
        Ok(Report {
            title: format!("A sweep over stepsizes on {}", study.problem_name),
            summary: summary(study),
            run: Some(self.run_facts()),
            figures,
            tables: Vec::new(),
            agreement: printed::agreement(study, self.rows),
            thresholds: self.threshold_rows(),
            expectations: self.expectation_rows(),
            constants: self.constants_rows(),
            certificates: self.certificate_rows(),
            rerun: vec![Rerun {
                what: "Run it again".into(),
                command: self.command.into(),
            }],
        })
    }

    fn caption(&self) -> String {
        let horizon = self.study.steps;
        format!(
            "Left: the largest E‖θₜ‖² relative to ‖θ*‖². Middle: share of runs with ‖θₜ‖² > 10¹². Right: f of the averaged \
             iterate. Horizon T = {horizon}; one row per feature scaling. Ratio and gap are clamped to [10⁻⁶, 10¹²]. To the right of \
             the mean-square threshold every stepsize, held for ever, keeps E‖θₜ‖² bounded."
        )
    }

    fn run_facts(&self) -> RunFacts {
        let (study, execution) = (self.study, self.execution);
        let problem = &study.variants[0].problem;
        let sampled = study.mode != Mode::Exact;
        RunFacts {
            command: self.command.into(),
            mode: mode_in_words(study).into(),
            problem: format!(
                "{}: {} states, d = {}, discount {}",
                study.problem_name,
                problem.states(),
                problem.dimension(),
                problem.discount()
            ),
            horizon: Some(study.steps),
            simulated_steps: Some(study.simulate),
            runs: sampled.then_some(study.runs as u64),
            c_values: Some(study.grid.len() as u64),
            problems: Some(study.variants.len() as u64),
            seeds: seeds_in_words(study),
            kernel: execution.kernel.clone(),
            threads: Some(execution.threads as u64),
            seconds: Some(execution.seconds),
            lane_steps: Some(execution.lane_steps),
            lane_steps_per_second: Some(execution.computed as f64 / execution.seconds),
            more: vec![Fact {
                name: "Version".into(),
                value: format!("robust-td {}", env!("CARGO_PKG_VERSION")),
            }],
        }
    }

    fn threshold_rows(&self) -> Vec<ThresholdRow> {
        let mut table = Vec::new();
        for (place, figure) in self.study.figures.iter().enumerate() {
            for (variant, v) in self.study.variants.iter().enumerate() {
                let rows: Vec<&Row> = self.rows_of(figure, variant).collect();
                let quiet = rows
                    .iter()
                    .rev()
                    .take_while(|row| row.found.divergence_rate == Some(0.0));
                let best = rows
                    .iter()
                    .filter(|row| row.found.gap.is_finite())
                    .min_by(|a, b| a.found.gap.total_cmp(&b.found.gap));
                let distance = |row: &Row| (row.c / C0).ln().abs();
                let near = rows
                    .iter()
                    .min_by(|a, b| distance(a).total_cmp(&distance(b)));
                table.push(ThresholdRow {
                    figure: figure.number.to_string(),
                    problem: format!("scale {}", v.scale),
                    first_c_without_divergence: quiet.last().map(|row| row.c),
                    best_c: best.map(|row| row.c),
                    best_gap: best.map(|row| row.found.gap),
                    c_near_c0: near.map(|row| row.c),
                    ratio_near_c0: near.map(|row| row.found.ratio),
                    mean_square_threshold: self.thresholds[place][variant],
                });
            }
        }
        table
    }

    fn expectation_rows(&self) -> Vec<ExpectationRow> {
        let pair = |exact: &Row| {
            let sampled = self.rows.iter().find(|row| {
                row.figure == exact.figure && row.variant == exact.variant && row.c == exact.c
            })?;
            Some(ExpectationRow {
                figure: exact.figure.to_string(),
                problem: format!("scale {}", self.study.variants[exact.variant].scale),
                c: exact.c,
                sampled_ratio: Some(sampled.found.ratio),
                sampled_ratio_stderr: sampled
                    .found
                    .sampled
                    .as_ref()
                    .map(|lane| lane.ratio_standard_error),
                exact_ratio: Some(exact.found.ratio),
                // The exact run is cut short after the peak; its average is not that of the sweep.
                sampled_gap: None,
                exact_gap: None,
            })
        };
        self.exact.iter().filter_map(pair).collect()
    }

    fn constants_rows(&self) -> Vec<ConstantsRow> {
        let row = |(place, v): (usize, &super::study::Variant)| ConstantsRow {
            problem: format!("scale {}", v.scale),
            omega: v.problem.omega(),
            kappa: v.problem.kappa(),
            theta_star_norm_sq: v.problem.theta_star_norm().powi(2),
            phi_inf_sq: v.problem.phi_inf().powi(2),
            f_zero: v.problem.f_zero(),
            t_mix: self.constants(place).t_mix,
            lambda2: self.constants(place).lambda2,
        };
        self.study.variants.iter().enumerate().map(row).collect()
    }

    fn certificate_rows(&self) -> Vec<CertificateRow> {
        let mut table = Vec::new();
        for (variant, certification) in self.study.variants.iter().zip(&self.certifications) {
            let Some(certification) = certification else {
                continue;
            };
            let (Ok(bounds), Some(c)) = (&certification.mixing, certification.c) else {
                continue;
            };
            let named: [(&str, Option<&Certificate>); 4] = [
                ("P (Theorem 1, explicit)", bounds.p.as_ref()),
                ("X (centred at 0)", bounds.x.as_ref()),
                ("Y (centred at theta*)", bounds.y.as_ref()),
                ("C (tuned constant step)", Some(&bounds.constant_step)),
            ];
            for (name, certificate) in named {
                let Some(certificate) = certificate else {
                    continue;
                };
                table.push(CertificateRow {
                    problem: format!("scale {}", variant.scale),
                    certificate: name.into(),
                    c,
                    applies: certificate.applies(),
                    bound: certificate.bound,
                    f_zero: Some(certification.constants.f_zero),
                    iterate_bound: certificate.iterate_bound,
                    why_not: certificate.why_not(),
                });
            }
        }
        table
    }
}

fn point(row: &Row) -> SweepPoint {
    SweepPoint {
        c: row.c,
        ratio: Some(row.found.ratio),
        divergence_rate: row.found.divergence_rate,
        gap: Some(row.found.gap),
    }
}

fn mode_in_words(study: &Study) -> &'static str {
    match (study.mode, study.indexing) {
        (Mode::Published, _) => {
            "published: the authors' program, with its random numbers and its indexing"
        }
        (Mode::Algorithm, _) => "algorithm: Algorithm 1 to the letter, with our own random streams",
        (Mode::Exact, Indexing::Algorithm) => "exact: expectations of Algorithm 1 without sampling",
        (Mode::Exact, Indexing::Published) => {
            "exact: expectations of the published program without sampling"
        }
    }
}

fn seeds_in_words(study: &Study) -> String {
    match study.mode {
        Mode::Published => "Julia's MersenneTwister, seeded by the bits of c and the run".into(),
        Mode::Algorithm => format!("seed {}, one stream per run", study.seed),
        Mode::Exact => "none".into(),
    }
}

fn summary(study: &Study) -> String {
    format!(
        "Unprojected TD(0) on {} problem(s) at {} values of the stepsize constant c, {} steps each: whether the iterates stay \
         bounded, how many runs diverge, and how good the averaged iterate is.",
        study.variants.len(),
        study.grid.len(),
        study.simulate
    )
}
