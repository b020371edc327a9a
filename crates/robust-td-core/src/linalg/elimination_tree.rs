//! Plans the elimination of a sparse matrix: the order, the fronts, and what they cost.
//!
//! # Reference
//! Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11, 1990.

use super::minimum_degree_order;
use crate::matrix::SparseMatrix;

/// Marks the root of a tree.
const NONE: u32 = u32::MAX;
/// Fronts are joined while they eliminate at most this number of columns,
const NARROW: usize = 8;
/// or while at most this share of the joined front is zeros.
const ZEROS: f64 = 0.15;

/// A set of columns that are eliminated together.
pub(super) struct Front {
    /// The first column, in elimination order.
    pub first: usize,
    /// The number of columns.
    pub width: usize,
    /// The later columns that they are connected to, in increasing order.
    pub rows: Vec<u32>,
    /// The front that receives the update.
    pub parent: Option<usize>,
}

/// An elimination order with its fronts, each before its parent.
pub(super) struct Plan {
    /// `order[k]` is eliminated k-th.
    pub order: Vec<u32>,
    /// The inverse of `order`.
    pub position: Vec<u32>,
    pub fronts: Vec<Front>,
}

impl Plan {
    /// Plans the elimination of `M + M'`; none if its factors have more than `most` entries, or take more than
    /// `multiplications`.
    pub fn new(matrix: &SparseMatrix, most: f64, multiplications: f64) -> Option<Self> {
        let n = matrix.size();
        let order = minimum_degree_order(matrix).order;
        let below = lower_pattern(matrix, &order);
        let parent = parents(&below);
        let post = post_order(&parent);
        // Numbered so that every subtree is consecutive.
        let order: Vec<u32> = post.iter().map(|&k| order[k as usize]).collect();
        let below = lower_pattern(matrix, &order);
        let parent = parents(&below);
        let counts = counts(&below, &parent, most, multiplications)?;
        let mut position = vec![0; n];
        for (k, &i) in order.iter().enumerate() {
            position[i as usize] = k as u32;
        }
        let fronts = fronts(&below, &parent, &counts);
        Some(Self {
            order,
            position,
            fronts,
        })
    }
}

/// For each k in elimination order, the earlier neighbours in M + M'.
fn lower_pattern(matrix: &SparseMatrix, order: &[u32]) -> Vec<Vec<u32>> {
    let n = matrix.size();
    let mut position = vec![0_u32; n];
    for (k, &i) in order.iter().enumerate() {
        position[i as usize] = k as u32;
    }
    let mut below = vec![Vec::new(); n];
    for i in 0..n {
        for &j in matrix.row(i).0 {
            let (a, b) = (position[i], position[j as usize]);
            if a != b {
                below[a.max(b) as usize].push(a.min(b));
            }
        }
    }
    for row in &mut below {
        row.sort_unstable();
        row.dedup();
        row.shrink_to_fit();
    }
    below
}

/// The elimination tree: the first later column that each one is connected to.
fn parents(below: &[Vec<u32>]) -> Vec<u32> {
    let n = below.len();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for (i, row) in below.iter().enumerate() {
        for &k in row {
            let mut k = k as usize;
            while k != i {
                let next = std::mem::replace(&mut ancestor[k], i as u32);
                if next == NONE {
                    parent[k] = i as u32;
                    break;
                }
                k = next as usize;
            }
        }
    }
    parent
}

/// An order in which every subtree is consecutive, children first.
fn post_order(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let (mut child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    let mut roots = Vec::new();
    for k in (0..n).rev() {
        match parent[k] {
            NONE => roots.push(k as u32),
            p => sibling[k] = std::mem::replace(&mut child[p as usize], k as u32),
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut path = Vec::new();
    while let Some(root) = roots.pop() {
        path.push(root);
        while let Some(&k) = path.last() {
            match std::mem::replace(&mut child[k as usize], NONE) {
                NONE => {
                    order.push(k);
                    path.pop();
                    if !path.is_empty() && sibling[k as usize] != NONE {
                        path.push(sibling[k as usize]);
                    }
                }
                first => path.push(first),
            }
        }
    }
    order
}

/// The number of later columns that each one is connected to; none beyond the limits.
fn counts(below: &[Vec<u32>], parent: &[u32], most: f64, multiplications: f64) -> Option<Vec<u32>> {
    let n = below.len();
    let (mut counts, mut mark) = (vec![0_u32; n], vec![NONE; n]);
    let mut fill = n as f64;
    for (i, row) in below.iter().enumerate() {
        mark[i] = i as u32;
        for &k in row {
            let mut k = k as usize;
            while mark[k] != i as u32 {
                mark[k] = i as u32;
                counts[k] += 1;
                fill += 2.0;
                k = parent[k] as usize;
            }
        }
        if fill > most {
            return None;
        }
    }
    let work: f64 = counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
    (work <= multiplications).then_some(counts)
}

/// Groups consecutive columns into fronts.
fn fronts(below: &[Vec<u32>], parent: &[u32], counts: &[u32]) -> Vec<Front> {
    let n = counts.len();
    // (first column, width, entries without the zeros of joining)
    let mut sets: Vec<(usize, usize, f64)> = Vec::new();
    for k in 0..n {
        let count = f64::from(counts[k]);
        let mut set = (k, 1, 1.0 + 2.0 * count);
        while let Some(&(first, width, entries)) = sets.last() {
            let last = first + width - 1;
            if parent[last] != set.0 as u32 {
                break;
            }
            let joined = width + set.1;
            let below = f64::from(counts[k]);
            let size = (joined * joined) as f64 + 2.0 * joined as f64 * below;
            let zeros = size - entries - set.2;
            // Columns after the last of `set` come later, so only a set that ends at k may grow.
            if joined > NARROW && zeros > ZEROS * size {
                break;
            }
            set = (first, joined, entries + set.2);
            sets.pop();
        }
        sets.push(set);
    }
    let mut of_column = vec![0_u32; n];
    for (s, &(first, width, _)) in sets.iter().enumerate() {
        of_column[first..first + width].fill(s as u32);
    }
    // The later neighbours of each column.
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); sets.len()];
    for (i, row) in below.iter().enumerate() {
        for &k in row {
            let s = of_column[k as usize];
            if of_column[i] != s {
                rows[s as usize].push(i as u32);
            }
        }
    }
    let mut fronts: Vec<Front> = Vec::with_capacity(sets.len());
    for (s, &(first, width, _)) in sets.iter().enumerate() {
        let mut own = std::mem::take(&mut rows[s]);
        own.sort_unstable();
        own.dedup();
        own.shrink_to_fit();
        let parent = own.first().map(|&i| of_column[i as usize] as usize);
        if let Some(parent) = parent {
            let end = (sets[parent].0 + sets[parent].1) as u32;
            let later = own.iter().copied().filter(|&i| i >= end);
            rows[parent].extend(later);
        }
        fronts.push(Front {
            first,
            width,
            rows: own,
            parent,
        });
    }
    fronts
}
