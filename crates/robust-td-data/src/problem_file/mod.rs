//! Builds a problem from a TOML file and the matrices that it names.

mod array;
mod csv;
mod edges;
mod error;
mod npy;
mod value;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use robust_td_core::{Chain, Error, Matrix, Mdp, Problem, Reward, SparseMatrix, suggestion};
use toml::{Table, Value};

pub use error::ProblemFileError;

use array::{Array, Origin};

/// The keys of a problem file.
const KEYS: [&str; 8] = [
    "discount",
    "start",
    "transition",
    "reward",
    "features",
    "mdp",
    "policy",
    "edges",
];

/// The keys under `mdp`.
const MDP_KEYS: [&str; 2] = ["transition", "reward"];

/// Reads the problem in a TOML file; paths in it are relative to its folder.
///
/// A problem file holds `discount`, `features` and a chain: `transition` with `reward`, or `mdp` with `policy`, or
/// `edges`. Matrices are lists of rows, or paths of `.csv` (without a header) or `.npy` files.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("my-problem.toml");
/// std::fs::write(
///     &path,
///     "discount = 0.9
///     transition = [[0.2, 0.8], [0.8, 0.2]]
///     reward = [[0.2, 1.0], [-1.0, 0.4]]
///     features = [[0.3, 1.0], [-0.3, 1.0]]",
/// )?;
/// let problem = robust_td_data::load_problem(&path)?;
/// assert_eq!((problem.states(), problem.dimension()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_problem(path: impl AsRef<Path>) -> Result<Problem, ProblemFileError> {
    let path = path.as_ref();
    let text = fs::read_to_string(path).map_err(|source| ProblemFileError::Unreadable {
        file: path.into(),
        source,
    })?;
    let table = parse(&text, path)?;
    let mut description = Description {
        table,
        folder: path.parent().unwrap_or(Path::new("")),
        origins: HashMap::new(),
    };
    description
        .problem()
        .map_err(|fault| ProblemFileError::Invalid {
            file: path.into(),
            fault,
        })
}

/// Parses TOML; a fault names its line and column.
fn parse(text: &str, file: &Path) -> Result<Table, ProblemFileError> {
    text.parse::<Table>().map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
        ProblemFileError::Syntax {
            file: file.into(),
            line: 1 + before.matches('\n').count(),
            column: 1 + before
                .rsplit('\n')
                .next()
                .map_or(0, |start| start.chars().count()),
            message: error.message().lines().collect::<Vec<_>>().join("; "),
        }
    })
}

/// A parsed problem file.
struct Description<'a> {
    table: Table,
    folder: &'a Path,
    /// Where the numbers of each key came from, by the name that the library gives it.
    origins: HashMap<String, Origin>,
}

impl Description<'_> {
    fn problem(&mut self) -> Result<Problem, String> {
        refuse_unknown("", &self.table, &KEYS)?;
        self.refuse_conflicts()?;
        let discount = value::number("discount", self.require("discount")?)?;
        let start = match self.table.get("start") {
            Some(start) => value::index("start", start)?,
            None => 0,
        };
        let features = value::matrix("features", self.require("features")?, self.folder)?;
        let features = self.matrix("features", features)?;
        let (chain, reward) = if self.table.contains_key("mdp") {
            self.induced_chain()?
        } else if self.table.contains_key("edges") {
            self.listed_chain(features.rows())?
        } else {
            self.given_chain()?
        };
        Problem::new(chain, features, reward, discount, start).map_err(|error| self.explain(&error))
    }

    /// The chain of `transition` and `reward`.
    fn given_chain(&mut self) -> Result<(Chain, Reward), String> {
        let transition = self.require("transition")?;
        let transition = value::matrix("transition", transition, self.folder)?;
        let reward = self.require("reward")?;
        let reward = value::matrix_or_list("reward", reward, self.folder)?;
        self.remember("transition", &transition.origin);
        let transition = transition.into_square("transition")?;
        let chain = Chain::from_dense(&transition).map_err(|error| self.explain(&error))?;
        self.remember("reward", &reward.origin);
        let reward = match reward.shape[..] {
            // A list, or a file that holds a list as one column or one row.
            [length] | [length, 1] | [1, length] if length != 1 || reward.shape.len() == 1 => {
                if length != chain.states() {
                    return Err(format!(
                        "{} has {length} entries where {} are needed, one per state",
                        reward.origin.name("reward"),
                        chain.states()
                    ));
                }
                Reward::PerState(reward.entries)
            }
            _ => Reward::PerTransition(reward.into_matrix("reward")?),
        };
        Ok((chain, reward))
    }

    /// The chain that `policy` induces in `mdp`.
    fn induced_chain(&mut self) -> Result<(Chain, Reward), String> {
        let Some(Value::Table(mdp)) = self.table.get("mdp").cloned() else {
            return Err("mdp is not a table with the keys transition and reward".into());
        };
        refuse_unknown("mdp.", &mdp, &MDP_KEYS)?;
        let transitions = mdp.get("transition").ok_or("mdp.transition is missing")?;
        let transitions = value::matrices("mdp.transition", transitions, self.folder)?;
        let rewards = mdp.get("reward").ok_or("mdp.reward is missing")?;
        let rewards = if value::is_one_matrix(rewards) {
            vec![value::matrix("mdp.reward", rewards, self.folder)?]
        } else {
            value::matrices("mdp.reward", rewards, self.folder)?
        };
        let policy = value::matrix("policy", self.require("policy")?, self.folder)?;

        let transitions = self.per_action("mdp.transition", transitions, None)?;
        let states = transitions.first().map(Matrix::rows);
        let rewards = self.per_action("mdp.reward", rewards, states)?;
        let policy = self.matrix("policy", policy)?;
        self.remember("transition", &Origin::Induced);
        let transitions = transitions.iter().map(SparseMatrix::from_dense).collect();
        Mdp::new(transitions, rewards)
            .and_then(|mdp| mdp.under(&policy))
            .map_err(|error| self.explain(&error))
    }

    /// The sparse chain of `edges`.
    fn listed_chain(&mut self, states: usize) -> Result<(Chain, Reward), String> {
        let file = value::path("edges", self.require("edges")?)?;
        let name = format!("edges ({file})");
        let edges = edges::read(&name, &self.folder.join(file), states)?;
        let chain = Chain::from_sparse(edges.transition).map_err(|error| match error {
            Error::RowSum { row, sum, .. } => {
                format!("{name}: the probabilities from state {row} sum to {sum}, not to 1")
            }
            other => format!("{name}: {other}"),
        })?;
        Ok((chain, Reward::Sparse(edges.reward)))
    }

    /// Square matrices, all of the size that is given or else of the first one's; messages name the action.
    fn per_action(
        &mut self,
        key: &str,
        arrays: Vec<Array>,
        size: Option<usize>,
    ) -> Result<Vec<Matrix>, String> {
        let several = arrays.len() > 1;
        let mut size = size;
        let mut matrices: Vec<Matrix> = Vec::with_capacity(arrays.len());
        for (action, array) in arrays.into_iter().enumerate() {
            let key = if several || key == "mdp.transition" {
                value::action_key(key, action)
            } else {
                key.to_string()
            };
            self.remember(&key, &array.origin);
            let name = array.origin.name(&key);
            let matrix = array.into_square(&key)?;
            let (found, needed) = (matrix.rows(), *size.get_or_insert(matrix.rows()));
            if found != needed {
                return Err(format!(
                    "{name} is {found} x {found} where {needed} x {needed} is needed, \
                     as for mdp.transition, action 0"
                ));
            }
            matrices.push(matrix);
        }
        Ok(matrices)
    }

    fn matrix(&mut self, key: &str, array: Array) -> Result<Matrix, String> {
        self.remember(key, &array.origin);
        array.into_matrix(key)
    }

    fn require(&self, key: &str) -> Result<&Value, String> {
        self.table
            .get(key)
            .ok_or_else(|| format!("{key} is missing"))
    }

    /// Refuses two descriptions of one chain, and half of one.
    fn refuse_conflicts(&self) -> Result<(), String> {
        let has = |key: &str| self.table.contains_key(key);
        for (one, other) in [
            ("transition", "mdp"),
            ("transition", "edges"),
            ("mdp", "edges"),
        ] {
            if has(one) && has(other) {
                return Err(format!(
                    "{one} and {other} are both given, but a problem has one chain"
                ));
            }
        }
        if has("policy") && !has("mdp") {
            return Err("policy is given without mdp, which it chooses actions of".into());
        }
        if has("mdp") && !has("policy") {
            return Err("policy is missing: mdp needs one, n x actions".into());
        }
        if has("reward") && has("mdp") {
            return Err("reward is given beside mdp; the rewards of an MDP are mdp.reward".into());
        }
        if has("reward") && has("edges") {
            return Err("reward is given beside edges, which has a column for it".into());
        }
        if !has("transition") && !has("mdp") && !has("edges") {
            return Err(
                "transition is missing (the chain is given as transition and reward, \
                 as mdp and policy, or as edges)"
                    .into(),
            );
        }
        Ok(())
    }

    fn remember(&mut self, key: &str, origin: &Origin) {
        self.origins.insert(key.to_string(), origin.clone());
    }

    /// A library error with the file and the line that its numbers came from.
    fn explain(&self, error: &Error) -> String {
        let text = error.to_string();
        let Some((key, row)) = subject(error) else {
            return text;
        };
        if !text.starts_with(key) {
            let origin = self.origins.get(key).unwrap_or(&Origin::Inline);
            return format!("{}: {text}", origin.name(key));
        }
        let (Some(origin), Some(rest)) = (self.origins.get(key), text.strip_prefix(key)) else {
            return text;
        };
        let mut rest = rest.to_string();
        if let Some(row) = row {
            rest = rest.replacen(&format!("row {row}"), &origin.row(row), 1);
        }
        format!("{}{rest}", origin.name(key))
    }
}

/// The key and the row that a library error is about.
fn subject(error: &Error) -> Option<(&str, Option<usize>)> {
    match error {
        Error::NotAProbability { what, row, .. } | Error::RowSum { what, row, .. } => {
            Some((what, Some(*row)))
        }
        Error::NotFinite { what, row, .. } => Some((what, Some(*row))),
        Error::Shape { what, .. } | Error::Length { what, .. } => Some((what, None)),
        Error::RankDeficient { .. } => Some(("features", None)),
        Error::Reducible { .. }
        | Error::Periodic { .. }
        | Error::StateCount { .. }
        | Error::StationaryNotConverged { .. } => Some(("transition", None)),
        _ => None,
    }
}

/// Refuses keys that a table does not have; `prefix` is the table's own name.
fn refuse_unknown(prefix: &str, table: &Table, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "unknown key {prefix}{key}; {}",
            suggestion::or_known(key, known)
        )),
    }
}
