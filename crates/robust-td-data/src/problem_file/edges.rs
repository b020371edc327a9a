//! Reads a sparse chain with its rewards from a CSV file of transitions.

use std::collections::HashMap;
use std::path::Path;

use robust_td_core::SparseMatrix;

use super::csv;
use super::error::ProblemFault;

/// The header of the file.
const HEADER: [&str; 4] = ["from", "to", "probability", "reward"];

/// The transition matrix and the rewards, both over the listed transitions.
pub struct Edges {
    /// `P(s,s')`.
    pub transition: SparseMatrix,
    /// `r(s,s')`.
    pub reward: SparseMatrix,
}

/// Reads the transitions between `states` states; each pair of states may be listed once.
pub fn read(name: &str, path: &Path, states: usize) -> Result<Edges, ProblemFault> {
    let text = csv::text(name, path)?;
    let mut lines = csv::lines(&text).enumerate();
    let header: Vec<&str> = match lines.next() {
        Some((_, line)) => line.split(',').map(str::trim).collect(),
        None => {
            return Err(ProblemFault::Empty {
                name: name.into(),
                what: "the file".into(),
            });
        }
    };
    if header != HEADER {
        return Err(ProblemFault::Shape {
            name: format!("{name}: line 1"),
            found: format!("is {:?}", header.join(",")),
            expected: format!("the header {:?}", HEADER.join(",")),
        });
    }
    let mut lines_of = HashMap::new();
    let mut probabilities = Vec::new();
    let mut rewards = Vec::new();
    for (i, line) in lines {
        let place = format!("line {}", i + 1);
        let column = |column: &str| format!("{place}, column {column}");
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let [from, to, probability, reward] = cells[..] else {
            let found = if line.trim().is_empty() {
                0
            } else {
                cells.len()
            };
            return Err(ProblemFault::Length {
                name: name.into(),
                at: Some(place),
                found,
                expected: HEADER.len(),
                hint: "",
            });
        };
        let from = state(name, column("from"), from, states)?;
        let to = state(name, column("to"), to, states)?;
        if let Some(earlier) = lines_of.insert((from, to), i + 1) {
            return Err(ProblemFault::RepeatedEdge {
                name: name.into(),
                line: i + 1,
                from,
                to,
                earlier,
            });
        }
        let chance = csv::number(name, || column("probability"), probability, "")?;
        if !(0.0..=1.0).contains(&chance) {
            return Err(ProblemFault::Value {
                name: name.into(),
                at: Some(column("probability")),
                value: probability.into(),
                expected: "not a probability in [0, 1]".into(),
            });
        }
        let reward = csv::number(name, || column("reward"), reward, "")?;
        probabilities.push((from, to, chance));
        rewards.push((from, to, reward));
    }
    let sparse = |triplets| {
        SparseMatrix::from_triplets("edges", states, triplets).map_err(|source| {
            ProblemFault::Model {
                message: format!("{name}: {source}"),
                source,
            }
        })
    };
    Ok(Edges {
        transition: sparse(probabilities)?,
        reward: sparse(rewards)?,
    })
}

fn state(name: &str, at: String, cell: &str, states: usize) -> Result<usize, ProblemFault> {
    let (value, expected) = match cell.parse::<usize>() {
        Ok(state) if state < states => return Ok(state),
        Ok(state) => (
            state.to_string(),
            format!(
                "but features has {states} rows, so the states are 0 to {}",
                states.saturating_sub(1)
            ),
        ),
        Err(_) => (format!("{cell:?}"), "not a state".into()),
    };
    Err(ProblemFault::Value {
        name: name.into(),
        at: Some(at),
        value,
        expected,
    })
}
