//! Paints a drawing as PNG bytes.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke as SkiaStroke,
    StrokeDash, Transform,
};

use crate::scene::{Drawing, Path, Segment, Shape};
use crate::{Error, Result};

/// Points per inch.
const POINTS: f64 = 72.0;
/// Largest side of a picture in pixels: more than any paper needs, and small enough for memory.
const MAX_PIXELS: f64 = 20_000.0;

impl Drawing {
    /// The figure as a PNG file at `dpi` dots per inch (300 is usual in print).
    ///
    /// # Errors
    /// [`Error::BadResolution`] when the picture would have no pixels or more than 20,000 in a direction.
    pub fn to_png(&self, dpi: f64) -> Result<Vec<u8>> {
        let scale = dpi / POINTS;
        let (width, height) = ((self.width * scale).ceil(), (self.height * scale).ceil());
        let fits = |pixels: f64| (1.0..=MAX_PIXELS).contains(&pixels);
        let bad_resolution = Error::BadResolution {
            dpi,
            width: self.width,
            height: self.height,
        };
        if !(fits(width) && fits(height)) {
            return Err(bad_resolution);
        }
        let Some(mut pixmap) = Pixmap::new(width as u32, height as u32) else {
            return Err(bad_resolution);
        };
        pixmap.fill(Color::WHITE);
        let transform = Transform::from_scale(scale as f32, scale as f32);
        for shape in self.groups.iter().flat_map(|group| &group.shapes) {
            paint(&mut pixmap, shape, transform);
        }
        pixmap.encode_png().map_err(|error| Error::Png {
            message: error.to_string(),
        })
    }
}

fn paint(pixmap: &mut Pixmap, shape: &Shape, transform: Transform) {
    // An empty outline (a series without points) has nothing to paint.
    let Some(path) = outline(&shape.path) else {
        return;
    };
    if let Some(fill) = shape.fill {
        let paint = solid(fill.color, fill.opacity);
        pixmap.fill_path(&path, &paint, FillRule::Winding, transform, None);
    }
    if let Some(stroke) = shape.stroke {
        let dash = stroke.dash.iter().map(|&length| length as f32).collect();
        let style = SkiaStroke {
            width: stroke.width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(dash, 0.0),
            ..SkiaStroke::default()
        };
        pixmap.stroke_path(&path, &solid(stroke.color, 1.0), &style, transform, None);
    }
}

fn solid([r, g, b]: crate::scene::Color, opacity: f64) -> Paint<'static> {
    let mut paint = Paint {
        anti_alias: true,
        ..Paint::default()
    };
    paint.set_color_rgba8(r, g, b, (opacity * 255.0).round() as u8);
    paint
}

fn outline(path: &Path) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for segment in &path.segments {
        match *segment {
            Segment::Move([x, y]) => builder.move_to(x as f32, y as f32),
            Segment::Line([x, y]) => builder.line_to(x as f32, y as f32),
            Segment::Cubic([[a, b], [c, d], [x, y]]) => {
                builder.cubic_to(a as f32, b as f32, c as f32, d as f32, x as f32, y as f32);
            }
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}
