//! The built tree, and clang beside it: what a command leaves must be the same.
#![allow(dead_code)] // no test uses all of it
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flick_support::output::{stderr, stdout};
use flick_support::tree::tool;

/// What a command did: how it ended, what it printed, which files it left.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub files: BTreeMap<PathBuf, Vec<u8>>,
}

/// A directory in which one command runs after the other, each with the same files before it.
pub struct Bed {
    pub dir: tempfile::TempDir,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Bed {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let mut bed = Self {
            dir: tempfile::tempdir().unwrap(),
            before: BTreeMap::new(),
        };
        for (name, text) in files {
            bed.add(name, text);
        }
        bed
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn add(&mut self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.keep();
    }

    /// What is there now is there before every command.
    pub fn keep(&mut self) {
        self.before = self.files();
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut todo = vec![self.dir.path().to_owned()];
        while let Some(dir) = todo.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path);
                } else {
                    let name = path.strip_prefix(self.dir.path()).unwrap().to_owned();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// `words` are separated by single blanks.
    pub fn command(&self, program: impl AsRef<OsStr>, words: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command.env_remove("FLICK_SAVE_DIR");
        command.args(words.split(' ').filter(|word| !word.is_empty()));
        command
    }

    pub fn run(&self, mut command: Command) -> Outcome {
        let output = command.output().unwrap();
        let mut files = self.files();
        for name in files.keys() {
            if !self.before.contains_key(name) {
                std::fs::remove_file(self.path(&name.to_string_lossy())).unwrap();
            }
        }
        files.retain(|name, data| self.before.get(name) != Some(data));
        Outcome {
            code: output.status.code(),
            stdout: normal(&stdout(&output)),
            stderr: normal(&stderr(&output)),
            files,
        }
    }

    /// Runs both with the same words; a difference fails.
    pub fn same(&self, front: &str, words: &str, set: impl Fn(&mut Command)) {
        let found = self.differences(front, words, set);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// Runs both with the same words; what differs.
    pub fn differences(&self, front: &str, words: &str, set: impl Fn(&mut Command)) -> Vec<String> {
        let run = |program: &Path| {
            let mut command = self.command(program, words);
            set(&mut command);
            self.run(command)
        };
        let (name, clang) = match front {
            "cc" => ("flick-cc", "clang-19"),
            _ => ("flick-c++", "clang++-19"),
        };
        let want = run(Path::new(clang));
        let have = run(&tool(name));
        let mut found = Vec::new();
        let mut compare = |what: &str, have: &str, want: &str| {
            if have != want {
                found.push(format!(
                    "{front} {words}: {what}\n  is {have}\n  clang's {want}"
                ));
            }
        };
        let code = |outcome: &Outcome| format!("{:?}", outcome.code);
        let names = |outcome: &Outcome| format!("{:?}", outcome.files.keys());
        compare("standard error", &have.stderr, &want.stderr);
        compare("exit code", &code(&have), &code(&want));
        compare("standard output", &have.stdout, &want.stdout);
        compare("files", &names(&have), &names(&want));
        for (name, data) in &want.files {
            let text = |data: &[u8]| String::from_utf8_lossy(data).into_owned();
            match have.files.get(name) {
                Some(other) if other != data && text(other).contains('\0') => {
                    found.push(format!("{front} {words}: {} differs", name.display()));
                }
                Some(other) if other != data => found.push(format!(
                    "{front} {words}: {}\n  is {}\n  clang's {}",
                    name.display(),
                    text(other),
                    text(data)
                )),
                _ => {}
            }
        }
        found
    }

    /// A Flick command that must succeed; its output.
    pub fn good(&self, name: &str, words: &str) -> Output {
        let output = self.command(tool(name), words).output().unwrap();
        assert!(
            output.status.success(),
            "{name} {words}: {}",
            stderr(&output)
        );
        output
    }
}

/// Without the random part of temporary names.
fn normal(text: &str) -> String {
    let word = |word: &str| match word.split_once("/tmp/") {
        Some((before, name)) if name.contains('-') => format!("{before}/tmp/…"),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
