//! `flick cc`.
use std::ffi::OsString;
use std::process::ExitCode;

use crate::root::CLANG;
use crate::run::{Runner, Step, Stop};

/// Compiles and links as clang would with these arguments (without the program's name). Prints
/// errors; exit codes are clang's.
pub fn cc(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    match drive(args.into_iter().collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Error(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn drive(args: Vec<OsString>) -> Step {
    let clang = CLANG.require()?;
    Runner::default().run(&clang, &args)
}
