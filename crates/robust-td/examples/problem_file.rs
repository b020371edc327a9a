//! Reads a problem file and solves it exactly.

use robust_td::{Result, load_problem};

const PROBLEM: &str = "\
discount = 0.9
transition = [[0.2, 0.8], [0.8, 0.2]]
reward = [[0.2, 1.0], [-1.0, 0.4]]
features = [[0.3, 1.0], [-0.3, 1.0]]
";

fn main() -> Result<()> {
    let path = std::env::temp_dir().join(format!("robust-td-problem-{}.toml", std::process::id()));
    std::fs::write(&path, PROBLEM).expect("a file in the temporary directory");
    let problem = load_problem(&path)?;
    std::fs::remove_file(&path).expect("the file");

    let theta = problem.theta_star();
    println!("theta* = {theta:?}, omega = {:.4}", problem.omega());
    // Two features for two states: the fixed point is the value function, V = r + gamma P V.
    let value = |state| {
        problem
            .phi(state)
            .iter()
            .zip(theta)
            .map(|(x, y)| x * y)
            .sum::<f64>()
    };
    let mean_reward = 0.2 * 0.2 + 0.8 * 1.0;
    let bellman = mean_reward + 0.9 * (0.2 * value(0) + 0.8 * value(1));
    assert!((value(0) - bellman).abs() < 1e-12);
    Ok(())
}
