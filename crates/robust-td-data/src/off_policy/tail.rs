//! Predicts how far importance sampling reaches, from the ratios of single rows.
//!
//! # Why not from the weights themselves
//! The weights are products of ratios, with tails so long that a log usually lacks the few episodes that would carry most of the weight. What it
//! then shows is a small estimate, a small spread and a large effective sample size, all three wrong. A rule that looks at these weights shows the
//! interval of exactly the logs in which it is wrong. The ratios of single rows have no such tails: all rows of the log show them.
//!
//! # Formulas
//! With m2 and m3 the means of rho^2 and rho^3 over all rows, B_t the share of episodes that reach row t, and ratios that are independent of each other,
//! the weights up to row T of an episode, S_T = sum_(t <= T) gamma^t w_t, have the moments
//! ```text
//! E[w_t w_s] = m2^(t+1)  for t <= s,      E[w_t w_s w_r] = m3^(t+1) m2^(s-t)  for t <= s <= r
//! E[S_T^2]   = E[S_(T-1)^2] + B_T ( 2 gamma^T A_T + gamma^2T m2^(T+1) )                        A_T = sum_(t < T) gamma^t m2^(t+1)
//! E[S_T^3]   = E[S_(T-1)^3] + B_T ( 3 gamma^T C_T + 3 gamma^2T F_T + gamma^3T m3^(T+1) )       F_(T+1) = m2 ( F_T + gamma^T m3^(T+1) )
//!                                                                                              C_(T+1) = C_T + 2 gamma^T F_T + gamma^2T m3^(T+1)
//! ```
//! and the mean of n episodes has the skewness kappa_T = E[S_T^3] / ( E[S_T^2]^(3/2) n^(1/2) ), with moments about 0, so that it is about n^(-1/2) where the policy was
//! followed. For a policy that always takes one action, of probability p in the log, kappa of the last weight alone is (n p^T)^(-1/2): T rows
//! are within reach as long as enough episodes still follow the policy. The rows before kappa_T exceeds a limit are within reach; what is lost is the
//! share of sum_t gamma^t B_t beyond them, and what an episode earns there if its rewards have the mean size of all rewards.

/// The largest moment.
const MOST: f64 = 1e100;

/// Sums over the rows and lengths of episodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    rows: f64,
    /// The sums of the second and third powers of the ratios.
    squares: f64,
    cubes: f64,
    /// The sum of the sizes of the rewards.
    rewards: f64,
    /// The number of episodes with t rows.
    lengths: Vec<f64>,
}

impl Tail {
    /// Adds an episode by the ratios and rewards of its rows.
    pub fn add(&mut self, rows: impl ExactSizeIterator<Item = (f64, f64)>) {
        let length = rows.len();
        if self.lengths.len() <= length {
            self.lengths.resize(length + 1, 0.0);
        }
        self.lengths[length] += 1.0;
        for (ratio, reward) in rows {
            self.rows += 1.0;
            self.rewards += reward.abs();
            self.squares += ratio * ratio;
            self.cubes += ratio * ratio * ratio;
        }
    }

    /// The predicted skewness of the mean weight of this number of independent episodes, and what is beyond the rows where it is up to
    /// `limit`; all of it without rows.
    pub fn reach(&self, discount: f64, episodes: f64, limit: f64) -> Reach {
        let mut reach = Reach {
            skewness: f64::INFINITY,
            lost: 1.0,
            beyond: f64::INFINITY,
        };
        let (mut within, mut all, mut is_within) = (0.0, 0.0, true);
        self.for_each_prefix(discount, |mass, [second, third]| {
            let skewness = third / (second.powf(1.5) * episodes.sqrt());
            reach.skewness = if second < MOST {
                skewness
            } else {
                f64::INFINITY
            };
            is_within &= reach.skewness <= limit;
            all += mass;
            within += if is_within { mass } else { 0.0 };
        });
        if all > 0.0 {
            reach.lost = 1.0 - within / all;
            reach.beyond = (all - within) * self.rewards / self.rows;
        }
        reach
    }

    /// Visits gamma^T B_T with E[S_T^2] and E[S_T^3], row by row.
    fn for_each_prefix(&self, discount: f64, mut visit: impl FnMut(f64, [f64; 2])) {
        let [m2, m3] = [self.squares, self.cubes].map(|sum| (sum / self.rows).max(1.0));
        let all: f64 = self.lengths.iter().sum();
        let (mut left, mut power) = (all, 1.0);
        let [mut second, mut third, mut a, mut c, mut f] = [0.0; 5];
        let [mut w2, mut w3] = [m2, m3];
        for ended in &self.lengths[..self.lengths.len().saturating_sub(1)] {
            left -= ended;
            let share = left / all;
            third += share * power * (3.0 * c + power * (3.0 * f + power * w3));
            second += share * power * (2.0 * a + power * w2);
            visit(power * share, [second, third]);
            c = (c + power * (2.0 * f + power * w3)).min(MOST);
            f = (m2 * (f + power * w3)).min(MOST);
            a = (a + power * w2).min(MOST);
            w2 = (w2 * m2).min(MOST);
            w3 = (w3 * m3).min(MOST);
            power *= discount;
        }
    }
}

/// How far importance sampling reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reach {
    /// The predicted skewness of the mean weight.
    pub skewness: f64,
    /// The share of the discounted rows that are beyond reach.
    pub lost: f64,
    /// What an episode earns there, with rewards of the mean size of all rows.
    pub beyond: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(ratio: [f64; 2], lengths: &[usize]) -> Tail {
        let mut tail = Tail::default();
        for &length in lengths {
            tail.add((0..length).map(|t| (ratio[t % 2], -2.0)));
        }
        tail
    }

    /// The sums over all pairs and triples of rows, for every number of rows.
    #[test]
    fn moments_are_those_of_the_sums() {
        let (lengths, discount) = ([6, 4, 2, 2, 6, 2], 0.9_f64);
        let [m2, m3] = [2, 3].map(|k| (0.2_f64.powi(k) + 1.9_f64.powi(k)) / 2.0);
        let reach = |t: usize| lengths.iter().filter(|&&n| n > t).count() as f64 / 6.0;
        let power = |t: usize| discount.powi(t as i32);
        let mut rows = 0;
        tail([0.2, 1.9], &lengths).for_each_prefix(discount, |mass, found| {
            assert!((mass - power(rows) * reach(rows)).abs() < 1e-12);
            rows += 1;
            let [mut second, mut third] = [0.0; 2];
            for t in 0..rows {
                for s in 0..rows {
                    let (low, high) = (t.min(s), t.max(s));
                    second += power(t + s) * reach(high) * m2.powi(low as i32 + 1);
                    for r in 0..rows {
                        let mut places = [t, s, r];
                        places.sort_unstable();
                        let [a, b, c] = places;
                        let moment = m3.powi(a as i32 + 1) * m2.powi((b - a) as i32);
                        third += power(t + s + r) * reach(c) * moment;
                    }
                }
            }
            for (found, expected) in found.into_iter().zip([second, third]) {
                assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
            }
        });
        assert_eq!(rows, 6);
    }

    #[test]
    fn a_policy_that_was_followed_is_within_reach() {
        let found = tail([1.0, 1.0], &[3, 5, 4, 4]).reach(1.0, 100.0, 0.2);
        assert!(found.skewness < 0.11 && found.lost == 0.0, "{found:?}");
        let single = tail([1.0, 1.0], &[1, 1]).reach(0.9, 100.0, 0.2);
        assert!((single.skewness - 0.1).abs() < 1e-12);
    }

    /// One decision with probability p: the expected number of rows that follow the policy.
    #[test]
    fn one_action_of_a_bandit_counts_what_follows_it() {
        let mut tail = Tail::default();
        for k in 0..100 {
            tail.add([(if k % 5 == 0 { 5.0 } else { 0.0 }, 1.0)].into_iter());
        }
        let found = tail.reach(0.9, 100.0, 0.3);
        assert!((found.skewness - (100.0 * 0.2_f64).powf(-0.5)).abs() < 1e-12);
        assert_eq!(found.lost, 0.0);
        let found = tail.reach(0.9, 100.0, 0.2);
        assert_eq!((found.lost, found.beyond), (1.0, 1.0));
    }

    #[test]
    fn long_episodes_of_large_ratios_are_beyond_reach() {
        let mut tail = Tail::default();
        tail.add(vec![(50.0, -3.0); 10_000].into_iter());
        let found = tail.reach(1.0, 1e6, 0.2);
        assert_eq!((found.skewness, found.lost > 0.99), (f64::INFINITY, true));
        assert_eq!(Tail::default().reach(0.9, 10.0, 0.2).lost, 1.0);
        // Two rows are within reach, and the discount leaves little beyond.
        let found = tail.reach(0.1, 1e6, 0.2);
        assert!(found.lost < 0.02, "{found:?}");
        assert!(
            (found.beyond - 3.0 * found.lost / 0.9).abs() < 1e-9,
            "{found:?}"
        );
        // What is discounted away does not matter.
        let mut mild = Tail::default();
        mild.add((0..100_000).map(|t| (if t % 2 == 0 { 0.9 } else { 1.1 }, 1.0)));
        let found = mild.reach(0.9, 100.0, 0.2);
        assert!(found.skewness < 0.12 && found.lost == 0.0, "{found:?}");
    }
}
