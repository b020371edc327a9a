//! Covers the range of the observations with shifted grids of tiles (Sutton and Barto, section 9.5.4).

use serde::{Deserialize, Serialize};

use super::Range;
use crate::error::{Error, Result};

/// How many tilings are worked on together: their comparisons are vector instructions.
const LANES: usize = 8;

/// One active feature per tiling: the tile that the observation falls into.
///
/// Tiling k is a grid of `bins` tiles per coordinate over the range, shifted towards the origin by the asymmetric
/// displacement k (2 i + 1) / tilings (modulo 1) of a tile in coordinate i, so it has `bins` + 1 tiles per coordinate.
/// Each tiling has its own `size` features; where its tiles are more, they share features by a hash.
///
/// # Performance
/// A tile is numbered by sum_i weight_i cell_i, a number in base `bins` + 1, or where that is hashed with odd weights that look
/// random, modulo 2^64. Being linear it is the same for all tilings, up to the coordinates that the shift carries
/// over to the next cell: one comparison for each of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub(super) struct Tiles {
    tilings: usize,
    bins: usize,
    size: usize,
    range: Range,
    /// The shifts of coordinate i in tilings 8 j to 8 j + 7, at j inputs + i.
    #[serde(skip_serializing)]
    shifts: Vec<[f64; LANES]>,
    /// The weight of each coordinate's cell.
    #[serde(skip_serializing)]
    weights: Vec<u64>,
    #[serde(skip_serializing)]
    hashed: bool,
}

impl Tiles {
    /// The number of tiles of one tiling, if that can be counted.
    pub fn per_tiling(bins: usize, inputs: usize) -> Option<usize> {
        (bins + 1).checked_pow(u32::try_from(inputs).ok()?)
    }

    pub fn new(tilings: usize, bins: usize, size: usize, range: Range) -> Self {
        let inputs = range.inputs();
        let hashed = Self::per_tiling(bins, inputs).is_none_or(|tiles| tiles > size);
        let shift = |i: usize, k: usize| ((k * (2 * i + 1)) % tilings) as f64 / tilings as f64;
        let blocks = (0..tilings).step_by(LANES);
        let shifts = blocks
            .flat_map(|first| (0..inputs).map(move |i| (first, i)))
            .map(|(first, i)| std::array::from_fn(|lane| shift(i, first + lane)))
            .collect();
        let base = bins as u64 + 1;
        let weight = |i: usize| match hashed {
            true => mix(i as u64) | 1,
            false => base.wrapping_pow((inputs - 1 - i) as u32),
        };
        Self {
            tilings,
            bins,
            size,
            range,
            shifts,
            weights: (0..inputs).map(weight).collect(),
            hashed,
        }
    }

    /// How many features are active at a time.
    pub fn tilings(&self) -> usize {
        self.tilings
    }

    pub fn outputs(&self) -> usize {
        self.tilings * self.size
    }

    pub fn fits(&self, inputs: usize) -> bool {
        self.range.fits(inputs)
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        let blocks = self.shifts.chunks_exact(x.len().max(1));
        for (block, shifts) in blocks.enumerate() {
            let tiles = self.number(x, shifts);
            let first = block * LANES;
            for (tiling, &tile) in (first..self.tilings).zip(&tiles) {
                let local = match self.hashed {
                    true => below(mix(tile ^ tiling as u64), self.size),
                    false => tile as usize,
                };
                put(tiling * self.size + local, 1.0);
            }
        }
    }

    /// The numbers of the tiles of one block of tilings.
    #[inline]
    fn number(&self, x: &[f64], shifts: &[[f64; LANES]]) -> [u64; LANES] {
        let mut carried = [0_u64; LANES];
        let mut common = 0_u64;
        for (i, ((&x, shifts), &weight)) in x.iter().zip(shifts).zip(&self.weights).enumerate() {
            let place = self.range.unit(i, x) * self.bins as f64;
            let cell = place as u32;
            // At the upper end of the range there is no next cell.
            let next = match (cell as usize) < self.bins {
                true => f64::from(cell) + 1.0,
                false => f64::INFINITY,
            };
            common = common.wrapping_add(weight.wrapping_mul(u64::from(cell)));
            for (sum, shift) in carried.iter_mut().zip(shifts) {
                *sum = sum.wrapping_add(if place + shift >= next { weight } else { 0 });
            }
        }
        carried.map(|sum| sum.wrapping_add(common))
    }
}

/// Maps a hash to 0..size by its high bits.
#[inline]
fn below(hash: u64, size: usize) -> usize {
    ((u128::from(hash) * size as u128) >> 64) as usize
}

/// The finaliser of splitmix64: every bit of the input changes every bit of the output.
#[inline]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What is stored, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    tilings: usize,
    bins: usize,
    size: usize,
    range: Range,
}

impl TryFrom<Saved> for Tiles {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let Saved {
            tilings,
            bins,
            size,
            range,
        } = saved;
        let count = tilings.checked_mul(size);
        let counted = count.is_some_and(|n| (1..=super::MAX_FEATURES).contains(&n));
        if !counted || !(1..=super::MAX_FEATURES).contains(&bins) {
            let contradiction = format!("{tilings} tilings of {size} features with {bins} bins");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self::new(tilings, bins, size, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(map: &Tiles, x: &[f64]) -> Vec<usize> {
        let mut active = Vec::new();
        map.write(x, &mut |index, value| {
            assert_eq!(value, 1.0);
            active.push(index);
        });
        active
    }

    #[test]
    fn one_tile_of_each_tiling_and_neighbours_share_most() {
        let map = Tiles::new(8, 10, 121, Range::uniform(0.0, 1.0, 2));
        let here = active(&map, &[0.5, 0.5]);
        assert_eq!(here.len(), 8);
        assert!(here.iter().enumerate().all(|(k, index)| index / 121 == k));
        // An eighth of a tile further, one tiling of eight has changed per coordinate.
        let near = active(&map, &[0.5 + 0.1 / 8.0 + 1e-9, 0.5]);
        let shared = here.iter().filter(|index| near.contains(index)).count();
        assert_eq!(shared, 7);
        let far = active(&map, &[0.9, 0.1]);
        assert!(here.iter().all(|index| !far.contains(index)));
    }

    #[test]
    fn tiles_are_those_of_the_definition() {
        let (tilings, bins, size) = (11, 3, 64);
        let map = Tiles::new(tilings, bins, size, Range::uniform(-1.0, 1.0, 3));
        for i in 0..3000_u64 {
            // Quarters of cells put many points right on the edges.
            let coordinate = |j: u64| (mix(3 * i + j) % 49) as f64 / 24.0 - 1.0;
            let x = [coordinate(0), coordinate(1), coordinate(2)];
            let tile = |k: usize| {
                (0..3).fold(0, |tile, i| {
                    let shift = (k * (2 * i + 1)) % tilings;
                    let place = map.range.unit(i, x[i]) * bins as f64;
                    let cell = (place + shift as f64 / tilings as f64) as usize;
                    tile * (bins + 1) + cell.min(bins)
                })
            };
            let expected: Vec<usize> = (0..tilings).map(|k| k * size + tile(k)).collect();
            assert_eq!(active(&map, &x), expected, "{x:?}");
        }
    }

    #[test]
    fn hashing_keeps_to_its_size_and_spreads() {
        let map = Tiles::new(4, 16, 512, Range::uniform(-1.0, 1.0, 6));
        let mut used = std::collections::BTreeSet::new();
        for i in 0..2000_u64 {
            let coordinate = |j: usize| (mix(6 * i + j as u64) >> 11) as f64 / (1_u64 << 52) as f64;
            let x: [f64; 6] = std::array::from_fn(|j| coordinate(j) - 1.0);
            let active = active(&map, &x);
            assert!(active.iter().enumerate().all(|(k, index)| index / 512 == k));
            used.extend(active);
        }
        assert!(
            used.len() > 1800,
            "{} of 2048 features are used",
            used.len()
        );
    }
}
