//! Estimates the sampling error of a linear answer from its contributions by group of rows.
//!
//! The error of least squares is A^{-1} times the sum of the scores s_t = delta_t phi_t. With S_k the sum over group k and
//! W_k = A^{-1} S_k, the value phi.theta has the contributions c_k = phi.W_k, and the variance of its error is that of their
//! sum. [`independent`] takes groups that are independent clusters (episodes, users);
//! [`Trajectory`](super::trajectory::Trajectory) takes consecutive blocks of one trajectory.
//!
//! The mean value of the starts, phi_mean.theta, also varies with the starts: its contribution of group k is phi_mean.W_k plus
//! the sum over the starts in the group of (phi_start.theta - mean) / starts.
//!
//! # Leverage
//! The estimate bends towards each group, which makes contributions too small where a group holds much of the data. Multiply
//! W_ki by [`leverage`](super::support::leverage)(h_ki) = 1 / (1 - h_ki) first, with h_ki the group's share of the sum of
//! phi_i^2, and the extra term of the starts by that of its share of the starts. This is the jackknife (CR3) with a diagonal
//! approximation of A_k A^{-1}; exact for a constant feature and for one-hot features with discount 0.
//!
//! # Formulas
//! With m clusters behind the answer ([`Support`](super::support::Support)), as even as e of one size, at most K groups, and z the normal
//! quantile:
//! ```text
//! se^2    = (m - 1)/m sum c^2
//! freedom = min( 3 (sum c^2)^2 / sum c^4 (g - 1)/g,  g - 1,  max(e - 1, 2),  (rows - 1)/2 ),     g = min(m, K)
//! x       = (1 + 2 z^2)/6 |sum c^3| / se^3 max( 1 - 8 (1/e - 1/m), 0 )
//! longer  = se ( t + (1.25 + 12/max(8, min(m, rows)) + 4/freedom) x ),     shorter = se max( t - 0.75 x, t/2 )
//! ```
//! The first bound of the freedom is Satterthwaite's: few clusters of large variance count as few. x is the first term of the
//! Cornish-Fisher expansion of a studentised mean; the longer side is above the answer where sum c^3 > 0. It is enlarged on that side
//! and reduced on the other, because small samples understate their skewness.
//!
//! # Clusters of different sizes
//! A cluster that holds much of the data pulls the answer towards itself, and then has the largest contribution, of the same sign as
//! the error: what looks like skewness says nothing, or moves the interval away from the truth. The bounds by e, with the factors 8
//! and 2, were chosen on simulated means of 5 to 500 clusters, of which one holds up to 80 % or whose sizes are those of Pareto or
//! exponential distributions; their effects vary between clusters, within them, or both. 95 % intervals cover 93.5 to 98 % where
//! no cluster holds more than half, and more beyond (`few_clusters_of_different_sizes` in `spread_coverage.rs`).
//!
//! # Rare outcomes
//! Where one of many clusters has an outcome that the others lack (a goal, a payoff), the error is that of a count. With a freedom
//! of less than 6, by the first bound (two outcomes of one size, or about ten of sizes that vary like an exponential distribution),
//! and of less than half of what the sizes of clusters let expect, the answer is not reliable. The factors 0.75, 4 and 6 are those with which intervals of sums of 2 to 32 such outcomes, of constant,
//! uniform, exponential and lognormal sizes, cover most evenly (92 to 99 %; the last test of `spread_coverage.rs`).
//!
//! # References
//! Bell & McCaffrey, Survey Methodology 28, 2002; Imbens & Kolesar, Review of Economics and Statistics 98, 2016 (few clusters);
//! Carter, Schnepel & Steigerwald, Review of Economics and Statistics 99, 2017 (clusters of different sizes); Johnson, JASA 73, 1978 (skewness); Hansen, "Jackknife standard errors for clustered regression", 2022.

pub use crate::solve::quantile::two_sided;

use crate::solve::quantile::normal;
use crate::solve::support::Support;

/// The minimum number of rows behind an answer: below, a rare outcome was probably not seen at all.
const FEWEST_ROWS: f64 = 10.0;

/// With more clusters than this, an answer that rests on few of them depends on rare outcomes,
const MANY_CLUSTERS: f64 = 64.0;
/// few meaning fewer degrees of freedom than this.
const FEWEST_FREEDOM: f64 = 6.0;

/// The sampling error of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The estimate that makes the interval.
    main: Route,
    /// An estimate that sees only fast noise; the interval is at least a share of its own.
    floor: Option<Route>,
    /// Whether the data suffice to tell; if not, the true error may be larger than reported.
    pub reliable: bool,
}

/// The lengths of the two sides of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// The distance from the lower end to the answer.
    pub below: f64,
    /// The distance from the answer to the upper end.
    pub above: f64,
}

/// One estimate of the error's distribution: a scaled t distribution with some skewness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Route {
    pub standard_error: f64,
    pub freedom: f64,
    pub skewness: Skewness,
}

/// The skewness of an error, as it moves the ends of the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Skewness {
    /// Enlarged, for the end of the longer side; its sign is that of the skewness.
    outwards: f64,
    /// Reduced, for the end of the shorter side; not negative.
    inwards: f64,
}

impl Route {
    fn sides(&self, confidence: f64) -> Sides {
        /// The least length of the shorter side, relative to that without skewness.
        const LEAST: f64 = 0.5;
        let z = normal(0.5 * (1.0 - confidence));
        let t = two_sided(confidence, self.freedom);
        let term = (1.0 + 2.0 * z * z) / 6.0;
        let Skewness { outwards, inwards } = self.skewness;
        let longer = self.standard_error * (t + term * outwards.abs());
        let shorter = self.standard_error * (t - term * inwards).max(LEAST * t);
        let (below, above) = match outwards >= 0.0 {
            true => (shorter, longer),
            false => (longer, shorter),
        };
        Sides { below, above }
    }
}

impl Skewness {
    const NONE: Self = Self {
        outwards: 0.0,
        inwards: 0.0,
    };

    /// The skewness of a sum with this third cumulant, which rests on this many degrees of freedom.
    pub fn new(third: f64, standard_error: f64, freedom: f64, support: Support) -> Self {
        /// What is certain of an estimated skewness.
        const REDUCED: f64 = 0.75;
        // The cube of the standard error may underflow.
        if !(standard_error > 0.0) || third == 0.0 {
            return Self::NONE;
        }
        let skewness = evenness(support) * third / standard_error.powi(3);
        let enlarged = 1.25 + 12.0 / support.clusters.min(support.rows).max(8.0) + 4.0 / freedom;
        Self {
            outwards: enlarged * skewness,
            inwards: REDUCED * skewness.abs(),
        }
    }

    /// The same, but only the longer side changes.
    pub fn outwards_only(self) -> Self {
        Self {
            inwards: 0.0,
            ..self
        }
    }
}

impl Spread {
    /// The error of an answer about which nothing is known.
    pub const UNKNOWN: Self = Self {
        main: Route {
            standard_error: f64::INFINITY,
            freedom: 1.0,
            skewness: Skewness::NONE,
        },
        floor: None,
        reliable: false,
    };

    pub(super) fn new(main: Route, floor: Option<Route>, reliable: bool) -> Self {
        let finite = main.standard_error.is_finite() && main.skewness.outwards.is_finite();
        match finite {
            true => Self {
                main,
                floor,
                reliable,
            },
            false => Self::UNKNOWN,
        }
    }

    /// The error of an answer whose contributions are this many times as large.
    pub(super) fn scaled_by(self, unit: f64) -> Self {
        let times = |route: Route| Route {
            standard_error: unit * route.standard_error,
            ..route
        };
        Self::new(times(self.main), self.floor.map(times), self.reliable)
    }

    /// The same error beside a bias of about this size, which it must cover, too; not reliable if it cannot.
    #[must_use]
    pub fn beside(self, bias: f64) -> Self {
        /// With a bias of this many standard errors, 95 % intervals cover 93 %.
        const MOST: f64 = 0.4;
        let reliable = self.reliable && bias <= MOST * self.main.standard_error;
        Self { reliable, ..self }
    }

    /// The standard error.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.main.standard_error
    }

    /// The degrees of freedom of the t quantile.
    #[must_use]
    pub fn freedom(&self) -> f64 {
        self.main.freedom
    }

    /// The two sides of the interval at a confidence in (0, 1): [answer - below, answer + above].
    #[must_use]
    pub fn sides(&self, confidence: f64) -> Sides {
        /// The share of the fast noise's own interval that the interval has at least.
        const SHARE: f64 = 0.7;
        if self.main.standard_error == f64::INFINITY {
            let [below, above] = [f64::INFINITY; 2];
            return Sides { below, above };
        }
        let main = self.main.sides(confidence);
        self.floor.map_or(main, |floor| {
            let least = floor.sides(confidence);
            Sides {
                below: main.below.max(SHARE * least.below),
                above: main.above.max(SHARE * least.above),
            }
        })
    }

    /// As [`sides`](Self::sides), but infinite where the data do not suffice to tell.
    #[must_use]
    pub fn trusted_sides(&self, confidence: f64) -> Sides {
        match self.reliable {
            true => self.sides(confidence),
            false => Self::UNKNOWN.sides(confidence),
        }
    }

    /// Half the width of a symmetric interval at a confidence in (0, 1): the longer of the two [`sides`](Self::sides).
    #[must_use]
    pub fn half_width(&self, confidence: f64) -> f64 {
        let sides = self.sides(confidence);
        sides.below.max(sides.above)
    }
}

/// The error of an answer whose contributions come from independent groups: clusters, or clusters pooled into groups.
///
/// Groups without data have the contribution 0. Unreliable with fewer than 2 clusters or 10 rows, or when few of many clusters
/// make up the error.
#[must_use]
pub fn independent(contributions: &[f64], support: Support) -> Spread {
    if !enough(support) {
        return Spread::UNKNOWN;
    }
    let powers = power_sums(contributions);
    if let Some((unit, contributions)) = rescaled(contributions, powers) {
        return independent(&contributions, support).scaled_by(unit);
    }
    let main = fast(powers, contributions.len(), support);
    let rests_on_few = is_rare(powers, FEWEST_FREEDOM, contributions.len(), support);
    let reliable = enough_rows(support) && !rests_on_few;
    Spread::new(main, None, reliable)
}

/// The share of the skewness that counts: 1 for clusters of one size, 0 if few of them hold most of the data.
fn evenness(support: Support) -> f64 {
    /// How fast it falls with the sum of squared shares.
    const FALL: f64 = 8.0;
    let excess = 1.0 / support.effective - 1.0 / support.clusters;
    (1.0 - FALL * excess).clamp(0.0, 1.0)
}

/// Whether there is any estimate at all.
pub(super) fn enough(support: Support) -> bool {
    support.clusters >= 2.0 && support.rows >= 2.0
}

/// Whether the error, given sums of powers of contributions, rests on few of many clusters, with fewer degrees of freedom than `fewest`: on
/// outcomes so rare that the next ones may differ. They must also be fewer than half of those that the sizes of clusters let expect: a
/// cluster with most of the data is no rare outcome.
pub(super) fn is_rare(powers: [f64; 3], fewest: f64, groups: usize, support: Support) -> bool {
    let groups = support.clusters.min(groups as f64);
    let freedom = satterthwaite(powers, groups).min(0.5 * (support.rows - 1.0));
    groups > MANY_CLUSTERS && powers[0] > 0.0 && freedom < fewest.min(0.5 * support.freedom)
}

/// The degrees of freedom of a sum of squares of normal contributions, as far as their sizes show them.
fn satterthwaite([second, _, fourth]: [f64; 3], groups: f64) -> f64 {
    match fourth > 0.0 {
        true => 3.0 * second * (second / fourth) * (groups - 1.0) / groups,
        false => f64::INFINITY,
    }
}

/// Whether rare outcomes were probably seen.
pub(super) fn enough_rows(support: Support) -> bool {
    support.rows >= FEWEST_ROWS
}

/// The error of a mean of independent values, or of a ratio of sums over independent clusters, given the sums of the second, third
/// and fourth powers of what each of the `clusters`, which are as even as `effective` ones of one size, adds to its error.
///
/// The interval is that of [`independent`]; it is reliable from two clusters on. Unknown where powers overflow or underflow.
#[must_use]
pub fn of_powers(powers: [f64; 3], clusters: f64, effective: f64) -> Spread {
    if !(clusters >= 2.0) {
        return Spread::UNKNOWN;
    }
    let [second, _, fourth] = powers;
    if second != 0.0 && !SAFE.contains(&fourth) {
        return Spread::UNKNOWN;
    }
    // Leverage: each cluster bends the mean towards itself.
    let factor = clusters / (clusters - 1.0);
    let [second, third, fourth] = powers;
    let powers = [
        second * factor * factor,
        third * factor.powi(3),
        fourth * factor.powi(4),
    ];
    let support = Support {
        effective,
        ..Support::even(clusters, f64::INFINITY)
    };
    let main = fast(powers, usize::MAX, support);
    Spread::new(main, None, true)
}

/// The sums of fourth powers that have lost no digits.
const SAFE: std::ops::Range<f64> = 1e-280..1e280;

/// Contributions in a unit in which their powers neither overflow nor underflow, if they do as given.
pub(super) fn rescaled(contributions: &[f64], [.., fourth]: [f64; 3]) -> Option<(f64, Vec<f64>)> {
    const EXPONENT: u64 = 0x7ff << 52;
    if SAFE.contains(&fourth) || !contributions.iter().all(|c| c.is_finite()) {
        return None;
    }
    let most = |most: f64, c: &f64| most.max(c.abs());
    let largest = contributions.iter().fold(0.0, most);
    // A power of 2: no digits change.
    let unit = f64::from_bits(largest.to_bits() & EXPONENT);
    (largest.is_normal()).then(|| (unit, contributions.iter().map(|c| c / unit).collect()))
}

/// The sums of the second, third and fourth powers.
pub(super) fn power_sums(contributions: &[f64]) -> [f64; 3] {
    // Four sums of each: a single one would wait for itself.
    let mut sums = [[0.0; 4]; 3];
    let mut add = |numbers: &[f64; 4]| {
        for (lane, c) in numbers.iter().enumerate() {
            let square = c * c;
            sums[0][lane] += square;
            sums[1][lane] += square * c;
            sums[2][lane] += square * square;
        }
    };
    let (chunks, rest) = contributions.as_chunks();
    chunks.iter().for_each(&mut add);
    let mut last = [0.0; 4];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    sums.map(|[a, b, c, d]| (a + c) + (b + d))
}

/// The estimate for this number of independent groups, from the sums of powers of their contributions.
pub(super) fn fast(powers: [f64; 3], groups: usize, support: Support) -> Route {
    /// The least number of degrees of freedom that different sizes leave.
    const LEAST: f64 = 2.0;
    let [second, third, _] = powers;
    let Support {
        clusters,
        effective,
        rows,
        ..
    } = support;
    let groups = clusters.min(groups as f64).max(2.0);
    let standard_error = (second * (clusters - 1.0) / clusters).sqrt();
    let sizes = (effective - 1.0).max(LEAST);
    let freedom = satterthwaite(powers, groups).min(groups - 1.0).min(sizes);
    let freedom = freedom.min(0.5 * (rows - 1.0));
    let freedom = freedom.max(1.0);
    Route {
        standard_error,
        freedom,
        skewness: Skewness::new(third, standard_error, freedom, support),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::support::leverage;

    const MANY_ROWS: f64 = 1e6;

    /// Balanced clusters: the standard error and the quantile are those of the textbook's t interval for a mean.
    #[test]
    fn a_mean_has_its_t_interval() {
        let values = [-1.5, -0.5, -0.5, 0.5, 0.5, 1.5];
        let contributions = values.map(|v| v / 6.0 * leverage(1.0 / 6.0));
        let support = Support::even(6.0, MANY_ROWS);
        let spread = independent(&contributions, support);
        let variance: f64 = values.iter().map(|v| v * v).sum::<f64>() / 5.0;
        assert!((spread.standard_error() - (variance / 6.0).sqrt()).abs() < 1e-12);
        assert_eq!(spread.freedom(), 5.0);
        let t = 2.570581835636314;
        assert!((spread.half_width(0.95) - t * spread.standard_error()).abs() < 1e-6);
        assert!(spread.reliable);
    }

    #[test]
    fn one_large_cluster_leaves_few_degrees_of_freedom_and_a_longer_side() {
        let mut contributions = [0.01; 100];
        contributions[3] = 1.0;
        let support = Support::even(100.0, MANY_ROWS);
        let spread = independent(&contributions, support);
        assert!(
            (2.9..3.1).contains(&spread.freedom()),
            "{}",
            spread.freedom()
        );
        let sides = spread.sides(0.95);
        assert!(sides.above > 1.2 * sides.below, "{sides:?}");
        assert_eq!(spread.half_width(0.95), sides.above);
    }

    #[test]
    fn too_little_data_is_unknown_or_unreliable() {
        let of = |clusters, rows| independent(&[1.0, -1.0, 0.5], Support::even(clusters, rows));
        assert_eq!(of(1.0, 100.0), Spread::UNKNOWN);
        assert_eq!(of(f64::NAN, 100.0), Spread::UNKNOWN);
        assert_eq!(Spread::UNKNOWN.half_width(0.95), f64::INFINITY);
        assert!(!of(3.0, 9.0).reliable && of(3.0, 9.0).half_width(0.95).is_finite());
        assert!(of(3.0, 10.0).reliable);
    }

    /// The sums of powers give the interval of the values themselves.
    #[test]
    fn a_mean_has_the_same_interval_from_its_moments() {
        let values = [0.1, 0.5, 0.2, 7.0, 0.3, 1.1, 0.9, 0.4, 2.5, 0.2, 0.6, 0.8];
        let m = values.len() as f64;
        let mean = values.iter().sum::<f64>() / m;
        let away = values.map(|v| (v - mean) / m);
        let contributions = away.map(|c| c * leverage(1.0 / m));
        let support = Support::even(m, MANY_ROWS);
        let expected = independent(&contributions, support).sides(0.95);
        let powers = [2, 3, 4].map(|k| away.iter().map(|c| c.powi(k)).sum());
        let found = of_powers(powers, m, m);
        let sides = found.sides(0.95);
        assert!((sides.above - expected.above).abs() < 1e-12, "{sides:?}");
        assert!((sides.below - expected.below).abs() < 1e-12, "{sides:?}");
        assert!(found.reliable && sides.above > 1.2 * sides.below);
        assert_eq!(of_powers(powers, 1.0, 1.0), Spread::UNKNOWN);
    }

    /// Contributions of 256 clusters, of which this many have an outcome of size 1, times 256.
    fn outcomes(count: usize) -> Vec<f64> {
        let share = count as f64 / 256.0;
        let away = (0..256).map(|k| f64::from(u8::from(k < count)) - share);
        away.map(|c| c * leverage(1.0 / 256.0)).collect()
    }

    const CLUSTERS: Support = Support {
        clusters: 256.0,
        effective: 256.0,
        freedom: 768.0,
        rows: MANY_ROWS,
    };

    /// Garwood's exact interval of a Poisson count.
    #[test]
    fn counts_have_ends_close_to_those_of_the_poisson_distribution() {
        for (count, exact) in [(5, [1.62, 11.67]), (10, [4.80, 18.39]), (15, [8.40, 24.74])] {
            let sides = independent(&outcomes(count), CLUSTERS).sides(0.95);
            let [lower, upper] = [count as f64 - sides.below, count as f64 + sides.above];
            assert!((lower - exact[0]).abs() < 0.35, "{count}: {lower}");
            assert!((upper - exact[1]).abs() < 0.5, "{count}: {upper}");
        }
    }

    #[test]
    fn sides_are_positive_and_grow_with_the_confidence() {
        let mut rare = [0.01; 64];
        rare[7] = 1.0;
        let few = Support::even(64.0, 64.0);
        let all = [
            independent(&rare, few),
            independent(&rare.map(|c| -c), few),
            independent(&outcomes(2), CLUSTERS),
            independent(&outcomes(30), CLUSTERS),
            independent(&[1.0, -1.0, 0.5], CLUSTERS),
        ];
        for spread in all {
            let mut last = [0.0; 2];
            for k in 1..2000 {
                let confidence = 1.0 - 0.99_f64.powi(k);
                let Sides { below, above } = spread.sides(confidence);
                let grows = below > last[0] && above > last[1];
                assert!(grows, "{confidence}: {spread:?} {below} {above}");
                last = [below, above];
            }
        }
        assert_eq!(independent(&outcomes(3), CLUSTERS).sides(0.0).below, 0.0);
    }

    #[test]
    fn units_do_not_matter() {
        let once = independent(&outcomes(5), CLUSTERS).sides(0.95);
        for exponent in [-1000, -700, -300, -1, 1, 300, 700, 1000] {
            let unit = 2_f64.powi(exponent);
            let scaled: Vec<f64> = outcomes(5).iter().map(|c| c * unit).collect();
            let spread = independent(&scaled, CLUSTERS);
            let Sides { below, above } = spread.sides(0.95);
            assert!(spread.reliable, "{exponent}");
            assert!(
                (below / unit / once.below - 1.0).abs() < 1e-12,
                "{exponent}"
            );
            assert!(
                (above / unit / once.above - 1.0).abs() < 1e-12,
                "{exponent}"
            );
        }
    }

    #[test]
    fn numbers_that_are_none_are_unknown() {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let contributions = [1.0, -1.0, wrong];
            assert_eq!(independent(&contributions, CLUSTERS), Spread::UNKNOWN);
            assert_eq!(of_powers([1.0, wrong, 1.0], 9.0, 9.0), Spread::UNKNOWN);
            assert_eq!(of_powers([wrong, 0.0, 1.0], 9.0, 9.0), Spread::UNKNOWN);
        }
        // Higher powers underflow, and overflow, first.
        assert_eq!(of_powers([1e-220, 0.0, 0.0], 9.0, 9.0), Spread::UNKNOWN);
        assert_eq!(
            of_powers([1e160, 1e240, f64::INFINITY], 9.0, 9.0),
            Spread::UNKNOWN
        );
        assert_eq!(of_powers([0.0; 3], 9.0, 9.0).half_width(0.95), 0.0);
    }

    /// A bias that intervals would not cover makes them unknown.
    #[test]
    fn intervals_beside_a_bias_must_cover_it() {
        let spread = independent(&outcomes(30), CLUSTERS);
        let error = spread.standard_error();
        assert_eq!(spread.beside(0.0), spread);
        assert!(spread.beside(0.3 * error).reliable);
        assert!(!spread.beside(0.5 * error).reliable);
        assert!(!spread.beside(f64::NAN).reliable && !spread.beside(f64::INFINITY).reliable);
    }

    #[test]
    fn constant_answers_have_no_error() {
        let support = Support::even(20.0, 20.0);
        assert_eq!(independent(&[0.0; 20], support).half_width(0.95), 0.0);
    }
}
