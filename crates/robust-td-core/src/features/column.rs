//! Finds columns by their names and patterns.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// One column of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Whether its cells are levels of a category, such as texts, rather than numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub category: bool,
    /// Whether a missing cell is a level of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

impl Input {
    /// A column of numbers.
    #[must_use]
    pub fn number(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            category: false,
            missing: false,
        }
    }
}

/// A name of a column in a description, or a pattern with `*` (any text) and `?` (any character).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnName {
    /// The name or the pattern.
    pub text: String,
    /// Whether it is a pattern.
    pub is_pattern: bool,
}

impl ColumnName {
    /// Whether a column is meant.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match self.is_pattern {
            false => self.text == name,
            true => {
                let pattern: Vec<char> = self.text.chars().collect();
                let name: Vec<char> = name.chars().collect();
                is_match(&pattern, &name)
            }
        }
    }

    /// The columns that are meant. Those of a pattern are sorted by name, with numbers in numeric order, so that the result does not
    /// depend on the order of the columns.
    #[must_use]
    pub fn find(&self, names: &[&str]) -> Vec<usize> {
        let mut found: Vec<usize> = (0..names.len())
            .filter(|&k| self.matches(names[k]))
            .collect();
        if self.is_pattern {
            found.sort_by(|&a, &b| natural(names[a], names[b]));
        }
        found
    }
}

impl std::fmt::Display for ColumnName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Matches a pattern with one place to return to: the last `*`.
fn is_match(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Compares names with the numbers in them by value: `x_2` before `x_10`.
fn natural(a: &str, b: &str) -> Ordering {
    fn pieces(text: &str) -> Vec<(bool, &str)> {
        let (mut pieces, mut start) = (Vec::new(), 0);
        let digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
        for at in 1..=text.len() {
            if at == text.len() || digit(at) != digit(start) {
                pieces.push((digit(start), &text[start..at]));
                start = at;
            }
        }
        pieces
    }
    if a.is_empty() || b.is_empty() {
        return a.cmp(b);
    }
    let (left, right) = (pieces(a), pieces(b));
    for (x, y) in left.iter().zip(&right) {
        let order = match (x, y) {
            ((true, x), (true, y)) => {
                let (p, q) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
                p.len().cmp(&q.len()).then_with(|| p.cmp(q))
            }
            ((_, x), (_, y)) => x.cmp(y),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The nearest of some names, if one is similar.
#[must_use]
pub fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let likeness = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = names
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.7).then_some(best)
}

/// A name as it is written in a description: in quotes if it has signs with a meaning.
#[must_use]
pub fn quoted(name: &str) -> String {
    match is_plain(name) && !name.contains(['*', '?']) {
        true => name.into(),
        false if name.contains('"') => format!("'{name}'"),
        false => format!("\"{name}\""),
    }
}

/// Whether a name needs no quotes.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-.:[]*?#$%@/".contains(c);
    !name.is_empty() && name.chars().all(plain)
}

/// As [`unknown`], for a name that is not a pattern.
#[must_use]
pub fn unknown_name(name: &str, names: &[&str]) -> String {
    let name = ColumnName {
        text: name.into(),
        is_pattern: false,
    };
    unknown(&name, names)
}

/// The message for a name that no column has.
#[must_use]
pub fn unknown(name: &ColumnName, names: &[&str]) -> String {
    let what = match name.is_pattern {
        true => format!("no column matches {name}"),
        false => format!("no column is named {name}"),
    };
    let near = nearest(&name.text.replace(['*', '?'], ""), names);
    let the = near.map_or("; the".to_owned(), |near| {
        format!("; did you mean {near}? The")
    });
    format!(
        "{what}{the} columns are {}",
        printable(names.iter().copied())
    )
}

/// Names for a message, with signs that cannot be printed escaped: those of a binary file must not reach a terminal.
#[must_use]
pub fn printable<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const LONGEST: usize = 60;
    const MOST: usize = 30;
    let name = |name: &str| {
        let shown = match is_printable(name) {
            true => name.to_owned(),
            false => name.escape_debug().to_string(),
        };
        match shown.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &shown[..end]),
            None => shown,
        }
    };
    let mut names = names.into_iter();
    let mut list: Vec<String> = names.by_ref().take(MOST).map(name).collect();
    if names.next().is_some() {
        list.push("...".to_owned());
    }
    list.join(", ")
}

/// Whether a name is text that a terminal can show.
#[must_use]
pub fn is_printable(name: &str) -> bool {
    !name.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> ColumnName {
        ColumnName {
            text: text.into(),
            is_pattern: text.contains(['*', '?']),
        }
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (text, name, expected) in [
            ("num_*", "num_1", true),
            ("num_*", "num_", true),
            ("num_*", "nun_1", false),
            ("*", "", true),
            ("*_x_*", "a_x_b_x_c", true),
            ("?", "ü", true),
            ("?", "", false),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "abbb", false),
            ("x", "x", true),
            ("x", "xy", false),
        ] {
            assert_eq!(pattern(text).matches(name), expected, "{text} {name}");
        }
    }

    #[test]
    fn the_columns_of_a_pattern_do_not_depend_on_their_order() {
        let names = ["x_10", "y", "x_2", "x_1", "x_a"];
        let found = pattern("x_*").find(&names);
        let found: Vec<&str> = found.into_iter().map(|k| names[k]).collect();
        assert_eq!(found, ["x_1", "x_2", "x_10", "x_a"]);
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_one() {
        let message = unknown(&pattern("posiiton"), &["position", "velocity", "reward"]);
        let expected = "; did you mean position? The columns are position, velocity, reward";
        assert!(message.ends_with(expected), "{message}");
        assert!(!unknown(&pattern("q"), &["position"]).contains("did you mean"));
    }

    #[test]
    fn names_in_messages_can_be_printed() {
        assert_eq!(printable(["obs_0", "größe"]), "obs_0, größe");
        assert_eq!(
            printable(["\u{1b}[2J", "a\u{fffd}"]),
            "\\u{1b}[2J, a\u{fffd}"
        );
        let long = "x".repeat(100);
        assert_eq!(printable([long.as_str()]), format!("{}...", "x".repeat(60)));
        let many = vec!["y"; 40];
        assert!(printable(many).ends_with("y, ..."));
    }
}
