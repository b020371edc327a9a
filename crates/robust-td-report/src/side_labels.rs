//! Places labels next to the ends of curves without overlap.

use crate::panel;
use crate::scene::{Group, Path, Point, Rect, Shape, Stroke};
use crate::style;
use crate::text::{Anchor, Text};

/// Height of a label.
pub(crate) const LINE: f64 = 10.5;
/// Width of the lines from the curves to their labels.
const LEADER: f64 = 22.0;
/// The longest label.
const WIDEST: f64 = 170.0;

/// A label and the end of its curve.
pub(crate) struct Label {
    text: Text,
    end: Point,
    stroke: Stroke,
}

impl Label {
    pub(crate) fn new(text: &str, end: Point, stroke: Stroke) -> Self {
        Self {
            text: Text::fitted(text, style::LABEL, WIDEST),
            end,
            stroke,
        }
    }
}

/// The width that labels need to the right of the frame.
pub(crate) fn width(labels: &[Label]) -> f64 {
    let widths = labels.iter().map(|label| label.text.width(style::LABEL));
    LEADER + 3.0 + widths.fold(0.0, f64::max)
}

/// The labels in the order of the ends of their curves, each as close to its curve as the others allow.
pub(crate) fn draw(mut labels: Vec<Label>, frame: Rect) -> Group {
    labels.sort_by(|a, b| a.end[1].total_cmp(&b.end[1]));
    let wanted: Vec<f64> = labels.iter().map(|label| label.end[1]).collect();
    let half = 0.5 * LINE;
    let places = spread(&wanted, LINE, frame.top + half, frame.bottom - half);
    let mut group = Group::new("labels");
    let right = frame.right + LEADER;
    for (label, y) in labels.iter().zip(places) {
        let line = [label.end, [frame.right + 3.0, label.end[1]], [right, y]];
        let leader = Stroke {
            width: 0.8,
            ..label.stroke
        };
        group.push(Shape::stroked("leader", Path::polyline(&line), leader));
        let baseline = [right + 3.0, y + 0.32 * style::LABEL];
        group.push(panel::label(&label.text, baseline, Anchor::Start, false));
    }
    group
}

/// The positions nearest to the increasing `wanted` (least squares) that are `distance` apart and within the range,
/// provided that all fit.
fn spread(wanted: &[f64], distance: f64, low: f64, high: f64) -> Vec<f64> {
    // After subtracting the distances, positions only have to increase: neighbours that do not are pooled at their mean.
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(wanted.len());
    for (i, y) in wanted.iter().enumerate() {
        let mut pool = (y - distance * i as f64, 1);
        while let Some(&(mean, count)) = pools.last().filter(|last| last.0 >= pool.0) {
            let sum = mean * count as f64 + pool.0 * pool.1 as f64;
            pool = (sum / (count + pool.1) as f64, count + pool.1);
            pools.pop();
        }
        pools.push(pool);
    }
    let last = high - distance * wanted.len().saturating_sub(1) as f64;
    pools
        .into_iter()
        .flat_map(|(mean, count)| std::iter::repeat_n(mean.min(last).max(low), count))
        .enumerate()
        .map(|(i, y)| y + distance * i as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn labels_with_room_stay_where_they_are() {
        assert_eq!(spread(&[10.0, 30.0], 10.0, 0.0, 100.0), [10.0, 30.0]);
        assert!(spread(&[], 10.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn crowded_labels_part_around_their_mean_and_stay_inside() {
        assert_eq!(
            spread(&[50.0, 50.0, 50.0], 10.0, 0.0, 100.0),
            [40.0, 50.0, 60.0]
        );
        assert_eq!(spread(&[1.0, 2.0], 10.0, 5.0, 100.0), [5.0, 15.0]);
        assert_eq!(spread(&[99.0, 99.0], 10.0, 5.0, 100.0), [90.0, 100.0]);
        let places = spread(&[0.0, 3.0, 4.0, 40.0, 41.0, 99.0], 9.0, 5.0, 95.0);
        assert!(
            places
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= 9.0 - 1e-9)
        );
        assert!(places[0] >= 5.0 && places[5] <= 95.0);
    }
}
