//! Estimates the value of the policy, and compares it with the plain mean of returns.

use robust_td_core::number::short;
use robust_td_core::spread::{Spread, of_powers};
use serde::Serialize;

use crate::model::Model;
use crate::returns::CompleteReturns;
use crate::solved::Solved;

/// The estimate and the mean of returns differ beyond this number of standard errors, of the larger one: both rest on the same episodes, so
/// that their errors have much in common.
const FAR: f64 = 4.0;

/// The mean value over the first rows of episodes; over all rows where there are no episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StartValue {
    /// The estimate.
    pub value: f64,
    /// The ends of its interval, which includes the sampling of the starts; infinite where it is not known.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The number of rows that it is the mean of.
    pub starts: u64,
}

/// The mean return of complete episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MonteCarlo {
    /// The mean.
    pub value: f64,
    /// The ends of its interval; infinite for a single episode or cluster.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The number of episodes.
    pub episodes: u64,
    /// The number of episodes that are left out, because they were cut. They are not left out by chance: the longest episodes are cut.
    pub cut: u64,
}

impl StartValue {
    /// The value at a confidence in (0, 1); the interval of the answer of a single learner is not known.
    pub(crate) fn of(model: &Model, confidence: f64) -> Option<Self> {
        let starts = &model.assessment()?.starts;
        if starts.count == 0 {
            return None;
        }
        let value = model.value_function().value(&starts.features);
        if let Model::Averaged(averaged) = model {
            let half = averaged.start_half_width(confidence);
            let half = half.unwrap_or(f64::INFINITY);
            return Some(Self {
                value,
                lower: value - half,
                upper: value + half,
                starts: starts.count,
            });
        }
        let spread = match model {
            // A single start says nothing about how starts vary.
            Model::Solved(solved) if model.converged() == Some(true) && starts.count > 1 => {
                solved.start_value().1
            }
            _ => None,
        };
        let sides = spread.unwrap_or(Spread::UNKNOWN).trusted_sides(confidence);
        Some(Self {
            value,
            lower: value - sides.below,
            upper: value + sides.above,
            starts: starts.count,
        })
    }

    /// Describes how the value differs from the mean return of complete episodes, if it does by more than chance.
    ///
    /// Where episodes were cut, the complete ones are the short ones, and their mean is no estimate of the same quantity.
    pub(crate) fn disagreement(solved: &Solved) -> Option<String> {
        let complete = solved
            .assessment
            .complete
            .filter(|complete| complete.cut == 0 && solved.off_policy.is_none())?;
        if !solved.assessment.starts.episodic {
            return None;
        }
        let (value, spread) = solved.start_value();
        let error = spread.filter(|spread| spread.reliable)?.standard_error();
        let other = self::spread(&complete).standard_error();
        let scale = value.abs().max(complete.mean.abs());
        let away = (value - complete.mean).abs();
        (away > FAR * error.max(other) && away > 1e-9 * scale).then(|| {
            format!(
                "the value of the policy is {}, but the mean return of {} complete episodes is {}: the features \
                 cannot express the values, or the log is not what it seems",
                short(value),
                complete.episodes,
                short(complete.mean)
            )
        })
    }
}

impl MonteCarlo {
    /// The mean at a confidence in (0, 1).
    pub(crate) fn of(complete: &CompleteReturns, confidence: f64) -> Self {
        // Returns that are all 0 do not show what others there are.
        let silent = complete.mean == 0.0 && complete.spread == 0.0;
        let spread = match silent {
            true => Spread::UNKNOWN,
            false => spread(complete),
        };
        let sides = spread.sides(confidence);
        Self {
            value: complete.mean,
            lower: complete.mean - sides.below,
            upper: complete.mean + sides.above,
            episodes: complete.episodes,
            cut: complete.cut,
        }
    }
}

/// The error of the mean return, with its skewness; not known for a single unit.
fn spread(complete: &CompleteReturns) -> Spread {
    let n = complete.episodes as f64;
    let powers = [
        complete.spread / n.powi(2),
        complete.third / n.powi(3),
        complete.fourth / n.powi(4),
    ];
    of_powers(powers, complete.units as f64, complete.effective)
}
