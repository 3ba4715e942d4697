//! Plots, as SVG and as PNG. The letters of the PNG are those of a font that is compiled in, so
//! that both look the same on every machine.
use std::sync::Once;

use plotters::coord::Shift;
use plotters::drawing::IntoDrawingArea;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, SVGBackend};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle, WHITE, register_font};

use super::Results;

mod bars;
mod curves;

pub use bars::{Horizontal, Vertical};
pub use curves::Curves;

/// Points.
const SIZE: (u32, u32) = (900, 540);
/// Pixels of the PNG to a point.
const PIXELS: u32 = 2;
/// Coordinates of the SVG to a point: they are whole numbers.
const STEPS: u32 = 8;
const FONT: &str = "sans-serif";

const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
/// What is the paper's.
const PAPER: RGBColor = RGBColor(0x88, 0x88, 0x88);
/// What is predicted, and the lighter one for what is less so.
const OURS: RGBColor = RGBColor(0x1b, 0x5e, 0xa8);
const LIGHT: RGBColor = RGBColor(0x9c, 0xc4, 0xea);
const ACCENT: RGBColor = RGBColor(0xc2, 0x4e, 0x1a);

pub enum Plot {
    Curves(Curves),
    Horizontal(Horizontal),
    Vertical(Vertical),
}

/// Names of files, and what to draw.
pub fn all(results: &Results) -> Vec<(&'static str, Plot)> {
    let mut plots = vec![(
        "migration",
        Plot::Horizontal(Horizontal::migration(&results.null)),
    )];
    if !results.lines.is_empty() {
        for (name, part) in [("fig5a", 0), ("fig5b", 1)] {
            plots.push((name, Plot::Curves(Curves::figure_5(&results.lines, part))));
        }
    }
    if !results.graphs.is_empty() {
        plots.push(("table4", Plot::Vertical(Vertical::table_4(&results.graphs))));
    }
    plots
}

impl Plot {
    pub fn svg(&self) -> String {
        let (width, height) = (SIZE.0 * STEPS, SIZE.1 * STEPS);
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        let scale = f64::from(STEPS);
        // To a string, nothing can go wrong but what is wrong in here.
        self.draw(&Canvas { area, scale })
            .expect("a plot can be drawn");
        let size = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
        let mut text = text.replacen(&size((width, height)), &size(SIZE), 1);
        text.push('\n');
        text
    }

    pub fn png(&self) -> Vec<u8> {
        let (width, height) = (SIZE.0 * PIXELS, SIZE.1 * PIXELS);
        let mut pixels = vec![0; (width * height * 3) as usize];
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        self.draw(&Canvas {
            area,
            scale: f64::from(PIXELS),
        })
        .expect("a plot can be drawn");
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let written = encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&pixels));
        written.expect("memory takes whatever is written");
        file
    }

    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        font();
        canvas.area.fill(&WHITE)?;
        match self {
            Self::Curves(curves) => curves.draw(canvas)?,
            Self::Horizontal(bars) => bars.draw(canvas)?,
            Self::Vertical(bars) => bars.draw(canvas)?,
        }
        canvas.area.present()
    }
}

type Drawn<B> =
    Result<(), plotters::drawing::DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Where to draw, in points.
struct Canvas<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    scale: f64,
}

/// Which part of a text stands at its point.
#[derive(Clone, Copy)]
enum Align {
    Left,
    Middle,
    Right,
}

impl<B: DrawingBackend> Canvas<B> {
    fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        (
            (x * self.scale).round() as i32,
            (y * self.scale).round() as i32,
        )
    }

    fn style(&self, size: f64, color: RGBColor) -> TextStyle<'static> {
        (FONT, size * self.scale).into_font().color(&color)
    }

    /// `at`: half the height of the text.
    fn text(&self, text: &str, at: (f64, f64), align: Align, style: (f64, RGBColor)) -> Drawn<B> {
        use plotters::style::text_anchor::{HPos, Pos, VPos};
        let horizontal = match align {
            Align::Left => HPos::Left,
            Align::Middle => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style = self
            .style(style.0, style.1)
            .pos(Pos::new(horizontal, VPos::Center));
        self.area.draw_text(text, &style, self.pixel(at))
    }

    fn fill(&self, from: (f64, f64), to: (f64, f64), color: RGBColor) -> Drawn<B> {
        use plotters::element::Rectangle;
        let corners = [self.pixel(from), self.pixel(to)];
        self.area.draw(&Rectangle::new(corners, color.filled()))
    }

    fn line(&self, points: &[(f64, f64)], color: RGBColor, width: f64) -> Drawn<B> {
        use plotters::element::PathElement;
        let points: Vec<_> = points.iter().map(|&point| self.pixel(point)).collect();
        let width = (width * self.scale).round() as u32;
        self.area
            .draw(&PathElement::new(points, color.stroke_width(width)))
    }

    fn title(&self, title: &str, below: &str) -> Drawn<B> {
        self.text(title, (30.0, 28.0), Align::Left, (20.0, INK))?;
        self.text(below, (30.0, 52.0), Align::Left, (13.0, PAPER))
    }
}

fn font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let known = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
        assert!(known.is_ok(), "the font that is compiled in is one");
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::sample_output;

    #[test]
    fn every_plot_is_both_kinds_of_file() {
        for (name, plot) in all(&sample_output::results()) {
            let svg = plot.svg();
            let head = "<svg width=\"900\" height=\"540\" viewBox=\"0 0 7200 4320\"";
            assert!(svg.starts_with(head) && svg.contains("</svg>"), "{name}");
            let png = plot.png();
            assert_eq!(&png[1..4], b"PNG", "{name}");
            // For a person to look at.
            if let Some(dir) = std::env::var_os("FLICK_TEST_PLOTS") {
                std::fs::write(std::path::Path::new(&dir).join(format!("{name}.png")), png)
                    .unwrap();
            }
        }
    }
}
