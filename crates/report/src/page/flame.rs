//! Flame graphs of what was sampled. inferno merges, lays out and colours; the page's own script
//! zooms and searches, since inferno's is made for one picture that is a document of its own.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::trace::{Process, Side, What};
use flick_names::Demangle;
use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options};

use super::page_names::{escape, function, printable, unnamed};

/// Stacks, outermost function first, and the femtoseconds spent there.
type Stacks = BTreeMap<Vec<u32>, u64>;

const WHITE: [f64; 3] = [255.0; 3];

/// A picture: its name, what it shows, and how it is coloured.
struct Graph {
    title: &'static str,
    about: &'static str,
    palette: BasicPalette,
    /// What it is mixed with, and how much of that: the text on it is dark, and the two sides have
    /// the colours of the other pictures.
    tint: ([f64; 3], f64),
    stacks: Stacks,
}

pub fn write(page: &mut String, process: &Process<'_>, demangle: Demangle) {
    *page += "<section>\n<h2>Which functions</h2>\n";
    let mut drawn = 0;
    for graph in graphs(process) {
        let Some((frames, height)) = draw(&graph, process, demangle) else {
            continue;
        };
        drawn += 1;
        let _ = write!(
            page,
            "<div class=\"flame\">\n<h3>{}</h3>\n<p class=\"about\">{}</p>\n\
             <div class=\"tools\"><input type=\"search\" placeholder=\"find a function\" aria-label=\"find a function\"/>\
             <button type=\"button\" hidden=\"hidden\">all</button><output></output></div>\n\
             <svg class=\"picture\" height=\"{height}\" width=\"100%\" role=\"img\" aria-label=\"{}\">{frames}</svg>\n\
             <p class=\"details\">Choose a function to see it larger.</p>\n</div>\n",
            escape(graph.title),
            escape(graph.about),
            escape(graph.title),
        );
    }
    if drawn == 0 {
        *page +=
            "<p>The trace has no samples: the run was shorter than the time between two.</p>\n";
    }
    *page += "</section>\n";
}

fn graphs(process: &Process<'_>) -> [Graph; 3] {
    let mut graphs = [
        Graph {
            title: "On the host",
            about: "Time of host cores, by function.",
            palette: BasicPalette::Blue,
            tint: ([150.0, 230.0, 255.0], 0.5),
            stacks: Stacks::new(),
        },
        Graph {
            title: "On the NxP",
            about: "Time of NxP cores, by function; at the bottom what called them on the host.",
            palette: BasicPalette::Orange,
            tint: (WHITE, 0.15),
            stacks: Stacks::new(),
        },
        Graph {
            title: "If all stays on the host",
            about: "The same run without migration, where all time is the host's.",
            palette: BasicPalette::Blue,
            tint: ([150.0, 230.0, 255.0], 0.5),
            stacks: Stacks::new(),
        },
    ];
    for event in process.threads.iter().flat_map(|thread| thread.events()) {
        if let What::Sample {
            side,
            weight,
            staying,
            stack,
        } = event.what
        {
            let mut stack: Vec<u32> = stack.collect();
            stack.reverse();
            if stack.is_empty() {
                stack.push(0);
            }
            let index = match side {
                Side::Host => 0,
                Side::Nxp => 1,
            };
            let sum = graphs[2].stacks.entry(stack.clone()).or_default();
            *sum = sum.saturating_add(staying);
            let sum = graphs[index].stacks.entry(stack).or_default();
            *sum = sum.saturating_add(weight);
        }
    }
    graphs
}

/// The frames as SVG, and their height; `None` where there is nothing to draw.
fn draw(graph: &Graph, process: &Process<'_>, demangle: Demangle) -> Option<(String, u32)> {
    let lines: Vec<String> = graph
        .stacks
        .iter()
        .filter(|(_, weight)| **weight > 0)
        .map(|(stack, weight)| {
            let names = stack.iter().map(|&id| match process.name(id) {
                Some(name) if !name.text.is_empty() => name.text.as_str(),
                _ => "?",
            });
            let frames = of_the_program(names).map(|name| frame(&function(name, demangle)));
            let nanoseconds = weight.div_ceil(1_000_000);
            format!("{} {nanoseconds}", frames.collect::<Vec<_>>().join(";"))
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let mut options = Options::default();
    options.colors = Palette::Basic(graph.palette);
    options.deterministic = true;
    options.no_javascript = true;
    options.count_name = "ns".into();
    options.frame_height = 18;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg).ok()?;
    let (frames, height) = frames_of(&String::from_utf8(svg).ok()?)?;
    Some((tinted(&frames, graph.tint), height))
}

/// What the program's own functions are called from says nothing of it, and has no names in most C
/// libraries: a stack begins with `main`, or with what a thread was started with.
fn of_the_program<'n>(
    stack: impl Iterator<Item = &'n str> + Clone,
) -> impl Iterator<Item = &'n str> {
    let starts = |name: &&str| {
        let functions = [
            "_start",
            "__libc_start_main",
            "__libc_start_call_main",
            "start_thread",
        ];
        let clones = ["clone", "clone3", "__clone", "__clone3"];
        functions.contains(name)
            || clones.contains(name)
            || unnamed(name).is_some_and(|file| file.starts_with("libc.so"))
    };
    // A sample of nothing else is one of the library.
    let all = stack.clone().all(|name| starts(&name));
    stack.skip_while(move |name| !all && starts(name))
}

/// A function in a line of stacks, where `;` parts frames and what looks like a number at the end
/// is a weight.
fn frame(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c == ';' { ':' } else { printable(c) })
        .collect();
    let name = name.trim();
    match name.rsplit_once(' ') {
        Some((start, end)) if end.parse::<f64>().is_ok() => format!("{start}\u{a0}{end}"),
        _ if name.is_empty() => "?".into(),
        _ => name.into(),
    }
}

/// The element of inferno's picture that holds the frames, moved to the top, and its height.
fn frames_of(svg: &str) -> Option<(String, u32)> {
    let start = svg.find("<svg id=\"frames\"")?;
    let end = svg.rfind("</svg></svg>")?;
    let frames = svg.get(start..end)?;
    let inner = frames.get(frames.find('>')? + 1..)?;
    let total = attribute(frames, "total_samples")?;
    let tops = || {
        let numbers = inner.split("<rect ").skip(1);
        numbers.filter_map(|rect| attribute(rect, "y")?.parse::<u32>().ok())
    };
    let (top, bottom) = (tops().min()?, tops().max()?);
    let height = bottom - top + 18;
    Some((
        format!(
            "<svg class=\"frames\" y=\"-{top}\" data-total=\"{}\" overflow=\"visible\">{}</svg>",
            escape(total),
            // Its prefix is not declared in this document.
            inner
                .replace(" fg:x=", " data-x=")
                .replace(" fg:w=", " data-w=")
        ),
        height,
    ))
}

/// The same with its colours mixed with another.
fn tinted(frames: &str, (tint, share): ([f64; 3], f64)) -> String {
    const BEFORE: &str = " fill=\"rgb(";
    let mut out = String::with_capacity(frames.len());
    let mut pieces = frames.split(BEFORE);
    out += pieces.next().unwrap_or_default();
    for piece in pieces {
        let (colour, rest) = piece.split_once(')').unwrap_or((piece, ""));
        let mixed = colour.split(',').zip(tint).map(|(part, tint)| {
            let part: f64 = part.trim().parse().unwrap_or(0.0);
            format!("{:.0}", part + (tint - part) * share)
        });
        out += BEFORE;
        out += &mixed.collect::<Vec<_>>().join(",");
        out.push(')');
        out += rest;
    }
    out
}

fn attribute<'s>(element: &'s str, name: &str) -> Option<&'s str> {
    let (_, rest) = element.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours() {
        let rect = "<rect fill=\"rgb(0,100,255)\"/>";
        assert_eq!(
            tinted(rect, (WHITE, 0.5)),
            "<rect fill=\"rgb(128,178,255)\"/>"
        );
        assert_eq!(tinted("none", (WHITE, 0.5)), "none");
    }

    #[test]
    fn stacks_begin_with_the_program() {
        let shown = |stack: &[&str]| {
            let names = of_the_program(stack.iter().copied());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let start = ["_start", "__libc_start_main", "libc.so.6+0x27249"];
        assert_eq!(
            shown(&[&start[..], &["main", "qsort"]].concat()),
            ["main", "qsort"]
        );
        assert_eq!(shown(&["clone3", "libc.so.6+0x88fd4", "work"]), ["work"]);
        assert_eq!(shown(&start), start);
    }

    #[test]
    fn names_of_frames() {
        for (name, text) in [
            ("walk", "walk"),
            ("a;b", "a:b"),
            ("f 12", "f\u{a0}12"),
            (" \n", "?"),
            ("operator new(unsigned long)", "operator new(unsigned long)"),
        ] {
            assert_eq!(frame(name), text);
        }
    }
}
