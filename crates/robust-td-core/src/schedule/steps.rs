//! Collects the deterministic step-size rules of the learners in one type that can be stored.

use serde::{Deserialize, Serialize};

use crate::schedule::{Schedule, robust_step_size};

/// The step size of update t = 0, 1, 2, ..., in the units of the features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Steps {
    /// eta.
    Constant {
        /// eta.
        eta: f64,
    },
    /// 1 / (scale ln(t+3) sqrt(t+1)): Algorithm 1, and the 2026 single step size.
    Robust {
        /// c phi_inf^2 ln T, or c phi_inf^2 tau_mix.
        scale: f64,
    },
    /// 1 / (scale ln^2(t+3) sqrt(t+1)): the 2026 variant that needs no mixing time.
    MixingFree {
        /// c phi_inf^2.
        scale: f64,
    },
    /// first / (t+1).
    Harmonic {
        /// The step of update 0.
        first: f64,
    },
    /// first T^(-t/T), from `first` down to almost first / T.
    Exponential {
        /// The step of update 0.
        first: f64,
        /// T.
        horizon: u64,
    },
}

impl Schedule for Steps {
    #[inline]
    fn step_size(&self, t: u64) -> f64 {
        match *self {
            Self::Constant { eta } => eta,
            Self::Robust { scale } => robust_step_size(scale, t as f64),
            Self::MixingFree { scale } => {
                let log = (t as f64 + 3.0).ln();
                robust_step_size(scale * log, t as f64)
            }
            Self::Harmonic { first } => first / (t as f64 + 1.0),
            Self::Exponential { first, horizon } => {
                let horizon = horizon as f64;
                first * (-(t as f64) / horizon * horizon.ln()).exp()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::RobustDecay;

    #[test]
    fn each_rule_is_its_formula() {
        let robust = RobustDecay::new(1000, 0.3, 1.7).unwrap();
        let scale = robust.scale();
        for t in [0, 1, 5, 999] {
            let x = t as f64;
            let close = |steps: Steps, expected: f64| {
                assert!((steps.step_size(t) / expected - 1.0).abs() < 1e-14);
            };
            close(Steps::Constant { eta: 0.3 }, 0.3);
            let same = Steps::Robust { scale }.step_size(t);
            assert_eq!(same.to_bits(), robust.step_size(t).to_bits());
            let squared = (x + 3.0).ln() * (x + 3.0).ln() * (x + 1.0).sqrt();
            close(Steps::MixingFree { scale: 2.5 }, 1.0 / (2.5 * squared));
            close(Steps::Harmonic { first: 2.0 }, 2.0 / (x + 1.0));
        }
    }

    /// T35: the last exponential step is eta_0 T^(-(T-1)/T).
    #[test]
    fn exponential_steps_end_where_they_should() {
        for horizon in [3_u64, 100, 1_000_000] {
            let steps = Steps::Exponential {
                first: 0.2,
                horizon,
            };
            let t = horizon as f64;
            let end = 0.2 * t.powf(-(t - 1.0) / t);
            assert!((steps.step_size(horizon - 1) / end - 1.0).abs() < 1e-12);
            assert_eq!(steps.step_size(0), 0.2);
        }
    }
}
