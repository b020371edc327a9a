//! Lists the problems of the catalog, or shows one problem with its constants.

use std::collections::BTreeMap;

use clap::Args;
use robust_td::ProblemReport;
use robust_td::catalog::{self, Entry, Setting};

use crate::constants;
use crate::failure::Failure;
use crate::name;
use crate::output;
use crate::problem_argument::ProblemArgument;
use crate::text;

/// List the problems of the catalog with their parameters, or show one with its constants
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  robust-td problems
  robust-td problems two-state --set epsilon=0.01
  robust-td problems e3 --set eps2=1e-4 --set mode=weak
  robust-td problems my-problem.toml --json

A problem file has a discount, features and a chain:
  discount = 0.9
  start = 0                                # default
  transition = [[0.2, 0.8], [0.8, 0.2]]    # n x n
  reward = [[0.2, 1.0], [-1.0, 0.4]]       # n x n r(s,s'), or n numbers r(s)
  features = [[0.3, 1.0], [-0.3, 1.0]]     # n x d
A matrix may also be the path of a .npy file or of a .csv file without header,
relative to the problem file. Instead of transition and reward:
mdp.transition and mdp.reward (a matrix per action) with policy (n x actions),
or for large sparse chains edges = \"edges.csv\", a file with the header
from,to,probability,reward.")]
pub struct Arguments {
    /// Catalog name or TOML file to show in detail
    #[arg(value_name = "PROBLEM", value_parser = name::parser())]
    problem: Option<String>,

    /// Set a parameter of the problem; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = robust_td::problem_setting, requires = "problem")]
    settings: Vec<(String, Setting)>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.problem {
        None => list(arguments.json),
        Some(name) => show(
            &ProblemArgument {
                name: name.clone(),
                settings: arguments.settings.clone(),
            },
            arguments.json,
        ),
    }
}

fn list(json: bool) -> Result<(), Failure> {
    let entries = catalog::entries();
    if json {
        return output::print_json(&BTreeMap::from([("problems", entries)]));
    }
    let mut listing = String::new();
    for entry in entries {
        listing.push_str(&heading(entry));
        listing.push_str(&parameters(entry, &[]));
        listing.push('\n');
    }
    listing.push_str("`robust-td problems NAME` shows a problem with its constants.\n");
    output::print(&listing)
}

fn show(argument: &ProblemArgument, json: bool) -> Result<(), Failure> {
    let problem = argument.load()?;
    let report = ProblemReport::new(&argument.name, &problem)?;
    if json {
        return output::print_json(&report);
    }
    let mut page = match report.description {
        Some(entry) => {
            heading(entry)
                + &text::wrap("  source: ", 4, entry.source)
                + &parameters(entry, &argument.settings)
        }
        None => format!("{}\n", argument.name),
    };
    page.push('\n');
    page.push_str(&constants::table(&report.constants));
    if let Some(reason) = report.mixing_unavailable {
        page.push_str(&text::wrap("  mixing unavailable: ", 4, &reason));
    }
    output::print(&page)
}

fn heading(entry: &Entry) -> String {
    let also = match entry.aliases {
        [] => String::new(),
        aliases => format!(" (also {})", aliases.join(", ")),
    };
    let summary = format!("{}{also}", entry.summary);
    text::wrap(&format!("{}: ", entry.name), 4, &summary)
}

/// The parameters of an entry, one line each; those that are set also show their default.
fn parameters(entry: &Entry, settings: &[(String, Setting)]) -> String {
    let rows: Vec<(String, String)> = entry
        .parameters
        .iter()
        .map(|parameter| {
            let set = settings.iter().find(|(name, _)| name == parameter.name);
            let value = set.map_or_else(|| parameter.default.into(), |(_, value)| value.clone());
            let default = match set {
                Some(_) => format!(" (default {})", parameter.default),
                None => String::new(),
            };
            (
                format!("{} = {value}", parameter.name),
                format!("{}; {}{default}", parameter.meaning, parameter.range),
            )
        })
        .collect();
    text::definitions(&rows)
}
