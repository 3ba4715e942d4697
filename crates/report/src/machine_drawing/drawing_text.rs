//! A drawing as text.
use super::drawn_parts::{Drawing, Item};
use std::fmt::Write;

/// Columns of a line, but for words that are longer.
const WIDTH: usize = 100;

pub fn text(drawing: &Drawing) -> String {
    let mut text = format!("{}: {}\n", drawing.title, drawing.description);
    for group in &drawing.tiles {
        let _ = write!(text, "\n{}\n", group.title);
        let all = group.upper.iter().chain(&group.lower);
        let width = all
            .map(|item| title(item).chars().count())
            .max()
            .unwrap_or(0);
        group
            .upper
            .iter()
            .for_each(|item| part(&mut text, item, width));
        if !group.bus.is_empty() {
            let _ = writeln!(text, "  {:=<width$}  {}", "", group.bus);
        }
        group
            .lower
            .iter()
            .for_each(|item| part(&mut text, item, width));
    }
    if !drawing.links.is_empty() {
        text.push('\n');
    }
    for link in &drawing.links {
        let _ = writeln!(text, "{}: {}", link.title, link.details);
    }
    if !drawing.missing.is_empty() {
        text += "\nThe machine cannot run yet. These parts (*) are missing:\n";
    }
    for missing in &drawing.missing {
        let _ = writeln!(text, "  {missing}");
    }
    text
}

fn title(item: &Item) -> String {
    let mark = match item.is_missing {
        true => " *",
        false => "",
    };
    format!("{}{mark}", item.title)
}

/// A title, and behind it the details; lines that follow are indented as far.
fn part(text: &mut String, item: &Item, width: usize) {
    let mut line = format!("  {:width$}  ", title(item));
    let indent = line.chars().count();
    let mut is_first = true;
    for detail in &item.details {
        let room = line.chars().count() + detail.chars().count() + 2 <= WIDTH;
        if !is_first {
            match room {
                true => line += "; ",
                false => {
                    let _ = writeln!(text, "{}", line.trim_end());
                    line = " ".repeat(indent);
                }
            }
        }
        line += detail;
        is_first = false;
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
