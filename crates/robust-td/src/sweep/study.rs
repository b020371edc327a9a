//! Checks a request and turns it into a plan for the engine.

use robust_td_core::schedule::SHORTEST_HORIZON;
use robust_td_core::{Matrix, Problem};
use robust_td_engine::{Family, Lane, Plan, Projection, Tables};

use super::error::SweepError;
use super::grid::{GridPoint, grid_of};
use super::spec::{Indexing, Mode};

/// The largest number of feature scalings: a problem is made for each.
const MOST_SCALES: u64 = 1000;
/// The largest number of learners.
const MOST_LANES: u64 = 1_000_000;

/// A requested sweep, not yet checked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The problem.
    pub problem: Problem,
    /// What to call it.
    pub name: String,
    /// The figures.
    pub figures: Vec<Figure>,
    /// Feature scalings.
    pub scales: Vec<f64>,
    /// Values of c.
    pub constants: Vec<f64>,
    /// How the expectation is taken.
    pub mode: Mode,
    /// Indexing of exact mode.
    pub indexing: Option<Indexing>,
    /// Horizon T in the step sizes.
    pub horizon: Option<u64>,
    /// Steps to simulate, T by default.
    pub simulate: Option<u64>,
    /// Runs per value of c.
    pub runs: u64,
    /// Seed of algorithm mode.
    pub seed: Option<u64>,
    /// Points per decade of t in the learning curves.
    pub curve_points_per_decade: u32,
}

/// A valid sweep.
#[derive(Debug, Clone)]
pub struct Study {
    /// The problem as the user named it.
    pub problem_name: String,
    /// One problem per feature scaling.
    pub variants: Vec<Variant>,
    /// One figure per step size family.
    pub figures: Vec<Figure>,
    /// The values of c in increasing order.
    pub grid: Vec<GridPoint>,
    /// How the expectation is taken.
    pub mode: Mode,
    /// Indexing of exact mode.
    pub indexing: Indexing,
    /// Horizon T in the step sizes.
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

/// A figure: one family of step sizes over all problems and values of c.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its number in the file names and in `results.csv`.
    pub number: usize,
    /// Its title.
    pub title: String,
    /// The step sizes.
    pub family: Family,
    /// The projection.
    pub projection: Projection,
}

impl Figure {
    /// A figure; without a title it is named after its step sizes.
    pub fn new(number: usize, title: Option<String>, family: Family) -> Self {
        Self::projected(number, title, family, Projection::None)
    }

    /// A figure with a projection.
    pub fn projected(
        number: usize,
        title: Option<String>,
        family: Family,
        projection: Projection,
    ) -> Self {
        let words = match family {
            Family::Decaying => "decaying step sizes".into(),
            Family::Constant => "constant step sizes".into(),
            Family::Plain => "the step size c itself".into(),
            other => format!("step sizes {}", other.name()),
        };
        let words = match projection {
            Projection::None => words,
            projected => format!("{words}, projection {}", projected.name()),
        };
        let title = title.unwrap_or_else(|| format!("Figure {number}: {words}"));
        Self {
            number,
            title,
            family,
            projection,
        }
    }

    /// One figure per schedule and projection, numbered from 1.
    pub fn all(
        title: Option<&String>,
        families: &[Family],
        projections: &[Projection],
    ) -> Vec<Self> {
        let rules = projections
            .iter()
            .flat_map(|&projection| families.iter().map(move |&family| (family, projection)));
        rules
            .zip(1..)
            .map(|((family, projection), number)| {
                Self::projected(number, title.cloned(), family, projection)
            })
            .collect()
    }
}

impl Study {
    /// Checks a request.
    pub fn new(request: &Request) -> Result<Self, SweepError> {
        let mode = request.mode.name();
        let steps = request.horizon.ok_or(SweepError::NoHorizon)?;
        let simulate = request.simulate.unwrap_or(steps);
        if steps < SHORTEST_HORIZON {
            return Err(SweepError::Horizon { steps });
        }
        if simulate == 0 || simulate > steps {
            return Err(SweepError::Simulate { simulate, steps });
        }
        if request.runs == 0 || request.runs > 1_000_000 {
            return Err(SweepError::Runs { runs: request.runs });
        }
        let points = request.curve_points_per_decade;
        if !(1..=1000).contains(&points) {
            return Err(SweepError::CurvePoints { points });
        }
        if request.seed.is_some() && request.mode != Mode::Algorithm {
            return Err(SweepError::Seed { mode });
        }
        if request.indexing.is_some() && request.mode != Mode::Exact {
            return Err(SweepError::Indexing { mode });
        }
        let rules = request.figures.iter().map(|f| (f.family, f.projection));
        let rules: Vec<_> = rules.collect();
        if rules.is_empty() {
            return Err(SweepError::NoSchedules);
        }
        if (1..rules.len()).any(|k| rules[..k].contains(&rules[k])) {
            return Err(SweepError::ScheduleTwice);
        }
        let projected = rules.iter().find(|(_, p)| *p != Projection::None);
        if let (Mode::Exact, Some((_, projection))) = (request.mode, projected) {
            let name = projection.name();
            return Err(SweepError::ExactProjection { name });
        }
        let [scales, constants] = [&request.scales, &request.constants].map(|x| x.len() as u64);
        let lanes = scales
            .saturating_mul(constants)
            .saturating_mul(rules.len() as u64);
        for (what, found, most) in [
            ("scales", scales, MOST_SCALES),
            (
                "learners (scales x values of c x schedules)",
                lanes,
                MOST_LANES,
            ),
        ] {
            if found > most {
                return Err(SweepError::TooMany { what, found, most });
            }
        }
        Ok(Self {
            problem_name: request.name.clone(),
            variants: variants(&request.problem, &request.scales)?,
            figures: request.figures.clone(),
            grid: grid_of(&request.constants)?,
            mode: request.mode,
            indexing: request.indexing.unwrap_or_default(),
            steps,
            simulate,
            runs: request.runs as usize,
            seed: request.seed.unwrap_or(1),
            curve_points_per_decade: points,
        })
    }

    /// The lanes: figure by figure, problem by problem, by increasing c.
    pub fn lanes(&self) -> Vec<Lane> {
        let mut lanes = Vec::new();
        for figure in &self.figures {
            for variant in 0..self.variants.len() {
                lanes.extend(self.grid.iter().map(|point| Lane {
                    variant,
                    family: figure.family,
                    c: point.c,
                    projection: figure.projection,
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
            mode: match self.mode {
                Mode::Tdx => robust_td_engine::Mode::Tdx,
                _ if self.published_indexing() => robust_td_engine::Mode::Published,
                _ => robust_td_engine::Mode::Algorithm { seed: self.seed },
            },
            curve_points_per_decade: self.curve_points_per_decade,
        }
    }

    /// Whether steps are counted as the authors' program counts them: t from 1, uniform average.
    pub fn published_indexing(&self) -> bool {
        match self.mode {
            Mode::Published | Mode::Tdx => true,
            Mode::Algorithm => false,
            Mode::Exact => self.indexing == Indexing::Published,
        }
    }
}

fn variants(base: &Problem, scales: &[f64]) -> Result<Vec<Variant>, SweepError> {
    if scales.is_empty() {
        return Err(SweepError::NoScales);
    }
    let mut variants: Vec<Variant> = Vec::with_capacity(scales.len());
    for &scale in scales {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(SweepError::Scale { scale });
        }
        if variants.iter().any(|variant| variant.scale == scale) {
            return Err(SweepError::ScaleTwice { scale });
        }
        let problem = base
            .with_features(scaled(base.features(), scale))
            .map_err(|error| SweepError::ScaledProblem {
                scale,
                message: error.to_string(),
            })?;
        variants.push(Variant { scale, problem });
    }
    Ok(variants)
}

/// The paper's scalings: values <= 1 shrink only feature 0, which worsens the condition number; values > 1 enlarge all features.
fn scaled(features: &Matrix, scale: f64) -> Matrix {
    Matrix::from_fn(features.rows(), features.columns(), |s, j| {
        let factor = if j == 0 || scale > 1.0 { scale } else { 1.0 };
        factor * features.get(s, j)
    })
}
