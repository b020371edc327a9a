//! Finds the columns of actions, and of the policy to be evaluated.
//!
//! A log describes a policy that was not followed by its actions and by what the policy does:
//!
//! | where | columns |
//! |---|---|
//! | at the observation of a row | `target_0, target_1, ...` (probabilities of all actions, or a list `target`), or `target_action` |
//! | at the next observation of a row, if the log has `next_obs` | `next_target_0, ...`, or `next_action` |
//!
//! Without `next_obs` the successor is another row, which has the policy's columns too. An `action` column alone does not change
//! anything: the policy is then the one that was followed.

use crate::actions::{At, ChoiceCell, MOST_ACTIONS, PolicyKind, PolicySchema};
use crate::cast::{Cast, Vector};
use crate::error::{Error, Result};
use crate::layout::{CellKind, Target};
use crate::options::Purpose;
use crate::role::Role;

/// The columns of probabilities with the names of their actions, if they have any.
struct Weights {
    vector: Vector,
    actions: Vec<String>,
}

impl Cast<'_> {
    /// Assigns the columns of a policy that was not followed, if there are any.
    pub fn policy(&mut self, next_obs: bool) -> Result<Option<PolicySchema>> {
        let roles = [
            Role::Target,
            Role::TargetAction,
            Role::NextTarget,
            Role::NextAction,
        ];
        let named = |role: &Role| self.wanted.columns.get(*role).is_some();
        let set = roles.iter().any(named);
        let action = self.first(Role::Action)?;
        let found = [Role::Target, Role::NextTarget].map(|role| match self.weights(role)? {
            None if named(&role) => Err(self.missing(role)),
            found => Ok(found),
        });
        let [own, next] = found;
        let found = [own?, next?];
        let shows = found.iter().any(Option::is_some)
            || (self.first(Role::TargetAction)?).is_some()
            || (self.first(Role::NextAction)?).is_some();
        // One number per row, or one action without that of the log, may mean anything.
        let several = found
            .iter()
            .flatten()
            .any(|found| found.vector.width() != Some(1));
        if !(set || several || shows && action.is_some()) {
            return Ok(None);
        }
        if action.is_none() {
            return Err(self.missing(Role::Action));
        }
        self.scalar(Role::Action, Target::Choice(ChoiceCell::Taken))?;
        let [own, next] = found;
        let mut schema = PolicySchema::default();
        schema.own = self.kind(At::Own, own, &mut schema.actions)?;
        if next_obs {
            schema.next = self.kind(At::Next, next, &mut schema.actions)?;
        }
        let lacks = match next_obs {
            true => schema.next == PolicyKind::Unknown,
            false => schema.own == PolicyKind::Unknown,
        };
        if lacks {
            return Err(self.policy_needs(next_obs));
        }
        let cell = Target::Choice(ChoiceCell::Propensity);
        schema.propensity = self.scalar(Role::BehaviourProb, cell)?;
        Ok(Some(schema))
    }

    /// Assigns the columns of rows that are predicted: the policy, or else the action.
    pub fn predicted_policy(&mut self) -> Result<PolicySchema> {
        let mut schema = PolicySchema {
            actions: self.wanted.actions.clone(),
            ..PolicySchema::default()
        };
        let own = self.weights(Role::Target)?;
        // The model's log may have had it.
        if own.is_some() || self.first(Role::TargetAction)?.is_some() {
            schema.own = self.kind(At::Own, own, &mut schema.actions)?;
        }
        if schema.own == PolicyKind::Unknown
            && !self.scalar(Role::Action, Target::Choice(ChoiceCell::Wanted(At::Own)))?
        {
            let wanted = "action (for the value of an action), or target_0, target_1, ... or target_action (for the value of a policy)";
            return Err(self.missing_as(Role::Action, wanted));
        }
        schema.own = match schema.own {
            PolicyKind::Unknown => PolicyKind::Action,
            kind => kind,
        };
        Ok(schema)
    }

    /// Assigns what the policy does at an observation; the actions are those found before, or are found here.
    fn kind(
        &mut self,
        at: At,
        weights: Option<Weights>,
        actions: &mut Vec<String>,
    ) -> Result<PolicyKind> {
        let (role, single) = match at {
            At::Own => (Role::Target, Role::TargetAction),
            At::Next => (Role::NextTarget, Role::NextAction),
        };
        let Some(mut weights) = weights else {
            return Ok(
                match self.scalar(single, Target::Choice(ChoiceCell::Wanted(at)))? {
                    true => PolicyKind::Action,
                    false => PolicyKind::Unknown,
                },
            );
        };
        if actions.is_empty() {
            *actions = weights.actions;
        } else if let Vector::Flat(columns) = &mut weights.vector {
            let place = |name: &String| weights.actions.iter().position(|own| own == name);
            let places: Option<Vec<usize>> = actions.iter().map(place).collect();
            match places {
                Some(places) if places.len() == columns.len() => {
                    *columns = places.iter().map(|&place| columns[place]).collect();
                }
                _ => {
                    return Err(Error::SchemaChanged {
                        file: self.file.to_owned(),
                        found: format!("{role} has the actions {}", weights.actions.join(", ")),
                        first: "the policy".to_owned(),
                        expected: actions.join(", "),
                    });
                }
            }
        }
        self.give_vector(role, &weights.vector)?;
        Ok(PolicyKind::Probabilities)
    }

    /// The first column that the file has for a role of one column.
    fn first(&self, role: Role) -> Result<Option<usize>> {
        for name in self.wanted.names(role) {
            if let Some(index) = self.find(&name)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The columns of the probabilities of all actions.
    fn weights(&self, role: Role) -> Result<Option<Weights>> {
        let (names, given) = (
            self.wanted.names(role),
            self.wanted.columns.get(role).is_some(),
        );
        let predicts = self.wanted.purpose == Purpose::Predict;
        let lacks = |name: &String| !self.columns.iter().any(|column| column.name == *name);
        let found = match &names[..] {
            // The names are those of the model's log, and rows may have an action instead.
            [_, _, ..] if given && predicts && names.iter().any(lacks) => None,
            [first, _, ..] if given => {
                let columns = names.iter().map(|name| {
                    let index = self.find(name)?;
                    let index = index.ok_or_else(|| self.missing_as(role, name))?;
                    self.expect_scalar(index).map(|()| index)
                });
                let columns = columns.collect::<Result<Vec<_>>>()?;
                // The names of the actions are what follows the common stem.
                let stem = stem(first, &names);
                Some(Weights {
                    vector: Vector::Flat(columns),
                    actions: names.iter().map(|name| name[stem..].to_owned()).collect(),
                })
            }
            [name] if name.contains('*') => self.starred(name)?,
            _ => match self.first_vector_of(role, given)? {
                Some(Vector::Flat(columns)) => Some(Weights {
                    actions: (0..columns.len()).map(|k| k.to_string()).collect(),
                    vector: Vector::Flat(columns),
                }),
                Some(vector) => Some(Weights {
                    vector,
                    actions: Vec::new(),
                }),
                // Columns such as target_mail, with the names of the actions.
                None if !given && self.first(Role::Action)?.is_some() => match &names[..] {
                    [name, ..] => self.starred(&format!("{name}_*"))?,
                    [] => None,
                },
                None => None,
            },
        };
        match &found {
            Some(found) if found.vector.width() > Some(MOST_ACTIONS) => {
                Err(self.missing_as(role, "at most 10000 columns"))
            }
            _ => Ok(found),
        }
    }

    /// As [`Cast::first_vector`]; a single column of numbers counts only if the user named it.
    fn first_vector_of(&self, role: Role, given: bool) -> Result<Option<Vector>> {
        let numbered = |name: &String| {
            let first = format!("{name}_0");
            self.columns.iter().any(|column| column.name == first)
        };
        let names = self.wanted.names(role);
        let list = |name: &String| {
            let lists = |kind| kind == CellKind::List;
            (self.columns.iter()).any(|column| column.name == *name && lists(column.kind))
        };
        match given || names.iter().any(|name| numbered(name) || list(name)) {
            true => self.first_vector(role),
            false => Ok(None),
        }
    }

    /// The columns of a pattern such as `p_*`, with what the star stands for; numbers in their order.
    fn starred(&self, pattern: &str) -> Result<Option<Weights>> {
        let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
        let singles = [Role::TargetAction, Role::NextAction].map(|role| self.wanted.names(role));
        let mut found: Vec<(String, usize)> = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let inner = column.name.strip_prefix(before);
            let inner = inner.and_then(|rest| rest.strip_suffix(after));
            let taken = singles.iter().any(|names| names.contains(&column.name));
            if let Some(inner) = inner.filter(|inner| !inner.is_empty() && !taken) {
                self.find(&column.name)?;
                self.expect_scalar(index)?;
                found.push((inner.to_owned(), index));
            }
        }
        if found.len() < 2 {
            return Ok(None);
        }
        let number = |name: &str| name.parse::<u64>().ok();
        if found.iter().all(|(name, _)| number(name).is_some()) {
            found.sort_by_key(|(name, _)| number(name));
        }
        let (actions, columns) = found.into_iter().unzip();
        Ok(Some(Weights {
            vector: Vector::Flat(columns),
            actions,
        }))
    }

    fn policy_needs(&self, next_obs: bool) -> Error {
        Error::PolicyNeeds {
            file: self.file.to_owned(),
            roles: match next_obs {
                true => "next_target_0, next_target_1, ... or next_action",
                false => "target_0, target_1, ... or target_action",
            },
            why: match next_obs {
                true => {
                    "each row has its next observation, and what the policy does there must be known; or leave out the next_obs columns \
                     if the next row of an episode is the successor"
                }
                false => {
                    "the successor of a row is the next row, and what the policy does there must be known; next_target and \
                     next_action belong to next_obs columns"
                }
            },
        }
    }
}

/// The length of the longest common start of all names that ends in a separator.
fn stem(first: &str, names: &[String]) -> usize {
    let ends = first
        .char_indices()
        .filter(|(_, c)| ['_', ':', '.', '-'].contains(c));
    let mut stems = ends.map(|(at, _)| at + 1);
    let common = |length: &usize| {
        (names.iter()).all(|name| name.len() > *length && name.starts_with(&first[..*length]))
    };
    stems.rfind(common).unwrap_or(0)
}
