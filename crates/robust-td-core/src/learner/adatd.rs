//! Runs AdaTD: projected TD(0) with momentum and adaptive step sizes.
//!
//! # Reference
//! Sun, Shen, Chen & Li, "Adaptive temporal difference learning with linear function approximation", IEEE TPAMI 2021
//! (arXiv:2002.08537).
//!
//! # Update rule
//! For features of norm at most 1, with m_0 = 0, v_0 = 0 and g_t = delta_t phi(s_t),
//! ```text
//! m = beta m + (1 - beta) g_t
//! v = v + |g_t|^2                                   a scalar; or v_i = v_i + g_{t,i}^2 for each coordinate
//! theta_{t+1} = Proj_R( theta_t + eta m / sqrt(v + delta) )
//! ```
//! The output is the uniform average of theta_0, ..., theta_{t-1}.
//!
//! Other features are normalised implicitly: with g' = g/phi_inf and theta' = phi_inf theta, the rule above becomes
//! theta += (eta/phi_inf) m' / sqrt(v' + delta), and the ball of radius phi_inf R becomes the ball of radius R.
//!
//! # Inputs
//! phi_inf and the radius R, in the units of theta; with the exact problem, R defaults to that of Bhandari et al. The other
//! defaults, for normalised features, are `step` 0.5 (the usual range is 0.1 to 1), `delta` 1e-8 (which only avoids 0/0),
//! `beta` 0.9, and a scalar v (`coordinatewise` 0).
//!
//! # Assumptions
//! |phi(s)| <= phi_inf and R >= |theta*|. The published rate is for the best iterate. Its constants are not verified, so
//! no bound is stated.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::learner::td0::projection_factor;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing};
use crate::phi::{Transition, dot};

/// The learner `adatd`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedAdaTd")]
pub struct AdaTd {
    params: AdaTdParams,
    iterate: Iterate,
    /// m, for normalised features.
    #[serde(with = "crate::exact_float")]
    momentum: Vec<f64>,
    /// v, for normalised features: one number, or one per coordinate.
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    /// theta_0 + ... + theta_{t-1}.
    #[serde(with = "crate::exact_float")]
    sum: Vec<f64>,
    projections: u64,
}

impl Learner for AdaTd {
    fn step(&mut self, transition: &Transition<'_>) {
        let AdaTdParams {
            discount,
            phi_inf,
            radius,
            step,
            beta,
            delta,
            coordinatewise,
        } = self.params;
        let theta = self.iterate.theta();
        for (sum, theta) in self.sum.iter_mut().zip(theta) {
            *sum += theta;
        }
        let phi = transition.features;
        // g' = g / phi_inf.
        let error = transition.td_error(theta, discount) / phi_inf;
        let (momentum, squares) = (&mut self.momentum, &mut self.squares);
        momentum.iter_mut().for_each(|m| *m *= beta);
        phi.axpy((1.0 - beta) * error, momentum);
        if coordinatewise {
            phi.for_each(|i, x| squares[i] += (error * x) * (error * x));
        } else {
            squares[0] += error * error * phi.norm_sq();
        }
        let step = step / phi_inf;
        let projections = &mut self.projections;
        self.iterate.advance_with(|theta| {
            if coordinatewise {
                for ((theta, m), v) in theta.iter_mut().zip(momentum).zip(squares) {
                    *theta += step * *m / (*v + delta).sqrt();
                }
            } else {
                let step = step / (squares[0] + delta).sqrt();
                for (theta, m) in theta.iter_mut().zip(momentum) {
                    *theta += step * *m;
                }
            }
            if let Some(factor) = projection_factor(dot(theta, theta), radius) {
                *projections += 1;
                theta.iter_mut().for_each(|theta| *theta *= factor);
            }
        });
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn projections(&self) -> Option<u64> {
        Some(self.projections)
    }

    /// The uniform average of theta_0, ..., theta_{t-1}; theta_0 when t = 0.
    fn output(&self) -> Vec<f64> {
        let count = self.steps().max(1) as f64;
        self.sum.iter().map(|sum| sum / count).collect()
    }

    read_iterate!(iterate);
}

impl AdaTd {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: AdaTdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            momentum: vec![0.0; dimension],
            squares: vec![0.0; accumulators(&params, dimension)],
            sum: vec![0.0; dimension],
            projections: 0,
        })
    }
}

/// The number of entries of v.
fn accumulators(params: &AdaTdParams, dimension: usize) -> usize {
    if params.coordinatewise { dimension } else { 1 }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `phi_inf` | none | an upper bound on the norm of the features | finite, > 0 |
/// | `radius` | none | R, in the units of theta | finite, > 0 |
/// | `step` | 0.5 | eta, for normalised features | finite, > 0 |
/// | `beta` | 0.9 | the momentum's decay rate | [0, 1) |
/// | `delta` | 1e-8 | added to v, for normalised features | finite, > 0 |
/// | `coordinatewise` | false | one v per coordinate | |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaTdParams {
    /// gamma.
    pub discount: f64,
    /// An upper bound on the norm of the features.
    pub phi_inf: f64,
    /// R, in the units of theta.
    pub radius: f64,
    /// eta, for normalised features.
    pub step: f64,
    /// The momentum's decay rate.
    pub beta: f64,
    /// Added to v under the square root, for normalised features.
    pub delta: f64,
    /// Whether each coordinate has its own v.
    pub coordinatewise: bool,
}

impl AdaTdParams {
    /// The defaults.
    #[must_use]
    pub fn new(discount: f64, radius: f64, phi_inf: f64) -> Self {
        Self {
            discount,
            phi_inf,
            radius,
            step: 0.5,
            beta: 0.9,
            delta: 1e-8,
            coordinatewise: false,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("phi_inf", self.phi_inf)?;
        check_positive("radius", self.radius)?;
        check_positive("step", self.step)?;
        check_positive("delta", self.delta)?;
        if !(0.0..1.0).contains(&self.beta) {
            return Err(Error::Parameter {
                name: "beta",
                value: self.beta,
                expected: "at least 0 and below 1",
            });
        }
        Ok(())
    }
}

/// AdaTD.
pub const METHOD: Method<AdaTd> = Method {
    id: "adatd",
    title: "AdaTD: adaptive steps, momentum, projection",
    reference: "Sun, Shen, Chen & Li 2021, arXiv:2002.08537",
    standing: Standing::Proved,
    needs: &["phi_inf", "R"],
    parameters: &[
        Parameter {
            name: "radius",
            meaning: "R, the radius of a ball that contains theta*, in the units of theta",
            range: Range::Positive,
            default: "2 r_inf / (sqrt(omega) (1-gamma)^(3/2)) of the exact problem",
        },
        Parameter {
            name: "step",
            meaning: "eta, for features of norm at most 1",
            range: Range::Positive,
            default: "0.5",
        },
        Parameter {
            name: "beta",
            meaning: "the momentum's decay rate",
            range: Range::BelowOne,
            default: "0.9",
        },
        Parameter {
            name: "delta",
            meaning: "added to v under the square root, for features of norm at most 1",
            range: Range::Positive,
            default: "1e-8",
        },
        Parameter {
            name: "coordinatewise",
            meaning: "1 for one v per coordinate, 0 for a single v",
            range: Range::Whole(0),
            default: "0",
        },
    ],
    abilities: Abilities::PLAIN.with_rate(Rate {
        omega_free: false,
        ..Rate::ROBUST.projected()
    }),
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<AdaTd> {
    let phi_inf = inputs.phi_inf();
    let radius = inputs.radius()?;
    let coordinatewise = inputs.value("coordinatewise", 0.0);
    if coordinatewise > 1.0 {
        return Err(inputs.refused("coordinatewise", coordinatewise, "0 or 1"));
    }
    let params = AdaTdParams {
        discount: inputs.discount(),
        phi_inf,
        radius,
        step: inputs.value("step", 0.5),
        beta: inputs.value("beta", 0.9),
        delta: inputs.value("delta", 1e-8),
        coordinatewise: coordinatewise == 1.0,
    };
    if let Some(problem) = inputs.known_problem()
        && !(radius >= problem.theta_star_norm())
    {
        let norm = problem.theta_star_norm();
        inputs.warn(format!(
            "the ball of radius {radius} does not contain theta* of norm {norm:.6}"
        ));
    }
    AdaTd::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedAdaTd {
    params: AdaTdParams,
    iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    momentum: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    sum: Vec<f64>,
    #[serde(deserialize_with = "crate::count::read")]
    projections: u64,
}

impl TryFrom<SavedAdaTd> for AdaTd {
    type Error = Error;

    fn try_from(saved: SavedAdaTd) -> Result<Self> {
        let SavedAdaTd {
            params,
            iterate,
            momentum,
            squares,
            sum,
            projections,
        } = saved;
        params.check()?;
        let d = iterate.theta().len();
        check_length("the saved momentum", d, momentum.len())?;
        check_length("the saved sum", d, sum.len())?;
        let expected = accumulators(&params, d);
        check_length("the saved squares", expected, squares.len())?;
        if projections > iterate.steps() {
            let contradiction = format!("{projections} projections in {} steps", iterate.steps());
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            params,
            iterate,
            momentum,
            squares,
            sum,
            projections,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;

    #[test]
    fn two_steps_by_hand() {
        for coordinatewise in [false, true] {
            let params = AdaTdParams {
                beta: 0.5,
                delta: 7.0,
                coordinatewise,
                ..AdaTdParams::new(0.0, 0.2, 1.0)
            };
            let mut learner = AdaTd::new(params, 1).unwrap();
            // m = 1.5, v = 9: theta = 0.5 * 1.5 / 4.
            let phi = Features::Dense(&[1.0]);
            learner.step(&Transition::terminated(phi, 3.0));
            assert_eq!(learner.theta(), [0.1875]);
            assert_eq!(
                (learner.output(), learner.projections()),
                (vec![0.0], Some(0))
            );
            // A step far outside the ball, projected back.
            learner.step(&Transition::terminated(phi, 30.0));
            assert!((learner.theta()[0] - 0.2).abs() < 1e-16);
            assert_eq!(
                (learner.output(), learner.projections()),
                (vec![0.09375], Some(1))
            );
        }
    }
}
