//! Fixes the colours, line widths and sizes of all figures.
//!
//! Colours are those of Okabe and Ito (2008), which remain distinct under colour blindness and in grey print.

use crate::scene::{Color, Stroke};

pub(crate) const BLACK: Color = [0x1a, 0x1a, 0x1a];
pub(crate) const GREY: Color = [0x70, 0x70, 0x70];
pub(crate) const PALE: Color = [0xe4, 0xe4, 0xe4];
pub(crate) const BLUE: Color = [0x00, 0x72, 0xb2];
pub(crate) const VERMILLION: Color = [0xd5, 0x5e, 0x00];
pub(crate) const GREEN: Color = [0x00, 0x9e, 0x73];
pub(crate) const PURPLE: Color = [0xb6, 0x4f, 0x8b];
pub(crate) const ORANGE: Color = [0xe6, 0x9f, 0x00];
pub(crate) const SKY: Color = [0x56, 0xb4, 0xe9];

/// Colours of the curves of a line figure, in order.
pub(crate) const CURVES: [Color; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK];
/// Dashes of the curves once the colours are used up.
pub(crate) const DASHES: [&[f64]; 4] = [&[], &[4.0, 1.8], &[1.2, 1.4], &[5.0, 1.5, 1.2, 1.5]];

/// Size of titles.
pub(crate) const TITLE: f64 = 9.5;
/// Size of labels and of the legend.
pub(crate) const LABEL: f64 = 8.5;
/// Size of the numbers at the ticks.
pub(crate) const TICK: f64 = 7.5;

/// Radius of the dot of a value.
pub(crate) const DOT: f64 = 0.95;
/// Radius of the ring.
pub(crate) const RING: f64 = 1.9;
/// Half the width of the triangle of a clamped value.
pub(crate) const TRIANGLE: f64 = 2.1;
/// Least distance between two such triangles of one run.
pub(crate) const TRIANGLE_DISTANCE: f64 = 5.0;

pub(crate) const FRAME_LINE: Stroke = Stroke {
    color: BLACK,
    width: 0.6,
    dash: &[],
};
pub(crate) const MINOR_TICK: Stroke = Stroke {
    color: BLACK,
    width: 0.4,
    dash: &[],
};
pub(crate) const GRID_LINE: Stroke = Stroke {
    color: PALE,
    width: 0.4,
    dash: &[],
};
pub(crate) const DOTTED_LINE: Stroke = Stroke {
    color: BLUE,
    width: 0.9,
    dash: &[],
};
pub(crate) const THIN_LINE: Stroke = Stroke {
    color: VERMILLION,
    width: 0.8,
    dash: &[],
};
pub(crate) const RING_LINE: Stroke = Stroke {
    color: BLACK,
    width: 0.6,
    dash: &[],
};
pub(crate) const FIRST_LINE: Stroke = Stroke {
    color: PURPLE,
    width: 0.9,
    dash: &[4.0, 2.0],
};
pub(crate) const SECOND_LINE: Stroke = Stroke {
    color: GREEN,
    width: 0.9,
    dash: &[5.0, 1.6, 1.2, 1.6],
};
pub(crate) const LEVEL_LINE: Stroke = Stroke {
    color: GREY,
    width: 0.8,
    dash: &[1.2, 1.5],
};
