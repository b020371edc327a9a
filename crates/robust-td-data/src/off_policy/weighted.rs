//! Adds up the self-normalised importance sampling estimate, decision by decision.

use super::episodes::Episode;

/// The sums of each time step over complete episodes.
#[derive(Default)]
pub(super) struct WeightedSums {
    discount: f64,
    /// sum_i w_it r_it, and sum_i w_it over the episodes that reach t.
    rewards: Vec<f64>,
    weights: Vec<f64>,
    /// The last weights of the episodes with t rows.
    ended: Vec<f64>,
}

/// The estimate, and what it takes to find the part of an episode in its error.
pub(super) struct Weighted {
    pub value: f64,
    discount: f64,
    /// The weighted mean reward at t, and the sum of all weights there.
    means: Vec<f64>,
    totals: Vec<f64>,
    /// sum over s >= t of gamma^s mean_s / total_s.
    tail: Vec<f64>,
}

impl WeightedSums {
    pub fn new(discount: f64) -> Self {
        Self {
            discount,
            ..Self::default()
        }
    }

    pub fn add(&mut self, episode: &Episode<'_>) {
        let length = episode.steps.len();
        if self.rewards.len() < length {
            self.rewards.resize(length, 0.0);
            self.weights.resize(length, 0.0);
            self.ended.resize(length + 1, 0.0);
        }
        let mut weight = 1.0;
        for (t, step) in episode.steps.iter().enumerate() {
            weight *= step.ratio;
            self.rewards[t] += weight * step.reward;
            self.weights[t] += weight;
        }
        self.ended[length] += weight;
    }

    /// The estimate; `None` if all weights are 0 at some time.
    pub fn finish(self) -> Option<Weighted> {
        let (mut ended, mut power, mut value) = (0.0, 1.0, 0.0);
        let [mut means, mut totals, mut terms] = [(); 3].map(|()| Vec::new());
        for t in 0..self.rewards.len() {
            ended += self.ended[t];
            let total = ended + self.weights[t];
            if !(total > 0.0) {
                return None;
            }
            let mean = self.rewards[t] / total;
            value += power * mean;
            terms.push(power * mean / total);
            means.push(mean);
            totals.push(total);
            power *= self.discount;
        }
        let mut tail = vec![0.0; terms.len() + 1];
        for t in (0..terms.len()).rev() {
            tail[t] = tail[t + 1] + terms[t];
        }
        (!means.is_empty()).then_some(Weighted {
            value,
            discount: self.discount,
            means,
            totals,
            tail,
        })
    }
}

impl Weighted {
    /// The part of an episode in the error: the first-order change of the estimate by its weight.
    pub fn contribution(&self, episode: &Episode<'_>) -> f64 {
        let (mut weight, mut power, mut sum) = (1.0, 1.0, 0.0);
        for (t, step) in episode.steps.iter().enumerate() {
            weight *= step.ratio;
            sum += power * weight * (step.reward - self.means[t]) / self.totals[t];
            power *= self.discount;
        }
        sum - weight * self.tail[episode.steps.len()]
    }
}
