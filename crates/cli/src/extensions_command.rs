//! `flick run --extensions` on a host that is not RISC-V: what a host of RISC-V needs for it.
use std::ffi::OsString;

use clap::Args;
use flick_diagnostics::Code;
use flick_driver::{Error, Root};

/// The options are those of the program for hosts of RISC-V (`crates/extensions`), which reads them.
#[derive(Args)]
pub struct Run {
    /// Threads move to harts that have an instruction
    #[arg(long, required = true)]
    extensions: bool,
    /// Options, the program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

impl Run {
    /// FLK0113.
    pub fn refuse(self) -> Error {
        let program = Root::find().map(|root| root.riscv64_program());
        let help = match program {
            Ok(file) if file.exists() => format!(
                "copy {} to the host of RISC-V, and call it there: ./flick run --extensions ./prog",
                file.display()
            ),
            _ => "this build has no program for hosts of RISC-V; `make` says what it lacks".into(),
        };
        Error::new(
            Code::NoExtensions,
            "the CPUs of this host are not RISC-V",
            "--extensions",
            "threads move between harts whose extensions of RISC-V differ",
            help,
        )
    }
}
