//! `flick cc`: one run of clang with the user's command line and Flick's words beside it. clang
//! compiles with the pass, and calls Flick for the link (`link.rs`).
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use flick_abi::settings::PLACE;
use flick_image::output;

use crate::args::Args;
use crate::replay::Replay;
use crate::reproduction::Reproduction;
use crate::root::{self, CLANG, CLANGXX, Root, Tool};
use crate::run::{Runner, Step, Stop, success};
use crate::{compile, crash, database, help, preprocessed, response};

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

    /// The name of the command that is this front end.
    pub fn program(self) -> &'static str {
        match self {
            Self::C => "flick-cc",
            Self::Cxx => "flick-c++",
        }
    }

    /// The clang of this language.
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
    crash::guarded(|| exit_code(drive(front, args.into_iter().collect())))
}

/// Prints the error that is left.
pub fn exit_code(result: Step) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Error(error)) => {
            output::message(error);
            ExitCode::FAILURE
        }
    }
}

/// The words with the placement file of the environment ([`PLACE`]): behind those of the command, so that its
/// lines win.
fn with_place(mut words: Vec<OsString>, file: Option<OsString>) -> Vec<OsString> {
    if let Some(file) = file.filter(|file| !file.is_empty()) {
        let at = words.iter().position(|word| word == "--");
        let mut option = OsString::from("--flick-place=");
        option.push(file);
        words.insert(at.unwrap_or(words.len()), option);
    }
    words
}

fn drive(front: FrontEnd, words: Vec<OsString>) -> Step {
    let words = with_place(words, std::env::var_os(PLACE));
    let expanded = response::expand(words.clone())?;
    let args = Args::parse(words, expanded)?;
    let runner = Runner {
        verbose: args.verbose,
    };
    let clang = front.tool().require()?;
    if args.help {
        help::print(front)?;
    }
    if args.inputs == 0 || args.only_show || args.help {
        runner.run(&clang, &args.words)?;
        if args.words.iter().any(|word| word == "--version") {
            // Behind clang's: build systems take the first line, or the first number.
            output::stdout(concat!("flick ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())?;
        }
        return Ok(());
    }
    let root = Root::find()?;
    let mut extra = compile::extra_words(&args, &root, &clang, runner)?;
    let reports = crash::reports(&args.words);
    extra
        .after
        .extend(reports.as_deref().map(crash::reports_word));
    let words = extra.around(&args.words);
    let result = if args.placement.replay.is_on() {
        replayed(&args.placement.replay, &clang, &words, runner)
    } else {
        compiled(
            front,
            &args,
            &root,
            &clang,
            &words,
            reports.as_deref(),
            runner,
        )
    };
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

/// Runs clang; saves the command if the user wants that, and if it crashes.
fn compiled(
    front: FrontEnd,
    args: &Args,
    root: &Root,
    clang: &Path,
    words: &[OsString],
    reports: Option<&Path>,
    runner: Runner,
) -> Step {
    let save_dir = std::env::var_os("FLICK_SAVE_DIR").filter(|dir| !dir.is_empty());
    let new = |dir: &Path| Reproduction::create(front, args, root, clang, dir);
    let saved = save_dir.map(|dir| new(Path::new(&dir))).transpose()?;
    let stdin = saved
        .as_ref()
        .map(Reproduction::take_stdin)
        .transpose()?
        .flatten();
    let result = runner.run_set(clang, words, |command| {
        if let Some(stdin) = stdin {
            command.stdin(stdin);
        }
    });
    let code = match &result {
        Err(Stop::Exit(code)) => *code,
        _ => 0,
    };
    if let Some(saved) = &saved {
        saved.save(&format!("exit status {code}"))?;
    }
    if code != 0 && crash::happened(reports, code) {
        let saved = match saved {
            Some(saved) => saved,
            None => {
                let saved = new(&reports.map_or_else(std::env::temp_dir, Path::to_owned))?;
                saved.save(&format!("exit status {code}"))?;
                saved
            }
        };
        output::message(crash::explain(&saved, runner)?);
    }
    result
}

/// Runs clang on saved files, and shows what it prints with the names that they had.
fn replayed(replay: &Replay, clang: &Path, words: &[OsString], runner: Runner) -> Step {
    let output = runner.capture_set(clang, words, |command| {
        command.stdin(Stdio::inherit());
    })?;
    // Nobody may be listening any more.
    let _ = std::io::stderr().write_all(&replay.restore(&output.stderr));
    output::stdout(&replay.restore(&output.stdout))?;
    success(output.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_has_one_more_placement_file() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let with = |line: &str, file: &str| with_place(words(line), Some(file.into()));
        assert_eq!(with("a.c -c", "p"), words("a.c -c --flick-place=p"));
        assert_eq!(with("-c -- -a.c", "p"), words("-c --flick-place=p -- -a.c"));
        assert_eq!(with("-c", ""), words("-c"));
        assert_eq!(with_place(words("-c"), None), words("-c"));
    }
}
