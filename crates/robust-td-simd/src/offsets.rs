//! Reads and writes at offsets that are checked once, before a loop.
//!
//! A check inside the step loop costs more than its comparison: the branch parts the work of a step, and the compiler then
//! runs out of registers.

/// Per step the offsets of eight trajectories, and their bound.
#[derive(Clone, Debug)]
pub struct Offsets {
    at: Vec<[u32; 8]>,
    /// Above all of them.
    end: usize,
}

impl Offsets {
    /// Finds the bound of the offsets; inlined, so that it is compiled for the caller's instructions.
    #[inline(always)]
    pub fn new(at: Vec<[u32; 8]>) -> Self {
        // Flat, because otherwise the compiler gathers and scatters columns.
        let largest = at
            .as_flattened()
            .iter()
            .fold(0, |largest, &at| at.max(largest));
        let end = largest as usize + 1;
        Self { at, end }
    }

    /// The offsets, to fill their memory again.
    pub fn into_inner(self) -> Vec<[u32; 8]> {
        self.at
    }

    /// Number of steps.
    #[inline]
    pub fn steps(&self) -> usize {
        self.at.len()
    }

    /// The offset of a trajectory, counted modulo eight.
    #[inline(always)]
    pub fn at(&self, t: usize, column: usize) -> usize {
        get(&self.at, t, column)
    }
}

impl Default for Offsets {
    /// No steps.
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

#[inline(always)]
fn get(at: &[[u32; 8]], t: usize, column: usize) -> usize {
    at[t][column % 8] as usize
}

/// Rows of 2 N + 1 entries of W numbers, which begin at offsets.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, const N: usize, const W: usize> {
    table: &'a [f64],
    at: &'a [[u32; 8]],
}

impl<'a, const N: usize, const W: usize> Rows<'a, N, W> {
    /// The rows of a table.
    ///
    /// # Panics
    /// If a row would reach past the end of the table.
    #[inline(always)]
    pub fn new(table: &'a [f64], offsets: &'a Offsets) -> Self {
        assert!(offsets.end - 1 + (2 * N + 1) * W <= table.len());
        let at = &offsets.at;
        Self { table, at }
    }

    /// The row of a trajectory: one entry, N entries, and N more.
    #[inline(always)]
    pub fn get(
        &self,
        t: usize,
        column: usize,
    ) -> (&'a [f64; W], &'a [[f64; W]; N], &'a [[f64; W]; N]) {
        let at = get(self.at, t, column);
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

/// P places of `capacity` slots of W numbers each; offsets name the first number of a slot.
#[derive(Debug)]
pub struct Slots<'a, const W: usize, const P: usize> {
    numbers: &'a mut [f64],
    /// The length of a place.
    length: usize,
    at: &'a [[u32; 8]],
}

impl<'a, const W: usize, const P: usize> Slots<'a, W, P> {
    /// Divides numbers into places.
    ///
    /// # Panics
    /// If there are too few numbers, or a slot would reach past the end of its place.
    #[inline(always)]
    pub fn new(numbers: &'a mut [f64], capacity: usize, offsets: &'a Offsets) -> Self {
        assert!(capacity <= numbers.len() / (P * W) && offsets.end - 1 + W <= capacity * W);
        Self {
            numbers,
            length: capacity * W,
            at: &offsets.at,
        }
    }

    /// The slot of a trajectory in a place, counted modulo P.
    #[inline(always)]
    pub fn get(&mut self, t: usize, column: usize, place: usize) -> &mut [f64; W] {
        let at = place % P * self.length + get(self.at, t, column);
        // SAFETY: `new` has checked that W numbers of a place follow every offset, and that there are P places.
        unsafe { &mut *self.numbers.as_mut_ptr().add(at).cast() }
    }
}
