//! Advances packs of lanes through blocks of steps.
//!
//! # FMA policy
//! Every kernel uses fused multiply-add, as written in `step.rs`. On a CPU with FMA all kernels are
//! compiled for it; otherwise `f64::mul_add` computes the same bits in software, correctly but slowly.

mod dispatch;
mod project;
mod scalar;
mod step;

use robust_td_simd::Offsets;

pub use robust_td_simd::Kernel;

use crate::unit::CellState;

/// The number of lanes in a cell: four packs of eight.
pub(crate) const CELL: usize = 32;
/// The number of lanes in a pack.
pub(crate) const PACK: usize = 8;
/// The number of lanes that one trajectory drives in a split cell.
pub(crate) const QUAD: usize = 4;

/// One number per lane of a pack.
pub(crate) type Line = robust_td_simd::Line<PACK>;

/// The data that the packs of one block share.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub sharing: Sharing,
    pub dimension: usize,
    /// The stepsizes of a pack: eta = b_t k1 + k0.
    pub k1: Line,
    pub k0: Line,
    /// One entry per step.
    pub decay: &'a [f64],
    /// One coefficient per step, and the total weight.
    pub coefficients: &'a [f64],
    pub weight: f64,
    /// For each step and trajectory: the start of the transition's row in `table`, and of the state's bucket.
    pub moves: &'a Offsets,
    pub buckets_at: &'a Offsets,
    /// Rows r, psi, phi (in pairs of variants for split cells).
    pub table: &'a [f64],
    /// Rows phi (in pairs of variants for split cells).
    pub features: &'a [f64],
    /// For each trajectory, the states of its `bucket_capacity` buckets.
    pub bucket_states: &'a [u32],
    /// The number of buckets, the largest among the trajectories; a trajectory's surplus buckets are
    /// empty and add zero.
    pub bucket_count: usize,
    pub bucket_capacity: usize,
    /// How the iterates of the pack are projected, if they are.
    pub projection: Option<Projection<'a>>,
}

/// How the iterates of a pack are projected and, since projections break the sum by parts, averaged.
#[derive(Clone, Copy)]
pub(crate) struct Projection<'a> {
    /// The radius of each lane.
    pub radius: Line,
    /// The weight of one iterate per step.
    pub weights: &'a [f64],
    /// Whether it is the iterate after the step or before.
    pub after: bool,
}

/// How the eight trajectories of a sampled group drive lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Trajectory i drives this pack of cell i.
    Broadcast {
        /// Index of the pack.
        pack: usize,
    },
    /// Trajectory i drives the lanes 4 i .. 4 i + 4 of the only cell, which alternate between two
    /// variants.
    Split {
        /// Number of actual trajectories.
        runs: usize,
    },
}

/// A block and the memory that it changes.
///
/// All packs have the same stepsizes and weights and add to the same sums; only the
/// trajectories differ. Pack i follows trajectory i, or 2 i and 2 i + 1 in a split cell.
pub(crate) struct Job<'a> {
    pub block: Block<'a>,
    pub cells: &'a mut [CellState],
    /// |theta_t|^2 after update t is added to entry t = 1, 2, ..; entry 0 is scratch space.
    pub sums: &'a mut [Line],
    /// `bucket_capacity` lines for each of four packs, or as many quads for each of eight trajectories; zero before
    /// and after.
    pub buckets: &'a mut [Line],
}

impl Job<'_> {
    /// Advances the lanes through the block.
    pub fn run(&mut self, kernel: Kernel) {
        let (block, cells) = (&self.block, &*self.cells);
        let (steps, d) = (block.decay.len(), block.dimension);
        assert!(self.sums.len() > steps && block.coefficients.len() == steps);
        assert!(block.moves.steps() == steps && block.buckets_at.steps() == steps);
        assert!(self.buckets.len() >= block.bucket_capacity * CELL / PACK);
        assert!(block.bucket_count <= block.bucket_capacity);
        assert!(block.projection.is_none_or(|p| p.weights.len() == steps));
        for cell in cells {
            assert!(cell.theta.len() == d * CELL && cell.average.len() == d * CELL);
            assert!(cell.max.len() == CELL);
        }
        match block.sharing {
            Sharing::Broadcast { pack } => {
                assert!(cells.len() <= 8 && pack < CELL / PACK);
                let packs = 0..cells.len();
                dispatch::run::<false>(kernel, self, packs);
            }
            Sharing::Split { runs } => {
                assert!(cells.len() == 1 && runs <= 8);
                dispatch::run::<true>(kernel, self, 0..runs / 2);
                // A last pack without a second trajectory: with stepsize zero the missing lanes stay
                // at theta = 0 and add nothing.
                let whole = self.block;
                self.block.k1.0[QUAD..].fill(0.0);
                self.block.k0.0[QUAD..].fill(0.0);
                dispatch::run::<true>(kernel, self, runs / 2..runs.div_ceil(2));
                self.block = whole;
            }
        }
    }
}

impl Block<'_> {
    /// The cell of a pack, and the position of the pack in it.
    #[inline(always)]
    fn place(&self, pack: usize) -> (usize, usize) {
        match self.sharing {
            Sharing::Broadcast { pack: within } => (pack, within * PACK),
            Sharing::Split { .. } => (0, pack * PACK),
        }
    }

    /// The first bucket of a pack, or of a trajectory of a split cell; packs four apart reuse the same buckets in turn.
    #[inline(always)]
    fn first_bucket<const SPLIT: bool>(&self, index: usize) -> usize {
        let place = if SPLIT { index } else { index % 4 };
        place * self.bucket_capacity
    }
}
