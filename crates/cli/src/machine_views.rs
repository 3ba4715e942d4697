//! `flick machine show` and `list`.
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_image::output;
use flick_report::machine_drawing;

use crate::machine_description::{list, load};

#[derive(Args)]
pub struct Show {
    /// A shipped machine, or a machine file
    #[arg(value_name = "NAME|FILE")]
    machine: String,
    /// How it is drawn; without it, as text, or as the name of the output ends
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Change a key of the machine, as for run
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Svg,
}

pub fn show(show: &Show) -> Result<ExitCode, Error> {
    let machine = load(&show.machine, &show.settings)?;
    let is_svg = show.output.as_ref().is_some_and(|path| {
        let extension = path.extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
    });
    let drawing = match show.format {
        Some(Format::Svg) => machine_drawing::svg(&machine),
        None if is_svg => machine_drawing::svg(&machine),
        _ => machine_drawing::text(&machine),
    };
    match &show.output {
        Some(path) => std::fs::write(path, drawing).map_err(|error| {
            let what = "a file cannot be written";
            let place = path.display().to_string();
            let help = "check the path, its permissions and the free space";
            Error::new(Code::FileAccess, what, place, error.to_string(), help)
        })?,
        None => output::stdout(drawing.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The shipped machines, one a line.
pub fn print_list() -> Result<ExitCode, Error> {
    output::stdout(list()?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
