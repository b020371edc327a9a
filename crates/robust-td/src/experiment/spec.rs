//! Describes an experiment as the user writes it.

use std::collections::BTreeMap;

use robust_td_core::catalog::Setting;
use robust_td_core::registry::Quantity;
use robust_td_engine::contest::{Estimate, Score};
use serde::Deserialize;
use serde::de::{Deserializer, IntoDeserializer, SeqAccess, Visitor};

use super::plan::Point;
use crate::contest::field::Contestant;

/// An experiment as it is written in a TOML file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// Title of the report.
    #[serde(default)]
    pub title: Option<String>,
    /// The question that the experiment answers.
    #[serde(default)]
    pub question: Option<String>,
    /// A catalog name, or a problem file relative to the spec.
    pub problem: String,
    /// Fixed parameters of a catalog problem.
    #[serde(default)]
    pub set: BTreeMap<String, Setting>,
    /// What varies, and its values.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<f64>>,
    /// Methods with settings.
    pub algorithms: Vec<String>,
    /// Parameters for all methods, or for one.
    #[serde(default)]
    pub param: BTreeMap<String, f64>,
    /// T; may be absent when it varies.
    #[serde(default)]
    pub horizon: Option<u64>,
    /// Independent runs.
    #[serde(default = "usual_runs")]
    pub runs: u64,
    /// Seed of the trajectories.
    #[serde(default = "usual_seed")]
    pub seed: u64,
    /// What the figure shows: one quantity or several.
    #[serde(default)]
    pub show: Shown,
    /// What the figure's horizontal axis has.
    #[serde(default)]
    pub against: Against,
    /// Numbers of agents for one-shot averaging.
    #[serde(default)]
    pub agents: Vec<u64>,
}

fn usual_runs() -> u64 {
    48
}

fn usual_seed() -> u64 {
    1
}

/// The horizontal axis of the figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The value that varies.
    #[default]
    Value,
    /// 1 minus the value, for discounts near 1.
    OneMinus,
}

/// The quantities in the figure of an experiment, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown(pub Vec<Show>);

impl Default for Shown {
    fn default() -> Self {
        Self(vec![Show::default()])
    }
}

impl<'de> Deserialize<'de> for Shown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrSeveral;
        impl<'de> Visitor<'de> for OneOrSeveral {
            type Value = Shown;

            fn expecting(&self, words: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                words.write_str("a quantity, or a list of quantities")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Shown, E> {
                Ok(Shown(vec![Show::deserialize(name.into_deserializer())?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Shown, A::Error> {
                let mut shown = Vec::new();
                while let Some(show) = names.next_element()? {
                    shown.push(show);
                }
                match shown.is_empty() {
                    true => Err(serde::de::Error::invalid_length(
                        0,
                        &"at least one quantity",
                    )),
                    false => Ok(Shown(shown)),
                }
            }
        }
        deserializer.deserialize_any(OneOrSeveral)
    }
}

/// A quantity that the figure of an experiment shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// f of the output.
    #[default]
    F,
    /// |V - V*|_D^2.
    DNormSq,
    /// |output - theta*|^2.
    ThetaErrorSq,
    /// The largest mean |theta_t|^2.
    MaxMeanThetaNormSq,
    /// Projections per run.
    Projections,
    /// The proved bound on E f, for methods that state one.
    Bound,
    /// The bound of Bhandari et al. on |V - V*|_D^2, Theorem 3(a), with the smallest ball that contains theta*.
    ComparisonBound,
}

impl Show {
    /// Whether it is proved rather than measured.
    #[must_use]
    pub fn is_bound(self) -> bool {
        matches!(self, Self::Bound | Self::ComparisonBound)
    }

    /// The quantity for a method at a point; NaN where there is none.
    #[must_use]
    pub fn of(self, point: &Point, contestant: &Contestant, score: &Score) -> Estimate {
        let exact = |mean| Estimate {
            mean,
            standard_error: 0.0,
        };
        match self {
            Self::F => score.f,
            Self::DNormSq => score.d_norm_sq,
            Self::ThetaErrorSq => score.theta_error_sq,
            Self::MaxMeanThetaNormSq => exact(score.max_mean_theta_norm_sq),
            Self::Projections => exact(score.projections.unwrap_or(0.0)),
            Self::Bound => exact(bound(contestant, Quantity::F).unwrap_or(f64::NAN)),
            Self::ComparisonBound => exact(point.comparison_bound.unwrap_or(f64::NAN)),
        }
    }

    /// The label of the axis.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::F => "f of the output, mean over runs",
            Self::DNormSq => "|V − V*|² in the D-norm, mean over runs",
            Self::ThetaErrorSq => "|θ − θ*|² of the output, mean over runs",
            Self::MaxMeanThetaNormSq => "largest mean |θ|²",
            Self::Projections => "projections per run",
            Self::Bound => "proved bound on E f",
            Self::ComparisonBound => "bound of Bhandari et al. on |V − V*|² in the D-norm",
        }
    }

    /// A few words for the legend.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::F => "f",
            Self::DNormSq => "D-norm",
            Self::ThetaErrorSq => "|θ − θ*|²",
            Self::MaxMeanThetaNormSq => "largest |θ|²",
            Self::Projections => "projections",
            Self::Bound => "bound on f",
            Self::ComparisonBound => "Bhandari et al., bound on the D-norm",
        }
    }
}

/// The proved bound on a quantity, if the method states one.
pub(super) fn bound(contestant: &Contestant, quantity: Quantity) -> Option<f64> {
    let guarantee = contestant.prepared.guarantee.as_ref()?;
    (guarantee.quantity == quantity).then_some(guarantee.bound)
}
