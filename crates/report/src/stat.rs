//! `flick stat`: runs a program in the manner of `perf stat` and prints what its runtime counted.
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use flick_diagnostics::Code;
use flick_events::{HostInstructions, Offload, ParseError, Summary, View};
use flick_image::{Error, output};
use flick_names::Demangle;

use crate::counter::Counter;
use crate::reasons::{self, Reasons};
use crate::run_program::{self, file_error};
use crate::{again, baseline, json, named_platform, source_lines, spread};

/// Elapsed, user and system time of the program and of the children it waited for.
#[derive(Clone, Copy, Debug)]
struct Times {
    elapsed: Duration,
    user: Duration,
    system: Duration,
}

/// What `flick stat` was asked for, and what is known beside the record.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the report goes; stderr without it.
    pub output: Option<PathBuf>,
    /// Whether names of C++ are shown as in the source.
    pub demangle: Demangle,
    /// The run is timed for this platform, a name or a file.
    pub platform: Option<OsString>,
    /// Run the program again, with everything on the host, and compare with the baseline of the
    /// first run.
    pub verify_baseline: bool,
    /// Clocks and sleeping are the machine's.
    pub real_time: bool,
    /// For programs instead of people (`docs/json.md`).
    pub json: bool,
    /// So many runs in all, to say how far their times lie apart.
    pub repeat: Option<u32>,
}

/// The run from outside.
struct Run<'a> {
    program: &'a Path,
    pid: u32,
    times: Times,
    status: ExitStatus,
    host_instructions: HostInstructions,
    demangle: Demangle,
    /// What to say below the two times of a timed run.
    below_times: Option<String>,
}

/// Runs `command` (program, then arguments), prints the report, and ends as the program ended: its
/// exit status is returned, its signal raised. 126 and 127, as in a shell, where it cannot be
/// started. FLK0105 where the report cannot be written, FLK0104 where a run is to be repeated that
/// no platform is named for.
pub fn run(command: &[OsString], options: &Options) -> Result<ExitCode, Error> {
    let Some(program) = command.first() else {
        return Ok(ExitCode::from(2));
    };
    let platform = named_platform::named(options.platform.as_deref());
    if options.repeat.is_some() && platform.is_none() {
        return Err(Error::new(
            Code::BadOption,
            "no platform is named",
            "--repeat",
            "it is virtual time that is compared, and that is a platform's",
            "name one, or a file that describes it: flick stat --platform=flick-isca20 -r 5 ./program",
        ));
    }
    let platform = platform.unwrap_or_default();
    let dir = tempfile::Builder::new()
        .prefix("flick-stat")
        .tempdir()
        .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
    // A path, so that the runtime writes a record there (docs/runtime.md, "Environment").
    let record = dir.path().join("record");

    // It is inherited by what is started from here on.
    let counter = Counter::instructions();
    let begin = Instant::now();
    let mut environment = vec![("FLICK_STATS", record.as_os_str())];
    if !platform.is_empty() {
        environment.push(("FLICK_PLATFORM", platform.as_os_str()));
    }
    let clock: &[(&str, &OsStr)] = match options.real_time {
        true => &[("FLICK_CLOCK", OsStr::new("real"))],
        false => &[],
    };
    environment.extend(clock);
    let mut child = match run_program::start("flick stat", command, &environment) {
        Ok(child) => child,
        Err(status) => return Ok(status),
    };
    let status = child
        .wait()
        .map_err(|e| file_error(Path::new(program), &e))?;
    let times = times_since(begin);

    let records = run_program::records(&record)?;
    // Not those of further runs.
    let host_instructions = counter.and_then(|mut counter| counter.read());
    let first = again::last(&records, child.id());
    let below_times = match (&first, options.repeat) {
        (Some(first), Some(runs)) => Some(spread::measure(
            command,
            (&platform, clock),
            runs,
            first,
            status,
        )?),
        (Some(first), None) => spread::hint(first),
        (None, _) => None,
    };
    let run = Run {
        program: Path::new(program),
        pid: child.id(),
        times,
        status,
        host_instructions,
        demangle: options.demangle,
        below_times,
    };
    let mut text = match options.json {
        true => json_report(&records, &run)?,
        false => report(&records, &run),
    };
    if first.is_none() && options.repeat.is_some() && !options.json {
        text += " Spread: the run has left no prediction.\n\n";
    }
    if options.verify_baseline {
        text += &baseline::verify(command, (&platform, clock), first.as_ref())?;
    }
    match &options.output {
        Some(path) => output::write(path, text.as_bytes()).map_err(|e| file_error(path, &e))?,
        None => {
            // Where stderr is closed, the text has no reader.
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }
    // Dying by a signal runs no destructors.
    drop(dir);
    Ok(run_program::end_as(status))
}

fn other_version(version: &str) -> Error {
    let own = flick_events::record::VERSION;
    Error::new(
        Code::OtherVersion,
        "made by another version of Flick",
        "the record of the run",
        format!("the program's runtime writes format {version}, this flick reads {own}"),
        "use the flick that belongs to the program's libflick",
    )
}

/// The same for programs: the processes in the order in which they ended. Names are the linker's.
/// FLK0105, FLK0303 where there is a record that cannot be read.
fn json_report(records: &str, run: &Run<'_>) -> Result<String, Error> {
    let mut summaries = flick_events::parse(records).map_err(|error| match error {
        ParseError::Version(_, version) => other_version(&version),
        error => Error::new(
            Code::FileAccess,
            "a file cannot be read or written",
            "the record of the run",
            error.to_string(),
            "run the program again",
        ),
    })?;
    if let Some(own) = summaries.iter_mut().rfind(|of| of.pid == run.pid) {
        // Ours cover the program to its very end, and the children it waited for.
        own.elapsed = nanoseconds(run.times.elapsed);
        own.user = nanoseconds(run.times.user);
        own.system = nanoseconds(run.times.system);
    }
    for timed in summaries.iter_mut().filter_map(|of| of.timed.as_mut()) {
        source_lines::name(timed, Demangle::No, |_| true);
    }
    let processes: Vec<_> = summaries.iter().map(json::process).collect();
    let keys = serde_json::json!({
        "processes": processes,
        "exit_status": run.status.code(),
        "signal": run.status.signal(),
        "elapsed_ns": nanoseconds(run.times.elapsed),
    });
    Ok(json::document("stat", keys))
}

/// The report: a summary of each child process that left a record, then of the program itself.
fn report(records: &str, run: &Run<'_>) -> String {
    let mut text = String::new();
    let summaries = flick_events::parse(records).unwrap_or_else(|error| {
        let _ = match error {
            ParseError::Version(_, version) => writeln!(text, "\n{}", other_version(&version)),
            error => writeln!(text, "\n The record of the run is damaged: {error}"),
        };
        Vec::new()
    });
    let (own, others): (Vec<Summary>, Vec<Summary>) = summaries
        .into_iter()
        .partition(|summary| summary.pid == run.pid);
    for other in others {
        text += &process(&other, None, None, run.demangle);
    }
    // More than one of its own: it replaced itself by `exec`.
    let recorded = !own.is_empty();
    let count = own.len();
    for (i, mut summary) in own.into_iter().enumerate() {
        let last = i + 1 == count;
        if last {
            // Ours cover the program to its very end, and the children it waited for.
            summary.elapsed = nanoseconds(run.times.elapsed);
            summary.user = nanoseconds(run.times.user);
            summary.system = nanoseconds(run.times.system);
        }
        if let Some(timed) = &mut summary.timed {
            source_lines::name(timed, run.demangle, |_| true);
        }
        let host = last.then_some(&run.host_instructions);
        let below_times = run.below_times.as_deref().filter(|_| last);
        text += &process(&summary, host, below_times, run.demangle);
    }
    if recorded {
        return text;
    }
    let (why, known) = match run.status.signal() {
        Some(signal) => (
            format!("it was killed by signal {signal}"),
            Reasons::default(),
        ),
        None => reasons::no_record(&reasons::executable(run.program)),
    };
    let _ = writeln!(text, "\n The program left no record of crossings: {why}.\n");
    text += &known.without_calls(&Summary::default(), run.demangle);
    for (time, what) in [
        (run.times.elapsed, "elapsed"),
        (run.times.user, "user"),
        (run.times.system, "sys"),
    ] {
        let time = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
        let _ = writeln!(text, " {time:>20}  seconds {what}");
    }
    text.push('\n');
    text
}

/// The summary of one process, with reasons.
fn process(
    summary: &Summary,
    host: Option<&HostInstructions>,
    below_times: Option<&str>,
    demangle: Demangle,
) -> String {
    let known = Reasons::of(&summary.files);
    let why_host = |calls: &_| known.why_host(calls);
    let why_off = who_switched_off(summary);
    let view = View {
        all: true,
        demangle,
        host_instructions: host,
        why_host: Some(&why_host),
        why_off: why_off.as_deref(),
        below_times,
    };
    format!(
        "{}{}",
        summary.text(view),
        known.without_calls(summary, demangle)
    )
}

/// Where `FLICK_OFFLOAD=off` came from, if that is why offload was off.
fn who_switched_off(summary: &Summary) -> Option<String> {
    let Offload::Off(why) = &summary.offload else {
        return None;
    };
    let asked = why == "FLICK_OFFLOAD=off";
    let ours = std::env::var_os("FLICK_OFFLOAD").is_some_and(|value| value == "off");
    asked.then(|| match ours {
        true => format!("{why}, set where flick stat was started"),
        false => format!("{why}, set by the program that started it"),
    })
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn times_since(begin: Instant) -> Times {
    let elapsed = begin.elapsed();
    let (user, system) = flick_exec::processor_time();
    Times {
        elapsed,
        user,
        system,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times {
        elapsed: Duration::from_nanos(2_000_000_007),
        user: Duration::from_secs(1),
        system: Duration::from_nanos(3),
    };

    fn record(program: &str, pid: u32) -> String {
        Summary {
            program: program.into(),
            pid,
            elapsed: 1,
            ..Summary::default()
        }
        .to_record()
    }

    fn after(status: i32) -> Run<'static> {
        Run {
            program: Path::new("/bin/true"),
            pid: 7,
            times: TIMES,
            status: ExitStatus::from_raw(status),
            host_instructions: Err("not asked".into()),
            demangle: Demangle::Yes,
            below_times: Some(" below the times\n".into()),
        }
    }

    #[test]
    fn own_times_replace_the_runtimes() {
        let text = report(&record("./a", 7), &after(0));
        assert!(text.contains("Flick summary of ./a (pid 7)"), "{text}");
        assert!(text.contains("2.000000007  seconds elapsed"), "{text}");
        assert!(!text.contains("no record"), "{text}");
    }

    #[test]
    fn the_spread_is_of_the_last_program_of_the_process() {
        let timed = |program: &str, pid| {
            let mut summary = flick_events::parse(&record(program, pid))
                .unwrap()
                .remove(0);
            summary.timed = Some(flick_events::timed::Timed::default());
            summary.to_record()
        };
        let records = timed("./child", 8) + &timed("./shell", 7) + &timed("./program", 7);
        let text = report(&records, &after(0));
        let at = text.find("without migration\n below the times\n");
        assert!(at > text.find("./program (pid 7)"), "{text}");
        assert_eq!(text.matches("below the times").count(), 1, "{text}");
    }

    #[test]
    fn children_come_first_and_keep_their_times() {
        let records = record("./parent", 7) + &record("./child", 8);
        let text = report(&records, &after(0));
        let at = |what| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(at("./child (pid 8)") < at("./parent (pid 7)"));
        assert!(text.contains("0.000000001  seconds elapsed"), "{text}");
    }

    #[test]
    fn says_why_there_is_no_record() {
        let killed = report("", &after(libc::SIGKILL));
        assert!(
            killed.contains("no record of crossings: it was killed by signal 9"),
            "{killed}"
        );
        assert!(killed.contains("2.000000007  seconds elapsed"), "{killed}");
        let left = report(&record("./child", 8), &after(0));
        assert!(
            left.contains("built without flick") && left.contains("./child"),
            "{left}"
        );
    }

    #[test]
    fn a_record_of_another_version_is_refused() {
        let text = report("flick-stats 2\nend\n", &after(0));
        assert!(
            text.contains("[FLK0303]") && text.contains("writes format 2"),
            "{text}"
        );
    }

    #[test]
    fn a_damaged_record_is_said() {
        let text = report("flick-stats 1\nnonsense", &after(0));
        assert!(text.contains("The record of the run is damaged"), "{text}");
    }
}
