//! Turns errors of the data crate into failures and adds the flags that fix them.

use robust_td_core::Error as Mathematics;
use robust_td_data::{Dialect, Error, FaultKind, OptionName, Role};

use crate::failure::Failure;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if matches!(error, Error::Cancelled) {
            return robust_td::Error::from(error).into();
        }
        let words = words(&error);
        match error.is_invalid_input() {
            true => Self::Usage(words),
            false => Self::Run(words),
        }
    }
}

/// The message with the flags of the command line.
fn words(error: &Error) -> String {
    match error {
        Error::Option(error) => error.message(flag),
        Error::InFile { file, source } => format!("{file}: {}", words(source)),
        Error::Mathematics(Mathematics::UnknownMethod { .. }) => format!("--algorithm: {error}"),
        Error::BadRow { fault } => match number_flags(&fault.kind) {
            Some(flags) => format!("{error}; if it is a number, use {flags}"),
            None => format!("{error}; use --skip-bad-rows N to skip such rows"),
        },
        Error::ColumnCase {
            file,
            role,
            columns,
        } => format!(
            "{file}: {columns} is not read as {role}, because the case of letters matters; use --column {role}={columns}"
        ),
        Error::LoneDone { file, column } => format!(
            "{file}: the column {column} is ambiguous: terminated or truncated? Use --column terminated={column} or \
             --column truncated={column}"
        ),
        Error::AmbiguousColumn {
            file,
            role,
            first,
            second,
        } => format!(
            "{file}: both {first} and {second} match the role {role}; use --column {role}=NAME"
        ),
        Error::UnknownFormat { file } => {
            format!("{file}: unknown format; use --format csv, ndjson or parquet")
        }
        Error::NoTransitions => format!(
            "{error}; `robust-td inspect` shows why; if this is the start of a longer log, set --horizon and --out"
        ),
        Error::MissingColumn {
            file,
            role,
            wanted,
            found,
            example: Some(example),
            ..
        } => format!(
            "{file}: no column {wanted} for the role {role}; the file has {found}; use --features '{example}' or --column \
             {role}=NAME"
        ),
        Error::MissingColumn {
            role: Role::Cluster,
            ..
        } => format!("{error}; use --cluster NAME"),
        Error::MissingColumn { role, .. } => format!("{error}; use --column {role}=NAME"),
        Error::MissingInput { .. } => {
            format!(
                "{error}; rename the column, or list those to use in this order: --column obs=NAME,NAME"
            )
        }
        Error::ModelComplete { .. } => {
            format!("{error}; to learn from more data, make a new model with a longer --horizon")
        }
        Error::TooLarge { .. } => format!("{error}, or raise --max-memory"),
        _ => error.to_string(),
    }
}

/// The flags with which a text that is not a number would be one.
pub fn number_flags(kind: &FaultKind) -> Option<String> {
    let choices: Vec<String> = kind.dialects().into_iter().map(flags).collect();
    (!choices.is_empty()).then(|| choices.join(" or "))
}

/// The flags for numbers in a dialect.
fn flags(dialect: Dialect) -> String {
    let quoted = |sign: char| match sign {
        ' ' => "' '".to_owned(),
        '\'' => "\"'\"".to_owned(),
        sign => sign.to_string(),
    };
    let flags: Vec<String> = (dialect.options().into_iter())
        .map(|(option, sign)| flag(&option, Some(&quoted(sign))))
        .collect();
    flags.join(" ")
}

/// An option as it is written on the command line.
fn flag(option: &OptionName, value: Option<&str>) -> String {
    let flag = match option {
        OptionName::Parameter(name) => format!("--param {name}"),
        option => format!("--{}", option.to_string().replace('_', "-")),
    };
    match value {
        Some(value) => format!("{flag} {value}"),
        None => flag,
    }
}
