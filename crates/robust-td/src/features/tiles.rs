//! Covers the range of the observations with shifted grids of tiles (Sutton and Barto, section 9.5.4).

use serde::{Deserialize, Serialize};

use super::Range;

/// One active feature per tiling: the tile that the observation falls into.
///
/// Tiling k is a grid of `bins` tiles per coordinate over the range, shifted towards the origin by the asymmetric
/// displacement k (2 i + 1) / tilings (modulo 1) of a tile in coordinate i, so it has `bins` + 1 tiles per coordinate.
/// Each tiling has its own `size` features; where its tiles are more, they share features by a hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tiles {
    tilings: usize,
    bins: usize,
    size: usize,
    range: Range,
}

impl Tiles {
    /// The number of tiles of one tiling, if that can be counted.
    pub fn per_tiling(bins: usize, inputs: usize) -> Option<usize> {
        (bins + 1).checked_pow(u32::try_from(inputs).ok()?)
    }

    pub fn new(tilings: usize, bins: usize, size: usize, range: Range) -> Self {
        Self {
            tilings,
            bins,
            size,
            range,
        }
    }

    pub fn outputs(&self) -> usize {
        self.tilings * self.size
    }

    pub fn fits(&self, inputs: usize) -> bool {
        let count = self.tilings.checked_mul(self.size);
        let counted = count.is_some_and(|n| (1..=super::MAX_FEATURES).contains(&n));
        counted && self.bins > 0 && self.range.fits(inputs)
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        let hashed = Self::per_tiling(self.bins, x.len()).is_none_or(|tiles| tiles > self.size);
        for tiling in 0..self.tilings {
            let (mut tile, mut hash) = (0_usize, tiling as u64);
            for (i, &x) in x.iter().enumerate() {
                let shift = (tiling * (2 * i + 1)) % self.tilings;
                let place = self.range.unit(i, x) * self.bins as f64;
                let cell = (place + shift as f64 / self.tilings as f64) as usize;
                let cell = cell.min(self.bins);
                if hashed {
                    hash = mix(hash ^ cell as u64);
                } else {
                    tile = tile * (self.bins + 1) + cell;
                }
            }
            let local = if hashed {
                (hash % self.size as u64) as usize
            } else {
                tile
            };
            put(tiling * self.size + local, 1.0);
        }
    }
}

/// The finaliser of splitmix64: every bit of the input changes every bit of the output.
#[inline]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
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
