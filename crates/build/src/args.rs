//! Arguments of `flick cc`: clang's, sorted by who must see them, and Flick's own.
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::driver::FrontEnd;
use crate::placement::Placement;
use crate::refused;
use crate::{Error, Result};

/// How far the command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `-E`, `-M`, `-fsyntax-only`, …: no code is made.
    Preprocess,
    /// `-S`
    Assembly,
    /// `-c`
    Object,
    Link,
}

/// What the compiler does with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C or C++, preprocessed or not: the pass sees it.
    C,
    /// Assembly that is preprocessed first.
    AssemblyCpp,
    Assembly,
    /// A header to be precompiled.
    Header,
}

/// An argument with its value, in the order of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Source {
        path: OsString,
        language: Language,
    },
    /// Object, archive, library or linker script.
    File(OsString),
    /// `-lNAME`; the name.
    Library(OsString),
    /// `-LDIR`; the directory.
    LibraryDir(OsString),
    /// `-xLANGUAGE`; changes how the sources behind it are read.
    Language(OsString),
    /// Only the linker needs it.
    Linker(Vec<OsString>),
    /// Make rules (`-MD` …): the compile of each source only.
    Depend(Vec<OsString>),
    Other(Vec<OsString>),
}

impl Piece {
    /// As on the command line.
    pub fn words(&self) -> Vec<OsString> {
        let joined = |flag: &str, value: &OsStr| {
            let mut word = OsString::from(flag);
            word.push(value);
            vec![word]
        };
        match self {
            Self::Source { path, .. } | Self::File(path) => vec![path.clone()],
            Self::Library(name) => joined("-l", name),
            Self::LibraryDir(dir) => joined("-L", dir),
            Self::Language(name) => joined("-x", name),
            Self::Linker(words) | Self::Depend(words) | Self::Other(words) => words.clone(),
        }
    }
}

/// A parsed command line.
#[derive(Debug)]
pub struct Args {
    pub front: FrontEnd,
    pub mode: Mode,
    pub pieces: Vec<Piece>,
    pub output: Option<OsString>,
    pub placement: Placement,
    pub verbose: bool,
    /// `--flick-save-temps=DIR`
    pub save_temps: Option<PathBuf>,
    /// An option that does not go together with NxP code; known only once there is some.
    pub not_with_nxp: Option<OsString>,
}

/// clang's options whose value is the next word. From `clang --help-hidden`, version 19.
const SEPARATE: &[&str] = &[
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-U",
    "-Xanalyzer",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-dumpdir",
    "-gcc-toolchain",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-meabi",
    "-mllvm",
    "-mthread-model",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-target",
    "--target",
    "-working-directory",
    "--param",
    "--sysroot",
    "--config",
    "--include",
    "--define-macro",
    "--undefine-macro",
    "--include-directory",
    "--prefix",
    "--gcc-toolchain",
    "--std",
    "--optimize",
];
/// The same, for the linker.
const SEPARATE_LINKER: &[&str] = &["-T", "-Xlinker", "-e", "-rpath", "-u", "-z", "--force-link"];
const LINKER: &[&str] = &[
    "-nodefaultlibs",
    "-no-pie",
    "-nolibc",
    "-nopie",
    "-nostartfiles",
    "-nostdlib",
    "-pie",
    "-r",
    "-rdynamic",
    "-s",
    "-shared",
    "--shared",
    "-shared-libgcc",
    "-static-libgcc",
    "-static-pie",
];
const LINKER_PREFIX: &[&str] = &[
    "-Wl,",
    "-fuse-ld=",
    "--ld-path=",
    "-T",
    "-z",
    "-rtlib=",
    "--rtlib=",
];
const PREPROCESS: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--analyze",
    "-verify-pch",
    "-emit-ast",
    "--preprocess",
];

impl Args {
    /// FLK0101 for what is not handled, FLK0104 for wrong values of Flick's own options.
    pub fn parse(front: FrontEnd, words: Vec<OsString>) -> Result<Self> {
        let mut args = Self {
            front,
            mode: Mode::Link,
            pieces: Vec::new(),
            output: None,
            placement: Placement::default(),
            verbose: false,
            save_temps: None,
            not_with_nxp: None,
        };
        let mut forced: Option<OsString> = None;
        let mut only_inputs = false;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if only_inputs || text == "-" || !text.starts_with('-') {
                args.input(word, forced.as_deref())?;
                continue;
            }
            if text == "--" {
                only_inputs = true;
                continue;
            }
            if args.flick_option(&text)? {
                continue;
            }
            refused::check(&text)?;
            if refused::not_with_nxp(&text) {
                args.not_with_nxp = Some(word.clone());
            }
            let mut value = || {
                words.next().ok_or_else(|| {
                    let why = "it needs a value and is the last argument";
                    Error::new(
                        104,
                        "an option has no value",
                        &text,
                        why,
                        "give it its value",
                    )
                })
            };
            match text.as_str() {
                "-c" | "--compile" => args.mode = Mode::Object,
                "-S" | "--assemble" => args.mode = Mode::Assembly,
                "-o" | "--output" => args.output = Some(value()?),
                "-x" | "--language" => args.language(value()?, &mut forced)?,
                "-l" => args.pieces.push(Piece::Library(value()?)),
                "-L" | "--library-directory" => args.pieces.push(Piece::LibraryDir(value()?)),
                "-MF" | "-MJ" | "-MQ" | "-MT" => {
                    let words = vec![word, value()?];
                    args.pieces.push(Piece::Depend(words));
                }
                _ if SEPARATE.contains(&text.as_str()) || text.starts_with("-Xarch_") => {
                    let value = value()?;
                    refused::check_value(&text, &value.to_string_lossy())?;
                    args.pieces.push(Piece::Other(vec![word, value]));
                }
                _ if SEPARATE_LINKER.contains(&text.as_str()) => {
                    let words = vec![word, value()?];
                    args.pieces.push(Piece::Linker(words));
                }
                _ => args.joined(word, &text, &mut forced)?,
            }
        }
        // The deepest stop counts, as in clang.
        if args
            .pieces
            .iter()
            .any(|p| matches!(p, Piece::Other(w) if is_preprocess(&w[0])))
        {
            args.mode = Mode::Preprocess;
        }
        Ok(args)
    }

    fn joined(&mut self, word: OsString, text: &str, forced: &mut Option<OsString>) -> Result<()> {
        let rest = |n: usize| OsStr::from_bytes(&word.as_bytes()[n..]).to_os_string();
        let piece = if text.starts_with("-o") && !text.starts_with("-objc") {
            self.output = Some(rest(2));
            return Ok(());
        } else if text.starts_with("-x") && text != "-xhip" {
            return self.language(rest(2), forced);
        } else if text.starts_with("-l") {
            Piece::Library(rest(2))
        } else if text.starts_with("-L") {
            Piece::LibraryDir(rest(2))
        } else if matches!(text, "-MD" | "-MMD" | "-MP" | "-MG" | "-MV")
            || ["-MF", "-MT", "-MQ", "-MJ"]
                .iter()
                .any(|flag| text.starts_with(flag))
        {
            Piece::Depend(vec![word])
        } else if LINKER.contains(&text) || LINKER_PREFIX.iter().any(|p| text.starts_with(p)) {
            Piece::Linker(vec![word])
        } else {
            Piece::Other(vec![word])
        };
        self.pieces.push(piece);
        Ok(())
    }

    fn flick_option(&mut self, text: &str) -> Result<bool> {
        let Some(option) = text.strip_prefix("--flick-") else {
            return Ok(false);
        };
        if option == "verbose" {
            self.verbose = true;
        } else if let Some(value) = option.strip_prefix("place=") {
            self.placement.add(value)?;
        } else if let Some(dir) = option
            .strip_prefix("save-temps=")
            .filter(|dir| !dir.is_empty())
        {
            self.save_temps = Some(dir.into());
        } else {
            return Err(Error::new(
                104,
                "an option of Flick's is not known",
                text,
                "there is none of this name, or its value is missing",
                "there are --flick-place=FILE, --flick-place=random:SEED:PERCENT, \
                 --flick-save-temps=DIR and --flick-verbose",
            ));
        }
        Ok(true)
    }

    fn language(&mut self, name: OsString, forced: &mut Option<OsString>) -> Result<()> {
        *forced = (name != "none").then(|| name.clone());
        if let Some(name) = forced {
            language_of_name(&name.to_string_lossy())?;
        }
        self.pieces.push(Piece::Language(name));
        Ok(())
    }

    fn input(&mut self, path: OsString, forced: Option<&OsStr>) -> Result<()> {
        let language = match forced {
            Some(name) => Some(language_of_name(&name.to_string_lossy())?),
            None => language_of_path(Path::new(&path))?,
        };
        self.pieces.push(match language {
            Some(language) => Piece::Source { path, language },
            None => Piece::File(path),
        });
        Ok(())
    }

    pub fn sources(&self) -> usize {
        self.pieces
            .iter()
            .filter(|p| matches!(p, Piece::Source { .. }))
            .count()
    }

    /// Sources, files and libraries.
    pub fn inputs(&self) -> usize {
        let input = |p: &&Piece| {
            matches!(p, Piece::Source { .. } | Piece::File(_) | Piece::Library(_))
                || matches!(p, Piece::Linker(words) if words[0].as_bytes().starts_with(b"-Wl,-l"))
        };
        self.pieces.iter().filter(input).count()
    }

    /// Whether one of the words is exactly `word`.
    pub fn has(&self, word: &str) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Linker(words) | Piece::Other(words) | Piece::Depend(words) => words[0] == *word,
            _ => false,
        })
    }
}

fn is_preprocess(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| PREPROCESS.contains(&word))
}

fn language_of_name(name: &str) -> Result<Language> {
    match name {
        "c" | "cpp-output" | "c++" | "c++-cpp-output" => Ok(Language::C),
        "assembler-with-cpp" => Ok(Language::AssemblyCpp),
        "assembler" => Ok(Language::Assembly),
        "c-header" | "c++-header" | "c++-user-header" | "c++-system-header" => Ok(Language::Header),
        _ => Err(refused::language(&format!("-x {name}"))),
    }
}

/// `None` for what goes to the linker. By suffix, as clang decides.
fn language_of_path(path: &Path) -> Result<Option<Language>> {
    let suffix = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    Ok(Some(match suffix {
        "c" | "i" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CPP" | "CC" | "CXX" | "C++"
        | "ii" => Language::C,
        "s" => Language::Assembly,
        "S" | "sx" | "asm" => Language::AssemblyCpp,
        "h" | "hh" | "hpp" | "hxx" | "h++" | "H" => Language::Header,
        "cppm" | "ixx" | "m" | "mm" | "M" | "mi" | "mii" | "cu" | "hip" | "cl" | "ll" | "bc"
        | "f" | "F" | "for" | "FOR" | "f90" | "F90" | "f95" | "F95" | "rs" | "ads" | "adb"
        | "ifs" => {
            return Err(refused::language(&path.display().to_string()));
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Args {
        Args::parse(
            FrontEnd::C,
            line.split_whitespace().map(OsString::from).collect(),
        )
        .unwrap()
    }
    fn code(line: &str) -> u16 {
        Args::parse(
            FrontEnd::C,
            line.split_whitespace().map(OsString::from).collect(),
        )
        .unwrap_err()
        .code
        .0
    }

    #[test]
    fn values_are_no_inputs() {
        let args = parse("-I inc -D X -U Y -include a.h -MF a.c -isystem s -o out main.c x.o -lm");
        assert_eq!((args.sources(), args.inputs()), (1, 3));
        assert_eq!(args.output, Some("out".into()));
        assert_eq!(args.mode, Mode::Link);
    }

    #[test]
    fn joined_and_separate_forms() {
        let args = parse("-oout -L dir -Ldir2 -l m -lpthread -xc file -x none a.o -z now");
        assert_eq!(args.output, Some("out".into()));
        let dirs = args
            .pieces
            .iter()
            .filter(|p| matches!(p, Piece::LibraryDir(_)))
            .count();
        assert_eq!((dirs, args.sources(), args.inputs()), (2, 1, 4));
    }

    #[test]
    fn modes() {
        assert_eq!(parse("-c a.c").mode, Mode::Object);
        assert_eq!(parse("-S a.c").mode, Mode::Assembly);
        assert_eq!(parse("-c -E a.c").mode, Mode::Preprocess);
        assert_eq!(parse("-MMD -c a.c").mode, Mode::Object);
        assert_eq!(parse("-MM a.c").mode, Mode::Preprocess);
    }

    #[test]
    fn refusals() {
        for line in [
            "a.m",
            "-x cuda a",
            "-flto a.c",
            "-flto=thin a.c",
            "-m32 a.c",
            "--target=aarch64 a.c",
            "-target riscv64 a.c",
            "a.bc",
        ] {
            assert_eq!(code(line), 101, "{line}");
        }
        for line in [
            "-o",
            "--flick-place=random:1 a.c",
            "--flick-plcae=x",
            "--flick-save-temps=",
        ] {
            assert_eq!(code(line), 104, "{line}");
        }
        parse("-fno-lto --target=x86_64-linux-gnu -fsanitize=undefined a.c");
    }
}
