//! Computes quantiles of the normal and Student's t distributions.

use std::cell::Cell;

/// The quantile of the standard normal distribution at p in (0, 1), to about 1e-9.
///
/// Acklam's rational approximation (2003).
pub(crate) fn normal(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] = [
        7.784695709041462e-3,
        3.224671290700398e-1,
        2.445134137142996,
        3.754408661907416,
        1.0,
    ];
    let polynomial = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    };
    const LOW: f64 = 0.02425;
    if p < LOW {
        tail(p)
    } else if p > 1.0 - LOW {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        q * polynomial(&A, r) / polynomial(&B, r)
    }
}

/// From here on the expansion alone is exact to 1e-5 at 95 % and to 1e-3 at 99.9 %.
const MANY: f64 = 8.0;

/// The quantile of Student's t distribution with `freedom` >= 1 degrees of freedom, not necessarily an integer.
///
/// The Cornish-Fisher expansion around the normal quantile (Abramowitz & Stegun 26.7.5); below 8 degrees of freedom it
/// only starts Newton's method, which is exact to about 1e-9.
pub(crate) fn student(p: f64, freedom: f64) -> f64 {
    let z = normal(p);
    let (z2, n) = (z * z, freedom);
    let g1 = (z2 + 1.0) / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    let expansion = z * (1.0 + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n);
    match freedom < MANY && z != 0.0 {
        true => expansion.signum() * upper_point(p.min(1.0 - p), freedom, expansion.abs()),
        false => expansion,
    }
}

/// The t > 0 that is exceeded with probability `tail` < 1/2, by Newton's method.
///
/// ln P(T > t) is a decreasing concave function of ln t, so that the method converges from every start.
fn upper_point(tail: f64, freedom: f64, start: f64) -> f64 {
    let half = 0.5 * freedom;
    let normaliser =
        ln_gamma(half + 0.5) - ln_gamma(half) - 0.5 * (freedom * std::f64::consts::PI).ln();
    let mut t = start;
    for _ in 0..100 {
        let kernel = (-(half + 0.5) * (t * t / freedom).ln_1p()).exp();
        let density = normaliser.exp() * kernel;
        let beyond = 0.5 * student_beyond(t, freedom, normaliser);
        let step = (beyond / tail).ln() * beyond / (t * density);
        t *= step.clamp(-2.0, 2.0).exp();
        // Convergence is quadratic: the next step would be below 1e-12.
        if step.abs() < 1e-6 {
            break;
        }
    }
    t
}

/// P(|T| > t) = I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t^2), `normaliser` being ln of the density at 0.
///
/// The continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8), evaluated by Lentz's method.
fn student_beyond(t: f64, freedom: f64, normaliser: f64) -> f64 {
    let (x, y) = (freedom / (freedom + t * t), t * t / (freedom + t * t));
    // x^a y^b / B(a, b) with a = freedom / 2, b = 1 / 2.
    let half = 0.5 * freedom;
    let front = (normaliser + half * x.ln() + 0.5 * (y * freedom).ln()).exp();
    if x < (half + 1.0) / (half + 2.5) {
        front * fraction(half, 0.5, x) / half
    } else {
        1.0 - front * fraction(0.5, half, y) / 0.5
    }
}

/// The continued fraction of the incomplete beta function.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..200 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// ln of the gamma function at x > 0, to about 1e-14: Stirling's series after moving x beyond 8.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

/// The half-width, in standard errors, of a two-sided interval with confidence in (0, 1), for `freedom` >= 1.
#[must_use]
pub fn two_sided(confidence: f64, freedom: f64) -> f64 {
    // Uses the tail; its complement would round to 1.
    let tail = 0.5 * (1.0 - confidence);
    match (1.0..MANY).contains(&freedom) && tail < 0.5 {
        true => FewDegrees::at(tail, freedom),
        false => -student(tail, freedom),
    }
}

/// The number of Chebyshev polynomials: errors are below 1e-13 up to a confidence of 0.999 and below 2e-9 up to 1 - 1e-15.
const TERMS: usize = 24;

/// The points that are exceeded with one probability, for 1 to 8 degrees of freedom: Newton's method would take most of the time of an
/// interval, and a table asks for the same probability for every row.
#[derive(Clone, Copy)]
struct FewDegrees {
    tail: f64,
    /// ln t as a series of Chebyshev polynomials in 1 / freedom.
    terms: [f64; TERMS],
}

thread_local! {
    /// The last probability; the answer does not depend on what is kept.
    static LAST: Cell<FewDegrees> = const {
        Cell::new(FewDegrees {
            tail: f64::NAN,
            terms: [0.0; TERMS],
        })
    };
}

impl FewDegrees {
    /// The middle of the range of 1 / freedom, and its half.
    const MIDDLE: f64 = 0.5 * (1.0 + 1.0 / MANY);
    const HALF: f64 = 0.5 * (1.0 - 1.0 / MANY);

    fn new(tail: f64) -> Self {
        let angle = |i: usize| std::f64::consts::PI * (i as f64 + 0.5) / TERMS as f64;
        let at = |i: usize| {
            let freedom = 1.0 / (Self::MIDDLE + Self::HALF * angle(i).cos());
            (-student(tail, freedom)).ln()
        };
        let values: [f64; TERMS] = std::array::from_fn(at);
        let terms = std::array::from_fn(|k| {
            let waves = (0..TERMS).map(|i| values[i] * (k as f64 * angle(i)).cos());
            let scale = if k == 0 { 1.0 } else { 2.0 } / TERMS as f64;
            scale * waves.sum::<f64>()
        });
        Self { tail, terms }
    }

    /// The point for these degrees of freedom.
    fn at(tail: f64, freedom: f64) -> f64 {
        LAST.with(|last| {
            if last.get().tail.to_bits() != tail.to_bits() {
                last.set(Self::new(tail));
            }
            let terms = last.get().terms;
            // Clenshaw's recursion.
            let x = (1.0 / freedom - Self::MIDDLE) / Self::HALF;
            let [mut next, mut after] = [0.0; 2];
            for term in terms[1..].iter().rev() {
                (next, after) = (term + 2.0 * x * next - after, next);
            }
            (terms[0] + x * next - after).exp()
        })
    }
}

/// The distance, in standard errors, of a one-sided bound with confidence in (0, 1); negative below one half.
pub(crate) fn one_sided(confidence: f64, freedom: f64) -> f64 {
    -student(1.0 - confidence, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from published tables.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959963985),
            (0.995, 2.575829304),
            (0.001, -3.090232306),
        ] {
            assert!((normal(p) - z).abs() < 1e-8, "{p}: {}", normal(p));
        }
        assert!((two_sided(0.95, 64.0) - 1.997730).abs() < 1e-3);
        assert!((one_sided(0.95, 30.0) - 1.697261).abs() < 1e-3);
        assert!(two_sided(1.0 - f64::EPSILON, 64.0).is_finite());
        for (p, freedom, t) in [
            (0.975, 8.0, 2.306004),
            (0.975, 64.0, 1.997730),
            (0.95, 30.0, 1.697261),
            (0.995, 10.0, 3.169273),
        ] {
            let found = student(p, freedom);
            assert!((found - t).abs() < 1e-3, "{p}, {freedom}: {found}");
        }
    }

    #[test]
    fn a_series_has_the_points_of_newtons_method() {
        for confidence in [1e-3, 0.5, 0.95, 0.999, 1.0 - 1e-9, 1.0 - f64::EPSILON] {
            let precision = if confidence > 0.999 { 5e-9 } else { 1e-10 };
            for k in 0..700 {
                let freedom = 1.0 + f64::from(k) / 100.0;
                let [found, exact] = [
                    two_sided(confidence, freedom),
                    -student(0.5 * (1.0 - confidence), freedom),
                ];
                let error = (found / exact - 1.0).abs();
                assert!(error < precision, "{confidence}, {freedom}: {error:e}");
            }
        }
        assert!(two_sided(0.95, f64::NAN).is_nan());
        // Half of the values are below 0.
        assert_eq!(two_sided(0.0, 2.0), 0.0);
    }

    /// Values from SciPy 1.16 (`scipy.stats.t.ppf`).
    #[test]
    fn few_degrees_of_freedom_are_exact() {
        for (p, freedom, t) in [
            (0.6, 1.0, 0.32491969623290634),
            (0.9, 1.5, 2.1963984175655376),
            (0.975, 1.0, 12.706204736174694),
            (0.975, 1.5, 6.016663104427929),
            (0.975, 2.0, 4.302652729749462),
            (0.975, 3.0, 3.1824463052837078),
            (0.975, 5.5, 2.501858617589239),
            (0.995, 1.5, 17.820310514462804),
            (0.9995, 1.0, 636.6192487687897),
            (0.9995, 3.0, 12.923978636687961),
            (0.9995, 5.5, 6.35081750008378),
        ] {
            for (p, t) in [(p, t), (1.0 - p, -t)] {
                let found = student(p, freedom);
                assert!((found / t - 1.0).abs() < 1e-7, "{p}, {freedom}: {found}");
            }
        }
        assert_eq!(student(0.5, 2.0), 0.0);
        assert!(two_sided(1.0 - f64::EPSILON, 1.0).is_finite());
        assert!((student(0.975, 7.999) - student(0.975, 8.0)).abs() < 3e-4);
    }
}
