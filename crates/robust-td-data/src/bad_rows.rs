//! Counts skipped bad rows, up to the allowed number.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fault::Fault;

/// The number of bad rows remembered with their place.
const REMEMBERED: usize = 8;

/// The bad rows of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadKind {
    /// Their number.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub count: u64,
    /// The first of them.
    pub first: Fault,
}

/// The bad rows found so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRows {
    /// The number that may be skipped; any number if there is none.
    allowed: Option<u64>,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    count: u64,
    first: Vec<Fault>,
    kinds: Vec<BadKind>,
}

impl Default for BadRows {
    fn default() -> Self {
        Self::allowing(0)
    }
}

impl BadRows {
    pub(crate) fn allowing(allowed: u64) -> Self {
        Self {
            allowed: Some(allowed).filter(|allowed| *allowed < u64::MAX),
            count: 0,
            first: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// Whether any may be skipped.
    pub(crate) fn may_skip(&self) -> bool {
        self.allowed != Some(0)
    }

    /// The number of skipped rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first few skipped rows.
    #[must_use]
    pub fn first(&self) -> &[Fault] {
        &self.first
    }

    /// The first bad row of each kind with the count of that kind, in order of first occurrence.
    #[must_use]
    pub fn kinds(&self) -> &[BadKind] {
        &self.kinds
    }

    /// Skips a row, or fails when no more rows may be skipped.
    pub(crate) fn skip(&mut self, fault: Fault) -> Result<()> {
        if let Some(allowed) = self.allowed.filter(|allowed| self.count >= *allowed) {
            let fault = Box::new(fault);
            return Err(match allowed {
                0 => Error::BadRow { fault },
                allowed => Error::TooManyBadRows { fault, allowed },
            });
        }
        self.count += 1;
        let name = fault.kind.name();
        match self.kinds.iter_mut().find(|k| k.first.kind.name() == name) {
            Some(kind) => kind.count += 1,
            None => self.kinds.push(BadKind {
                count: 1,
                first: fault.clone(),
            }),
        }
        if self.first.len() < REMEMBERED {
            self.first.push(fault);
        }
        Ok(())
    }
}
