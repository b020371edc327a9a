//! Checks the counters of a saved model, wherever they are.
//!
//! A model counts rows, transitions, episodes and blocks in dozens of places and adds to all of them when it resumes. No log has
//! 2^53 rows, so a larger number is damage.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The largest count.
const MOST: u64 = 1 << 53;
/// The fields that are counts, whatever they are part of.
const COUNTS: &[&str] = &[
    "blocks",
    "changes",
    "closed",
    "clusters",
    "count",
    "forks",
    "gaps",
    "generation",
    "left_out",
    "place",
    "projections",
    "resumed",
    "rows",
    "run",
    "runs",
    "skipped",
    "steps",
    "transitions",
    "units",
    "updates",
    "waiting",
    "young",
];

/// Refuses the JSON text of a model that has a count beyond any log.
pub(crate) fn check(text: &str) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Walk { counts: false }.deserialize(&mut reader)?;
    reader.end()
}

/// A value to walk over, and whether it is a count.
#[derive(Clone, Copy)]
struct Walk {
    counts: bool,
}

impl<'de> DeserializeSeed<'de> for Walk {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<(), E> {
        match self.counts && number > MOST {
            true => Err(E::custom(format!("{number} is not a count"))),
            false => Ok(()),
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        // Lists of a count's name may hold names.
        while list.next_element_seed(Walk { counts: false })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(counts) = map.next_key_seed(Key)? {
            map.next_value_seed(Walk { counts })?;
        }
        Ok(())
    }
}

/// The name of a field: whether it is a count.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(COUNTS.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_any_log_are_refused_wherever_they_are() {
        let most = u64::MAX;
        check(&format!(
            r#"{{"rows":9007199254740992,"seed":{most},"a":[{{"episode":[{most}]}}],"x":1e300}}"#
        ))
        .unwrap();
        for text in [
            format!(r#"{{"rows":{most}}}"#),
            format!(r#"{{"a":[1,[{{"b":{{"rows":{most}}}}}]]}}"#),
            r#"{"rows":9007199254740993}"#.to_owned(),
        ] {
            let refused = check(&text).unwrap_err().to_string();
            assert!(refused.contains("is not a count"), "{refused}");
        }
        assert!(check(r#"{"rows":1} 2"#).is_err());
    }
}
