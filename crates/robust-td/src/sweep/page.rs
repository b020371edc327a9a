//! Builds the page of a sweep.

use robust_td_core::theory::Certification;
use robust_td_core::{Constants, Mixing};
use robust_td_engine::Projection;
use robust_td_report::{Cell, Drawing, Fact, Page, PageFigure, Rerun};

use super::execute::Execution;
use super::results::SweepResults;
use super::row::SweepRow;
use super::spec::{Indexing, Mode};
use super::study::{Study, Variant};
use super::{agreement, stability, tables};
use crate::constants::constants_table;
use crate::error::Result;

/// A sweep with thresholds, exact expectations and certificates.
pub(super) struct Findings<'a> {
    /// The sweep.
    pub study: &'a Study,
    /// Its results.
    pub rows: &'a [SweepRow],
    /// Exact expectations near the threshold, for sampled modes.
    pub exact: Vec<SweepRow>,
    /// How it was executed.
    pub execution: &'a Execution,
    /// The command line, if there was one.
    pub command: Option<&'a str>,
    /// Mean-square thresholds of c by figure and scaling.
    pub thresholds: Vec<Vec<Option<f64>>>,
    /// How the chain mixes, the same for all scalings, unless it is too large to compute that.
    mixing: Option<Mixing>,
    certifications: Vec<Option<Certification>>,
}

impl<'a> Findings<'a> {
    /// Adds thresholds, exact expectations and certificates.
    ///
    /// A certificate bounds the average after T steps, so it is computed only for a sweep that runs all T steps.
    pub fn new(results: &'a SweepResults) -> Result<Self> {
        let study = &results.study;
        // If the chain cannot be decomposed, these parts of the page stay empty.
        let mixing = Mixing::of(study.variants[0].problem.chain()).ok();
        // One at a time: at T = 10^7 each holds its step sizes in memory.
        let certify = |variant: &Variant| {
            let complete = study.simulate == study.steps;
            complete.then(|| variant.problem.certify(study.steps, None).ok())?
        };
        let certifications = study.variants.iter().map(certify).collect();
        Ok(Self {
            study,
            rows: &results.rows,
            exact: results.exact_near_threshold()?,
            execution: &results.execution,
            command: results.command.as_deref(),
            thresholds: stability::thresholds(study, results.execution.threads),
            mixing: mixing.and_then(std::result::Result::ok),
            certifications,
        })
    }

    /// The constants of every scaled problem, under its scale.
    pub fn constants(&self) -> impl Iterator<Item = (f64, Constants)> {
        let variants = self.study.variants.iter();
        variants.map(|variant| {
            let constants = Constants::new(&variant.problem, self.mixing.as_ref());
            (variant.scale, constants)
        })
    }

    /// The page around the drawings of the figures.
    pub fn page(&self, drawings: Vec<Drawing>) -> Page {
        let study = self.study;
        let figures = study.figures.iter().zip(drawings);
        let agreement = agreement::agreement(study, self.rows);
        let mut tables: Vec<_> = agreement
            .map(|agreement| agreement.table())
            .into_iter()
            .collect();
        tables.push(tables::thresholds(self));
        tables.extend(tables::expectations(self));
        let constants = self.constants();
        let constants = constants.map(|(scale, constants)| (format!("scale {scale}"), constants));
        tables.push(constants_table(&constants.collect::<Vec<_>>()));
        tables.extend(tables::certificates(study, &self.certifications));
        Page {
            title: format!("Step size sweep on {}", study.problem_name),
            summary: summary(study),
            facts: self.facts(),
            figures: figures
                .map(|(figure, drawing)| PageFigure {
                    title: figure.title.clone(),
                    caption: self.caption(),
                    drawing,
                })
                .collect(),
            tables,
            rerun: self
                .command
                .map(|command| Rerun {
                    what: "Repeat the sweep".into(),
                    command: command.into(),
                })
                .into_iter()
                .collect(),
        }
    }

    fn caption(&self) -> String {
        let horizon = self.study.steps;
        let far = match self.study.mode {
            Mode::Tdx => "≥ 10²⁰",
            _ => "> 10¹²",
        };
        format!(
            "Left: the largest E‖θₜ‖² relative to ‖θ*‖². Middle: share of runs with ‖θₜ‖² {far}. Right: f of the averaged \
             iterate. Horizon T = {horizon}; one row per feature scaling. Ratio and gap are clamped to [10⁻⁶, 10¹²]. To the right of \
             the mean-square threshold any constant step size keeps E‖θₜ‖² bounded."
        )
    }

    fn facts(&self) -> Vec<Fact> {
        let (study, execution) = (self.study, self.execution);
        let problem = &study.variants[0].problem;
        let command = self.command.map(|command| Cell::Code {
            text: command.into(),
        });
        let runs = (study.mode != Mode::Exact).then_some(study.runs as u64);
        let size = format!(
            "{}: {} states, d = {}, discount {}",
            study.problem_name,
            problem.states(),
            problem.dimension(),
            problem.discount()
        );
        let rate = execution.computed as f64 / execution.seconds;
        let mut facts = Vec::new();
        facts.extend(command.map(|command| Fact::new("Command", command)));
        facts.push(Fact::text("Mode", mode_in_words(study)));
        facts.push(Fact::text("Problem", size));
        facts.push(Fact::count("Horizon T in the step size", study.steps));
        facts.push(Fact::count("Steps simulated", study.simulate));
        facts.extend(runs.map(|runs| Fact::count("Runs per c", runs)));
        facts.extend([
            Fact::count("Values of c", study.grid.len() as u64),
            Fact::count("Problems", study.variants.len() as u64),
            Fact::text("Seeds", seeds_in_words(study)),
            Fact::text("Kernel", execution.kernel),
            Fact::count("Threads", execution.threads as u64),
            Fact::new("Seconds", Cell::number(Some(execution.seconds))),
            Fact::count("TD updates computed", execution.lane_steps),
            Fact::new("TD updates per second", Cell::digits(Some(rate), 3)),
            Fact::text(
                "Version",
                format!("robust-td {}", env!("CARGO_PKG_VERSION")),
            ),
        ]);
        facts
    }
}

fn mode_in_words(study: &Study) -> &'static str {
    match (study.mode, study.indexing) {
        (Mode::Published, _) => {
            "published: the authors' program, with its random numbers and its indexing"
        }
        (Mode::Tdx, _) => {
            "tdx: the authors' later engine, with its random numbers, its indexing and its divergence at 10²⁰"
        }
        (Mode::Algorithm, _) => "algorithm: Algorithm 1 as stated, with our own random streams",
        (Mode::Exact, Indexing::Algorithm) => "exact: expectations of Algorithm 1 without sampling",
        (Mode::Exact, Indexing::Published) => {
            "exact: expectations of the published program without sampling"
        }
    }
}

fn seeds_in_words(study: &Study) -> String {
    match study.mode {
        Mode::Published => "Julia's MersenneTwister, seeded by the bits of c and the run".into(),
        Mode::Tdx => "SplitMix64, seeded by the bits of c and the run".into(),
        Mode::Algorithm => format!("seed {}, one stream per run", study.seed),
        Mode::Exact => "none".into(),
    }
}

fn summary(study: &Study) -> String {
    format!(
        "{} TD(0) on {} problem(s) at {} values of the step size constant c, {} steps each: whether the iterates stay \
         bounded, how many runs diverge, and how good the averaged iterate is.",
        match study
            .figures
            .iter()
            .all(|figure| figure.projection == Projection::None)
        {
            true => "Unprojected",
            false => "Projected and unprojected",
        },
        study.variants.len(),
        study.grid.len(),
        study.simulate
    )
}
