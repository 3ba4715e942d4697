//! `flick platform calibrate`.
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use flick_calibration::host_section::{self, Origin};
use flick_calibration::{Effort, host_facts, measure};
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_image::output;

/// The most memory that is looked at, and the least that caches and DRAM can be told apart in.
const MEMORY: (usize, usize) = (1 << 30, 32 << 20);

#[derive(Args)]
pub struct Calibrate {
    /// Write the host to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the curves that were measured, as SVG and PNG, into this folder
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Let the host's caches hold NxP memory, too, as near memory and CXL do
    #[arg(long)]
    cached_nxp: bool,
    /// Take some seconds, and look at 32 MiB alone: for a look, and not for predictions
    #[arg(long)]
    quick: bool,
}

fn say(text: &str) {
    output::message(format_args!("flick platform calibrate: {text}"));
}

impl Calibrate {
    pub fn run(&self) -> Result<(), Error> {
        // What cannot be written is said before minutes have passed.
        if let Some(folder) = &self.plots {
            std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        }
        let free = host_facts::free_memory() / 2;
        if free < MEMORY.1 {
            return Err(Error::new(
                Code::FileAccess,
                "this machine cannot be measured",
                "memory",
                format!("{} MiB are free for it", free >> 20),
                "free 64 MiB of memory",
            ));
        }
        let effort = match self.quick {
            true => Effort::quick(),
            false => Effort::whole(MEMORY.0.min(free)),
        };
        let measured = measure(&effort, &mut |part| say(part)).map_err(|error| {
            let help = "free some memory, or raise the limit (ulimit -v)";
            let what = "this machine cannot be measured";
            Error::new(Code::FileAccess, what, "memory", error.to_string(), help)
        })?;
        let (processor, kernel) = host_facts::names();
        let origin = Origin {
            day: host_facts::day(SystemTime::now()),
            processor,
            kernel,
            version: format!("flick {}", env!("CARGO_PKG_VERSION")),
            caches: host_facts::caches(Path::new("/sys/devices/system/cpu")),
            holds_nxp: self.cached_nxp,
        };
        if self.quick {
            say("with --quick the figures are rough, and the memory's is that of 32 MiB");
        }
        for doubt in host_section::doubts(&measured) {
            say(&format!(
                "doubtful: {doubt}; measure again when the machine is idle"
            ));
        }
        if let Some(folder) = &self.plots {
            let below = format!("{}, {}", origin.processor, origin.day);
            for (name, content) in flick_bench::calibration_plots(&measured, &below) {
                let path = folder.join(name);
                output::write(&path, &content).map_err(|error| unwritable(&path, &error))?;
            }
        }
        let text = host_section::text(&measured, &origin);
        match &self.output {
            Some(path) => {
                output::write(path, text.as_bytes()).map_err(|error| unwritable(path, &error))
            }
            None => output::stdout(text.as_bytes()),
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(
        Code::FileAccess,
        "a file cannot be written",
        path.display().to_string(),
        error.to_string(),
        "name a place that can be written",
    )
}
