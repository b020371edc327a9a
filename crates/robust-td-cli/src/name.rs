//! Parses arguments that are names of files, which may have any bytes.

use std::path::Path;

use clap::builder::{OsStringValueParser, TypedValueParser};
use robust_td_data::path_name::name_of;

/// Takes a name; see [`robust_td_data::path_name`] for one that is not UTF-8.
pub fn parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|text| name_of(Path::new(&text)))
}
