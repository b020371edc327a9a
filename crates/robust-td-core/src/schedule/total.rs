//! Adds up step sizes: one by one with compensation, or the tail of the decaying schedule in constant time.

/// Adds with Neumaier's compensation: an error of one rounding, whatever the length.
pub(super) fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() {
            (sum - next) + term
        } else {
            (term - next) + sum
        };
        sum = next;
    }
    sum + lost
}

/// sum_{t=from}^{to-1} 1/(ln(t+3) sqrt(t+1)) for from >= 2^16, by the midpoint Euler-Maclaurin formula
///
/// ```text
/// sum_{t=a}^{b-1} h(t) = int_{a-1/2}^{b-1/2} h - (h'(b-1/2) - h'(a-1/2)) / 24 + ...
/// ```
///
/// whose next term is below 1e-17 of the sum there. With x = sqrt(t+1) the integral is that of
/// 2/ln(x^2+2), which Gauss-Legendre quadrature on panels [x, 2x] gives to rounding.
pub(super) fn decay_tail(from: f64, to: f64) -> f64 {
    /// Nodes and weights of the ten-point rule on [-1, 1], one of each mirrored pair.
    const RULE: [(f64, f64); 5] = [
        (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let integrand = |x: f64| 2.0 / (x * x + 2.0).ln();
    let slope = |t: f64| {
        let (log, root) = ((t + 3.0).ln(), (t + 1.0).sqrt());
        -(1.0 / ((t + 3.0) * log) + 0.5 / (t + 1.0)) / (log * root)
    };
    let (start, end) = (from - 0.5, to - 0.5);
    let mut left = (start + 1.0).sqrt();
    let last = (end + 1.0).sqrt();
    let mut integral = 0.0;
    while left < last {
        let right = (2.0 * left).min(last);
        let (middle, half) = (0.5 * (left + right), 0.5 * (right - left));
        for (node, weight) in RULE {
            let pair = integrand(middle - half * node) + integrand(middle + half * node);
            integral += half * weight * pair;
        }
        left = right;
    }
    integral - (slope(end) - slope(start)) / 24.0
}
