//! Parses the names of methods and their settings: `alg1`, `alg1:c=0.01`, `bhandari-b:step=0.1:radius=3`.

use robust_td_core::registry::{self, Method};

use super::error::ContestError;
use crate::setting::setting;

/// A requested method with its own settings.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The text that requested it, which labels it in all outputs.
    pub label: String,
    /// The method.
    pub method: &'static Method,
    /// Its settings.
    pub settings: Vec<(String, f64)>,
}

impl Choice {
    /// Parses `id` or `id:name=value:...`.
    pub fn parse(text: &str) -> Result<Self, ContestError> {
        let mut parts = text.trim().split(':');
        let id = parts.next().unwrap_or_default().trim();
        let settings = parts.map(setting).collect::<Result<_, _>>();
        Ok(Self {
            label: text.trim().into(),
            method: method(id)?,
            settings: settings.map_err(|source| ContestError::Settings {
                text: text.into(),
                source,
            })?,
        })
    }

    /// A method without settings.
    #[must_use]
    pub fn plain(method: &'static Method) -> Self {
        Self {
            label: method.id.into(),
            method,
            settings: Vec::new(),
        }
    }
}

/// The method with an id; the error suggests a similar one.
pub fn method(id: &str) -> Result<&'static Method, ContestError> {
    registry::find(id).map_err(ContestError::UnknownMethod)
}

/// A parameter of every method that has it, or of all entries of one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// The method, or all.
    pub id: Option<String>,
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Override {
    /// Parses `name=value` or `id.name=value`.
    pub fn parse(text: &str) -> Result<Self, ContestError> {
        let (key, value) = setting(text)?;
        Self::new(&key, value)
    }

    /// A value for `name` or `id.name`.
    pub fn new(key: &str, value: f64) -> Result<Self, ContestError> {
        let (id, name) = match key.split_once('.') {
            Some((id, name)) => (Some(method(id)?.id.to_string()), name.to_string()),
            None => (None, key.to_string()),
        };
        Ok(Self { id, name, value })
    }

    /// Whether it applies to a method.
    #[must_use]
    pub fn concerns(&self, method: &Method) -> bool {
        let has = || method.parameters.iter().any(|p| p.name == self.name);
        match &self.id {
            Some(id) => method.is_named(id),
            None => has(),
        }
    }

    /// The name as it was written.
    #[must_use]
    pub fn key(&self) -> String {
        match &self.id {
            Some(id) => format!("{id}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_carry_their_settings() {
        let choice = Choice::parse(" alg1-doubling:c=0.5:t0=64 ").unwrap();
        assert_eq!(
            (choice.method.id, choice.label.as_str()),
            ("alg1-doubling", "alg1-doubling:c=0.5:t0=64")
        );
        assert_eq!(choice.settings, [("c".into(), 0.5), ("t0".into(), 64.0)]);
        for (text, words) in [
            ("alg2", "did you mean \"alg1\"?"),
            ("alg1:c", "KEY=VALUE"),
            ("alg1:c=x", "\"x\" is not a number"),
            ("alg1:c=inf", "not a finite number"),
        ] {
            let message = Choice::parse(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn overrides_are_for_one_method_or_for_all() {
        let all = Override::parse("c=2").unwrap();
        let one = Override::parse("alg1.c=2").unwrap();
        let (alg1, other) = (method("alg1").unwrap(), method("alg1-const").unwrap());
        assert!(all.concerns(alg1) && all.concerns(other));
        assert!(one.concerns(alg1) && !one.concerns(other));
        assert!(
            Override::parse("alg.c=2")
                .unwrap_err()
                .to_string()
                .contains("alg1")
        );
    }
}
