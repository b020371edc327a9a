//! Converts decimals, times and dates to numbers; times to seconds, instants since 1970-01-01 UTC.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

/// Powers of ten up to this one are exact.
const EXACT_POWER: i8 = 22;
/// From here on not every integer is a f64.
const INTEGERS: i128 = 1 << 53;
/// The seconds of a day.
const DAY: i64 = 86_400;

/// Whether a column of this type is converted to numbers.
pub(crate) fn is_quantity(data_type: &DataType) -> bool {
    is_time(data_type)
        || matches!(
            data_type,
            DataType::Decimal32(..)
                | DataType::Decimal64(..)
                | DataType::Decimal128(..)
                | DataType::Decimal256(..)
        )
}

/// Whether a column of this type is converted to seconds.
pub(crate) fn is_time(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Timestamp(..)
            | DataType::Date32
            | DataType::Date64
            | DataType::Duration(_)
            | DataType::Time32(_)
            | DataType::Time64(_)
    )
}

/// What the seconds of a column of times count from.
pub(crate) fn origin(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Duration(_) => "seconds",
        DataType::Time32(_) | DataType::Time64(_) => "seconds since midnight",
        _ => "seconds since 1970-01-01 UTC",
    }
}

/// Adds the numbers of an array; false if it has another type.
pub(crate) fn to_f64(array: &ArrayRef, out: &mut Vec<f64>) -> bool {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match array.data_type() {
        DataType::Decimal32(_, scale) => {
            convert::<Decimal32Type>(array, out, |v| decimal(i128::from(v), *scale));
        }
        DataType::Decimal64(_, scale) => {
            convert::<Decimal64Type>(array, out, |v| decimal(i128::from(v), *scale));
        }
        DataType::Decimal128(_, scale) => {
            convert::<Decimal128Type>(array, out, |v| decimal(v, *scale));
        }
        DataType::Decimal256(_, scale) => {
            convert::<Decimal256Type>(array, out, |v| match v.to_i128() {
                Some(v) => decimal(v, *scale),
                None => of_text(&v.to_string(), *scale),
            });
        }
        DataType::Timestamp(unit, _) => match unit {
            Second => times::<TimestampSecondType>(array, out, 1),
            Millisecond => times::<TimestampMillisecondType>(array, out, 1_000),
            Microsecond => times::<TimestampMicrosecondType>(array, out, 1_000_000),
            Nanosecond => times::<TimestampNanosecondType>(array, out, 1_000_000_000),
        },
        DataType::Duration(unit) => match unit {
            Second => times::<DurationSecondType>(array, out, 1),
            Millisecond => times::<DurationMillisecondType>(array, out, 1_000),
            Microsecond => times::<DurationMicrosecondType>(array, out, 1_000_000),
            Nanosecond => times::<DurationNanosecondType>(array, out, 1_000_000_000),
        },
        DataType::Time64(Microsecond) => times::<Time64MicrosecondType>(array, out, 1_000_000),
        DataType::Time64(_) => times::<Time64NanosecondType>(array, out, 1_000_000_000),
        DataType::Date64 => times::<Date64Type>(array, out, 1_000),
        DataType::Time32(Millisecond) => {
            convert::<Time32MillisecondType>(array, out, |v| seconds(i64::from(v), 1_000));
        }
        DataType::Time32(_) => convert::<Time32SecondType>(array, out, f64::from),
        DataType::Date32 => convert::<Date32Type>(array, out, |v| (i64::from(v) * DAY) as f64),
        _ => return false,
    }
    true
}

fn convert<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    out: &mut Vec<f64>,
    number: impl Fn(T::Native) -> f64,
) {
    out.extend(
        array
            .as_primitive::<T>()
            .values()
            .iter()
            .map(|&v| number(v)),
    );
}

fn times<T: ArrowPrimitiveType<Native = i64>>(
    array: &ArrayRef,
    out: &mut Vec<f64>,
    per_second: i64,
) {
    convert::<T>(array, out, |v| seconds(v, per_second));
}

/// The seconds of a time in parts of a second.
fn seconds(value: i64, per_second: i64) -> f64 {
    let (whole, part) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    whole as f64 + part as f64 / per_second as f64
}

/// The number nearest to value / 10^scale: the one that its text is read as.
fn decimal(value: i128, scale: i8) -> f64 {
    if value.abs() < INTEGERS && scale.abs() <= EXACT_POWER {
        // Both are exact, so the quotient or product is rounded once.
        let power = 10_f64.powi(i32::from(scale.abs()));
        return match scale < 0 {
            true => value as f64 * power,
            false => value as f64 / power,
        };
    }
    of_text(&value.to_string(), scale)
}

fn of_text(digits: &str, scale: i8) -> f64 {
    let text = format!("{digits}e{}", -i32::from(scale));
    fast_float2::parse(text.as_bytes()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_what_their_text_is() {
        for (value, scale, text) in [
            (1234, 2, "12.34"),
            (-1, 1, "-0.1"),
            (123_456_789_012_345_678_901, 10, "12345678901.2345678901"),
            (5, -3, "5000"),
            (9_007_199_254_740_993, 0, "9007199254740993"),
            (3, 30, "3e-30"),
        ] {
            assert_eq!(
                decimal(value, scale),
                text.parse::<f64>().unwrap(),
                "{text}"
            );
        }
    }

    #[test]
    fn times_are_seconds() {
        assert_eq!(seconds(1_500, 1_000), 1.5);
        assert_eq!(seconds(-500, 1_000), -0.5);
        let now = 1_700_000_000_123_456_789;
        assert_eq!(seconds(now, 1_000_000_000), 1_700_000_000.123_456_8);
    }
}
