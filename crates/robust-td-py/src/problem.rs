//! Shows a problem, from the catalog, a file or arrays, to Python.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use robust_td::catalog::Setting;
use robust_td::{Chain, Matrix, ProblemReport, Reward, SparseMatrix};

use crate::error::{raised, refused};
use crate::job;

/// A Markov reward process with linear features.
#[pyclass(frozen, module = "robust_td._native")]
pub struct Problem {
    pub inside: Arc<robust_td::Problem>,
    pub name: String,
    pub settings: Vec<(String, Setting)>,
}

/// A number or a word, as Python has it.
#[derive(FromPyObject, IntoPyObject)]
pub enum Given {
    Number(f64),
    Word(String),
}

impl From<Given> for Setting {
    fn from(given: Given) -> Self {
        match given {
            Given::Number(number) => number.into(),
            Given::Word(word) => word.as_str().into(),
        }
    }
}

impl From<&Setting> for Given {
    fn from(setting: &Setting) -> Self {
        match setting {
            Setting::Number(number) => Self::Number(*number),
            Setting::Word(word) => Self::Word(word.clone()),
        }
    }
}

/// A catalog problem with its parameters, or the problem in a TOML file.
#[pyfunction]
pub fn problem(py: Python<'_>, name: String, settings: Vec<(String, Given)>) -> PyResult<Problem> {
    let settings = settings.into_iter();
    let settings: Vec<_> = settings.map(|(key, value)| (key, value.into())).collect();
    let (of, with) = (name.clone(), settings.clone());
    let inside = job::leave(py, move || robust_td::problem(&of, &with))?;
    Ok(Problem {
        inside: Arc::new(inside),
        name,
        settings,
    })
}

/// What `problems --json` lists: the catalog.
#[pyfunction]
pub fn catalog() -> PyResult<String> {
    let entries = robust_td::catalog::entries();
    serde_json::to_string(entries).map_err(|error| refused(error.to_string()))
}

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix> {
    let view = array.as_array();
    let (rows, columns) = view.dim();
    Matrix::new(rows, columns, array.as_slice()?.to_vec()).map_err(raised)
}

/// A sparse n x n matrix: n, rows, columns, values.
type Triplets<'py> = (
    usize,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
);

fn sparse(
    what: &'static str,
    (size, rows, columns, values): &Triplets<'_>,
) -> PyResult<SparseMatrix> {
    let index = |at: &i64| usize::try_from(*at).unwrap_or(usize::MAX);
    let rows = rows.as_slice()?.iter().map(index);
    let places = rows.zip(columns.as_slice()?.iter().map(index));
    let entries = places.zip(values.as_slice()?.iter().copied());
    let triplets = entries.map(|((row, column), value)| (row, column, value));
    SparseMatrix::from_triplets(what, *size, triplets).map_err(raised)
}

/// Transitions: from, to, probability, reward.
type Edges<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

#[derive(FromPyObject)]
enum Square<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(Triplets<'py>),
}

#[derive(FromPyObject)]
enum Rewards<'py> {
    PerState(PyReadonlyArray1<'py, f64>),
    PerTransition(PyReadonlyArray2<'py, f64>),
    Sparse(Triplets<'py>),
}

#[pymethods]
impl Problem {
    /// A problem from arrays.
    #[staticmethod]
    fn of_arrays(
        py: Python<'_>,
        transition: Square<'_>,
        reward: Rewards<'_>,
        features: PyReadonlyArray2<'_, f64>,
        discount: f64,
        start: usize,
    ) -> PyResult<Self> {
        let transition = match &transition {
            Square::Dense(dense) => SparseMatrix::from_dense(&square(matrix(dense)?)?),
            Square::Sparse(triplets) => sparse("transition", triplets)?,
        };
        let reward = match &reward {
            Rewards::PerState(values) => Reward::PerState(values.as_slice()?.to_vec()),
            Rewards::PerTransition(values) => Reward::PerTransition(matrix(values)?),
            Rewards::Sparse(triplets) => Reward::Sparse(sparse("reward", triplets)?),
        };
        let features = matrix(&features)?;
        let inside = job::leave(py, move || {
            let chain = Chain::from_sparse(transition)?;
            Ok(robust_td::Problem::new(
                chain, features, reward, discount, start,
            )?)
        })?;
        Ok(Self {
            inside: Arc::new(inside),
            name: "problem".into(),
            settings: Vec::new(),
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn settings(&self) -> Vec<(String, Given)> {
        let settings = self.settings.iter();
        settings
            .map(|(key, value)| (key.clone(), value.into()))
            .collect()
    }

    #[getter]
    fn states(&self) -> usize {
        self.inside.states()
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.inside.dimension()
    }

    #[getter]
    fn discount(&self) -> f64 {
        self.inside.discount()
    }

    #[getter]
    fn start(&self) -> usize {
        self.inside.start()
    }

    #[getter]
    fn omega(&self) -> f64 {
        self.inside.omega()
    }

    #[getter]
    fn kappa(&self) -> f64 {
        self.inside.kappa()
    }

    #[getter]
    fn phi_inf(&self) -> f64 {
        self.inside.phi_inf()
    }

    #[getter]
    fn r_inf(&self) -> f64 {
        self.inside.r_inf()
    }

    #[getter]
    fn f_zero(&self) -> f64 {
        self.inside.f_zero()
    }

    #[getter]
    fn theta_star<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inside.theta_star())
    }

    #[getter]
    fn stationary<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inside.stationary())
    }

    #[getter]
    fn true_values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.inside.true_values())
    }

    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let features = self.inside.features();
        let flat = PyArray1::from_slice(py, features.as_slice());
        flat.reshape([features.rows(), features.columns()])
    }

    /// The transitions: from, to, probability, reward.
    fn edges<'py>(&self, py: Python<'py>) -> Edges<'py> {
        let edges: Vec<_> = self.inside.edges().collect();
        (
            PyArray1::from_iter(py, edges.iter().map(|edge| edge.from as i64)),
            PyArray1::from_iter(py, edges.iter().map(|edge| edge.to as i64)),
            PyArray1::from_iter(py, edges.iter().map(|edge| edge.probability)),
            PyArray1::from_iter(py, edges.iter().map(|edge| edge.reward)),
        )
    }

    /// The potential f(theta).
    fn f(&self, theta: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
        let (theta, d) = (theta.as_slice()?, self.inside.dimension());
        if theta.len() != d {
            let found = theta.len();
            return Err(refused(format!(
                "theta has {found} entries, but the problem has {d} features"
            )));
        }
        Ok(self.inside.f(theta))
    }

    /// What `problems NAME --json` prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let (inside, name) = (self.inside.clone(), self.name.clone());
        let text = job::leave(py, move || {
            let report = ProblemReport::new(&name, &inside)?;
            Ok(serde_json::to_string(&report))
        })?;
        text.map_err(|error| refused(error.to_string()))
    }
}

fn square(matrix: Matrix) -> PyResult<Matrix> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    match rows == columns {
        true => Ok(matrix),
        false => Err(refused(format!(
            "the transition matrix is {rows} x {columns}, but must be square"
        ))),
    }
}
