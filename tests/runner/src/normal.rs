//! Output of tools, without the parts that differ from run to run and from machine to machine.
use std::path::Path;

use crate::suite::Setup;
use flick_exec::Finished;
use flick_exec::Status;

pub struct Normal {
    /// Text and what stands for it, longest first.
    places: Vec<(String, &'static str)>,
}

impl Normal {
    pub fn new(setup: &Setup, dir: &Path) -> Self {
        let bin = setup.flick_cc.parent().unwrap_or(Path::new("."));
        let tree = bin.parent().unwrap_or(bin);
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut places = Vec::new();
        for (path, name) in [(dir, "/home/you/project"), (tree, "/usr/local")] {
            for path in [path.to_owned(), canonical(path)] {
                places.push((path.display().to_string(), name));
            }
        }
        places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Self { places }
    }

    /// The command's output, with a line about the signal that ended it.
    pub fn text(&self, finished: &Finished) -> String {
        let mut all = finished.stdout_text() + &finished.stderr_text();
        for (path, name) in &self.places {
            all = all.replace(path, name);
        }
        let mut out = String::new();
        let mut registers = false;
        for line in all.lines() {
            if is_registers(line) {
                if !registers {
                    out.push_str("  (the 32 registers)\n");
                }
                registers = true;
                continue;
            }
            registers = false;
            if let Some(how) = death(line) {
                out.push_str(how);
            } else {
                out.push_str(&words(line));
            }
            out.push('\n');
        }
        if let Status::Signal(signal) = finished.status {
            out.push_str(&format!("(signal {signal})\n"));
        }
        out
    }
}

/// A row of a register dump: names, each with 16 digits.
fn is_registers(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.len() >= 2
        && words.len().is_multiple_of(2)
        && words
            .chunks(2)
            .all(|pair| pair[1].len() == 16 && pair[1].bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `bash: line 2: 1234 Segmentation fault  ./prog`, as an interactive shell says it.
fn death(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("bash: line ")?;
    let (_, rest) = rest.split_once(": ")?;
    let rest = rest
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    [
        "Segmentation fault",
        "Aborted",
        "Illegal instruction",
        "Bus error",
        "Killed",
    ]
    .into_iter()
    .find(|how| rest.trim_start().starts_with(how))
}

/// Addresses, names of temporary files, process numbers and times become `…`.
fn words(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let keep = if let Some(tail) = rest.strip_prefix("0x")
            && let digits = span(tail, |c| c.is_ascii_hexdigit())
            && digits >= 6
        {
            Some((2, digits, 2))
        } else if let Some((prefix, length)) = temporary(rest) {
            Some((prefix, length, prefix))
        } else {
            let process = rest.strip_prefix("(pid ");
            process.map(|tail| (5, span(tail, |c| c.is_ascii_digit()), 5))
        };
        match keep {
            Some((skip, length, shown)) => {
                out.push_str(&rest[..shown]);
                out.push('…');
                rest = &rest[skip + length..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// A compiler's or Flick's temporary name at the start of `text`: what to keep, what to replace.
fn temporary(text: &str) -> Option<(usize, usize)> {
    let tail = text.strip_prefix("/tmp/")?;
    let name = span(tail, |c| c.is_ascii_alphanumeric() || c == '_');
    let after = &tail[name..];
    if let Some(random) = after.strip_prefix('-') {
        // clang: /tmp/main-1a2b3c.o; Flick: /tmp/flick-AbCdEf/0-main.o
        return Some((5 + name + 1, span(random, |c| c.is_ascii_alphanumeric())));
    }
    // gcc: /tmp/ccAbCdEf.o
    tail.starts_with("cc").then_some((7, name - 2))
}

fn span(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_hidden() {
        assert_eq!(words("at 0x55f3eb38b294 in f+0x10"), "at 0x… in f+0x10");
        assert_eq!(
            words("ld: /tmp/ccAbC123.o: /tmp/main-0a1b2c.o"),
            "ld: /tmp/cc….o: /tmp/main-….o"
        );
        assert_eq!(
            words("/tmp/flick-Zz6bGn/0-main.o é (pid 77)"),
            "/tmp/flick-…/0-main.o é (pid …)"
        );
        assert!(is_registers(
            "  pc   000055f3eb38b294  ra   00007f530055aa40"
        ));
        assert!(!is_registers("  called through"));
        assert_eq!(
            death("bash: line 2:  4711 Segmentation fault      ./prog"),
            Some("Segmentation fault")
        );
    }
}
