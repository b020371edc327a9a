//! One-hot encodes a category: texts, numbers and missing cells.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::level::{Level, MISSING, is_text};
use super::names::number;

/// One feature per level of one column, 1 for the current level; rare levels may share one.
///
/// Levels are in a fixed order: numbers by value, then texts by their bytes, then missing cells, then the rare ones. A level not
/// seen during fitting shares the feature of the rare ones; if there is none, the vector is zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub(super) struct Category {
    column: usize,
    /// Shared, because maps are copied for each thread.
    levels: Arc<Levels>,
}

#[derive(Debug, PartialEq)]
struct Levels {
    codes: Vec<f64>,
    /// The texts of the codes.
    labels: Vec<String>,
    /// The rare levels, increasing; empty if there is no feature for them.
    rare: Vec<f64>,
    /// The codes, increasing, with the features that they have.
    index: Vec<(f64, usize)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    column: usize,
    codes: Vec<f64>,
    labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rare: Vec<f64>,
}

impl From<Category> for Saved {
    fn from(map: Category) -> Self {
        Self {
            column: map.column,
            codes: map.levels.codes.clone(),
            labels: map.levels.labels.clone(),
            rare: map.levels.rare.clone(),
        }
    }
}

impl TryFrom<Saved> for Category {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        if saved.codes.len() != saved.labels.len() {
            return Err("a category has another number of labels than levels".into());
        }
        Ok(Self::of(
            saved.column,
            saved.codes,
            saved.labels,
            saved.rare,
        ))
    }
}

/// The text of a level, if it has one.
pub(super) type Label<'a> = &'a dyn Fn(f64) -> Option<String>;

impl Category {
    /// The map for the levels of a column, given by their codes and counts; those with fewer than `min_count` are rare.
    pub fn new(
        column: usize,
        counts: impl IntoIterator<Item = (f64, u64)>,
        min_count: u64,
        label: Label<'_>,
    ) -> Self {
        let (mut levels, mut rare) = (Vec::new(), Vec::new());
        for (code, count) in counts {
            match count >= min_count {
                true => levels.push((code, shown(code, label))),
                false => rare.push(code),
            }
        }
        levels.sort_by(|(a, x), (b, y)| {
            let kind = |code: f64| (code == MISSING, is_text(code));
            let numbers = || match is_text(*a) {
                true => x.as_bytes().cmp(y.as_bytes()),
                false => a.total_cmp(b),
            };
            kind(*a)
                .cmp(&kind(*b))
                .then_with(numbers)
                .then_with(|| a.total_cmp(b))
        });
        rare.sort_by(f64::total_cmp);
        let (codes, labels) = levels.into_iter().unzip();
        Self::of(column, codes, labels, rare)
    }

    /// The map for levels that are named in advance, in the given order.
    pub fn of_names(column: usize, names: &[String], missing: bool) -> Self {
        let mut codes: Vec<f64> = names
            .iter()
            .map(|name| Level::of_text(name.as_bytes()).code())
            .collect();
        let mut labels = names.to_vec();
        if missing {
            codes.push(MISSING);
            labels.push(String::new());
        }
        Self::of(column, codes, labels, Vec::new())
    }

    fn of(column: usize, codes: Vec<f64>, labels: Vec<String>, rare: Vec<f64>) -> Self {
        let mut index: Vec<(f64, usize)> = codes.iter().copied().zip(0..).collect();
        index.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Self {
            column,
            levels: Arc::new(Levels {
                codes,
                labels,
                rare,
                index,
            }),
        }
    }

    pub fn column(&self) -> usize {
        self.column
    }

    pub fn outputs(&self) -> usize {
        self.levels.codes.len() + usize::from(!self.levels.rare.is_empty())
    }

    pub fn fits(&self, inputs: usize) -> bool {
        let levels = &self.levels;
        let different = levels.index.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let increasing = levels.rare.windows(2).all(|pair| pair[0] < pair[1]);
        self.column < inputs && self.outputs() > 0 && different && increasing
    }

    /// The name of a feature; `input` names the columns.
    pub fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        let column = input(self.column);
        match self.levels.codes.get(index) {
            Some(&code) if code == MISSING => format!("one-hot({column} is missing)"),
            Some(_) => format!("one-hot({column}={})", self.levels.labels[index]),
            None => format!("one-hot({column} is rare)"),
        }
    }

    /// The text of a code, if it is that of a text.
    pub fn label(&self, code: f64) -> Option<&str> {
        let index = self.index(code)?;
        is_text(code).then(|| self.levels.labels[index].as_str())
    }

    /// The number of levels that share the feature of the rare ones.
    pub fn rare(&self) -> usize {
        self.levels.rare.len()
    }

    /// Whether the level of an observation was seen.
    pub fn knows(&self, x: &[f64]) -> bool {
        let code = x[self.column];
        let rare = &self.levels.rare;
        self.index(code).is_some() || rare.binary_search_by(|own| own.total_cmp(&code)).is_ok()
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        match self.index(x[self.column]) {
            Some(index) => put(index, 1.0),
            None if !self.levels.rare.is_empty() => put(self.levels.codes.len(), 1.0),
            None => {}
        }
    }

    #[inline]
    fn index(&self, code: f64) -> Option<usize> {
        let index = &self.levels.index;
        let at = index.partition_point(|&(own, _)| own < code);
        index
            .get(at)
            .filter(|(own, _)| *own == code)
            .map(|found| found.1)
    }
}

/// The text for a code.
fn shown(code: f64, label: Label<'_>) -> String {
    match code {
        MISSING => String::new(),
        code if is_text(code) => label(code).unwrap_or_else(|| format!("#{:x}", -code as u64)),
        code => number(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> f64 {
        Level::of_text(text.as_bytes()).code()
    }

    fn map(levels: &[(&str, u64)], min_count: u64) -> Category {
        let counts = levels.iter().map(|&(text, count)| (code(text), count));
        let label = |wanted: f64| {
            let found = levels.iter().find(|(text, _)| code(text) == wanted);
            found.map(|(text, _)| (*text).to_owned())
        };
        Category::new(0, counts, min_count, &label)
    }

    fn names(map: &Category) -> Vec<String> {
        (0..map.outputs())
            .map(|k| map.name(k, &|_| "c".into()))
            .collect()
    }

    fn feature(map: &Category, text: &str) -> Option<usize> {
        let mut found = None;
        map.write(&[code(text)], &mut |index, _| found = Some(index));
        found
    }

    #[test]
    fn the_order_is_that_of_numbers_then_texts_then_missing() {
        let one = map(&[("b", 1), ("10", 1), ("", 1), ("a", 1), ("9", 1)], 1);
        let two = map(&[("", 1), ("9", 1), ("a", 1), ("10", 1), ("b", 1)], 1);
        assert_eq!(one, two);
        assert_eq!(
            names(&one),
            [
                "one-hot(c=9)",
                "one-hot(c=10)",
                "one-hot(c=a)",
                "one-hot(c=b)",
                "one-hot(c is missing)"
            ]
        );
        for (index, text) in ["9", "10", "a", "b", ""].into_iter().enumerate() {
            assert_eq!(feature(&one, text), Some(index));
        }
        assert!(one.fits(1) && !one.fits(0));
        assert!(feature(&one, "c").is_none() && !one.knows(&[code("c")]));
    }

    #[test]
    fn rare_levels_share_a_feature() {
        let map = map(&[("a", 20), ("b", 19), ("c", 3), ("d", 50)], 20);
        assert_eq!(
            names(&map),
            ["one-hot(c=a)", "one-hot(c=d)", "one-hot(c is rare)"]
        );
        assert_eq!(
            ["b", "c", "new"].map(|text| feature(&map, text)),
            [Some(2); 3]
        );
        assert!(map.knows(&[code("b")]) && !map.knows(&[code("new")]));
        assert_eq!(map.rare(), 2);
    }

    #[test]
    fn the_saved_form_is_restored() {
        let map = map(&[("a", 20), ("b", 19), ("7", 40)], 20);
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<Category>(&text).unwrap(), map);
    }
}
