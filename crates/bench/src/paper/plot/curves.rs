//! Figure 5: speedup over the nodes of a call.
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

use super::{ACCENT, Align, Canvas, Drawn, FAINT, INK, OURS, PAPER};
use crate::paper::Line;
use crate::paper::cited;

pub struct Curves {
    title: String,
    below: String,
    curves: Vec<Curve>,
    /// What the paper's text says: a point and its words.
    stated: Vec<((f64, f64), &'static str)>,
}

struct Curve {
    label: String,
    points: Vec<(f64, f64)>,
    color: RGBColor,
    /// Points drawn and left out in turn; `None` is a whole line.
    dash: Option<(f64, f64)>,
}

const GREEN: RGBColor = RGBColor(0x2f, 0x8a, 0x63);
const LEFT: f64 = 80.0;
const RIGHT: f64 = 860.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 480.0;
const NODES: f64 = 1024.0;
const MOST: f64 = 3.0;

fn place((nodes, speedup): (f64, f64)) -> (f64, f64) {
    (
        LEFT + (RIGHT - LEFT) * nodes / NODES,
        BOTTOM - (BOTTOM - TOP) * speedup / MOST,
    )
}

impl Curves {
    /// `part`: 0 without a pause between calls, 1 with one.
    pub fn figure_5(lines: &[Line], part: usize) -> Self {
        let curves = lines.iter().enumerate().map(|(number, line)| Curve {
            label: line.label.clone(),
            points: line.chases[part]
                .points
                .iter()
                .map(|point| (point.nodes as f64, point.times.speedup()))
                .collect(),
            color: [INK, OURS, GREEN][number.min(2)],
            dash: [None, Some((9.0, 5.0)), Some((4.0, 4.0))][number.min(2)],
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
            curves: curves.collect(),
            stated,
        }
    }

    pub(super) fn draw<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        canvas.title(&self.title, &self.below)?;
        axes(canvas)?;
        for curve in &self.curves {
            let points: Vec<_> = curve.points.iter().copied().map(place).collect();
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
            let (x, y) = place(point);
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
}

fn axes<B: DrawingBackend>(canvas: &Canvas<B>) -> Drawn<B> {
    for half in 0..=6 {
        let value = f64::from(half) * 0.5;
        let (_, y) = place((0.0, value));
        // The line of equal times is what the eye looks for.
        let color = if half == 2 { PAPER } else { FAINT };
        canvas.line(&[(LEFT, y), (RIGHT, y)], color, 1.0)?;
        let text = format!("{value:.1}");
        canvas.text(&text, (LEFT - 10.0, y), Align::Right, (13.0, INK))?;
    }
    for nodes in (0..=1024).step_by(128) {
        let (x, _) = place((f64::from(nodes), 0.0));
        canvas.line(&[(x, BOTTOM), (x, BOTTOM + 5.0)], INK, 1.0)?;
        let at = (x, BOTTOM + 18.0);
        canvas.text(&nodes.to_string(), at, Align::Middle, (13.0, INK))?;
    }
    canvas.line(&[(LEFT, BOTTOM), (RIGHT, BOTTOM)], INK, 1.0)?;
    let at = ((LEFT + RIGHT) / 2.0, BOTTOM + 42.0);
    canvas.text(
        "memory accesses per migration",
        at,
        Align::Middle,
        (14.0, INK),
    )?;
    // Where no curve of either part comes near.
    let (x, y) = place((560.0, 1.0));
    canvas.text(
        "as fast as the host alone",
        (x, y - 10.0),
        Align::Middle,
        (12.0, PAPER),
    )
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
