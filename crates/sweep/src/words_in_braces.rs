//! Words of a command with names in braces, for which a point has values.
use std::collections::BTreeMap;

/// The value of a name: words, which take the place of a word that is the name alone.
pub type Values = BTreeMap<String, Vec<String>>;

/// The names in braces of a text; or what is wrong with its braces.
pub fn names(text: &str) -> Result<Vec<&str>, &'static str> {
    let mut names = Vec::new();
    pieces(text, |_| {}, |name| names.push(name))?;
    Ok(names)
}

/// `{{` and `}}` stand for a brace.
fn pieces<'t>(
    text: &'t str,
    mut plain: impl FnMut(&'t str),
    mut name: impl FnMut(&'t str),
) -> Result<(), &'static str> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain(&rest[..at]);
        let brace = &rest[at..at + 1];
        let behind = &rest[at + 1..];
        if behind.starts_with(brace) {
            plain(brace);
            rest = &behind[1..];
        } else if brace == "}" {
            return Err("a } has no {");
        } else {
            let end = behind.find('}').ok_or("a { has no }")?;
            name(&behind[..end]);
            rest = &behind[end + 1..];
        }
    }
    plain(rest);
    Ok(())
}

/// The text with values in place of names; those of several words with blanks between them.
pub fn filled(text: &str, values: &Values) -> String {
    let result = std::cell::RefCell::new(String::new());
    // Its braces were checked when the file was read.
    let _ = pieces(
        text,
        |plain| *result.borrow_mut() += plain,
        |name| *result.borrow_mut() += &values.get(name).map_or(String::new(), |v| v.join(" ")),
    );
    result.into_inner()
}

/// The command with values in place of names.
pub fn command(words: &[String], values: &Values) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        let alone = word.strip_prefix('{').and_then(|w| w.strip_suffix('}'));
        match alone.and_then(|name| values.get(name)) {
            Some(words) => all.extend(words.iter().cloned()),
            None => all.push(filled(word, values)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_alone_becomes_words() {
        let values = Values::from([
            ("p".to_owned(), vec!["a".to_owned(), "b".to_owned()]),
            ("none".to_owned(), Vec::new()),
        ]);
        let words = ["{p}", "x={p}.", "{none}", "{{p}}", "-{none}"].map(String::from);
        let filled = command(&words, &values);
        assert_eq!(filled, ["a", "b", "x=a b.", "{p}", "-"]);
    }

    #[test]
    fn braces_are_in_pairs() {
        assert_eq!(names("a{b}c{d.e}{{}}"), Ok(vec!["b", "d.e"]));
        assert!(names("a{b").is_err() && names("a}").is_err());
    }
}
