//! Tables in Markdown with columns of one width, so that they read well as they are.
use std::fmt::Write as _;

/// The first line has the columns' names; the first column is text, the others are numbers.
pub fn table(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = if column == 0 {
                write!(text, "| {cell:<width$} ")
            } else {
                write!(text, "| {cell:>width$} ")
            };
        }
        text.push_str("|\n");
        if number == 0 {
            for (column, width) in widths.iter().enumerate() {
                let end = if column == 0 { '-' } else { ':' };
                let _ = write!(text, "|{:-<1$}{end}", "", width + 1);
            }
            text.push_str("|\n");
        }
    }
    text
}

/// A figure that may be missing.
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}
