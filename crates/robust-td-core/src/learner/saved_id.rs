//! Saves a method's id by name and restores it as the registered static string.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use crate::learner::IDS;

pub fn serialize<S: Serializer>(id: &&'static str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = IDS.iter().find(|id| **id == name).copied();
    found.ok_or_else(|| {
        D::Error::custom(crate::Error::UnknownMethod {
            name,
            known: IDS.to_vec(),
        })
    })
}
