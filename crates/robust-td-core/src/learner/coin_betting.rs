//! Runs TD(0) by coin betting: a parameter-free reduction that has no step size at all.
//!
//! # Reference
//! Cutkosky & Orabona, "Black-box reductions for parameter-free online learning in Banach spaces", COLT 2018, Algorithms 1
//! and 2; the direction learner is online gradient descent on the unit ball with AdaGrad-style steps.
//!
//! # Update rule
//! A bettor plays x = v W with wealth W and fraction v; on a loss slope s in [-1, 1]
//! ```text
//! W -= s x;   zeta = s / (1 - s v);   A += zeta^2;   v = clip( v - (2 / (2 - ln 3)) zeta / A, -1/2, 1/2 )
//! start: W = eps, v = 0, A = 1
//! ```
//! With the TD direction g_t = delta_t phi(s_t), h_t = max(h0, |g_0|, ..., |g_t|) and l_t = -g_t / h_t, so that |l_t| <= 1,
//! ```text
//! norm-wise        theta_t = x_t y_t;  the bettor gets s = l_t.y_t,  y <- Proj_1( y - sqrt(2 / sum_{i<=t} |l_i|^2) l_t ),  y_0 = 0
//! coordinate-wise  theta_t(i) = x_t(i);  one bettor per coordinate gets -g_t(i) / h_t(i), with h_t(i) the same maximum over |g(i)|
//! ```
//! (Dividing by a maximum that includes |g_t| equals dividing by the previous maximum and clipping to norm 1.)
//! The output is the uniform average of theta_0, ..., theta_{t-1}.
//!
//! # Inputs
//! eps enters only logarithmically. h0 is a lower bound on the scale of the updates; at its default, the first update sets the scale.
//!
//! # Assumptions
//! The regret bound is for losses that are linear in theta. Up to the Markov bias, the mean of <l_t, theta_t - theta*> is
//! f(theta_t)/h, so regret bounds f of the average. No theorem controls the bias: the method is experimental.
//!
//! # Performance
//! O(d) per step, no allocation.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::td0::projection_factor;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing};
use crate::phi::{Features, Transition};

/// The learner `coin-betting`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedCoinBetting")]
pub struct CoinBetting {
    params: CoinBettingParams,
    iterate: Iterate,
    /// One for the norm, or one per coordinate.
    bettors: Vec<Bettor>,
    /// y, within the unit ball; unused when coordinate-wise.
    #[serde(with = "crate::exact_float")]
    direction: Vec<f64>,
    /// sum |l|^2.
    #[serde(with = "crate::exact_float")]
    squares: f64,
    /// sum of theta_0, ..., theta_{t-1}.
    #[serde(with = "crate::exact_float")]
    sum: Vec<f64>,
}

impl Learner for CoinBetting {
    fn step(&mut self, transition: &Transition<'_>) {
        let theta = self.iterate.theta();
        let delta = transition.td_error(theta, self.params.discount);
        self.sum.iter_mut().zip(theta).for_each(|(s, x)| *s += x);
        if self.params.coordinatewise {
            self.bet_on_coordinates(delta, transition.features);
        } else {
            self.bet_on_norm(delta, transition.features);
        }
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    /// The uniform average of theta_0, ..., theta_{t-1}; theta_0 when t = 0.
    fn output(&self) -> Vec<f64> {
        let count = self.steps().max(1) as f64;
        self.sum.iter().map(|sum| sum / count).collect()
    }

    read_iterate!(iterate);
}

impl CoinBetting {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0 or a parameter is out of range.
    pub fn new(params: CoinBettingParams, dimension: usize) -> Result<Self> {
        params.check()?;
        let bettors = bettors(&params, dimension);
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            bettors: vec![Bettor::new(&params); bettors],
            direction: vec![0.0; dimension],
            squares: 0.0,
            sum: vec![0.0; dimension],
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &CoinBettingParams {
        &self.params
    }

    /// Bets on the norm, given the update delta phi.
    fn bet_on_norm(&mut self, delta: f64, phi: Features<'_>) {
        let (bettor, y) = (&mut self.bettors[0], &mut self.direction);
        let size = delta.abs() * phi.norm_sq().sqrt();
        let scale = bettor.rescale(size);
        bettor.receive(-delta / scale * phi.dot(y));
        let length = size / scale;
        self.squares += length * length;
        if self.squares > 0.0 {
            phi.axpy((2.0 / self.squares).sqrt() * (delta / scale), y);
            let norm_sq = Features::Dense(y).norm_sq();
            if let Some(factor) = projection_factor(norm_sq, 1.0) {
                y.iter_mut().for_each(|y| *y *= factor);
            }
        }
        let bet = bettor.bet();
        self.iterate.advance_with(|theta| {
            for (theta, y) in theta.iter_mut().zip(y) {
                *theta = bet * *y;
            }
        });
    }

    /// Bets on each coordinate, given the update delta phi.
    fn bet_on_coordinates(&mut self, delta: f64, phi: Features<'_>) {
        let bettors = &mut self.bettors;
        self.iterate.advance_with(|theta| {
            // Where phi is zero, the slope is zero and the bettor does not change.
            let mut receive = |i: usize, x: f64| {
                let g = delta * x;
                let scale = bettors[i].rescale(g.abs());
                bettors[i].receive(-g / scale);
                theta[i] = bettors[i].bet();
            };
            match phi {
                Features::Dense(phi) => (0..).zip(phi).for_each(|(i, &x)| receive(i, x)),
                Features::Sparse { indices, values } => {
                    let entries = indices.iter().zip(values);
                    entries.for_each(|(&i, &x)| receive(i as usize, x));
                }
            }
        });
    }
}

/// Bets a fraction of its wealth on the sign of the next slope, with the scale of the slopes so far.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bettor {
    /// W.
    #[serde(with = "crate::exact_float")]
    wealth: f64,
    /// v.
    #[serde(with = "crate::exact_float")]
    fraction: f64,
    /// A.
    #[serde(with = "crate::exact_float")]
    curvature: f64,
    /// h.
    #[serde(with = "crate::exact_float")]
    scale: f64,
}

impl Bettor {
    fn new(params: &CoinBettingParams) -> Self {
        Self {
            wealth: params.eps,
            fraction: 0.0,
            curvature: 1.0,
            scale: params.h0,
        }
    }

    /// The next bet, x = v W.
    #[inline]
    fn bet(&self) -> f64 {
        self.fraction * self.wealth
    }

    /// Records the size of an update and returns its divisor.
    #[inline]
    fn rescale(&mut self, size: f64) -> f64 {
        self.scale = if size <= self.scale { self.scale } else { size };
        self.scale
    }

    /// Receives the slope s of the loss.
    #[inline]
    fn receive(&mut self, slope: f64) {
        // 2 / (2 - ln 3): the online Newton step on the logarithm of the wealth.
        const NEWTON: f64 = 2.218_801_049_600_289;
        self.wealth -= slope * self.bet();
        let zeta = slope / (1.0 - slope * self.fraction);
        self.curvature += zeta * zeta;
        let moved = self.fraction - NEWTON * zeta / self.curvature;
        self.fraction = moved.clamp(-0.5, 0.5);
    }
}

/// The number of bettors.
fn bettors(params: &CoinBettingParams, dimension: usize) -> usize {
    if params.coordinatewise { dimension } else { 1 }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `eps` | 1 | initial wealth of each bettor | finite, > 0 |
/// | `h0` | 1e-8 | lower bound on the scale of the updates | finite, > 0 |
/// | `coordinatewise` | false | one bettor per coordinate | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoinBettingParams {
    /// gamma.
    pub discount: f64,
    /// Initial wealth.
    pub eps: f64,
    /// Lower bound on the scale of the updates.
    pub h0: f64,
    /// Whether each coordinate has its own bettor.
    pub coordinatewise: bool,
}

impl CoinBettingParams {
    /// The defaults for this discount.
    #[must_use]
    pub fn new(discount: f64) -> Self {
        Self {
            discount,
            eps: 1.0,
            h0: 1e-8,
            coordinatewise: false,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("eps", self.eps)?;
        check_positive("h0", self.h0)
    }
}

/// TD(0) by coin betting.
pub const METHOD: Method<CoinBetting> = Method {
    id: "coin-betting",
    title: "TD(0) by coin betting: no step size",
    reference: "Cutkosky & Orabona 2018, Algorithms 1 and 2",
    standing: Standing::Experimental,
    needs: &[],
    parameters: &[
        Parameter {
            name: "eps",
            meaning: "initial wealth",
            range: Range::Positive,
            default: "1",
        },
        Parameter {
            name: "h0",
            meaning: "lower bound on the scale of the updates",
            range: Range::Positive,
            default: "1e-8",
        },
        Parameter {
            name: "coordinatewise",
            meaning: "1 for one bettor per coordinate, 0 to bet on the norm",
            range: Range::Whole(0),
            default: "0",
        },
    ],
    abilities: Abilities::PLAIN,
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<CoinBetting> {
    let default = CoinBettingParams::new(inputs.discount());
    let coordinatewise = inputs.value("coordinatewise", 0.0);
    if coordinatewise > 1.0 {
        return Err(inputs.refused("coordinatewise", coordinatewise, "0 or 1"));
    }
    let params = CoinBettingParams {
        eps: inputs.value("eps", default.eps),
        h0: inputs.value("h0", default.h0),
        coordinatewise: coordinatewise == 1.0,
        ..default
    };
    CoinBetting::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCoinBetting {
    params: CoinBettingParams,
    iterate: Iterate,
    bettors: Vec<Bettor>,
    #[serde(with = "crate::exact_float")]
    direction: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    squares: f64,
    #[serde(with = "crate::exact_float")]
    sum: Vec<f64>,
}

impl TryFrom<SavedCoinBetting> for CoinBetting {
    type Error = Error;

    fn try_from(saved: SavedCoinBetting) -> Result<Self> {
        saved.params.check()?;
        let dimension = saved.iterate.theta().len();
        let expected = bettors(&saved.params, dimension);
        check_length("the saved bettors", expected, saved.bettors.len())?;
        check_length("the saved direction", dimension, saved.direction.len())?;
        check_length("the saved sum", dimension, saved.sum.len())?;
        Ok(Self {
            params: saved.params,
            iterate: saved.iterate,
            bettors: saved.bettors,
            direction: saved.direction,
            squares: saved.squares,
            sum: saved.sum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bettor_by_hand() {
        let mut bettor = Bettor::new(&CoinBettingParams::new(0.0));
        bettor.receive(-1.0);
        // zeta = -1, A = 2, v = min(1/2, 1/(2 - ln 3)) = 1/2.
        assert_eq!((bettor.wealth, bettor.fraction), (1.0, 0.5));
        bettor.receive(-1.0);
        // W = 1 + 1/2; zeta = -1 / (1 + 1/2), and the fraction stays at its bound.
        assert_eq!((bettor.wealth, bettor.bet()), (1.5, 0.75));
        bettor.receive(0.25);
        let zeta = 0.25 / (1.0 - 0.125);
        let curvature = 2.0 + 4.0 / 9.0 + zeta * zeta;
        assert_eq!(bettor.wealth, 1.5 - 0.25 * 0.75);
        let fraction = 0.5 - 2.0 / (2.0 - 3f64.ln()) * zeta / curvature;
        assert!((bettor.fraction - fraction).abs() < 1e-15);
    }
}
