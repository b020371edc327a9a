//! Turns errors of the library into `robust_td.Error`, with the names of Python's keywords.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use robust_td_core::Error as Mathematics;
use robust_td_data::{Dialect, Error as Data, FaultKind, OptionName, Role};

pyo3::create_exception!(
    robust_td,
    Error,
    PyValueError,
    "Invalid arguments or data; the message says where, and what to do."
);

/// An error with this message.
pub fn refused(message: impl Into<String>) -> PyErr {
    Error::new_err(message.into())
}

/// An error of the library.
pub fn raised(error: impl Into<robust_td::Error>) -> PyErr {
    refused(match error.into() {
        robust_td::Error::Data(error) => words(&error),
        error => error.to_string(),
    })
}

/// The keywords for numbers in a dialect.
fn keywords(dialect: Dialect) -> String {
    let keywords: Vec<String> = (dialect.options().into_iter())
        .map(|(option, sign)| format!("{option}=\"{sign}\""))
        .collect();
    keywords.join(", ")
}

/// The message with Python's keywords.
fn words(error: &Data) -> String {
    match error {
        Data::Option(error) => error.message(keyword),
        Data::InFile { file, source } => format!("{file}: {}", words(source)),
        Data::Mathematics(Mathematics::UnknownMethod { .. }) => format!("algorithm: {error}"),
        Data::BadRow { fault } if !fault.kind.dialects().is_empty() => {
            let keywords: Vec<String> = fault.kind.dialects().into_iter().map(keywords).collect();
            format!("{error}; if it is a number, use {}", keywords.join(" or "))
        }
        Data::BadRow { fault } if !matches!(fault.kind, FaultKind::Syntax { .. }) => {
            format!("{error}; use skip_bad_rows=N to skip such rows")
        }
        Data::ColumnCase {
            file,
            role,
            columns,
        } => format!(
            "{file}: {columns} is not read as {role}, because the case of letters matters; use columns={{\"{role}\": \"{columns}\"}}"
        ),
        Data::LoneDone { file, column } => format!(
            "{file}: the column {column} is ambiguous: terminated or truncated? Use columns={{\"terminated\": \"{column}\"}} or \
             columns={{\"truncated\": \"{column}\"}}"
        ),
        Data::AmbiguousColumn {
            file,
            role,
            first,
            second,
        } => format!(
            "{file}: both {first} and {second} match the role {role}; use columns={{\"{role}\": NAME}}"
        ),
        Data::UnknownFormat { file } => {
            format!("{file}: unknown format; use format=\"csv\", \"ndjson\" or \"parquet\"")
        }
        Data::NoTransitions => format!("{error}; robust_td.inspect shows why"),
        Data::MissingColumn {
            role: Role::Cluster,
            ..
        } => format!("{error}; use cluster=NAME"),
        Data::MissingColumn { role, .. } => {
            format!("{error}; use columns={{\"{role}\": NAME}}")
        }
        Data::MissingInput { .. } => format!(
            "{error}; rename the column, or list those to use in this order: columns={{\"obs\": [NAME, NAME]}}"
        ),
        Data::NoRows { file } => format!("{file}: there are columns but no rows"),
        _ => error.to_string(),
    }
}

/// An option as a keyword.
fn keyword(option: &OptionName, value: Option<&str>) -> String {
    let name = match option {
        OptionName::Parameter(name) if name == "lambda" => "lambda_".to_owned(),
        OptionName::Parameter(name) => name.clone(),
        option => option.to_string(),
    };
    match value {
        Some(value) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
        Some(value) => format!("{name}={value:?}"),
        None => name,
    }
}
