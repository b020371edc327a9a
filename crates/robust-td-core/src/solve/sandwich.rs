//! Estimates the TD fixed point by least squares, with a covariance that accounts for correlated samples.
//!
//! # Formulas
//! With A = sum rho phi (phi - gamma phi')' and b = sum rho r phi over n samples (rho = 1 on-policy), the estimate is
//! theta = (A + R)^{-1} b with a tiny diagonal matrix R. Its
//! error is A^{-1} times the sum of the scores rho delta phi, so its covariance is
//! ```text
//! n A^{-1} C A^{-T},     C = lim Var( sum of the scores of n samples ) / n,
//! ```
//! the sandwich. C is estimated by batch means: sums of scores over blocks much longer than the correlation time, each taken at
//! an estimate from before the block. It uses at least the later half of the samples.
//!
//! The learners `alg1-auto` and `lstd` show it beside their answer; [`online`](super::online) has the intervals of least squares itself.
//!
//! # Reference
//! Bradtke & Barto 1996 for the estimate; Flegal & Jones, "Batch means and spectral variance estimators in Markov chain Monte
//! Carlo", Annals of Statistics 38, 2010, for batch means.
//!
//! # Performance
//! O(d nonzeros) per sample and d^2 memory, so d is limited to 500; O(d^3) each time the number of samples doubles.

use robust_td_simd::{Simd, Work};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::lanes::{Change, Difference, Outer};
use crate::linalg;
use crate::matrix::Matrix;
use crate::phi::{Features, Transition};
use crate::solve::fixed_point::Identified;
use crate::solve::quantile::{one_sided, two_sided};
use crate::solve::{BlockLength, Correlation};

/// The largest dimension.
pub const LARGEST_DIMENSION: usize = 500;
/// The minimum number of blocks for an error estimate.
const FEWEST_BLOCKS: u64 = 8;
/// The ridge, relative to the sum of phi_j^2: negligible in any units, but it gives the value 0 to combinations
/// of features that never vary.
const RIDGE: f64 = 1e-12;
/// The number of samples at the first estimate.
const FIRST: u64 = 64;

/// Least squares with standard errors, one transition at a time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedSandwich", into = "SavedSandwich")]
pub struct Sandwich {
    sums: Sums,
    /// Scratch space for gamma phi(s') - phi(s).
    difference: Difference,
}

/// Compares the estimates, not the scratch space.
impl PartialEq for Sandwich {
    fn eq(&self, other: &Self) -> bool {
        self.sums == other.sums
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sums {
    discount: f64,
    #[serde(deserialize_with = "crate::count::read")]
    count: u64,
    /// For each coordinate, the sum of phi_j^2.
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    /// -A = sum rho phi psi' with psi = gamma phi' - phi, row by row.
    #[serde(with = "crate::exact_float")]
    minus_a: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    b: Vec<f64>,
    /// The theta at which scores are taken.
    #[serde(with = "crate::exact_float")]
    theta: Vec<f64>,
    correlation: Correlation,
    length: BlockLength,
    #[serde(deserialize_with = "crate::count::read")]
    left: u64,
    /// The sum of scores over the open block.
    #[serde(with = "crate::exact_float")]
    open: Vec<f64>,
    older: Window,
    younger: Window,
}

/// Sums over the blocks of a part of the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    #[serde(deserialize_with = "crate::count::read")]
    blocks: u64,
    #[serde(deserialize_with = "crate::count::read")]
    samples: u64,
    /// Sum of S.
    #[serde(with = "crate::exact_float")]
    total: Vec<f64>,
    /// Sum of S S', row by row.
    #[serde(with = "crate::exact_float")]
    products: Vec<f64>,
}

impl Window {
    fn empty(dimension: usize) -> Self {
        Self {
            blocks: 0,
            samples: 0,
            total: vec![0.0; dimension],
            products: vec![0.0; dimension * dimension],
        }
    }

    fn add(&mut self, sum: &[f64], samples: u64) {
        self.blocks += 1;
        self.samples += samples;
        let all = Features::Dense(sum);
        all.axpy(1.0, &mut self.total);
        for (row, x) in self.products.chunks_exact_mut(sum.len()).zip(sum) {
            all.axpy(*x, row);
        }
    }
}

impl Sandwich {
    /// The state before the first sample.
    ///
    /// # Errors
    /// When the dimension is 0 or above [`LARGEST_DIMENSION`], or the discount is outside [0, 1).
    pub fn new(dimension: usize, discount: f64) -> Result<Self> {
        if !(1..=LARGEST_DIMENSION).contains(&dimension) {
            return Err(Error::Parameter {
                name: "dimension",
                value: dimension as f64,
                expected: "from 1 to 500",
            });
        }
        crate::check::check_discount(discount)?;
        let correlation = Correlation::new(dimension);
        let zeros = vec![0.0; dimension];
        Ok(Self {
            sums: Sums {
                discount,
                count: 0,
                squares: zeros.clone(),
                minus_a: vec![0.0; dimension * dimension],
                b: zeros.clone(),
                theta: zeros.clone(),
                length: correlation.block_length(),
                left: correlation.block_length().samples,
                correlation,
                open: zeros,
                older: Window::empty(dimension),
                younger: Window::empty(dimension),
            },
            difference: Difference::default(),
        })
    }

    /// d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.sums.b.len()
    }

    /// gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.sums.discount
    }

    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sums.count
    }

    /// Adds a transition.
    pub fn step(&mut self, transition: &Transition<'_>) {
        let Self { sums, difference } = self;
        robust_td_simd::run(TakeIn {
            sums,
            difference,
            transition,
        });
        sums.count += 1;
        sums.left -= 1;
        if sums.left == 0 {
            sums.younger.add(&sums.open, sums.length.samples);
            sums.begin_block();
        }
        if sums.count >= FIRST && sums.count.is_power_of_two() {
            sums.renew();
        }
    }

    /// The estimate with its covariance; none while too little is known.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        let middle = self.sums.score_covariance()?;
        let d = self.dimension();
        let inverse = linalg::inverse(&self.sums.matrix());
        let half = linalg::product(&inverse, &middle);
        let transposed = Matrix::from_fn(d, d, |i, j| inverse.get(j, i));
        let covariance = linalg::product(&half, &transposed);
        let seen = self.sums.correlation.seen().iter();
        let seen = seen.map(|seen| if *seen { 1.0 } else { 0.0 }).collect();
        let theta = inverse.times(&self.sums.b);
        self.estimated(theta, covariance, Identified::all(seen))
    }

    fn estimated(
        &self,
        theta: Vec<f64>,
        covariance: Matrix,
        identified: Identified,
    ) -> Option<Estimate> {
        let sums = &self.sums;
        let finite = covariance.as_slice().iter().all(|x| x.is_finite());
        finite.then(|| Estimate {
            theta,
            covariance,
            identified,
            samples: sums.count,
            blocks: sums.older.blocks + sums.younger.blocks,
            block: sums.length.samples,
            long_enough: sums.length.enough,
        })
    }
}

impl Sums {
    /// The covariance of the sum of all scores, C n; none while there are too few blocks.
    fn score_covariance(&self) -> Option<Matrix> {
        let (older, younger) = (&self.older, &self.younger);
        if older.blocks + younger.blocks < FEWEST_BLOCKS {
            return None;
        }
        let d = self.b.len();
        let centred = |i: usize, j: usize| {
            let part = |w: &Window| {
                let mean = w.total[i] * w.total[j] / w.blocks.max(1) as f64;
                w.products[i * d + j] - mean
            };
            part(older) + part(younger)
        };
        let samples = (older.samples + younger.samples) as f64;
        let factor = self.count as f64 / samples;
        Some(Matrix::from_fn(d, d, |i, j| factor * centred(i, j)))
    }

    fn matrix(&self) -> Matrix {
        let d = self.b.len();
        let ridge = |i: usize, j: usize| match self.squares[i] {
            _ if i != j => 0.0,
            0.0 => 1.0,
            square => RIDGE * square,
        };
        Matrix::from_fn(d, d, |i, j| ridge(i, j) - self.minus_a[i * d + j])
    }

    fn begin_block(&mut self) {
        self.open.fill(0.0);
        self.left = self.length.samples;
    }

    /// Switches to scores at the current estimate, with the block length that the last scores recommend.
    fn renew(&mut self) {
        let theta = linalg::solve(&self.matrix(), &self.b);
        if theta.iter().all(|x| x.is_finite()) {
            self.theta = theta;
        }
        let d = self.b.len();
        self.older = std::mem::replace(&mut self.younger, Window::empty(d));
        self.length = self.correlation.block_length();
        self.correlation = self.correlation.renewed();
        self.begin_block();
    }
}

/// Least squares with the covariance of its error.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// theta.
    pub theta: Vec<f64>,
    /// The covariance of theta around the TD fixed point.
    pub covariance: Matrix,
    /// Which values the samples determine.
    identified: Identified,
    /// The number of samples.
    pub samples: u64,
    /// The number of blocks behind the covariance.
    pub blocks: u64,
    /// The number of samples in a block.
    pub block: u64,
    /// Whether there were enough samples for blocks of several correlation times; if not, errors may be underestimated.
    pub long_enough: bool,
}

impl Estimate {
    /// The standard error of phi.theta; infinite if the samples do not determine it.
    #[must_use]
    pub fn standard_error(&self, phi: Features<'_>) -> f64 {
        if !self.identified.covers(phi) {
            return f64::INFINITY;
        }
        let mut square = 0.0;
        phi.for_each(|i, x| square += x * phi.dot(self.covariance.row(i)));
        square.max(0.0).sqrt()
    }

    /// Half the width of the interval of phi.theta at a confidence in (0, 1).
    #[must_use]
    pub fn half_width(&self, phi: Features<'_>, confidence: f64) -> f64 {
        self.standard_error(phi) * two_sided(confidence, self.freedom())
    }

    /// Half the width of an interval around another estimate of phi.theta.
    ///
    /// It equals [`Estimate::half_width`] when the two are close. Otherwise the fixed point lies towards least
    /// squares, and the interval extends beyond it by its one-sided error: |value - phi.theta| + t_confidence standard errors.
    #[must_use]
    pub fn half_width_around(&self, value: f64, phi: Features<'_>, confidence: f64) -> f64 {
        let beyond = self.standard_error(phi) * one_sided(confidence, self.freedom());
        // Widened by 1e-6 to cover rounding where there is no other error.
        let distance = (value - phi.dot(&self.theta)).abs() * (1.0 + 1e-6);
        self.half_width(phi, confidence).max(distance + beyond)
    }

    fn freedom(&self) -> f64 {
        (self.blocks - 1).max(FEWEST_BLOCKS) as f64
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct SavedSandwich(Sums);

impl From<Sandwich> for SavedSandwich {
    fn from(sandwich: Sandwich) -> Self {
        Self(sandwich.sums)
    }
}

impl TryFrom<SavedSandwich> for Sandwich {
    type Error = Error;

    fn try_from(SavedSandwich(sums): SavedSandwich) -> Result<Self> {
        let d = sums.b.len();
        let fits = |window: &Window| window.total.len() == d && window.products.len() == d * d;
        crate::check::check_discount(sums.discount)?;
        let whole = [sums.theta.len(), sums.open.len(), sums.squares.len()] == [d; 3]
            && sums.correlation.fits(d)
            && sums.minus_a.len() == d * d
            && (1..=sums.length.samples).contains(&sums.left)
            && fits(&sums.older)
            && fits(&sums.younger);
        if !whole {
            let contradiction = format!("least squares whose parts do not fit dimension {d}");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            sums,
            difference: Difference::default(),
        })
    }
}

/// Adds a transition to the sums.
struct TakeIn<'a> {
    sums: &'a mut Sums,
    difference: &'a mut Difference,
    transition: &'a Transition<'a>,
}

impl Work for TakeIn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let (sums, transition) = (&mut *self.sums, self.transition);
        let (phi, rho) = (&transition.features, transition.ratio);
        let (d, next) = (sums.b.len(), transition.outcome.next_features());
        let change = Change {
            psi: self.difference.of(s, phi, next, sums.discount),
            phi,
            reward: transition.reward,
        };
        match (phi, change.psi) {
            (Features::Dense(x), Features::Dense(y)) if rho == 1.0 => {
                let rows = &mut sums.minus_a;
                Outer { x, y, rows }.run(s);
            }
            (_, psi) => phi.for_each(|i, x| psi.axpy(rho * x, &mut sums.minus_a[i * d..][..d])),
        }
        phi.axpy(rho * transition.reward, &mut sums.b);
        phi.add_squares(&mut sums.squares);
        let delta = rho * change.td_error(s, &sums.theta);
        phi.axpy(delta, &mut sums.open);
        sums.correlation.push(s, delta, phi);
    }
}
