//! Reads the counts of saved values.
//!
//! Use as `#[serde(deserialize_with = "crate::count::read")]` on a field of type `u64`, `usize` or `Option<u64>`. Models and states count
//! rows, transitions, episodes and blocks, and add to them when they are resumed or merged. No log has 2^53 rows, so a larger number is
//! damage, and sums of honest numbers cannot overflow.

use serde::de::{Deserialize, Deserializer, Error};

/// The largest count.
pub const MOST: u64 = 1 << 53;

/// A number of something, or none.
pub trait Count {
    /// The number.
    fn number(&self) -> Option<u64>;
}

impl Count for u64 {
    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

impl Count for usize {
    fn number(&self) -> Option<u64> {
        Some(*self as u64)
    }
}

impl Count for Option<u64> {
    fn number(&self) -> Option<u64> {
        *self
    }
}

/// Reads a count.
///
/// # Errors
/// Those of the format, and a number beyond [`MOST`].
pub fn read<'de, T: Count + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let count = T::deserialize(deserializer)?;
    match count.number() {
        Some(number) if number > MOST => Err(D::Error::custom(format!("{number} is not a count"))),
        _ => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    struct Record {
        #[serde(deserialize_with = "super::read")]
        rows: u64,
        #[serde(deserialize_with = "super::read")]
        places: usize,
        #[serde(deserialize_with = "super::read")]
        last: Option<u64>,
    }

    #[test]
    fn counts_beyond_any_log_are_refused() {
        let read = |rows: u64, places: u64, last: &str| {
            let text = format!(r#"{{"rows":{rows},"places":{places},"last":{last}}}"#);
            serde_json::from_str::<Record>(&text).map_err(|error| error.to_string())
        };
        let most = super::MOST;
        let found = read(most, most, "null").unwrap();
        assert_eq!(
            (found.rows, found.places as u64, found.last),
            (most, most, None)
        );
        for refused in [
            read(most + 1, 0, "1"),
            read(0, u64::MAX, "1"),
            read(0, 0, "9007199254740993"),
        ] {
            let message = refused.unwrap_err();
            assert!(message.contains("is not a count"), "{message}");
        }
    }
}
