//! `flick platform`: the platforms of timed runs.
mod calibration;

use clap::{Args, Subcommand};
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_image::output;
use flick_timing::{Platform, platform};

#[derive(Subcommand)]
pub enum PlatformCommand {
    /// List the shipped platforms
    List,
    /// Measure this machine, and write it as the host of a platform (docs/guide-calibrate.md)
    ///
    /// It takes a minute or two, and says on stderr where it is.
    Calibrate(calibration::Calibrate),
    /// Print each figure of a platform, the place where it is said, and the remark beside it
    Show(Show),
}

#[derive(Args)]
pub struct Show {
    /// A shipped platform, or a platform file; settings may follow, with a comma in front of each
    #[arg(value_name = "NAME|FILE")]
    platform: String,
    /// Change a key of the platform (repeatable), as in nxp.clock="2 GHz"
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

pub fn run(command: PlatformCommand) -> Result<(), Error> {
    match command {
        PlatformCommand::List => list(),
        PlatformCommand::Calibrate(calibrate) => calibrate.run(),
        PlatformCommand::Show(show) => show.print(),
    }
}

/// The platform of this name or file.
pub fn load(name: &str) -> Result<Platform, Error> {
    Platform::load(name).map_err(unusable)
}

fn unusable(error: platform::Error) -> Error {
    Error::new(
        Code::UnusablePlatform,
        "the platform cannot be used",
        error.place(),
        error.what,
        error.help,
    )
}

fn list() -> Result<(), Error> {
    let names = platform::names();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for name in names {
        text += &format!("{name:width$}  {}\n", load(name)?.description);
    }
    output::stdout(text.as_bytes())
}

impl Show {
    /// A part of a platform, such as a host, is printed, too: then its error says what it lacks.
    fn print(&self) -> Result<(), Error> {
        let mut name = self.platform.clone();
        for setting in &self.settings {
            name += &format!(",{setting}");
        }
        let all = platform::figures(&name).map_err(unusable)?;
        let width = |of: fn(&platform::Figure) -> &str| {
            let widths = all.iter().map(|figure| of(figure).chars().count());
            // One long text is no reason for wide columns.
            widths.filter(|width| *width <= 40).max().unwrap_or(0)
        };
        let (keys, values) = (width(|figure| &figure.key), width(|figure| &figure.value));
        let places = width(|figure| &figure.place);
        let mut text = String::new();
        for figure in &all {
            let remark = match figure.remark.as_str() {
                "" => String::new(),
                remark => format!("  # {remark}"),
            };
            let line = format!(
                "{:keys$} = {:values$}  {:places$}{remark}",
                figure.key, figure.value, figure.place
            );
            text += line.trim_end();
            text.push('\n');
        }
        output::stdout(text.as_bytes())?;
        load(&name).map(|_| ())
    }
}
