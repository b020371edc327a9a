//! Explains what a file or a name is when a command expects another kind.

use std::path::Path;

use robust_td::catalog;
use robust_td_data::Source;

use crate::failure::Failure;

/// The failure of loading a spec; `other` is the command whose spec the file is instead.
pub fn spec_failure(path: &Path, error: robust_td::Error, other: Option<&str>) -> Failure {
    let name = path.display().to_string();
    Failure::Usage(if let Some(other) = other {
        format!("{name} is a spec for `robust-td {other}`")
    } else if catalog::find(&name).is_ok() {
        format!(
            "{name} is a problem, not a spec: write a TOML file with the line `problem = \"{name}\"`; \
             --help lists the other keys"
        )
    } else if is_log(&name) {
        format!("{name} looks like a log, not a spec; `robust-td evaluate` reads logs")
    } else {
        return error.into();
    })
}

/// The failure of loading a problem.
pub fn problem_failure(name: &str, error: robust_td::Error) -> Failure {
    match is_log(name) {
        true => Failure::Usage(format!(
            "{name} looks like a log, not a problem file; `robust-td evaluate` reads logs"
        )),
        false => error.into(),
    }
}

/// Whether the name has the extension of a log.
fn is_log(name: &str) -> bool {
    Source::find(&[name], None).is_ok()
}
