//! Holds a log in memory for Python: an Arrow stream, or arrays that the package has prepared.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, Float64Array, PrimitiveArray, RecordBatchReader, StringArray,
    types,
};
use arrow_buffer::NullBuffer;
use numpy::{Element, PyArrayDyn, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{raised, refused};
use crate::foreign;

/// A log in memory.
#[pyclass(frozen, module = "robust_td._native")]
pub struct Table {
    pub inside: robust_td_data::Table,
}

#[pymethods]
impl Table {
    /// The rows of a capsule of `__arrow_c_stream__`.
    #[staticmethod]
    fn of_stream(py: Python<'_>, capsule: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let reader = foreign::stream(capsule)?;
        // The stream may take the lock itself.
        let collect = || robust_td_data::Table::collect(reader.schema(), reader);
        // The Arrow library panics on batches that do not fit their schema; nothing of them is used then.
        let inside = py.detach(|| catch_unwind(AssertUnwindSafe(collect)));
        let inside = inside.map_err(|_| {
            refused("the Arrow stream is damaged: a batch does not have the types of its schema")
        })?;
        Ok(Self {
            inside: inside.map_err(raised)?,
        })
    }

    /// Columns (name, values, valid): arrays of float64, uint8, int64 or uint64, or lists of texts. A matrix is one vector per
    /// row. `valid` is `None`, or says which numbers there are.
    #[staticmethod]
    fn of_columns(
        columns: Vec<(String, Bound<'_, PyAny>, Option<PyReadonlyArray1<'_, bool>>)>,
    ) -> PyResult<Self> {
        let mut inside = robust_td_data::Table::default();
        for (name, values, valid) in columns {
            let valid = match valid {
                Some(valid) => Some(NullBuffer::from(valid.as_slice()?)),
                None => None,
            };
            let column = column(&name, &values, valid)?;
            inside = inside.column(name, column).map_err(raised)?;
        }
        Ok(Self { inside })
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.inside.rows()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        let fields = self.inside.schema().fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }
}

fn column(name: &str, values: &Bound<'_, PyAny>, valid: Option<NullBuffer>) -> PyResult<ArrayRef> {
    if let Ok(array) = values.cast::<PyArrayDyn<f64>>() {
        let numbers: ArrayRef = Arc::new(Float64Array::new(foreign::shared(array)?, valid));
        return match array.shape() {
            [_] => Ok(numbers),
            [_, width] => robust_td_data::vectors(numbers, *width).map_err(raised),
            _ => Err(refused(format!(
                "the column {name} has more than two dimensions"
            ))),
        };
    }
    if let Some(found) = plain::<types::UInt8Type>(values, &valid)? {
        return Ok(found);
    }
    if let Some(found) = plain::<types::Int64Type>(values, &valid)? {
        return Ok(found);
    }
    if let Some(found) = plain::<types::UInt64Type>(values, &valid)? {
        return Ok(found);
    }
    let texts: Vec<Option<String>> = values.extract()?;
    Ok(Arc::new(StringArray::from(texts)))
}

/// The column of an array of this type.
fn plain<T>(values: &Bound<'_, PyAny>, valid: &Option<NullBuffer>) -> PyResult<Option<ArrayRef>>
where
    T: ArrowPrimitiveType,
    T::Native: Element,
{
    let Ok(array) = values.cast::<PyArrayDyn<T::Native>>() else {
        return Ok(None);
    };
    let numbers = foreign::shared(array)?;
    Ok(Some(Arc::new(PrimitiveArray::<T>::new(
        numbers,
        valid.clone(),
    ))))
}
