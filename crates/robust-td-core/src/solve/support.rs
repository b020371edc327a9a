//! Counts the data behind an answer.

use serde::{Deserialize, Serialize};

/// The largest share of a feature in one group that leverage accounts for.
const LARGEST_SHARE: f64 = 0.95;

/// The amount of data behind an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// The number of clusters (or blocks of a trajectory).
    #[serde(with = "crate::exact_float")]
    pub clusters: f64,
    /// The number of clusters of one size that hold the data as evenly: 1 / (sum of their squared shares), at most their number.
    #[serde(with = "crate::exact_float")]
    pub effective: f64,
    /// The degrees of freedom (Satterthwaite) of an error to which clusters contribute by their shares w alone:
    /// 3 (sum w^2)^2 / sum w^4, at most 3 for each of them.
    #[serde(with = "crate::exact_float")]
    pub freedom: f64,
    /// The number of rows.
    #[serde(with = "crate::exact_float")]
    pub rows: f64,
}

/// Sums of powers of the shares of clusters, or of groups of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shares {
    squares: f64,
    fourths: f64,
}

impl Shares {
    /// Adds a share.
    pub fn add(&mut self, share: f64) {
        let square = share * share;
        self.squares += square;
        self.fourths += square * square;
    }
}

impl Support {
    /// Clusters of one size.
    #[must_use]
    pub fn even(clusters: f64, rows: f64) -> Self {
        Self {
            clusters,
            effective: clusters,
            freedom: 3.0 * clusters,
            rows,
        }
    }

    /// Clusters, given the shares of groups: of each cluster its own, or of this number of groups into which they fall at random.
    ///
    /// Clusters with the shares w_i that fall into K groups at random give shares W_k with
    /// E sum W_k^2 = sum w_i^2 (1 - 1/K) + 1/K, which is solved for the former.
    #[must_use]
    pub fn of_shares(shares: Shares, pooled: Option<usize>, clusters: f64, rows: f64) -> Self {
        let squares = match pooled {
            Some(groups) => {
                let expected = 1.0 / groups as f64;
                (shares.squares - expected) / (1.0 - expected)
            }
            None => shares.squares,
        };
        // NaN, of groups that are all empty or overflow, tells nothing about them.
        let effective = match squares * clusters > 1.0 {
            true => 1.0 / squares,
            false => clusters,
        };
        let freedom = 3.0 * shares.squares * shares.squares / shares.fourths;
        Self {
            clusters,
            effective,
            freedom: match freedom < 3.0 * clusters {
                true => freedom,
                false => 3.0 * clusters,
            },
            rows,
        }
    }

    /// Clusters, or groups of them, of these sizes.
    #[must_use]
    pub fn of_sizes(sizes: &[f64], clusters: f64, rows: f64) -> Self {
        let total: f64 = sizes.iter().sum();
        let mut shares = Shares::default();
        sizes.iter().for_each(|size| shares.add(size / total));
        let pooled = (clusters > sizes.len() as f64).then_some(sizes.len());
        Self::of_shares(shares, pooled, clusters, rows)
    }

    /// The support of a query phi from that of its features, at most that of the whole log.
    ///
    /// Takes, for each nonzero phi_i, its size |phi_i| / (root mean square of the feature where it is nonzero) and the numbers
    /// of clusters and rows in which the feature is nonzero. These are added like degrees of freedom (Satterthwaite): with
    /// w_i = size^2 / rows_i, the variance that a coefficient adds under equal noise, the result is
    /// (sum w)^2 / sum (w^2 / count). A rare feature dominates unless the query hardly uses it; an average over many rare ones
    /// has the support of all of them.
    pub fn of_features(features: impl IntoIterator<Item = (f64, Support)>, log: Support) -> Self {
        let mut sums = SupportSums::default();
        for (size, support) in features {
            sums.add(size, support);
        }
        sums.support(log)
    }
}

/// The sums behind [`Support::of_features`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SupportSums {
    total: f64,
    clusters: f64,
    effective: f64,
    freedom: f64,
    rows: f64,
}

impl SupportSums {
    /// Adds a feature.
    pub fn add(&mut self, size: f64, support: Support) {
        let weight = size * size / support.rows;
        self.total += weight;
        self.clusters += weight * weight / support.clusters;
        self.effective += weight * weight / support.effective;
        self.freedom += weight * weight / support.freedom;
        self.rows += weight * weight / support.rows;
    }

    /// The support of the query, at most that of the whole log.
    pub fn support(&self, log: Support) -> Support {
        let Self {
            total,
            clusters,
            effective,
            freedom,
            rows,
        } = *self;
        // NaN, from features never seen, stays: such a query has no support.
        let at_most = |count: f64, limit: f64| if count > limit { limit } else { count };
        Support {
            clusters: at_most(total * total / clusters, log.clusters),
            effective: at_most(total * total / effective, log.effective),
            freedom: at_most(total * total / freedom, log.freedom),
            rows: at_most(total * total / rows, log.rows),
        }
    }
}

/// The factor 1 / (1 - share) for a contribution of a group that holds this share of a feature's sum of squares.
#[must_use]
pub fn leverage(share: f64) -> f64 {
    1.0 / (1.0 - share.clamp(0.0, LARGEST_SHARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_features_dominate_the_support_unless_hardly_used() {
        let of = |count| Support::even(count, count);
        let all = of(1000.0);
        let both = Support::of_features([(1.0, all), (1.0, of(12.0))], all);
        assert!((12.0..13.0).contains(&both.rows), "{both:?}");
        // The mean of one-hot features by their frequencies.
        let mean = Support::of_features([(0.997, of(997.0)), (0.003, of(3.0))], all);
        assert!((mean.rows - 1000.0).abs() < 1e-9, "{mean:?}");
        let hundred = Support::of_features([(0.01, of(10.0)); 100], all);
        assert!((hundred.clusters - 1000.0).abs() < 1e-9, "{hundred:?}");
        let unseen = Support::of_features([(1.0, all), (1.0, of(0.0))], all);
        assert!(!(unseen.rows >= 0.0), "{unseen:?}");
    }

    #[test]
    fn uneven_clusters_count_as_fewer() {
        let of = |sizes: &[f64], clusters| Support::of_sizes(sizes, clusters, 1e6).effective;
        assert!((of(&[3.0; 7], 7.0) - 7.0).abs() < 1e-12);
        // 1 / (0.5^2 + 5 0.1^2).
        let one = of(&[5.0, 1.0, 1.0, 1.0, 1.0, 1.0], 6.0);
        assert!((one - 1.0 / 0.3).abs() < 1e-12, "{one}");
        assert_eq!(of(&[0.0; 3], 3.0), 3.0);
        assert_eq!(of(&[f64::INFINITY, 1.0], 2.0), 2.0);
        assert_eq!(of(&[4.0], 1.0), 1.0);
        // 2,000 clusters in 256 groups: one with a fifth of the data, or all of one size.
        let mut groups = [8.0; 256];
        assert!(of(&groups, 2000.0) > 1999.0);
        groups[17] = 512.0;
        let pooled = of(&groups, 2000.0);
        let expected = 1.0 / (0.2_f64.powi(2) + 0.8_f64.powi(2) / 1999.0);
        assert!(
            (pooled / expected - 1.0).abs() < 0.05,
            "{pooled} {expected}"
        );
    }
}
