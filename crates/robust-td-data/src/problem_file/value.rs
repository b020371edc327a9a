//! Parses the values of a problem file, so that each error names the key, the row, the column and the value.

use toml::Value;

use super::array::{Array, Origin};
use super::error::ProblemFault;
use super::matrices::Matrices;

/// The matrix of a key: a list of rows, or a path.
pub fn matrix(key: &str, value: &Value, matrices: &Matrices<'_>) -> Result<Array, ProblemFault> {
    match value {
        Value::String(file) => matrices.read(key, file),
        Value::Array(rows) if rows.first().is_some_and(Value::is_array) => inline_matrix(key, rows),
        Value::Array(rows) if rows.is_empty() => Err(ProblemFault::EmptyList { name: key.into() }),
        Value::Array(_) => Err(ProblemFault::Shape {
            name: key.into(),
            found: format!("is {}", describe(value)),
            expected: "a matrix, a list of rows [[...], ...],".into(),
        }),
        _ => Err(wrong(
            key,
            describe(value),
            "not a matrix or the path of a .npy or .csv file",
        )),
    }
}

/// The matrix or the list of numbers of a key.
pub fn matrix_or_list(
    key: &str,
    value: &Value,
    matrices: &Matrices<'_>,
) -> Result<Array, ProblemFault> {
    match value {
        Value::Array(entries) if entries.first().is_some_and(|first| !first.is_array()) => {
            inline_list(key, entries)
        }
        _ => matrix(key, value, matrices),
    }
}

/// One matrix per action: a list of matrices or of paths, or the path of a .npy file with three axes.
pub fn matrices(
    key: &str,
    value: &Value,
    matrices: &Matrices<'_>,
) -> Result<Vec<Array>, ProblemFault> {
    match value {
        Value::String(file) => {
            let array = matrices.read(key, file)?;
            Ok(match array.shape.len() {
                3 => array.into_layers(),
                _ => vec![array],
            })
        }
        Value::Array(actions) if actions.is_empty() => {
            Err(ProblemFault::EmptyList { name: key.into() })
        }
        Value::Array(actions) => actions
            .iter()
            .enumerate()
            .map(|(action, value)| matrix(&action_key(key, action), value, matrices))
            .collect(),
        _ => Err(wrong(
            key,
            describe(value),
            "not a list of matrices, one per action",
        )),
    }
}

/// Whether a value is one matrix rather than a list of matrices.
pub fn is_one_matrix(value: &Value) -> bool {
    match value {
        Value::Array(rows) => rows.first().is_some_and(|row| match row {
            Value::Array(entries) => !entries.first().is_some_and(Value::is_array),
            _ => false,
        }),
        _ => false,
    }
}

/// The name of the matrix of one action in messages, as in the library.
pub fn action_key(key: &str, action: usize) -> String {
    format!("{key}, action {action}")
}

/// A finite number.
pub fn number(key: &str, value: &Value) -> Result<f64, ProblemFault> {
    finite(key, None, value)
}

/// An integer >= 0.
pub fn index(key: &str, value: &Value) -> Result<usize, ProblemFault> {
    value
        .as_integer()
        .and_then(|integer| usize::try_from(integer).ok())
        .ok_or_else(|| wrong(key, describe(value), "not a state 0, 1, 2, ..."))
}

/// The path of a file.
pub fn path<'a>(key: &str, value: &'a Value) -> Result<&'a str, ProblemFault> {
    value
        .as_str()
        .ok_or_else(|| wrong(key, describe(value), "not the path of a file"))
}

fn inline_matrix(key: &str, rows: &[Value]) -> Result<Array, ProblemFault> {
    let mut entries = Vec::new();
    let mut columns = 0;
    for (i, row) in rows.iter().enumerate() {
        let Value::Array(row) = row else {
            return Err(ProblemFault::Value {
                name: key.into(),
                at: Some(format!("row {i}")),
                value: describe(row),
                expected: "not a list of numbers".into(),
            });
        };
        if row.is_empty() {
            return Err(ProblemFault::EmptyList {
                name: format!("{key}: row {i}"),
            });
        }
        if i == 0 {
            columns = row.len();
        } else if row.len() != columns {
            return Err(ProblemFault::Length {
                name: key.into(),
                at: Some(format!("row {i}")),
                found: row.len(),
                expected: columns,
                hint: ", as in row 0",
            });
        }
        for (j, value) in row.iter().enumerate() {
            entries.push(finite(key, Some(&[i, j]), value)?);
        }
    }
    Ok(Array {
        shape: vec![rows.len(), columns],
        entries,
        origin: Origin::Inline,
    })
}

fn inline_list(key: &str, values: &[Value]) -> Result<Array, ProblemFault> {
    let entries = values
        .iter()
        .enumerate()
        .map(|(i, value)| finite(key, Some(&[i]), value))
        .collect::<Result<Vec<f64>, _>>()?;
    Ok(Array {
        shape: vec![entries.len()],
        entries,
        origin: Origin::Inline,
    })
}

/// The finite number that a value is; `at` is its row, or its row and column.
fn finite(key: &str, at: Option<&[usize]>, value: &Value) -> Result<f64, ProblemFault> {
    let (found, expected) = match value {
        Value::Integer(integer) => return Ok(*integer as f64),
        Value::Float(float) if float.is_finite() => return Ok(*float),
        Value::Float(float) => (float.to_string(), "not a finite number"),
        _ => (describe(value), "not a number"),
    };
    Err(ProblemFault::Value {
        name: key.into(),
        at: at.map(|place| match place {
            [row, column] => format!("row {row}, column {column}"),
            _ => format!("row {}", place[0]),
        }),
        value: found,
        expected: expected.into(),
    })
}

/// A value of a wrong kind.
pub fn wrong(key: &str, value: impl Into<String>, expected: &str) -> ProblemFault {
    ProblemFault::Value {
        name: key.into(),
        at: None,
        value: value.into(),
        expected: expected.into(),
    }
}

/// A value as it was written, shortened if long, with its type unless that is obvious.
pub fn describe(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    match value {
        Value::String(_) => format!("{shown} (a string)"),
        Value::Array(_) => format!("{shown} (a list)"),
        Value::Table(_) => format!("{shown} (a table)"),
        Value::Boolean(_) => format!("{shown} (a boolean)"),
        Value::Datetime(_) => format!("{shown} (a date)"),
        Value::Integer(_) | Value::Float(_) => shown,
    }
}
