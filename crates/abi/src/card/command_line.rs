//! Arguments in a command line, which is one text: blanks are between them.
use core::fmt::{self, Write};

/// A word that is an empty argument.
const EMPTY: &str = "%-";

/// Writes an argument as a word: `%` and two hexadecimal digits stand for a byte that is a blank, a
/// `%`, or not printable ASCII, and `%-` for nothing.
///
/// # Errors
/// Those of `out`.
pub fn write_argument(argument: &[u8], out: &mut impl Write) -> fmt::Result {
    if argument.is_empty() {
        return out.write_str(EMPTY);
    }
    for &byte in argument {
        match byte {
            b'%' => write!(out, "%25")?,
            b'!'..=b'~' => out.write_char(char::from(byte))?,
            _ => write!(out, "%{byte:02x}")?,
        }
    }
    Ok(())
}

/// The bytes of an argument, from its word. A `%` that begins neither form stands for itself.
pub fn argument_bytes(word: &str) -> impl Iterator<Item = u8> + Clone {
    let mut rest = word.as_bytes();
    if word == EMPTY {
        rest = &[];
    }
    core::iter::from_fn(move || {
        let (&first, behind) = rest.split_first()?;
        let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
        let escaped = (first == b'%').then(|| Some((digit(0)? * 16 + digit(1)?) as u8));
        if let Some(byte) = escaped.flatten() {
            rest = &behind[2..];
            return Some(byte);
        }
        rest = behind;
        Some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_comes_back() {
        let all: Vec<u8> = (1..=255).collect();
        for argument in [&b""[..], b"a b", b"%", b"%-", b"%20", b"100%", &all] {
            let mut word = String::new();
            write_argument(argument, &mut word).unwrap();
            assert!(!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic()));
            assert_eq!(argument_bytes(&word).collect::<Vec<_>>(), argument);
        }
        assert!(argument_bytes("5%z%2").eq(*b"5%z%2"));
    }
}
