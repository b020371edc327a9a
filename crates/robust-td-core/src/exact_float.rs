//! Serializes f64 values bit-exactly, in text and binary formats.
//!
//! Use as `#[serde(with = "crate::exact_float")]` on a field of type `f64`, `Vec<f64>` or `Option<f64>`.
//!
//! | value | human-readable formats (JSON, TOML) | binary formats (postcard) |
//! |---|---|---|
//! | finite, also -0.0 | a number, shortest form that round-trips | the eight bytes |
//! | +-infinity | `"inf"`, `"-inf"` | the eight bytes |
//! | NaN | `"nan:"` and its 16 hexadecimal digits, so that sign and payload survive | the eight bytes |
//!
//! A diverged learner holds such values, and restoring it must be bit-exact. With `serde_json` the reader
//! needs the feature `float_roundtrip`; without it finite numbers can be off by one unit in the last place.

use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

/// Types that this module can serialize: `f64` and its containers.
pub trait ExactFloat: Sized {
    /// Writes every bit of the value.
    ///
    /// # Errors
    /// Those of the format.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads what [`ExactFloat::write`] wrote.
    ///
    /// # Errors
    /// Those of the format, and any string that is not one of the forms above.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Serializes a field; called by `#[serde(with = "crate::exact_float")]`.
///
/// # Errors
/// Those of the format.
pub fn serialize<T: ExactFloat, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.write(serializer)
}

/// Deserializes a field; called by `#[serde(with = "crate::exact_float")]`.
///
/// # Errors
/// Those of the format, and any string that is not one of the forms above.
pub fn deserialize<'de, T: ExactFloat, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::read(deserializer)
}

/// Reads a number of a report, in which `null` stands for those that are not finite: NaN.
///
/// # Errors
/// Those of the format.
pub fn or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match deserializer.is_human_readable() {
        true => Option::deserialize(deserializer).map(|number| number.unwrap_or(f64::NAN)),
        false => f64::deserialize(deserializer),
    }
}

impl ExactFloat for f64 {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_finite() || !serializer.is_human_readable() {
            serializer.serialize_f64(*self)
        } else if self.is_nan() {
            serializer.collect_str(&format_args!("nan:{:016x}", self.to_bits()))
        } else {
            serializer.serialize_str(if *self > 0.0 { "inf" } else { "-inf" })
        }
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(FloatOrName)
        } else {
            f64::deserialize(deserializer)
        }
    }
}

impl ExactFloat for Vec<f64> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().copied().map(Exact))
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::<Exact>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|Exact(value)| value).collect())
    }
}

impl ExactFloat for Option<f64> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.map(Exact).serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Exact>::deserialize(deserializer)?.map(|Exact(value)| value))
    }
}

/// One element of a container.
struct Exact(f64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::read(deserializer).map(Exact)
    }
}

/// Reads a number or the name of a non-finite value.
struct FloatOrName;

impl Visitor<'_> for FloatOrName {
    type Value = f64;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(r#"a number, "inf", "-inf" or "nan:" with 16 hexadecimal digits"#)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    // A hand-written file may contain 1 instead of 1.0.
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        let value = match text {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            _ => text
                .strip_prefix("nan:")
                .filter(|digits| {
                    digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit())
                })
                .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                .map(f64::from_bits)
                .filter(|value| value.is_nan()),
        };
        value.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize)]
    struct Record {
        #[serde(with = "crate::exact_float")]
        one: f64,
        #[serde(with = "crate::exact_float")]
        many: Vec<f64>,
        #[serde(with = "crate::exact_float")]
        perhaps: Option<f64>,
    }

    impl Record {
        fn bits(&self) -> (u64, Vec<u64>, Option<u64>) {
            let many = self.many.iter().map(|x| x.to_bits()).collect();
            (self.one.to_bits(), many, self.perhaps.map(f64::to_bits))
        }
    }

    fn assert_round_trips(record: &Record) {
        let json = serde_json::to_string(record).unwrap();
        assert_eq!(
            serde_json::from_str::<Record>(&json).unwrap().bits(),
            record.bits(),
            "{json}"
        );
        let bytes = postcard::to_stdvec(record).unwrap();
        assert_eq!(
            postcard::from_bytes::<Record>(&bytes).unwrap().bits(),
            record.bits()
        );
    }

    proptest! {
        #[test]
        fn any_bits_round_trip(
            one: u64,
            many in prop::collection::vec(any::<u64>(), 0..6),
            perhaps: Option<u64>,
        ) {
            assert_round_trips(&Record {
                one: f64::from_bits(one),
                many: many.into_iter().map(f64::from_bits).collect(),
                perhaps: perhaps.map(f64::from_bits),
            });
        }
    }

    #[test]
    fn special_values_round_trip() {
        let quiet_with_payload = f64::from_bits(0xfff8_0000_dead_beef);
        let special = [
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            quiet_with_payload,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            0.1 + 0.2,
        ];
        for one in special {
            assert_round_trips(&Record {
                one,
                many: special.to_vec(),
                perhaps: Some(one),
            });
        }
        assert_round_trips(&Record {
            one: 1.0,
            many: vec![],
            perhaps: None,
        });
    }

    #[test]
    fn text_is_plain_where_it_can_be() {
        let record = Record {
            one: -0.0,
            many: vec![0.1, f64::INFINITY],
            perhaps: Some(f64::NAN),
        };
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(
            json,
            r#"{"one":-0.0,"many":[0.1,"inf"],"perhaps":"nan:7ff8000000000000"}"#
        );
    }

    #[test]
    fn integers_are_read_as_numbers() {
        let read: Record = serde_json::from_str(r#"{"one":1,"many":[-2],"perhaps":null}"#).unwrap();
        assert_eq!((read.one, read.many[0], read.perhaps), (1.0, -2.0, None));
    }

    #[test]
    fn other_words_are_refused() {
        for bad in [
            "nan",
            "nan:7ff8",
            "nan:3ff0000000000000",
            "nan:+ff8000000000000",
            "Infinity",
            "",
        ] {
            let json = format!(r#"{{"one":"{bad}","many":[],"perhaps":null}}"#);
            let message = serde_json::from_str::<Record>(&json)
                .unwrap_err()
                .to_string();
            assert!(message.contains("expected a number"), "{message}");
        }
    }
}
