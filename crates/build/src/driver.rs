//! `flick cc`: one run of clang with the user's command line and Flick's words beside it. clang
//! compiles with the pass, and calls Flick for the link (`link.rs`).
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use crate::args::Args;
use crate::root::{self, CLANG, CLANGXX, Root, Tool};
use crate::run::{Runner, Step, Stop};
use crate::{compile, database, preprocessed, response};

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
    exit_code(drive(front, args.into_iter().collect()))
}

/// Prints the error that is left.
pub fn exit_code(result: Step) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Error(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn drive(front: FrontEnd, words: Vec<OsString>) -> Step {
    let expanded = response::expand(words.clone())?;
    let args = Args::parse(words, expanded)?;
    let runner = Runner {
        verbose: args.verbose,
    };
    let clang = front.tool().require()?;
    if args.inputs == 0 || args.only_show {
        runner.run(&clang, &args.words)?;
        if args.words.iter().any(|word| word == "--version") {
            // Behind clang's: build systems take the first line, or the first number.
            println!(concat!("flick ", env!("CARGO_PKG_VERSION")));
        }
        return Ok(());
    }
    let root = Root::find()?;
    let extra = compile::extra_words(&args, &root, &clang, runner)?;
    let result = runner.run(&clang, &extra.around(&args.words));
    if let Some(file) = args.database.as_deref().filter(|file| file.is_file()) {
        database::clean(file, &extra)?;
    }
    result.map_err(|stop| match root::other_clang(&clang, runner) {
        Some(error) if !args.sources.is_empty() => error.into(),
        _ => stop,
    })?;
    preprocessed::add_markers(&args, &root)?;
    Ok(())
}
