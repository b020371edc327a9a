//! Builds a problem from a TOML file and the matrices that it names.

mod array;
mod csv;
mod description;
mod edges;
mod error;
mod matrices;
mod npy;
mod value;

use std::path::Path;

use robust_td_core::Problem;
use toml::Table;

pub use error::{ProblemFault, ProblemFileError};
pub use npy::NpyError;

use crate::files;
use description::Description;
use matrices::Matrices;

/// Reads the problem in a TOML file; paths in it are relative to its folder.
///
/// A problem file has `discount`, `features` and a chain: `transition` with `reward`, or `mdp` with `policy`, or
/// `edges`. Matrices are lists of rows, or paths of `.csv` (without a header) or `.npy` files.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("my-problem.toml");
/// std::fs::write(
///     &path,
///     "discount = 0.9
///     transition = [[0.2, 0.8], [0.8, 0.2]]
///     reward = [[0.2, 1.0], [-1.0, 0.4]]
///     features = [[0.3, 1.0], [-0.3, 1.0]]",
/// )?;
/// let problem = robust_td_data::load_problem(&path)?;
/// assert_eq!((problem.states(), problem.dimension()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_problem(path: impl AsRef<Path>) -> Result<Problem, ProblemFileError> {
    let path = path.as_ref();
    let text =
        files::text(path, files::LONGEST_TEXT).map_err(|source| ProblemFileError::Unreadable {
            file: path.into(),
            source,
        })?;
    parse_problem(&text, path)
}

/// The problem in the text of a TOML file; see [`load_problem`]. The path names the file in messages, and paths in the text are relative to
/// its folder.
///
/// # Errors
/// As for [`load_problem`].
pub fn parse_problem(text: &str, path: impl AsRef<Path>) -> Result<Problem, ProblemFileError> {
    let path = path.as_ref();
    let table = parse(text, path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Description::new(table, Matrices::new(folder, text.len()))
        .problem()
        .map_err(|fault| ProblemFileError::Invalid {
            file: path.into(),
            fault: Box::new(fault),
        })
}

/// Parses TOML; a fault names its line and column.
fn parse(text: &str, file: &Path) -> Result<Table, ProblemFileError> {
    text.parse::<Table>().map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
        ProblemFileError::Syntax {
            file: file.into(),
            line: 1 + before.matches('\n').count(),
            column: 1 + before
                .rsplit('\n')
                .next()
                .map_or(0, |start| start.chars().count()),
            message: error.message().lines().collect::<Vec<_>>().join("; "),
        }
    })
}
