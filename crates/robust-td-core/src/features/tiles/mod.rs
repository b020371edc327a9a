//! Covers the range of the observations with shifted grids of tiles (Sutton and Barto, section 9.5.4).

mod write;

use serde::{Deserialize, Serialize};

use write::{WriteAll, WriteOne};

use super::range::Range;
use super::sink::Sink;
use crate::error::{Error, Result};

/// The number of tilings processed together with vector instructions.
const LANES: usize = 8;

/// The number of coordinates scaled at a time.
const PART: usize = 8;

/// 2^52: from here on all f64 are integers.
const INTEGERS: f64 = (1_u64 << 52) as f64;

/// One active feature per tiling: the tile that the observation falls into.
///
/// Tiling k is a grid of `bins` tiles per coordinate over the range, shifted towards the origin by the asymmetric
/// displacement k (2 i + 1) / tilings (modulo 1) of a tile in coordinate i, so it has `bins` + 1 tiles per coordinate.
/// Each tiling has its own `size` features; if it has more tiles than that, they share features by a hash.
///
/// # Performance
/// A tile is numbered by sum_i weight_i cell_i: a number in base `bins` + 1, or, if hashed, a sum with pseudo-random odd weights
/// modulo 2^64. Because the sum is linear, it is the same for all tilings, except for the coordinates that the shift moves
/// to the next cell; each of these takes one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedTiles")]
pub(super) struct Tiles {
    tilings: usize,
    bins: usize,
    size: usize,
    range: Range,
    #[serde(skip_serializing)]
    blocks: Vec<Block>,
    /// The shifts of coordinate i in tilings 8 j to 8 j + 7, at index j inputs + i.
    #[serde(skip_serializing)]
    shifts: Vec<[f64; LANES]>,
    #[serde(skip_serializing)]
    parts: Vec<Part>,
    #[serde(skip_serializing)]
    hashed: bool,
}

/// A block of tilings processed together.
#[derive(Debug, Clone, PartialEq)]
struct Block {
    /// Their numbers.
    tilings: [u64; LANES],
    /// The first feature of each.
    starts: [u32; LANES],
}

/// Coordinates that are scaled together. The last part ends with the last coordinate: it overlaps the previous part,
/// or, if there are too few coordinates, extends past the end. The extra entries have weight 0.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    /// The first coordinate.
    first: usize,
    /// The number of coordinates shared with the previous part.
    again: usize,
    /// The lower end of each coordinate's range, and the width of the range, infinite if the coordinate never varied.
    lows: [f64; PART],
    widths: [f64; PART],
    /// The weight of each coordinate's cell.
    weights: [u64; PART],
}

impl Tiles {
    /// The number of tiles of one tiling, unless it overflows.
    pub fn per_tiling(bins: usize, inputs: usize) -> Option<usize> {
        bins.checked_add(1)?
            .checked_pow(u32::try_from(inputs).ok()?)
    }

    pub fn new(tilings: usize, bins: usize, size: usize, range: Range) -> Self {
        let inputs = range.inputs();
        let hashed = Self::per_tiling(bins, inputs).is_none_or(|tiles| tiles > size);
        let shift = |i: usize, k: usize| ((k * (2 * i + 1)) % tilings) as f64 / tilings as f64;
        let firsts = (0..tilings).step_by(LANES);
        let blocks = firsts.clone().map(|first| Block {
            tilings: std::array::from_fn(|lane| (first + lane) as u64),
            starts: std::array::from_fn(|lane| ((first + lane) * size) as u32),
        });
        let blocks = blocks.collect();
        let shifts = firsts
            .flat_map(|first| (0..inputs).map(move |i| (first, i)))
            .map(|(first, i)| std::array::from_fn(|lane| shift(i, first + lane)))
            .collect();
        let base = bins as u64 + 1;
        let weight = |i: usize| match hashed {
            true => mix(i as u64) | 1,
            false => base.wrapping_pow((inputs - 1 - i) as u32),
        };
        let part = |start: usize| {
            let first = start.min(inputs.saturating_sub(PART));
            let mut part = Part {
                first,
                again: start - first,
                lows: [0.0; PART],
                widths: [f64::INFINITY; PART],
                weights: [0; PART],
            };
            for (place, i) in (first..inputs.min(first + PART)).enumerate() {
                (part.lows[place], part.widths[place]) = range.low_and_width(i);
                part.weights[place] = if i < start { 0 } else { weight(i) };
            }
            part
        };
        let parts = (0..inputs).step_by(PART).map(part).collect();
        Self {
            tilings,
            bins,
            size,
            range,
            blocks,
            shifts,
            parts,
            hashed,
        }
    }

    /// The number of features active at a time.
    pub fn tilings(&self) -> usize {
        self.tilings
    }

    pub fn outputs(&self) -> usize {
        self.tilings * self.size
    }

    pub fn fits(&self, inputs: usize) -> bool {
        self.range.fits(inputs)
    }

    /// The name of a feature: its tiling and its tile.
    pub fn name(&self, index: usize) -> String {
        format!("tiles({}:{})", index / self.size, index % self.size)
    }

    /// Passes the active features of an observation to a sink.
    #[inline]
    pub fn write(&self, x: &[f64], sink: &mut (impl Sink + ?Sized)) {
        robust_td_simd::run(WriteOne {
            tiles: self,
            x,
            sink,
        });
    }

    /// Writes the indices of the active features of consecutive observations.
    pub fn write_rows(&self, observations: &[f64], indices: &mut Vec<u32>) {
        let rows = observations.len() / self.range.inputs().max(1);
        indices.resize(rows * self.tilings, 0);
        robust_td_simd::run(WriteAll {
            tiles: self,
            observations,
            indices,
        });
    }

    /// The active features of a block of tilings.
    #[inline(always)]
    fn active<const FEW: bool>(&self, x: &[f64], block: usize) -> [u32; LANES] {
        let mut tiles = self.number::<FEW>(x, block);
        let Block { tilings, starts } = &self.blocks[block];
        if self.hashed {
            for (tile, tiling) in tiles.iter_mut().zip(tilings) {
                *tile = below(mix(*tile ^ tiling), self.size);
            }
        }
        let mut active = *starts;
        for (index, tile) in active.iter_mut().zip(tiles) {
            *index = index.wrapping_add(tile as u32);
        }
        active
    }

    /// The tile numbers of a block of tilings; FEW means there are fewer coordinates than a part holds.
    #[inline(always)]
    fn number<const FEW: bool>(&self, x: &[f64], block: usize) -> [u64; LANES] {
        let shifts = &self.shifts[block * x.len()..][..x.len()];
        let (bins, mut own, mut carried) = (self.bins as f64, [0_u64; PART], [0_u64; LANES]);
        let mut few = [0.0; PART];
        if FEW {
            few[..x.len()].copy_from_slice(x);
        }
        let x = if FEW { &few } else { x };
        for part in &self.parts {
            let (first, again) = (part.first, part.again);
            let (lows, widths, weights) = (&part.lows, &part.widths, &part.weights);
            let Some(x) = x[first..].first_chunk::<PART>() else {
                break;
            };
            let (mut places, mut nexts) = ([0.0; PART], [0.0; PART]);
            for i in 0..PART {
                // As `Range::unit`, except that NaN maps to 0, like a coordinate that never varied.
                let unit = (x[i] - lows[i]) / widths[i];
                let unit = if unit > 0.0 { unit } else { 0.0 };
                let place = if unit < 1.0 { unit } else { 1.0 } * bins;
                // Adding 2^52 removes the fraction, and the last bits are those of the integer.
                let rounded = place + INTEGERS;
                let cell = match rounded - INTEGERS > place {
                    true => rounded - 1.0,
                    false => rounded,
                };
                let cells = cell.to_bits() & 0xffff_ffff;
                own[i] = own[i].wrapping_add(weights[i].wrapping_mul(cells));
                places[i] = place;
                // At the upper end of the range there is no next cell.
                nexts[i] = match place < bins {
                    true => (cell - INTEGERS) + 1.0,
                    false => f64::INFINITY,
                };
            }
            let places = places.iter().zip(&nexts).zip(weights).skip(again);
            for (((place, next), weight), shifts) in places.zip(&shifts[first + again..]) {
                for (sum, shift) in carried.iter_mut().zip(shifts) {
                    // Branch-free, because a branch would be mispredicted.
                    let mask = u64::from(place + shift >= *next).wrapping_neg();
                    *sum = sum.wrapping_add(weight & mask);
                }
                // Costs nothing, and keeps the compiler from also vectorising over coordinates here.
                std::hint::black_box(());
            }
        }
        let own = own.into_iter().fold(0, u64::wrapping_add);
        carried.map(|sum| sum.wrapping_add(own))
    }
}

/// Maps a hash to 0..size by its high bits.
#[inline(always)]
fn below(hash: u64, size: usize) -> u64 {
    // (hash * size) >> 64 by halves, for which vector instructions exist; a size is below 2^32.
    let size = size as u64 & 0xffff_ffff;
    let (high, low) = (hash >> 32, hash & 0xffff_ffff);
    (high * size + ((low * size) >> 32)) >> 32
}

/// The finaliser of splitmix64: every bit of the input changes every bit of the output.
#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTiles {
    tilings: usize,
    bins: usize,
    size: usize,
    range: Range,
}

impl TryFrom<SavedTiles> for Tiles {
    type Error = Error;

    fn try_from(saved: SavedTiles) -> Result<Self> {
        let SavedTiles {
            tilings,
            bins,
            size,
            range,
        } = saved;
        let count = tilings.checked_mul(size);
        let counted = count.is_some_and(|n| (1..=super::MAX_FEATURES).contains(&n));
        let proper = range.fits(range.inputs());
        if !counted || !proper || !(1..=super::MAX_FEATURES).contains(&bins) {
            let contradiction = format!("{tilings} tilings of {size} features with {bins} bins");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self::new(tilings, bins, size, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use robust_td_simd::Kernel;

    fn active(map: &Tiles, x: &[f64]) -> Vec<usize> {
        let mut features = vec![0.0; map.outputs()];
        map.write(x, &mut features[..]);
        let active = features
            .iter()
            .enumerate()
            .filter(|(_, value)| **value == 1.0);
        active.map(|(index, _)| index).collect()
    }

    #[test]
    fn one_tile_of_each_tiling_and_neighbours_share_most() {
        let map = Tiles::new(8, 10, 121, Range::uniform(0.0, 1.0, 2));
        let here = active(&map, &[0.5, 0.5]);
        assert_eq!(here.len(), 8);
        assert!(here.iter().enumerate().all(|(k, index)| index / 121 == k));
        // An eighth of a tile away, one tiling of eight has changed per coordinate.
        let near = active(&map, &[0.5 + 0.1 / 8.0 + 1e-9, 0.5]);
        let shared = here.iter().filter(|index| near.contains(index)).count();
        assert_eq!(shared, 7);
        let far = active(&map, &[0.9, 0.1]);
        assert!(here.iter().all(|index| !far.contains(index)));
    }

    /// The features by definition, tiling by tiling.
    fn defined(map: &Tiles, x: &[f64]) -> Vec<usize> {
        let base = map.bins as u64 + 1;
        let tile = |k: usize| {
            let cells = (0..x.len()).map(|i| {
                let shift = (k * (2 * i + 1)) % map.tilings;
                let place = map.range.unit(i, x[i]) * map.bins as f64;
                let cell = (place + shift as f64 / map.tilings as f64) as u64;
                cell.min(map.bins as u64)
            });
            if map.hashed {
                let weight = |i: usize| mix(i as u64) | 1;
                let products = cells
                    .enumerate()
                    .map(|(i, cell)| weight(i).wrapping_mul(cell));
                let hash = mix(products.fold(0, u64::wrapping_add) ^ k as u64);
                ((u128::from(hash) * map.size as u128) >> 64) as usize
            } else {
                cells.fold(0, |tile, cell| tile * base + cell) as usize
            }
        };
        (0..map.tilings).map(|k| k * map.size + tile(k)).collect()
    }

    #[test]
    fn tiles_are_those_of_the_definition() {
        // Few and many coordinates, partial and whole blocks of tilings, numbered and hashed tiles.
        for (tilings, bins, size, inputs) in [
            (11, 3, 64, 3),
            (8, 4, 512, 10),
            (5, 7, 100, 19),
            (16, 1, 1 << 16, 16),
            (3, 5, 999, 33),
        ] {
            let mut low = vec![-1.0; inputs];
            let mut high = vec![1.0; inputs];
            // One coordinate that never varied, one that makes divisions inexact.
            (low[1], high[1]) = (0.5, 0.5);
            (low[2], high[2]) = (-0.7, 0.6);
            let map = Tiles::new(tilings, bins, size, Range::new(low, high));
            let (mut observations, mut all) = (Vec::new(), Vec::new());
            for i in 0..1000_u64 {
                // Quarters of cells put many points exactly on the edges; some lie outside.
                let coordinate =
                    |j: usize| (mix(i * 64 + j as u64) % 53) as f64 / 24.0 - 26.0 / 24.0;
                let mut x: Vec<f64> = (0..inputs).map(coordinate).collect();
                if i % 10 == 0 {
                    x[0] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0][i as usize / 10 % 4];
                }
                let expected = defined(&map, &x);
                assert_eq!(active(&map, &x), expected, "{x:?}");
                observations.extend(x);
                all.extend(expected.iter().map(|&index| index as u32));
            }
            let mut indices = vec![7; 3];
            map.write_rows(&observations, &mut indices);
            assert_eq!(indices, all);
            for kernel in Kernel::available() {
                indices.fill(0);
                kernel.run(WriteAll {
                    tiles: &map,
                    observations: &observations,
                    indices: &mut indices,
                });
                assert_eq!(indices, all);
            }
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
