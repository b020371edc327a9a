//! Reads the TOML files that describe sweeps and experiments, with messages that name the line.

use std::path::Path;

use robust_td_data::files;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Reads a spec file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = files::text(path, files::LONGEST_TEXT).map_err(|source| Error::SpecUnreadable {
        file: path.into(),
        source,
    })?;
    parse(&text).map_err(|message| Error::Spec {
        file: path.into(),
        message,
    })
}

/// Parses the text of a spec file.
pub fn parse<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    if text.len() as u64 > files::LONGEST_TEXT {
        return Err(format!("it has more than {} bytes", files::LONGEST_TEXT));
    }
    toml::from_str(text).map_err(|error| {
        let message = error.message().trim().replace('\n', " ");
        // A missing key has no line; any other error is shown with its line.
        let place = error
            .span()
            .filter(|_| !message.starts_with("missing field"));
        let Some(start) = place.map(|span| span.start.min(text.len())) else {
            return message.replace("missing field", "missing key");
        };
        let number = text[..start].matches('\n').count();
        let line = text.lines().nth(number).unwrap_or_default().trim();
        format!("line {}: `{line}`: {message}", number + 1)
    })
}
