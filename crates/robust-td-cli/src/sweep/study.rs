//! Turns specs into a study: problems, figures, values of c and how the expectation is taken.

use std::path::Path;

use robust_td_core::{Matrix, Problem};
use robust_td_engine::{Family, Lane, Plan, Tables};

use super::spec::{GridPoint, Indexing, Mode, Spec};

/// A sweep that is known to make sense.
#[derive(Debug, Clone)]
pub struct Study {
    /// The problem as the user named it.
    pub problem_name: String,
    /// One problem per feature scaling.
    pub variants: Vec<Variant>,
    /// One figure per stepsize family.
    pub figures: Vec<Figure>,
    /// The values of c in increasing order.
    pub grid: Vec<GridPoint>,
    /// How the expectation is taken.
    pub mode: Mode,
    /// Indexing of exact mode.
    pub indexing: Indexing,
    /// Horizon T in the stepsizes.
    pub steps: u64,
    /// Steps to simulate.
    pub simulate: u64,
    /// Runs per value of c.
    pub runs: usize,
    /// Seed of algorithm mode.
    pub seed: u64,
    /// Points per decade of t in the learning curves.
    pub curve_points_per_decade: u32,
}

/// A problem with its features scaled.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The factor.
    pub scale: f64,
    /// The problem.
    pub problem: Problem,
}

/// A figure: one family of stepsizes over all problems and values of c.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its number in the file names and in `results.csv`.
    pub number: usize,
    /// Its title.
    pub title: String,
    /// The stepsizes.
    pub family: Family,
}

impl Study {
    /// A study from specs that differ in title and schedule only, each with the number of its first figure.
    ///
    /// `directory` is where a problem file is looked up.
    pub fn new(specs: &[(usize, Spec)], directory: &Path) -> Result<Self, String> {
        let (_, spec) = specs.first().ok_or("there is nothing to run")?;
        let figures = figures(specs)?;
        let simulate = spec.simulate.unwrap_or(spec.steps);
        if spec.steps < 3 {
            return Err(format!(
                "steps is {}, but a horizon is at least 3",
                spec.steps
            ));
        }
        if simulate == 0 || simulate > spec.steps {
            return Err(format!(
                "simulate is {simulate}, but must lie in 1..={} (steps)",
                spec.steps
            ));
        }
        if spec.runs == 0 || spec.runs > 1_000_000 {
            return Err(format!(
                "runs is {}, but must lie in 1..=1000000",
                spec.runs
            ));
        }
        if !(1..=1000).contains(&spec.curve_points_per_decade) {
            return Err(format!(
                "curve_points_per_decade is {}, but must lie in 1..=1000",
                spec.curve_points_per_decade
            ));
        }
        if spec.seed.is_some() && spec.mode != Mode::Algorithm {
            return Err(format!(
                "a seed is for mode algorithm, not for mode {}",
                spec.mode.name()
            ));
        }
        if spec.indexing.is_some() && spec.mode != Mode::Exact {
            return Err(format!(
                "indexing is for mode exact, not for mode {}",
                spec.mode.name()
            ));
        }
        Ok(Self {
            problem_name: spec.problem.clone(),
            variants: variants(spec, directory)?,
            figures,
            grid: spec.grid()?,
            mode: spec.mode,
            indexing: spec.indexing.unwrap_or_default(),
            steps: spec.steps,
            simulate,
            runs: spec.runs as usize,
            seed: spec.seed.unwrap_or(1),
            curve_points_per_decade: spec.curve_points_per_decade,
        })
    }

    /// The lanes: figure by figure, problem by problem, by increasing c.
    pub fn lanes(&self) -> Vec<Lane> {
        let mut lanes = Vec::new();
        for figure in &self.figures {
            for variant in 0..self.variants.len() {
                let family = figure.family;
                lanes.extend(self.grid.iter().map(|point| Lane {
                    variant,
                    family,
                    c: point.c,
                }));
            }
        }
        lanes
    }

    /// The plan that the engine runs.
    pub fn plan(&self) -> Plan {
        Plan {
            variants: self
                .variants
                .iter()
                .map(|variant| Tables::from(&variant.problem))
                .collect(),
            lanes: self.lanes(),
            runs: self.runs,
            horizon: self.steps,
            simulate: self.simulate,
            mode: if self.published_indexing() {
                robust_td_engine::Mode::Published
            } else {
                robust_td_engine::Mode::Algorithm { seed: self.seed }
            },
            curve_points_per_decade: self.curve_points_per_decade,
        }
    }

    /// Whether steps are counted as the authors' program counts them: t from 1, uniform average.
    pub fn published_indexing(&self) -> bool {
        match self.mode {
            Mode::Published => true,
            Mode::Algorithm => false,
            Mode::Exact => self.indexing == Indexing::Published,
        }
    }
}

fn figures(specs: &[(usize, Spec)]) -> Result<Vec<Figure>, String> {
    let mut figures: Vec<Figure> = Vec::new();
    for (first, spec) in specs {
        for (k, family) in spec.families()?.into_iter().enumerate() {
            if figures.iter().any(|figure| figure.family == family) {
                return Err("schedule names the same stepsizes twice".into());
            }
            let words = match family {
                Family::Decaying => "decaying stepsizes",
                Family::Constant => "constant stepsizes",
                Family::Plain => "the stepsize c itself",
            };
            let number = first + k;
            let title = spec
                .title
                .clone()
                .unwrap_or_else(|| format!("Figure {number}: {words}"));
            figures.push(Figure {
                number,
                title,
                family,
            });
        }
    }
    if figures.is_empty() {
        return Err("schedule is empty".into());
    }
    Ok(figures)
}

fn variants(spec: &Spec, directory: &Path) -> Result<Vec<Variant>, String> {
    let settings: Vec<(String, f64)> = spec
        .set
        .iter()
        .map(|(key, value)| (key.clone(), *value))
        .collect();
    let base = robust_td::problem_beside(&spec.problem, &settings, directory)
        .map_err(|error| error.to_string())?;
    if spec.scales.is_empty() {
        return Err("scales is empty".into());
    }
    let mut variants: Vec<Variant> = Vec::with_capacity(spec.scales.len());
    for &scale in &spec.scales {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(format!("scales must be positive and finite, not {scale:?}"));
        }
        if variants.iter().any(|variant| variant.scale == scale) {
            return Err(format!("scale {scale} is given twice"));
        }
        let problem = base
            .with_features(scaled(base.features(), scale))
            .map_err(|error| format!("scale {scale:?}: {error}"))?;
        variants.push(Variant { scale, problem });
    }
    Ok(variants)
}

/// The paper's scalings: at most 1 shrinks feature 0 alone, which spoils the condition; above 1 enlarges all.
fn scaled(features: &Matrix, scale: f64) -> Matrix {
    Matrix::from_fn(features.rows(), features.columns(), |s, j| {
        let factor = if j == 0 || scale > 1.0 { scale } else { 1.0 };
        factor * features.get(s, j)
    })
}
