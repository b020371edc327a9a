//! Finds a problem by its catalog name, or loads it from a file.

use std::path::Path;

use robust_td_core::Problem;
use robust_td_core::catalog::{self, Setting};
use robust_td_data::path_name::path_of;

use crate::error::{Error, Result};

/// Loads a problem from a TOML file; see [`robust_td_data::load_problem`] for its keys.
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
/// let problem = robust_td::load_problem(&path)?;
/// assert_eq!(problem.states(), 2);
///
/// let wrong = robust_td::load_problem("no-such-problem.toml").unwrap_err();
/// assert!(wrong.is_invalid_input());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_problem(path: impl AsRef<Path>) -> Result<Problem> {
    Ok(robust_td_data::load_problem(path)?)
}

/// A problem by its catalog name, with parameters set, or from the file of that path.
///
/// ```
/// let problem = robust_td::problem("two-state", &[("epsilon", 0.01)])?;
/// assert_eq!(problem.dimension(), 2);
/// let wrong = robust_td::problem("two-sate", &[("epsilon", 0.01)]).unwrap_err();
/// assert!(wrong.to_string().ends_with("did you mean \"two-state\"?"));
///
/// // Some parameters are words.
/// use robust_td::catalog::Setting;
/// let settings = [("eps2", Setting::from(1e-4)), ("mode", "weak".into())];
/// assert_eq!(robust_td::problem("e3", &settings)?.states(), 3);
/// # Ok::<(), robust_td::Error>(())
/// ```
pub fn problem<V>(name_or_path: &str, settings: &[(impl AsRef<str>, V)]) -> Result<Problem>
where
    for<'a> &'a V: Into<Setting>,
{
    problem_beside(name_or_path, settings, Path::new(""))
}

/// As [`problem`], with the path of a file relative to `directory`, as in a spec that names a problem file.
pub fn problem_beside<V>(
    name_or_path: &str,
    settings: &[(impl AsRef<str>, V)],
    directory: &Path,
) -> Result<Problem>
where
    for<'a> &'a V: Into<Setting>,
{
    if let Ok(entry) = catalog::find(name_or_path) {
        return Ok(entry.build(settings)?);
    }
    let path = path_of(name_or_path);
    let beside = directory.join(&path);
    let path = match beside.exists() {
        true => beside,
        false => path,
    };
    if !looks_like_a_file(&path) {
        return Err(Error::UnknownProblem {
            name: name_or_path.into(),
        });
    }
    if let Some((key, _)) = settings.first() {
        return Err(Error::SettingOfFile {
            key: key.as_ref().into(),
            file: path.display().to_string(),
        });
    }
    load_problem(path)
}

fn looks_like_a_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
        || path.components().count() > 1
        || path.exists()
}
