//! Holds the published experiment: the specs of Figures 1 and 2 and their printed points.

/// The spec of Figure 1, decaying step sizes.
pub(crate) const FIGURE_1: &str = include_str!("../experiments/figure1.toml");
/// The spec of Figure 2, constant step sizes.
pub(crate) const FIGURE_2: &str = include_str!("../experiments/figure2.toml");

/// All points of both figures, read from the figure files: about seven digits, ratio and gap clamped to [`CLAMP`].
const POINTS: &str = include_str!("../experiments/printed_points.csv");

/// Where the figures clamp ratio and gap.
pub(crate) const CLAMP: (f64, f64) = (1e-6, 1e12);

/// One printed point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedPoint {
    /// Number of the figure.
    pub figure: usize,
    /// Feature scaling.
    pub scale: f64,
    /// Index of c in the paper's grid.
    pub c_index: usize,
    /// The boundedness ratio.
    pub ratio: f64,
    /// The divergence rate.
    pub divergence_rate: f64,
    /// The suboptimality gap.
    pub gap: f64,
}

/// All printed points: three values for each figure, scaling and c.
#[must_use]
pub fn printed_points() -> Vec<PrintedPoint> {
    let point = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [figure, scale, c_index, ratio, divergence_rate, gap] = fields[..] else {
            return None;
        };
        Some(PrintedPoint {
            figure: figure.parse().ok()?,
            scale: scale.parse().ok()?,
            c_index: c_index.parse().ok()?,
            ratio: ratio.parse().ok()?,
            divergence_rate: divergence_rate.parse().ok()?,
            gap: gap.parse().ok()?,
        })
    };
    POINTS.lines().skip(1).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_all_values_of_both_figures() {
        let points = printed_points();
        assert_eq!(3 * points.len(), 1746);
        let mut places = points.iter();
        for figure in [1, 2] {
            for scale in [0.0625, 1.0, 16.0] {
                for c_index in 0..97 {
                    let point = places.next().unwrap();
                    let place = (point.figure, point.scale, point.c_index);
                    assert_eq!(place, (figure, scale, c_index));
                    assert!((0.0..=1.0).contains(&point.divergence_rate));
                    for x in [point.ratio, point.gap] {
                        assert!((CLAMP.0..=CLAMP.1).contains(&x));
                    }
                }
            }
        }
    }
}
