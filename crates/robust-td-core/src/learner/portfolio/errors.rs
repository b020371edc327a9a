//! Propagates the errors of all replicates through a block of samples, which they weight by random signs.
//!
//! With the sign xi of the block, a replicate's recursion is linear,
//! ```text
//! e_{t+1} = (I + eta_t phi_t psi_t') e_t + eta_t xi s_t phi_t,     psi_t = gamma phi_{t+1} - phi_t:
//! ```
//! over a whole block e becomes M e + xi v, with M and v the same for all replicates. With many more replicates than
//! features it is cheaper to propagate M and v, which are d + 1 lanes, and apply them at the end of the block; otherwise every
//! replicate is a lane. The sums of the iterates, for the averages, are linear in the same way.

use robust_td_simd::run;
use serde::{Deserialize, Serialize};

use crate::lanes::{AdvanceAll, Change, Lanes, Line, Map, WIDTH};

/// The largest dimension for which the map is used; its lanes then fill one line. For larger maps, applying the map to all replicates
/// would cost more than their steps over a short block.
const LARGEST_MAP: usize = WIDTH - 1;
/// The minimum number of replicates per lane of the map.
const WORTHWHILE: usize = 4;

/// Lines with a single one, at each position: they select the lane that takes the scores as rewards.
static UNITS: [Line; WIDTH] = {
    let mut units = [Line::of(0.0); WIDTH];
    let mut l = 0;
    while l < WIDTH {
        units[l].0[l] = 1.0;
        l += 1;
    }
    units
};

/// The errors of the replicates, their averages, and the signs of the block.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Errors {
    #[serde(with = "crate::exact_float")]
    signs: Vec<Line>,
    state: State,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// Every replicate is a lane.
    Lanes(Lanes),
    /// The replicates at the start of the block, and the images of the unit vectors since then.
    Map(Mapped),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapped {
    /// M and v: lane j < d started from the j-th unit vector, lane d from zero with the scores as rewards.
    map: Lanes,
    /// The errors: all coordinates of the first line, then of the next.
    #[serde(with = "crate::exact_float")]
    errors: Vec<Line>,
    /// Their sums since the averages started.
    #[serde(with = "crate::exact_float")]
    sums: Vec<Line>,
    #[serde(deserialize_with = "crate::count::read")]
    counted: u64,
    /// Scratch space for the map of the sums.
    #[serde(skip)]
    sum_rows: Vec<Line>,
    /// Scratch space for the new errors.
    #[serde(skip)]
    next: Vec<Line>,
}

impl Errors {
    /// All errors at zero.
    pub fn zero(dimension: usize, replicates: usize) -> Self {
        let lines = replicates.div_ceil(WIDTH);
        Self {
            signs: vec![Line::of(1.0); lines],
            state: match is_mapped(dimension, replicates) {
                true => State::Map(Mapped::zero(dimension, lines)),
                false => State::Lanes(Lanes::zero(dimension, lines)),
            },
        }
    }

    /// Whether the buffers match this dimension and number of replicates.
    pub fn fits(&self, dimension: usize, replicates: usize) -> bool {
        let lines = replicates.div_ceil(WIDTH);
        self.signs.len() == lines
            && match &self.state {
                State::Lanes(lanes) => {
                    !is_mapped(dimension, replicates) && lanes.fits(dimension, lines)
                }
                State::Map(mapped) => {
                    is_mapped(dimension, replicates) && mapped.fits(dimension, lines)
                }
            }
    }

    /// Starts a block; bit r of the words is the sign of replicate r.
    pub fn begin_block(&mut self, words: impl IntoIterator<Item = u64>) {
        self.close();
        let lines = self.signs.chunks_mut(64 / WIDTH);
        for (lines, word) in lines.zip(words) {
            for (l, line) in lines.iter_mut().enumerate() {
                let bits = word >> (WIDTH * l);
                // The bit becomes the sign bit of 1.0.
                let sign = |i: usize| f64::from_bits(1_f64.to_bits() | (bits >> i & 1) << 63);
                *line = Line::new(std::array::from_fn(sign));
            }
        }
    }

    /// Prepares one step with a TD error, which the signs multiply.
    #[inline(always)]
    pub fn step<'a>(&'a mut self, change: &'a Change<'a>, delta: f64, eta: f64) -> AdvanceAll<'a> {
        let (lanes, weights) = match &mut self.state {
            State::Lanes(lanes) => (lanes, &self.signs[..]),
            State::Map(Mapped { map, .. }) => {
                let last = map.dimension();
                (map, &UNITS[last..=last])
            }
        };
        AdvanceAll {
            lanes,
            change,
            reward: delta,
            weights,
            eta,
        }
    }

    /// Starts the averages at the current step.
    pub fn restart_averages(&mut self) {
        self.close();
        match &mut self.state {
            State::Lanes(lanes) => lanes.restart_averages(),
            State::Map(mapped) => {
                mapped.sums.fill(Line::default());
                mapped.counted = 0;
            }
        }
    }

    /// Multiplies the errors by a factor; the averages keep the iterates counted so far.
    pub fn scale(&mut self, factor: f64) {
        self.close();
        match &mut self.state {
            State::Lanes(lanes) => lanes.scale(factor),
            State::Map(mapped) => {
                let all = mapped.errors.iter_mut().flat_map(|line| &mut line.0);
                all.for_each(|x| *x *= factor);
            }
        }
    }

    /// The average of each replicate.
    pub fn averages(&self, replicates: usize) -> Vec<Vec<f64>> {
        let mut closed = self.clone();
        closed.close();
        let average = |r: usize| match &closed.state {
            State::Lanes(lanes) => lanes.average(r),
            State::Map(mapped) => mapped.average(r),
        };
        (0..replicates).map(average).collect()
    }

    /// Applies the current block to the replicates.
    fn close(&mut self) {
        match &mut self.state {
            State::Lanes(lanes) => lanes.settle(),
            State::Map(mapped) => mapped.close(&self.signs),
        }
    }
}

impl Mapped {
    fn zero(dimension: usize, lines: usize) -> Self {
        let zeros = vec![Line::default(); dimension * lines];
        let mut map = Lanes::zero(dimension, 1);
        map.start_from_units();
        Self {
            map,
            errors: zeros.clone(),
            sums: zeros,
            counted: 0,
            sum_rows: Vec::new(),
            next: Vec::new(),
        }
    }

    fn fits(&self, dimension: usize, lines: usize) -> bool {
        self.map.fits(dimension, 1)
            && [self.errors.len(), self.sums.len()] == [dimension * lines; 2]
    }

    /// Applies the map and starts a new one.
    fn close(&mut self, signs: &[Line]) {
        let d = self.map.dimension();
        self.sum_rows.resize(d, Line::default());
        self.next.resize(self.errors.len(), Line::default());
        self.map.write_sums(&mut self.sum_rows);
        run(Map {
            rows: self.map.iterates(),
            sum_rows: &self.sum_rows,
            weights: signs,
            x: &self.errors,
            y: &mut self.next,
            total: &mut self.sums,
        });
        std::mem::swap(&mut self.errors, &mut self.next);
        self.counted += self.map.counted();
        self.map.start_from_units();
    }

    fn average(&self, replicate: usize) -> Vec<f64> {
        let d = self.map.dimension();
        let entry = |j: usize| {
            let place = replicate / WIDTH * d + j;
            match self.counted {
                0 => self.errors[place][replicate % WIDTH],
                counted => self.sums[place][replicate % WIDTH] / counted as f64,
            }
        };
        (0..d).map(entry).collect()
    }
}

/// Whether to propagate the map instead of the replicates.
fn is_mapped(dimension: usize, replicates: usize) -> bool {
    dimension <= LARGEST_MAP && WORTHWHILE * (dimension + 1) <= replicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Features;
    use crate::random::Stream;

    /// Forty replicates in three dimensions over blocks of varying length, with or without the map.
    fn averages(mapped: bool, sparse: bool) -> Vec<Vec<f64>> {
        let (d, replicates) = (3, 40);
        let mut errors = Errors::zero(d, replicates);
        assert!(errors.fits(d, replicates) && matches!(errors.state, State::Map(_)));
        if !mapped {
            errors.state = State::Lanes(Lanes::zero(d, errors.signs.len()));
        }
        let mut stream = Stream::new(5, 0);
        for t in 0..1000_u32 {
            let mut number = || stream.uniform() - 0.5;
            let numbers: [[f64; 3]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| number()));
            let delta = number();
            if t.is_multiple_of(37) {
                errors.begin_block([stream.next_u64()]);
            }
            let view = |values| match sparse {
                false => Features::Dense(values),
                true => Features::Sparse {
                    indices: &[0, 1, 2],
                    values,
                },
            };
            let change = Change {
                psi: view(&numbers[0]),
                phi: &view(&numbers[1]),
                reward: f64::NAN,
            };
            run(errors.step(&change, delta, 0.1));
            match t {
                300 => errors.restart_averages(),
                500 => errors.scale(0.5),
                _ => {}
            }
        }
        errors.averages(replicates)
    }

    #[test]
    fn a_map_carries_replicates_as_lanes_do() {
        let lanes = averages(false, false);
        let size = lanes.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(size > 0.01, "{size}");
        for sparse in [false, true] {
            let map = averages(true, sparse);
            for (x, y) in map.iter().flatten().zip(lanes.iter().flatten()) {
                assert!((x - y).abs() < 1e-13 * size, "{x} is not {y}");
            }
        }
        assert_eq!(lanes, averages(false, true));
    }

    #[test]
    fn signs_are_the_bits_of_the_words() {
        let mut errors = Errors::zero(20, 80);
        errors.begin_block([0b101, 1 << 15]);
        let signs: Vec<f64> = errors.signs.iter().flat_map(|line| line.0).collect();
        let negative: Vec<usize> = (0..80).filter(|&r| signs[r] == -1.0).collect();
        assert_eq!(negative, [0, 2, 79]);
        assert!(signs.iter().all(|sign| sign.abs() == 1.0));
    }
}
