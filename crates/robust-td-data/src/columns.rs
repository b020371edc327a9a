//! Parses `role=column`, the user's mapping of column names.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::role::Role;

/// The columns mapped to roles; other roles keep the names of the layout.
///
/// `obs` and `next_obs` take one name, of a list column or the stem of `name_0, name_1, ...`, or several
/// single columns: `obs=age,income`, or `obs=age` and `obs=income`. The others take one column.
///
/// ```
/// use robust_td_data::{ColumnMap, Role};
///
/// let columns = ColumnMap::parse(["reward=r", "obs=age,income", "terminated=done"])?;
/// assert_eq!(columns.get(Role::Obs), Some(&["age".to_owned(), "income".to_owned()][..]));
/// assert!(ColumnMap::parse(["prize=r"]).is_err());
/// # Ok::<(), robust_td_data::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnMap {
    names: BTreeMap<Role, Vec<String>>,
}

impl ColumnMap {
    /// Parses a list of `role=column`.
    ///
    /// # Errors
    /// When an entry is not of this form, has an unknown role, or names a second column for a single-column
    /// role.
    pub fn parse<S: AsRef<str>>(specs: impl IntoIterator<Item = S>) -> Result<Self> {
        let mut columns = Self::default();
        for spec in specs {
            columns.add(spec.as_ref())?;
        }
        Ok(columns)
    }

    /// The columns mapped to a role.
    #[must_use]
    pub fn get(&self, role: Role) -> Option<&[String]> {
        self.names.get(&role).map(Vec::as_slice)
    }

    /// The same with a cluster column.
    #[must_use]
    pub fn with_cluster(mut self, column: impl Into<String>) -> Self {
        self.names.insert(Role::Cluster, vec![column.into()]);
        self
    }

    /// Adds the columns of roles that are not mapped here.
    pub(crate) fn add_others(&mut self, other: &Self) {
        for (&role, names) in &other.names {
            self.names.entry(role).or_insert_with(|| names.clone());
        }
    }

    fn add(&mut self, spec: &str) -> Result<()> {
        let malformed = || Error::ColumnSpec {
            spec: spec.to_owned(),
        };
        let (role_name, column) = spec.split_once('=').ok_or_else(malformed)?;
        let role = Role::from_str(role_name.trim()).map_err(|()| Error::UnknownRole {
            spec: spec.to_owned(),
            role: role_name.to_owned(),
        })?;
        // The name of a single column may contain a comma; in a vector it separates names.
        let separator = |c| role.is_vector() && c == ',';
        let columns: Vec<&str> = column.split(separator).map(str::trim).collect();
        if columns.iter().any(|name| name.is_empty()) {
            return Err(malformed());
        }
        let named = self.names.entry(role).or_default();
        for name in columns {
            match named.first() {
                Some(first) if !role.is_vector() => {
                    return Err(Error::TwoColumns {
                        role,
                        first: first.clone(),
                        second: name.to_owned(),
                    });
                }
                _ => named.push(name.to_owned()),
            }
        }
        Ok(())
    }
}
