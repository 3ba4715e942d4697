//! The words of a command line, as a shell splits them.

/// Blanks separate words, and backslashes and quotes protect them. `None`: the line has more than
/// words (a pipe, a variable, …), or a quote is not closed.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => into.push(c),
                    }
                }
            }
            '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => into.push(chars.next()?),
                        '$' | '`' => return None,
                        c => into.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '|' | '&' | ';' | '>' | '$' | '`' | '*' => return None,
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_a_shell_does() {
        let line = r#"cc -DX=\"a\" -D'Y=b c' "d \"e" '' f"#;
        let want = ["cc", r#"-DX="a""#, "-DY=b c", r#"d "e"#, "", "f"];
        assert_eq!(split(line).unwrap(), want);
        assert_eq!(split("a | b"), None);
        assert_eq!(split("a 'b"), None);
    }
}
