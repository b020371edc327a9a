//! Adds up returns and predictions, group by group.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ratio::{Share, Squares};
use super::whole::Whole;
use super::{CompleteReturns, OF_WHOLE, ReturnCheck, Tenth};
use crate::fold::Merge;
use crate::recent::{self, Recent};

/// A run is cut after this number of effective horizons 1 / (1 - gamma).
const HORIZONS: f64 = 20.0;
/// The memory for the parts of other open episodes, in bytes.
const BYTES: u64 = 1 << 28;
/// The memory of such a part, and of each of its groups.
const EACH: [usize; 2] = [128, 32];

/// What the check needs of a transition.
pub(super) struct Row {
    /// The number of its episode.
    pub run: u64,
    pub value: f64,
    /// Whether its value is determined.
    pub determined: bool,
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
    all: Compared,
    /// The rows after which a part of an episode is cut.
    longest: u64,
    /// The part of the last row, and the number of its episode.
    now: Part,
    run: u64,
    /// Whether rows of several episodes are interleaved, and the parts of the other open ones.
    interleaved: bool,
    others: Recent<Part>,
    whole: Whole,
}

/// The sums of the parts that have ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Compared {
    groups: Vec<Group>,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    episodes: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    rows: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    undetermined: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    cut: u64,
    /// What each cluster adds to the groups.
    clusters: BTreeMap<u64, Vec<Share>>,
}

/// A part of an episode.
#[derive(Debug, Clone, Default)]
struct Part {
    rows: u64,
    /// The value after its last row.
    next: f64,
    compared: bool,
    /// The cluster of its last row.
    cluster: Option<u64>,
    /// Its sums, by group.
    sums: Vec<Episode>,
}

/// The sums of one group over all episodes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Group {
    #[serde(deserialize_with = "robust_td_core::count::read")]
    episodes: u64,
    all: Episode,
    /// Over independent episodes.
    squares: Squares,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Episode {
    #[serde(with = "robust_td_core::exact_float")]
    rows: f64,
    #[serde(with = "robust_td_core::exact_float")]
    predicted: f64,
    #[serde(with = "robust_td_core::exact_float")]
    returned: f64,
    /// e_t, the rows so far, discounted by their age.
    #[serde(with = "robust_td_core::exact_float")]
    trace: f64,
}

impl Sums {
    pub fn new(edges: Vec<f64>, discount: f64, interleaved: bool) -> Self {
        let horizons = (HORIZONS / (1.0 - discount)).ceil();
        Self {
            discount,
            all: Compared::new(edges.len() + 1),
            edges,
            // At discount 1, the cast saturates: nothing is cut.
            longest: horizons as u64,
            now: Part::default(),
            run: 0,
            interleaved,
            others: Recent::default(),
            whole: Whole::default(),
        }
    }

    pub fn row(&mut self, row: &Row) {
        self.compare(row);
        self.whole.turn(row.run, self.interleaved);
        self.whole.row(row, self.discount);
    }

    /// Compares a row, without the returns of whole episodes.
    pub fn compare(&mut self, row: &Row) {
        if row.run != self.run {
            self.turn(row.run);
        }
        if row.restarts || self.now.compared != row.compared {
            self.end(false);
        }
        self.now.compared = row.compared;
        self.now.cluster = row.cluster;
        if row.compared {
            self.add(row);
        }
        if row.ends {
            self.end(row.terminated);
        } else if self.now.rows >= self.longest {
            self.end(false);
        }
    }

    /// Turns to another episode. Where they are not interleaved, its first row ends the part before.
    fn turn(&mut self, run: u64) {
        if self.interleaved {
            let before = std::mem::take(&mut self.now);
            if before.rows > 0 {
                let [part, group] = EACH;
                let limit = recent::limit(BYTES, part + group * self.all.groups.len());
                let mut others = std::mem::take(&mut self.others);
                others.put(self.run, before, limit, |old| {
                    self.end_part(old, false);
                });
                self.others = others;
            }
            self.now = self.others.take(run).unwrap_or_default();
        }
        self.run = run;
    }

    fn add(&mut self, row: &Row) {
        let now = &mut self.now;
        now.rows += 1;
        now.next = row.next;
        now.sums.resize(self.all.groups.len(), Episode::default());
        let own = (row.determined).then(|| self.edges.partition_point(|&edge| edge < row.value));
        match own {
            Some(own) => {
                now.sums[own].rows += 1.0;
                now.sums[own].predicted += row.value;
            }
            None => self.all.undetermined += 1,
        }
        for (k, here) in now.sums.iter_mut().enumerate() {
            here.trace = self.discount * here.trace + f64::from(u8::from(Some(k) == own));
            here.returned += row.reward * here.trace;
        }
    }

    /// Ends the current part of an episode.
    fn end(&mut self, terminated: bool) {
        if self.now.rows > 0 {
            let mut part = std::mem::take(&mut self.now);
            (self.now.compared, self.now.cluster) = (part.compared, part.cluster);
            part = self.end_part(part, terminated);
            // The memory is used again.
            self.now.sums = part.sums;
        }
    }

    /// Adds a part that has ended; returns it without its sums.
    fn end_part(&mut self, part: Part, terminated: bool) -> Part {
        self.all.end_part(part, terminated, self.discount)
    }

    /// Ends all open parts, and takes the sums.
    pub fn compared(&mut self) -> Compared {
        self.end(false);
        for (_, part) in self.others.drain() {
            self.end_part(part, false);
        }
        let none = Compared::new(self.all.groups.len());
        std::mem::replace(&mut self.all, none)
    }

    pub fn finish(
        mut self,
        held_out: bool,
        noise: [f64; 2],
    ) -> (ReturnCheck, Option<CompleteReturns>) {
        (self.compared()).finish(held_out, self.whole.finish(), noise)
    }
}

impl Compared {
    fn new(groups: usize) -> Self {
        Self {
            groups: vec![Group::default(); groups],
            ..Self::default()
        }
    }

    /// Whether it has this number of groups.
    pub fn fits(&self, groups: usize) -> bool {
        let mut clusters = self.clusters.values();
        self.groups.len() == groups && clusters.all(|shares| shares.len() == groups)
    }

    fn end_part(&mut self, mut part: Part, terminated: bool, discount: f64) -> Part {
        self.episodes += 1;
        self.rows += part.rows;
        self.cut += u64::from(!terminated);
        let after = match terminated {
            true => 0.0,
            false => discount * part.next,
        };
        let groups = self.groups.len();
        let own = (part.cluster).map(|cluster| {
            let shares = self.clusters.entry(cluster);
            shares.or_insert_with(|| vec![Share::default(); groups])
        });
        let mut own = own.map(|shares| shares.iter_mut());
        for (group, here) in self.groups.iter_mut().zip(&mut part.sums) {
            let mut here = std::mem::take(here);
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
        part
    }

    /// The check, given the returns of whole episodes, and the root mean square of the TD errors with the discount.
    pub fn finish(
        mut self,
        held_out: bool,
        whole: Option<CompleteReturns>,
        [noise, discount]: [f64; 2],
    ) -> (ReturnCheck, Option<CompleteReturns>) {
        for shares in self.clusters.values() {
            for (group, share) in self.groups.iter_mut().zip(shares) {
                group.squares.add(*share);
            }
        }
        let length = self.rows as f64 / self.episodes.max(1) as f64;
        let steps = length.min(1.0 / (1.0 - discount * discount));
        let of_whole = whole.as_ref().map_or(0.0, |whole| whole.deviation);
        let deviation = match self.cut {
            0 => of_whole,
            _ => of_whole.max(noise * steps.sqrt()),
        };
        let least = OF_WHOLE * deviation;
        let tenths = self.groups.iter().filter_map(|group| group.tenth(least));
        let check = ReturnCheck {
            held_out,
            episodes: self.episodes,
            rows: self.rows,
            cut: self.cut,
            undetermined: self.undetermined,
            tenths: tenths.collect(),
            doubt: None,
        };
        (check, whole)
    }
}

impl Merge for Compared {
    fn merge(&mut self, later: Self) {
        self.episodes += later.episodes;
        self.rows += later.rows;
        self.undetermined += later.undetermined;
        self.cut += later.cut;
        for (group, more) in self.groups.iter_mut().zip(&later.groups) {
            group.merge(more);
        }
        for (cluster, shares) in later.clusters {
            let none = || vec![Share::default(); shares.len()];
            let own = self.clusters.entry(cluster).or_insert_with(none);
            let pairs = own.iter_mut().zip(shares);
            pairs.for_each(|(own, share)| own.add(share));
        }
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

    fn merge(&mut self, later: &Self) {
        self.episodes += later.episodes;
        self.all.rows += later.all.rows;
        self.all.predicted += later.all.predicted;
        self.all.returned += later.all.returned;
        self.squares.merge(&later.squares);
    }

    /// The tenth, in which returns differ from predictions by at least this deviation.
    fn tenth(&self, least: f64) -> Option<Tenth> {
        let (units, n) = (self.squares.units, self.all.rows);
        let (predicted, discounted_return) = (self.all.predicted / n, self.all.returned / n);
        let difference = predicted - discounted_return;
        let (m, spread) = (units as f64, self.squares.around(difference));
        let stderr = (units > 1).then(|| {
            let own = (m / (m - 1.0) * spread).sqrt();
            // Not the maximum of f64, which would hide what overflows.
            let least = least * self.squares.of_one();
            (if least > own { least } else { own }) / n
        });
        // Reports, and models, write one word for all numbers that are not finite.
        let finite = |x: f64| if x.is_finite() { x } else { f64::NAN };
        (self.episodes > 0).then(|| Tenth {
            rows: n as u64,
            episodes: self.episodes,
            units,
            predicted: finite(predicted),
            discounted_return: finite(discounted_return),
            difference: finite(difference),
            stderr: stderr.filter(|stderr| stderr.is_finite()),
        })
    }
}
