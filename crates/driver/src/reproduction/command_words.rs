//! Words of a command line and of make's rules, and the files that they name.
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// Options whose values are files to be written.
pub const OUTPUTS: [&str; 8] = [
    "-o",
    "--output",
    "-MF",
    "-MJ",
    "-dumpdir",
    "-dependency-file",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
];

/// Where in a word a file's name may begin.
pub fn value_starts(word: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    if !word.starts_with(b"-") {
        starts.push(0);
    } else if word.len() > 2 && matches!(word[1], b'o' | b'L' | b'T' | b'B') {
        starts.push(2);
    }
    let cut = |&(_, &byte): &(usize, &u8)| byte == b'=' || byte == b',';
    starts.extend(word.iter().enumerate().filter(cut).map(|(at, _)| at + 1));
    starts
}

/// Without `.` and `..`.
pub fn absolute(here: &Path, file: &Path) -> PathBuf {
    let mut path = PathBuf::new();
    for part in here.join(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

/// The words without what asks for files or for another stage.
pub fn without_outputs(words: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if OUTPUTS.contains(&&*text) || ["-MT", "-MQ"].contains(&&*text) {
            words.next();
        } else if matches!(
            &*text,
            "-c" | "--compile" | "-S" | "--assemble" | "-E" | "-v" | "-fsyntax-only" | "--analyze"
        ) || (text.starts_with("-o") && !text.starts_with("-objc"))
            || [
                "-M",
                "-save-temps",
                "--save-temps",
                "-ftime-trace",
                "-emit-",
            ]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            continue;
        } else {
            kept.push(word.clone());
        }
    }
    kept
}

/// Prerequisites of make rules as clang writes them.
pub fn rule_files(text: &[u8]) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut word = Vec::new();
    let mut target = true;
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'\n')) => drop(bytes.next()),
            (b'\\', Some(&next @ (b' ' | b'#' | b'\\'))) => {
                word.push(next);
                bytes.next();
            }
            (b'$', Some(b'$')) => {
                word.push(b'$');
                bytes.next();
            }
            (b':', Some(b' ' | b'\\' | b'\n')) if target => {
                target = false;
                word.clear();
            }
            (b' ' | b'\n', _) => {
                if !word.is_empty() && !target {
                    files.insert(PathBuf::from(OsString::from_vec(std::mem::take(&mut word))));
                }
                word.clear();
                target |= byte == b'\n';
            }
            _ => word.push(byte),
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rules() {
        let rules = b"a.o: a.c b\\ c.h \\\n  /x/d$$.h\nb.o: b.c\n";
        let files: Vec<_> = rule_files(rules).into_iter().collect();
        assert_eq!(files, ["/x/d$.h", "a.c", "b c.h", "b.c"].map(PathBuf::from));
    }

    #[test]
    fn names_in_words() {
        let at = |word: &str| value_starts(word.as_bytes());
        assert_eq!(at("a.o"), [0]);
        assert_eq!(at("-L/x"), [2]);
        assert_eq!(at("-Wl,--version-script=x.map"), [4, 21]);
        assert_eq!(at("-O2"), [0; 0]);
        assert_eq!(
            absolute(Path::new("/a/b"), Path::new("../c/./d")),
            Path::new("/a/c/d")
        );
    }

    #[test]
    fn words_without_outputs() {
        let words: Vec<OsString> = "-c a.c -o x -MD -MF d -O2 -ox -MTt"
            .split(' ')
            .map(Into::into)
            .collect();
        assert_eq!(without_outputs(&words), ["a.c", "-O2"]);
    }
}
