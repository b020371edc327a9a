//! Remembers the answers to recent observations: the rows of many logs repeat each other.

use robust_td_core::spread::Sides;

/// The maximum number of observations, and of their numbers.
const MOST: usize = 256;
const MOST_NUMBERS: usize = 1 << 12;

/// The answer to an observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Answer {
    pub value: f64,
    pub sides: Option<Sides>,
    /// The column with a category that the log of the model did not have.
    pub unseen: Option<usize>,
}

/// The last observation of each hash, with its answer.
#[derive(Debug, Clone)]
pub(crate) struct Recall {
    width: usize,
    observations: Vec<f64>,
    answers: Vec<Option<Answer>>,
}

impl Recall {
    /// Remembers observations of this length; one of them if they are long.
    pub fn new(width: usize) -> Self {
        let places = (MOST_NUMBERS / width.max(1)).clamp(1, MOST);
        Self {
            width,
            observations: vec![0.0; places * width],
            answers: vec![None; places],
        }
    }

    /// The answer to an observation with the same bits.
    #[inline]
    pub fn find(&self, observation: &[f64]) -> Option<Answer> {
        let place = self.place(observation);
        let answer = self.answers[place]?;
        let known = &self.observations[place * self.width..][..self.width];
        let mut pairs = known.iter().zip(observation);
        pairs
            .all(|(x, y)| x.to_bits() == y.to_bits())
            .then_some(answer)
    }

    /// Remembers an answer, in place of an earlier one.
    pub fn keep(&mut self, observation: &[f64], answer: Answer) {
        let place = self.place(observation);
        self.observations[place * self.width..][..self.width].copy_from_slice(observation);
        self.answers[place] = Some(answer);
    }

    #[inline]
    fn place(&self, observation: &[f64]) -> usize {
        let mut hash = 0_u64;
        for x in observation {
            hash = (hash ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        hash as usize % self.answers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_the_same_bits() {
        for width in [1, 3, 5000] {
            let mut recall = Recall::new(width);
            let observation = |k: usize| vec![k as f64; width];
            let answer = |k: usize| Answer {
                value: k as f64,
                sides: None,
                unseen: None,
            };
            for k in 0..2000 {
                assert_eq!(recall.find(&observation(k)), None);
                recall.keep(&observation(k), answer(k));
                assert_eq!(recall.find(&observation(k)), Some(answer(k)));
            }
            let found = (0..2000).filter_map(|k| Some((k, recall.find(&observation(k))?)));
            let found: Vec<_> = found.collect();
            assert!(!found.is_empty() && found.iter().all(|&(k, x)| x == answer(k)));
            recall.keep(&observation(0), answer(7));
            assert_eq!(recall.find(&vec![-0.0; width]), None);
        }
    }
}
