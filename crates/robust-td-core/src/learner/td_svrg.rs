//! Runs TD-SVRG: TD(0) whose noise is cancelled against the mean update at a reference point.
//!
//! # Reference
//! Mustafin, Olshevsky & Paschalidis, "Closing the gap between SVRG and TD-SVRG with gradient splitting", arXiv:2211.16237; for Markovian streams Xu, Wang,
//! Zhou & Liang, "Reanalysis of variance reduced temporal difference learning", ICLR 2020 (arXiv:2001.01898).
//!
//! # Update rule
//! An epoch has two parts of N samples each. With the reference point w, theta at its start, and g(theta; z) = delta(theta; z) phi,
//! ```text
//! first part:    m = (1/N) sum_z g(w; z)                                        theta stays at w
//! second part:   theta <- theta + eta ( g(theta; z) - g(w; z) + m )             for each sample z
//! ```
//! The next reference point is the last theta (the analysis draws one of them at random), and the next epoch is `growth` times as long. On a log of n rows that is
//! read repeatedly, N = n and growth = 1 make m exact: theta then converges linearly to the fixed point of the log. On a stream the noise of m is left, hence growing epochs.
//! The output is the last iterate.
//!
//! # Inputs
//! phi_inf for the step eta = 1/(8 phi_inf^2) of the analysis. `batch` is the first N.
//!
//! # Assumptions
//! The linear rate is proved for samples drawn from the log independently, and epochs that are long relative to 1/(eta (1-gamma) omega); here the samples come in the order of
//! the stream. No bound is stated.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::Learner;
use crate::learner::forward::read_iterate;
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Standing};
use crate::phi::{Features, Transition};

/// The learner `td-svrg`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTdSvrg")]
pub struct TdSvrg {
    params: TdSvrgParams,
    iterate: Iterate,
    /// w.
    #[serde(with = "crate::exact_float")]
    reference: Vec<f64>,
    /// The sum of the updates at w in the first part, then m.
    #[serde(with = "crate::exact_float")]
    mean: Vec<f64>,
    /// N.
    length: u64,
    /// Samples of this epoch, below 2 N.
    done: u64,
    updates: u64,
}

impl Learner for TdSvrg {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        let TdSvrgParams { discount, step, .. } = self.params;
        let phi = transition.features;
        let at_reference = transition.td_error(&self.reference, discount);
        if self.done < self.length {
            phi.axpy(at_reference, &mut self.mean);
            self.iterate.stay();
        } else {
            let delta = transition.td_error(self.iterate.theta(), discount);
            self.iterate.add(step * (delta - at_reference), phi);
            self.iterate.add(step, Features::Dense(&self.mean));
            self.iterate.finish_step();
            self.updates += 1;
        }
        self.done += 1;
        if self.done == self.length {
            let count = self.length as f64;
            self.mean.iter_mut().for_each(|x| *x /= count);
        } else if self.done == self.length.saturating_mul(2) {
            self.reference.copy_from_slice(self.iterate.theta());
            self.mean.fill(0.0);
            self.done = 0;
            self.length = self.length.saturating_mul(self.params.growth).min(LONGEST);
        }
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn output(&self) -> Vec<f64> {
        self.theta().to_vec()
    }

    read_iterate!(iterate);
}

/// The longest part of an epoch, so that counts do not overflow.
const LONGEST: u64 = 1 << 60;

impl TdSvrg {
    /// The learner at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: TdSvrgParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            reference: vec![0.0; dimension],
            mean: vec![0.0; dimension],
            length: params.batch,
            done: 0,
            updates: 0,
        })
    }
}

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `step` | none | eta | finite, > 0 |
/// | `batch` | none | N of the first epoch | 1 to 2^60 |
/// | `growth` | none | factor of N from epoch to epoch | >= 1 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TdSvrgParams {
    /// gamma.
    pub discount: f64,
    /// eta.
    pub step: f64,
    /// N of the first epoch.
    pub batch: u64,
    /// Factor of N from epoch to epoch.
    pub growth: u64,
}

impl TdSvrgParams {
    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("step", self.step)?;
        for (name, value) in [("batch", self.batch), ("growth", self.growth)] {
            if !(1..=LONGEST).contains(&value) {
                return Err(Error::Parameter {
                    name,
                    value: value as f64,
                    expected: "at least 1 and at most 2^60",
                });
            }
        }
        Ok(())
    }
}

/// TD-SVRG.
pub const METHOD: Method<TdSvrg> = Method {
    id: "td-svrg",
    title: "TD(0) with variance reduction by a reference point",
    reference: "Mustafin, Olshevsky & Paschalidis 2022, arXiv:2211.16237; Xu, Wang, Zhou & Liang 2020",
    standing: Standing::Baseline,
    needs: &["phi_inf"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "the step eta, in the units of the features",
            range: Range::Positive,
            default: "1 / (8 phi_inf^2)",
        },
        Parameter {
            name: "batch",
            meaning: "samples of the first mean update, and steps that use it; the number of rows for a log read repeatedly",
            range: Range::Whole(1),
            default: "100",
        },
        Parameter {
            name: "growth",
            meaning: "factor of the batch from epoch to epoch; 1 for a log read repeatedly",
            range: Range::Whole(1),
            default: "2",
        },
    ],
    abilities: Abilities::PLAIN,
    build,
};

fn build(inputs: &mut Inputs<'_>) -> Result<TdSvrg> {
    let step = 0.125 / inputs.phi_inf().powi(2);
    let params = TdSvrgParams {
        discount: inputs.discount(),
        step: inputs.value("step", step),
        batch: inputs.value("batch", 100.0) as u64,
        growth: inputs.value("growth", 2.0) as u64,
    };
    TdSvrg::new(params, inputs.dimension())
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTdSvrg {
    params: TdSvrgParams,
    iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    reference: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    mean: Vec<f64>,
    #[serde(deserialize_with = "crate::count::read")]
    length: u64,
    #[serde(deserialize_with = "crate::count::read")]
    done: u64,
    #[serde(deserialize_with = "crate::count::read")]
    updates: u64,
}

impl TryFrom<SavedTdSvrg> for TdSvrg {
    type Error = Error;

    fn try_from(saved: SavedTdSvrg) -> Result<Self> {
        let SavedTdSvrg {
            params,
            iterate,
            reference,
            mean,
            length,
            done,
            updates,
        } = saved;
        params.check()?;
        let d = iterate.theta().len();
        check_length("the saved reference point", d, reference.len())?;
        check_length("the saved mean update", d, mean.len())?;
        if !(1..=LONGEST).contains(&length) || done >= 2 * length || updates > iterate.steps() {
            let contradiction = format!(
                "{done} samples of an epoch of 2 x {length}, {updates} updates in {} steps",
                iterate.steps()
            );
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            params,
            iterate,
            reference,
            mean,
            length,
            done,
            updates,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::learner::LstdBatch;
    use crate::learner::lstd::LstdParams;
    use crate::matrix::norm_sq;
    use crate::random::Stream;
    use crate::simulate::Sampler;

    #[test]
    fn an_epoch_by_hand() {
        let params = TdSvrgParams {
            discount: 0.5,
            step: 0.5,
            batch: 2,
            growth: 3,
        };
        let mut learner = TdSvrg::new(params, 1).unwrap();
        // At w = 0 the updates are the rewards: m = 2.
        learner.step(&Transition::terminated(&[1.0], 1.0));
        learner.step(&Transition::terminated(&[1.0], 3.0));
        assert_eq!((learner.theta(), learner.updates()), (&[0.0][..], 0));
        // g(theta) - g(w) = -theta for a terminated step: theta = 1, then 1 + 0.5 (-1 + 2).
        learner.step(&Transition::terminated(&[1.0], 1.0));
        learner.step(&Transition::terminated(&[1.0], 3.0));
        assert_eq!((learner.theta(), learner.updates()), (&[1.5][..], 2));
        assert_eq!(
            (learner.length, learner.done, learner.reference[0]),
            (6, 0, 1.5)
        );
    }

    #[test]
    fn it_converges_linearly_on_a_finite_log() {
        let problem = catalog::problem("ref-3", &[]).unwrap();
        let mut stream = Stream::new(9, 0);
        let n = 400;
        let states = Sampler::new(&problem).trajectory(0, n, &mut stream);
        let log: Vec<_> = (states.windows(2))
            .map(|pair| Transition::of_problem(&problem, pair[0], pair[1]))
            .collect();
        let (discount, d) = (problem.discount(), problem.dimension());
        let sums = LstdParams {
            discount,
            lambda: 0.0,
            ridge: 1e-12,
        };
        let mut batch = LstdBatch::new(sums, d).unwrap();
        log.iter().for_each(|sample| batch.add(sample));
        let solution = batch.solution().unwrap();
        let params = TdSvrgParams {
            discount,
            step: 0.125 / problem.phi_inf().powi(2),
            batch: n as u64,
            growth: 1,
        };
        let mut learner = TdSvrg::new(params, d).unwrap();
        let error = |learner: &TdSvrg| {
            let pairs = learner.theta().iter().zip(&solution);
            norm_sq(&pairs.map(|(x, y)| x - y).collect::<Vec<f64>>()).sqrt()
        };
        let mut errors = vec![error(&learner)];
        for _ in 0..12 {
            for _ in 0..2 {
                log.iter().for_each(|sample| learner.step(sample));
            }
            errors.push(error(&learner));
        }
        // Every epoch divides the error by more than 5, down to rounding.
        for pair in errors.windows(2) {
            assert!(pair[1] < 0.2 * pair[0] || pair[1] < 1e-12, "{errors:?}");
        }
        assert!(errors[12] < 1e-11, "{errors:?}");
    }
}
