//! Finds the constant step sizes for which the second moment of TD(0) stays bounded.
//!
//! With a constant step `eta`, `E[theta theta' 1{s}]` is driven by the linear map
//! ```text
//! Y -> ( sum_s P(s,s') G(s,s') Y(s) G(s,s')' )_s',      G(s,s') = I + eta phi(s) (gamma phi(s') - phi(s))'
//! ```
//! on one symmetric d x d block per state. `E|theta_t|^2` stays bounded when the spectral radius of the map
//! is below one and grows without bound when it is above. The map T preserves the cone of positive
//! semidefinite blocks. Hence its radius is an eigenvalue (Krein and Rutman), and the solution of
//! `(s - T) Y = I` is positive definite exactly when `s` exceeds it. Maps of up to `DENSE_LIMIT` dimensions
//! are decided by this criterion with direct solves, which clustered eigenvalues do not disturb; larger maps
//! use Arnoldi iteration.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot};
use crate::model::perron;
use crate::model::problem::Problem;

/// The largest dimension n d (d+1) / 2 for which the map is formed as a matrix.
const DENSE_LIMIT: usize = 1600;

/// The spectral radius of the second-moment map at a constant step size `eta`.
pub fn mean_square_radius(problem: &Problem, eta: f64) -> Result<f64> {
    if !(eta >= 0.0 && eta.is_finite()) {
        return Err(Error::Parameter {
            name: "eta",
            value: eta,
            expected: "finite and not negative",
        });
    }
    if !fits(problem) {
        let map = |y: &[f64]| second_moment_map(problem, eta, y);
        return perron::dominant_eigenvalue(map, identity_blocks(problem));
    }
    let map = dense_map(problem, eta);
    let margin = |s: f64| Ok(margin(problem, &map, s));
    let mut above = 1.0;
    while !(margin(above)? > 0.0) {
        above *= 2.0;
        if !(above < f64::MAX) {
            return Err(unknown("mean-square radius"));
        }
    }
    let mut below = 0.5 * above;
    while margin(below)? > 0.0 {
        (above, below) = (below, 0.5 * below);
        if !(below > f64::MIN_POSITIVE) {
            return Ok(0.0);
        }
    }
    perron::root(margin, above, below)
}

/// The step size at which the radius reaches one: constant steps below it keep `E|theta_t|^2` bounded.
pub fn mean_square_threshold(problem: &Problem) -> Result<f64> {
    let margin = |eta: f64| {
        if fits(problem) {
            Ok(margin(problem, &dense_map(problem, eta), 1.0))
        } else {
            mean_square_radius(problem, eta).map(|radius| 1.0 - radius)
        }
    };
    // At phi_inf^2 eta ~ 1 a single update overshoots; the search starts there and proceeds in both directions.
    let mut stable = 1.0 / problem.phi_inf().powi(2);
    while !(margin(stable)? > 0.0) {
        stable /= 2.0;
        if !(stable > f64::MIN_POSITIVE) {
            return Err(unknown("mean-square threshold"));
        }
    }
    let mut unstable = 2.0 * stable;
    while margin(unstable)? > 0.0 {
        (stable, unstable) = (unstable, 2.0 * unstable);
        if !(unstable < f64::MAX) {
            return Err(unknown("mean-square threshold"));
        }
    }
    perron::root(margin, stable, unstable)
}

fn unknown(what: &'static str) -> Error {
    Error::Decomposition { what }
}

fn block_size(problem: &Problem) -> usize {
    problem.dimension() * (problem.dimension() + 1) / 2
}

fn fits(problem: &Problem) -> bool {
    problem.states() * block_size(problem) <= DENSE_LIMIT
}

/// The identity in every block: an interior point of the cone.
fn identity_blocks(problem: &Problem) -> Vec<f64> {
    let d = problem.dimension();
    let identity = (0..d).flat_map(|i| (i..d).map(move |j| if i == j { 1.0 } else { 0.0 }));
    identity.collect::<Vec<f64>>().repeat(problem.states())
}

/// `1 / tr Y` for `(s - T) Y = I`, negated unless every block of Y is positive definite.
///
/// Near the radius Y grows like `1 / (s - radius)`, so its inverse crosses zero there.
fn margin(problem: &Problem, map: &Matrix, s: f64) -> f64 {
    let identity = identity_blocks(problem);
    let shifted = Matrix::from_fn(map.rows(), map.columns(), |i, j| {
        if i == j {
            s - map.get(i, j)
        } else {
            -map.get(i, j)
        }
    });
    let y = linalg::solve(&shifted, &identity);
    let inverse_trace = 1.0 / dot(&y, &identity);
    let d = problem.dimension();
    if y.chunks_exact(block_size(problem))
        .all(|block| is_positive_definite(block, d))
    {
        inverse_trace
    } else {
        -inverse_trace.abs()
    }
}

/// Whether a block, given by its upper triangle, has a Cholesky factor.
fn is_positive_definite(block: &[f64], d: usize) -> bool {
    let mut rest = block.to_vec();
    let mut start = 0;
    for k in 0..d {
        let row = rest[start..start + d - k].to_vec();
        if !(row[0] > 0.0) {
            return false;
        }
        start += d - k;
        let mut place = start;
        for i in 1..d - k {
            for j in i..d - k {
                rest[place] -= row[i] * row[j] / row[0];
                place += 1;
            }
        }
    }
    true
}

/// The map as a matrix.
fn dense_map(problem: &Problem, eta: f64) -> Matrix {
    let size = problem.states() * block_size(problem);
    let mut matrix = Matrix::zeros(size, size);
    let mut unit = vec![0.0; size];
    for j in 0..size {
        unit[j] = 1.0;
        for (i, value) in second_moment_map(problem, eta, &unit)
            .into_iter()
            .enumerate()
        {
            matrix.row_mut(i)[j] = value;
        }
        unit[j] = 0.0;
    }
    matrix
}

/// The map on blocks stored as upper triangles, so that rounding cannot make them asymmetric.
fn second_moment_map(problem: &Problem, eta: f64, y: &[f64]) -> Vec<f64> {
    let d = problem.dimension();
    let size = d * (d + 1) / 2;
    let mut image = vec![0.0; y.len()];
    let mut u = vec![0.0; d];
    let mut psi = vec![0.0; d];
    for edge in problem.edges() {
        let block = &y[edge.from * size..(edge.from + 1) * size];
        if block.iter().all(|&entry| entry == 0.0) {
            continue;
        }
        let (phi, onward) = (problem.phi(edge.from), problem.phi(edge.to));
        for i in 0..d {
            psi[i] = problem.discount() * onward[i] - phi[i];
        }
        // u = eta Y psi + (eta^2/2)(psi' Y psi) phi, so that G Y G' = Y + phi u' + u phi'.
        u.fill(0.0);
        let mut k = 0;
        for i in 0..d {
            for j in i..d {
                u[i] += eta * block[k] * psi[j];
                if j > i {
                    u[j] += eta * block[k] * psi[i];
                }
                k += 1;
            }
        }
        let half_square = 0.5 * eta * dot(&u, &psi);
        for i in 0..d {
            u[i] += half_square * phi[i];
        }
        let out = &mut image[edge.to * size..(edge.to + 1) * size];
        let mut k = 0;
        for i in 0..d {
            for j in i..d {
                out[k] += edge.probability * (block[k] + phi[i] * u[j] + u[i] * phi[j]);
                k += 1;
            }
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn arnoldi_iteration_finds_the_same_radius() {
        for (name, settings) in [
            ("ref-3", &[][..]),
            ("garnet", &[("states", 20.0), ("dimension", 3.0)]),
        ] {
            let problem = catalog::problem(name, settings).unwrap();
            for factor in [0.1, 0.5, 1.0, 3.0] {
                let eta = factor / problem.phi_inf().powi(2);
                let direct = mean_square_radius(&problem, eta).unwrap();
                let map = |y: &[f64]| second_moment_map(&problem, eta, y);
                let iterated = perron::dominant_eigenvalue(map, identity_blocks(&problem)).unwrap();
                assert!(
                    (direct / iterated - 1.0).abs() < 1e-11,
                    "{name}: {direct}, {iterated}"
                );
            }
        }
    }
}
