//! Draws a square table of numbers between -1 and 1 as colours.

use crate::chart::WIDTH;
use crate::panel;
use crate::scene::{Drawing, Fill, Group, Path, Rect, Shape};
use crate::style;
use crate::text::{Anchor, Text};
use crate::{Error, Result};

/// A square table: blue for positive numbers, vermillion for negative ones, the paler the closer to 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What the figure shows, for screen readers.
    pub title: String,
    /// The names of rows and columns.
    pub names: Vec<String>,
    /// The numbers, row by row; those that are missing stay empty.
    pub values: Vec<Vec<Option<f64>>>,
}

/// The widest label.
const LABELS: f64 = 70.0;
/// The largest cell.
const CELL: f64 = 34.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 6.0;
/// The least size of a cell in which its number is written.
const ROOM: f64 = 16.0;

impl HeatMap {
    /// Draws the table, 3.7 inches wide.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] for an empty table.
    pub fn draw(&self) -> Result<Drawing> {
        let count = self.names.len();
        if count == 0 {
            return Err(Error::NothingToDraw {
                figure: self.title.clone(),
            });
        }
        let labels: Vec<Text> = (self.names.iter())
            .map(|name| Text::squeezed(name, style::TICK, LABELS))
            .collect();
        let widest = labels.iter().map(|label| label.width(style::TICK));
        let widest = widest.fold(0.0, f64::max);
        let left = 6.0 + widest + 4.0;
        let cell = ((RIGHT - left) / count as f64).min(CELL);
        let mut group = Group::new("panel");
        for (i, row) in self.values.iter().take(count).enumerate() {
            for (j, value) in row.iter().take(count).enumerate() {
                let area = Rect {
                    left: left + cell * j as f64,
                    top: TOP + cell * i as f64,
                    right: left + cell * (j + 1) as f64,
                    bottom: TOP + cell * (i + 1) as f64,
                };
                self.cell(&mut group, area, [i, j], *value);
            }
        }
        let size = cell * count as f64;
        let frame = Rect {
            left,
            top: TOP,
            right: left + size,
            bottom: TOP + size,
        };
        let path = Path::rectangle(frame);
        group.push(Shape::stroked("frame", path, style::FRAME_LINE));
        // Of crowded labels, some.
        let stride = ((style::TICK + 0.5) / cell).ceil().max(1.0) as usize;
        for (i, label) in labels.iter().enumerate().step_by(stride) {
            let middle = cell * (i as f64 + 0.5);
            let beside = [left - 3.0, TOP + middle + 0.32 * style::TICK];
            group.push(panel::small_label(label, beside, Anchor::End));
            let below = [left + middle + 0.32 * style::TICK, frame.bottom + 3.0];
            group.push(panel::turned_label(label, below));
        }
        Ok(Drawing {
            width: WIDTH,
            height: frame.bottom + 3.0 + widest + 6.0,
            title: self.title.clone(),
            groups: vec![group],
        })
    }

    fn cell(&self, group: &mut Group, area: Rect, [i, j]: [usize; 2], value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        let fill = Fill {
            color: match value < 0.0 {
                true => style::VERMILLION,
                false => style::BLUE,
            },
            opacity: value.abs().min(1.0),
        };
        let hint = format!("{} and {}: {value:.3}", self.names[i], self.names[j]);
        group.push(Shape::filled("cell", Path::rectangle(area), fill).hinted(&hint));
        if area.width() >= ROOM && i != j {
            let words = format!("{value:.2}").replace('-', "−");
            let [x, y] = area.center();
            let label = Text::plain(words);
            let place = [x, y + 0.32 * style::TICK];
            group.push(panel::small_label(&label, place, Anchor::Middle).hinted(&hint));
        }
    }
}
