//! Lines of the record: texts in them, written and read.
use std::fmt::{self, Write};

use crate::Calls;

/// Adds a line.
pub fn push(out: &mut String, line: fmt::Arguments<'_>) {
    // Formatting into a String cannot fail.
    let _ = writeln!(out, "{line}");
}

/// A text as one word of a line.
pub fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out
}

/// The text that [`escape`] was given.
pub fn unescape(value: &str) -> Option<String> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

/// `COUNT FUNCTION<TAB>MODULE`
pub fn calls(text: &str) -> Option<Calls> {
    let (count, rest) = text.split_once(' ')?;
    let (function, module) = rest.split_once('\t')?;
    Some(Calls {
        function: unescape(function)?,
        module: unescape(module)?,
        count: count.parse().ok()?,
    })
}
