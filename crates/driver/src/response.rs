//! Response files (`@FILE`), with the quoting rules of clang and GNU tools: white space separates,
//! single and double quotes group, a backslash takes the next character as it is.
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::Result;

/// Replaces every `@FILE` whose file exists by what it holds; other arguments stay.
pub fn expand(args: Vec<OsString>) -> Result<Vec<OsString>> {
    let mut out = Vec::with_capacity(args.len());
    // A response file may name others; a file that names itself would do so for ever.
    expand_into(args, &mut out, 0)?;
    Ok(out)
}

fn expand_into(args: Vec<OsString>, out: &mut Vec<OsString>, depth: usize) -> Result<()> {
    for arg in args {
        let file = arg.as_bytes().strip_prefix(b"@").map(OsStr::from_bytes);
        match file.map(std::path::Path::new) {
            Some(file) if depth < 16 && file.is_file() => {
                let text = flick_image::elf_kind::read_file(file)?;
                expand_into(split(&text), out, depth + 1)?;
            }
            _ => out.push(arg),
        }
    }
    Ok(())
}

/// The words of a response file, or of a command line as clang shows it.
pub fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(OsString::from_vec));
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// A response file of these words, one a line. LLVM's readers drop words without characters.
pub fn text<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        for &byte in word.as_bytes() {
            if byte.is_ascii_whitespace() || b"\\'\"".contains(&byte) {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    #[test]
    fn written_words_are_read_again() {
        let words = [
            "-o",
            "a b",
            r"it's",
            "\"q\"",
            r"back\slash",
            "line\nend",
            "@x",
        ];
        let text = super::text(words.map(OsStr::new));
        assert_eq!(super::split(&text), words);
    }

    #[test]
    fn quoting() {
        let words = super::split(b"-c a.c\n'b c.c' -DX=\\\"q\\\" \"d'e\" ''");
        assert_eq!(words, ["-c", "a.c", "b c.c", "-DX=\"q\"", "d'e", ""]);
    }
}
