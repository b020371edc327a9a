//! Parses the text that describes a feature map.
//!
//! ```text
//! SPEC  = STAGE | STAGE | ...        each stage takes the features of the one before it
//! STAGE = MAP + MAP + ...            the features of all maps, one after the other
//! MAP   = name  or  name(COLUMNS; key=value, ...)
//! ```
//!
//! | map | keys (defaults) | features |
//! |---|---|---|
//! | `identity` | | the input |
//! | `bias` | | a constant 1 |
//! | `standardise` | | mean 0, deviation 1, from a first pass over the data |
//! | `running` | | mean 0, deviation 1 by running moments; first stage only |
//! | `polynomial` | `degree` (2) | all monomials up to the degree, with the constant 1 |
//! | `fourier` | `order` (3), `coupled` (1), `low`, `high` | cosines up to the order |
//! | `tiles` | `tilings` (8), `bins` (8), `size`, `low`, `high` | tile coding, `size` features per tiling |
//! | `rbf` | `centres` (5), `width` (1), `low`, `high` | Gaussian bumps on a grid |
//! | `one-hot` | `column` (0), `count`, `min_count`, `missing`, `levels` | one feature per level of a category |
//!
//! COLUMNS are names, separated by commas, or patterns with `*` and `?`: `standardise(x, num_*)`. A name with other signs than letters,
//! digits, `_`, `-`, `.`, `:`, `[` and `]` is written in quotes. A map without names takes all columns that are not categories; `one-hot`
//! without a name takes the column with the number `column`. `one-hot` of several columns is one map for each.
//!
//! `low` and `high` (both or neither) set the range of all coordinates; otherwise a pass over the data
//! measures it. `one-hot` uses the values 0, 1, ..., count - 1, or those of `levels=a/b/c`, or without both the levels found in that
//! pass. `min_count=N` joins levels with fewer rows, and `missing=level` makes missing cells a level.

use super::MAX_FEATURES;
use super::polynomial::MAX_DEGREE;
use crate::error::{Error, Result};

use super::column::{ColumnName, is_plain};
use super::level::LONGEST;

/// The names of the maps.
const MAPS: [&str; 9] = [
    "identity",
    "bias",
    "standardise",
    "running",
    "polynomial",
    "fourier",
    "tiles",
    "rbf",
    "one-hot",
];

/// The maps of a stage, stage by stage.
pub(super) type Stages = Vec<Vec<Item>>;

/// The maximum number of levels that `levels` can list.
const MAX_LEVELS: usize = 100_000;

/// One map with the columns that it names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// Its text, for messages.
    pub text: String,
    /// The columns; none if it takes all.
    pub columns: Vec<ColumnName>,
    pub map: MapSpec,
}

/// One map as requested.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MapSpec {
    Identity,
    Bias,
    Standardise,
    Running,
    Polynomial {
        degree: usize,
    },
    Fourier {
        order: usize,
        coupled: bool,
        bounds: Option<(f64, f64)>,
    },
    Tiles {
        tilings: usize,
        bins: usize,
        size: Option<usize>,
        bounds: Option<(f64, f64)>,
    },
    Rbf {
        centres: usize,
        width: f64,
        bounds: Option<(f64, f64)>,
    },
    OneHot(OneHotSpec),
}

/// A one-hot map as requested.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OneHotSpec {
    pub column: usize,
    pub count: Option<usize>,
    pub min_count: Option<u64>,
    pub missing: bool,
    pub levels: Option<Vec<String>>,
}

/// Parses a description.
///
/// # Errors
/// Names the invalid part and the valid alternatives.
pub(super) fn parse(text: &str) -> Result<Stages> {
    let stages = split(text, |c| c == '|').into_iter().map(|stage| {
        let maps = split(stage, |c| c == '+').into_iter();
        let maps = maps.map(|map| parse_map(map.trim()));
        maps.collect::<Result<Vec<_>>>()
    });
    stages.collect()
}

/// Splits a text outside quotes and parentheses.
fn split(text: &str, separates: impl Fn(char) -> bool) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '(' => depth += 1,
            None if c == ')' => depth = depth.saturating_sub(1),
            None if depth == 0 && separates(c) => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            None => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The text in quotes, if it is in quotes.
fn unquoted(text: &str) -> Option<&str> {
    let inside = |sign: char| text.strip_prefix(sign)?.strip_suffix(sign);
    inside('"').or_else(|| inside('\''))
}

/// The error for one part of a description.
pub(super) fn refused(part: &str, problem: impl Into<String>) -> Error {
    Error::FeatureSpec {
        part: part.into(),
        problem: problem.into(),
    }
}

fn parse_map(text: &str) -> Result<Item> {
    let (name, inside) = match text.split_once('(') {
        Some((name, rest)) => {
            let inside = rest.trim_end().strip_suffix(')');
            (
                name.trim(),
                inside.ok_or_else(|| refused(text, "a closing parenthesis is missing"))?,
            )
        }
        None => (text, ""),
    };
    let mut keys = Keys::read(text, inside)?;
    let map = match name {
        "identity" => MapSpec::Identity,
        "bias" => MapSpec::Bias,
        "standardise" => MapSpec::Standardise,
        "running" => MapSpec::Running,
        "polynomial" => MapSpec::Polynomial {
            degree: match keys.whole("degree", 0)?.unwrap_or(2) {
                degree if degree > MAX_DEGREE => {
                    let problem = format!("degree is {degree}, but must be at most {MAX_DEGREE}");
                    return Err(refused(text, problem));
                }
                degree => degree,
            },
        },
        "fourier" => MapSpec::Fourier {
            order: keys.whole("order", 1)?.unwrap_or(3),
            coupled: match keys.whole("coupled", 0)? {
                None | Some(1) => true,
                Some(0) => false,
                Some(other) => {
                    return Err(refused(
                        text,
                        format!("coupled is {other}, but must be 0 or 1"),
                    ));
                }
            },
            bounds: keys.bounds()?,
        },
        "tiles" => MapSpec::Tiles {
            tilings: keys.whole("tilings", 1)?.unwrap_or(8),
            bins: keys.whole("bins", 1)?.unwrap_or(8),
            size: keys.whole("size", 1)?,
            bounds: keys.bounds()?,
        },
        "rbf" => MapSpec::Rbf {
            centres: keys.whole("centres", 1)?.unwrap_or(5),
            width: keys.positive("width")?.unwrap_or(1.0),
            bounds: keys.bounds()?,
        },
        "one-hot" => MapSpec::OneHot(one_hot(&mut keys)?),
        "" => {
            return Err(refused(
                text,
                "a map without a name; write one on each side of + and |, such as standardise + bias",
            ));
        }
        _ => {
            let known = crate::suggestion::or_known(name, &MAPS);
            return Err(refused(text, format!("unknown map {name:?}; {known}")));
        }
    };
    let columns = keys.end()?;
    if map == MapSpec::Bias && !columns.is_empty() {
        return Err(refused(text, "bias takes no columns"));
    }
    Ok(Item {
        text: text.into(),
        columns,
        map,
    })
}

fn one_hot(keys: &mut Keys<'_>) -> Result<OneHotSpec> {
    let column = keys.whole("column", 0)?;
    let spec = OneHotSpec {
        column: column.unwrap_or(0),
        count: keys.whole("count", 1)?,
        min_count: keys.whole("min_count", 1)?.map(|count| count as u64),
        missing: match keys.take("missing") {
            None => false,
            Some("level") => true,
            Some(other) => {
                let problem = format!("missing is {other:?}, but must be level");
                return Err(refused(keys.map, problem));
            }
        },
        levels: keys.levels()?,
    };
    let set = [
        spec.count.is_some(),
        spec.levels.is_some(),
        spec.min_count.is_some(),
    ];
    let problem = match keys.columns.is_empty() {
        _ if set.into_iter().filter(|&set| set).count() > 1 => {
            "use only one of count, levels and min_count"
        }
        false if column.is_some() => "column is for maps that name no column",
        true if spec.missing => "missing=level needs the name of the column",
        _ => return Ok(spec),
    };
    Err(refused(keys.map, problem))
}

/// The keys of one map that are not consumed yet, and its columns.
struct Keys<'a> {
    map: &'a str,
    columns: Vec<ColumnName>,
    left: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    fn read(map: &'a str, inside: &'a str) -> Result<Self> {
        let (mut columns, mut left): (Vec<_>, Vec<(&str, &str)>) = (Vec::new(), Vec::new());
        for item in split(inside, |c| c == ',' || c == ';')
            .into_iter()
            .map(str::trim)
            .filter(|item| !item.is_empty())
        {
            match split(item, |c| c == '=')[..] {
                [name] => columns.push(column(map, name)?),
                [key, value] => {
                    let key = key.trim();
                    if left.iter().any(|&(other, _)| other == key) {
                        return Err(refused(map, format!("{key} is given twice")));
                    }
                    left.push((key, value.trim()));
                }
                _ => return Err(refused(map, format!("{item:?} is not key=value"))),
            }
        }
        Ok(Self {
            map,
            columns,
            left,
            known: Vec::new(),
        })
    }

    fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let at = self.left.iter().position(|&(name, _)| name == key)?;
        Some(self.left.remove(at).1)
    }

    fn whole(&mut self, key: &'static str, least: usize) -> Result<Option<usize>> {
        let Some(text) = self.take(key) else {
            return Ok(None);
        };
        // No size beyond the number of features makes sense, and sums of smaller ones do not overflow.
        let value = text.parse::<usize>().ok();
        let value = value.filter(|value| (least..=MAX_FEATURES).contains(value));
        let expected = || {
            format!("{key} is {text:?}, but must be a whole number from {least} to {MAX_FEATURES}")
        };
        value.map(Some).ok_or_else(|| refused(self.map, expected()))
    }

    fn finite(&mut self, key: &'static str) -> Result<Option<f64>> {
        let Some(text) = self.take(key) else {
            return Ok(None);
        };
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        let expected = || format!("{key} is {text:?}, but must be a finite number");
        value.map(Some).ok_or_else(|| refused(self.map, expected()))
    }

    fn positive(&mut self, key: &'static str) -> Result<Option<f64>> {
        match self.finite(key)? {
            Some(value) if !(value > 0.0) => Err(refused(
                self.map,
                format!("{key} is {value}, but must be above 0"),
            )),
            value => Ok(value),
        }
    }

    fn bounds(&mut self) -> Result<Option<(f64, f64)>> {
        match (self.finite("low")?, self.finite("high")?) {
            (None, None) => Ok(None),
            (Some(low), Some(high)) if low < high => Ok(Some((low, high))),
            (Some(low), Some(high)) => {
                let problem = format!("low is {low}, but must be below high, which is {high}");
                Err(refused(self.map, problem))
            }
            _ => Err(refused(self.map, "low and high must be given together")),
        }
    }

    /// The levels of a list such as a/b/c.
    fn levels(&mut self) -> Result<Option<Vec<String>>> {
        let Some(text) = self.take("levels") else {
            return Ok(None);
        };
        let (mut levels, mut seen) = (Vec::new(), std::collections::HashSet::new());
        for name in split(text, |c| c == '/') {
            let name = name.trim();
            let name = unquoted(name).unwrap_or(name);
            let problem = match name.len() {
                0 => "a level without a name".into(),
                LONGEST.. => format!("a level of more than {LONGEST} bytes"),
                _ if !seen.insert(name) => format!("{name:?} twice"),
                _ if levels.len() == MAX_LEVELS => format!("more than {MAX_LEVELS} levels"),
                _ => {
                    levels.push(name.into());
                    continue;
                }
            };
            return Err(refused(self.map, format!("levels has {problem}")));
        }
        Ok(Some(levels))
    }

    fn end(self) -> Result<Vec<ColumnName>> {
        match self.left.first() {
            None => Ok(self.columns),
            Some((key, _)) => {
                let takes = if self.known.is_empty() {
                    "none".to_string()
                } else {
                    self.known.join(", ")
                };
                Err(refused(
                    self.map,
                    format!("unknown key {key:?}; it takes {takes}"),
                ))
            }
        }
    }
}

/// The column that a part of a map names.
fn column(map: &str, text: &str) -> Result<ColumnName> {
    if let Some(name) = unquoted(text) {
        return Ok(ColumnName {
            text: name.into(),
            is_pattern: false,
        });
    }
    if !is_plain(text) {
        let problem = format!(
            "{text:?} is neither key=value nor a column; write names with other signs in quotes"
        );
        return Err(refused(map, problem));
    }
    Ok(ColumnName {
        text: text.into(),
        is_pattern: text.contains(['*', '?']),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_maps_and_keys_are_read() {
        let stages = parse("standardise|tiles(tilings=4, bins=3,low=-1,high=2.5)+bias").unwrap();
        let tiles = MapSpec::Tiles {
            tilings: 4,
            bins: 3,
            size: None,
            bounds: Some((-1.0, 2.5)),
        };
        let maps: Vec<Vec<MapSpec>> = stages
            .into_iter()
            .map(|stage| stage.into_iter().map(|item| item.map).collect())
            .collect();
        assert_eq!(
            maps,
            [vec![MapSpec::Standardise], vec![tiles, MapSpec::Bias]]
        );
        assert_eq!(
            parse("one-hot").unwrap()[0][0].map,
            MapSpec::OneHot(OneHotSpec::default())
        );
    }

    #[test]
    fn columns_are_names_before_the_keys() {
        let names = |spec: &str| -> Vec<String> {
            let stages = parse(spec).unwrap();
            stages[0][0]
                .columns
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        assert_eq!(
            names("tiles(position, velocity; tilings=8)"),
            ["position", "velocity"]
        );
        assert_eq!(names("standardise(num_*, x)"), ["num_*", "x"]);
        assert_eq!(
            names("standardise('price (EUR)', \"a+b|c=d\", x)"),
            ["price (EUR)", "a+b|c=d", "x"]
        );
        let stages = parse("one-hot('a*'; min_count=20, missing=level) + bias").unwrap();
        assert!(!stages[0][0].columns[0].is_pattern);
        let MapSpec::OneHot(spec) = &stages[0][0].map else {
            panic!("{stages:?}");
        };
        assert_eq!((spec.min_count, spec.missing), (Some(20), true));
        let stages = parse("one-hot(c; levels=a/'b/c'/ New York )").unwrap();
        let MapSpec::OneHot(spec) = &stages[0][0].map else {
            panic!("{stages:?}");
        };
        assert_eq!(spec.levels.as_deref().unwrap(), ["a", "b/c", "New York"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert!(MAPS.iter().all(|map| parse(map).is_ok()));
        for (text, expected) in [
            ("", "a map without a name"),
            ("identity|", "a map without a name"),
            ("standardise + ", "a map without a name"),
            (
                "fourrier",
                "unknown map \"fourrier\"; did you mean \"fourier\"?",
            ),
            ("StandardizE", "did you mean \"standardise\"?"),
            (
                "spline",
                "unknown map \"spline\"; choose one of identity, bias",
            ),
            ("polynomial(degree=-1)", "degree is \"-1\""),
            (
                "polynomial(order=2)",
                "unknown key \"order\"; it takes degree",
            ),
            ("bias(x=1)", "it takes none"),
            ("tiles(tilings=0)", "tilings is \"0\""),
            ("tiles(low=1)", "together"),
            ("rbf(low=1,high=1)", "low is 1"),
            ("rbf(width=nan)", "width is \"nan\""),
            ("rbf(width=0)", "width is 0"),
            ("rbf(width=1,width=2)", "width is given twice"),
            ("fourier(coupled=2)", "must be 0 or 1"),
            ("fourier(order=3", "closing parenthesis"),
            ("fourier(a b)", "\"a b\" is neither key=value nor a column"),
            ("bias(x)", "bias takes no columns"),
            ("one-hot(x; column=2)", "maps that name no column"),
            ("one-hot(x; missing=2)", "must be level"),
            ("one-hot(missing=level)", "needs the name"),
            ("one-hot(x; levels=a//b)", "without a name"),
            ("one-hot(x; levels=a/a)", "twice"),
            ("one-hot(x; levels=a/b, count=2)", "only one of"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
