//! Tables II and III as bars from left to right, Table IV as bars that stand.
use plotters::prelude::DrawingBackend;
use plotters::style::{RGBColor, WHITE};

use super::{ACCENT, Align, Canvas, Drawn, FAINT, INK, LIGHT, OURS, PAPER};
use crate::paper::cited::{self, SYSTEMS};
use crate::paper::{Graph, Null};

/// Bars from left to right over a logarithmic scale.
pub struct Horizontal {
    bars: Vec<(String, f64, RGBColor)>,
}

impl Horizontal {
    /// Tables II and III.
    pub fn migration(null: &Null) -> Self {
        let mut bars: Vec<_> = SYSTEMS
            .iter()
            .map(|system| (system.work.to_owned(), system.overhead, PAPER))
            .collect();
        bars.push((
            "Flick, predicted".into(),
            null.host_nxp_host.migrating,
            OURS,
        ));
        let back = "NxP-host-NxP, ";
        bars.push((format!("{back}the paper"), cited::NXP_HOST_NXP, PAPER));
        bars.push((
            format!("{back}predicted"),
            null.nxp_host_nxp.migrating,
            OURS,
        ));
        Self { bars }
    }

    pub(super) fn draw<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        const LEFT: f64 = 220.0;
        const RIGHT: f64 = 820.0;
        const TOP: f64 = 90.0;
        const BOTTOM: f64 = 470.0;
        /// Powers of ten at both ends.
        const ENDS: (f64, f64) = (0.0, 3.0);
        canvas.title(
            "Tables II and III: a migration there and back",
            "microseconds, logarithmic; grey: the paper's figures, blue: predicted",
        )?;
        let place = |value: f64| {
            let share = (value.max(1.0).log10() - ENDS.0) / (ENDS.1 - ENDS.0);
            LEFT + (RIGHT - LEFT) * share
        };
        for power in 0..=3 {
            let x = place(10f64.powi(power));
            canvas.line(&[(x, TOP), (x, BOTTOM)], FAINT, 1.0)?;
            let text = format!("{} µs", 10u32.pow(power as u32));
            canvas.text(&text, (x, BOTTOM + 18.0), Align::Middle, (13.0, INK))?;
        }
        let row = (BOTTOM - TOP) / self.bars.len() as f64;
        for (number, (label, value, color)) in self.bars.iter().enumerate() {
            let y = TOP + row * (number as f64 + 0.5);
            canvas.text(label, (LEFT - 12.0, y), Align::Right, (14.0, INK))?;
            let end = place(*value);
            canvas.fill((LEFT, y - row * 0.32), (end, y + row * 0.32), *color)?;
            let text = format!("{value:.1}");
            let text = text.trim_end_matches(".0");
            canvas.text(text, (end + 8.0, y), Align::Left, (14.0, INK))?;
        }
        canvas.line(&[(LEFT, TOP), (LEFT, BOTTOM)], INK, 1.0)
    }
}

/// Groups of bars that stand, in two panels.
pub struct Vertical {
    panels: [Panel; 2],
    legend: Vec<(&'static str, RGBColor)>,
}

struct Panel {
    title: &'static str,
    /// The powers of ten between which the scale lies, or 0 and the largest value.
    scale: Scale,
    groups: Vec<Group>,
}

struct Group {
    label: &'static str,
    bars: Vec<(f64, RGBColor)>,
}

enum Scale {
    Powers(i32, i32),
    Most(f64),
}

impl Scale {
    fn share(&self, value: f64) -> f64 {
        let share = match *self {
            Self::Powers(low, high) => (value.log10() - f64::from(low)) / f64::from(high - low),
            Self::Most(most) => value / most,
        };
        share.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<f64> {
        match *self {
            Self::Powers(low, high) => (low..=high).map(|power| 10f64.powi(power)).collect(),
            Self::Most(most) => {
                let steps = (most / 0.25).round() as u32;
                (0..=steps).map(|step| f64::from(step) * 0.25).collect()
            }
        }
    }
}

impl Vertical {
    /// Table IV.
    pub fn table_4(graphs: &[Graph]) -> Self {
        let group = |graph: &Graph, of: &dyn Fn(f64, f64) -> Vec<f64>| {
            let data = graph.dataset;
            let mut bars: Vec<(f64, RGBColor)> = of(data.flick, data.baseline)
                .into_iter()
                .map(|value| (value, PAPER))
                .collect();
            let runs = [
                Some((&graph.uncalibrated, LIGHT)),
                graph.fitted.as_ref().map(|f| (f, OURS)),
            ];
            for (search, color) in runs.into_iter().flatten() {
                let values = of(search.mean.migrating, search.mean.staying);
                bars.extend(values.into_iter().map(|value| (value, color)));
            }
            Group {
                label: data.title,
                bars,
            }
        };
        let groups = |of: &dyn Fn(f64, f64) -> Vec<f64>| -> Vec<Group> {
            graphs.iter().map(|graph| group(graph, of)).collect()
        };
        let ratios = groups(&|flick, baseline| vec![flick / baseline]);
        let most = |most: f64, (ratio, _): &(f64, RGBColor)| most.max(*ratio);
        let highest = ratios.iter().flat_map(|group| &group.bars).fold(1.25, most);
        let mut legend = vec![("the paper", PAPER), ("predicted, nothing fitted", LIGHT)];
        if graphs.iter().any(|graph| graph.fitted.is_some()) {
            legend.push(("predicted, one constant fitted on Pokec", OURS));
        }
        Self {
            panels: [
                Panel {
                    title: "time with Flick / host alone",
                    scale: Scale::Most((highest / 0.25).ceil() * 0.25),
                    groups: ratios,
                },
                Panel {
                    title: "seconds with Flick, logarithmic",
                    scale: Scale::Powers(0, 3),
                    groups: groups(&|flick, _| vec![flick]),
                },
            ],
            legend,
        }
    }

    pub(super) fn draw<B: DrawingBackend>(&self, canvas: &Canvas<B>) -> Drawn<B> {
        canvas.title(
            "Table IV: breadth-first search",
            "one of ten iterations, a call of a host function for each vertex found",
        )?;
        let mut x = 30.0;
        for (name, color) in &self.legend {
            canvas.fill((x, 74.0), (x + 14.0, 88.0), *color)?;
            canvas.text(name, (x + 22.0, 81.0), Align::Left, (13.0, INK))?;
            x += 60.0 + 7.4 * name.chars().count() as f64;
        }
        self.panels[0].draw(canvas, 70.0, 440.0)?;
        self.panels[1].draw(canvas, 520.0, 870.0)
    }
}

impl Panel {
    fn draw<B: DrawingBackend>(&self, canvas: &Canvas<B>, left: f64, right: f64) -> Drawn<B> {
        const TOP: f64 = 140.0;
        const BOTTOM: f64 = 480.0;
        canvas.text(self.title, (left, TOP - 24.0), Align::Left, (14.0, INK))?;
        let place = |value: f64| BOTTOM - (BOTTOM - TOP) * self.scale.share(value);
        for value in self.scale.ticks() {
            let y = place(value);
            let even = matches!(self.scale, Scale::Most(_)) && value == 1.0;
            let color = if even { ACCENT } else { FAINT };
            canvas.line(&[(left, y), (right, y)], color, 1.0)?;
            let text = match self.scale {
                Scale::Powers(..) => format!("{value}"),
                Scale::Most(_) => format!("{value:.2}"),
            };
            canvas.text(&text, (left - 8.0, y), Align::Right, (12.0, INK))?;
        }
        let width = (right - left) / self.groups.len() as f64;
        for (number, group) in self.groups.iter().enumerate() {
            let middle = left + width * (number as f64 + 0.5);
            let bar = width * 0.82 / group.bars.len() as f64;
            let first = middle - bar * group.bars.len() as f64 / 2.0;
            for (at, (value, color)) in group.bars.iter().enumerate() {
                let x = first + bar * at as f64;
                let y = place(*value);
                canvas.fill((x + 1.5, y), (x + bar - 1.5, BOTTOM), *color)?;
                let text = match self.scale {
                    Scale::Powers(..) if *value >= 100.0 => format!("{value:.0}"),
                    Scale::Powers(..) => format!("{value:.1}"),
                    Scale::Most(_) => format!("{value:.2}"),
                };
                // A line of the scale may run behind it.
                let (at, half) = ((x + bar / 2.0, y - 9.0), 3.2 * text.len() as f64);
                canvas.fill((at.0 - half, at.1 - 6.0), (at.0 + half, at.1 + 6.0), WHITE)?;
                canvas.text(&text, at, Align::Middle, (11.0, INK))?;
            }
            let at = (middle, BOTTOM + 18.0);
            canvas.text(group.label, at, Align::Middle, (13.0, INK))?;
        }
        canvas.line(&[(left, BOTTOM), (right, BOTTOM)], INK, 1.0)
    }
}
