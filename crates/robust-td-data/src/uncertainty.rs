//! Computes intervals of theta_bar by one or two routes, and whether these agree.

use robust_td_core::learner::Features;
use robust_td_core::learner::Learner;
use robust_td_core::sandwich::Estimate;
use serde::Serialize;

use crate::model::Model;
use crate::predictor::Intervals;
use crate::solved::Unit;
use crate::warning::Warning;

/// What intervals do and do not measure.
const MEANING: &str =
    "sampling error around the TD fixed point; not the approximation error of the features";

const MEANING_OF_AVERAGE: &str = "error of the average, from the spread between learners, widened by the residual of the log's equations; not the \
     approximation error of the features";

/// Two routes agree when the mean ratio of their widths is within this range,
const AGREEING_WIDTHS: std::ops::RangeInclusive<f64> = 0.75..=1.34;
/// and no coordinate of theta_bar is farther from least squares than this number of standard errors.
const FAR: f64 = 4.0;

/// Intervals of theta by one route.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Route {
    /// The method in words.
    pub method: &'static str,
    /// The length of blocks in transitions.
    pub block: u64,
    /// The number of replicates, for the bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicates: Option<usize>,
    /// Its own answer, for least squares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<Vec<f64>>,
    /// The lower ends.
    pub lower: Vec<f64>,
    /// The upper ends.
    pub upper: Vec<f64>,
}

impl Route {
    fn of(intervals: Intervals, theta: &[f64], confidence: f64) -> Self {
        let [lower, upper] = intervals.of_theta(theta, confidence);
        Self {
            method: intervals.method(),
            block: 0,
            replicates: None,
            theta: None,
            lower,
            upper,
        }
    }
}

/// Intervals of theta_bar, and the routes that they combine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uncertainty {
    /// The confidence.
    pub confidence: f64,
    /// What intervals do and do not measure.
    pub meaning: &'static str,
    /// The method in words.
    pub method: &'static str,
    /// The number of independent episodes or clusters, if there are any.
    pub clusters: Option<u64>,
    /// The lower ends.
    pub lower: Vec<f64>,
    /// The upper ends.
    pub upper: Vec<f64>,
    /// The route by replicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Route>,
    /// The route by least squares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lstd: Option<Route>,
    /// The ratio of the mean widths, first to second, for the same number of samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width_ratio: Option<f64>,
    /// The largest distance of a coordinate of theta_bar from least squares, in standard errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_from_lstd: Option<f64>,
    /// Whether the two routes agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agree: Option<bool>,
    /// Whether blocks span several correlation times.
    pub blocks_long_enough: bool,
}

impl Uncertainty {
    /// The intervals of a model's theta_bar.
    pub(crate) fn of(
        model: &Model,
        intervals: Intervals,
        theta_bar: &[f64],
        confidence: f64,
    ) -> Self {
        let method = intervals.method();
        let blocks_long_enough = intervals.blocks_are_long_enough();
        let [lower, upper] = intervals.of_theta(theta_bar, confidence);
        let (bootstrap, estimate) = match intervals {
            Intervals::Bootstrap(bootstrap) => (Some(bootstrap), None),
            Intervals::Both(bootstrap, estimate) => (Some(bootstrap), Some(estimate)),
            Intervals::Sandwich(estimate) => (None, Some(estimate)),
            Intervals::Influence(..) | Intervals::Learners(_) => (None, None),
        };
        // On streams theta_bar is based on fewer samples than least squares, and has the larger error.
        let larger = estimate.as_ref().map_or(1.0, |estimate| {
            let choice = match model {
                Model::Learned(learned) => learned.learner().choice(),
                Model::Solved(_) | Model::Averaged(_) => None,
            };
            let own = choice.map_or(estimate.samples, |answer| answer.samples);
            (estimate.samples as f64 / own.max(1) as f64).sqrt()
        });
        let distance = estimate.as_ref().map(|e| distance(e, theta_bar) / larger);
        let bootstrap = bootstrap.map(|bootstrap| Route {
            block: bootstrap.block,
            replicates: Some(bootstrap.replicates()),
            ..Route::of(Intervals::Bootstrap(bootstrap), theta_bar, confidence)
        });
        let lstd = estimate.map(|estimate| {
            let (theta, block) = (estimate.theta.clone(), estimate.block);
            let route = Route::of(Intervals::Sandwich(estimate), &theta, confidence);
            Route {
                block,
                theta: Some(theta),
                ..route
            }
        });
        let both = bootstrap.as_ref().zip(lstd.as_ref());
        let mut found = Self {
            confidence,
            meaning: match model {
                Model::Averaged(_) => MEANING_OF_AVERAGE,
                _ => MEANING,
            },
            method,
            clusters: match model {
                Model::Solved(solved) if solved.facts.unit != Unit::Time => {
                    Some(solved.facts.units)
                }
                _ => None,
            },
            lower,
            upper,
            width_ratio: both.and_then(|(x, y)| Some(width_ratio(x, y)? / larger)),
            distance_from_lstd: distance.filter(|_| bootstrap.is_some()),
            bootstrap,
            lstd,
            agree: None,
            blocks_long_enough,
        };
        found.agree = found.routes_agree();
        found
    }

    /// Whether it combines the routes of a learner.
    #[must_use]
    pub fn has_routes(&self) -> bool {
        self.bootstrap.is_some() || self.lstd.is_some()
    }

    /// Whether the two routes agree in width and location; unknown with only one.
    fn routes_agree(&self) -> Option<bool> {
        let distance = self.distance_from_lstd?;
        match self.width_ratio {
            Some(ratio) => Some(AGREEING_WIDTHS.contains(&ratio) && distance <= FAR),
            None if distance > FAR => Some(false),
            None => None,
        }
    }

    /// The warnings about the intervals.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.agree == Some(false) {
            warnings.push(Warning::RoutesDisagree);
        } else if self.lstd.is_none() && self.bootstrap.is_some() {
            warnings.push(Warning::OneRoute);
        }
        if !self.blocks_long_enough {
            warnings.push(Warning::ShortBlocks);
        }
        warnings
    }
}

/// The largest |theta_bar - theta| over the standard error, among coordinates that were seen.
fn distance(estimate: &Estimate, theta_bar: &[f64]) -> f64 {
    let of = |(j, x): (usize, &f64)| {
        let (indices, values) = ([j as u32], [1.0]);
        let unit = Features::Sparse {
            indices: &indices,
            values: &values,
        };
        let (error, away) = (estimate.standard_error(unit), (x - estimate.theta[j]).abs());
        match error > 0.0 {
            true if error.is_finite() => away / error,
            // On a log without noise, differences are rounding errors.
            false if away > 1e-6 * x.abs() => f64::INFINITY,
            _ => 0.0,
        }
    };
    theta_bar.iter().enumerate().map(of).fold(0.0, f64::max)
}

/// The mean ratio of widths, over the coordinates where both are known.
fn width_ratio(x: &Route, y: &Route) -> Option<f64> {
    let widths = |route: &Route| -> Vec<f64> {
        let pairs = route.upper.iter().zip(&route.lower);
        pairs.map(|(high, low)| high - low).collect()
    };
    let ratios = widths(x).into_iter().zip(widths(y)).map(|(x, y)| x / y);
    let known: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
