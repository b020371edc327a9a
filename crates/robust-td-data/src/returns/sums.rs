//! Adds up returns and predictions, group by group.

use std::collections::BTreeMap;

use super::whole::Whole;
use super::{CompleteReturns, ReturnCheck, Tenth};

/// A run is cut after this number of effective horizons 1 / (1 - gamma).
const HORIZONS: f64 = 20.0;

/// What the check needs of a transition.
pub(super) struct Row {
    pub value: f64,
    pub reward: f64,
    /// The value after it, if the episode is cut there.
    pub next: f64,
    pub restarts: bool,
    pub starts: bool,
    pub terminated: bool,
    pub ends: bool,
    /// Whether it is compared.
    pub compared: bool,
    /// The cluster of its episode; `None` where episodes are independent of each other.
    pub cluster: Option<u64>,
}

/// The sums of all groups.
pub(super) struct Sums {
    discount: f64,
    edges: Vec<f64>,
    groups: Vec<Group>,
    /// The rows of the current part of an episode, and the rows after which it is cut.
    rows_here: u64,
    longest: u64,
    /// The value after the last row.
    next: f64,
    compared: bool,
    episodes: u64,
    rows: u64,
    cut: u64,
    whole: Whole,
    /// The cluster of the last row.
    cluster: Option<u64>,
    /// What each cluster adds to the groups, and last to the returns of complete episodes.
    clusters: BTreeMap<u64, Vec<Share>>,
}

/// What an episode or a cluster adds to a ratio of two sums.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    sum: f64,
    count: f64,
}

/// The sums of squares that give the error of a ratio of two sums.
#[derive(Debug, Clone, Copy, Default)]
struct Squares {
    /// The number of independent shares.
    units: u64,
    /// Sums of s^2, s n and n^2.
    sums: [f64; 3],
}

impl Squares {
    fn add(&mut self, Share { sum: s, count: n }: Share) {
        self.units += 1;
        for (sum, square) in self.sums.iter_mut().zip([s * s, s * n, n * n]) {
            *sum += square;
        }
    }

    /// The sum of (s - D n)^2 for the ratio D.
    fn around(&self, ratio: f64) -> f64 {
        let [ss, sn, nn] = self.sums;
        // Rounding may make a sum of squares that is 0 negative.
        (ss - 2.0 * ratio * sn + ratio * ratio * nn).max(0.0)
    }
}

/// The sums of one group: of the current episode, and over all.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    here: Episode,
    episodes: u64,
    all: Episode,
    /// Over independent episodes.
    squares: Squares,
}

#[derive(Debug, Clone, Copy, Default)]
struct Episode {
    rows: f64,
    predicted: f64,
    returned: f64,
    /// e_t, the rows so far, discounted by their age.
    trace: f64,
}

impl Sums {
    pub fn new(edges: Vec<f64>, discount: f64) -> Self {
        let horizons = (HORIZONS / (1.0 - discount)).ceil();
        Self {
            discount,
            groups: vec![Group::default(); edges.len() + 1],
            edges,
            rows_here: 0,
            // At discount 1, the cast saturates: nothing is cut.
            longest: horizons as u64,
            next: 0.0,
            compared: false,
            episodes: 0,
            rows: 0,
            cut: 0,
            whole: Whole::default(),
            cluster: None,
            clusters: BTreeMap::new(),
        }
    }

    pub fn row(&mut self, row: Row) {
        if row.restarts {
            self.end(false);
            self.end_whole(false);
            self.whole.restart(row.starts);
        } else if self.compared != row.compared {
            self.end(false);
        }
        self.whole.add(row.reward, self.discount);
        self.compared = row.compared;
        self.cluster = row.cluster;
        if row.compared {
            self.add(&row);
        }
        if row.ends {
            self.end(row.terminated);
            self.end_whole(row.terminated);
        } else if self.rows_here >= self.longest {
            self.end(false);
        }
    }

    fn add(&mut self, row: &Row) {
        self.rows_here += 1;
        self.next = row.next;
        let own = self.edges.partition_point(|&edge| edge < row.value);
        self.groups[own].here.rows += 1.0;
        self.groups[own].here.predicted += row.value;
        for (k, group) in self.groups.iter_mut().enumerate() {
            let here = &mut group.here;
            here.trace = self.discount * here.trace + f64::from(u8::from(k == own));
            here.returned += row.reward * here.trace;
        }
    }

    /// Ends a part of an episode.
    fn end(&mut self, terminated: bool) {
        if self.rows_here == 0 {
            return;
        }
        self.episodes += 1;
        self.rows += self.rows_here;
        self.rows_here = 0;
        self.cut += u64::from(!terminated);
        let after = match terminated {
            true => 0.0,
            false => self.discount * self.next,
        };
        let own = self
            .cluster
            .map(|cluster| share_of(&mut self.clusters, cluster, self.groups.len()));
        let mut own = own.map(|shares| shares.iter_mut());
        for group in &mut self.groups {
            let mut here = std::mem::take(&mut group.here);
            let of_cluster = own.as_mut().and_then(Iterator::next);
            if here.rows == 0.0 {
                continue;
            }
            here.returned += here.trace * after;
            let share = group.add(&here);
            match of_cluster {
                Some(own) => own.add(share),
                None => group.squares.add(share),
            }
        }
    }

    /// Ends the episode as a whole.
    fn end_whole(&mut self, complete: bool) {
        let found = self.whole.end(complete);
        if let (Some(sum), Some(cluster)) = (found, self.cluster) {
            let shares = share_of(&mut self.clusters, cluster, self.groups.len());
            shares[self.groups.len()].add(Share { sum, count: 1.0 });
        }
    }

    pub fn finish(mut self, held_out: bool) -> (ReturnCheck, Option<CompleteReturns>) {
        self.end(false);
        self.end_whole(false);
        let mut returns = Squares::default();
        for shares in self.clusters.values() {
            let (groups, counts) = (self.groups.iter_mut().zip(shares), |share: &Share| {
                share.count > 0.0
            });
            groups
                .filter(|(_, share)| counts(share))
                .for_each(|(group, share)| group.squares.add(*share));
            if let Some(whole) = shares.last().filter(|share| counts(share)) {
                returns.add(*whole);
            }
        }
        let check = ReturnCheck {
            held_out,
            episodes: self.episodes,
            rows: self.rows,
            cut: self.cut,
            tenths: self.groups.iter().filter_map(Group::tenth).collect(),
        };
        let complete = self.whole.finish().map(|complete| match returns.units {
            0 => complete,
            units => CompleteReturns {
                units,
                spread: returns.around(complete.mean),
                ..complete
            },
        });
        (check, complete)
    }
}

/// The shares of a cluster: of each group, and last of the returns.
fn share_of(
    clusters: &mut BTreeMap<u64, Vec<Share>>,
    cluster: u64,
    groups: usize,
) -> &mut Vec<Share> {
    let empty = || vec![Share::default(); groups + 1];
    clusters.entry(cluster).or_insert_with(empty)
}

impl Share {
    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

impl Group {
    /// Adds an episode; returns its share of the difference.
    fn add(&mut self, episode: &Episode) -> Share {
        self.episodes += 1;
        self.all.rows += episode.rows;
        self.all.predicted += episode.predicted;
        self.all.returned += episode.returned;
        Share {
            sum: episode.predicted - episode.returned,
            count: episode.rows,
        }
    }

    fn tenth(&self) -> Option<Tenth> {
        let (units, n) = (self.squares.units, self.all.rows);
        let (predicted, discounted_return) = (self.all.predicted / n, self.all.returned / n);
        let difference = predicted - discounted_return;
        let (m, spread) = (units as f64, self.squares.around(difference));
        (self.episodes > 0).then(|| Tenth {
            rows: n as u64,
            episodes: self.episodes,
            units,
            predicted,
            discounted_return,
            difference,
            stderr: (units > 1).then(|| (m / (m - 1.0) * spread).sqrt() / n),
        })
    }
}
