//! Adds and multiplies long vectors in a fixed order.

/// The number of partial sums.
const LANES: usize = 8;

/// a . b, in eight partial sums.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_whole, a_rest) = a.as_chunks::<LANES>();
    let (b_whole, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_whole.iter().zip(b_whole) {
        for i in 0..LANES {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// |a|.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// y += c x.
pub(super) fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

/// y += sum_i c_i x_i.
pub(super) fn combine<'a>(terms: impl Iterator<Item = (f64, &'a Vec<f64>)>, y: &mut [f64]) {
    for (c, x) in terms {
        if c != 0.0 {
            axpy(c, x, y);
        }
    }
}

/// The maximum number of shadow vectors.
pub(super) const SHADOWS: usize = 8;

/// p_i . v for the shadow vectors p_0 ... p_7, whose entries are pseudo-random bytes: a function of the place, so that they
/// take no memory.
pub(super) fn shadow(v: &[f64]) -> [f64; SHADOWS] {
    let mut sums = [0.0; SHADOWS];
    for (place, &v) in v.iter().enumerate() {
        let bytes = mix(place as u64).to_le_bytes();
        for i in 0..SHADOWS {
            sums[i] += (f64::from(bytes[i]) - 127.5) * v;
        }
    }
    sums
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
fn mix(place: u64) -> u64 {
    let z = (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
