//! Learns from a stream of feature vectors, one by one or in arrays.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use robust_td::{Learner, Transition, registry};
use robust_td_core::learner::LinearValue;
use robust_td_core::registry::AnyLearner;
use robust_td_data::Evaluation;

use crate::error::{raised, refused};
use crate::evaluate::{Options, with_learner};
use crate::rows::{Rows, finite, outcome};

/// A learner of any kind.
#[pyclass(module = "robust_td._native")]
pub struct OnlineTD {
    learner: AnyLearner,
    /// The value function, until the next transition.
    values: Option<LinearValue>,
}

/// The ids, titles and needs of all algorithms.
#[pyfunction]
pub fn algorithms() -> Vec<(&'static str, &'static str, bool)> {
    let methods = registry::METHODS.iter();
    methods
        .map(|method| (method.id, method.title, method.abilities.logs))
        .collect()
}

impl OnlineTD {
    fn check(&self, name: &str, found: usize) -> PyResult<()> {
        let d = self.learner.dimension();
        match found == d {
            true => Ok(()),
            false => Err(refused(format!(
                "{name} has {found} numbers, but the dimension is {d}"
            ))),
        }
    }

    fn values(&mut self) -> &LinearValue {
        let learner = &self.learner;
        self.values.get_or_insert_with(|| learner.value_function())
    }
}

/// One flag for all rows, or one per row.
fn flags<'a>(
    name: &str,
    values: Option<&'a PyReadonlyArray1<'_, bool>>,
    rows: usize,
) -> PyResult<&'a [bool]> {
    let Some(values) = values else {
        return Ok(&[]);
    };
    let values = values.as_slice()?;
    match values.len() == rows {
        true => Ok(values),
        false => Err(refused(format!(
            "{name} has {} rows, but X has {rows}",
            values.len()
        ))),
    }
}

#[pymethods]
impl OnlineTD {
    #[new]
    fn new(
        discount: f64,
        dimension: usize,
        options: Bound<'_, PyDict>,
        parameters: Vec<(String, f64)>,
    ) -> PyResult<Self> {
        if dimension == 0 {
            return Err(refused("dimension is 0, but must be at least 1"));
        }
        let evaluation = Evaluation::online().discount(discount);
        let evaluation = with_learner(evaluation, &Options(options), parameters)?;
        Ok(Self {
            learner: evaluation.learner(dimension).map_err(raised)?,
            values: None,
        })
    }

    /// Learns from one transition.
    #[pyo3(signature = (x, reward, next_x, terminated, truncated, rho))]
    fn learn_one(
        &mut self,
        x: PyReadonlyArray1<'_, f64>,
        reward: f64,
        next_x: Option<PyReadonlyArray1<'_, f64>>,
        terminated: bool,
        truncated: bool,
        rho: f64,
    ) -> PyResult<()> {
        let x = x.as_slice()?;
        self.check("x", x.len())?;
        finite(x, |at| format!("x[{at}]"))?;
        finite(&[reward], |_| "reward".into())?;
        if !(rho >= 0.0 && rho.is_finite()) {
            return Err(refused(format!(
                "rho is {rho}, but must be finite and at least 0"
            )));
        }
        let next = match (&next_x, terminated) {
            (Some(next), _) => next.as_slice()?,
            (None, true) => &[],
            (None, false) => return Err(refused("next_x is required unless terminated is true")),
        };
        if !terminated {
            self.check("next_x", next.len())?;
            finite(next, |at| format!("next_x[{at}]"))?;
        }
        let outcome = outcome(next, terminated, truncated);
        self.values = None;
        self.learner
            .step(&Transition::new(x, reward, outcome).with_ratio(rho));
        Ok(())
    }

    /// Learns from the rows of arrays, in order.
    #[allow(clippy::too_many_arguments)]
    fn learn_many(
        &mut self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        reward: PyReadonlyArray1<'_, f64>,
        next_x: PyReadonlyArray2<'_, f64>,
        terminated: Option<PyReadonlyArray1<'_, bool>>,
        truncated: Option<PyReadonlyArray1<'_, bool>>,
        rho: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let (rows, width) = x.as_array().dim();
        self.check("a row of X", width)?;
        if next_x.as_array().dim() != (rows, width) {
            let (n, d) = next_x.as_array().dim();
            return Err(refused(format!(
                "X_next is {n} x {d}, but X is {rows} x {width}"
            )));
        }
        let (x, reward, next_x) = (x.as_slice()?, reward.as_slice()?, next_x.as_slice()?);
        if reward.len() != rows {
            let found = reward.len();
            return Err(refused(format!(
                "reward has {found} rows, but X has {rows}"
            )));
        }
        let terminated = flags("terminated", terminated.as_ref(), rows)?;
        let truncated = flags("truncated", truncated.as_ref(), rows)?;
        let rho = match &rho {
            Some(rho) => rho.as_slice()?,
            None => &[],
        };
        if !(rho.is_empty() || rho.len() == rows) {
            let found = rho.len();
            return Err(refused(format!("rho has {found} rows, but X has {rows}")));
        }
        let rows = Rows {
            width,
            x,
            reward,
            next: next_x,
            terminated,
            truncated,
            rho,
        };
        self.values = None;
        // Blocks are checked as they come; if a later one is refused, nothing has been learned.
        let mut before = None;
        for block in rows.blocks() {
            if let Err(error) = rows.check(&block) {
                if let Some(learner) = before {
                    self.learner = learner;
                }
                return Err(error);
            }
            if block.end < reward.len() && before.is_none() {
                before = Some(self.learner.clone());
            }
            let learner = &mut self.learner;
            py.detach(|| rows.learn(&block, learner));
            py.check_signals()?;
        }
        Ok(())
    }

    /// Marks the next transition as the start of an episode.
    fn start_episode(&mut self) {
        self.learner.start_episode();
    }

    /// The value of one feature vector.
    fn value_one(&mut self, x: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
        let x = x.as_slice()?;
        self.check("x", x.len())?;
        Ok(self.values().value(x))
    }

    /// The values of the rows of an array.
    fn value_many<'py>(
        &mut self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let width = x.as_array().dim().1;
        self.check("a row of X", width)?;
        let (x, values) = (x.as_slice()?, self.values());
        let found: Vec<f64> = py.detach(|| x.chunks(width).map(|x| values.value(x)).collect());
        Ok(found.into_pyarray(py))
    }

    #[getter]
    fn theta<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.values().theta)
    }

    #[getter]
    fn algorithm(&self) -> &'static str {
        self.learner.id()
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.learner.dimension()
    }

    #[getter]
    fn discount(&self) -> f64 {
        self.learner.discount()
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.learner.steps()
    }

    #[getter]
    fn diverged(&self) -> bool {
        self.learner.health().diverged()
    }

    #[getter]
    fn max_theta_norm_sq(&self) -> f64 {
        self.learner.health().max_theta_norm_sq
    }

    /// Restores what `__reduce__` saved.
    #[staticmethod]
    fn restore(state: &[u8]) -> PyResult<Self> {
        let learner = postcard::from_bytes(state)
            .map_err(|error| refused(format!("this is not a saved learner: {error}")))?;
        Ok(Self {
            learner,
            values: None,
        })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let state = postcard::to_allocvec(&self.learner)
            .map_err(|error| refused(format!("the learner cannot be saved: {error}")))?;
        let state = (PyBytes::new(py, &state),).into_pyobject(py)?;
        Ok((py.get_type::<Self>().getattr("restore")?, state))
    }
}
