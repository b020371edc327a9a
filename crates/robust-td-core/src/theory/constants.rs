//! Computes the threshold `c_0` and the radius `rho_c` of the bounded-iterates theorem.
//!
//! For `c > c_0` and a horizon that is long enough, `E|theta_t|^2 <= rho_c^2 max(r_inf/phi_inf, |theta*|)^2`
//! for all `t <= T` (Lee & Orabona, arXiv:2506.01052, Theorem 1). The radius is the larger root of
//!
//! ```text
//! Q rho^2 - N rho - (28c + 114) = 0,   Q = c^2 - 30c - 423,   N = 2c^2 + 36c + 434
//! ```
//!
//! which is the fixed point of `(rho-1)^2 = 1 + (28+36rho+30rho^2)/c + (114+434rho+423rho^2)/c^2`.

use std::f64::consts::SQRT_2;

/// The threshold `c_0 = 15 + 18 sqrt 2`, the positive root of [`q`].
///
/// A literal, since the floating-point sum is one unit in the last place too large.
pub const C0: f64 = 40.455_844_122_715_71;

/// The limit of `rho_c` as `c` grows.
pub const RHO_LIMIT: f64 = 2.0;

/// The limit of `(c - c_0) rho_c` as `c` falls to `c_0`: `N(c_0) / Q'(c_0)`.
pub const RHO_RESIDUE: f64 = ((2.0 * C0 + 36.0) * C0 + 434.0) / (2.0 * C0 - 30.0);

/// `Q(c) = c^2 - 30c - 423`, factored because the theory evaluates it near its root.
pub fn q(c: f64) -> f64 {
    (c - C0) * (c - (15.0 - 18.0 * SQRT_2))
}

/// `N(c) = 2c^2 + 36c + 434`.
pub fn n(c: f64) -> f64 {
    (2.0 * c + 36.0) * c + 434.0
}

/// The discriminant `Dd(c) = N^2 + 4Q(28c+114) = 4c^4 + 256c^3 + 128c^2 - 29808c - 4532`.
pub fn discriminant(c: f64) -> f64 {
    (((4.0 * c + 256.0) * c + 128.0) * c - 29808.0) * c - 4532.0
}

/// The radius `rho_c = (N + sqrt Dd) / (2Q)`, or `None` unless `c > c_0`.
///
/// Numerator and denominator are divided by `c^2` first, so that no finite `c` overflows.
pub fn rho(c: f64) -> Option<f64> {
    if !(c > C0) {
        return None;
    }
    let x = 1.0 / c;
    let q = (1.0 - C0 * x) * (1.0 - (15.0 - 18.0 * SQRT_2) * x);
    let n = 2.0 + (36.0 + 434.0 * x) * x;
    let discriminant = n * n + 4.0 * q * (28.0 + 114.0 * x) * x;
    Some((n + discriminant.sqrt()) / (2.0 * q))
}

/// The derivative `d rho_c / dc = -(H + K sqrt Dd) / (2 Q^2 sqrt Dd)`, or `None` unless `c > c_0`.
///
/// `K = 96c^2 + 2560c + 2208` and `H = 248c^4 + 7352c^3 + 117720c^2 + 492200c - 6168432` are positive
/// for `c > c_0`, which is how the paper shows that the radius falls.
pub fn rho_derivative(c: f64) -> Option<f64> {
    if !(c > C0) {
        return None;
    }
    let k = (96.0 * c + 2560.0) * c + 2208.0;
    let h = (((248.0 * c + 7352.0) * c + 117_720.0) * c + 492_200.0) * c - 6_168_432.0;
    let root = discriminant(c).sqrt();
    let q = q(c);
    Some(-(h / root + k) / (2.0 * q * q))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, tolerance: f64) {
        let scale = right.abs().max(1.0);
        assert!(
            (left - right).abs() <= tolerance * scale,
            "{left} is not {right}"
        );
    }

    /// Values of `c` from just above the threshold to far beyond practice.
    fn grid() -> impl Iterator<Item = f64> {
        (-20..=60).map(|i| C0 + 10f64.powf(f64::from(i) / 10.0))
    }

    #[test]
    fn the_threshold_is_the_positive_root_of_q() {
        assert!((C0 - 40.455_844_122_715_71).abs() < 1e-13);
        assert!((C0 * C0 - 30.0 * C0 - 423.0).abs() < 1e-12);
        for c in grid() {
            close(q(c) / (c * c), (c * c - 30.0 * c - 423.0) / (c * c), 1e-12);
        }
    }

    #[test]
    fn the_radius_agrees_with_the_published_table() {
        let table = [
            (41.0, 188.524_788_568_272_67),
            (50.0, 12.743_169_406_900_165),
            (60.0, 7.291_247_941_244_671),
            (75.0, 5.021_972_437_224_571),
            (100.0, 3.771_718_433_297_159_4),
            (150.0, 2.974_585_320_930_310_6),
            (200.0, 2.673_592_032_243_041_3),
            (500.0, 2.236_977_227_516_683_7),
            (1000.0, 2.114_048_348_066_227),
            (1e6, 2.000_110_003_867_175),
        ];
        for (c, expected) in table {
            let rho = rho(c).unwrap();
            assert!((rho / expected - 1.0).abs() < 1e-10, "rho({c}) = {rho}");
        }
    }

    #[test]
    fn the_radius_solves_its_quadratic_and_its_fixed_point() {
        for c in grid() {
            let rho = rho(c).unwrap();
            let terms = [q(c) * rho * rho, -n(c) * rho, -(28.0 * c + 114.0)];
            let size = terms.iter().map(|x| x.abs()).fold(0.0, f64::max);
            assert!(terms.iter().sum::<f64>().abs() < 1e-10 * size, "c = {c}");
            let right = 1.0
                + (28.0 + 36.0 * rho + 30.0 * rho * rho) / c
                + (114.0 + 434.0 * rho + 423.0 * rho * rho) / (c * c);
            assert!(((rho - 1.0).powi(2) / right - 1.0).abs() < 1e-10, "c = {c}");
        }
    }

    #[test]
    fn the_radius_falls_to_two() {
        let radii: Vec<f64> = grid().map(|c| rho(c).unwrap()).collect();
        assert!(radii.windows(2).all(|pair| pair[1] < pair[0]));
        assert!((rho(1e9).unwrap() - RHO_LIMIT).abs() < 1e-6);
        assert_eq!(rho(1e300), Some(RHO_LIMIT));
        assert_eq!(rho(f64::INFINITY), Some(RHO_LIMIT));
    }

    #[test]
    fn the_radius_has_a_pole_at_the_threshold() {
        assert!((RHO_RESIDUE - 101.425_845_689_65).abs() < 1e-10);
        let c = C0 + 1e-7;
        assert!((rho(c).unwrap() * (c - C0) / RHO_RESIDUE - 1.0).abs() < 1e-6);
    }

    #[test]
    fn there_is_no_radius_below_the_threshold() {
        for c in [C0, 40.0, 0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(rho(c), None);
            assert_eq!(rho_derivative(c), None);
        }
    }

    #[test]
    fn the_two_forms_of_the_discriminant_agree() {
        for c in grid() {
            let other = n(c) * n(c) + 4.0 * q(c) * (28.0 * c + 114.0);
            assert!((discriminant(c) / other - 1.0).abs() < 1e-9, "c = {c}");
        }
    }

    #[test]
    fn the_derivative_agrees_with_a_central_difference() {
        for c in grid().filter(|c| (C0 + 0.1..1e5).contains(c)) {
            let h = 1e-4 * (c - C0);
            let difference = (rho(c + h).unwrap() - rho(c - h).unwrap()) / (2.0 * h);
            let derivative = rho_derivative(c).unwrap();
            assert!(derivative < 0.0);
            assert!(
                (derivative / difference - 1.0).abs() < 1e-5,
                "c = {c}: {derivative} {difference}"
            );
        }
    }

    #[test]
    fn the_constant_of_the_rate_is_smallest_near_198() {
        let constant = |c: f64| c * (rho(c).unwrap() - 1.0).powi(2);
        close(constant(198.4798), 560.1661, 1e-7);
        assert!(constant(198.48) < constant(198.0) && constant(198.48) < constant(199.0));
        let square = |c: f64| c * rho(c).unwrap().powi(2);
        close(square(135.915), 1319.219, 1e-6);
        assert!(square(135.915) < square(135.5) && square(135.915) < square(136.5));
    }
}
