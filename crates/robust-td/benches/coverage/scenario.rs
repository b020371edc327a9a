//! Describes a kind of log with its exact answers.

use std::io::{self, Write};

use crate::draws::Draws;

/// Writes a log of about this many rows as CSV.
pub type Simulation = Box<dyn Fn(usize, &mut Draws, &mut dyn Write) -> io::Result<()> + Sync>;

/// A kind of log.
pub struct Scenario {
    /// Its name in the table.
    pub name: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of features.
    pub dimension: usize,
    /// The discount.
    pub discount: f64,
    /// The feature map.
    pub features: String,
    /// The column of clusters other than episodes.
    pub cluster: Option<&'static str>,
    /// Observations of typical rows, with the exact values that the features have at the TD fixed point.
    pub queries: Vec<(Vec<f64>, f64)>,
    /// The exact mean value over the first rows of episodes, over all rows where there are no episodes.
    pub start_value: f64,
    /// The simulation.
    pub write: Simulation,
}

/// The limit of repeating an affine map that contracts, such as `V -> r + gamma P V`.
pub fn fixed_point(size: usize, map: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut values = vec![0.0; size];
    loop {
        let next = map(&values);
        let change = |(x, y): (&f64, &f64)| (x - y).abs() / (1.0 + y.abs());
        let largest = values.iter().zip(&next).map(change).fold(0.0, f64::max);
        values = next;
        if !(largest > 1e-13) {
            return values;
        }
    }
}

/// The states of typical rows: at eight evenly spaced ranks, when rows are sorted by their state.
pub fn typical(visits: &[f64]) -> Vec<usize> {
    let total: f64 = visits.iter().sum();
    let (mut sum, mut found) = (0.0, Vec::new());
    for (state, visits) in visits.iter().enumerate() {
        let rank = |sum: f64| (8.0 * sum / total + 0.5) as usize;
        if rank(sum + visits) > rank(sum) {
            found.push(state);
        }
        sum += visits;
    }
    found
}
