//! Stores the numbers of a problem file with their origin.

use robust_td_core::Matrix;

use super::error::ProblemFault;

/// Where the numbers of a key came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The problem file itself.
    Inline,
    /// A CSV file without a header, whose line `i + 1` is row `i`.
    Csv(String),
    /// A NumPy file.
    Npy(String),
    /// No file: the policy induced them.
    Induced,
}

impl Origin {
    /// The key with the file that its numbers come from: `transition (P.csv)`.
    pub fn name(&self, key: &str) -> String {
        match self {
            Self::Inline => key.to_string(),
            Self::Csv(file) | Self::Npy(file) => format!("{key} ({file})"),
            Self::Induced => format!("{key} (induced by mdp and policy)"),
        }
    }

    /// A row, counted from 0 like the states, with its line where it has one: `line 3 (row 2)`.
    pub fn row(&self, row: usize) -> String {
        match self {
            Self::Csv(_) => format!("line {} (row {row})", row + 1),
            _ => format!("row {row}"),
        }
    }
}

/// Finite numbers with a shape, in row order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The length along each axis; one axis is a list, two are a matrix.
    pub shape: Vec<usize>,
    /// The numbers.
    pub entries: Vec<f64>,
    /// Where they came from.
    pub origin: Origin,
}

impl Array {
    /// The matrix, or an error about the shape.
    pub fn into_matrix(self, key: &str) -> Result<Matrix, ProblemFault> {
        match self.shape[..] {
            [rows, columns] => {
                Matrix::new(rows, columns, self.entries).map_err(|source| ProblemFault::Model {
                    message: source.to_string(),
                    source,
                })
            }
            _ => Err(ProblemFault::Shape {
                name: self.origin.name(key),
                found: self.shape_in_words(),
                expected: "a matrix".into(),
            }),
        }
    }

    /// The matrix, which must have as many rows as columns.
    pub fn into_square(self, key: &str) -> Result<Matrix, ProblemFault> {
        let name = self.origin.name(key);
        let matrix = self.into_matrix(key)?;
        if matrix.rows() != matrix.columns() {
            return Err(ProblemFault::Shape {
                name,
                found: format!("is {} x {}", matrix.rows(), matrix.columns()),
                expected: "a square matrix".into(),
            });
        }
        Ok(matrix)
    }

    /// Splits a stack of matrices (three axes) along its first axis.
    pub fn into_layers(self) -> Vec<Array> {
        let size: usize = self.shape[1..].iter().product();
        (0..self.shape[0])
            .map(|layer| Array {
                shape: self.shape[1..].to_vec(),
                entries: self.entries[layer * size..(layer + 1) * size].to_vec(),
                origin: self.origin.clone(),
            })
            .collect()
    }

    /// `is a list of 3 numbers`, `has 3 axes (2 x 2 x 2)`.
    fn shape_in_words(&self) -> String {
        match self.shape[..] {
            [] => "is a single number".into(),
            [length] => format!("is a list of {length} numbers"),
            _ => format!(
                "has {} axes ({})",
                self.shape.len(),
                self.shape
                    .iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
                    .join(" x ")
            ),
        }
    }
}
