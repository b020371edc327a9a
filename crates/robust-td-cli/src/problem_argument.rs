//! Turns the PROBLEM argument into a problem: a catalog name with settings, or a TOML file.

use std::path::Path;

use clap::Args;
use robust_td_core::{Problem, catalog};

use crate::failure::Failure;
use crate::{problem_file, suggestion};

/// Which problem a command is about.
#[derive(Debug, Args)]
pub struct ProblemArgument {
    /// A name from the catalog (`robust-td problems` lists them) or a TOML file
    #[arg(value_name = "PROBLEM")]
    pub name: String,

    /// Set a parameter of a catalog problem; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, f64)>,
}

impl ProblemArgument {
    /// The problem that a spec names: a catalog name, or a file beside the spec.
    pub fn beside(name: &str, settings: Vec<(String, f64)>, directory: &Path) -> Self {
        let file = directory.join(name);
        // What is neither a name nor a file keeps its name: the message suggests what was meant.
        let name = match catalog::find(name).is_err() && file.exists() {
            true => file.to_string_lossy().into_owned(),
            false => name.into(),
        };
        Self { name, settings }
    }

    /// Builds the problem.
    pub fn load(&self) -> Result<Problem, Failure> {
        if let Ok(entry) = catalog::find(&self.name) {
            return entry
                .build(&self.settings)
                .map_err(|error| Failure::Usage(error.to_string()));
        }
        let path = Path::new(&self.name);
        if !looks_like_a_file(path) {
            let known: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).collect();
            return Err(Failure::Usage(format!(
                "there is no problem {:?} in the catalog and no such file; {}",
                self.name,
                suggestion::or_known(&self.name, &known)
            )));
        }
        if let Some((key, _)) = self.settings.first() {
            return Err(Failure::Usage(format!(
                "--set {key}=... changes a catalog problem, but {} is a file: edit it instead",
                self.name
            )));
        }
        problem_file::read(path)
    }
}

fn looks_like_a_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
        || path.components().count() > 1
        || path.exists()
}

/// Parses `key=value`, for the option `--set`.
pub fn setting(text: &str) -> Result<(String, f64), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("a setting is written KEY=VALUE, as in scale=16")?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err("the name before = is empty".into());
    }
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((key.to_string(), number)),
        Ok(_) => Err(format!("{value:?} is not a finite number")),
        Err(_) => Err(format!("{value:?} is not a number")),
    }
}
