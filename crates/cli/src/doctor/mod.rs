//! `flick doctor`: can this machine build Flick programs and run them, and if not, what is missing.
mod machine;
mod trial;

use std::process::ExitCode;

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

/// Prints a line for every check. Exit status 1 if Flick is of no use here.
pub fn run() -> ExitCode {
    let mut missing = 0;
    let mut show = |name: &str, finding: Finding| {
        let (mark, text, remedy) = match finding {
            Finding::Ok(text) => ("ok", text, None),
            Finding::Note(text, remedy) => ("note", text, Some(remedy)),
            Finding::Missing(text, remedy) => {
                missing += 1;
                ("MISSING", text, Some(remedy))
            }
        };
        println!("{mark:<8} {name:<24} {text}");
        for line in remedy.iter().flat_map(|remedy| remedy.lines()) {
            println!("{:<8} {:<24} -> {line}", "", "");
        }
    };

    show("system", machine::system());
    let mut complete = true;
    for check in flick_build::tools() {
        let finding = match check.found {
            Some(path) => Finding::Ok(path.display().to_string()),
            None if check.name == flick_build::root::OBJDUMP.name => {
                Finding::Note(format!("not found ({})", check.purpose), check.help)
            }
            None => {
                complete = false;
                Finding::Missing(format!("not found ({})", check.purpose), check.help)
            }
        };
        show(&check.name, finding);
    }
    show("no-execute memory", machine::no_execute());
    show("address space", machine::address_space());
    show("RLIMIT_AS", machine::address_limit());
    show("huge pages", machine::huge_pages());
    if complete {
        for (name, finding) in trial::all() {
            show(name, finding);
        }
    } else {
        println!(
            "{:<8} {:<24} not tried: something above is missing",
            "-", "compile and run"
        );
    }

    if missing == 0 {
        println!("\nThis machine can build and run Flick programs.");
        ExitCode::SUCCESS
    } else {
        println!("\nFlick does not work here: {missing} of the checks above failed.");
        ExitCode::FAILURE
    }
}
