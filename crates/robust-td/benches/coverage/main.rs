//! Measures how often intervals contain the truth, on simulated logs of known answers.
//!
//! ```text
//! cargo bench -p robust-td --bench coverage -- [--logs 400] [--only NAME] [--most-rows N] [--threads N] [--algorithm ID] [--seed 1] [--stream]
//! ```
//!
//! prints one Markdown table with a line per scenario. Each log is simulated, written to a CSV file and evaluated like a user's log, with `--stream` like standard input. The values of
//! a few typical rows and the start value are compared with the exact ones:
//!
//! - `coverage`: the share of nominal 95 % intervals that contain the truth, over logs and rows, and in brackets that of the worst row;
//! - `width`: the mean width of the intervals over that of an oracle. The oracle's width is 2 x 1.96 standard deviations of the estimate
//!   over the simulated logs;
//! - `bias`: the mean error of the estimates over that standard deviation;
//! - `cannot tell`: the share of answers without an interval, or with an unbounded one. Coverage and width leave these out;
//! - `start value`: coverage, width and `cannot tell` of the start value, where the program reports it.
//!
//! Under `cargo test` it only checks that every scenario can be evaluated, on two short logs each.

mod catalog;
mod draws;
mod episodes;
mod linear;
mod noise;
mod run;
mod scenario;
mod table;
mod tabular;

use std::error::Error;

use run::Settings;
use scenario::Scenario;

/// The length of logs under `cargo test`.
const SHORT: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = Settings::default();
    let (mut only, mut most_rows, mut measured) = (String::new(), usize::MAX, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} lacks a value"));
        match argument.as_str() {
            // `cargo bench` passes it, `cargo test` does not.
            "--bench" => measured = true,
            "--logs" => settings.logs = value()?.parse()?,
            "--stream" => settings.stream = true,
            "--only" => only = value()?,
            "--most-rows" => most_rows = value()?.parse()?,
            "--threads" => settings.threads = value()?.parse()?,
            "--algorithm" => settings.algorithm = Some(value()?),
            "--seed" => settings.seed = value()?.parse()?,
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let mut scenarios = scenarios()?;
    scenarios.retain(|scenario| scenario.name.contains(&only) && scenario.rows <= most_rows);
    if !measured {
        (settings.logs, settings.longest) = (2, SHORT);
        return check(&scenarios, &settings);
    }
    table::header();
    let mut failures = 0;
    for scenario in &scenarios {
        match run::all(scenario, &settings) {
            Ok(answers) => table::line(scenario, &answers),
            Err(error) => {
                eprintln!("{error}");
                failures += 1;
            }
        }
    }
    match failures {
        0 => Ok(()),
        _ => Err(format!("{failures} scenarios failed").into()),
    }
}

/// Checks that every scenario yields finite values.
fn check(scenarios: &[Scenario], settings: &Settings) -> Result<(), Box<dyn Error>> {
    for scenario in scenarios {
        let answers = run::all(scenario, settings)?;
        let mut values = answers.iter().flat_map(|log| &log.values);
        if !values.all(|answer| answer.value.is_finite()) || scenario.queries.is_empty() {
            return Err(format!("{}: no finite values", scenario.name).into());
        }
    }
    println!("{} scenarios can be evaluated", scenarios.len());
    Ok(())
}

fn scenarios() -> robust_td::Result<Vec<Scenario>> {
    let mut all = noise::scenarios();
    all.extend(episodes::scenarios());
    all.extend(tabular::scenarios());
    all.extend(linear::scenarios());
    all.extend(catalog::scenarios()?);
    Ok(all)
}
