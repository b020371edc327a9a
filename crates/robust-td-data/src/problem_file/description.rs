//! Turns a parsed problem file into a problem, with messages that name the origin of the numbers.

use std::collections::HashMap;

use robust_td_core::{Chain, Error, Matrix, Mdp, Problem, Reward, SparseMatrix};
use toml::{Table, Value};

use super::array::{Array, Origin};
use super::error::ProblemFault;
use super::matrices::Matrices;
use super::{edges, value};

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

/// A parsed problem file.
pub struct Description<'a> {
    table: Table,
    matrices: Matrices<'a>,
    /// Where the numbers of each key came from, by the library's name of the key.
    origins: HashMap<String, Origin>,
}

impl<'a> Description<'a> {
    /// A description that names matrices.
    pub fn new(table: Table, matrices: Matrices<'a>) -> Self {
        Self {
            table,
            matrices,
            origins: HashMap::new(),
        }
    }

    /// Builds the problem.
    pub fn problem(&mut self) -> Result<Problem, ProblemFault> {
        refuse_unknown("", &self.table, &KEYS)?;
        self.refuse_conflicts()?;
        let discount = value::number("discount", self.require("discount")?)?;
        let start = match self.table.get("start") {
            Some(start) => value::index("start", start)?,
            None => 0,
        };
        let features = value::matrix("features", self.require("features")?, &self.matrices)?;
        let features = self.matrix("features", features)?;
        let (chain, reward) = if self.table.contains_key("mdp") {
            self.induced_chain()?
        } else if self.table.contains_key("edges") {
            self.listed_chain(features.rows())?
        } else {
            self.given_chain()?
        };
        Problem::new(chain, features, reward, discount, start).map_err(|error| self.explain(error))
    }

    /// The chain of `transition` and `reward`.
    fn given_chain(&mut self) -> Result<(Chain, Reward), ProblemFault> {
        let transition = self.require("transition")?;
        let transition = value::matrix("transition", transition, &self.matrices)?;
        let reward = self.require("reward")?;
        let reward = value::matrix_or_list("reward", reward, &self.matrices)?;
        self.remember("transition", &transition.origin);
        let transition = transition.into_square("transition")?;
        let chain = Chain::from_dense(&transition).map_err(|error| self.explain(error))?;
        self.remember("reward", &reward.origin);
        let reward = match reward.shape[..] {
            // A list, or a file that contains a list as one column or one row.
            [length] | [length, 1] | [1, length] if length != 1 || reward.shape.len() == 1 => {
                if length != chain.states() {
                    return Err(ProblemFault::Length {
                        name: reward.origin.name("reward"),
                        at: None,
                        found: length,
                        expected: chain.states(),
                        hint: ", one per state",
                    });
                }
                Reward::PerState(reward.entries)
            }
            _ => Reward::PerTransition(reward.into_matrix("reward")?),
        };
        Ok((chain, reward))
    }

    /// The chain that `policy` induces in `mdp`.
    fn induced_chain(&mut self) -> Result<(Chain, Reward), ProblemFault> {
        let Some(Value::Table(mdp)) = self.table.get("mdp").cloned() else {
            return Err(conflict(
                "mdp",
                "is not a table with the keys transition and reward",
            ));
        };
        refuse_unknown("mdp.", &mdp, &MDP_KEYS)?;
        let transitions = mdp.get("transition").ok_or(missing("mdp.transition", ""))?;
        let transitions = value::matrices("mdp.transition", transitions, &self.matrices)?;
        let rewards = mdp.get("reward").ok_or(missing("mdp.reward", ""))?;
        let rewards = if value::is_one_matrix(rewards) {
            vec![value::matrix("mdp.reward", rewards, &self.matrices)?]
        } else {
            value::matrices("mdp.reward", rewards, &self.matrices)?
        };
        let policy = value::matrix("policy", self.require("policy")?, &self.matrices)?;

        let transitions = self.per_action("mdp.transition", transitions, None)?;
        let states = transitions.first().map(Matrix::rows);
        let rewards = self.per_action("mdp.reward", rewards, states)?;
        let policy = self.matrix("policy", policy)?;
        self.remember("transition", &Origin::Induced);
        let transitions = transitions.iter().map(SparseMatrix::from_dense).collect();
        Mdp::new(transitions, rewards)
            .and_then(|mdp| mdp.under(&policy))
            .map_err(|error| self.explain(error))
    }

    /// The sparse chain of `edges`.
    fn listed_chain(&mut self, states: usize) -> Result<(Chain, Reward), ProblemFault> {
        let file = value::path("edges", self.require("edges")?)?;
        let name = format!("edges ({file})");
        let edges = edges::read(&name, &self.matrices.path(file), states)?;
        let chain = Chain::from_sparse(edges.transition).map_err(|error| match error {
            Error::RowSum { row, sum, .. } => ProblemFault::Model {
                message: format!(
                    "{name}: the probabilities from state {row} sum to {sum}, not to 1"
                ),
                source: error,
            },
            source => ProblemFault::Model {
                message: format!("{name}: {source}"),
                source,
            },
        })?;
        Ok((chain, Reward::Sparse(edges.reward)))
    }

    /// Square matrices, all of the given size or else of the size of the first; messages name the action.
    fn per_action(
        &mut self,
        key: &str,
        arrays: Vec<Array>,
        size: Option<usize>,
    ) -> Result<Vec<Matrix>, ProblemFault> {
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
                return Err(ProblemFault::Shape {
                    name,
                    found: format!("is {found} x {found}"),
                    expected: format!("{needed} x {needed}, as for mdp.transition, action 0,"),
                });
            }
            matrices.push(matrix);
        }
        Ok(matrices)
    }

    fn matrix(&mut self, key: &str, array: Array) -> Result<Matrix, ProblemFault> {
        self.remember(key, &array.origin);
        array.into_matrix(key)
    }

    fn require(&self, key: &'static str) -> Result<&Value, ProblemFault> {
        self.table.get(key).ok_or(missing(key, ""))
    }

    /// Refuses two descriptions of one chain, and incomplete ones.
    fn refuse_conflicts(&self) -> Result<(), ProblemFault> {
        let has = |key: &str| self.table.contains_key(key);
        for (one, other) in [
            ("transition", "mdp"),
            ("transition", "edges"),
            ("mdp", "edges"),
        ] {
            if has(one) && has(other) {
                let why = format!("and {other} are both given, but a problem has one chain");
                return Err(conflict(one, why));
            }
        }
        if has("policy") && !has("mdp") {
            return Err(conflict(
                "policy",
                "is given without mdp, whose actions it chooses",
            ));
        }
        if has("mdp") && !has("policy") {
            return Err(missing("policy", ": mdp needs one, n x actions"));
        }
        if has("reward") && has("mdp") {
            return Err(conflict(
                "reward",
                "is given together with mdp; the rewards of an MDP are mdp.reward",
            ));
        }
        if has("reward") && has("edges") {
            return Err(conflict(
                "reward",
                "is given together with edges, which has a column for it",
            ));
        }
        if !has("transition") && !has("mdp") && !has("edges") {
            return Err(missing(
                "transition",
                " (the chain is given as transition and reward, as mdp and policy, or as edges)",
            ));
        }
        Ok(())
    }

    fn remember(&mut self, key: &str, origin: &Origin) {
        self.origins.insert(key.to_string(), origin.clone());
    }

    /// A library error with the file and the line that its numbers came from.
    fn explain(&self, source: Error) -> ProblemFault {
        ProblemFault::Model {
            message: self.with_place(&source),
            source,
        }
    }

    fn with_place(&self, error: &Error) -> String {
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

/// Refuses keys that a table does not have; `table` is its own name with a dot.
fn refuse_unknown(
    table: &'static str,
    entries: &Table,
    known: &'static [&'static str],
) -> Result<(), ProblemFault> {
    match entries.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(ProblemFault::UnknownKey {
            table,
            key: key.clone(),
            known,
        }),
    }
}

fn missing(key: &'static str, hint: &'static str) -> ProblemFault {
    ProblemFault::Missing { key, hint }
}

fn conflict(key: &'static str, why: impl Into<String>) -> ProblemFault {
    let why = why.into();
    ProblemFault::Conflict { key, why }
}
