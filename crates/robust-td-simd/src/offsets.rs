//! Reads and writes at offsets that are checked once, before a loop.
//!
//! A check inside the step loop costs more than its comparison: the branch parts the work of a step, and the compiler then
//! runs out of registers.

use crate::dispatch::Work;
use crate::kernel::Kernel;
use crate::vector::Simd;

/// Per step the offsets of eight trajectories, and their bound.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a> {
    at: &'a [[u32; 8]],
    /// Above all of them.
    end: usize,
}

/// Finding the bound.
struct End<'a>(&'a [[u32; 8]]);

impl Work for End<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) -> usize {
        let mut largest = [0; 8];
        for at in self.0 {
            for i in 0..8 {
                largest[i] = at[i].max(largest[i]);
            }
        }
        largest.into_iter().fold(0, u32::max) as usize + 1
    }
}

impl<'a> Offsets<'a> {
    /// Finds the bound of the offsets.
    pub fn new(kernel: Kernel, at: &'a [[u32; 8]]) -> Self {
        let end = kernel.run(End(at));
        Self { at, end }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.at.len()
    }

    /// The offset of a trajectory, counted modulo eight.
    #[inline(always)]
    pub fn at(&self, t: usize, column: usize) -> usize {
        self.at[t][column % 8] as usize
    }
}

/// Rows of 2 N + 1 entries of W numbers, which begin at offsets.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, const N: usize, const W: usize> {
    table: &'a [f64],
    offsets: Offsets<'a>,
}

impl<'a, const N: usize, const W: usize> Rows<'a, N, W> {
    /// The rows of a table.
    ///
    /// # Panics
    /// If a row would reach past the end of the table.
    #[inline(always)]
    pub fn new(table: &'a [f64], offsets: Offsets<'a>) -> Self {
        assert!(offsets.end - 1 + (2 * N + 1) * W <= table.len());
        Self { table, offsets }
    }

    /// The row of a trajectory: one entry, N entries, and N more.
    #[inline(always)]
    pub fn get(
        &self,
        t: usize,
        column: usize,
    ) -> (&'a [f64; W], &'a [[f64; W]; N], &'a [[f64; W]; N]) {
        let at = self.offsets.at(t, column);
        // SAFETY: `new` has checked that (2 N + 1) W numbers follow every offset.
        unsafe {
            let row = self.table.as_ptr().add(at);
            (
                &*row.cast(),
                &*row.add(W).cast(),
                &*row.add((N + 1) * W).cast(),
            )
        }
    }
}

/// P places of `capacity` items each, in which offsets name one.
#[derive(Debug)]
pub struct Slots<'a, T, const P: usize> {
    items: &'a mut [T],
    capacity: usize,
    offsets: Offsets<'a>,
}

impl<'a, T, const P: usize> Slots<'a, T, P> {
    /// Divides items into places.
    ///
    /// # Panics
    /// If there are too few items, or an offset is not below the capacity.
    #[inline(always)]
    pub fn new(items: &'a mut [T], capacity: usize, offsets: Offsets<'a>) -> Self {
        assert!(offsets.end <= capacity && capacity <= items.len() / P);
        Self {
            items,
            capacity,
            offsets,
        }
    }

    /// The item of a trajectory in a place, counted modulo P.
    #[inline(always)]
    pub fn get(&mut self, t: usize, column: usize, place: usize) -> &mut T {
        let index = place % P * self.capacity + self.offsets.at(t, column);
        // SAFETY: `new` has checked that offsets are below the capacity, and that there are P times as many items.
        unsafe { self.items.get_unchecked_mut(index) }
    }
}
