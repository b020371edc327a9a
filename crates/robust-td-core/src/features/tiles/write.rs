//! Writes active tiles with the vector instructions of the CPU. Each sum is rounded separately, so all instruction sets give the
//! same tiles.

use robust_td_simd::{Simd, Work};

use super::{LANES, PART, Tiles};
use crate::features::sink::Sink;

/// Passes the active features of one observation to a sink.
pub(super) struct WriteOne<'a, S: ?Sized> {
    pub tiles: &'a Tiles,
    pub x: &'a [f64],
    pub sink: &'a mut S,
}

impl<S: Sink + ?Sized> WriteOne<'_, S> {
    #[inline(always)]
    fn write<const FEW: bool>(&mut self) {
        let tilings = self.tiles.tilings;
        for block in 0..self.tiles.blocks.len() {
            let active = self.tiles.active::<FEW>(self.x, block);
            match tilings - block * LANES {
                // The last block may have fewer tilings than lanes.
                left @ ..LANES => {
                    for &index in &active[..left] {
                        self.sink.put(index as usize, 1.0);
                    }
                }
                _ => self.sink.put_ones(active),
            }
        }
    }
}

impl<S: Sink + ?Sized> Work for WriteOne<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<Any: Simd>(&mut self, _: Any) {
        match self.x.len() < PART {
            true => self.write::<true>(),
            false => self.write::<false>(),
        }
    }
}

/// Writes the indices of the active features of consecutive observations.
pub(super) struct WriteAll<'a> {
    pub tiles: &'a Tiles,
    pub observations: &'a [f64],
    pub indices: &'a mut [u32],
}

impl WriteAll<'_> {
    #[inline(always)]
    fn write<const FEW: bool>(&mut self) {
        let Tiles { tilings, range, .. } = self.tiles;
        let rows = self.observations.chunks_exact(range.inputs().max(1));
        for (x, indices) in rows.zip(self.indices.chunks_exact_mut(*tilings)) {
            let (whole, rest) = indices.as_chunks_mut::<LANES>();
            for (block, indices) in whole.iter_mut().enumerate() {
                *indices = self.tiles.active::<FEW>(x, block);
            }
            if !rest.is_empty() {
                let active = self.tiles.active::<FEW>(x, whole.len());
                rest.copy_from_slice(&active[..rest.len()]);
            }
        }
    }
}

impl Work for WriteAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Any: Simd>(&mut self, _: Any) {
        match self.tiles.range.inputs() < PART {
            true => self.write::<true>(),
            false => self.write::<false>(),
        }
    }
}
