//! Names in a page.
use flick_names::Demangle;

/// `text` as it is written between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(printable(c)),
        }
    }
    out
}

/// `c`, or what stands for a character that has no place in HTML or XML, or that changes the order
/// in which others are read.
pub fn printable(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => ' ',
        '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// A function of the linker's name `symbol`, as people read it; not yet escaped.
pub fn function(symbol: &str, demangle: Demangle) -> String {
    demangle.apply(flick_names::plain(symbol)).into_owned()
}

pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(
            escape("a<b>&\"'\u{1}\n\u{202e}é"),
            "a&lt;b&gt;&amp;&quot;&#39;\u{fffd} \u{fffd}é"
        );
    }
}
