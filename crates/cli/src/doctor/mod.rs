//! `flick doctor`: can this machine build Flick programs and run them, and if not, what is missing.
mod machine;
mod trial_program;

use std::process::ExitCode;

use flick_driver::Error;
use serde_json::json;

use crate::print;

pub use machine::probe_nx;

/// What a check found.
pub enum Finding {
    /// It is as it should be; the text says what was seen.
    Ok(String),
    /// Flick works, but not as well as it could: what and the remedy.
    Note(String, String),
    /// Flick does not work: what and the remedy.
    Missing(String, String),
}

/// Prints a line for every check. Exit status 1 if Flick is of no use here. FLK0105.
pub fn run(as_json: bool) -> Result<ExitCode, Error> {
    let mut missing = 0;
    let mut checks = Vec::new();
    let mut show = |name: &str, finding: Finding| -> Result<(), Error> {
        let (mark, text, remedy) = match finding {
            Finding::Ok(text) => ("ok", text, None),
            Finding::Note(text, remedy) => ("note", text, Some(remedy)),
            Finding::Missing(text, remedy) => {
                missing += 1;
                ("MISSING", text, Some(remedy))
            }
        };
        if as_json {
            let result = mark.to_ascii_lowercase();
            checks.push(json!({ "name": name, "result": result, "text": text, "help": remedy }));
            return Ok(());
        }
        let mut lines = format!("{mark:<8} {name:<24} {text}\n");
        for line in remedy.iter().flat_map(|remedy| remedy.lines()) {
            lines += &format!("{:<8} {:<24} -> {line}\n", "", "");
        }
        print(&lines)
    };

    show("system", machine::system())?;
    let mut complete = true;
    for check in flick_driver::tools() {
        let finding = match check.found {
            Some(path) => Finding::Ok(path.display().to_string()),
            None if check.name == flick_driver::root::OBJDUMP.name => {
                Finding::Note(format!("not found ({})", check.purpose), check.help)
            }
            None => {
                complete = false;
                Finding::Missing(format!("not found ({})", check.purpose), check.help)
            }
        };
        show(&check.name, finding)?;
    }
    show("no-execute memory", machine::no_execute())?;
    show("address space", machine::address_space())?;
    show("RLIMIT_AS", machine::address_limit())?;
    show("huge pages", machine::huge_pages())?;
    if complete {
        for (name, finding) in trial_program::all() {
            show(name, finding)?;
        }
    } else if !as_json {
        print(&format!(
            "{:<8} {:<24} not tried: something above is missing\n",
            "-", "compile and run"
        ))?;
    }

    if as_json {
        let keys = json!({ "checks": checks, "works": missing == 0 });
        print(&flick_report::json::document("doctor", keys))?;
        return Ok(match missing {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        });
    }
    if missing == 0 {
        print("\nThis machine can build and run Flick programs.\n")?;
        Ok(ExitCode::SUCCESS)
    } else {
        let checks = if missing == 1 {
            "one of the checks above failed".to_owned()
        } else {
            format!("{missing} of the checks above failed")
        };
        print(&format!("\nFlick does not work here: {checks}.\n"))?;
        Ok(ExitCode::FAILURE)
    }
}
