//! Samples trajectories from uniform draws, eight at a time.
//!
//! The next state of s is the first j in index order with u <= P(s,0) + .. + P(s,j), summed in index
//! order, as in the published program. Zero entries do not change the sums, so only the sparse row is
//! searched. A u beyond the last sum (rounding can leave a gap of 1e-16) leads to state 0, as published,
//! if 0 is in the row, else to the row's last state: a transition of probability zero never happens. The authors' later engine
//! always takes the last state.
//!
//! u is a multiple of 2^-bits, so u > x is the integer comparison k > floor(x 2^bits): no rounding.

use robust_td_simd::Links;

use crate::generators::GROUP;
use crate::tables::{Tables, TransitionRow};

/// The transitions of a chain, numbered state by state.
///
/// Narrow rows are padded to one width, so that the row of state s starts at s * width, and searched without a branch; wide
/// rows are stored consecutively and searched by bisection.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Start of each row and the end of the last.
    starts: Vec<u32>,
    entries: Entries,
}

/// The last k that each entry accepts (the maximum in the row's last entry and in the padding) and the next states.
#[derive(Clone, Debug)]
enum Entries {
    Narrow(Links),
    Wide {
        thresholds: Vec<u64>,
        next: Vec<u32>,
    },
}

impl Sampler {
    /// Tables for uniforms with `bits` bits; `gap_to_zero` says where a u beyond the last sum leads.
    pub fn new(tables: &Tables, bits: u32, gap_to_zero: bool) -> Self {
        let rows = tables.rows.iter();
        let rows: Vec<_> = rows.map(|row| accepted(row, bits, gap_to_zero)).collect();
        let widest = rows.iter().map(Vec::len).max().unwrap_or(1);
        let narrow = widest <= Links::WIDEST;
        let (mut starts, mut thresholds, mut next) = (vec![0], Vec::new(), Vec::new());
        for mut row in rows {
            if narrow {
                row.resize(widest, (u64::MAX, 0));
            }
            thresholds.extend(row.iter().map(|e| e.0));
            next.extend(row.iter().map(|e| e.1));
            starts.push(next.len() as u32);
        }
        let entries = match narrow {
            true => Entries::Narrow(Links::new(widest, thresholds, next)),
            false => Entries::Wide { thresholds, next },
        };
        Self { starts, entries }
    }

    /// The transitions (s, s') in the order of the entries, including padding.
    pub fn transitions(&self) -> impl Iterator<Item = (usize, usize)> {
        let next = match &self.entries {
            Entries::Narrow(links) => links.next(),
            Entries::Wide { next, .. } => next,
        };
        self.starts
            .windows(2)
            .enumerate()
            .flat_map(move |(s, ends)| {
                (ends[0]..ends[1]).map(move |entry| (s, next[entry as usize] as usize))
            })
    }

    /// Samples eight trajectories: row t of `visits` holds the states before step t, row t of `entries` the
    /// transitions taken; `states` holds the states at the start and is updated to those at the end.
    #[inline(always)]
    pub fn walk(
        &self,
        states: &mut [u32; GROUP],
        draws: &[[u64; GROUP]],
        visits: &mut [[u32; GROUP]],
        entries: &mut [[u32; GROUP]],
    ) {
        match &self.entries {
            Entries::Narrow(links) => links.walk(states, draws, visits, entries),
            Entries::Wide { thresholds, next } => {
                for ((draw, visit), taken) in draws.iter().zip(visits).zip(entries) {
                    *visit = *states;
                    for g in 0..GROUP {
                        let at = states[g] as usize;
                        let (start, end) = (self.starts[at] as usize, self.starts[at + 1] as usize);
                        let entry =
                            start + thresholds[start..end].partition_point(|&k| draw[g] > k);
                        taken[g] = entry as u32;
                        states[g] = next[entry];
                    }
                }
            }
        }
    }
}

/// The row's next states, each with the last k that it accepts.
fn accepted(row: &TransitionRow, bits: u32, gap_to_zero: bool) -> Vec<(u64, u32)> {
    let scale = (1_u64 << bits) as f64;
    let mut sum = 0.0;
    let mut entries: Vec<(u64, u32)> = Vec::with_capacity(row.columns.len() + 1);
    for (&column, &p) in row.columns.iter().zip(&row.probabilities) {
        sum += p;
        entries.push(((sum * scale) as u64, column));
    }
    let gap = ((sum * scale) as u64) < (1 << bits) - 1;
    if gap && gap_to_zero && row.columns[0] == 0 {
        entries.push((u64::MAX, 0));
    } else if let Some(last) = entries.last_mut() {
        last.0 = u64::MAX;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{DsfmtGroup, Generators};
    use robust_td_core::random::Dsfmt;
    use robust_td_simd::Portable;

    fn chain(rows: &[&[f64]]) -> Tables {
        let sparse = |p: &&[f64]| {
            let kept: Vec<usize> = (0..p.len()).filter(|&j| p[j] > 0.0).collect();
            TransitionRow {
                columns: kept.iter().map(|&j| j as u32).collect(),
                probabilities: kept.iter().map(|&j| p[j]).collect(),
                rewards: vec![0.0; kept.len()],
            }
        };
        Tables {
            dimension: 1,
            discount: 0.5,
            start: 0,
            rows: rows.iter().map(sparse).collect(),
            features: vec![1.0; rows.len()],
            a: vec![0.5],
            theta_star: vec![0.0],
            sigma: vec![1.0],
            omega: 1.0,
            r_max: 0.0,
        }
    }

    #[test]
    fn walks_as_the_dense_definition() {
        // 0.6 + 0.3 + 0.1 rounds to less than 1; the second row has no gap; rows of unequal length.
        let dense: [&[f64]; 3] = [&[0.6, 0.3, 0.1], &[0.0, 0.5, 0.5], &[1.0, 0.0, 0.0]];
        let tables = chain(&dense);
        let sampler = Sampler::new(&tables, 52, true);
        let seeds = [1, 2, 3, 4, 5, 6, 7, 8];
        let mut draws = vec![[0; GROUP]; 3000];
        Generators::Dsfmt(DsfmtGroup::new(seeds)).fill(Portable::PLAIN, &mut draws);
        let mut entries = vec![[0; GROUP]; 3000];
        let mut visits = entries.clone();
        let transitions: Vec<_> = sampler.transitions().collect();
        sampler.walk(&mut [0; GROUP], &draws, &mut visits, &mut entries);
        for (g, seed) in seeds.into_iter().enumerate() {
            let mut generator = Dsfmt::new(seed);
            let mut s = 0;
            for (entry, visit) in entries.iter().zip(&visits) {
                let u = generator.uniform();
                let mut sum = 0.0;
                let next = (0..3).find(|&j| {
                    sum += dense[s][j];
                    u <= sum
                });
                let next = next.unwrap_or(0);
                assert_eq!(visit[g] as usize, s);
                assert_eq!(transitions[entry[g] as usize], (s, next));
                s = next;
            }
        }
    }

    /// The state after the largest draw from state 0.
    fn last_draw(tables: &Tables) -> u32 {
        let mut states = [0; GROUP];
        let (mut visits, mut entries) = ([[0; GROUP]], [[0; GROUP]]);
        let draws = [[(1 << 52) - 1; GROUP]];
        Sampler::new(tables, 52, true).walk(&mut states, &draws, &mut visits, &mut entries);
        states[0]
    }

    #[test]
    fn a_gap_left_by_rounding_goes_to_state_zero() {
        let short = 0.5 - 1e-12;
        assert_eq!(last_draw(&chain(&[&[0.5, short], &[1.0, 0.0]])), 0);
        let without_zero = chain(&[&[0.0, 0.5, short], &[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0]]);
        assert_eq!(last_draw(&without_zero), 2);
    }

    #[test]
    fn wide_rows_walk_as_narrow_ones() {
        let row: Vec<f64> = vec![1.0 / 16.0; 16];
        let rows: Vec<&[f64]> = (0..16).map(|_| row.as_slice()).collect();
        let sampler = Sampler::new(&chain(&rows), 52, true);
        let mut states = [3; GROUP];
        let (mut visits, mut entries) = (vec![[0; GROUP]; 200], vec![[0; GROUP]; 200]);
        let mut draws = vec![[0; GROUP]; 200];
        Generators::Dsfmt(DsfmtGroup::new([4; GROUP])).fill(Portable::PLAIN, &mut draws);
        sampler.walk(&mut states, &draws, &mut visits, &mut entries);
        let transitions: Vec<_> = sampler.transitions().collect();
        for (draw, entry) in draws.iter().zip(&entries) {
            let u = draw[0] as f64 / 2_f64.powi(52);
            let expected = ((u * 16.0).ceil() as usize).max(1) - 1;
            assert_eq!(transitions[entry[0] as usize].1, expected);
        }
    }
}
