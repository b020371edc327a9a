//! Minimises the residual over a short Krylov space: one cycle of GMRES, for what IDR(s) cannot improve.
//!
//! # Reference
//! Saad & Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems", SIAM J. Sci. Stat.
//! Comput. 7, 1986. Orthogonalised twice.

use super::vectors::{axpy, combine, dot, norm};
use super::work::{Halt, Work};

/// A new direction shorter than this, relative to the product, is rounding.
const ROUNDING: f64 = 1e-14;
/// A combination of directions whose product is shorter than this is not used.
const RANK: f64 = 1e-8;

/// x = argmin |r - B x| over the Krylov space of r; the basis has one vector more than there are steps.
pub(super) fn cycle<E>(
    work: &mut Work<'_, E>,
    basis: &mut [&mut Vec<f64>],
    r: &[f64],
    x: &mut [f64],
    target: f64,
) -> Result<(), Halt<E>> {
    let steps = basis.len() - 1;
    let start = norm(r);
    x.fill(0.0);
    basis[0].iter_mut().zip(r).for_each(|(v, r)| *v = r / start);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut turns: Vec<(f64, f64)> = Vec::new();
    let mut g = vec![start];
    let mut halt = Ok(());
    for j in 0..steps {
        let (known, next) = basis.split_at_mut(j + 1);
        let w = &mut *next[0];
        // What was done so far is used before the halt is passed on.
        halt = work.product(known[j], w);
        if halt.is_err() {
            break;
        }
        let whole = norm(w);
        let mut column = vec![0.0; j + 1];
        for _ in 0..2 {
            for (i, v) in known.iter().enumerate() {
                let c = dot(v, w);
                column[i] += c;
                axpy(-c, v, w);
            }
        }
        let left = norm(w);
        let ends = !(left > ROUNDING * whole);
        let mut below = if ends { 0.0 } else { left };
        for (i, &(c, s)) in turns.iter().enumerate() {
            let (a, b) = (column[i], column[i + 1]);
            (column[i], column[i + 1]) = (c * a + s * b, c * b - s * a);
        }
        let length = column[j].hypot(below);
        if !(length > RANK * whole) {
            // B maps a combination with the last direction to nothing: it cannot help.
            break;
        }
        let (c, s) = (column[j] / length, below / length);
        column[j] = length;
        turns.push((c, s));
        columns.push(column);
        below = -s * g[j];
        g[j] *= c;
        g.push(below);
        work.estimate = below.abs();
        if ends || below.abs() <= target {
            break;
        }
        w.iter_mut().for_each(|w| *w /= left);
    }
    let mut y = vec![0.0; columns.len()];
    for i in (0..y.len()).rev() {
        let known: f64 = (i + 1..y.len()).map(|k| columns[k][i] * y[k]).sum();
        y[i] = (g[i] - known) / columns[i][i];
    }
    combine(y.into_iter().zip(basis.iter().map(|v| &**v)), x);
    halt
}
