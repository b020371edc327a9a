//! Parses the text that describes a feature map.
//!
//! ```text
//! SPEC  = STAGE | STAGE | ...        each stage takes the features of the one before it
//! STAGE = MAP + MAP + ...            the features of all maps, one after the other
//! MAP   = name  or  name(key=value, ...)
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
//! | `one-hot` | `column` (0), `count` | one feature per value of a discrete column |
//!
//! `low` and `high` (both or neither) set the range of all coordinates; otherwise a pass over the data
//! measures it. `one-hot` uses the values 0, 1, ..., count - 1, or without `count` the values found in that
//! pass.

use super::MAX_FEATURES;
use super::polynomial::MAX_DEGREE;
use crate::error::{Error, Result};

/// The maps of a stage, stage by stage.
pub(super) type Stages = Vec<Vec<MapSpec>>;

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
    OneHot {
        column: usize,
        count: Option<usize>,
    },
}

/// Parses a description.
///
/// # Errors
/// Names the invalid part and the valid alternatives.
pub(super) fn parse(text: &str) -> Result<Stages> {
    let stages = text.split('|').map(|stage| {
        let maps = stage.split('+').map(|map| parse_map(map.trim()));
        maps.collect::<Result<Vec<_>>>()
    });
    stages.collect()
}

/// The error for one part of a description.
pub(super) fn refused(part: &str, problem: impl Into<String>) -> Error {
    Error::FeatureSpec {
        part: part.into(),
        problem: problem.into(),
    }
}

fn parse_map(text: &str) -> Result<MapSpec> {
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
        "one-hot" => MapSpec::OneHot {
            column: keys.whole("column", 0)?.unwrap_or(0),
            count: keys.whole("count", 1)?,
        },
        _ => {
            let known =
                "identity, bias, standardise, running, polynomial, fourier, tiles, rbf, one-hot";
            return Err(refused(
                text,
                format!("unknown map {name:?}; known maps: {known}"),
            ));
        }
    };
    keys.end()?;
    Ok(map)
}

/// The keys of one map that are not consumed yet.
struct Keys<'a> {
    map: &'a str,
    left: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    fn read(map: &'a str, inside: &'a str) -> Result<Self> {
        let mut left: Vec<(&str, &str)> = Vec::new();
        for item in inside
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
        {
            let pair = item.split_once('=');
            let (key, value) =
                pair.ok_or_else(|| refused(map, format!("{item:?} is not key=value")))?;
            if left.iter().any(|&(other, _)| other == key.trim()) {
                return Err(refused(map, format!("{} is given twice", key.trim())));
            }
            left.push((key.trim(), value.trim()));
        }
        let known = Vec::new();
        Ok(Self { map, left, known })
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

    fn end(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
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
        assert_eq!(
            stages,
            [vec![MapSpec::Standardise], vec![tiles, MapSpec::Bias]]
        );
        assert_eq!(
            parse("one-hot").unwrap()[0][0],
            MapSpec::OneHot {
                column: 0,
                count: None
            }
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, expected) in [
            ("", "unknown map \"\""),
            ("identity|", "unknown map \"\""),
            ("fourrier", "unknown map \"fourrier\""),
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
            ("fourier(3)", "\"3\" is not key=value"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
