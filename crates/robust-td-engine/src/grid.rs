//! Defines the published experiment's grids: values of c, seeds of the runs, logged steps.

/// Points per decade of the published grid of c: powers 10^(m/6).
const SIXTHS: usize = 6;

/// The published grid of c: 10^m 10^k for k = -8..=8 and m = 0, 1/6, .., 5/6, within [1e-8, 1e8].
///
/// The bits of c enter the seeds of the published trajectories, so the two powers are rounded as
/// the published program rounded them: 10^-2 is 0.1 * 0.1, every other 10^k is the decimal literal.
pub fn published_c() -> Vec<f64> {
    let integer_power = |k: i32| match k {
        -2 => 0.1 * 0.1,
        k if k < 0 => 1.0 / 10_f64.powi(-k),
        k => 10_f64.powi(k),
    };
    (-8..=8)
        .flat_map(|k| {
            (0..SIXTHS).map(move |m| 10_f64.powf(m as f64 / SIXTHS as f64) * integer_power(k))
        })
        .filter(|c| (1e-8..=1e8).contains(c))
        .collect()
}

/// The seed of the published trajectory of (c, run), run = 1, 2, ...
pub fn published_seed(c: f64, run: u64) -> u64 {
    let mixed = c.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ run.wrapping_mul(0xD2B7_4407_B1CE_6E93)
        ^ 0x94D0_49BB_1331_11EB;
    mixed % 0x7fff_ffff + 1
}

/// The last step <= `end` that the published program logs.
///
/// Steps 1..=100 are logged, after that each t > 10^0.01 times the last logged step.
pub fn last_logged(end: u64) -> u64 {
    let factor = 10_f64.powf(0.01);
    let mut logged = end.min(100);
    loop {
        let next = ((logged as f64 * factor).floor() as u64).saturating_add(1);
        if logged < 100 || next > end || next <= logged {
            return logged;
        }
        logged = next;
    }
}

/// Steps 1 = t_1 < t_2 < ... <= `end` on a grid of `per_decade` points per decade, `end` included.
pub fn log_spaced(end: u64, per_decade: u32) -> Vec<u64> {
    let mut steps = Vec::new();
    for k in 0.. {
        let t = 10_f64
            .powf(f64::from(k) / f64::from(per_decade.max(1)))
            .round() as u64;
        if t >= end {
            break;
        }
        if steps.last() != Some(&t) {
            steps.push(t);
        }
    }
    steps.push(end);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_the_published_bits() {
        let c = published_c();
        assert_eq!(c.len(), 97);
        assert_eq!(c[0], 1e-8);
        assert_eq!(c[96], 1e8);
        assert_eq!(c[29].to_bits(), 0x3f46_5317_93eb_9f46);
        assert_eq!(c[29], 0.0006812920690579614);
        assert_eq!(c[30], 0.001);
        assert_eq!(c[36], 0.010000000000000002);
        assert_eq!(c[37].to_bits(), 0x3f8e_0f7e_d41f_5334);
        assert_eq!(c[37], 0.014677992676220698);
        assert!(c.is_sorted());
        for (k, exponent) in (-8..=8).enumerate().filter(|&(k, _)| k != 6) {
            assert_eq!(c[6 * k], format!("1e{exponent}").parse::<f64>().unwrap());
        }
    }

    #[test]
    fn the_seeds_are_the_published_ones() {
        assert_eq!(published_seed(0.001, 1), 1379515811);
        assert_eq!(published_seed(0.001, 48), 1483792380);
    }

    #[test]
    fn the_last_logged_step() {
        assert_eq!(last_logged(10_000_000), 9_793_263);
        assert_eq!(last_logged(100), 100);
        assert_eq!(last_logged(101), 100);
        assert_eq!(last_logged(103), 103);
        assert_eq!(last_logged(7), 7);
        assert!(last_logged(u64::MAX) > 1 << 62);
    }

    #[test]
    fn log_spaced_grids_end_at_the_end() {
        assert_eq!(log_spaced(1, 10), [1]);
        assert_eq!(log_spaced(10, 3), [1, 2, 5, 10]);
        let steps = log_spaced(10_000_000, 10);
        assert!(steps.is_sorted_by(|a, b| a < b));
        assert_eq!(steps.last(), Some(&10_000_000));
    }
}
