//! Keeps the texts of the levels of categories, which rows hold as numbers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use robust_td_core::features::Level;
use robust_td_core::features::level::LONGEST;

use crate::fault::{FaultKind, shown};

/// The maximum size of all texts in bytes.
const MOST: usize = 1 << 26;

/// The texts of a log by their codes, for all its readers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Labels {
    texts: Arc<Mutex<HashMap<u64, String>>>,
}

impl Labels {
    /// The text of a code, if a reader has seen it.
    pub fn get(&self, code: f64) -> Option<String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&code.to_bits()).cloned()
    }

    /// All texts, by the bits of their codes.
    pub fn all(&self) -> BTreeMap<u64, String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts
            .iter()
            .map(|(code, text)| (*code, text.clone()))
            .collect()
    }

    /// Adds texts, by the bits of their codes.
    pub fn add_all(&self, others: &[(u64, String)]) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.extend(others.iter().cloned());
    }

    fn add(&self, code: f64, text: &[u8]) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts
            .entry(code.to_bits())
            .or_insert_with(|| String::from_utf8_lossy(text).into_owned());
    }
}

/// Turns the cells of categories into codes, and remembers their texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coder {
    labels: Labels,
    /// The texts that this reader has seen.
    seen: HashMap<u64, Box<[u8]>>,
    bytes: usize,
}

impl Coder {
    /// A coder that adds its texts to those of the log.
    pub fn new(labels: Labels) -> Self {
        Self {
            labels,
            ..Self::default()
        }
    }

    /// The code of a text.
    #[inline]
    pub fn code(&mut self, text: &[u8]) -> Result<f64, FaultKind> {
        match Level::of_text(text) {
            Level::Text(text) => self.text_code(text),
            Level::Missing => Err(FaultKind::Missing),
            Level::Number(code) => Ok(code),
        }
    }

    /// The code of a number.
    pub fn number_code(&mut self, value: f64) -> Result<f64, FaultKind> {
        match Level::of_number(value) {
            Some(Level::Missing) => Err(FaultKind::Missing),
            Some(level) => Ok(level.code()),
            None => self.text_code(value.to_string().as_bytes()),
        }
    }

    fn text_code(&mut self, text: &[u8]) -> Result<f64, FaultKind> {
        let code = Level::Text(text).code();
        match self.seen.get(&code.to_bits()) {
            Some(own) if **own == *text => Ok(code),
            Some(own) => Err(FaultKind::SameCode {
                value: shown(text),
                other: shown(own),
            }),
            None => self.add(code, text),
        }
    }

    #[cold]
    fn add(&mut self, code: f64, text: &[u8]) -> Result<f64, FaultKind> {
        if text.len() > LONGEST {
            return Err(FaultKind::LongText {
                value: shown(text),
                limit: LONGEST,
            });
        }
        self.bytes += text.len();
        if self.bytes > MOST {
            return Err(FaultKind::TooManyTexts { limit: MOST });
        }
        self.labels.add(code, text);
        self.seen.insert(code.to_bits(), text.into());
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_codes() {
        let labels = Labels::default();
        let mut coder = Coder::new(labels.clone());
        let code = coder.code(b" Paris ").unwrap();
        assert_eq!(coder.code(b"Paris"), Ok(code));
        assert_eq!(labels.get(code).unwrap(), "Paris");
        assert_eq!(coder.code(b"7"), coder.number_code(7.0));
        assert_eq!(labels.get(7.0), None);
        // The same in text and in a column of integers.
        let large = coder.code(b"18014398509481985").unwrap();
        assert_eq!(labels.get(large).unwrap(), "18014398509481985");
        assert_eq!(coder.code(b""), Err(FaultKind::Missing));
    }

    #[test]
    fn long_texts_are_refused() {
        let mut coder = Coder::default();
        assert!(coder.code(&[b'x'; LONGEST]).is_ok());
        let refused = coder.code(&[b'x'; LONGEST + 1]);
        assert!(matches!(refused, Err(FaultKind::LongText { .. })));
    }
}
