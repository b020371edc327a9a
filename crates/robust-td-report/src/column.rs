//! Knows the three diagnostics that are the columns of a sweep figure.

use crate::panel;
use crate::scene::{Group, Rect};
use crate::style;
use crate::sweep_figure::{SweepPoint, SweepRow};
use crate::text::{Anchor, Placement, Text};

/// A diagnostic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Ratio,
    Divergence,
    Gap,
}

impl Column {
    /// The diagnostic of this column.
    pub(crate) fn value(self, point: &SweepPoint) -> Option<f64> {
        match self {
            Column::Ratio => point.ratio,
            Column::Divergence => point.divergence_rate,
            Column::Gap => point.gap,
        }
    }

    /// The level to compare with: |theta*|^2 itself, or the gap of the initial iterate.
    pub(crate) fn level(self, row: &SweepRow) -> Option<f64> {
        match self {
            Column::Ratio => Some(1.0),
            Column::Divergence => None,
            Column::Gap => row.gap_at_zero,
        }
    }

    fn heading(self) -> [Text; 2] {
        let norm = |text: Text, script: fn(Text) -> Text| {
            script(text.upright("‖").italic("θ"))
                .upright("\u{2009}‖")
                .superscript("2")
        };
        match self {
            Column::Ratio => {
                let top = Text::plain("max")
                    .italic_subscript("t")
                    .upright(" E\u{2009}");
                let formula = norm(top, |text| text.italic_subscript("t")).upright(" / ");
                [
                    Text::plain("Boundedness ratio"),
                    norm(formula, |text| text.upright("\u{200a}*")),
                ]
            }
            Column::Divergence => {
                let formula = norm(Text::plain("share of runs with "), |text| {
                    text.italic_subscript("t")
                });
                [
                    Text::plain("Divergence rate"),
                    formula.upright(" > 10").superscript("12"),
                ]
            }
            Column::Gap => {
                let formula = Text::plain("E ")
                    .italic("f")
                    .upright("\u{2009} of the averaged iterate");
                [Text::plain("Suboptimality gap"), formula]
            }
        }
    }

    /// The title and formula above `frame`, the first of the column, and the name of the x axis with its baseline at `axis`.
    pub(crate) fn labels(self, frame: Rect, axis: f64) -> Group {
        let mut group = Group::new("column");
        let [title, formula] = self.heading();
        let center = frame.center()[0];
        group.push(title.shape(Placement {
            position: [center, frame.top - 17.0],
            anchor: Anchor::Middle,
            size: style::TITLE,
            color: style::BLACK,
            turned: false,
        }));
        let above = [center, frame.top - 6.0];
        group.push(panel::label(&formula, above, Anchor::Middle, false));
        let name = Text::plain("stepsize scale ").italic("c");
        group.push(panel::label(&name, [center, axis], Anchor::Middle, false));
        group
    }
}
