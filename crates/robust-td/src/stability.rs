//! Decides for which constant stepsizes the second moment of TD(0) stays bounded.
//!
//! With a constant step `eta`, `E[theta theta' 1{s}]` is driven by the linear map
//! ```text
//! Y -> ( sum_s P(s,s') G(s,s') Y(s) G(s,s')' )_s',      G(s,s') = I + eta phi(s) (gamma phi(s') - phi(s))'
//! ```
//! on one symmetric d x d block per state. `E|theta_t|^2` stays bounded when its spectral radius is below one and grows without
//! bound when it is above. The map leaves the cone of positive semidefinite blocks invariant, so that its radius is an eigenvalue,
//! found here by restarted Arnoldi iteration from the identity, an interior point of the cone.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot, norm_sq};
use crate::problem::Problem;

/// The spectral radius of the second-moment map at a constant stepsize `eta`.
pub fn mean_square_radius(problem: &Problem, eta: f64) -> Result<f64> {
    if !(eta >= 0.0 && eta.is_finite()) {
        return Err(Error::Parameter {
            name: "eta",
            value: eta,
            expected: "finite and not negative",
        });
    }
    let d = problem.dimension();
    let identity = (0..d).flat_map(|i| (i..d).map(move |j| if i == j { 1.0 } else { 0.0 }));
    let start = identity.collect::<Vec<f64>>().repeat(problem.states());
    perron_eigenvalue(|y| second_moment_map(problem, eta, y), start)
}

/// The stepsize at which the radius reaches one: constant steps below it keep `E|theta_t|^2` bounded.
pub fn mean_square_threshold(problem: &Problem) -> Result<f64> {
    const PRECISION: f64 = 1e-12;
    let excess = |eta: f64| mean_square_radius(problem, eta).map(|radius| radius - 1.0);
    // phi_inf^2 eta ~ 1 is where a single update overshoots; search from there in both directions.
    let mut stable = 1.0 / problem.phi_inf().powi(2);
    while !(excess(stable)? < 0.0) {
        stable /= 2.0;
        if stable < f64::MIN_POSITIVE * 4.0 {
            return Err(Error::Decomposition {
                what: "mean-square threshold",
            });
        }
    }
    let mut unstable = 2.0 * stable;
    while excess(unstable)? < 0.0 {
        stable = unstable;
        unstable *= 2.0;
    }
    // Regula falsi in the Illinois form, safeguarded by the bracket.
    let (mut below, mut above) = (excess(stable)?, excess(unstable)?);
    let mut last_side = 0;
    while unstable - stable > PRECISION * unstable {
        let mut middle = (stable * above - unstable * below) / (above - below);
        if !(middle > stable && middle < unstable) {
            middle = 0.5 * (stable + unstable);
        }
        let value = excess(middle)?;
        if value.abs() <= 1e-14 {
            return Ok(middle);
        }
        if value < 0.0 {
            (stable, below) = (middle, value);
            above *= if last_side == -1 { 0.5 } else { 1.0 };
            last_side = -1;
        } else {
            (unstable, above) = (middle, value);
            below *= if last_side == 1 { 0.5 } else { 1.0 };
            last_side = 1;
        }
    }
    Ok(0.5 * (stable + unstable))
}

/// The map on blocks that are stored as their upper triangles, so that rounding cannot make them asymmetric.
fn second_moment_map(problem: &Problem, eta: f64, y: &[f64]) -> Vec<f64> {
    let d = problem.dimension();
    let size = d * (d + 1) / 2;
    let mut image = vec![0.0; y.len()];
    let mut u = vec![0.0; d];
    let mut psi = vec![0.0; d];
    for edge in problem.edges() {
        let (phi, onward) = (problem.phi(edge.from), problem.phi(edge.to));
        for i in 0..d {
            psi[i] = problem.discount() * onward[i] - phi[i];
        }
        // u = eta Y psi + (eta^2/2)(psi' Y psi) phi, so that G Y G' = Y + phi u' + u phi'.
        let block = &y[edge.from * size..(edge.from + 1) * size];
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

/// The dominant eigenvalue of a cone-preserving map, by Arnoldi iteration restarted at its Ritz vector.
fn perron_eigenvalue(map: impl Fn(&[f64]) -> Vec<f64>, start: Vec<f64>) -> Result<f64> {
    const BASIS: usize = 30;
    const RESTARTS: usize = 400;
    const RESIDUAL: f64 = 1e-13;
    let mut vector = start;
    for _ in 0..RESTARTS {
        let mut basis = vec![normalised(vector)];
        let mut hessenberg = Matrix::zeros(BASIS + 1, BASIS);
        let mut size = 0;
        while size < BASIS {
            let mut image = map(&basis[size]);
            let length = norm_sq(&image).sqrt();
            // Twice is enough: the second pass removes what rounding left of the first.
            for _ in 0..2 {
                for (i, direction) in basis.iter().enumerate() {
                    let overlap = dot(direction, &image);
                    hessenberg.row_mut(i)[size] += overlap;
                    image
                        .iter_mut()
                        .zip(direction)
                        .for_each(|(x, y)| *x -= overlap * y);
                }
            }
            let rest = norm_sq(&image).sqrt();
            hessenberg.row_mut(size + 1)[size] = rest;
            size += 1;
            // An invariant subspace: what is left is rounding, and would only add spurious eigenvalues.
            if !(rest > 1e-13 * length) {
                break;
            }
            basis.push(normalised(image));
        }
        let small = Matrix::from_fn(size, size, |i, j| hessenberg.get(i, j));
        let radius = linalg::eigenvalue_moduli(&small)?[0];
        if radius == 0.0 {
            return Ok(0.0);
        }
        let ritz = eigenvector(&small, radius);
        let residual = hessenberg.get(size, size - 1).abs() * ritz[size - 1].abs();
        if residual <= RESIDUAL * radius {
            return Ok(radius);
        }
        vector = vec![0.0; basis[0].len()];
        for (direction, weight) in basis.iter().zip(&ritz) {
            vector
                .iter_mut()
                .zip(direction)
                .for_each(|(x, y)| *x += weight * y);
        }
    }
    Err(Error::Decomposition {
        what: "mean-square radius",
    })
}

/// An eigenvector of a small matrix by inverse iteration next to a known real eigenvalue.
fn eigenvector(matrix: &Matrix, eigenvalue: f64) -> Vec<f64> {
    let shift = eigenvalue * (1.0 + 1e-11);
    let shifted = Matrix::from_fn(matrix.rows(), matrix.columns(), |i, j| {
        matrix.get(i, j) - if i == j { shift } else { 0.0 }
    });
    let mut vector = vec![1.0; matrix.rows()];
    for _ in 0..3 {
        vector = normalised(linalg::solve(&shifted, &vector));
    }
    vector
}

fn normalised(mut vector: Vec<f64>) -> Vec<f64> {
    let norm = norm_sq(&vector).sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}
