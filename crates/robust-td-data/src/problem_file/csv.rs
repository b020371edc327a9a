//! Reads a matrix from a CSV file without a header.

use std::fs;
use std::path::Path;

use super::array::{Array, Origin};

/// Reads the matrix of `key` from the file that the problem file calls `file`.
pub fn read(key: &str, file: &str, path: &Path) -> Result<Array, String> {
    let origin = Origin::Csv(file.to_string());
    let name = origin.name(key);
    let text = text(path).map_err(|error| format!("{name}: {error}"))?;
    let mut entries = Vec::new();
    let mut columns = 0;
    let mut rows = 0;
    for (row, line) in lines(&text).enumerate() {
        let place = origin.row(row);
        if line.trim().is_empty() {
            return Err(format!("{name}: {place} is empty"));
        }
        let before = entries.len();
        for (column, cell) in line.split(',').enumerate() {
            let value = number(cell).map_err(|fault| {
                let header = if row == 0 {
                    " (a matrix file has no header)"
                } else {
                    ""
                };
                format!("{name}: {place}, column {column} {fault}{header}")
            })?;
            entries.push(value);
        }
        let found = entries.len() - before;
        if row == 0 {
            columns = found;
        } else if found != columns {
            return Err(format!(
                "{name}: {place} has {found} entries where {columns} are needed, as in line 1"
            ));
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(format!("{name}: the file is empty"));
    }
    Ok(Array {
        shape: vec![rows, columns],
        entries,
        origin,
    })
}

/// The text of a file, without the mark that some editors put at its start.
pub fn text(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        format!("line {line} is not UTF-8 text")
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    })
}

/// The lines of a file, empty ones at its end aside.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines()
}

/// The finite number in a cell, or what is there instead.
pub fn number(cell: &str) -> Result<f64, String> {
    let cell = cell.trim();
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("is {cell:?}, not a finite number")),
        Err(_) if cell.is_empty() => Err("is empty, not a number".into()),
        Err(_) => Err(format!("is {cell:?}, not a number")),
    }
}
