//! Takes memory of other libraries without copying it: Arrow streams and NumPy arrays.
//!
//! This file has the only unsafe code outside robust-td-simd: both interfaces hand over raw pointers, which no safe function of
//! their crates accepts.

use std::panic::RefUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::refused;

/// The stream in a capsule of `__arrow_c_stream__`, which is empty afterwards.
pub fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<ArrowArrayStreamReader> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: the name of the capsule, which was just checked, promises that it points to a valid ArrowArrayStream; the interpreter
    // is locked, so nothing else moves it out at the same time. `from_raw` leaves an empty stream behind, which the capsule's
    // destructor accepts.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    ArrowArrayStreamReader::try_new(stream).map_err(|error| refused(error.to_string()))
}

/// Keeps an array alive while its memory is used.
struct Owner {
    /// Only dropped.
    _array: Py<PyAny>,
}

impl RefUnwindSafe for Owner {}

/// The memory of an array that is C-contiguous and aligned, shared with it.
///
/// As with every library that computes without the interpreter's lock, the result is undefined numbers if another thread
/// writes to the array meanwhile.
pub fn shared<T: Element + ArrowNativeType>(
    array: &Bound<'_, PyArrayDyn<T>>,
) -> PyResult<ScalarBuffer<T>> {
    let pointer = array.data();
    if !array.is_c_contiguous() || !pointer.is_aligned() {
        return Err(refused("the array is not contiguous"));
    }
    let Some(start) = NonNull::new(pointer.cast::<u8>()).filter(|_| array.len() > 0) else {
        return Ok(ScalarBuffer::from(Vec::new()));
    };
    let owner = Owner {
        _array: array.clone().into_any().unbind(),
    };
    // SAFETY: a contiguous array has `len` elements of T from `data` on, and the owner keeps that memory alive until the buffer is
    // dropped: NumPy refuses to resize an array that is referenced elsewhere. The buffer is only read.
    let buffer = unsafe {
        Buffer::from_custom_allocation(start, array.len() * size_of::<T>(), Arc::new(owner))
    };
    Ok(ScalarBuffer::new(buffer, 0, array.len()))
}
