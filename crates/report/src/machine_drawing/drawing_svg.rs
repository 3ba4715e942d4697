//! A drawing as SVG. Tiles are below each other; a link is a line beside them, with an arm to each
//! tile that it connects.
use std::fmt::Write;

use super::drawn_parts::{Drawing, Group, Item, Kind};
use crate::page::escape;

const WIDTH: usize = 980;
const MARGIN: usize = 16;
/// The place of a link's line beside the tiles.
const LANE: usize = 22;
/// Boxes in a row.
const COLUMNS: usize = 3;
const GAP: usize = 14;
const LINE: usize = 15;
/// The width of a letter in a box, more or less.
const LETTER: usize = 6;
const HEAD: usize = 24;
/// From a section of a tile to the next, which has the bus in its middle.
const BUS: usize = 34;

/// A colour for the edge, and one for the area.
fn colours(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Hart => ("#1b5ea8", "#e4eefa"),
        Kind::Cache => ("#5b7f2b", "#eef5e2"),
        Kind::Memory => ("#8a6d1b", "#fbf3dc"),
        Kind::Device => ("#666666", "#f4f4f4"),
        Kind::Unit => ("#7a3fa0", "#f3e9fa"),
    }
}

pub fn svg(drawing: &Drawing) -> String {
    let left = MARGIN + LANE * drawing.links.len();
    let mut body = String::new();
    let mut y = MARGIN + 14;
    label(&mut body, MARGIN, y, "title", &drawing.title);
    for line in wrapped(&drawing.description, 150) {
        y += LINE + 3;
        label(&mut body, MARGIN, y, "text", &line);
    }
    y += GAP;
    let mut middles = Vec::new();
    for group in &drawing.tiles {
        let height = tile(&mut body, group, left, y);
        middles.push(y + HEAD / 2);
        y += height + GAP + if group.count > 1 { 8 } else { 0 };
    }
    y += GAP;
    for (number, link) in drawing.links.iter().enumerate() {
        let x = MARGIN + LANE * number + LANE / 2;
        let top = link
            .groups
            .iter()
            .filter_map(|&group| middles.get(group))
            .min();
        let end = y + LINE * (number + 1);
        line(&mut body, (x, *top.unwrap_or(&y)), (x, end), "link");
        for middle in link.groups.iter().filter_map(|&group| middles.get(group)) {
            line(&mut body, (x, *middle), (left, *middle), "link");
            let _ = writeln!(
                body,
                "<circle cx=\"{left}\" cy=\"{middle}\" r=\"4\" class=\"end\"/>"
            );
        }
        line(&mut body, (x, end), (left, end), "link");
        let text = format!("{}: {}", link.title, link.details);
        label(&mut body, left + 6, end + 4, "text", &text);
    }
    y += LINE * (drawing.links.len() + 1);
    if !drawing.missing.is_empty() {
        let text = "The machine cannot run yet. These parts (dashed) are missing:";
        y += LINE;
        label(&mut body, MARGIN, y, "missing", text);
        for missing in &drawing.missing {
            y += LINE;
            label(&mut body, MARGIN + 12, y, "text", missing);
        }
    }
    let height = y + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n<style>\n{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n",
        escape(&format!("machine {}", drawing.title))
    )
}

const STYLE: &str = "text{font-family:sans-serif;fill:#222}\n\
    .title{font-size:16px;font-weight:bold}\n\
    .head{font-size:13px;font-weight:bold}\n\
    .name{font-size:12px;font-weight:bold}\n\
    .text{font-size:12px}\n\
    .detail{font-size:11px}\n\
    .missing{font-size:12px;font-weight:bold;fill:#c24e1a}\n\
    .tile{fill:#fcfcfc;stroke:#444;stroke-width:1.5}\n\
    .bus{stroke:#444;stroke-width:5}\n\
    .stub{stroke:#444;stroke-width:1.5}\n\
    .link{stroke:#c24e1a;stroke-width:2.5}\n\
    .end{fill:#c24e1a}\n";

/// Draws a tile, and returns its height.
fn tile(body: &mut String, group: &Group, x: usize, y: usize) -> usize {
    let width = WIDTH - MARGIN - x;
    let wide = width.saturating_sub(GAP) / COLUMNS - GAP;
    let middle_of = |column: usize| x + GAP + column * (wide + GAP) + wide / 2;
    let mut inner = String::new();
    let mut at = y + HEAD + 4;
    if !group.upper.is_empty() {
        let (height, last) = boxes(&mut inner, &group.upper, (x + GAP, at), wide);
        at += height;
        let middle = at + BUS / 2;
        for column in 0..last {
            let stub = middle_of(column);
            line(&mut inner, (stub, at), (stub, middle), "stub");
        }
        if !group.lower.is_empty() {
            for column in 0..group.lower.len().min(COLUMNS) {
                let stub = middle_of(column);
                line(&mut inner, (stub, middle), (stub, at + BUS), "stub");
            }
            line(
                &mut inner,
                (x + GAP, middle),
                (x + width - GAP, middle),
                "bus",
            );
            label(
                &mut inner,
                middle_of(0) + 6,
                middle - 6,
                "detail",
                &group.bus,
            );
            at += BUS;
        }
    }
    let (height, _) = boxes(&mut inner, &group.lower, (x + GAP, at), wide);
    at += height + GAP;
    let height = at - y;
    // Alike tiles look like a stack.
    for behind in (0..group.count.min(3)).rev() {
        let shift = behind * 4;
        let _ = writeln!(
            body,
            "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" rx=\"8\" class=\"tile\"/>",
            x + shift,
            y + shift
        );
    }
    label(body, x + GAP, y + 18, "head", &group.title);
    body.push_str(&inner);
    height
}

/// Draws boxes in rows. Returns their height, and how many are in the last row.
fn boxes(body: &mut String, items: &[Item], (x, y): (usize, usize), wide: usize) -> (usize, usize) {
    let (mut height, mut last) = (0, 0);
    for row in items.chunks(COLUMNS) {
        if height != 0 {
            height += GAP;
        }
        let lines = |item: &Item| -> Vec<String> {
            let details = item.details.iter();
            details
                .flat_map(|detail| wrapped(detail, (wide - 16) / LETTER))
                .collect()
        };
        let all: Vec<Vec<String>> = row.iter().map(lines).collect();
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        let tall = 24 + LINE * most;
        for (column, (item, lines)) in row.iter().zip(&all).enumerate() {
            let left = x + column * (wide + GAP);
            let top = y + height;
            let (edge, area) = colours(item.kind);
            let dash = match item.is_missing {
                true => " stroke-dasharray=\"5 3\"",
                false => "",
            };
            let _ = writeln!(
                body,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{tall}\" rx=\"4\" \
                 fill=\"{area}\" stroke=\"{edge}\"{dash}/>"
            );
            label(body, left + 8, top + 16, "name", &item.title);
            for (number, text) in lines.iter().enumerate() {
                label(
                    body,
                    left + 8,
                    top + 16 + LINE * (number + 1),
                    "detail",
                    text,
                );
            }
        }
        height += tall;
        last = row.len();
    }
    (height, last)
}

fn label(body: &mut String, x: usize, y: usize, class: &str, text: &str) {
    if !text.is_empty() {
        let text = escape(text);
        let _ = writeln!(
            body,
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>"
        );
    }
}

fn line(body: &mut String, from: (usize, usize), to: (usize, usize), class: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(
        body,
        "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\"/>"
    );
}

/// Lines of so many letters, broken behind a space or in front of a `_`.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .skip(1)
            .find(|&(at, c)| c == '_' || rest[..at].ends_with(' '))
            .map_or(rest.len(), |(at, _)| at);
        let (word, after) = rest.split_at(end);
        rest = after;
        if let Some(line) = lines.last_mut() {
            let is_full = line.chars().count() + word.trim_end().chars().count() > most;
            match is_full && !line.is_empty() {
                true => lines.push(word.to_owned()),
                false => line.push_str(word),
            }
        }
    }
    lines
}
