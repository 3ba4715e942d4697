//! What units of tiles promise is looked at in a run (`--check-units`), and what was broken is an error.
use std::os::unix::ffi::OsStrExt;

use flick_abi::settings::CHECK;
use flick_device::dtu::PromiseCounts;
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_events::number::grouped;

/// Whether the environment asks for it.
pub fn is_wanted() -> bool {
    let name = CHECK.variable.to_str().unwrap_or_default();
    let value = std::env::var_os(name).unwrap_or_default();
    let chosen = CHECK.parse(value.as_bytes());
    chosen.is_some_and(|chosen| CHECK.values[chosen] == "units")
}

/// What was looked at, for the report.
pub fn line(counts: PromiseCounts) -> String {
    format!(
        "\nPromises of units: {} messages, {} credits and {} aborts looked at, {} broken\n",
        grouped(counts.messages),
        grouped(counts.credits),
        grouped(counts.aborts),
        grouped(counts.broken)
    )
}

/// The error of broken promises, of which some are given.
///
/// # Errors
/// One was broken.
pub fn verdict(counts: PromiseCounts, broken: &[String]) -> Result<(), Error> {
    if counts.broken == 0 {
        return Ok(());
    }
    Err(Error::new(
        Code::MachineUnits,
        format!("{} promises of units were broken", counts.broken),
        "",
        broken.join("\n"),
        "this is a bug of Flick's: report it, with the machine file and the programs",
    ))
}

#[cfg(test)]
#[path = "tests/broken_promises.rs"]
mod tests;
