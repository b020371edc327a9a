//! Reads a sparse chain with its rewards from a CSV file of transitions.

use std::collections::HashMap;
use std::path::Path;

use robust_td_core::SparseMatrix;

use super::csv;

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
pub fn read(name: &str, path: &Path, states: usize) -> Result<Edges, String> {
    let text = csv::text(path).map_err(|error| format!("{name}: {error}"))?;
    let mut lines = csv::lines(&text).enumerate();
    let header: Vec<&str> = match lines.next() {
        Some((_, line)) => line.split(',').map(str::trim).collect(),
        None => return Err(format!("{name}: the file is empty")),
    };
    if header != HEADER {
        return Err(format!(
            "{name}: line 1 is {:?} where the header {:?} is needed",
            header.join(","),
            HEADER.join(",")
        ));
    }
    let mut lines_of = HashMap::new();
    let mut probabilities = Vec::new();
    let mut rewards = Vec::new();
    for (i, line) in lines {
        let place = format!("{name}: line {}", i + 1);
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let [from, to, probability, reward] = cells[..] else {
            let found = if line.trim().is_empty() {
                0
            } else {
                cells.len()
            };
            return Err(format!("{place} has {found} entries where 4 are needed"));
        };
        let from = state(&place, "from", from, states)?;
        let to = state(&place, "to", to, states)?;
        if let Some(earlier) = lines_of.insert((from, to), i + 1) {
            return Err(format!(
                "{place}: the transition from {from} to {to} is already in line {earlier}"
            ));
        }
        let chance = csv::number(probability)
            .map_err(|fault| format!("{place}, column probability {fault}"))?;
        if !(0.0..=1.0).contains(&chance) {
            return Err(format!(
                "{place}, column probability is {probability}, not a probability in [0, 1]"
            ));
        }
        let reward =
            csv::number(reward).map_err(|fault| format!("{place}, column reward {fault}"))?;
        probabilities.push((from, to, chance));
        rewards.push((from, to, reward));
    }
    let sparse = |triplets| {
        SparseMatrix::from_triplets("edges", states, triplets)
            .map_err(|error| format!("{name}: {error}"))
    };
    Ok(Edges {
        transition: sparse(probabilities)?,
        reward: sparse(rewards)?,
    })
}

fn state(place: &str, column: &str, cell: &str, states: usize) -> Result<usize, String> {
    let state: usize = cell
        .parse()
        .map_err(|_| format!("{place}, column {column} is {cell:?}, not a state"))?;
    if state >= states {
        return Err(format!(
            "{place}, column {column} is {state}, but features has {states} rows, so the states are 0 to {}",
            states.saturating_sub(1)
        ));
    }
    Ok(state)
}
