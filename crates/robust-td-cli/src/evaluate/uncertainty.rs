//! Says which constant the data chose, and how sure the answer is.

use robust_td::learner::{AnyLearner, Features};
use robust_td::portfolio::Answer;
use robust_td::sandwich::Estimate;
use robust_td_data::{Intervals, Model};
use serde::Serialize;

use crate::text;

/// What intervals do and do not say.
const MEANING: &str =
    "sampling error around the TD fixed point; not the approximation error of the features";
/// What it means when the two routes differ.
pub const UNCONVERGED: &str = "the two routes differ: most likely theta_bar has not converged, in directions in which the features hardly \
    vary if the log is long, and then the bootstrap's intervals are too narrow. More data bring them together; --algorithm lstd does \
    not step and has the second kind of interval.";
/// What to do when there is one route only.
const ONE_ROUTE: &str = "Least squares was not run (more than 64 features, or too few rows), so nothing says whether theta_bar has \
    converged: --sandwich takes up to 500 features.";
/// How many coordinates a page shows.
const SHOWN: usize = 12;

/// The choice of the portfolio.
#[derive(Debug, Serialize)]
pub struct Choice {
    c: f64,
    samples: u64,
    portfolio: Vec<Lane>,
}

/// One constant.
#[derive(Debug, Serialize)]
struct Lane {
    c: f64,
    residual: Option<f64>,
    bounded: bool,
    retired_at: Option<u64>,
    max_theta_norm_sq: f64,
}

impl Choice {
    /// The choice of a model, if it has one.
    pub fn of(model: &Model) -> Option<Self> {
        let AnyLearner::Auto(learner) = model.learner() else {
            return None;
        };
        let Answer {
            c, samples, lanes, ..
        } = learner.answer();
        let lane = |lane: &robust_td::portfolio::LaneReport| Lane {
            c: lane.c,
            residual: lane.residual,
            bounded: lane.retired_at.is_none(),
            retired_at: lane.retired_at,
            max_theta_norm_sq: lane.max_theta_norm_sq,
        };
        Some(Self {
            c,
            samples,
            portfolio: lanes.iter().map(lane).collect(),
        })
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        let retired = self.portfolio.iter().filter(|lane| !lane.bounded).count();
        let bounded = self.portfolio.len() - retired;
        let c = text::number(self.c);
        if bounded == 0 {
            return format!(
                "all {retired} constants were retired: none gives an answer to rely on"
            );
        }
        format!(
            "c = {c}, the smallest residual of {bounded} that stayed bounded ({retired} retired), on {}",
            text::count(self.samples as usize, "transition")
        )
    }

    /// The table for people.
    pub fn table(&self) -> String {
        let mut page = String::from("\nc          residual   largest |theta|^2\n");
        for lane in &self.portfolio {
            let residual = match (lane.retired_at, lane.residual) {
                (Some(step), _) => format!("retired at {step}"),
                (None, Some(residual)) => {
                    let mark = if lane.c == self.c { " <" } else { "" };
                    let norm = text::number(lane.max_theta_norm_sq);
                    format!("{:<10} {norm}{mark}", text::number(residual))
                }
                (None, None) => "not measured yet".into(),
            };
            page += &format!("{:<10} {residual}\n", text::number(lane.c));
        }
        page
    }
}

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

/// Intervals of theta by the routes that there are.
#[derive(Debug, Serialize)]
pub struct Uncertainty {
    confidence: f64,
    meaning: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrap: Option<Route>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lstd: Option<Route>,
    /// The mean width of the first over that of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    width_ratio: Option<f64>,
    /// How far theta_bar is from least squares at most, in standard errors of a coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_from_lstd: Option<f64>,
    /// Whether the two routes agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    agree: Option<bool>,
}

impl Uncertainty {
    /// The intervals of a model's theta_bar, if it can tell some.
    pub fn of(model: &Model, theta_bar: &[f64], confidence: f64) -> Option<Self> {
        let least_squares = model.least_squares();
        let distance = least_squares.as_ref().map(|e| distance(e, theta_bar));
        let lstd = least_squares.map(|estimate| {
            let (theta, block) = (estimate.theta.clone(), estimate.block);
            let intervals = Intervals::Sandwich(estimate);
            let [lower, upper] = intervals.of_theta(&theta, confidence);
            Route {
                method: intervals.method(),
                block,
                replicates: None,
                theta: Some(theta),
                lower,
                upper,
            }
        });
        let bootstrap = model.intervals().and_then(|intervals| {
            let Intervals::Bootstrap(bootstrap) = &intervals else {
                return None;
            };
            let [lower, upper] = intervals.of_theta(theta_bar, confidence);
            Some(Route {
                method: intervals.method(),
                block: bootstrap.block,
                replicates: Some(bootstrap.replicates()),
                theta: None,
                lower,
                upper,
            })
        });
        if bootstrap.is_none() && lstd.is_none() {
            return None;
        }
        let both = bootstrap.as_ref().zip(lstd.as_ref());
        let mut found = Self {
            confidence,
            meaning: MEANING,
            width_ratio: both.and_then(|(x, y)| width_ratio(x, y)),
            distance_from_lstd: distance.filter(|_| bootstrap.is_some()),
            bootstrap,
            lstd,
            agree: None,
        };
        found.agree = found.routes_agree();
        Some(found)
    }

    /// Whether the two routes agree in width and place; unknown with one of them.
    fn routes_agree(&self) -> Option<bool> {
        let (ratio, distance) = (self.width_ratio?, self.distance_from_lstd?);
        Some((0.75..=1.34).contains(&ratio) && distance <= 4.0)
    }

    /// Whether the two routes do not agree.
    pub fn is_doubtful(&self) -> bool {
        self.agree == Some(false)
    }

    /// The table for people.
    pub fn table(&self, theta_bar: &[f64]) -> String {
        let percent = text::number(100.0 * self.confidence);
        let mut page = format!("\n{percent} % intervals ({MEANING})\n");
        let routes = [&self.bootstrap, &self.lstd];
        for route in routes.into_iter().flatten() {
            let replicates = route
                .replicates
                .map_or(String::new(), |n| format!(", {n} replicates"));
            page += &format!(
                "{}{replicates}, blocks of {} transitions\n",
                route.method, route.block
            );
            let theta = route.theta.as_deref().unwrap_or(theta_bar);
            for (j, x) in theta.iter().enumerate().take(SHOWN) {
                let [x, low, high] = [*x, route.lower[j], route.upper[j]].map(text::number);
                page += &format!("  theta_{j:<4} {x:<12} {low} to {high}\n");
            }
            if theta.len() > SHOWN {
                page += &format!("  ... {} in all; --json has them\n", theta.len());
            }
        }
        if let Some(ratio) = self.width_ratio {
            page += &format!("widths, first over second: {}\n", text::number(ratio));
        }
        if let Some(distance) = self.distance_from_lstd {
            let distance = text::number(distance);
            page +=
                &format!("theta_bar is at most {distance} standard errors from least squares\n");
        }
        if self.is_doubtful() {
            page += &text::wrap("Careful: ", 0, UNCONVERGED);
        } else if self.agree.is_none() && self.bootstrap.is_some() {
            page += &text::wrap("", 0, ONE_ROUTE);
        }
        page
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
        let error = estimate.standard_error(unit);
        if error > 0.0 && error.is_finite() {
            (x - estimate.theta[j]).abs() / error
        } else {
            0.0
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
