//! Learns a value function from a log file, saves the model, and predicts with it.

use std::io::Write;

use robust_td::{Fit, Result, evaluate, inspect};

fn main() -> Result<()> {
    let directory = std::env::temp_dir().join(format!("robust-td-logs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let log = directory.join("log.csv").display().to_string();
    write_log(&log).expect("a log in the temporary directory");

    for finding in &inspect([&log])?.findings {
        println!("note: {}", finding.message);
    }
    // The TD fixed point of the log, with the features `standardise + bias`.
    let fit = evaluate([&log]).discount(0.9).run()?;
    for finding in fit.findings() {
        println!("finding: {}", finding.message);
    }
    if let Some(start) = fit.start_value() {
        println!(
            "value of the policy: {:.3}, interval {:.3} to {:.3}",
            start.value, start.lower, start.upper
        );
        // The mean temperature is 0, and so is its value.
        assert!(start.lower < 0.0 && 0.0 < start.upper);
    }
    // The value of temperature x is x / (1 - 0.9 * 0.8): each step keeps 0.8 of it.
    let (value, exact) = (fit.value(&[1.0])?, 1.0 / (1.0 - 0.72));
    println!(
        "value at 1: {value:.3} (exact {exact:.3}), interval {:?}",
        fit.interval(&[1.0])?
    );
    assert!((value - exact).abs() < 0.2);

    let model = directory.join("model.json");
    fit.save(&model)?;
    let predicted = Fit::load(&model)?.predict(&log)?;
    assert_eq!(predicted.values.len(), 20_000);
    std::fs::remove_dir_all(&directory).expect("the temporary directory");
    Ok(())
}

/// A temperature that drifts back to 0; the reward is the temperature.
fn write_log(path: &str) -> std::io::Result<()> {
    let mut stream = robust_td::random::Stream::new(1, 0);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "obs_0,reward,next_obs_0")?;
    let mut x = 0.0;
    for _ in 0..20_000 {
        let next = 0.8 * x + stream.uniform() - 0.5;
        writeln!(file, "{x},{x},{next}")?;
        x = next;
    }
    Ok(())
}
