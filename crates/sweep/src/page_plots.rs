//! Plots of the page, as SVG: bars, points and maps.
use std::sync::Once;

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, WHITE, register_font};

use crate::break_even_map::Map;
use crate::pareto_front::Pair;
use crate::sensitivity::Sensitivity;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const POINT: RGBColor = RGBColor(0x9c, 0xc4, 0xea);
const OURS: RGBColor = RGBColor(0x1b, 0x5e, 0xa8);
const ACCENT: RGBColor = RGBColor(0xc2, 0x4e, 0x1a);
const WIDTH: i32 = 720;
/// More points than that make a page slow, and hide one another.
const MOST_POINTS: usize = 5000;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// An SVG of this height that `draw` has drawn. A text cannot refuse what is written to it; where a
/// plot fails all the same, it is left out.
fn svg(height: i32, draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    });
    let mut text = String::new();
    let size = (WIDTH as u32, height.unsigned_abs());
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let drawn = area
        .fill(&WHITE)
        .map_err(Into::into)
        .and_then(|()| draw(&area))
        .and_then(|()| area.present().map_err(Into::into));
    drop(area);
    match drawn {
        Ok(()) => text,
        Err(_) => String::new(),
    }
}

#[derive(Clone, Copy)]
enum Align {
    Left,
    Middle,
    Right,
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), align: Align, color: RGBColor) -> Drawn {
    let horizontal = match align {
        Align::Left => HPos::Left,
        Align::Middle => HPos::Center,
        Align::Right => HPos::Right,
    };
    let style = (FONT, 13).into_font().color(&color);
    area.draw_text(text, &style.pos(Pos::new(horizontal, VPos::Center)), at)?;
    Ok(())
}

fn fill(area: &Area<'_>, from: (i32, i32), to: (i32, i32), color: RGBColor) -> Drawn {
    area.draw(&Rectangle::new([from, to], color.filled()))?;
    Ok(())
}

fn line(area: &Area<'_>, points: &[(i32, i32)], color: RGBColor, width: u32) -> Drawn {
    area.draw(&PathElement::new(
        points.to_vec(),
        color.stroke_width(width),
    ))?;
    Ok(())
}

/// No longer than has room.
fn short(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// A bar for each axis: how many times as much the metric's largest value is.
pub fn bars(all: &[Sensitivity]) -> String {
    const LEFT: i32 = 240;
    const ROW: i32 = 30;
    let most = all.iter().map(|one| one.mean).fold(1.0, f64::max).ln();
    svg(20 + ROW * all.len() as i32, |area| {
        for (row, one) in all.iter().enumerate() {
            let y = 10 + ROW * row as i32 + ROW / 2;
            write(
                area,
                &short(&one.axis, 34),
                (LEFT - 10, y),
                Align::Right,
                INK,
            )?;
            let share = if most > 0.0 {
                one.mean.ln() / most
            } else {
                0.0
            };
            let right = LEFT + 2 + (share * f64::from(WIDTH - LEFT - 110)) as i32;
            fill(area, (LEFT, y - 9), (right, y + 9), OURS)?;
            let text = format!("{} x", figure(one.mean));
            write(area, &text, (right + 8, y), Align::Left, INK)?;
        }
        Ok(())
    })
}

/// A way from values to places: logarithmic where the values are far apart.
struct Scale {
    ends: (f64, f64),
    logarithmic: bool,
    places: (i32, i32),
}

impl Scale {
    fn of(values: impl Iterator<Item = f64> + Clone, places: (i32, i32)) -> Self {
        let least = values.clone().fold(f64::MAX, f64::min);
        let most = values.fold(f64::MIN, f64::max);
        let logarithmic = least > 0.0 && most / least > 20.0;
        let ends = match logarithmic {
            true => (least.log10(), most.log10()),
            false => (least, most),
        };
        let margin = match ends.1 - ends.0 {
            0.0 => 1.0f64.min(ends.0.abs()).max(f64::MIN_POSITIVE),
            width => width * 0.05,
        };
        Self {
            ends: (ends.0 - margin, ends.1 + margin),
            logarithmic,
            places,
        }
    }

    fn place(&self, value: f64) -> i32 {
        let value = if self.logarithmic {
            value.log10()
        } else {
            value
        };
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        self.places.0 + (share * f64::from(self.places.1 - self.places.0)).round() as i32
    }

    fn marks(&self) -> Vec<f64> {
        let steps = 0..5;
        let at = steps.map(|step| {
            let share = (f64::from(step) + 0.5) / 5.0;
            self.ends.0 + share * (self.ends.1 - self.ends.0)
        });
        at.map(|value| match self.logarithmic {
            true => 10f64.powf(value),
            false => value,
        })
        .collect()
    }
}

/// All points, and those of the front with a line.
pub fn points(all: &[Pair], front: &[Pair], names: (&str, &str)) -> String {
    const LEFT: i32 = 110;
    const BOTTOM: i32 = 370;
    let step = all.len().div_ceil(MOST_POINTS).max(1);
    svg(430, |area| {
        let x = Scale::of(all.iter().map(|pair| pair.0), (LEFT, WIDTH - 20));
        let y = Scale::of(all.iter().map(|pair| pair.1), (BOTTOM, 30));
        for mark in x.marks() {
            let at = x.place(mark);
            line(area, &[(at, 30), (at, BOTTOM)], FAINT, 1)?;
            write(area, &figure(mark), (at, BOTTOM + 14), Align::Middle, INK)?;
        }
        for mark in y.marks() {
            let at = y.place(mark);
            line(area, &[(LEFT, at), (WIDTH - 20, at)], FAINT, 1)?;
            write(area, &figure(mark), (LEFT - 8, at), Align::Right, INK)?;
        }
        write(area, names.0, (WIDTH - 20, BOTTOM + 40), Align::Right, INK)?;
        write(area, names.1, (20, 14), Align::Left, INK)?;
        let place = |pair: &Pair| (x.place(pair.0), y.place(pair.1));
        for pair in all.iter().step_by(step) {
            area.draw(&Circle::new(place(pair), 3, POINT.filled()))?;
        }
        let way: Vec<_> = front.iter().map(place).collect();
        line(area, &way, ACCENT, 2)?;
        for at in way {
            area.draw(&Circle::new(at, 4, ACCENT.filled()))?;
        }
        Ok(())
    })
}

/// A cell for each point, blue where migrating is faster, and a line where both are even.
pub fn map(map: &Map) -> String {
    const LEFT: i32 = 130;
    const TOP: i32 = 34;
    const ROW: i32 = 30;
    let (columns, rows) = (map.x.values.len() as i32, map.y.values.len() as i32);
    let width = (WIDTH - LEFT - 20) / columns.max(1);
    let bottom = TOP + ROW * rows;
    svg(bottom + 60, |area| {
        write(area, &map.y.name, (20, 14), Align::Left, INK)?;
        let right = (LEFT + width * columns, bottom + 42);
        write(area, &map.x.name, right, Align::Right, INK)?;
        // The largest value is at the top, as in any plot.
        let corner = |row: usize, column: usize| {
            (
                LEFT + width * column as i32,
                bottom - ROW * (row as i32 + 1),
            )
        };
        for (row, line) in map.ratios.iter().enumerate() {
            let (_, y) = corner(row, 0);
            let label = short(&map.y.values[row], 16);
            write(area, &label, (LEFT - 8, y + ROW / 2), Align::Right, INK)?;
            for (column, ratio) in line.iter().enumerate() {
                let (x, y) = corner(row, column);
                let (cell, ink) = colors(*ratio);
                fill(area, (x, y), (x + width, y + ROW), cell)?;
                // Numbers that would run into one another are left out.
                if width >= 40 {
                    let text = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
                    let at = (x + width / 2, y + ROW / 2);
                    write(area, &text, at, Align::Middle, ink)?;
                }
            }
        }
        let most = (60 / width.max(1)).max(1) as usize;
        for (column, value) in map.x.values.iter().enumerate().step_by(most) {
            let at = (LEFT + width * column as i32 + width / 2, bottom + 14);
            write(area, &short(value, 12), at, Align::Middle, INK)?;
        }
        even(area, map, (width, ROW), &corner)
    })
}

/// The edges between cells of which one pays.
fn even(
    area: &Area<'_>,
    map: &Map,
    (width, height): (i32, i32),
    corner: &impl Fn(usize, usize) -> (i32, i32),
) -> Drawn {
    let pays = |row: usize, column: usize| {
        let ratio = map.ratios.get(row)?.get(column).copied()??;
        Some(ratio > 1.0)
    };
    for row in 0..map.ratios.len() {
        for column in 0..map.x.values.len() {
            let (x, y) = corner(row, column);
            let this = pays(row, column);
            let differs = |other: Option<bool>| this.is_some() && other.is_some() && this != other;
            if differs(pays(row, column + 1)) {
                line(area, &[(x + width, y), (x + width, y + height)], INK, 3)?;
            }
            if differs(pays(row + 1, column)) {
                line(area, &[(x, y), (x + width, y)], INK, 3)?;
            }
        }
    }
    Ok(())
}

/// The color of a cell and of the number in it.
fn colors(ratio: Option<f64>) -> (RGBColor, RGBColor) {
    let Some(ratio) = ratio.filter(|ratio| *ratio > 0.0) else {
        return (FAINT, INK);
    };
    let strength = (ratio.log2().abs() / 2.0).min(1.0);
    let full = if ratio > 1.0 { OURS } else { ACCENT };
    let mix = |part: u8| {
        let part = f64::from(part);
        (255.0 + (part - 255.0) * (0.15 + 0.85 * strength)).round() as u8
    };
    let ink = if strength > 0.6 { WHITE } else { INK };
    (RGBColor(mix(full.0), mix(full.1), mix(full.2)), ink)
}

/// Three digits of a number.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.2e}")
    } else {
        let digits = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::break_even_map;
    use crate::result_table::sample;
    use crate::sensitivity;

    #[test]
    fn every_plot_is_an_svg_with_its_words() {
        let table = sample();
        let bars = bars(&sensitivity::all(&table, "ratio"));
        let map = map(&break_even_map::all(&table, None)[0]);
        let pairs = [(1.0, 2.0), (3.0, 1.0), (3.0, 3.0)];
        let points = points(&pairs, &pairs[..2], ("time", "cost"));
        for (svg, words) in [(bars, "link"), (map, "10 us"), (points, "cost")] {
            assert!(svg.starts_with("<svg") && svg.contains("</svg>"), "{svg}");
            assert!(svg.contains(words), "{words}: {svg}");
        }
    }

    #[test]
    fn equal_values_have_a_scale() {
        for value in [0.0, 5.0, -2.0] {
            let scale = Scale::of([value, value].into_iter(), (10, 110));
            assert_eq!(scale.place(value), 60, "{value}");
        }
    }

    #[test]
    fn figures_have_three_digits() {
        let all = [0.0, 1.0 / 3.0, 12.345, 1234.5, 1.5e-6].map(figure);
        assert_eq!(all, ["0", "0.333", "12.3", "1234", "1.50e-6"]);
    }
}
