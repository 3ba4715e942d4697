//! `FLICK_SAVE_DIR`: each command leaves a directory from which it can be repeated without the tree
//! it was given in (docs/driver.md).
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flick_abi::settings::PLACE;
use flick_diagnostics::Code;
use flick_image::output;

use crate::args::Args;
use crate::driver::FrontEnd;
use crate::preprocessed::escaped;
use crate::root::Root;
use crate::run::{Runner, quoted};
use crate::{Error, Result};

mod command_words;

use command_words::{OUTPUTS, absolute, rule_files, value_starts, without_outputs};

/// Environment that clang, the linker or Flick read.
const VARIABLES: [&str; 14] = [
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "DEPENDENCIES_OUTPUT",
    "FLICK_ROOT",
    "GCC_EXEC_PREFIX",
    "LC_ALL",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "SOURCE_DATE_EPOCH",
    "SUNPRO_DEPENDENCIES",
    "ZERO_AR_DATE",
];

/// A command as it is being saved.
pub struct Reproduction<'a> {
    pub front: FrontEnd,
    pub args: &'a Args,
    pub root: &'a Root,
    pub clang: &'a Path,
    pub dir: PathBuf,
}

impl<'a> Reproduction<'a> {
    /// A new directory under `parent`, named after the first source or the output. FLK0105.
    pub fn create(
        front: FrontEnd,
        args: &'a Args,
        root: &'a Root,
        clang: &'a Path,
        parent: &Path,
    ) -> Result<Self> {
        let output = args.output.as_ref().map(PathBuf::from);
        let named = args.sources.first().cloned().or(output).unwrap_or_default();
        let stem = named.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        fs::create_dir_all(parent).map_err(|e| failed(parent, &e))?;
        // Commands of a parallel build take their numbers at the same time.
        let dir = (1..)
            .map(|number| parent.join(format!("{number:04}-{stem}")))
            .find_map(|dir| match fs::create_dir(&dir) {
                Ok(()) => Some(Ok(dir)),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => None,
                Err(e) => Some(Err(failed(&dir, &e))),
            })
            .unwrap_or_else(|| unreachable!("numbers do not end"))?;
        let dir = fs::canonicalize(&dir).map_err(|e| failed(&dir, &e))?;
        Ok(Self {
            front,
            args,
            root,
            clang,
            dir,
        })
    }

    /// Keeps standard input, if it is a source; the compile reads the copy. FLK0105.
    pub fn take_stdin(&self) -> Result<Option<fs::File>> {
        if !self.args.sources.iter().any(|s| s == Path::new("-")) {
            return Ok(None);
        }
        let to = self.dir.join("stdin");
        let error = |e: std::io::Error| failed(&to, &e);
        let mut copy = fs::File::create(&to).map_err(error)?;
        std::io::copy(&mut std::io::stdin().lock(), &mut copy).map_err(error)?;
        fs::File::open(&to).map(Some).map_err(error)
    }

    /// Copies what the command reads and writes how to repeat it. `outcome`: how it ended. FLK0105.
    pub fn save(&self, outcome: &str) -> Result<()> {
        let here = std::env::current_dir().map_err(|e| failed(Path::new("."), &e))?;
        let headers = self.headers();
        let mut files: BTreeSet<PathBuf> = headers.iter().map(|f| absolute(&here, f)).collect();
        let words = self.for_script(&self.args.all, &here, &headers, &mut files);
        let mut plain = self.for_script(&self.args.expanded, &here, &headers, &mut files);
        plain.extend(["-idirafter".into(), self.root.include().into()]);
        for file in files.iter().filter(|file| file.is_file()) {
            copy(file, &self.tree(file))?;
        }
        self.preprocess()?;
        self.write("overlay.yaml", &overlay(&files))?;
        self.write("README", &self.description(&here, outcome))?;
        let program = self.root.dir().join("bin").join(self.front.program());
        let replay = "--flick-replay=\"$here\" --flick-replay-from=\"$from\"";
        self.write_script("run.sh", &program, replay, &here, &words)?;
        let overlay = "-ivfsoverlay \"$here\"/overlay.yaml -Qunused-arguments";
        self.write_script("plain.sh", self.clang, overlay, &here, &plain)
    }

    fn for_script(
        &self,
        words: &[OsString],
        here: &Path,
        headers: &BTreeSet<PathBuf>,
        files: &mut BTreeSet<PathBuf>,
    ) -> Vec<OsString> {
        let mut after_output = false;
        let mut all = Vec::new();
        for word in words {
            let (new, found) = self.rewritten(word, here, headers, after_output);
            after_output = OUTPUTS.iter().any(|o| word == *o);
            files.extend(found);
            all.push(new);
        }
        all
    }

    fn tree(&self, absolute: &Path) -> PathBuf {
        let relative = absolute.strip_prefix("/").unwrap_or(absolute);
        self.dir.join("tree").join(relative)
    }

    /// Sources and all that they include, as clang names them for make.
    fn headers(&self) -> BTreeSet<PathBuf> {
        let output = self.ask(&["-M", "-MG"]);
        output.map(|text| rule_files(&text)).unwrap_or_default()
    }

    /// For a human reader, and for another machine with other headers.
    fn preprocess(&self) -> Result<()> {
        match self.ask(&["-E"]) {
            Some(text) if !text.is_empty() => self.write_bytes("preprocessed.txt", &text),
            _ => Ok(()),
        }
    }

    /// What clang prints with the command's options and `stop`.
    fn ask(&self, stop: &[&str]) -> Option<Vec<u8>> {
        if self.args.sources.is_empty() {
            return None;
        }
        let mut words = without_outputs(&self.args.expanded);
        words.extend([
            "-D__FLICK__=1".into(),
            "-idirafter".into(),
            self.root.include().into(),
        ]);
        words.extend(["-w", "-Qunused-arguments"].map(OsString::from));
        words.extend(stop.iter().map(OsString::from));
        let stdin = fs::File::open(self.dir.join("stdin")).ok();
        let set = |command: &mut Command| {
            command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
        };
        let output = Runner::default()
            .capture_set(self.clang, &words, set)
            .ok()?;
        Some(output.stdout)
    }

    /// A word for `run.sh`, and the files that it names. Absolute paths of outputs and of files
    /// that the overlay does not serve lead into the tree: `\0` stands for it.
    fn rewritten(
        &self,
        word: &OsStr,
        here: &Path,
        headers: &BTreeSet<PathBuf>,
        is_output: bool,
    ) -> (OsString, Vec<PathBuf>) {
        let mut found = Vec::new();
        let mut at_tree = None;
        for start in value_starts(word.as_bytes()) {
            let value = Path::new(OsStr::from_bytes(&word.as_bytes()[start..]));
            if value.as_os_str().is_empty() {
                continue;
            }
            let file = absolute(here, value);
            // clang's driver and the assembler do not look into the overlay.
            let source = self.args.sources.iter().any(|s| s == value);
            let served = headers.contains(value) && !source;
            let place = word.as_bytes().starts_with(b"--flick-place");
            let output = is_output || (start == 2 && word.as_bytes().starts_with(b"-o"));
            let lib_dir = start == 2 && word.as_bytes().starts_with(b"-L") && file.is_dir();
            if lib_dir && !file.starts_with("/usr") {
                found.extend(self.libraries(&file));
            } else if file.is_file() && !output && !of_system(&file) {
                found.push(file);
            } else if !output {
                continue;
            }
            if value.is_absolute() && !served && !place {
                at_tree = Some(start);
            }
        }
        let Some(start) = at_tree else {
            return (word.to_owned(), found);
        };
        let mut new = word.as_bytes()[..start].to_vec();
        new.push(0);
        new.extend(&word.as_bytes()[start..]);
        (OsString::from_vec(new), found)
    }

    /// Libraries in `dir` that the command asks for.
    fn libraries(&self, dir: &Path) -> Vec<PathBuf> {
        let names = self
            .args
            .all
            .iter()
            .filter_map(|word| word.to_str()?.strip_prefix("-l"));
        names
            .flat_map(|name| [format!("lib{name}.so"), format!("lib{name}.a")])
            .map(|name| dir.join(name))
            .filter(|file| file.is_file())
            .collect()
    }

    fn description(&self, here: &Path, outcome: &str) -> String {
        let mut text = format!(
            "A command of flick cc, saved by flick {}. run.sh repeats it; FLICK_CC=… with another flick-cc.\n\n",
            env!("CARGO_PKG_VERSION")
        );
        let words: Vec<String> = self
            .args
            .all
            .iter()
            .map(|w| quoted(&w.to_string_lossy()))
            .collect();
        let version = Runner::default().capture(self.clang, &["--version".into()]);
        let version = version.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        let _ = writeln!(
            text,
            "command:   {} {}",
            self.front.program(),
            words.join(" ")
        );
        let _ = writeln!(text, "directory: {}", here.display());
        let _ = writeln!(text, "outcome:   {outcome}");
        let _ = writeln!(text, "flick:     {}", self.root.dir().display());
        let _ = writeln!(text, "clang:     {}", self.clang.display());
        let _ = writeln!(text, "\n{}", version.unwrap_or_default().trim_end());
        text
    }

    fn write_script(
        &self,
        name: &str,
        program: &Path,
        options: &str,
        here: &Path,
        words: &[OsString],
    ) -> Result<()> {
        let from = quoted(&here.to_string_lossy());
        let mut text = String::from("#!/bin/sh\n# Repeats the command; README says which.\n");
        text.push_str("here=$(cd \"$(dirname \"$0\")\" && pwd -P) || exit\n");
        let _ = writeln!(text, "from={from}");
        let _ = writeln!(
            text,
            "program=${{FLICK_CC:-{}}}",
            quoted(&program.to_string_lossy())
        );
        for name in VARIABLES {
            let _ = match std::env::var_os(name) {
                Some(value) => writeln!(text, "export {name}={}", quoted(&value.to_string_lossy())),
                None => writeln!(text, "unset {name}"),
            };
        }
        // The command's words have its file.
        let _ = writeln!(text, "unset {PLACE}");
        // Outputs go beside the copies.
        text.push_str("mkdir -p \"$here/tree$from\"");
        for output in self.output_dirs(here) {
            let _ = write!(text, " \"$here\"/tree{}", quoted(&output.to_string_lossy()));
        }
        text.push_str("\ncd \"$here/tree$from\" || exit\n");
        let _ = write!(text, "exec \"$program\" {options}");
        for word in words {
            let word = word.to_string_lossy();
            let _ = match word.split_once('\0') {
                Some((before, path)) => {
                    write!(
                        text,
                        " {}\"$here\"/tree{}",
                        quoted_part(before),
                        quoted(path)
                    )
                }
                None => write!(text, " {}", quoted(&word)),
            };
        }
        if self.dir.join("stdin").is_file() {
            text.push_str(" <\"$here\"/stdin");
        }
        text.push('\n');
        self.write(name, &text)?;
        use std::os::unix::fs::PermissionsExt;
        let script = self.dir.join(name);
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
            .map_err(|e| failed(&script, &e))
    }

    /// Directories that outputs are written to.
    fn output_dirs(&self, here: &Path) -> BTreeSet<PathBuf> {
        let mut dirs = BTreeSet::new();
        for pair in self.args.expanded.windows(2) {
            if OUTPUTS.iter().any(|o| pair[0] == *o) {
                dirs.extend(
                    absolute(here, Path::new(&pair[1]))
                        .parent()
                        .map(Path::to_path_buf),
                );
            }
        }
        if let Some(output) = &self.args.output {
            dirs.extend(
                absolute(here, Path::new(output))
                    .parent()
                    .map(Path::to_path_buf),
            );
        }
        dirs
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        self.write_bytes(name, text.as_bytes())
    }

    fn write_bytes(&self, name: &str, data: &[u8]) -> Result<()> {
        let path = self.dir.join(name);
        output::write(&path, data).map_err(|e| failed(&path, &e))
    }
}

fn of_system(file: &Path) -> bool {
    ["/usr", "/lib", "/lib64", "/dev", "/proc"]
        .iter()
        .any(|dir| file.starts_with(dir))
}

/// For clang's virtual file system: each file under its old name.
fn overlay(files: &BTreeSet<PathBuf>) -> String {
    let entry = |file: &PathBuf| {
        let name = escaped(&file.to_string_lossy());
        format!(
            "{{\"type\": \"file\", \"name\": \"{name}\", \"external-contents\": \"tree{name}\"}}"
        )
    };
    let entries: Vec<String> = files.iter().filter(|f| f.is_file()).map(entry).collect();
    format!(
        "{{\"version\": 0, \"case-sensitive\": true, \"use-external-names\": false, \
         \"overlay-relative\": true, \"roots\": [\n{}\n]}}\n",
        entries.join(",\n")
    )
}

/// With its time: clang compares times of what a precompiled header was made from.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let copied = || {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        fs::copy(from, to)?;
        let time = fs::metadata(from)?.modified()?;
        fs::File::options()
            .append(true)
            .open(to)?
            .set_modified(time)
    };
    copied().map_err(|e| failed(to, &e))
}

fn quoted_part(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        quoted(text)
    }
}

fn failed(place: &Path, error: &std::io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a reproduction cannot be saved",
        place.display().to_string(),
        error.to_string(),
        "check that FLICK_SAVE_DIR names a directory that can be written",
    )
}
