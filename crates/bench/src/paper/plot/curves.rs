//! Curves: Figure 5, speedup over the nodes of a call, those of other papers, and those of calibrations.
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

use super::{ACCENT, Align, Canvas, Drawn, FAINT, INK, OURS, PAPER};
use crate::paper::Line;
use crate::paper::cited;

pub struct Curves {
    title: String,
    below: String,
    x: Axis,
    y: Axis,
    curves: Vec<Curve>,
    /// What the paper's text says: a point and its words.
    stated: Vec<((f64, f64), &'static str)>,
    /// A height that the eye looks for: where its words stand, and they.
    level: Option<((f64, f64), &'static str)>,
}

struct Curve {
    label: String,
    points: Vec<(f64, f64)>,
    color: RGBColor,
    /// Points drawn and left out in turn; `None` is a whole line.
    dash: Option<(f64, f64)>,
}

struct Axis {
    name: &'static str,
    least: f64,
    most: f64,
    step: f64,
    digits: usize,
    /// The text of a mark, where it is not the number itself.
    text: Option<fn(f64) -> String>,
}

const GREEN: RGBColor = RGBColor(0x2f, 0x8a, 0x63);
const LEFT: f64 = 80.0;
const RIGHT: f64 = 860.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 480.0;
const NODES: f64 = 1024.0;

impl Curves {
    /// `part`: 0 without a pause between calls, 1 with one.
    pub fn figure_5(lines: &[Line], part: usize) -> Self {
        let curves = lines.iter().map(|line| {
            let points = line.chases[part].points.iter();
            let points = points.map(|point| (point.nodes as f64, point.times.speedup()));
            (line.label.clone(), points.collect())
        });
        let (letter, pause, stated) = if part == 0 {
            (
                'a',
                "no pause between calls".to_owned(),
                vec![
                    ((cited::BREAK_EVEN, 1.0), "paper: even at 32"),
                    ((NODES, cited::PLATEAU), "paper: 2.6"),
                ],
            )
        } else {
            (
                'b',
                format!("{:.0} µs between calls", cited::PAUSE),
                vec![((NODES, cited::PLATEAU_WITH_PAUSE), "paper: about 2")],
            )
        };
        Self {
            title: format!("Figure 5{letter}: pointer chasing, {pause}"),
            below:
                "host time / time with migration; nodes 8-byte aligned, at random over 4 GB of the \
                    NxP's memory"
                    .into(),
            x: Axis {
                name: "memory accesses per migration",
                least: 0.0,
                most: NODES,
                step: 128.0,
                digits: 0,
                text: None,
            },
            y: Axis {
                name: "",
                least: 0.0,
                most: 3.0,
                step: 0.5,
                digits: 1,
                text: None,
            },
            curves: drawn(curves),
            stated,
            // Where no curve of either part comes near.
            level: Some(((560.0, 1.0), "as fast as the host alone")),
        }
    }

    /// Values over numbers of threads or the like: a title, what is below it, the name of the numbers,
    /// and curves with their labels.
    pub fn over_counts(
        title: &str,
        below: &str,
        name: &'static str,
        curves: Vec<(String, Vec<(f64, f64)>)>,
    ) -> Self {
        let most = |of: fn(&(f64, f64)) -> f64| {
            let values = curves.iter().flat_map(|(_, points)| points).map(of);
            values.fold(0.0, f64::max)
        };
        let x = Axis {
            name,
            least: 0.0,
            most: most(|point| point.0).max(1.0),
            step: 1.0,
            digits: 0,
            text: None,
        };
        // Room above the curves for the legend.
        Self::from_zero((title, below), x, 1.25 * most(|point| point.1), curves)
    }

    /// Values over shares of all, per cent, as far as `most`: a title, what is below it, the name of the shares, and
    /// curves with their labels.
    pub fn over_shares(
        title: &str,
        below: &str,
        name: &'static str,
        most: f64,
        curves: Vec<(String, Vec<(f64, f64)>)>,
    ) -> Self {
        let x = Axis {
            name,
            least: 0.0,
            most: 100.0,
            step: 10.0,
            digits: 0,
            text: None,
        };
        Self::from_zero((title, below), x, most, curves)
    }

    /// Values from 0 to `most`.
    fn from_zero(
        (title, below): (&str, &str),
        x: Axis,
        most: f64,
        curves: Vec<(String, Vec<(f64, f64)>)>,
    ) -> Self {
        let (step, digits) = round_step(most);
        Self {
            title: title.into(),
            below: below.into(),
            x,
            y: Axis {
                name: "",
                least: 0.0,
                most: (most / step).ceil().max(1.0) * step,
                step,
                digits,
                text: None,
            },
            curves: drawn(curves.into_iter()),
            stated: Vec::new(),
            level: None,
        }
    }

    /// Times over sizes or numbers, both on axes of powers of two and of ten. Each curve has a point or more,
    /// above 0. `marks`: the text of a power of two.
    pub fn over_powers(
        title: &str,
        below: &str,
        name: &'static str,
        marks: fn(f64) -> String,
        curves: Vec<(String, Vec<(f64, f64)>)>,
    ) -> Self {
        let logarithms = |(label, points): (String, Vec<(f64, f64)>)| {
            let points = points
                .into_iter()
                .map(|(x, y)| (x.log2(), y.max(1e-9).log10()));
            (label, points.collect::<Vec<_>>())
        };
        let curves: Vec<_> = curves.into_iter().map(logarithms).collect();
        let ends = |of: fn(&(f64, f64)) -> f64| {
            let values = curves.iter().flat_map(|(_, points)| points).map(of);
            let ends = values.fold((f64::MAX, f64::MIN), |(least, most), value| {
                (least.min(value), most.max(value))
            });
            (ends.0.floor(), ends.1.ceil().max(ends.0.floor() + 1.0))
        };
        let (x, y) = (ends(|point| point.0), ends(|point| point.1));
        Self {
            title: title.into(),
            below: below.into(),
            x: Axis {
                name,
                least: x.0,
                most: x.1,
                // No more marks than have room for their texts.
                step: ((x.1 - x.0) / 10.0).ceil(),
                digits: 0,
                text: Some(marks),
            },
            y: Axis {
                name: "",
                least: y.0,
                most: y.1,
                step: 1.0,
                digits: 0,
                text: Some(|power| format!("{} ns", 10f64.powf(power))),
            },
            curves: drawn(curves.into_iter()),
            stated: Vec::new(),
            level: None,
        }
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            LEFT + (RIGHT - LEFT) * self.x.share(x),
            BOTTOM - (BOTTOM - TOP) * self.y.share(y),
        )
    }

    pub(super) fn draw<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        canvas.title(&self.title, &self.below)?;
        self.axes(canvas)?;
        for curve in &self.curves {
            let points: Vec<_> = curve.points.iter().map(|&at| self.place(at)).collect();
            match curve.dash {
                None => canvas.line(&points, curve.color, 2.0)?,
                Some(dash) => {
                    for piece in dashes(&points, dash) {
                        canvas.line(&piece, curve.color, 2.0)?;
                    }
                }
            }
        }
        self.legend(canvas)?;
        for &(point, words) in &self.stated {
            let (x, y) = self.place(point);
            canvas.fill((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), ACCENT)?;
            let right = x + 120.0 > RIGHT;
            let (x, align) = if right {
                (x - 8.0, Align::Right)
            } else {
                (x + 10.0, Align::Left)
            };
            canvas.text(words, (x, y + 15.0), align, (13.0, ACCENT))?;
        }
        Ok(())
    }

    fn legend<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        for (number, curve) in self.curves.iter().enumerate() {
            let y = TOP + 16.0 + 22.0 * number as f64;
            let (from, to) = ((LEFT + 20.0, y), (LEFT + 62.0, y));
            match curve.dash {
                None => canvas.line(&[from, to], curve.color, 2.0)?,
                Some(dash) => {
                    for piece in dashes(&[from, to], dash) {
                        canvas.line(&piece, curve.color, 2.0)?;
                    }
                }
            }
            canvas.text(&curve.label, (LEFT + 72.0, y), Align::Left, (14.0, INK))?;
        }
        Ok(())
    }

    fn axes<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        let level = self.level.map(|((_, level), _)| level);
        for value in self.y.marks() {
            let (_, y) = self.place((self.x.least, value));
            let color = if level == Some(value) { PAPER } else { FAINT };
            canvas.line(&[(LEFT, y), (RIGHT, y)], color, 1.0)?;
            let text = self.y.words(value);
            canvas.text(&text, (LEFT - 10.0, y), Align::Right, (13.0, INK))?;
        }
        for value in self.x.marks() {
            let (x, _) = self.place((value, self.y.least));
            canvas.line(&[(x, BOTTOM), (x, BOTTOM + 5.0)], INK, 1.0)?;
            let at = (x, BOTTOM + 18.0);
            let text = self.x.words(value);
            canvas.text(&text, at, Align::Middle, (13.0, INK))?;
        }
        canvas.line(&[(LEFT, BOTTOM), (RIGHT, BOTTOM)], INK, 1.0)?;
        let at = ((LEFT + RIGHT) / 2.0, BOTTOM + 42.0);
        canvas.text(self.x.name, at, Align::Middle, (14.0, INK))?;
        let Some((at, words)) = self.level else {
            return Ok(());
        };
        let (x, y) = self.place(at);
        canvas.text(words, (x, y - 10.0), Align::Middle, (12.0, PAPER))
    }
}

impl Axis {
    fn marks(&self) -> impl Iterator<Item = f64> {
        let count = ((self.most - self.least) / self.step).round() as u32;
        (0..=count).map(|number| self.least + f64::from(number) * self.step)
    }

    /// How far along the axis a value is.
    fn share(&self, value: f64) -> f64 {
        (value - self.least) / (self.most - self.least)
    }

    fn words(&self, value: f64) -> String {
        match self.text {
            Some(text) => text(value),
            None => format!("{value:.0$}", self.digits),
        }
    }
}

/// Each curve has its colour and its dashes.
fn drawn(curves: impl Iterator<Item = (String, Vec<(f64, f64)>)>) -> Vec<Curve> {
    curves
        .enumerate()
        .map(|(number, (label, points))| Curve {
            label,
            points,
            color: [INK, OURS, GREEN, ACCENT][number.min(3)],
            dash: [None, Some((9.0, 5.0)), Some((4.0, 4.0)), Some((14.0, 3.0))][number.min(3)],
        })
        .collect()
}

/// A step for marks up to a value: 1, 2 or 5 by a power of ten. And the digits behind its point.
fn round_step(most: f64) -> (f64, usize) {
    let power = (most.max(1e-9) / 5.0).log10().floor();
    let scale = 10f64.powf(power);
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * scale);
    let step = step.into_iter().find(|step| most / step <= 7.0);
    (step.unwrap_or(10.0 * scale), (-power).max(0.0) as usize)
}

/// The pieces of a line that are drawn, of `on` points each with `off` points between them.
fn dashes(points: &[(f64, f64)], (on, off): (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let mut piece = vec![points[0]];
    let (mut left, mut drawn) = (on, true);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length < left {
                left -= length;
                if drawn {
                    piece.push(to);
                }
                break;
            }
            let share = left / length;
            from = (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            );
            if drawn {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            drawn = !drawn;
            left = if drawn { on } else { off };
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_round_values() {
        assert_eq!(round_step(3200.0), (500.0, 0));
        assert_eq!(round_step(0.004), (0.001, 4));
        assert_eq!(round_step(14.0), (2.0, 0));
    }

    #[test]
    fn dashes_go_on_over_corners() {
        let line = [(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)];
        let pieces = dashes(&line, (4.0, 1.0));
        assert_eq!(
            pieces,
            [
                vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)],
                vec![(3.0, 2.0), (3.0, 4.0)]
            ]
        );
    }
}
