//! Flame graphs of what was sampled. inferno merges, lays out and colours; the page's own script
//! zooms and searches, since inferno's is made for one picture that is a document of its own.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::trace::{Process, What};
use flick_names::Demangle;
use inferno::flamegraph::{self, Options};

use super::function_colours::colour;
use super::page_names::{escape, function, printable, unnamed};

/// Stacks, outermost function first, and the femtoseconds spent there: on the host, on the NxP, and
/// if all stays on the host.
#[derive(Default)]
pub struct Stacks([BTreeMap<Vec<u32>, u64>; 3]);

impl Stacks {
    /// Takes a sample.
    pub fn take(&mut self, what: &What<'_>) {
        let &What::Sample {
            side,
            weight,
            staying,
            stack,
        } = what
        else {
            return;
        };
        let mut stack: Vec<u32> = stack.collect();
        stack.reverse();
        if stack.is_empty() {
            stack.push(0);
        }
        for (index, time) in [(side as usize, weight), (2, staying)] {
            let stacks = &mut self.0[index];
            match stacks.get_mut(&stack) {
                Some(sum) => *sum = sum.saturating_add(time),
                None => drop(stacks.insert(stack.clone(), time)),
            }
        }
    }
}

/// A picture: its name, what it shows, and the class of its side's colour.
const GRAPHS: [(&str, &str, &str); 3] = [
    ("On the host", "Time of host cores, by function.", "host"),
    (
        "On the NxP",
        "Time of NxP cores, by function; at the bottom what called them on the host.",
        "nxp",
    ),
    (
        "If all stays on the host",
        "The same run without migration, where all time is the host's.",
        "host",
    ),
];

/// Writes the section.
pub fn write(page: &mut String, process: &Process<'_>, stacks: &Stacks, demangle: Demangle) {
    *page += "<section>\n<h2>Which functions</h2>\n";
    let mut drawn = 0;
    for ((title, about, side), stacks) in GRAPHS.into_iter().zip(&stacks.0) {
        let Some((frames, height)) = draw(stacks, process, demangle) else {
            continue;
        };
        if drawn == 0 {
            *page += "<p class=\"about\">A function has one colour on all of this page, and on every page: \
                in these pictures and in front of its name in the tables. \
                The colour of the edge says on which side the time is.</p>\n";
        }
        drawn += 1;
        let _ = write!(
            page,
            "<div class=\"flame\">\n<h3><i class=\"{side}\"></i>{}</h3>\n<p class=\"about\">{}</p>\n\
             <div class=\"tools\"><input type=\"search\" placeholder=\"find a function\" aria-label=\"find a function\"/>\
             <button type=\"button\" hidden=\"hidden\">all</button><output></output></div>\n\
             <svg class=\"picture edge-{side}\" height=\"{height}\" width=\"100%\" role=\"img\" aria-label=\"{}\">{frames}</svg>\n\
             <p class=\"details\">Choose a function to see it larger.</p>\n</div>\n",
            escape(title),
            escape(about),
            escape(title),
        );
    }
    if drawn == 0 {
        *page +=
            "<p>The trace has no samples: the run was shorter than the time between two.</p>\n";
    }
    *page += "</section>\n";
}

/// The frames as SVG, and their height; `None` where there is nothing to draw.
fn draw(
    stacks: &BTreeMap<Vec<u32>, u64>,
    process: &Process<'_>,
    demangle: Demangle,
) -> Option<(String, u32)> {
    let lines: Vec<String> = stacks
        .iter()
        .filter(|(_, weight)| **weight > 0)
        .map(|(stack, weight)| {
            let names = stack.iter().map(|&id| match process.name(id) {
                Some(name) if !name.text.is_empty() => name.text.as_str(),
                _ => "?",
            });
            let frames = of_the_program(names).map(|name| shown(name, demangle));
            let nanoseconds = weight.div_ceil(1_000_000);
            format!("{} {nanoseconds}", frames.collect::<Vec<_>>().join(";"))
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let mut options = Options::default();
    options.deterministic = true;
    options.no_javascript = true;
    options.count_name = "ns".into();
    options.frame_height = 18;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg).ok()?;
    let (frames, height) = frames_of(&String::from_utf8(svg).ok()?)?;
    Some((coloured(&frames), height))
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

/// The function of the linker's name `symbol`, as the pictures have it. Its colour is that of this text.
pub fn shown(symbol: &str, demangle: Demangle) -> String {
    frame(&function(symbol, demangle))
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

/// The same with the colours of functions. A frame is a title with the function's name, and a rectangle.
fn coloured(frames: &str) -> String {
    const TITLE: &str = "<title>";
    const BEFORE: &str = " fill=\"";
    let mut out = String::with_capacity(frames.len());
    let mut pieces = frames.split(TITLE);
    out += pieces.next().unwrap_or_default();
    for piece in pieces {
        out += TITLE;
        let title = piece
            .split_once("</title>")
            .map_or(piece, |(title, _)| title);
        let name = title.rsplit_once(" (").map_or(title, |(name, _)| name);
        let Some((start, rest)) = piece.split_once(BEFORE) else {
            out += piece;
            continue;
        };
        let rest = rest.split_once('"').map_or(rest, |(_, rest)| rest);
        let colour = colour(&unescaped(name));
        let _ = write!(out, "{start}{BEFORE}{colour}\"{rest}");
    }
    out
}

/// What stands for `text` in XML.
fn unescaped(text: &str) -> String {
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
    ];
    let all = plain.into_iter();
    let text = all.fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    text.replace("&amp;", "&")
}

fn attribute<'s>(element: &'s str, name: &str) -> Option<&'s str> {
    let (_, rest) = element.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_the_colour_of_its_function() {
        let frame = "<g><title>f&lt;g&amp;&gt; (3) (7 ns, 50%)</title><rect x=\"1\" fill=\"rgb(0,1,2)\" y=\"3\"/></g>";
        let seen = coloured(&format!("<svg>{frame}{frame}</svg>"));
        let wanted = format!(
            "<rect x=\"1\" fill=\"{}\" y=\"3\"/></g>",
            colour("f<g&> (3)")
        );
        assert_eq!(seen.matches(&wanted).count(), 2, "{seen}");
        assert!(seen.ends_with("</g></svg>") && !seen.contains("rgb"));
        assert_eq!(coloured("none"), "none");
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
