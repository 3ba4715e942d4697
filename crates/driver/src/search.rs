//! Which files the host linker will look at, in its order (GNU ld manual, options `-l`, `-L`,
//! `-Bstatic`).
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::line::Line;

/// A file of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkInput {
    pub path: PathBuf,
    /// Between `--start-lib` and `--end-lib`: an object that is taken only if needed.
    pub optional: bool,
    /// Under `--whole-archive`: an archive whose members are all taken.
    pub whole: bool,
}

impl LinkInput {
    /// Whether it belongs to the system: its C library is the one that the NxP's stands for.
    pub fn of_system(&self) -> bool {
        let dir = self.path.parent().unwrap_or(Path::new(""));
        SYSTEM_DIRS.iter().any(|system| dir == Path::new(system)) || dir.starts_with("/usr/lib/gcc")
    }
}

/// Where linkers look for `-l` after every `-L`.
const SYSTEM_DIRS: [&str; 6] = [
    "/usr/local/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
];

/// The user's files in the link. What does not exist is left to the linker to complain about.
pub fn link_inputs(line: &Line, static_link: bool) -> Vec<LinkInput> {
    // -L counts for every -l, wherever it stands.
    let mut dirs: Vec<PathBuf> = Vec::new();
    let mut words = line.words();
    while let Some(word) = words.next() {
        match word.as_bytes() {
            b"-L" | b"--library-path" => dirs.extend(words.next().map(PathBuf::from)),
            [b'-', b'L', dir @ ..] => dirs.push(OsStr::from_bytes(dir).into()),
            _ => {}
        }
    }
    dirs.extend(SYSTEM_DIRS.map(PathBuf::from));
    let mut found = Found {
        dirs,
        state: State {
            archives_only: static_link,
            whole: false,
        },
        pushed: Vec::new(),
        optional: false,
        inputs: Vec::new(),
    };
    let mut words = line.user.iter();
    while let Some(word) = words.next() {
        if word == "-l" || word == "--library" {
            words
                .next()
                .into_iter()
                .for_each(|name| found.library(name));
        } else {
            found.word(word, static_link);
        }
    }
    found.inputs
}

/// What `--push-state` saves.
#[derive(Clone, Copy)]
struct State {
    archives_only: bool,
    whole: bool,
}

struct Found {
    dirs: Vec<PathBuf>,
    state: State,
    pushed: Vec<State>,
    optional: bool,
    inputs: Vec<LinkInput>,
}

impl Found {
    fn path(&mut self, path: Option<&Path>) {
        if let Some(path) = path.filter(|path| path.is_file()) {
            self.inputs.push(LinkInput {
                path: path.into(),
                optional: self.optional,
                whole: self.state.whole,
            });
        }
    }

    fn word(&mut self, word: &OsStr, static_link: bool) {
        match word.as_bytes() {
            b"-Bstatic" | b"-dn" | b"-non_shared" | b"-static" => {
                self.state.archives_only = true;
            }
            b"-Bdynamic" | b"-dy" | b"-call_shared" => {
                self.state.archives_only = static_link;
            }
            b"--whole-archive" | b"-whole-archive" => self.state.whole = true,
            b"--no-whole-archive" | b"-no-whole-archive" => self.state.whole = false,
            b"--push-state" | b"-push-state" => self.pushed.push(self.state),
            b"--pop-state" | b"-pop-state" => {
                self.state = self.pushed.pop().unwrap_or(self.state);
            }
            b"--start-lib" => self.optional = true,
            b"--end-lib" => self.optional = false,
            [
                b'-',
                b'-',
                b'l',
                b'i',
                b'b',
                b'r',
                b'a',
                b'r',
                b'y',
                b'=',
                name @ ..,
            ] => {
                self.library(OsStr::from_bytes(name));
            }
            [b'-', b'l', name @ ..] if !name.is_empty() => self.library(OsStr::from_bytes(name)),
            [b'-', ..] => {}
            _ => self.path(Some(Path::new(word))),
        }
    }

    fn library(&mut self, name: &OsStr) {
        let exact = name.as_bytes().strip_prefix(b":").map(OsStr::from_bytes);
        let file = |dir: &Path, suffix: &str| {
            let mut file = OsString::from("lib");
            file.push(name);
            file.push(suffix);
            Some(dir.join(file)).filter(|file| file.is_file())
        };
        let hit = self.dirs.iter().find_map(|dir| match exact {
            Some(exact) => Some(dir.join(exact)).filter(|file| file.is_file()),
            None if self.state.archives_only => file(dir, ".a"),
            None => file(dir, ".so").or_else(|| file(dir, ".a")),
        });
        self.path(hit.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_linker_words() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["libboth.so", "libboth.a", "libonly.a", "x.o"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let at = |name: &str| dir.path().join(name);
        let x = at("x.o").into_os_string();
        let mut line = Line {
            before: vec!["-L".into(), dir.path().into()],
            user: vec![
                "-lboth".into(),
                "-Bstatic".into(),
                "-lboth".into(),
                "--start-lib".into(),
                x,
            ],
            ..Line::default()
        };
        let rest = [
            "--end-lib",
            "-Bdynamic",
            "-l",
            "only",
            "-l:libonly.a",
            "missing.o",
        ];
        line.user.extend(rest.map(Into::into));
        let found = link_inputs(&line, false);
        let names: Vec<_> = found
            .iter()
            .map(|i| {
                let name = i.path.file_name().unwrap().to_str().unwrap();
                (name, i.optional, i.whole)
            })
            .collect();
        assert_eq!(
            names,
            [
                ("libboth.so", false, false),
                ("libboth.a", false, false),
                ("x.o", true, false),
                ("libonly.a", false, false),
                ("libonly.a", false, false)
            ]
        );
        let states = "--push-state -Bstatic --whole-archive -lboth --pop-state -lboth \
                      -whole-archive -lonly -no-whole-archive -lonly --pop-state -lonly";
        line.user = states.split_whitespace().map(Into::into).collect();
        let whole: Vec<_> = link_inputs(&line, false)
            .into_iter()
            .map(|i| (i.path.extension().unwrap() == "so", i.whole))
            .collect();
        let plain = (false, false);
        assert_eq!(
            whole,
            [(false, true), (true, false), (false, true), plain, plain]
        );
        line.before.clear();
        line.user.truncate(1);
        let found = link_inputs(&line, true);
        assert!(found.is_empty(), "the directory is not named: {found:?}");
    }
}
