//! Converts the Arrow types of data frames to the few that a column of a log can have.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, Float64Array, GenericListArray, Int64Array, ListArray, OffsetSizeTrait,
    StringArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use crate::read::arrow_column::{to_f64, to_i64};

/// The type that [`plain`] converts an array of this type to.
pub(crate) fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        // A column without a value is read as missing numbers.
        DataType::Null => DataType::Float64,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let item = plain_type(item.data_type());
            DataType::List(Arc::new(Field::new("item", item, true)))
        }
        DataType::Dictionary(_, values) => match plain_type(values) {
            DataType::Utf8 => DataType::Utf8,
            values if values.is_integer() => DataType::Int64,
            values if values.is_floating() => DataType::Float64,
            other => other,
        },
        other => other.clone(),
    }
}

/// The same values in a plain type; arrays of other types are returned as they are.
pub(crate) fn plain(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::LargeUtf8 => Arc::new(array.as_string::<i64>().iter().collect::<StringArray>()),
        DataType::Utf8View => Arc::new(array.as_string_view().iter().collect::<StringArray>()),
        DataType::Null => Arc::new(Float64Array::new_null(array.len())),
        DataType::List(_) => list(array.as_list::<i32>()),
        DataType::LargeList(_) => list(array.as_list::<i64>()),
        DataType::FixedSizeList(_, width) => {
            let lists = array.as_fixed_size_list();
            let width = usize::try_from(*width).unwrap_or(0);
            let offsets = (0..=lists.len()).map(|i| (i * width) as i32);
            of_lists(offsets.collect(), lists.values(), lists)
        }
        DataType::Dictionary(..) => decoded(array),
        _ => array.clone(),
    }
}

/// Lists with the values of these rows only.
fn list<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> ArrayRef {
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0].as_usize(), offsets[lists.len()].as_usize());
    let own = offsets.iter().map(|at| (at.as_usize() - first) as i32);
    let values = lists.values().slice(first, last - first);
    of_lists(own.collect(), &values, lists)
}

fn of_lists(offsets: Vec<i32>, values: &ArrayRef, lists: &dyn Array) -> ArrayRef {
    let values = plain(values);
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Arc::new(ListArray::new(
        item,
        offsets,
        values,
        lists.nulls().cloned(),
    ))
}

/// The values that the keys of a dictionary stand for.
fn decoded(array: &ArrayRef) -> ArrayRef {
    let dictionary = array.as_any_dictionary();
    let values = plain(dictionary.values());
    let (keys, valid) = (dictionary.normalized_keys(), dictionary.keys());
    let present = |i: usize, key: usize| valid.is_valid(i) && values.is_valid(key);
    let pairs = || keys.iter().copied().enumerate();
    if values.is_empty() {
        return Arc::new(Float64Array::new_null(array.len()));
    }
    match values.data_type() {
        DataType::Utf8 => {
            let text = values.as_string::<i32>();
            let cells = pairs().map(|(i, key)| present(i, key).then(|| text.value(key)));
            Arc::new(cells.collect::<StringArray>())
        }
        kind if kind.is_integer() => {
            let mut numbers = Vec::new();
            to_i64(&values, &mut numbers);
            let cells = pairs().map(|(i, key)| present(i, key).then(|| numbers[key]));
            Arc::new(cells.collect::<Int64Array>())
        }
        kind if kind.is_floating() => {
            let mut numbers = Vec::new();
            to_f64(&values, &mut numbers);
            let cells = pairs().map(|(i, key)| present(i, key).then(|| numbers[key]));
            Arc::new(cells.collect::<Float64Array>())
        }
        _ => array.clone(),
    }
}
