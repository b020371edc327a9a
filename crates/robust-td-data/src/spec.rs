//! Chooses the feature map for the columns of a log.

use robust_td_core::features::{Fitting, Input};

use crate::error::Result;
use crate::schema::Schema;
use crate::words::quoted;

/// The feature map that is asked for, or the default, which depends on the columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Spec {
    /// Any map.
    Given(String),
    /// The map of numbers; `one-hot` is added for every category.
    Default(&'static str),
}

impl Spec {
    /// The given map, or a default one.
    pub fn or(given: Option<&String>, default: &'static str) -> Self {
        given.map_or(Self::Default(default), |given| Self::Given(given.clone()))
    }

    /// The map as text, before the columns are known.
    pub fn text(&self) -> &str {
        match self {
            Self::Given(text) => text,
            Self::Default(text) => text,
        }
    }

    /// The map to fit to the observations of a log.
    pub fn fitting(&self, schema: &Schema, dimension: usize) -> Result<Fitting> {
        let inputs = schema.inputs(dimension);
        let text = match self {
            Self::Given(text) => text.clone(),
            Self::Default(text) => with_categories(text, &inputs),
        };
        Ok(Fitting::with_columns(&text, inputs)?)
    }
}

/// The map with `one-hot` for every category, before the bias; without the map of numbers where there are none.
fn with_categories(text: &str, inputs: &[Input]) -> String {
    let categories = inputs.iter().filter(|input| input.category);
    let names: Vec<String> = categories.map(|input| quoted(&input.name)).collect();
    if names.is_empty() {
        return text.into();
    }
    let mut parts: Vec<String> = text.split(" + ").map(str::to_owned).collect();
    parts.insert(1, format!("one-hot({})", names.join(", ")));
    if names.len() == inputs.len() {
        parts.remove(0);
    }
    parts.join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_takes_categories_by_name() {
        let inputs = |categories: &[bool]| -> Vec<Input> {
            let names = ["x", "my city", "y"].into_iter().zip(categories);
            names
                .map(|(name, &category)| Input {
                    category,
                    ..Input::number(name)
                })
                .collect()
        };
        let made = |text, categories: &[bool]| with_categories(text, &inputs(categories));
        assert_eq!(
            made("standardise + bias", &[false; 3]),
            "standardise + bias"
        );
        assert_eq!(
            made("standardise + bias", &[false, true, false]),
            "standardise + one-hot(\"my city\") + bias"
        );
        assert_eq!(made("standardise + bias", &[true]), "one-hot(x) + bias");
        assert_eq!(
            made("identity", &[false, true]),
            "identity + one-hot(\"my city\")"
        );
    }
}
