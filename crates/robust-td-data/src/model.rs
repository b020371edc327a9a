//! Saves and restores the answer to an evaluation.
//!
//! A model file is one JSON object: what it is, its version, a digest, and the model. The digest is BLAKE3 of the model's text, so
//! that a flipped bit or a cut is noticed rather than predicted with.

use std::path::Path;

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Learner, LinearValue};
use serde::{Deserialize, Serialize};

use crate::assess::Assessment;
use crate::averaged::Averaged;
use crate::error::{Error, Result};
use crate::files;
use crate::learned::Learned;
use crate::options::ReadAs;
use crate::solved::Solved;

/// The kind of file that a model file declares.
const KIND: &str = "robust-td model";
/// The version of the file's format.
const VERSION: u32 = 13;
/// The number of hexadecimal digits of a digest.
const DIGITS: usize = 2 * blake3::OUT_LEN;

/// The answer to an evaluation: everything needed to predict, and for a learner or a stream also to resume.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A learner that steps through a log.
    Learned(Box<Learned>),
    /// The TD fixed point of a log; that of a stream can be resumed.
    Solved(Box<Solved>),
    /// The average of independent learners, each on its own shard of a log.
    Averaged(Box<Averaged>),
}

/// The start of a model file, up to the digest; then its digits, [`AFTER_DIGEST`], the model and a brace.
fn before_digest() -> String {
    format!("{{\"kind\":\"{KIND}\",\"version\":{VERSION},\"digest\":\"")
}
const AFTER_DIGEST: &str = "\",\"model\":";

/// The text of the model in a file, if its digest matches.
fn opened(text: &str) -> Option<&str> {
    let rest = text.trim_end().strip_prefix(before_digest().as_str())?;
    let (digest, rest) = rest.split_at_checked(DIGITS)?;
    let model = rest.strip_prefix(AFTER_DIGEST)?.strip_suffix('}')?;
    (blake3::hash(model.as_bytes()).to_hex().as_str() == digest).then_some(model)
}

impl Model {
    /// Reads a model that [`Model::save`] wrote.
    ///
    /// # Errors
    /// When the file cannot be read, is not a model, has another version, or is inconsistent.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let file = path.as_ref().display().to_string();
        let text = files::text(path.as_ref(), files::longest()).map_err(|source| Error::Open {
            file: file.clone(),
            source,
        })?;
        Self::from_json(&text).map_err(|error| error.in_file(file))
    }

    /// Writes the model to a file, atomically.
    ///
    /// # Errors
    /// When the model cannot be restored from what would be written, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, text) = (path.as_ref(), self.to_json()?);
        // Numbers of a log near the largest that there is can overflow in sums, which JSON cannot hold.
        Self::from_json(&text).map_err(|error| Error::NotSaved {
            file: path.display().to_string(),
            message: error.to_string(),
        })?;
        Ok(files::write_checked(path, text.as_bytes())?)
    }

    /// Restores a model.
    ///
    /// # Errors
    /// When the text is not a model, has another version, or is inconsistent.
    pub fn from_json(text: &str) -> Result<Self> {
        /// The fields that are read first, to recognise a file of another kind or version.
        #[derive(Deserialize)]
        struct Head {
            kind: String,
            version: u32,
        }
        let broken = |message: String| Error::Model { message };
        let head: Head = serde_json::from_str(text)
            .map_err(|error| broken(format!("it is not a {KIND}: {error}")))?;
        if head.kind != KIND {
            return Err(broken(format!("it is a {:?}, not a {KIND}", head.kind)));
        }
        if head.version != VERSION {
            let found = head.version;
            return Err(broken(format!(
                "it is a {KIND} of version {found}, but this robust-td reads version {VERSION}; evaluate the data again, or use \
                 the robust-td that wrote it"
            )));
        }
        let Some(model) = opened(text) else {
            return Err(broken(
                "it is damaged or was changed: its digest does not match; evaluate the data again"
                    .to_owned(),
            ));
        };
        let model: Self = serde_json::from_str(model)
            .map_err(|error| broken(format!("it is damaged: {error}")))?;
        Ok(match model {
            Self::Learned(learned) => Self::Learned(Box::new(learned.checked()?)),
            Self::Solved(solved) => Self::Solved(Box::new(solved.checked()?)),
            Self::Averaged(averaged) => Self::Averaged(Box::new(averaged.checked()?)),
        })
    }

    /// The model as text; [`Model::from_json`] restores it.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        let mut text = before_digest().into_bytes();
        let digest = text.len()..text.len() + DIGITS;
        text.resize(digest.end, b'0');
        text.extend_from_slice(AFTER_DIGEST.as_bytes());
        let model = text.len();
        let failed = |message: String| Error::Model { message };
        serde_json::to_writer(&mut text, self).map_err(|error| failed(error.to_string()))?;
        let hash = blake3::hash(&text[model..]).to_hex();
        text[digest].copy_from_slice(hash.as_bytes());
        text.push(b'}');
        String::from_utf8(text).map_err(|error| failed(error.to_string()))
    }

    /// The text of a file with the given JSON text as its model; for tests of damaged models.
    #[doc(hidden)]
    #[must_use]
    pub fn sealed(model: &str) -> String {
        let digest = blake3::hash(model.as_bytes()).to_hex();
        format!("{}{digest}{AFTER_DIGEST}{model}}}", before_digest())
    }

    /// The feature map.
    #[must_use]
    pub fn features(&self) -> &FeatureMap {
        match self {
            Self::Learned(learned) => learned.features(),
            Self::Solved(solved) => &solved.features,
            Self::Averaged(averaged) => &averaged.features,
        }
    }

    /// The value function.
    #[must_use]
    pub fn value_function(&self) -> LinearValue {
        match self {
            Self::Learned(learned) => learned.learner().value_function(),
            Self::Solved(solved) => solved.value_function(),
            Self::Averaged(averaged) => averaged.value_function(),
        }
    }

    /// The discount factor gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        match self {
            Self::Learned(learned) => learned.learner().discount(),
            Self::Solved(solved) => solved.discount,
            Self::Averaged(averaged) => averaged.discount,
        }
    }

    /// How the log was read, if that is known.
    pub(crate) fn layout(&self) -> ReadAs {
        match self {
            Self::Learned(learned) => learned.read_as(),
            Self::Solved(solved) => solved.read_as(),
            Self::Averaged(averaged) => averaged.read_as(),
        }
    }

    /// What is known about the answer on its log; `None` for a stream and for a resumed learner.
    pub(crate) fn assessment(&self) -> Option<&Assessment> {
        match self {
            Self::Learned(learned) => learned.assessment(),
            Self::Solved(solved) => Some(&solved.assessment),
            Self::Averaged(averaged) => averaged.assessment.as_ref(),
        }
    }

    /// Whether the answer solves the equations of the log; `None` if that is not known.
    #[must_use]
    pub fn converged(&self) -> Option<bool> {
        match self {
            Self::Learned(learned) => learned.converged(),
            Self::Solved(solved) => Some(solved.assessment.converged()),
            Self::Averaged(averaged) => averaged.converged(),
        }
    }

    /// The number of transitions learned from.
    #[must_use]
    pub fn steps(&self) -> u64 {
        match self {
            Self::Learned(learned) => learned.learner().steps(),
            Self::Solved(solved) => solved.facts.transitions,
            Self::Averaged(averaged) => averaged.facts.transitions,
        }
    }
}
