//! Assigns the columns of one file to roles.

use std::collections::HashMap;

use crate::actions::{At, ChoiceCell};
use crate::error::{Error, Result};
use crate::layout::{CellKind, Column, DONE, SEPARATORS, Target, Wanted};
use crate::role::Role;
use crate::schema::Schema;
use crate::words::{is_printable, printable};
use robust_td_core::features::column::nearest;

/// The columns that form a vector.
pub(crate) enum Vector {
    Flat(Vec<usize>),
    List(usize),
}

impl Vector {
    /// The number of columns; `None` for a list.
    pub fn width(&self) -> Option<usize> {
        match self {
            Self::Flat(columns) => Some(columns.len()),
            Self::List(_) => None,
        }
    }
}

/// The roles assigned so far.
pub(crate) struct Cast<'a> {
    pub(crate) file: &'a str,
    pub(crate) columns: &'a [Column],
    pub(crate) wanted: &'a Wanted,
    targets: Vec<Target>,
    /// The column of each name, and whether there is another one.
    places: HashMap<&'a str, (usize, bool)>,
    /// Whether the observation is every column without a role.
    pub takes_all: bool,
}

impl<'a> Cast<'a> {
    pub fn new(file: &'a str, columns: &'a [Column], wanted: &'a Wanted) -> Self {
        let mut places = HashMap::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let place = places.entry(column.name.as_str()).or_insert((index, false));
            place.1 = place.0 != index;
        }
        Self {
            file,
            columns,
            wanted,
            targets: vec![Target::Skip; columns.len()],
            places,
            takes_all: false,
        }
    }

    /// What to do with each column.
    pub fn into_targets(self) -> Vec<Target> {
        self.targets
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    pub fn find(&self, name: &str) -> Result<Option<usize>> {
        match self.places.get(name) {
            Some((_, true)) => Err(Error::DuplicateColumn {
                file: self.file.to_owned(),
                column: name.to_owned(),
            }),
            place => Ok(place.map(|(index, _)| *index)),
        }
    }

    pub fn give(&mut self, index: usize, target: Target) -> Result<()> {
        if let (Some(first), Some(second)) = (self.targets[index].role(), target.role()) {
            return Err(Error::TwoRoles {
                file: self.file.to_owned(),
                column: self.columns[index].name.clone(),
                first,
                second,
            });
        }
        self.targets[index] = target;
        Ok(())
    }

    /// Assigns a role of one column; false when the file has no such column and none was named.
    pub fn scalar(&mut self, role: Role, target: Target) -> Result<bool> {
        for name in self.wanted.names(role) {
            if let Some(index) = self.find(&name)? {
                self.expect_scalar(index)?;
                self.give(index, target)?;
                return Ok(true);
            }
        }
        if self.wanted.columns.get(role).is_some() {
            return Err(self.missing(role));
        }
        Ok(false)
    }

    /// Assigns the cluster column; false when there is none, or it is the episode column.
    pub fn cluster(&mut self) -> Result<bool> {
        if let Some([name]) = self.wanted.columns.get(Role::Cluster)
            && let Some(index) = self.find(name)?
            && self.targets[index] == Target::Episode
        {
            return Ok(false);
        }
        self.scalar(Role::Cluster, Target::Cluster)
    }

    /// The columns of a role of several: those of the mapping, or of the layout.
    pub fn find_vector(&self, role: Role) -> Result<Option<Vector>> {
        match self.wanted.columns.get(role) {
            Some(names) if names.len() > 1 => {
                let mut columns = Vec::new();
                for name in names {
                    let index = self
                        .find(name)?
                        .ok_or_else(|| self.missing_as(role, name))?;
                    self.expect_scalar(index)?;
                    columns.push(index);
                }
                Ok(Some(Vector::Flat(columns)))
            }
            _ => self.first_vector(role),
        }
    }

    /// Assigns the columns of a vector.
    pub fn give_vector(&mut self, role: Role, vector: &Vector) -> Result<()> {
        match vector {
            Vector::List(index) => self.give(
                *index,
                match role {
                    Role::NextObs => Target::NextObsList,
                    Role::Target => Target::Choice(ChoiceCell::Weights(At::Own)),
                    Role::NextTarget => Target::Choice(ChoiceCell::Weights(At::Next)),
                    _ => Target::ObsList,
                },
            ),
            Vector::Flat(columns) => {
                let target = |k| match role {
                    Role::NextObs => Target::NextObs(k),
                    Role::Target => Target::Choice(ChoiceCell::Weight(At::Own, k)),
                    Role::NextTarget => Target::Choice(ChoiceCell::Weight(At::Next, k)),
                    _ => Target::Obs(k),
                };
                let mut columns = columns.iter().enumerate();
                columns.try_for_each(|(k, &index)| self.give(index, target(k)))
            }
        }
    }

    /// The vector for the first name that the file has, as one column or as numbered ones.
    pub fn first_vector(&self, role: Role) -> Result<Option<Vector>> {
        for name in self.wanted.names(role) {
            let single = self.find(&name)?;
            // A column that the user named takes precedence.
            let numbered = match single.is_some() && self.wanted.columns.get(role).is_some() {
                true => None,
                false => self.numbered(role, &name)?,
            };
            match (single, numbered) {
                (Some(_), Some((first, _))) => {
                    return Err(Error::AmbiguousColumn {
                        file: self.file.to_owned(),
                        role,
                        first: name,
                        second: first,
                    });
                }
                (Some(index), None) => {
                    return Ok(Some(match self.columns[index].kind {
                        CellKind::List => Vector::List(index),
                        CellKind::Scalar | CellKind::Text | CellKind::Words | CellKind::Odd => {
                            Vector::Flat(vec![index])
                        }
                    }));
                }
                (None, Some((_, columns))) => return Ok(Some(Vector::Flat(columns))),
                (None, None) => {}
            }
        }
        Ok(None)
    }

    /// The columns stem_0, stem_1, ... without a gap, with the name of the first.
    fn numbered(&self, role: Role, stem: &str) -> Result<Option<(String, Vec<usize>)>> {
        for separator in SEPARATORS {
            let prefix = format!("{stem}{separator}");
            let last = self
                .columns
                .iter()
                .filter_map(|column| column.name.strip_prefix(&prefix))
                .filter_map(|number| {
                    number
                        .parse::<usize>()
                        .ok()
                        .filter(|n| n.to_string() == number)
                })
                .max();
            // A number beyond the count of columns leaves a gap below it: stop at the first gap.
            let Some(last) = last.map(|last| last.min(self.columns.len())) else {
                continue;
            };
            let mut columns = Vec::with_capacity(last + 1);
            for k in 0..=last {
                let name = format!("{prefix}{k}");
                let index = self
                    .find(&name)?
                    .ok_or_else(|| self.missing_as(role, &name))?;
                self.expect_scalar(index)?;
                columns.push(index);
            }
            return Ok(Some((format!("{prefix}0"), columns)));
        }
        Ok(None)
    }

    pub fn expect_scalar(&self, index: usize) -> Result<()> {
        match self.columns[index].kind {
            CellKind::Scalar | CellKind::Text | CellKind::Words | CellKind::Odd => Ok(()),
            CellKind::List => Err(Error::ColumnType {
                file: self.file.to_owned(),
                column: self.columns[index].name.clone(),
                found: "list".to_owned(),
                wanted: "single values",
            }),
        }
    }

    /// Checks that next observations have as many columns as observations.
    pub fn same_width(&self, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::SchemaChanged {
            file: self.file.to_owned(),
            found: format!("next_obs has {found} columns"),
            first: "obs".to_owned(),
            expected: expected.to_string(),
        })
    }

    /// Rejects a `done` column that may mean terminated or truncated.
    pub fn refuse_done(&self, schema: &Schema) -> Result<()> {
        if schema.terminated || schema.truncated {
            return Ok(());
        }
        let done = (self.columns.iter().zip(&self.targets))
            .find(|(c, t)| **t == Target::Skip && DONE.contains(&c.name.to_lowercase().as_str()));
        match done {
            Some((column, _)) => Err(Error::LoneDone {
                file: self.file.to_owned(),
                column: column.name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Rejects columns whose names are those of absent roles but for the case of letters.
    pub fn refuse_other_case(&self, schema: &Schema) -> Result<()> {
        for (role, present) in [
            (Role::Terminated, schema.terminated),
            (Role::Truncated, schema.truncated),
            (Role::Episode, schema.episode),
        ] {
            if let Some(error) = (!present).then(|| self.other_case(role)).flatten() {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The error that columns without a role have the names of this one but for the case of letters.
    fn other_case(&self, role: Role) -> Option<Error> {
        let is_like = |name: &str, wanted: &str| {
            let rest = name.strip_prefix(wanted);
            let number = |rest: &str| {
                let digits = SEPARATORS.iter().find_map(|s| rest.strip_prefix(s));
                digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
            };
            rest.is_some_and(|rest| rest.is_empty() || (role.is_vector() && number(rest)))
        };
        let wanted = self.wanted.names(role);
        let found: Vec<&str> = (self.columns.iter().zip(&self.targets))
            .filter(|(column, target)| {
                let lower = column.name.to_lowercase();
                **target == Target::Skip
                    && wanted.iter().any(|wanted| is_like(&lower, wanted))
                    && !wanted.iter().any(|wanted| is_like(&column.name, wanted))
            })
            .map(|(column, _)| column.name.as_str())
            .collect();
        let is_free = !found.is_empty() && self.wanted.columns.get(role).is_none();
        is_free.then(|| Error::ColumnCase {
            file: self.file.to_owned(),
            role,
            columns: found.join(","),
        })
    }

    /// The names of a vector's columns.
    pub fn names_of(&self, vector: &Vector) -> Vec<String> {
        match vector {
            Vector::Flat(columns) => columns
                .iter()
                .map(|&index| self.columns[index].name.clone())
                .collect(),
            Vector::List(index) => vec![self.columns[*index].name.clone()],
        }
    }

    /// The error that no column fills a role.
    pub fn missing(&self, role: Role) -> Error {
        if let Some(error) = self.other_case(role) {
            return error;
        }
        let names = self.wanted.names(role);
        let wanted: Vec<String> = match (role.is_vector(), names.as_slice()) {
            (true, [_]) | (true, []) => names.iter().map(|n| format!("{n} or {n}_0")).collect(),
            _ => names,
        };
        let mut error = self.missing_as(role, &wanted.join(" or "));
        if let (Role::Obs, Error::MissingColumn { example, .. }) = (role, &mut error) {
            *example = self.example();
        }
        error
    }

    pub fn missing_as(&self, role: Role, wanted: &str) -> Error {
        if let Some(error) = self.without_names() {
            return error;
        }
        let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        // Names of the layout are not the user's typing errors.
        let mapped = self.wanted.columns.get(role).is_some();
        let near = nearest(wanted, &names).filter(|_| mapped);
        Error::MissingColumn {
            file: self.file.to_owned(),
            role,
            wanted: match near {
                Some(near) => format!("{wanted} (did you mean {near}?)"),
                None => wanted.to_owned(),
            },
            found: match names.is_empty() {
                true => "no columns".to_owned(),
                false => printable(names),
            },
            example: None,
        }
    }

    /// The error of a file whose first line has no names, if it has none.
    pub fn without_names(&self) -> Option<Error> {
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let (file, first) = (self.file.to_owned(), printable(names()));
        let is_value = |name: &&str| name.trim().parse::<f64>().is_ok();
        let is_fraction = |name: &str| name.contains('.') && is_value(&name);
        let (all, values) = (self.columns.len(), names().filter(is_value).count());
        // Some tools name columns by numbers.
        let named = names().any(|name| Role::ALL.iter().any(|role| role.name() == name));
        let data = values == all || (2 * values > all && names().any(is_fraction) && !named);
        match self.columns.is_empty() {
            true => None,
            false if data => Some(Error::NoHeader { file, first }),
            false if !names().all(is_printable) => {
                let remedy = remedy(self.columns.first().map_or("", |column| &column.name));
                Some(Error::NotText {
                    file,
                    first,
                    remedy,
                })
            }
            false => None,
        }
    }
}

/// What a file is that starts with this, read as text, and what to do.
fn remedy(start: &str) -> &'static str {
    let starts = |with: &str| start.starts_with(with);
    match start {
        _ if starts("PAR1") => "it is a Parquet file: give it the format parquet",
        _ if starts("\u{1f}\u{fffd}") => {
            "it is compressed: give it a name that ends in .gz, or decompress it"
        }
        _ if starts("(\u{fffd}/\u{fffd}") => {
            "it is compressed: give it a name that ends in .zst, or decompress it"
        }
        _ if starts("PK\u{3}\u{4}") => {
            "it is a spreadsheet or a zip archive: save the sheet as CSV, or unpack it"
        }
        _ if starts("\u{fffd}\u{fffd}") && start.contains('\0') => {
            "it is not in UTF-8, but perhaps in UTF-16: save it as UTF-8"
        }
        _ => "the file may be of another format, compressed, or not in UTF-8",
    }
}
