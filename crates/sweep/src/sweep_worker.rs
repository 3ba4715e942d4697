//! A worker: runs points of a plan, and leaves a file for each.
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use flick_diagnostics::Code;
use flick_events::Summary;
use flick_exec::{Caps, Run, Status};
use flick_image::Error;

use crate::result_files::{self, FORMAT, Failure, Measured, ResultFile, Store};
use crate::sweep_plan::{self, Plan, Task};

/// As much of a program's standard error as a failure keeps.
const TAIL: usize = 2000;

/// Which points a worker does.
#[derive(Clone, Debug)]
pub enum Which {
    /// Numbers that come on standard input, a line each, which an answer follows.
    Asked,
    /// Numbers such as `1,4-6`.
    Points(String),
    /// A share `I/N`.
    Share(String),
}

/// Does the points. The status is a success also where points fail: their files say so.
pub fn run(plan: &Path, which: &Which) -> Result<ExitCode, Error> {
    let file = plan;
    let plan = Plan::read(file)?;
    let store = Store::at(&plan.results);
    let scratch = tempfile::Builder::new()
        .prefix("flick-sweep")
        .tempdir()
        .map_err(|error| result_files::unusable(&std::env::temp_dir(), &error))?;
    let work = |number: usize| one(&plan, &store, &plan.points[number], scratch.path());
    let bad = |text: &str| {
        Error::new(
            Code::BadOption,
            "a worker of a sweep has no such points",
            file.display().to_string(),
            format!("{text:?} is no part of {} points", plan.points.len()),
            "let `flick sweep` start its workers",
        )
    };
    let count = plan.points.len();
    let numbers = match which {
        Which::Asked => {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                let all = sweep_plan::numbers(&line, count).ok_or_else(|| bad(&line))?;
                for number in all {
                    work(number)?;
                }
                // The reader has gone: the sweep was ended.
                if writeln!(io::stdout(), "{line}").is_err() {
                    break;
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        Which::Points(text) => sweep_plan::numbers(text, count).ok_or_else(|| bad(text))?,
        Which::Share(text) => sweep_plan::share(text, count).ok_or_else(|| bad(text))?,
    };
    for number in numbers {
        if !store.has_ended(&plan.points[number].key) {
            work(number)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a point and writes its result, or why it has none.
fn one(plan: &Plan, store: &Store, task: &Task, scratch: &Path) -> Result<(), Error> {
    match measure(plan, task, scratch) {
        Ok(measured) => store.put_result(&ResultFile {
            format: FORMAT,
            flick: plan.flick.clone(),
            key: task.key.clone(),
            platform: task.platform.clone(),
            command: task.command.clone(),
            measured,
        }),
        Err((why, stderr)) => store.put_failure(&failure(task, why, stderr)),
    }
}

/// A file about a point that has failed.
pub fn failure(task: &Task, why: String, stderr: String) -> Failure {
    Failure {
        key: task.key.clone(),
        platform: task.platform.clone(),
        command: task.command.clone(),
        why,
        stderr,
    }
}

/// The last bytes of a text, from the begin of a line.
pub fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut start = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let last = &text[start..];
    match (start, last.split_once('\n')) {
        (1.., Some((_, whole))) if !whole.is_empty() => whole.to_owned(),
        _ => last.to_owned(),
    }
}

/// Runs the program on the platform; or why that gives nothing, with its standard error.
fn measure(plan: &Plan, task: &Task, scratch: &Path) -> Result<Measured, (String, String)> {
    let without = |why: String| (why, String::new());
    let record = scratch.join("record");
    let _ = std::fs::remove_file(&record);
    let mut environment = task.environment.clone();
    let own = [
        ("FLICK_PLATFORM", task.platform.clone()),
        ("FLICK_STATS", record.display().to_string()),
    ];
    environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let mut command = task.command.clone();
    let Some(program) = command.first_mut() else {
        return Err(without("the command is empty".to_owned()));
    };
    if program.contains('/') {
        *program = plan.directory.join(&program).display().to_string();
    }
    let run = Run {
        argv: &command,
        cwd: &plan.directory,
        scratch,
        tag: "point",
        env: &environment,
        stdin: task.stdin.as_deref(),
        limit: Duration::from_secs_f64(plan.limit_s),
        processor_limit: None,
        caps: Caps {
            with_caller: true,
            ..Caps::default()
        },
    };
    let finished = run
        .finish()
        .map_err(|error| without(format!("it cannot be started: {error}")))?;
    let stderr = tail(&finished.stderr);
    if finished.status != Status::Code(0) {
        return Err((format!("{}", finished.status), stderr));
    }
    let text = match std::fs::read_to_string(&record) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let why = "it left no record: build it with flick-cc --flick-timed";
            return Err((why.to_owned(), stderr));
        }
        Err(error) => return Err((format!("its record cannot be read: {error}"), stderr)),
    };
    match flick_events::parse(&text) {
        Ok(summaries) => measured(&summaries).ok_or_else(|| {
            let why = "it has no prediction: build it with flick-cc --flick-timed";
            (why.to_owned(), stderr)
        }),
        Err(error) => Err((format!("its record cannot be read: {error}"), stderr)),
    }
}

/// Of the process that ended last among those with a prediction: the program itself.
fn measured(summaries: &[Summary]) -> Option<Measured> {
    let mut all = summaries.iter().rev();
    let (summary, timed) = all.find_map(|one| Some((one, one.timed.as_ref()?)))?;
    Some(Measured {
        before_ps: timed.before,
        staying_ps: timed.staying,
        migrating_ps: timed.migrating,
        host_to_nxp: summary.host_to_nxp_calls(),
        nxp_to_host: summary.nxp_to_host_calls(),
        nxp_instructions: summary.instructions,
        host_accesses: timed.host_accesses,
        nxp_accesses: timed.accesses,
        heap_peak_bytes: summary.heap_peak,
        threads: timed.threads,
        host_counted: timed.host_counted,
        exact: timed.threads <= 1 || (timed.ordered && timed.not_exact.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_events::timed::Timed;

    #[test]
    fn a_tail_begins_with_a_line() {
        assert_eq!(tail(b"short"), "short");
        let long = format!("{}\nlast\n", "x".repeat(TAIL));
        assert_eq!(tail(long.as_bytes()), "last\n");
        let wide = "é".repeat(TAIL);
        assert!(wide.ends_with(&tail(wide.as_bytes())));
    }

    #[test]
    fn the_last_prediction_counts() {
        let with = |before| Summary {
            timed: Some(Timed {
                before,
                threads: 1,
                ..Timed::default()
            }),
            ..Summary::default()
        };
        let all = [with(1), with(2), Summary::default()];
        let found = measured(&all).unwrap();
        assert!(found.before_ps == 2 && found.exact);
        assert_eq!(measured(&all[2..]), None);
    }
}
