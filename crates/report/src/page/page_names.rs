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
    caller(flick_names::plain(symbol), demangle)
}

/// The same of a call site, which may have its line, too.
pub fn caller(name: &str, demangle: Demangle) -> String {
    match unnamed(name) {
        Some(file) => format!("{file} (no symbol)"),
        None => demangle.apply(name).into_owned(),
    }
}

/// The file of `FILE+0xOFFSET`, which stands for a function that the file has no symbol for.
pub fn unnamed(name: &str) -> Option<&str> {
    let (file, offset) = name.rsplit_once("+0x")?;
    let hexadecimal = !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hexadecimal && !file.is_empty()).then_some(file)
}

pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_symbol_is_of_a_file() {
        assert_eq!(unnamed("libc.so.6+0x3f1a0"), Some("libc.so.6"));
        assert_eq!(unnamed("operator+0x"), None);
        assert_eq!(unnamed("f"), None);
        for name in [function, caller] {
            let demangle = Demangle::default();
            assert_eq!(name("libc.so.6+0x3fbf3", demangle), "libc.so.6 (no symbol)");
            assert_eq!(name("main", demangle), "main");
        }
        assert_eq!(caller("f (a.c:3)", Demangle::default()), "f (a.c:3)");
    }

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(
            escape("a<b>&\"'\u{1}\n\u{202e}é"),
            "a&lt;b&gt;&amp;&quot;&#39;\u{fffd} \u{fffd}é"
        );
    }
}
