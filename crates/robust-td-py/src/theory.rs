//! Computes what is proved about a problem, and exact expectations.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use robust_td::moments::Moments;
use robust_td::schedule::{Constant, RobustConstant, RobustDecay, Schedule};
use robust_td_data::Error as Data;

use crate::error::{raised, refused};
use crate::job;
use crate::problem::Problem;

/// Up to this horizon every step is recorded; beyond, this many per decade.
const MOST_STEPS: u64 = 100_000;
const PER_DECADE: f64 = 200.0;

/// What `certify --json` prints.
#[pyfunction]
pub fn certify(
    py: Python<'_>,
    problem: &Problem,
    horizon: u64,
    c: Option<f64>,
) -> PyResult<String> {
    let inside = problem.inside.clone();
    let text = job::leave(py, move || {
        let certification = inside.certify(horizon, c)?;
        Ok(serde_json::to_string(&certification.report()))
    })?;
    text.map_err(|error| refused(error.to_string()))
}

/// t, E|theta_t|^2, E f(theta_t), E f(average), max_t E|theta_t|^2, the first t that attains it, E theta_T.
type Expected<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    f64,
    f64,
    u64,
    Bound<'py, PyArray1<f64>>,
);

#[derive(Default)]
struct Curve {
    t: Vec<i64>,
    norm_sq: Vec<f64>,
    f: Vec<f64>,
    peak: (u64, f64),
}

impl Curve {
    fn add(&mut self, t: u64, moments: &Moments<'_>, recorded: bool) {
        let norm_sq = moments.mean_norm_sq();
        // NaN counts as larger than every number.
        if norm_sq > self.peak.1 || (norm_sq.is_nan() && !self.peak.1.is_nan()) {
            self.peak = (t, norm_sq);
        }
        if recorded {
            self.t.push(t as i64);
            self.norm_sq.push(norm_sq);
            self.f.push(moments.mean_f());
        }
    }
}

/// The exact expectations of TD(0) from theta_0 = 0.
#[pyfunction]
pub fn expectation<'py>(
    py: Python<'py>,
    problem: &Problem,
    horizon: u64,
    c: f64,
    schedule: &str,
    tell: Option<Py<PyAny>>,
) -> PyResult<Expected<'py>> {
    let inside = problem.inside.clone();
    let phi_inf = inside.phi_inf();
    let steps: Box<dyn Schedule + Send + Sync> = match schedule {
        "decaying" => Box::new(RobustDecay::new(horizon, c, phi_inf).map_err(raised)?),
        "constant" => Box::new(RobustConstant::new(horizon, c, phi_inf).map_err(raised)?),
        "plain" => Box::new(Constant::new(c).map_err(raised)?),
        other => {
            return Err(refused(format!(
                "schedule is {other:?}, but must be \"decaying\", \"constant\" or \"plain\""
            )));
        }
    };
    let (curve, average, mean) = job::run(py, tell.as_ref(), |watch| {
        let mut moments = Moments::new(&inside);
        let mut curve = Curve::default();
        curve.add(0, &moments, true);
        let mut next = 1;
        for t in 1..=horizon {
            if watch.monitor.is_cancelled() {
                return Err(Data::Cancelled.into());
            }
            moments.step(steps.step_size(t - 1));
            let recorded = t == next || t == horizon;
            curve.add(t, &moments, recorded);
            if t == next {
                next = match horizon <= MOST_STEPS {
                    true => t + 1,
                    false => (t + 1).max((t as f64 * 10_f64.powf(1.0 / PER_DECADE)) as u64),
                };
            }
            if t % 64 == 0 {
                watch.progress(robust_td::Progress {
                    done: t,
                    total: horizon,
                });
            }
        }
        Ok((curve, moments.mean_f_of_average(), moments.mean_theta()))
    })?;
    Ok((
        curve.t.into_pyarray(py),
        curve.norm_sq.into_pyarray(py),
        curve.f.into_pyarray(py),
        average,
        curve.peak.1,
        curve.peak.0,
        mean.into_pyarray(py),
    ))
}
