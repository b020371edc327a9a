//! Maintains the eligibility trace: the states of the current episode with decaying weights.
//!
//! ```text
//! z_t = rho_t ( gamma lambda z_{t-1} + m_t phi(s_t) ),     z = 0 before the first state of an episode
//! ```
//!
//! with the importance ratio rho_t (1 on-policy) and the emphasis m_t (1 except in emphatic TD). On-policy with m = 1
//! its norm stays below phi_inf / (1 - gamma lambda).
//!
//! # Performance
//! O(d) per step, even with sparse features, because the trace fills up. With gamma lambda = 0 it is a multiple of phi(s_t) and
//! nothing is stored: O(nonzeros), and exactly the operations of TD(0).

use serde::{Deserialize, Serialize};

use crate::check::check_length;
use crate::error::Result;
use crate::phi::{Features, Transition};

/// z_t.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    #[serde(with = "crate::exact_float")]
    z: Vec<f64>,
}

impl Trace {
    /// The trace before the first state.
    #[must_use]
    pub fn zero(dimension: usize) -> Self {
        Self {
            z: vec![0.0; dimension],
        }
    }

    /// Adds the features of the transition's state and returns z as a factor and a vector.
    ///
    /// `decay` is gamma lambda and `emphasis` is m.
    #[inline]
    pub fn visit<'a>(
        &'a mut self,
        decay: f64,
        emphasis: f64,
        transition: &Transition<'a>,
    ) -> (f64, Features<'a>) {
        let (features, ratio) = (transition.features, transition.ratio);
        if decay == 0.0 {
            return (ratio * emphasis, features);
        }
        let fade = ratio * decay;
        for z in &mut self.z {
            *z *= fade;
        }
        features.axpy(ratio * emphasis, &mut self.z);
        (1.0, Features::Dense(&self.z))
    }

    /// Resets the trace if the next transition belongs to a new episode.
    #[inline]
    pub fn leave(&mut self, transition: &Transition<'_>) {
        if transition.outcome.ends_episode() {
            self.clear();
        }
    }

    /// Resets the trace.
    pub fn clear(&mut self) {
        self.z.fill(0.0);
    }

    /// Checks a restored trace against the dimension of its iterate.
    ///
    /// # Errors
    /// When the dimension differs.
    pub(crate) fn check(&self, dimension: usize) -> Result<()> {
        check_length("the saved trace", dimension, self.z.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_fade_until_the_episode_ends() {
        let (one, two) = (Features::Dense(&[1.0, 0.0]), Features::Dense(&[0.0, 2.0]));
        let mut trace = Trace::zero(2);
        let step = Transition::new(one, 0.0, two);
        assert_eq!(
            trace.visit(0.5, 1.0, &step),
            (1.0, Features::Dense(&[1.0, 0.0]))
        );
        trace.leave(&step);
        let step = Transition::truncated(two, 0.0, one).with_ratio(3.0);
        let z = Features::Dense(&[1.5, 24.0]);
        assert_eq!(trace.visit(0.5, 4.0, &step), (1.0, z));
        trace.leave(&step);
        let step = Transition::terminated(one, 0.0);
        assert_eq!(
            trace.visit(0.5, 1.0, &step),
            (1.0, Features::Dense(&[1.0, 0.0]))
        );
    }

    #[test]
    fn without_decay_the_trace_is_the_state() {
        let sparse = Features::Sparse {
            indices: &[1],
            values: &[2.0],
        };
        let mut trace = Trace::zero(2);
        let step = Transition::terminated(sparse, 0.0).with_ratio(0.5);
        assert_eq!(trace.visit(0.0, 6.0, &step), (3.0, sparse));
    }
}
