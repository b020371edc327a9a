//! Measures how often the intervals of a policy that was not followed contain its value, on decision processes of known answers.
//!
//! ```text
//! cargo bench -p robust-td --bench off_policy -- [--logs 200] [--episodes 400] [--seed 1]
//! ```
//!
//! prints a Markdown table with a line per process and estimator:
//!
//! - `coverage`: the share of nominal 95 % intervals that contain the exact value, over the logs whose interval is known;
//! - `error`: the root mean square error of the estimates, and `bias`, their mean error, both over the exact value;
//! - `width`: the mean width of the intervals over that of an oracle, 2 x 1.96 standard deviations of the estimates;
//! - `cannot tell`: the share of logs without an interval;
//! - `effective`: the mean effective sample size;
//! - `agrees`: the share of logs whose estimate differs from that of least squares by no more than both errors, the root of the sum of the
//!   squared half widths, over the logs with both intervals;
//! - `difference`: the mean difference from least squares over all logs, in its own standard errors: normal if both have the same mean.
//!
//! Under `cargo test` it only checks that every process can be evaluated.

mod processes;

use std::error::Error;

use processes::Process;
use robust_td::evaluate;
use robust_td::logs::OffPolicyEstimate;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut logs, mut episodes, mut seed, mut measured) = (200, 400, 1, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} lacks a value"));
        match argument.as_str() {
            "--bench" => measured = true,
            "--logs" => logs = value()?.parse()?,
            "--episodes" => episodes = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    if !measured {
        (logs, episodes) = (2, 50);
    }
    println!(
        "| process | value | estimator | coverage | error | bias | width | cannot tell | effective | agrees | difference |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for process in processes::all()? {
        let found: Vec<Vec<OffPolicyEstimate>> = (0..logs)
            .map(|log| estimates(&process, episodes, seed, log))
            .collect::<Result<_, _>>()?;
        lines(&process, &found);
    }
    Ok(())
}

fn estimates(
    process: &Process,
    episodes: usize,
    seed: u64,
    log: u64,
) -> Result<Vec<OffPolicyEstimate>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("log.csv");
    std::fs::write(&file, process.log(episodes, seed, log))?;
    let fit = evaluate([file.display().to_string()])
        .discount(process.discount)
        .features("one-hot(column=0)")
        .threads(1)
        .run()?;
    Ok(fit.off_policy().ok_or("no policy")?.estimates)
}

fn lines(process: &Process, found: &[Vec<OffPolicyEstimate>]) {
    let truth = process.value();
    let kinds = found.iter().map(Vec::len).min().unwrap_or(0);
    for k in 0..kinds {
        let own: Vec<&OffPolicyEstimate> = found.iter().map(|list| &list[k]).collect();
        let known: Vec<_> = own
            .iter()
            .filter(|x| x.upper.is_finite() && x.lower.is_finite())
            .collect();
        let n = own.len() as f64;
        let mean = own.iter().map(|x| x.value).sum::<f64>() / n;
        let deviation =
            (own.iter().map(|x| (x.value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let error = (own.iter().map(|x| (x.value - truth).powi(2)).sum::<f64>() / n).sqrt();
        let inside = known
            .iter()
            .filter(|x| x.lower <= truth && truth <= x.upper)
            .count();
        let width = known.iter().map(|x| x.upper - x.lower).sum::<f64>() / known.len() as f64;
        let effective = own
            .iter()
            .filter_map(|x| x.effective_sample_size)
            .sum::<f64>()
            / n;
        let effective = if own[0].effective_sample_size.is_some() {
            format!("{effective:.0}")
        } else {
            "-".into()
        };
        let (agrees, difference) = match k {
            0 => ("-".into(), "-".into()),
            _ => agreement(found, k),
        };
        println!(
            "| {} | {truth:.3} | {} | {:.1} % | {:.1} % | {:+.1} % | {:.2} | {:.1} % | {effective} | {agrees} | {difference} |",
            process.name,
            own[0].method.name(),
            100.0 * inside as f64 / known.len() as f64,
            100.0 * error / truth.abs(),
            100.0 * (mean - truth) / truth.abs(),
            width / (2.0 * 1.96 * deviation),
            100.0 * (1.0 - known.len() as f64 / n),
        );
    }
}

/// How estimator `k` agrees with the first, least squares: the columns `agrees` and `difference`.
fn agreement(found: &[Vec<OffPolicyEstimate>], k: usize) -> (String, String) {
    let half = |x: &OffPolicyEstimate| (x.upper - x.lower) / 2.0;
    let pairs: Vec<(f64, f64)> = found
        .iter()
        .map(|list| {
            let joint = half(&list[0]).hypot(half(&list[k]));
            (list[k].value - list[0].value, joint)
        })
        .collect();
    let known: Vec<_> = pairs.iter().filter(|pair| pair.1.is_finite()).collect();
    let inside = known.iter().filter(|pair| pair.0.abs() <= pair.1).count();
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|pair| pair.0).sum::<f64>() / n;
    let square = pairs
        .iter()
        .map(|pair| (pair.0 - mean).powi(2))
        .sum::<f64>();
    (
        format!("{:.1} %", 100.0 * inside as f64 / known.len() as f64),
        format!("{:+.1}", mean / (square / (n - 1.0) / n).sqrt()),
    )
}
