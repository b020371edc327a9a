//! Holds the published experiment: the specs of Figures 1 and 2 and their printed points.

/// The spec of Figure 1, decaying step sizes.
pub(crate) const FIGURE_1: &str = include_str!("../experiments/figure1.toml");
/// The spec of Figure 2, constant step sizes.
pub(crate) const FIGURE_2: &str = include_str!("../experiments/figure2.toml");

/// The points read from the figure files, to about seven digits.
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
    /// The boundedness ratio, infinite where the figure shows the clamp.
    pub ratio: Option<f64>,
    /// The divergence rate.
    pub divergence_rate: Option<f64>,
    /// The suboptimality gap, infinite where the figure shows the clamp.
    pub gap: Option<f64>,
}

/// All known points.
#[must_use]
pub fn printed_points() -> Vec<PrintedPoint> {
    let value = |text: &str| match text {
        "clamped" => Some(f64::INFINITY),
        text => text.parse().ok(),
    };
    let point = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [figure, scale, c_index, ratio, divergence_rate, gap] = fields[..] else {
            return None;
        };
        Some(PrintedPoint {
            figure: figure.parse().ok()?,
            scale: scale.parse().ok()?,
            c_index: c_index.parse().ok()?,
            ratio: value(ratio),
            divergence_rate: value(divergence_rate),
            gap: value(gap),
        })
    };
    POINTS.lines().skip(1).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_point() {
        let points = printed_points();
        assert_eq!(points.len(), POINTS.lines().count() - 1);
        let known = |p: &PrintedPoint| p.ratio.is_some() && p.divergence_rate.is_some();
        assert!(points.iter().all(known));
    }
}
