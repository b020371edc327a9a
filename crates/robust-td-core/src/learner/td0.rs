//! Runs any TD(0)-type method from its recipe.
//!
//! See [`recipe`](crate::learner::recipe) for the recursion. A dropped sample counts as a step, because the
//! environment produced it, but not as an update.
//!
//! # Performance
//! O(nonzeros) per step; O(d) where a step projects or the method regularises. No allocation.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::iterate::average::WeightedAverage;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::recipe::{Output, Recipe};
use crate::phi::Transition;
use crate::schedule::Schedule;

/// A TD(0)-type learner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTd0")]
pub struct Td0 {
    recipe: Recipe,
    iterate: Iterate,
    updates: u64,
    projections: u64,
    /// The average that is reported.
    average: WeightedAverage,
    /// The average that replaces `average` when the number of updates has doubled.
    younger: WeightedAverage,
}

impl Learner for Td0 {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        if self.recipe.samples.uses(self.iterate.steps()) {
            self.update(transition);
        } else {
            self.iterate.stay();
        }
    }

    fn id(&self) -> &'static str {
        self.recipe.id
    }

    fn discount(&self) -> f64 {
        self.recipe.discount
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn projections(&self) -> Option<u64> {
        self.recipe.radius.map(|_| self.projections)
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(self.recipe)
    }

    fn output(&self) -> Vec<f64> {
        let theta = self.iterate.theta();
        let mut output = theta.to_vec();
        if !(self.average.total() > 0.0) {
            return output;
        }
        self.average.write(theta, &mut output);
        let last = self.recipe.output.last_weight();
        if last > 0.0 {
            let share = last / (self.average.total() + last);
            for (output, &theta) in output.iter_mut().zip(theta) {
                *output += share * (theta - *output);
            }
        }
        output
    }

    read_iterate!(iterate);
}

impl Td0 {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0 or the recipe has a value out of range.
    pub fn new(recipe: Recipe, dimension: usize) -> Result<Self> {
        recipe.check()?;
        Ok(Self {
            recipe,
            iterate: Iterate::zero(dimension)?,
            updates: 0,
            projections: 0,
            average: WeightedAverage::empty(dimension),
            younger: WeightedAverage::empty(dimension),
        })
    }

    #[inline]
    fn update(&mut self, transition: &Transition<'_>) {
        let recipe = &self.recipe;
        let (j, theta) = (self.updates, self.iterate.theta());
        let eta = recipe.steps.step_size(j);
        let g = eta * transition.td_error(theta, recipe.discount);
        if recipe.output == Output::DoublingTail {
            if j.is_power_of_two() {
                std::mem::swap(&mut self.average, &mut self.younger);
                self.younger.restart();
            }
            self.younger.count(1.0);
        }
        self.average.count(recipe.output.weight(j, eta));
        if recipe.regulariser > 0.0 {
            self.scale(1.0 - eta * self.recipe.regulariser);
        }
        self.average.record_move(g, transition.features);
        if self.recipe.output == Output::DoublingTail {
            self.younger.record_move(g, transition.features);
        }
        self.iterate.add(g, transition.features);
        let norm_sq = self.iterate.norm_sq();
        if let Some(radius) = self.recipe.radius
            && let Some(factor) = projection_factor(norm_sq, radius)
        {
            self.projections += 1;
            self.scale(factor);
        }
        self.updates += 1;
        self.iterate.finish_step();
    }

    fn scale(&mut self, factor: f64) {
        self.average.record_scaling(self.iterate.theta(), factor);
        if self.recipe.output == Output::DoublingTail {
            self.younger.record_scaling(self.iterate.theta(), factor);
        }
        self.iterate.scale(factor);
    }
}

/// R/|x| where |x| > R: the factor that projects x onto the ball.
///
/// A projected point may lie a few units in the last place outside the sphere. Up to 1e-15 R this is
/// tolerated, so that a step that does not move the point is not counted as another projection.
#[inline]
#[must_use]
pub fn projection_factor(norm_sq: f64, radius: f64) -> Option<f64> {
    (norm_sq > projection_limit(radius)).then(|| radius / norm_sq.sqrt())
}

/// |x|^2 above which [`projection_factor`] projects.
#[inline]
#[must_use]
pub fn projection_limit(radius: f64) -> f64 {
    radius * radius * (1.0 + 2e-15)
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTd0 {
    recipe: Recipe,
    iterate: Iterate,
    #[serde(deserialize_with = "crate::count::read")]
    updates: u64,
    #[serde(deserialize_with = "crate::count::read")]
    projections: u64,
    average: WeightedAverage,
    younger: WeightedAverage,
}

impl TryFrom<SavedTd0> for Td0 {
    type Error = Error;

    fn try_from(saved: SavedTd0) -> Result<Self> {
        let SavedTd0 {
            recipe,
            iterate,
            updates,
            projections,
            average,
            younger,
        } = saved;
        recipe.check()?;
        average.check(iterate.theta().len())?;
        younger.check(iterate.theta().len())?;
        if updates != recipe.samples.updates(iterate.steps()) || projections > updates {
            let contradiction = format!(
                "{updates} updates and {projections} projections after {} steps",
                iterate.steps()
            );
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            recipe,
            iterate,
            updates,
            projections,
            average,
            younger,
        })
    }
}
