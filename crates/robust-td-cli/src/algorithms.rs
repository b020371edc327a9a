//! Lists the methods with their references, required inputs and parameters.

use std::collections::BTreeMap;

use clap::Args;
use robust_td::contest::choice;
use robust_td::registry::{METHODS, Method};

use crate::failure::Failure;
use crate::{output, text};

/// List the methods with their required inputs and parameters
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  robust-td algorithms
  robust-td algorithms alg1
  robust-td algorithms --json

Theory:
  proved        a theorem for Markovian samples
  baseline      in common use, with a different kind of theory
  experimental  no known guarantee for TD learning from Markovian samples")]
pub struct Arguments {
    /// Show only this method
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let methods: Vec<&'static Method> = match &arguments.id {
        Some(id) => vec![choice::method(id).map_err(robust_td::Error::from)?],
        None => METHODS.to_vec(),
    };
    if arguments.json {
        return output::print_json(&BTreeMap::from([("algorithms", methods)]));
    }
    let pages: Vec<String> = methods.into_iter().map(page).collect();
    output::print(&pages.join("\n"))
}

/// One method as a paragraph.
fn page(method: &Method) -> String {
    let mut page = text::wrap(&format!("{}: ", method.id), 4, method.title);
    page.push_str(&text::wrap("  reference: ", 4, method.reference));
    page.push_str(&format!("  theory: {}\n", method.standing.word()));
    if !method.needs.is_empty() {
        page.push_str(&text::wrap("  requires: ", 4, &method.needs.join(", ")));
    }
    let rows: Vec<(String, String)> = method
        .parameters
        .iter()
        .map(|parameter| {
            let words = format!(
                "{}; {}; default: {}",
                parameter.meaning,
                parameter.range.words(),
                parameter.default
            );
            (parameter.name.to_string(), words)
        })
        .collect();
    page.push_str(&text::definitions(&rows));
    page
}
