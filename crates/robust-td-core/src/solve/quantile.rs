//! Computes quantiles of the normal and Student's t distributions.

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

/// The quantile of Student's t distribution with `freedom` >= 8 degrees of freedom, to about 1e-4.
///
/// The Cornish-Fisher expansion around the normal quantile (Abramowitz & Stegun 26.7.5).
pub(crate) fn student(p: f64, freedom: f64) -> f64 {
    let z = normal(p);
    let (z2, n) = (z * z, freedom);
    let g1 = (z2 + 1.0) / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    z * (1.0 + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n)
}

/// The half-width, in standard errors, of a two-sided interval with confidence in (0, 1).
pub(crate) fn two_sided(confidence: f64, freedom: f64) -> f64 {
    // Uses the tail; its complement would round to 1.
    -student(0.5 * (1.0 - confidence), freedom)
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
}
