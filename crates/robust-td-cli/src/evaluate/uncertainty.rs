//! Says how sure the answer is.

use robust_td_core::learner::{Features, Learner};
use robust_td_core::sandwich::Estimate;
use robust_td_data::{Intervals, Model};
use serde::Serialize;

use super::choice::Choice;
use crate::text;

/// What intervals do and do not say.
const MEANING: &str =
    "sampling error around the TD fixed point; not the approximation error of the features";
/// What it means when the two routes differ.
pub const UNCONVERGED: &str = "the two routes differ: most likely theta_bar has not converged, in directions in which the features hardly \
    vary if the log is long. The intervals reach to the fixed point nevertheless, because least squares widens them. More data bring the \
    two together; --algorithm lstd does not step and has the second kind of interval.";
/// What to do when there is one route only.
const ONE_ROUTE: &str = "Least squares was not run (more than 64 features, or too few rows), so nothing says whether theta_bar has \
    converged, and where it has not the intervals are too narrow: --sandwich takes up to 500 features.";
/// What it means when blocks are too short.
pub const SHORT_BLOCKS: &str = "the scores stay correlated for longer than the blocks of this log can show, so the intervals may be too \
    narrow. A longer log has longer blocks.";
/// Why there are no intervals.
pub const TOO_FEW: &str = "none: they need 16 blocks of transitions, of at least 32 each";
/// How many coordinates a page shows.
const SHOWN: usize = 12;

/// Intervals of theta by one route.
#[derive(Debug, Serialize)]
struct Route {
    method: &'static str,
    block: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicates: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theta: Option<Vec<f64>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
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

/// Intervals of theta_bar, and the routes that they are made of.
#[derive(Debug, Serialize)]
pub struct Uncertainty {
    confidence: f64,
    meaning: &'static str,
    method: &'static str,
    lower: Vec<f64>,
    upper: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrap: Option<Route>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lstd: Option<Route>,
    /// The mean width of the first over that of the second, for as many samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    width_ratio: Option<f64>,
    /// How far theta_bar is from least squares at most, in standard errors of a coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_from_lstd: Option<f64>,
    /// Whether the two routes agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    agree: Option<bool>,
    /// Whether blocks hold several correlation times.
    blocks_long_enough: bool,
}

impl Uncertainty {
    /// The intervals of a model's theta_bar, if it can tell some.
    pub fn of(model: &Model, theta_bar: &[f64], confidence: f64) -> Option<Self> {
        let intervals = model.intervals()?;
        let method = intervals.method();
        let blocks_long_enough = intervals.blocks_are_long_enough();
        let [lower, upper] = intervals.of_theta(theta_bar, confidence);
        let (bootstrap, estimate) = match intervals {
            Intervals::Bootstrap(bootstrap) => (Some(bootstrap), None),
            Intervals::Both(bootstrap, estimate) => (Some(bootstrap), Some(estimate)),
            Intervals::Sandwich(estimate) => (None, Some(estimate)),
        };
        // On streams theta_bar rests on fewer samples than least squares, and has the larger error.
        let larger = estimate.as_ref().map_or(1.0, |estimate| {
            let own = Choice::samples_of(model).unwrap_or(estimate.samples);
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
            meaning: MEANING,
            method,
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
        Some(found)
    }

    /// Whether the two routes agree in width and place; unknown with one of them.
    fn routes_agree(&self) -> Option<bool> {
        let distance = self.distance_from_lstd?;
        match self.width_ratio {
            Some(ratio) => Some((0.75..=1.34).contains(&ratio) && distance <= 4.0),
            None if distance > 4.0 => Some(false),
            None => None,
        }
    }

    /// Whether the two routes do not agree.
    pub fn is_doubtful(&self) -> bool {
        self.agree == Some(false)
    }

    /// Whether blocks hold several correlation times.
    pub fn blocks_are_long_enough(&self) -> bool {
        self.blocks_long_enough
    }

    /// The table for people.
    pub fn table(&self, theta_bar: &[f64]) -> String {
        let percent = text::number(100.0 * self.confidence);
        let mut page = format!("\n{percent} % intervals ({MEANING})\n");
        for (j, x) in theta_bar.iter().enumerate().take(SHOWN) {
            let [x, low, high] = [*x, self.lower[j], self.upper[j]].map(text::number);
            page += &format!("  theta_{j:<4} {x:<12} {low} to {high}");
            if let (Some(_), Some(lstd)) = (&self.bootstrap, &self.lstd) {
                let own = lstd.theta.as_ref().map_or(f64::NAN, |theta| theta[j]);
                let [x, low, high] = [own, lstd.lower[j], lstd.upper[j]].map(text::number);
                page += &format!(" (least squares: {x}, {low} to {high})");
            }
            page.push('\n');
        }
        if theta_bar.len() > SHOWN {
            page += &format!("  ... {} in all; --json has them\n", theta_bar.len());
        }
        let routes = [&self.bootstrap, &self.lstd];
        for route in routes.into_iter().flatten() {
            let replicates = route
                .replicates
                .map_or(String::new(), |n| format!(", {n} replicates"));
            page += &format!(
                "{}{replicates}, blocks of {} transitions\n",
                route.method, route.block
            );
        }
        if let Some(ratio) = self.width_ratio {
            page += &format!("widths, first over second: {}\n", text::number(ratio));
        }
        if let Some(distance) = self.distance_from_lstd.filter(|d| d.is_finite()) {
            let distance = text::number(distance);
            page +=
                &format!("theta_bar is at most {distance} standard errors from least squares\n");
        }
        if self.is_doubtful() {
            page += &text::wrap("Careful: ", 0, UNCONVERGED);
        } else if self.lstd.is_none() {
            page += &text::wrap("", 0, ONE_ROUTE);
        }
        if !self.blocks_long_enough {
            page += &text::wrap("Careful: ", 0, SHORT_BLOCKS);
        }
        page
    }
}

/// Whether a model would have intervals if it had seen more rows.
pub fn lacks_rows(model: &Model) -> bool {
    let diverged = model.learner().health().diverged();
    model.keeps_errors() && !diverged && model.intervals().is_none()
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
            // A log without noise has one answer, and rounding.
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
