//! Predicts values with their intervals from a learned model.

use robust_td_core::features::{FeatureMap, Row};
use robust_td_core::fixed_point::Identified;
use robust_td_core::influence::{Grouping, Influence};
use robust_td_core::learner::{Features, Learner, LinearValue};
use robust_td_core::portfolio::Bootstrap;
use robust_td_core::registry::{AnyLearner, IntervalSource};
use robust_td_core::sandwich::Estimate;
use robust_td_core::spread::{Sides, Spread};

use crate::averaged::Spreads;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::policy_rows::write_input;
use crate::recall::{Answer, Recall};
use crate::unseen::Unseen;

/// The statistics for intervals, which measure the sampling error around the TD fixed point.
#[derive(Debug, Clone, PartialEq)]
pub enum Intervals {
    /// Replicates of the portfolio's leader.
    Bootstrap(Bootstrap),
    /// The same, widened where least squares, which has no transient, shows that the answer has not converged.
    Both(Bootstrap, Estimate),
    /// The covariance of least squares alongside a learner.
    Sandwich(Estimate),
    /// The influence of groups of transitions on the TD fixed point of a log.
    Influence(Box<Influence>, Identified),
    /// How independent learners differ.
    Learners(Box<Spreads>),
}

impl Intervals {
    /// The method in words.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Bootstrap(_) => "block multiplier bootstrap",
            Self::Both(..) => "block multiplier bootstrap, widened to reach beyond LSTD",
            Self::Sandwich(_) => "LSTD sandwich, batch means",
            Self::Influence(influence, _) => match influence.grouping() {
                Grouping::Independent => "sandwich, clusters",
                Grouping::Ordered => "sandwich, long-run variance",
            },
            Self::Learners(_) => "spread between independent learners",
        }
    }

    /// The two sides of the interval around phi.theta at a confidence in (0, 1), given the value phi.theta; infinite where the
    /// error is not known.
    ///
    /// With both routes it is the larger of the two.
    #[must_use]
    pub fn sides(&self, value: f64, phi: Features<'_>, confidence: f64) -> Sides {
        let [own, around] = match self {
            Self::Bootstrap(bootstrap) => [bootstrap.half_width(phi, confidence), 0.0],
            Self::Both(bootstrap, estimate) => [
                bootstrap.half_width(phi, confidence),
                estimate.half_width_around(value, phi, confidence),
            ],
            Self::Sandwich(estimate) => [0.0, estimate.half_width_around(value, phi, confidence)],
            Self::Learners(spread) => [spread.half_width(phi, true, &[], confidence), 0.0],
            Self::Influence(influence, identified) => {
                let spread = match identified.covers(phi) {
                    true => influence.spread(phi).beside(identified.doubt(phi)),
                    false => Spread::UNKNOWN,
                };
                return spread.trusted_sides(confidence);
            }
        };
        let half = match own.is_nan() || around.is_nan() {
            true => f64::INFINITY,
            false => own.max(around),
        };
        Sides {
            below: half,
            above: half,
        }
    }

    /// Whether the blocks of all routes span several correlation times; if not, errors may be too small.
    #[must_use]
    pub fn blocks_are_long_enough(&self) -> bool {
        match self {
            Self::Bootstrap(bootstrap) => bootstrap.long_enough,
            Self::Both(bootstrap, estimate) => bootstrap.long_enough && estimate.long_enough,
            Self::Sandwich(estimate) => estimate.long_enough,
            Self::Influence(..) | Self::Learners(_) => true,
        }
    }

    /// The lower and upper ends for every coordinate of theta.
    #[must_use]
    pub fn of_theta(&self, theta: &[f64], confidence: f64) -> [Vec<f64>; 2] {
        let sides = |(j, value): (usize, &f64)| {
            let (indices, values) = ([j as u32], [1.0]);
            let unit = Features::Sparse {
                indices: &indices,
                values: &values,
            };
            let sides = match self {
                // A weight has no part in the constant of values.
                Self::Learners(spread) => {
                    let half = spread.half_width(unit, false, &[], confidence);
                    return (value - half, value + half);
                }
                _ => self.sides(*value, unit, confidence),
            };
            (value - sides.below, value + sides.above)
        };
        let (lower, upper) = theta.iter().enumerate().map(sides).unzip();
        [lower, upper]
    }
}

/// Predicted values, with the ends of their intervals if there are any.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Predictions {
    /// V(s).
    pub values: Vec<f64>,
    /// The lower ends.
    pub lower: Vec<f64>,
    /// The upper ends.
    pub upper: Vec<f64>,
    /// The rows with a category that the log of the model did not have.
    pub unseen: Option<Unseen>,
    /// The other rows with an unbounded interval: their count, and the number of the first in its file.
    pub unbounded: Option<(u64, u64)>,
}

impl Predictions {
    /// Adds the predictions of further rows.
    pub(crate) fn append(&mut self, more: &mut Self) {
        self.values.append(&mut more.values);
        self.lower.append(&mut more.lower);
        self.upper.append(&mut more.upper);
        self.unseen = Unseen::join(self.unseen.take(), more.unseen.take());
        self.unbounded = match (self.unbounded, more.unbounded.take()) {
            (Some((count, first)), Some((later, _))) => Some((count + later, first)),
            (own, more) => own.or(more),
        };
    }
}

/// A model's answer, ready to be applied to rows.
#[derive(Debug, Clone)]
pub struct Predictor {
    features: FeatureMap,
    value: LinearValue,
    intervals: Option<Intervals>,
    confidence: f64,
    row: Row,
    /// An observation with the weights of actions.
    input: Vec<f64>,
    /// The answers to recent observations.
    recall: Recall,
}

impl Predictor {
    /// The answer of a model, with intervals of a confidence in (0, 1) if the model has them.
    #[must_use]
    pub fn new(model: &Model, confidence: f64) -> Self {
        Self::of(model, intervals_of(model), confidence)
    }

    /// The same with given intervals.
    pub(crate) fn of(model: &Model, intervals: Option<Intervals>, confidence: f64) -> Self {
        Self {
            features: model.features().clone(),
            value: model.value_function(),
            intervals,
            confidence,
            row: Row::for_map(model.features()),
            input: Vec::new(),
            recall: Recall::new(model.features().inputs()),
        }
    }

    /// Whether there are intervals.
    #[must_use]
    pub fn has_intervals(&self) -> bool {
        self.intervals.is_some()
    }

    /// Writes the value of each observation of a batch.
    ///
    /// # Errors
    /// When the observations do not have the length that the feature map expects, or a value is not finite.
    pub fn predict(&mut self, batch: &Batch, out: &mut Predictions) -> Result<()> {
        let actions = match batch.has_choices() {
            true => self.features.actions().len(),
            false => 0,
        };
        let (expected, found) = (self.features.inputs(), batch.dimension() + actions);
        if !batch.is_empty() && expected != found {
            return Err(Error::ModelInput { expected, found });
        }
        out.values.clear();
        out.lower.clear();
        out.upper.clear();
        out.unseen = None;
        out.unbounded = None;
        for i in 0..batch.len() {
            let input = match actions {
                0 => batch.obs(i),
                _ => {
                    let policy = batch.choices.get(i).own;
                    write_input(&mut self.input, batch.obs(i), policy, actions);
                    &self.input
                }
            };
            let answer = match self.recall.find(input) {
                Some(answer) => answer,
                None => {
                    let answer = answer(
                        &self.features,
                        &self.value,
                        self.intervals.as_ref(),
                        self.confidence,
                        input,
                        &mut self.row,
                    );
                    self.recall.keep(input, answer);
                    answer
                }
            };
            let value = answer.value;
            if !value.is_finite() {
                let row = batch.row_numbers()[i];
                return Err(Error::ValueNotFinite { row, value });
            }
            out.values.push(value);
            if let Some(column) = answer.unseen {
                let (code, row) = (batch.obs(i)[column], batch.row_numbers()[i]);
                let first = Unseen::first(&self.features, column, code, row);
                out.unseen = Unseen::join(out.unseen.take(), Some(first));
            }
            if let Some(sides) = answer.sides {
                if sides.below == f64::INFINITY && answer.unseen.is_none() {
                    let (count, first) = out.unbounded.unwrap_or((0, batch.row_numbers()[i]));
                    out.unbounded = Some((count + 1, first));
                }
                out.lower.push(value - sides.below);
                out.upper.push(value + sides.above);
            }
        }
        Ok(())
    }
}

/// The answer to an observation, whose features are written to a row.
fn answer(
    features: &FeatureMap,
    function: &LinearValue,
    intervals: Option<&Intervals>,
    confidence: f64,
    input: &[f64],
    row: &mut Row,
) -> Answer {
    features.write(input, row);
    let phi = row.features();
    let value = function.value(phi);
    let unseen = features.unseen(input);
    let sides = |intervals: &Intervals| match unseen {
        _ if !value.is_finite() => Spread::UNKNOWN.sides(confidence),
        None => intervals.sides(phi.dot(&function.theta), phi, confidence),
        Some(_) => Spread::UNKNOWN.sides(confidence),
    };
    Answer {
        value,
        sides: intervals.map(sides),
        unseen,
    }
}

/// The statistics for a model's intervals, unless it is known not to have converged.
pub(crate) fn intervals_of(model: &Model) -> Option<Intervals> {
    match model {
        _ if model.converged() == Some(false) => None,
        Model::Learned(learned) => learned.intervals(),
        Model::Solved(solved) => {
            let influence = solved.influence.clone();
            let influence = influence.filter(|found| !found.is_of_one_value())?;
            Some(Intervals::Influence(
                Box::new(influence),
                solved.identified.clone(),
            ))
        }
        Model::Averaged(averaged) => {
            let spread = averaged.error()?;
            Some(Intervals::Learners(Box::new(spread.clone())))
        }
    }
}

/// The statistics for a learner's intervals, given least squares on the same samples.
pub(crate) fn intervals(
    learner: &AnyLearner,
    least_squares: Option<Estimate>,
) -> Option<Intervals> {
    match learner.abilities().intervals {
        IntervalSource::Replicates => {
            let bootstrap = learner.choice()?.bootstrap?;
            Some(match least_squares {
                None => Intervals::Bootstrap(bootstrap),
                Some(estimate) => Intervals::Both(bootstrap, estimate),
            })
        }
        IntervalSource::LeastSquares => least_squares.map(Intervals::Sandwich),
        IntervalSource::None => None,
    }
}
