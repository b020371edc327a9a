//! Defines the errors in the input of a figure or a report.

/// Why a figure or a report could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A figure without a single value to draw.
    #[error("the figure \"{figure}\" has no values to draw")]
    NothingToDraw {
        /// Title of the figure.
        figure: String,
    },
    /// An x coordinate that the axis cannot show (not finite, or not positive on a log axis).
    #[error("\"{series}\": the x value {value} cannot be drawn on this axis")]
    BadAbscissa {
        /// Row or curve with the value.
        series: String,
        /// The offending value.
        value: f64,
    },
    /// Clamp limits that are not 0 < low < high < infinity.
    #[error("the clamp limits must satisfy 0 < low < high < infinity, not [{low}, {high}]")]
    BadClamp {
        /// Lower limit.
        low: f64,
        /// Upper limit.
        high: f64,
    },
    /// A resolution at which the picture has no pixels, or too many.
    #[error("cannot draw a PNG of {width} x {height} points at {dpi} dots per inch")]
    BadResolution {
        /// Requested resolution.
        dpi: f64,
        /// Width of the drawing in points.
        width: f64,
        /// Height of the drawing in points.
        height: f64,
    },
    /// The PNG encoder failed.
    #[error("cannot encode the PNG: {message}")]
    Png {
        /// The message of the encoder.
        message: String,
    },
    /// The page template failed.
    #[error("cannot write the report: {0}")]
    Template(#[from] minijinja::Error),
}
