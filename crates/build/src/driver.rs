//! `flick cc`: what the arguments ask for, one step after the other.
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{Args, Language, Mode, Piece};
use crate::compile::Compiler;
use crate::link::{self, Link};
use crate::root::{CLANG, CLANGXX, Root, Tool};
use crate::run::{Runner, Step, Stop};
use crate::temp::Temp;
use crate::{Error, Result, refused, response};

/// Which of clang's drivers the command stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    /// `flick-cc`: clang.
    C,
    /// `flick-c++`: clang++, which takes `.c` files for C++ and links the C++ library.
    Cxx,
}

impl FrontEnd {
    /// By the last part of a program's or subcommand's name.
    pub fn of_name(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "cc" => Some(Self::C),
            "c++" => Some(Self::Cxx),
            _ => None,
        }
    }

    pub fn tool(self) -> Tool {
        match self {
            Self::C => CLANG,
            Self::Cxx => CLANGXX,
        }
    }
}

/// Compiles and links as clang would with these arguments (without the program's name). Prints
/// errors; exit codes are clang's.
pub fn cc(front: FrontEnd, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    match drive(front, args.into_iter().collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Error(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn drive(front: FrontEnd, words: Vec<OsString>) -> Step {
    let words = response::expand(words)?;
    let args = Args::parse(front, words.clone())?;
    let runner = Runner {
        verbose: args.verbose,
    };
    if args.inputs() == 0 || args.has("-###") {
        return ask_clang(front, &words, &runner);
    }
    let root = Root::find()?;
    if args.sources() == 0 && args.mode != Mode::Link {
        // Only clang knows what to say about it.
        return ask_clang(front, &words, &runner);
    }
    check(&args)?;
    if args.mode != Mode::Link {
        let compiler = Compiler::new(&args, &root, runner)?;
        return sources(&args).try_for_each(|(index, _)| compiler.alone(index));
    }
    compile_and_link(&args, &root, runner)
}

/// `--version`, `-print-…`, `-###` and the like: clang answers, and Flick names itself.
fn ask_clang(front: FrontEnd, words: &[OsString], runner: &Runner) -> Step {
    if words.iter().any(|word| word == "--version" || word == "-v") {
        let name = concat!("flick ", env!("CARGO_PKG_VERSION"), ", a driver of");
        // clang prints its version on stderr for -v.
        if words.iter().any(|word| word == "--version") {
            println!("{name}");
        } else {
            eprintln!("{name}");
        }
    }
    let own = |word: &&OsString| !word.to_string_lossy().starts_with("--flick-");
    let words: Vec<OsString> = words.iter().filter(own).cloned().collect();
    runner.run(&front.tool().require()?, &words)
}

fn sources(args: &Args) -> impl Iterator<Item = (usize, Language)> {
    args.pieces
        .iter()
        .enumerate()
        .filter_map(|(index, piece)| match piece {
            Piece::Source { language, .. } => Some((index, *language)),
            _ => None,
        })
}

fn check(args: &Args) -> Result<()> {
    let several = args.mode != Mode::Link && args.sources() > 1;
    if let (true, Some(output)) = (several, &args.output) {
        return Err(Error::new(
            104,
            "one output for several inputs",
            output.to_string_lossy(),
            "-o names one file, and -c, -S or -E make one for each source",
            "leave -o out, or compile one source at a time",
        ));
    }
    if args.mode == Mode::Link && sources(args).any(|(_, language)| language == Language::Header) {
        return Err(refused::language("a header beside other inputs"));
    }
    if args.mode == Mode::Link && args.sources() > 0 {
        for option in [
            "-gsplit-dwarf",
            "--coverage",
            "-ftest-coverage",
            "-fprofile-arcs",
        ] {
            if args.has(option) {
                return Err(refused::needs_object(option));
            }
        }
    }
    Ok(())
}

fn compile_and_link(args: &Args, root: &Root, runner: Runner) -> Step {
    let temp = Temp::new(args.save_temps.as_deref())?;
    let mut objects: Vec<Option<PathBuf>> = vec![None; args.pieces.len()];
    if args.sources() > 0 {
        let compiler = Compiler::new(args, root, runner)?;
        for (index, _) in sources(args) {
            let Piece::Source { path, .. } = &args.pieces[index] else {
                continue;
            };
            let object = temp.file(&format!("{index}-{}.o", stem(path)));
            compiler.for_link(index, &object)?;
            objects[index] = Some(object);
        }
    }
    link::run(&Link {
        args,
        objects,
        root,
        runner,
        temp: &temp,
    })
}

fn stem(path: &OsString) -> String {
    let stem = std::path::Path::new(path).file_stem().unwrap_or_default();
    stem.to_string_lossy()
        .replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-")
}
