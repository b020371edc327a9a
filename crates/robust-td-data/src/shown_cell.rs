//! Writes a cell of an Arrow array as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float32Type,
    Float64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use crate::read::{integers, quantities};

/// The text of a cell, which reads back as the same value; empty if it is missing.
///
/// # Errors
/// Names a type that has no text.
pub(crate) fn text(array: &ArrayRef, i: usize) -> Result<String, String> {
    if array.is_null(i) {
        return Ok(String::new());
    }
    Ok(match array.data_type() {
        DataType::Null => String::new(),
        DataType::Utf8 => array.as_string::<i32>().value(i).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(i).into(),
        DataType::Utf8View => array.as_string_view().value(i).into(),
        DataType::Boolean => array.as_boolean().value(i).to_string(),
        DataType::Float64 => format!("{:?}", array.as_primitive::<Float64Type>().value(i)),
        DataType::Float32 => format!("{:?}", array.as_primitive::<Float32Type>().value(i)),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(i).to_string(),
        kind if kind.is_integer() => {
            let mut number = Vec::new();
            integers(&array.slice(i, 1), &mut number);
            number.first().map_or_else(String::new, ToString::to_string)
        }
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(i),
        DataType::Decimal256(..) => array.as_primitive::<Decimal256Type>().value_as_string(i),
        DataType::Timestamp(unit, zone) => {
            let instant = match unit {
                TimeUnit::Second => instant::<TimestampSecondType>(array, i),
                TimeUnit::Millisecond => instant::<TimestampMillisecondType>(array, i),
                TimeUnit::Microsecond => instant::<TimestampMicrosecondType>(array, i),
                TimeUnit::Nanosecond => instant::<TimestampNanosecondType>(array, i),
            };
            // Instants with a time zone are stored in UTC.
            instant.replace(' ', "T") + if zone.is_some() { "Z" } else { "" }
        }
        DataType::Date32 => {
            let date = array.as_primitive::<Date32Type>().value_as_date(i);
            date.map_or_else(String::new, |date| date.to_string())
        }
        DataType::Date64 => {
            let date = array.as_primitive::<Date64Type>().value_as_date(i);
            date.map_or_else(String::new, |date| date.to_string())
        }
        DataType::List(_) => {
            let values = array.as_list::<i32>().value(i);
            let entries = (0..values.len()).map(|k| text(&values, k));
            format!("[{}]", entries.collect::<Result<Vec<_>, _>>()?.join(", "))
        }
        // Times of the day and durations: seconds.
        DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_) => {
            let mut seconds = Vec::new();
            quantities(&array.slice(i, 1), &mut seconds);
            seconds
                .first()
                .map_or_else(String::new, |x| format!("{x:?}"))
        }
        other => return Err(other.to_string()),
    })
}

fn instant<T: ArrowTimestampType>(array: &ArrayRef, i: usize) -> String {
    let instant = array.as_primitive::<T>().value_as_datetime(i);
    instant.map_or_else(String::new, |instant| instant.to_string())
}
