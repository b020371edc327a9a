//! Adds up the scores of groups of a stream's transitions: consecutive ones, or those of independent units.

use serde::{Deserialize, Serialize};

use super::units::Units;
use crate::matrix::Matrix;
use crate::phi::{Features, Transition, dot};
use crate::solve::influence::{GroupSums, Grouping};

/// The maximum number of consecutive parts: when they are full, neighbours are merged, so there are 96 to 192.
const MOST_PARTS: usize = 192;
/// The largest dimension at which every group keeps its matrix: together they take 2 megabytes.
const LARGEST_MATRIX: usize = 32;

/// The sums of all groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Groups {
    grouping: Grouping,
    /// The transitions per group, if they are consecutive.
    #[serde(deserialize_with = "crate::count::read")]
    length: u64,
    list: Vec<Group>,
    units: Units,
    /// For each feature, the number of transitions in which it is nonzero.
    #[serde(with = "crate::exact_float")]
    nonzero: Vec<f64>,
}

/// The sums of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    #[serde(deserialize_with = "crate::count::read")]
    pub rows: u64,
    #[serde(deserialize_with = "crate::count::read")]
    pub starts: u64,
    /// rho delta phi at the reference.
    #[serde(with = "crate::exact_float")]
    pub scores: Vec<f64>,
    /// rho phi_j^2.
    #[serde(with = "crate::exact_float")]
    pub squares: Vec<f64>,
    /// phi.
    #[serde(with = "crate::exact_float")]
    pub features: Vec<f64>,
    /// phi of the first rows of episodes; empty if there are none.
    #[serde(with = "crate::exact_float")]
    pub start_features: Vec<f64>,
    /// A_g = sum of rho phi (phi - gamma phi')', row by row; empty if there are too many features.
    #[serde(with = "crate::exact_float")]
    matrix: Vec<f64>,
}

impl Group {
    fn new(dimension: usize) -> Self {
        let zeros = vec![0.0; dimension];
        let matrix = matrix_size(dimension);
        Self {
            rows: 0,
            starts: 0,
            scores: zeros.clone(),
            squares: zeros.clone(),
            features: zeros,
            start_features: Vec::new(),
            matrix: vec![0.0; matrix],
        }
    }

    fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.starts += other.starts;
        add(&mut self.scores, &other.scores);
        add(&mut self.squares, &other.squares);
        add(&mut self.features, &other.features);
        add(&mut self.matrix, &other.matrix);
        if self.start_features.is_empty() {
            self.start_features.clone_from(&other.start_features);
        } else if !other.start_features.is_empty() {
            add(&mut self.start_features, &other.start_features);
        }
    }
}

/// The size of a group's matrix.
fn matrix_size(dimension: usize) -> usize {
    match dimension <= LARGEST_MATRIX {
        true => dimension * dimension,
        false => 0,
    }
}

fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
}

/// How the numbers of groups changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Pairs became one.
    Halved,
    /// All became one.
    United,
}

impl Groups {
    pub fn new(dimension: usize) -> Self {
        Self {
            grouping: Grouping::Ordered,
            length: 1,
            list: Vec::new(),
            units: Units::default(),
            nonzero: vec![0.0; dimension],
        }
    }

    /// How they depend on each other.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    pub fn list(&self) -> &[Group] {
        &self.list
    }

    /// The number of units.
    pub fn units(&self) -> u64 {
        self.units.count()
    }

    /// The number of clusters behind the groups; of a trajectory, the groups themselves.
    pub fn clusters(&self) -> u64 {
        match self.grouping {
            Grouping::Ordered => self.list.len() as u64,
            Grouping::Independent => self.units(),
        }
    }

    /// The group of the next transition; all groups may get other numbers.
    #[inline]
    pub fn place(&mut self, unit: u64) -> (usize, Option<Change>) {
        let own = self.units.group(unit);
        match self.grouping {
            Grouping::Ordered if own == 0 => self.place_in_time(),
            Grouping::Ordered => {
                self.grouping = Grouping::Independent;
                let all = self.list.drain(..).reduce(|mut all, group| {
                    all.merge(&group);
                    all
                });
                self.list.extend(all);
                self.extend(own);
                (own, Some(Change::United))
            }
            Grouping::Independent => {
                self.extend(own);
                (own, None)
            }
        }
    }

    #[inline]
    fn extend(&mut self, group: usize) {
        while self.list.len() <= group {
            self.list.push(Group::new(self.nonzero.len()));
        }
    }

    #[inline]
    fn place_in_time(&mut self) -> (usize, Option<Change>) {
        let open = self.list.last().is_some_and(|last| last.rows < self.length);
        if open {
            return (self.list.len() - 1, None);
        }
        let mut change = None;
        if self.list.len() == MOST_PARTS {
            change = Some(Change::Halved);
            self.length *= 2;
            let mut groups = std::mem::take(&mut self.list).into_iter();
            while let Some(mut first) = groups.next() {
                if let Some(second) = groups.next() {
                    first.merge(&second);
                }
                self.list.push(first);
            }
        }
        self.extend(self.list.len());
        (self.list.len() - 1, change)
    }

    /// Adds a last part that is less than half full to the one before it.
    pub fn close(&mut self) {
        let short = |last: &Group| 2 * last.rows < self.length;
        if self.grouping == Grouping::Ordered
            && self.list.last().is_some_and(short)
            && let Some(last) = self.list.pop()
            && let Some(before) = self.list.last_mut()
        {
            before.merge(&last);
        }
    }

    /// Adds a transition to a group, with its TD error at the reference, if that is known.
    #[inline]
    pub fn add(
        &mut self,
        group: usize,
        transition: &Transition<'_>,
        delta: f64,
        starts: bool,
        discount: f64,
    ) {
        let (phi, rho) = (transition.features, transition.ratio);
        let own = &mut self.list[group];
        own.rows += 1;
        if !own.matrix.is_empty() {
            let d = own.scores.len();
            let mut change = [0.0; LARGEST_MATRIX];
            let change = &mut change[..d];
            phi.axpy(rho, change);
            if let Some(next) = transition.outcome.next_features() {
                next.axpy(-discount * rho, change);
            }
            let change = Features::Dense(change);
            phi.for_each(|i, x| change.axpy(x, &mut own.matrix[i * d..][..d]));
        }
        let (weight, nonzero) = (rho * delta, &mut self.nonzero);
        match phi {
            Features::Dense(phi) => {
                let sums = own.scores.iter_mut().zip(&mut own.squares);
                let sums = sums.zip(&mut own.features).zip(nonzero);
                for ((((score, square), sum), nonzero), x) in sums.zip(phi) {
                    *score += weight * x;
                    *square += rho * x * x;
                    *sum += x;
                    *nonzero += f64::from(u8::from(*x != 0.0));
                }
            }
            Features::Sparse { .. } => phi.for_each(|j, x| {
                own.scores[j] += weight * x;
                own.squares[j] += rho * x * x;
                own.features[j] += x;
                nonzero[j] += 1.0;
            }),
        }
        if starts {
            own.starts += 1;
            own.start_features.resize(own.features.len(), 0.0);
            phi.axpy(1.0, &mut own.start_features);
        }
    }

    /// Adds a score to a group.
    pub fn add_score(&mut self, group: usize, weight: f64, phi: &[f64]) {
        Features::Dense(phi).axpy(weight, &mut self.list[group].scores);
    }

    /// Changes the reference of the scores: by the matrices of the groups, or, without these, so that the sum of all scores is 0.
    pub fn refer(&mut self, from: &[f64], to: &[f64]) {
        let d = self.nonzero.len();
        if d > LARGEST_MATRIX {
            return self.centre();
        }
        let change: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
        for group in &mut self.list {
            let rows = group.matrix.chunks_exact(d);
            for (score, row) in group.scores.iter_mut().zip(rows) {
                *score -= dot(row, &change);
            }
        }
    }

    /// Makes the sum of all scores 0, each group by its share of the feature.
    fn centre(&mut self) {
        let d = self.nonzero.len();
        let [mut scores, mut squares] = [(); 2].map(|()| vec![0.0; d]);
        for group in &self.list {
            add(&mut scores, &group.scores);
            add(&mut squares, &group.squares);
        }
        let ratio = scores.iter().zip(&squares);
        let ratio: Vec<f64> = ratio
            .map(|(score, square)| if *square > 0.0 { score / square } else { 0.0 })
            .collect();
        for group in &mut self.list {
            let shares = group.squares.iter().zip(&ratio);
            let scores = group.scores.iter_mut().zip(shares);
            scores.for_each(|(score, (square, ratio))| *score -= square * ratio);
        }
    }

    /// The sums as they are.
    pub fn sums(&self) -> GroupSums {
        let matrix = |part: fn(&Group) -> &Vec<f64>| {
            Matrix::from_fn(self.list.len(), self.nonzero.len(), |k, j| {
                part(&self.list[k])[j]
            })
        };
        GroupSums::of(
            matrix(|group| &group.scores),
            matrix(|group| &group.squares),
            self.nonzero.clone(),
            self.list.iter().map(|group| group.rows).collect(),
        )
    }

    /// Whether the saved form fits a dimension.
    pub fn fits(&self, dimension: usize) -> bool {
        let fits = |group: &Group| {
            [&group.scores, &group.squares, &group.features]
                .iter()
                .all(|part| part.len() == dimension)
                && [0, dimension].contains(&group.start_features.len())
                && group.matrix.len() == matrix_size(dimension)
        };
        self.nonzero.len() == dimension
            && self.length > 0
            && self.list.len() <= Grouping::Independent.most_groups()
            && self.list.iter().all(fits)
            && self.units.is_sound()
    }
}
