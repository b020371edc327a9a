//! Reads a matrix from a CSV file without a header.

use std::path::Path;

use super::array::{Array, Origin};
use super::error::ProblemFault;
use crate::files;

/// Reads the matrix of `key` from the file that the problem file calls `file`.
pub fn read(key: &str, file: &str, path: &Path) -> Result<Array, ProblemFault> {
    let origin = Origin::Csv(file.to_string());
    let name = origin.name(key);
    let text = text(&name, path)?;
    let mut entries = Vec::new();
    let mut columns = 0;
    let mut rows = 0;
    for (row, line) in lines(&text).enumerate() {
        let place = origin.row(row);
        if line.trim().is_empty() {
            return Err(ProblemFault::Empty { name, what: place });
        }
        let before = entries.len();
        for (column, cell) in line.split(',').enumerate() {
            let at = || format!("{place}, column {column}");
            let hint = match row {
                0 => " (a matrix file has no header)",
                _ => "",
            };
            let value = number(&name, at, cell, hint)?;
            entries.push(value);
        }
        let found = entries.len() - before;
        if row == 0 {
            columns = found;
        } else if found != columns {
            return Err(ProblemFault::Length {
                name,
                at: Some(place),
                found,
                expected: columns,
                hint: ", as in line 1",
            });
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(ProblemFault::Empty {
            name,
            what: "the file".into(),
        });
    }
    Ok(Array {
        shape: vec![rows, columns],
        entries,
        origin,
    })
}

/// The text of a file without its byte-order mark.
pub fn text(name: &str, path: &Path) -> Result<String, ProblemFault> {
    let bytes = files::regular_bytes(path, files::longest()).map_err(|source| {
        ProblemFault::Unreadable {
            name: name.into(),
            source,
        }
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        ProblemFault::NotText {
            name: name.into(),
            line,
        }
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    })
}

/// The lines of a file without empty ones at its end.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines()
}

/// The finite number in a cell; `at` and `hint` describe it in a message.
pub fn number(
    name: &str,
    at: impl Fn() -> String,
    cell: &str,
    hint: &str,
) -> Result<f64, ProblemFault> {
    let cell = cell.trim();
    let wrong = |value: String, expected: &str| ProblemFault::Value {
        name: name.into(),
        at: Some(at()),
        value,
        expected: format!("{expected}{hint}"),
    };
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(wrong(format!("{cell:?}"), "not a finite number")),
        Err(_) if cell.is_empty() => Err(wrong("empty".into(), "not a number")),
        Err(_) => Err(wrong(format!("{cell:?}"), "not a number")),
    }
}
