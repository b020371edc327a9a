//! Adds up returns and predictions, group by group.

use std::collections::BTreeMap;

use super::ratio::{Share, Squares};
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
    /// What each cluster adds to the groups.
    clusters: BTreeMap<u64, Vec<Share>>,
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
            self.whole.restart(row.starts);
        } else if self.compared != row.compared {
            self.end(false);
        }
        self.whole.add(row.reward, self.discount, row.cluster);
        self.compared = row.compared;
        self.cluster = row.cluster;
        if row.compared {
            self.add(&row);
        }
        if row.ends {
            self.end(row.terminated);
            self.whole.end(row.terminated);
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
        let groups = self.groups.len();
        let own = (self.cluster).map(|cluster| {
            let shares = self.clusters.entry(cluster);
            shares.or_insert_with(|| vec![Share::default(); groups])
        });
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

    pub fn finish(mut self, held_out: bool) -> (ReturnCheck, Option<CompleteReturns>) {
        self.end(false);
        for shares in self.clusters.values() {
            for (group, share) in self.groups.iter_mut().zip(shares) {
                group.squares.add(*share);
            }
        }
        let check = ReturnCheck {
            held_out,
            episodes: self.episodes,
            rows: self.rows,
            cut: self.cut,
            tenths: self.groups.iter().filter_map(Group::tenth).collect(),
        };
        (check, self.whole.finish())
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
