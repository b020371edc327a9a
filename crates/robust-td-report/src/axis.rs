//! Chooses the range and the ticks of an axis.

use crate::number;
use crate::text::Text;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal ratios take equal lengths.
    Log,
    /// Equal differences take equal lengths.
    Linear,
}

impl Scale {
    /// Whether the scale can show `value`.
    pub(crate) fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Scale::Linear || value > 0.0)
    }

    fn forward(self, value: f64) -> f64 {
        match self {
            Scale::Log => value.log10(),
            Scale::Linear => value,
        }
    }
}

/// A tick; only major ticks have a label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<Text>,
}

/// A range with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    scale: Scale,
    /// Ends of the range after the scale was applied.
    low: f64,
    high: f64,
    pub(crate) ticks: Vec<Tick>,
}

/// Share of the range that stays empty beyond the first and the last value.
const MARGIN: f64 = 0.035;
/// Slack for ticks at the very end of the range.
const SLACK: f64 = 1e-9;

impl Axis {
    /// An axis that shows `min..=max`, both finite (and positive for [`Scale::Log`]), with at most `room` labels.
    pub(crate) fn new(scale: Scale, min: f64, max: f64, room: usize) -> Self {
        let (mut low, mut high) = (scale.forward(min), scale.forward(max));
        // A single value still needs a range: half a decade, or half a unit, to either side.
        if high - low <= 1e-9 * (1.0 + low.abs()) {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let margin = MARGIN * (high - low);
        let (low, high) = (low - margin, high + margin);
        let room = room.max(2);
        let ticks = match scale {
            Scale::Log => log_ticks(low, high, room),
            Scale::Linear => linear_ticks(low, high, room),
        };
        Self {
            scale,
            low,
            high,
            ticks,
        }
    }

    /// A linear axis below a panel of `width`, with as many labels of `size` as fit without touching.
    pub(crate) fn below(min: f64, max: f64, width: f64, size: f64) -> Self {
        let axis = |room: usize| Self::new(Scale::Linear, min, max, room);
        let fits = |axis: &Self| {
            let labels = axis
                .ticks
                .iter()
                .filter(|tick| tick.label.is_some())
                .count();
            (axis.label_width(size) + size) * labels as f64 <= width
        };
        let mut rooms = (2..=6).rev().map(axis);
        rooms.find(fits).unwrap_or_else(|| axis(2))
    }

    /// Removes labels of `size` that reach beyond `limit`, for a panel from `left` of the given width.
    pub(crate) fn within(mut self, left: f64, width: f64, size: f64, limit: f64) -> Self {
        let ends: Vec<f64> = (self.ticks.iter())
            .map(|tick| left + self.fraction(tick.value) * width)
            .collect();
        for (tick, x) in self.ticks.iter_mut().zip(ends) {
            let half = tick
                .label
                .as_ref()
                .map_or(0.0, |label| 0.5 * label.width(size));
            if x + half > limit {
                tick.label = None;
            }
        }
        self
    }

    /// The axis of counts: from 0 to a positive `max`.
    pub(crate) fn counts(max: f64, room: usize) -> Self {
        let (low, high) = (0.0, max * (1.0 + MARGIN));
        Self {
            scale: Scale::Linear,
            low,
            high,
            ticks: linear_ticks(low, high, room.max(2)),
        }
    }

    /// Width of the widest label in `size`.
    pub(crate) fn label_width(&self, size: f64) -> f64 {
        let labels = self.ticks.iter().filter_map(|tick| tick.label.as_ref());
        labels.map(|label| label.width(size)).fold(0.0, f64::max)
    }

    /// The axis of a rate: 0 to 1.
    pub(crate) fn rate() -> Self {
        let tick = |quarter: u8| {
            let value = 0.25 * f64::from(quarter);
            Tick {
                value,
                label: quarter.is_multiple_of(2).then(|| number::text(value, 2)),
            }
        };
        let (low, high) = (-MARGIN, 1.0 + MARGIN);
        Self {
            scale: Scale::Linear,
            low,
            high,
            ticks: (0..=4).map(tick).collect(),
        }
    }

    /// Where `value` lies: 0 at the lower end, 1 at the upper end.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        (self.scale.forward(value) - self.low) / (self.high - self.low)
    }

    /// The smallest and the largest value that a linear axis shows.
    pub(crate) fn shown(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Whether `value` lies in the range.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.scale.shows(value) && (0.0..=1.0).contains(&self.fraction(value))
    }
}

/// Ticks at powers of ten; within a decade or so at 1, 2, 5 times powers of ten; below that evenly spaced.
fn log_ticks(low: f64, high: f64, room: usize) -> Vec<Tick> {
    let (first, last) = ((low - SLACK).ceil() as i32, (high + SLACK).floor() as i32);
    if last - first < 1 {
        let mantissas = steps_within(low, high, &[1.0, 2.0, 5.0]);
        if mantissas.len() < 2 {
            return linear_ticks(10f64.powf(low), 10f64.powf(high), room);
        }
        let label = |value| Tick {
            value,
            label: Some(number::text(value, 3)),
        };
        return mantissas.into_iter().map(label).collect();
    }
    let decades = (last - first + 1) as usize;
    let labels = |stride: i32| (first..=last).filter(|n| n % stride == 0).count();
    // As many labels as fit; of two strides with the same number, the longer, which reaches closer to the ends.
    let stride = [1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 200, 500]
        .into_iter()
        .filter(|&stride| labels(stride) <= room)
        .max_by_key(|&stride| (labels(stride), stride))
        .unwrap_or(1);
    let mut ticks: Vec<Tick> = (first..=last)
        .map(|n| Tick {
            value: 10f64.powi(n),
            label: (n % stride == 0).then(|| number::power_of_ten(n)),
        })
        .collect();
    if stride == 1 && decades <= 6 {
        let between = steps_within(low, high, &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        ticks.extend(between.into_iter().map(|value| Tick { value, label: None }));
    }
    ticks
}

/// All `m * 10^n` in the range `10^low..=10^high`, for m in `mantissas`, in increasing order.
fn steps_within(low: f64, high: f64, mantissas: &[f64]) -> Vec<f64> {
    let exponents = low.floor() as i32..=high.floor() as i32;
    exponents
        .flat_map(|n| mantissas.iter().map(move |m| m * 10f64.powi(n)))
        .filter(|value| (low - SLACK..=high + SLACK).contains(&value.log10()))
        .collect()
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, room: usize) -> Vec<Tick> {
    let rough = (high - low) / room as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let slack = SLACK * (high - low);
    let (first, last) = (
        ((low - slack) / step).ceil() as i64,
        ((high + slack) / step).floor() as i64,
    );
    // As many digits as distinguish neighbours, so that 0.30000000000000004 reads 0.3.
    let digits = (low.abs().max(high.abs()) / step).log10().floor() as usize + 2;
    (first..=last)
        .map(|i| i as f64 * step)
        .map(|value| Tick {
            value,
            label: Some(number::text(value, digits)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks
            .iter()
            .filter_map(|tick| tick.label.as_ref())
            .map(Text::words)
            .collect()
    }

    #[test]
    fn the_papers_range_has_a_label_every_fourth_decade() {
        let axis = Axis::new(Scale::Log, 1e-8, 1e8, 6);
        assert_eq!(labels(&axis), ["10^−8", "10^−4", "10^0", "10^4", "10^8"]);
        assert_eq!(axis.ticks.len(), 17);
        assert!((axis.fraction(1.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_short_range_is_labelled_with_plain_numbers() {
        assert_eq!(labels(&Axis::new(Scale::Log, 1.0, 6.0, 6)), ["1", "2", "5"]);
        assert_eq!(
            labels(&Axis::new(Scale::Log, 3.0, 3.3, 4)),
            ["3", "3.1", "3.2", "3.3"]
        );
    }

    #[test]
    fn a_single_value_lies_in_the_middle() {
        for (scale, value) in [
            (Scale::Log, 7.0),
            (Scale::Linear, 0.0),
            (Scale::Linear, -1e9),
        ] {
            let axis = Axis::new(scale, value, value, 5);
            assert!((axis.fraction(value) - 0.5).abs() < 1e-6);
            assert!(!labels(&axis).is_empty());
        }
    }

    #[test]
    fn ticks_lie_inside_and_labels_keep_to_their_room() {
        for exponent in 1..40 {
            for room in 2..9 {
                let axis = Axis::new(Scale::Log, 0.3, 0.3 * 2.3f64.powi(exponent), room);
                assert!(
                    axis.ticks
                        .iter()
                        .all(|tick| (-1e-6..=1.0 + 1e-6).contains(&axis.fraction(tick.value)))
                );
                assert!(
                    (1..=room.max(5) + 1).contains(&labels(&axis).len()),
                    "{exponent} {room}"
                );
            }
        }
    }

    #[test]
    fn wide_labels_below_a_panel_are_fewer_and_stay_inside() {
        let short = Axis::below(0.0, 5.0, 200.0, 7.5);
        let long = Axis::below(1e9, 1e9 + 1e3, 200.0, 7.5);
        assert!(labels(&long).len() < labels(&short).len() && !labels(&long).is_empty());
        let cut = long.clone().within(0.0, 200.0, 7.5, 0.5 * 200.0);
        assert!(labels(&cut).len() < labels(&long).len());
    }

    #[test]
    fn rates_go_from_zero_to_one() {
        assert_eq!(labels(&Axis::rate()), ["0", "0.5", "1"]);
        assert!(Axis::rate().contains(0.0) && Axis::rate().contains(1.0));
    }

    #[test]
    fn linear_labels_are_round() {
        assert_eq!(
            labels(&Axis::new(Scale::Linear, 0.0, 0.7, 5)),
            ["0", "0.2", "0.4", "0.6"]
        );
    }
}
