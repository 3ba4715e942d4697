//! Machine files for `flick machine`: loading one with its settings, and the shipped ones.
use flick_diagnostics::Code;
use flick_driver::Error;
use flick_machine::System;
use flick_timing::machine::{self, Machine};

/// The machine of this name or file, with settings `KEY=VALUE`.
pub fn load(name: &str, settings: &[String]) -> Result<Machine, Error> {
    Machine::load(name, settings).map_err(|error| {
        let setting = error
            .file
            .strip_prefix("--set ")
            .filter(|_| error.line == 0);
        match setting {
            Some(setting) => Error::new(
                Code::MachineSetting,
                "a setting of the machine is bad",
                setting,
                error.what,
                error.help,
            ),
            None => Error::new(
                Code::MachineFile,
                "a machine file cannot be used",
                error.place(),
                error.what,
                error.help,
            ),
        }
    })
}

/// Its tiles: an error if it has parts that this version cannot run.
pub fn systems(name: &str, machine: &Machine) -> Result<Vec<System>, Error> {
    let missing = machine.missing();
    if !missing.is_empty() {
        let lines: Vec<String> = missing.iter().map(|part| format!("\n  {part}")).collect();
        return Err(Error::new(
            Code::MachineParts,
            "the machine has parts that cannot run yet",
            name,
            lines.concat(),
            "see it with flick machine show, or run a machine without these parts: virt, spike-rvv, rocket-rvv",
        ));
    }
    System::all(machine).map_err(|error| {
        let help = "give the machine a tile of harts with memory and a timer";
        let what = "the machine cannot start";
        Error::new(Code::MachineStart, what, name, error.to_string(), help)
    })
}

/// Names and descriptions of the shipped machines, and whether they run.
pub fn list() -> Result<String, Error> {
    let names = machine::names();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for name in names {
        let machine = load(name, &[])?;
        let note = match machine.missing().is_empty() {
            true => "",
            false => " (drawn, does not run yet)",
        };
        text += &format!("{name:width$}  {}{note}\n", machine.description);
    }
    Ok(text)
}
