//! Assigns the columns of the observation: by the layout, by name in the feature map, or by those of a model.

use std::collections::HashSet;
use std::sync::Arc;

use robust_td_core::features::column::{ColumnName, nearest, unknown};
use robust_td_core::features::{ColumnUse, Input};

use crate::cast::{Cast, Vector};
use crate::error::{Error, Result};
use crate::layout::{CellKind, DONE, Target};
use crate::options::Purpose;
use crate::role::Role;
use crate::words::printable;

/// The maximum number of columns in an example of a feature map.
const SHOWN: usize = 4;

/// What is known about the columns of the observation before a file is opened.
#[derive(Debug, Clone, Default)]
pub(crate) enum Observed {
    /// Only the layout and the mapping.
    #[default]
    Anything,
    /// The names in feature maps.
    Used(Arc<ColumnUse>),
    /// The columns of a model, or of the first file; without `by_name` the user maps others to them.
    Fixed { inputs: Arc<[Input]>, by_name: bool },
}

impl Cast<'_> {
    /// Assigns the columns of the observation, and says how they are read.
    pub fn observations(&mut self) -> Result<(Vector, Vec<Input>)> {
        let mapped = self.wanted.columns.get(Role::Obs).is_some();
        let found = match &self.wanted.observed {
            Observed::Fixed {
                inputs,
                by_name: true,
            } => self.of_model(inputs)?,
            Observed::Used(used) if used.names().next().is_some() => Some(self.of_names(used)?),
            _ => self.find_vector(Role::Obs)?,
        };
        let vector = match found {
            Some(vector) => vector,
            None if self.wanted.purpose == Purpose::Inspect && !mapped => {
                match self.without_role() {
                    others if others.is_empty() => return Err(self.missing(Role::Obs)),
                    others => {
                        self.takes_all = true;
                        Vector::Flat(others)
                    }
                }
            }
            None => return Err(self.missing(Role::Obs)),
        };
        let inputs = self.inputs(&vector);
        self.give_inputs(Role::Obs, &vector, &inputs)?;
        Ok((vector, inputs))
    }

    /// Assigns the next observations: by the mapping, or as `next_x` for every column `x`, or by the layout.
    pub fn following(&mut self, obs: &Vector, inputs: &[Input]) -> Result<Option<Vector>> {
        let several = self
            .wanted
            .columns
            .get(Role::Obs)
            .is_some_and(|names| names.len() > 1);
        let by_name = match &self.wanted.observed {
            Observed::Anything => several || self.takes_all,
            Observed::Used(used) => several || used.names().next().is_some(),
            Observed::Fixed { .. } => true,
        };
        let found = match (self.wanted.columns.get(Role::NextObs), obs) {
            (None, Vector::Flat(columns)) if by_name => self.counterparts(columns)?,
            _ => None,
        };
        let vector = match found {
            Some(vector) => Some(vector),
            None => self.find_vector(Role::NextObs)?,
        };
        if let Some(vector) = &vector {
            self.give_inputs(Role::NextObs, vector, inputs)?;
        } else if self.wanted.columns.get(Role::NextObs).is_some() {
            return Err(self.missing(Role::NextObs));
        }
        Ok(vector)
    }

    /// How the columns are read.
    fn inputs(&self, vector: &Vector) -> Vec<Input> {
        let Vector::Flat(columns) = vector else {
            return Vec::new();
        };
        let names = self.names_of(vector);
        let is_text = |k: usize| {
            let kind = self.columns[columns[k]].kind;
            kind.is_text() || (self.takes_all && kind == CellKind::Odd)
        };
        match &self.wanted.observed {
            Observed::Used(used) => used.inputs(&names, is_text),
            Observed::Fixed { inputs, .. } => (names.into_iter().enumerate())
                .map(|(k, name)| Input {
                    name,
                    category: inputs.get(k).is_some_and(|input| input.category),
                    missing: inputs.get(k).is_some_and(|input| input.missing),
                })
                .collect(),
            Observed::Anything => (names.into_iter().enumerate())
                .map(|(k, name)| Input {
                    category: is_text(k),
                    // A report on a log counts missing cells of a category as a level.
                    missing: is_text(k) && self.wanted.purpose == Purpose::Inspect,
                    name,
                })
                .collect(),
        }
    }

    /// The columns of a model, by their names; those of the layout in their order if the names are only numbers of the layout's.
    fn of_model(&self, inputs: &[Input]) -> Result<Option<Vector>> {
        // A list of one number has the name of its column.
        if let [input] = inputs
            && let Some(index) = self.find(&input.name)?
            && self.columns[index].kind == CellKind::List
        {
            return Ok(Some(Vector::List(index)));
        }
        let mut columns = Vec::new();
        let mut absent = None;
        for input in inputs {
            match self.find(&input.name)? {
                Some(index) => {
                    self.expect_scalar(index)?;
                    columns.push(index);
                }
                None => {
                    absent.get_or_insert(&input.name);
                }
            }
        }
        match absent {
            None if !columns.is_empty() => Ok(Some(Vector::Flat(columns))),
            Some(name) => {
                if !inputs.iter().all(|input| self.is_number_of(input)) {
                    return Err(self.missing_input(name, inputs));
                }
                let absent = || self.missing_as(Role::Obs, name);
                if !columns.is_empty() {
                    return Err(absent());
                }
                match self.find_vector(Role::Obs) {
                    Ok(Some(Vector::Flat(found))) if found.len() != inputs.len() => Err(absent()),
                    Ok(Some(found)) => Ok(Some(found)),
                    _ => Err(absent()),
                }
            }
            None => self.find_vector(Role::Obs),
        }
    }

    /// Whether the name of a column only says which number of the observation it is: `obs_0`, `obs[0]`.
    fn is_number_of(&self, input: &Input) -> bool {
        let layout = self.wanted.preset.names(Role::Obs).iter();
        let mut stems = self.wanted.names(Role::Obs);
        stems.extend(layout.map(ToString::to_string));
        stems.iter().any(|stem| {
            let rest = input.name.strip_prefix(stem.as_str());
            rest.is_some_and(|rest| {
                let inner = rest.strip_prefix('[').and_then(|r| r.strip_suffix(']'));
                rest.is_empty()
                    || is_number(rest)
                    || inner.is_some_and(|k| k.parse::<u64>().is_ok())
            })
        })
    }

    /// The error that a file lacks a column that a model, or the files before it, have.
    fn missing_input(&self, name: &str, inputs: &[Input]) -> Error {
        if let Some(error) = self.without_names() {
            return error;
        }
        let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        let near = nearest(name, &names);
        let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        let inputs = printable(inputs.iter().map(|input| input.name.as_str()));
        Error::MissingInput {
            file: self.file.to_owned(),
            name: format!("{name}{near}"),
            columns: format!(
                "the features need {inputs}, in this order, and the file has {}",
                printable(names)
            ),
        }
    }

    /// The columns that feature maps name, after those of the layout if a map takes all of them.
    fn of_names(&self, used: &ColumnUse) -> Result<Vector> {
        let mapped = self.wanted.columns.get(Role::Obs).is_some();
        let mut columns = match used.reads_others() || mapped {
            false => Vec::new(),
            true => match self.find_vector(Role::Obs)? {
                Some(Vector::Flat(columns)) => columns,
                Some(list) => return Ok(list),
                None => return Err(self.missing(Role::Obs)),
            },
        };
        if let Some(list) = self.list_of(used)? {
            return Ok(list);
        }
        let free = self.without_role();
        let mut taken: HashSet<usize> = columns.iter().copied().collect();
        for (name, category) in used.names() {
            for index in self.matching(name, category, &free)? {
                if taken.insert(index) {
                    columns.push(index);
                }
            }
        }
        Ok(Vector::Flat(columns))
    }

    /// The list whose elements are named: `obs[0]`.
    fn list_of(&self, used: &ColumnUse) -> Result<Option<Vector>> {
        let mut lists = used.names().map(|(name, _)| {
            let (stem, _) = name.text.split_once('[')?;
            let index = self.find(stem).ok()??;
            (self.columns[index].kind == CellKind::List).then_some(index)
        });
        let first = lists.next().flatten();
        Ok(first
            .filter(|_| lists.all(|list| list == first))
            .map(Vector::List))
    }

    /// The columns that a name or a pattern means; patterns of numbers do not mean text, and no pattern a column with another role.
    fn matching(&self, name: &ColumnName, category: bool, free: &[usize]) -> Result<Vec<usize>> {
        let found: Vec<usize> = match name.is_pattern {
            false => self.find(&name.text)?.into_iter().collect(),
            true => {
                let suits = |&&k: &&usize| category || !self.columns[k].kind.is_text();
                let free: Vec<usize> = free.iter().filter(suits).copied().collect();
                let names: Vec<&str> = (free.iter())
                    .map(|&k| self.columns[k].name.as_str())
                    .collect();
                name.find(&names).into_iter().map(|k| free[k]).collect()
            }
        };
        for &index in &found {
            self.expect_scalar(index)?;
        }
        if found.is_empty() {
            let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
            return Err(Error::UnknownColumn {
                file: self.file.to_owned(),
                message: unknown(name, &names),
            });
        }
        Ok(found)
    }

    /// The columns of single values that have no other role, and are not the next value of such a column.
    fn without_role(&self) -> Vec<usize> {
        let taken: Vec<String> = (Role::ALL.into_iter())
            .filter(|role| *role != Role::Obs)
            .flat_map(|role| self.wanted.names(role))
            .collect();
        let free = |name: &str| {
            let stem = |taken: &String| {
                let number = name.strip_prefix(taken.as_str());
                number.is_some_and(|rest| rest.is_empty() || is_number(rest))
            };
            let following = name.strip_prefix("next_").is_some_and(|own| self.has(own));
            !name.is_empty() && !taken.iter().any(stem) && !following
        };
        (0..self.columns.len())
            .filter(|&k| {
                let column = &self.columns[k];
                let done = DONE.contains(&column.name.to_lowercase().as_str());
                column.kind != CellKind::List && !done && free(&column.name)
            })
            .collect()
    }

    /// The column `next_x` for every column `x`; none if there is no such column.
    fn counterparts(&self, columns: &[usize]) -> Result<Option<Vector>> {
        let (mut found, mut absent) = (Vec::new(), None);
        let own: HashSet<usize> = columns.iter().copied().collect();
        for &index in columns {
            let name = self.next_name(&self.columns[index].name);
            match self.find(&name)? {
                Some(next) if !own.contains(&next) => {
                    self.expect_scalar(next)?;
                    found.push(next);
                }
                _ => {
                    absent.get_or_insert(name);
                }
            }
        }
        match absent {
            _ if found.is_empty() => Ok(None),
            None => Ok(Some(Vector::Flat(found))),
            Some(name) => Err(self.missing_as(Role::NextObs, &name)),
        }
    }

    /// The name of the next value of a column.
    fn next_name(&self, name: &str) -> String {
        let stems = self.wanted.preset.names(Role::Obs).iter();
        let next = self.wanted.preset.names(Role::NextObs).iter();
        let numbered = stems.zip(next).find_map(|(stem, next)| {
            let number = name.strip_prefix(stem)?;
            is_number(number).then(|| format!("{next}{number}"))
        });
        numbered.unwrap_or_else(|| format!("next_{name}"))
    }

    /// The columns to assign, with their kinds.
    fn give_inputs(&mut self, role: Role, vector: &Vector, inputs: &[Input]) -> Result<()> {
        let next = role == Role::NextObs;
        match vector {
            Vector::List(index) if next => self.give(*index, Target::NextObsList),
            Vector::List(index) => self.give(*index, Target::ObsList),
            Vector::Flat(columns) => columns.iter().enumerate().try_for_each(|(k, &index)| {
                let target = match inputs.get(k).filter(|input| input.category) {
                    Some(input) => Target::Level {
                        index: k,
                        next,
                        missing: input.missing,
                        only_text: self.only_text(index),
                    },
                    None if next => Target::NextObs(k),
                    None => Target::Obs(k),
                };
                self.give(index, target)
            }),
        }
    }

    /// Whether nothing but its first rows says that a column is a category.
    fn only_text(&self, index: usize) -> bool {
        let column = &self.columns[index];
        let named = match &self.wanted.observed {
            Observed::Anything => false,
            Observed::Used(used) => used.names().any(|(name, _)| name.matches(&column.name)),
            Observed::Fixed { .. } => true,
        };
        column.kind == CellKind::Words && !named && self.wanted.purpose != Purpose::Inspect
    }

    /// A feature map that would do, if there are columns for one.
    pub fn example(&self) -> Option<String> {
        let columns = self.without_role().into_iter();
        let columns = columns.filter(|&k| self.columns[k].kind != CellKind::Odd);
        let (texts, numbers): (Vec<_>, Vec<_>) =
            columns.partition(|&k| self.columns[k].kind.is_text());
        let list = |columns: &[usize]| {
            let names = columns.iter().take(SHOWN);
            let names = names.map(|&k| crate::words::quoted(&self.columns[k].name));
            names.collect::<Vec<_>>().join(", ")
        };
        let parts = [("standardise", numbers), ("one-hot", texts)].map(|(map, columns)| {
            (!columns.is_empty()).then(|| format!("{map}({})", list(&columns)))
        });
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{} + bias", parts.join(" + ")))
    }
}

/// Whether a text is a separator and a number.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['_', ':']);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
