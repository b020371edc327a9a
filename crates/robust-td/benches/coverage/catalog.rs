//! Simulates catalog problems as one trajectory, with their features and the TD fixed point as truth.

use std::io::Write;

use robust_td::simulate::Sampler;
use robust_td::{Problem, catalog};

use crate::draws::Draws;
use crate::scenario::{Scenario, typical};

/// Names and numbers of rows.
const PROBLEMS: [(&str, &[usize]); 5] = [
    ("random-walk", &[2_000, 50_000, 1_000_000]),
    ("boyan", &[2_000, 50_000, 1_000_000]),
    ("garnet", &[2_000, 50_000]),
    ("thousand-walk", &[2_000, 50_000]),
    ("grid-world", &[2_000, 50_000]),
];

/// Every problem at every length.
pub fn scenarios() -> robust_td::Result<Vec<Scenario>> {
    let mut all = Vec::new();
    for (name, lengths) in PROBLEMS {
        for &rows in lengths {
            all.push(scenario(name, rows, catalog::problem(name, &[])?));
        }
    }
    Ok(all)
}

fn scenario(name: &str, rows: usize, problem: Problem) -> Scenario {
    let stationary = problem.chain().stationary();
    let value = |s: usize| -> f64 {
        let terms = problem.phi(s).iter().zip(problem.theta_star());
        terms.map(|(phi, theta)| phi * theta).sum()
    };
    // The end of an episode has no features; its value is 0 without doubt.
    let mut states = typical(stationary);
    states.retain(|&s| problem.phi(s).iter().any(|&phi| phi != 0.0));
    Scenario {
        name: name.into(),
        rows,
        dimension: problem.dimension(),
        discount: problem.discount(),
        features: "identity".into(),
        cluster: None,
        queries: (states.into_iter())
            .map(|s| (problem.phi(s).to_vec(), value(s)))
            .collect(),
        start_value: (stationary.iter().enumerate())
            .map(|(s, p)| p * value(s))
            .sum(),
        write: simulation(problem),
    }
}

/// Writes a trajectory that starts in the stationary distribution.
fn simulation(problem: Problem) -> crate::scenario::Simulation {
    let sampler = Sampler::new(&problem);
    let text = |s| problem.phi(s).iter().map(|phi| format!("{phi},")).collect();
    let observations: Vec<String> = (0..problem.states()).map(text).collect();
    Box::new(move |rows: usize, draws: &mut Draws, out: &mut dyn Write| {
        for k in 0..problem.dimension() {
            write!(out, "obs_{k},")?;
        }
        writeln!(out, "reward")?;
        let mut state = draws.index(problem.chain().stationary().iter().copied());
        for _ in 0..rows {
            let next = sampler.successor(state, draws.uniform());
            writeln!(
                out,
                "{}{}",
                observations[state],
                problem.reward(state, next)
            )?;
            state = next;
        }
        Ok(())
    })
}
