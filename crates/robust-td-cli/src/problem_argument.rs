//! Turns the PROBLEM argument into a problem: a catalog name with settings, or a TOML file.

use clap::Args;
use robust_td::Problem;
use robust_td::catalog::Setting;

use crate::failure::Failure;
use crate::{name, wrong_file};

/// The problem that a command works on.
#[derive(Debug, Args)]
pub struct ProblemArgument {
    /// Catalog name (`robust-td problems` lists them) or TOML file
    #[arg(value_name = "PROBLEM", value_parser = name::parser())]
    pub name: String,

    /// Set a parameter of a catalog problem; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = robust_td::problem_setting)]
    pub settings: Vec<(String, Setting)>,
}

impl ProblemArgument {
    /// Builds the problem.
    pub fn load(&self) -> Result<Problem, Failure> {
        robust_td::problem(&self.name, &self.settings).map_err(|error| match error {
            robust_td::Error::SettingOfFile { key, file } => Failure::Usage(format!(
                "--set {key}=... applies only to catalog problems; edit {file} instead"
            )),
            other => wrong_file::problem_failure(&self.name, other),
        })
    }
}
