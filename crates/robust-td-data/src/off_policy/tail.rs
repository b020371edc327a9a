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
//!
//! Ratios may persist: a policy that differs for some customers has ratios of 1 in all rows of the others. Products of squares and cubes over up to
//! [`WINDOW`] consecutive rows of the log show that. Where they are larger than m2^(t+1) and m3^(t+1) they replace these, and their growth from one window to
//! the next replaces m2 and m3 for longer products.

/// The largest moment.
const MOST: f64 = 1e100;

/// The longest products of ratios that are observed.
const WINDOW: usize = 5;
/// The least number of windows that show a mean.
const FEWEST: f64 = 200.0;

/// Sums over the rows and lengths of episodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    rows: f64,
    /// The sums of the second and third powers of the products of the ratios of 1, 2, ... consecutive rows, and the number of such products.
    products: [[f64; 2]; WINDOW],
    windows: [f64; WINDOW],
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
        let mut last = [0.0; WINDOW];
        for (t, (ratio, reward)) in rows.enumerate() {
            self.rows += 1.0;
            self.rewards += reward.abs();
            for k in (0..WINDOW.min(t + 1)).rev() {
                last[k] = ratio * if k == 0 { 1.0 } else { last[k - 1] };
                let square = last[k] * last[k];
                self.products[k][0] += square;
                self.products[k][1] += square * last[k];
                self.windows[k] += 1.0;
            }
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
        let mut products = Products::of(self);
        let all: f64 = self.lengths.iter().sum();
        let (mut left, mut power) = (all, 1.0);
        let [mut second, mut third, mut a, mut c, mut f] = [0.0; 5];
        let [mut w2, mut w3] = products.next();
        for ended in &self.lengths[..self.lengths.len().saturating_sub(1)] {
            left -= ended;
            let share = left / all;
            third += share * power * (3.0 * c + power * (3.0 * f + power * w3));
            second += share * power * (2.0 * a + power * w2);
            visit(power * share, [second, third]);
            c = (c + power * (2.0 * f + power * w3)).min(MOST);
            a = (a + power * w2).min(MOST);
            let [more2, more3] = products.next();
            f = (more2 / w2 * (f + power * w3)).min(MOST);
            [w2, w3] = [more2, more3];
            power *= discount;
        }
    }
}

/// The mean squares and cubes of the products of the ratios of 1, 2, ... consecutive rows.
struct Products<'a> {
    tail: &'a Tail,
    rows: usize,
    means: [f64; 2],
    /// The factor of the next row.
    growth: [f64; 2],
}

impl<'a> Products<'a> {
    fn of(tail: &'a Tail) -> Self {
        Self {
            tail,
            rows: 0,
            means: [1.0; 2],
            growth: tail.products[0].map(|sum| (sum / tail.rows).max(1.0)),
        }
    }

    fn next(&mut self) -> [f64; 2] {
        let k = self.rows;
        self.rows += 1;
        for (p, (mean, growth)) in self.means.iter_mut().zip(&mut self.growth).enumerate() {
            let observed = |k: usize| self.tail.products[k][p] / self.tail.windows[k];
            let independent = *mean * *growth;
            *mean = match k < WINDOW && self.tail.windows[k] >= FEWEST {
                true => independent.max(observed(k)),
                false => independent,
            }
            .min(MOST);
            // The growth over two rows is less noisy than that over one.
            if k == WINDOW - 1 && self.tail.windows[k] >= FEWEST {
                *growth = growth.max((observed(k) / observed(k - 2)).sqrt());
            }
        }
        self.means
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

    /// One episode in five has ratios of 0 and 2, the others have been drawn from the policy itself.
    #[test]
    fn ratios_that_persist_have_larger_products() {
        let mut tail = Tail::default();
        for k in 0..640_usize {
            let ratio = |t: usize| match k % 5 {
                0 => 2.0 * f64::from(u8::from((k / 5) >> (t % 7) & 1 == 1)),
                _ => 1.0,
            };
            tail.add((0..7).map(|t| (ratio(t), 1.0)));
        }
        let mut products = Products::of(&tail);
        for rows in 1..=10 {
            let [second, third] = products.next();
            let exact = |power: i32| 0.8 + 0.2 * (2.0_f64.powi(power) / 2.0).powi(rows);
            let factor = if rows > WINDOW as i32 { 3.0 } else { 1.1 };
            assert!(
                second > exact(2) / factor && second < exact(2) * 1.1,
                "{rows} {second}"
            );
            assert!(
                third > exact(3) / factor && third < exact(3) * 1.1,
                "{rows} {third}"
            );
        }
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
