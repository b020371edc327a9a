//! Holds columns that are copied to predictions unchanged.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;

use crate::error::{Error, Result};

/// The columns to copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keep {
    /// None.
    #[default]
    Nothing,
    /// All columns of the first file.
    All,
    /// These columns, in this order.
    Columns(Vec<String>),
}

impl Keep {
    /// The indices of the columns in a file.
    ///
    /// # Errors
    /// When the file lacks one.
    pub(crate) fn find(&self, file: &str, names: &[&str]) -> Result<Vec<usize>> {
        let wanted = match self {
            Self::Nothing => return Ok(Vec::new()),
            Self::All => return Ok((0..names.len()).collect()),
            Self::Columns(wanted) => wanted,
        };
        let mut places = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            places.entry(*name).or_insert(place);
        }
        let find = |wanted: &String| {
            let found = places.get(wanted.as_str()).copied();
            found.ok_or_else(|| Error::UnknownColumn {
                file: file.to_owned(),
                message: robust_td_core::features::column::unknown_name(wanted, names),
            })
        };
        wanted.iter().map(find).collect()
    }
}

/// The cells of a column in some rows.
#[derive(Debug, Clone)]
pub(crate) enum Cells {
    /// Text of a file without types; none where a cell is missing.
    Text(Vec<Option<String>>),
    /// Arrays, one after the other.
    Arrays(Vec<ArrayRef>),
}

/// The kept columns of a batch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub names: Vec<String>,
    pub columns: Vec<Cells>,
}

impl PartialEq for Kept {
    /// Batches are compared by their rows; copies do not matter.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Kept {
    /// Columns without cells.
    pub fn start(&mut self, names: &[String], cells: fn() -> Cells) {
        if self.names != names || self.columns.len() != names.len() {
            self.names = names.to_vec();
            self.columns = names.iter().map(|_| cells()).collect();
        }
    }

    /// Puts a column before the others, unless one of them has its name.
    pub fn put_first(&mut self, name: &str, cells: ArrayRef) {
        if !self.names.iter().any(|own| own == name) {
            self.names.insert(0, name.to_owned());
            self.columns.insert(0, Cells::Arrays(vec![cells]));
        }
    }

    pub fn clear(&mut self) {
        self.names.clear();
        self.columns.clear();
    }

    /// Adds the texts of a row.
    pub fn push(&mut self, texts: impl IntoIterator<Item = Option<String>>) {
        for (column, text) in self.columns.iter_mut().zip(texts) {
            if let Cells::Text(cells) = column {
                cells.push(text);
            }
        }
    }

    /// Adds rows of arrays.
    pub fn append(&mut self, arrays: impl IntoIterator<Item = ArrayRef>) {
        for (column, array) in self.columns.iter_mut().zip(arrays) {
            if let Cells::Arrays(pieces) = column {
                pieces.push(array);
            }
        }
    }
}

impl Cells {
    pub fn text() -> Self {
        Self::Text(Vec::new())
    }

    pub fn arrays() -> Self {
        Self::Arrays(Vec::new())
    }

    /// The type of a column that starts with these cells: text whose cells are all numbers becomes numbers.
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Arrays(pieces) => pieces
                .first()
                .map_or(DataType::Null, |array| array.data_type().clone()),
            Self::Text(cells) => {
                let some = || cells.iter().flatten();
                match some().next() {
                    Some(_) if some().all(|text| integer(text).is_some()) => DataType::Int64,
                    Some(_) if some().all(|text| number(text).is_some()) => DataType::Float64,
                    _ => DataType::Utf8,
                }
            }
        }
    }

    /// The cells as an array of a type; on failure, the first cell that does not fit.
    pub fn array(&self, data_type: &DataType) -> std::result::Result<ArrayRef, String> {
        match self {
            Self::Arrays(pieces) => {
                if let Some(other) = pieces.iter().find(|p| p.data_type() != data_type) {
                    return Err(format!("of type {}", other.data_type()));
                }
                let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
                match pieces.is_empty() {
                    true => Ok(arrow_array::new_empty_array(data_type)),
                    false => arrow_select::concat::concat(&pieces).map_err(|e| e.to_string()),
                }
            }
            Self::Text(cells) => match data_type {
                DataType::Int64 => Ok(Arc::new(
                    numbers(cells, integer)?.into_iter().collect::<Int64Array>(),
                )),
                DataType::Float64 => Ok(Arc::new(
                    numbers(cells, number)?
                        .into_iter()
                        .collect::<Float64Array>(),
                )),
                DataType::Utf8 => Ok(Arc::new(
                    cells.iter().map(Option::as_deref).collect::<StringArray>(),
                )),
                other => Err(format!("text, not {other}")),
            },
        }
    }

    /// The cells as text of CSV, in quotes where needed.
    pub fn csv(&self) -> std::result::Result<Vec<String>, String> {
        match self {
            Self::Text(cells) => Ok((cells.iter())
                .map(|cell| cell.as_deref().map_or_else(String::new, field))
                .collect()),
            Self::Arrays(pieces) => {
                let mut cells = Vec::new();
                for array in pieces {
                    for i in 0..array.len() {
                        cells.push(field(&crate::shown_cell::text(array, i)?));
                    }
                }
                Ok(cells)
            }
        }
    }
}

/// The parsed cells; on failure, the first that cannot be parsed.
fn numbers<T>(
    cells: &[Option<String>],
    parse: impl Fn(&str) -> Option<T>,
) -> std::result::Result<Vec<Option<T>>, String> {
    let cell = |cell: &Option<String>| match cell {
        None => Ok(None),
        Some(text) => parse(text).map(Some).ok_or_else(|| format!("{text:?}")),
    };
    cells.iter().map(cell).collect()
}

/// The integer that a text is, if the text is how it is written.
fn integer(text: &str) -> Option<i64> {
    text.parse()
        .ok()
        .filter(|number: &i64| number.to_string() == text)
}

/// The number that a text is; one with leading zeros or a sign in front is a name.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit());
    let zeros = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let value: f64 = text.parse().ok()?;
    (plain && !zeros && value.is_finite()).then_some(value)
}

/// A field of CSV.
pub(crate) fn field(text: &str) -> String {
    let blank = |c: char| c.is_ascii_whitespace();
    let special = text.contains([',', '"', '\n', '\r']);
    match special || text.starts_with(blank) || text.ends_with(blank) || text.starts_with('#') {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cells: &[&str]) -> Cells {
        Cells::Text(
            cells
                .iter()
                .map(|cell| (!cell.is_empty()).then(|| (*cell).into()))
                .collect(),
        )
    }

    #[test]
    fn text_of_numbers_becomes_numbers_that_read_the_same() {
        for (cells, expected) in [
            (vec!["1", "", "-20"], DataType::Int64),
            (vec!["1", "2.50"], DataType::Float64),
            (vec!["007", "8"], DataType::Utf8),
            (vec!["a", "1"], DataType::Utf8),
            (vec![""], DataType::Utf8),
            (vec!["inf"], DataType::Utf8),
        ] {
            assert_eq!(text(&cells).data_type(), expected, "{cells:?}");
        }
        let message = text(&["1", "x"]).array(&DataType::Int64).unwrap_err();
        assert_eq!(message, "\"x\"");
    }

    #[test]
    fn fields_are_quoted_where_needed() {
        let fields = ["a", "a,b", "say \"hi\"", " x", "#1"].map(field);
        assert_eq!(
            fields,
            ["a", "\"a,b\"", "\"say \"\"hi\"\"\"", "\" x\"", "\"#1\""]
        );
    }
}
