//! `flick record`: runs a program on a platform and keeps the trace of its virtual time, in the
//! manner of `perf record`; and the file in which it is kept.
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::{SystemTime, UNIX_EPOCH};

use flick_diagnostics::Code;
use flick_events::number::counted;
use flick_events::timed::duration;
use flick_events::trace::{self, Reason, Trace, What};
use flick_image::output::Pending;
use flick_image::{Error, output};
use flick_names::Demangle;

use crate::run_program::{self, file_error};
use crate::{named_platform, page, perfetto, reasons, source_lines};

/// Where a trace is kept if nobody says otherwise.
pub const DATA: &str = "flick.data";
/// Where a page goes if nobody says otherwise.
pub const PAGE: &str = "report.html";

/// What `flick record` was asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The trace.
    pub output: PathBuf,
    /// Name or file; what `FLICK_PLATFORM` says without it.
    pub platform: Option<OsString>,
    /// A trace for Perfetto, too.
    pub perfetto: Option<PathBuf>,
    /// Bytes that the trace may have; `None`: as many as it takes.
    pub max_size: Option<u64>,
    /// Whether names of C++ are shown as in the source.
    pub demangle: Demangle,
}

/// What the trace may have if nobody says otherwise.
pub const MAX_SIZE: u64 = 256 << 20;
/// The least that it may be given: a platform's name, the functions' names and some sums.
pub const LEAST_SIZE: u64 = 64 << 10;

/// Runs `command` (program, then arguments) and ends as it ended. FLK0104 where no platform is
/// named, FLK0105 where a file cannot be written or the trace is not one.
pub fn run(command: &[OsString], options: &Options) -> Result<ExitCode, Error> {
    let platform = named_platform::required("flick record", options.platform.as_deref())?;
    let trace = options.output.as_path();
    readable_again(trace)?;
    // The program may change its directory.
    let pending = output::pending(trace).map_err(|e| file_error(trace, &e))?;
    let dir = tempfile::Builder::new()
        .prefix("flick-record")
        .tempdir()
        .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
    // Says why there is no trace, if there is none.
    let record = dir.path().join("record");
    let most = options
        .max_size
        .map_or(OsString::new(), |most| most.to_string().into());

    let environment = [
        ("FLICK_PLATFORM", platform.as_os_str()),
        ("FLICK_TRACE", pending.path().as_os_str()),
        ("FLICK_TRACE_SIZE", most.as_os_str()),
        ("FLICK_STATS", record.as_os_str()),
    ];
    let begin = SystemTime::now();
    let mut child = match run_program::start("flick record --platform=NAME", command, &environment)
    {
        Ok(child) => child,
        Err(status) => return Ok(status),
    };
    let program = Path::new(command.first().map_or(OsStr::new(""), OsString::as_os_str));
    let status = child.wait().map_err(|e| file_error(program, &e))?;
    let file = File::open(pending.path()).map_err(|e| file_error(trace, &e))?;
    let records = match run_program::records(&record) {
        // It would have said why there is no trace, or a part of one.
        Err(error) if !is_whole(&file) => return Err(error),
        records => records.unwrap_or_default(),
    };
    if let Some(why) = lost(&records) {
        // What is there of it nobody can read.
        return Err(unwritten(trace, why));
    }
    let text = if is_empty(&file) {
        // As after a program that cannot be started: no file that holds nothing.
        pending.move_old().map_err(|e| file_error(trace, &e))?;
        let why = why_nothing(program, status, !records.is_empty());
        format!("the program left no trace: {why}")
    } else {
        let text = finish(
            trace,
            &file,
            pending.path(),
            options,
            (child.id(), begin, command),
        )?;
        persist(pending).map_err(|e| unwritten(trace, e.to_string()))?;
        text
    };
    // Where stderr is closed, the text has no reader.
    let _ = writeln!(io::stderr(), "[ flick record: {text} ]");
    drop(dir);
    Ok(run_program::end_as(status))
}

/// On the disk before the name is there: a full one may say so only then.
fn persist(pending: Pending) -> io::Result<()> {
    File::open(pending.path())?.sync_data()?;
    pending.persist()
}

/// Adds to the trace at `path` when and by which command process `pid` was started.
fn record_run(
    trace: &Trace<'_>,
    path: &Path,
    (pid, begin, command): (u32, SystemTime, &[OsString]),
) -> io::Result<()> {
    let mut pids = trace.processes.iter().map(|process| process.pid);
    let first = pids.next();
    // A shell, say, has no trace; what it started has.
    let Some(process) = pids.find(|&known| known == pid).or(first) else {
        return Ok(());
    };
    let date = begin
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let words = command.iter().map(|word| word.as_bytes());
    let block = trace::run_block(process, date, words);
    File::options().append(true).open(path)?.write_all(&block)
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|about| about.len() == 0)
}

fn is_whole(file: &File) -> bool {
    !is_empty(file) && Trace::open(file).is_ok()
}

/// FLK0105 where `trace` is what cannot be read once the program has ended: a device or a pipe.
fn readable_again(trace: &Path) -> Result<(), Error> {
    match fs::metadata(trace) {
        Ok(about) if !about.is_file() => Err(Error::new(
            Code::FileAccess,
            "a trace cannot be kept there",
            trace.display().to_string(),
            "it is no regular file, and what the program writes is read again at its end",
            "name a file: flick record -o flick.data",
        )),
        _ => Ok(()),
    }
}

/// Why the trace of one of these processes is not whole.
fn lost(records: &str) -> Option<String> {
    let all = flick_events::parse(records).unwrap_or_default();
    all.into_iter().find_map(|summary| summary.trace_lost)
}

fn unwritten(trace: &Path, why: String) -> Error {
    Error::new(
        Code::FileAccess,
        "the trace could not be written to its end",
        trace.display().to_string(),
        why,
        "make room there, or name a file elsewhere: flick record -o FILE",
    )
}

/// Completes the trace, and says what it holds.
fn finish(
    output: &Path,
    file: &File,
    path: &Path,
    options: &Options,
    run: (u32, SystemTime, &[OsString]),
) -> Result<String, Error> {
    let trace = parse(output, file)?;
    if let Some(file) = &options.perfetto {
        write_perfetto(&trace, file, options.demangle)?;
    }
    let (mut crossings, mut samples) = (0_u64, 0_u64);
    for thread in trace.processes.iter().flat_map(|process| &process.threads) {
        thread.each(|event| match event.what {
            What::Enter { .. } | What::Leave { .. } => crossings += 1,
            What::Sample { .. } => samples += 1,
            What::Sum { rows, .. } => crossings = crossings.saturating_add(crossings_of(rows)),
            _ => {}
        });
    }
    whole(&trace, output)?;
    record_run(&trace, path, run).map_err(|e| unwritten(output, e.to_string()))?;
    let threads = trace.processes.iter().flat_map(|process| &process.threads);
    let coarse = match threads.filter_map(|thread| thread.coarse_from).min() {
        Some(time) => format!(", sums from {} on (--max-size)", duration(time)),
        None => String::new(),
    };
    Ok(format!(
        "wrote {:.3} MB to {}, {}, {}{coarse}; flick report shows it",
        trace.length as f64 / 1e6,
        output.display(),
        counted(crossings, "crossing"),
        counted(samples, "sample")
    ))
}

/// Calls and returns of a sum.
fn crossings_of(rows: trace::Rows<'_>) -> u64 {
    let crossings = rows.map(|row| match row {
        trace::Row::Call { sum, .. } => sum.calls.saturating_add(sum.returns),
        _ => 0,
    });
    crossings.fold(0, u64::saturating_add)
}

/// FLK0105 where a part of the trace could not be read again.
fn whole(trace: &Trace<'_>, path: &Path) -> Result<(), Error> {
    match trace.failure() {
        Some(error) => Err(no_trace(path, error)),
        None => Ok(()),
    }
}

fn why_nothing(program: &Path, status: ExitStatus, has_record: bool) -> String {
    if has_record {
        return "its runtime wrote a record and no trace; is it of this version of Flick?".into();
    }
    match status.signal() {
        Some(signal) => format!("it was killed by signal {signal}"),
        None => reasons::no_record(&reasons::executable(program)).0,
    }
}

/// Writes the page of the trace in `input` to `to` (`-`: stdout), and a trace for Perfetto if
/// that is asked for. FLK0105 where a file cannot be read or written, or is no trace; FLK0303 where
/// another version wrote it.
pub fn report(
    input: &Path,
    to: &Path,
    perfetto: Option<&Path>,
    demangle: Demangle,
) -> Result<(), Error> {
    let file = File::open(input).map_err(|error| {
        let mut shown = file_error(input, &error);
        if error.kind() == io::ErrorKind::NotFound {
            shown.help = "flick record --platform=NAME ./program writes it".into();
        }
        shown
    })?;
    let mut trace = parse(input, &file)?;
    for timed in trace.processes.iter_mut().flat_map(|p| &mut p.prediction) {
        source_lines::name(timed, demangle, |module| is_older(Path::new(module), input));
    }
    let page = page::html(&trace, demangle);
    whole(&trace, input)?;
    if let Some(file) = perfetto {
        write_perfetto(&trace, file, demangle)?;
    }
    if to == Path::new("-") {
        return output::stdout(page.as_bytes());
    }
    output::write(to, page.as_bytes()).map_err(|e| file_error(to, &e))?;
    output::stdout(format!("{}\n", to.display()).as_bytes())
}

/// Whether `file` was last written before `other`, as far as that can be known.
fn is_older(file: &Path, other: &Path) -> bool {
    let time = |path| fs::metadata(path).and_then(|about| about.modified());
    match (time(file), time(other)) {
        (Ok(file), Ok(other)) => file <= other,
        _ => true,
    }
}

fn write_perfetto(trace: &Trace<'_>, path: &Path, demangle: Demangle) -> Result<(), Error> {
    output::replace(path, |out| {
        perfetto::write(trace, demangle, out)?;
        match trace.failure() {
            Some(error) => Err(io::Error::other(error)),
            None => Ok(()),
        }
    })
    .map_err(|e| file_error(path, &e))
}

fn parse<'a>(path: &Path, file: &'a File) -> Result<Trace<'a>, Error> {
    Trace::open(file).map_err(|error| no_trace(path, error))
}

fn no_trace(path: &Path, error: trace::Error) -> Error {
    match error.reason {
        Reason::Version(version) => Error::new(
            Code::OtherVersion,
            "made by another version of Flick",
            path.display().to_string(),
            format!(
                "the trace has format {version}, this flick reads {}",
                trace::VERSION
            ),
            "use the flick that belongs to the program's libflick",
        ),
        _ => Error::new(
            Code::FileAccess,
            "a file cannot be read or written",
            path.display().to_string(),
            format!("it is no whole trace: {error}"),
            "record it again: flick record --platform=NAME ./program",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sample_trace::{nested, trace};

    #[test]
    fn what_is_no_trace_is_an_error() {
        let path = Path::new("some.data");
        let dir = tempfile::tempdir().unwrap();
        let parse = |path: &Path, bytes: &[u8]| {
            let place = dir.path().join("trace");
            fs::write(&place, bytes).unwrap();
            let file = File::open(place).unwrap();
            super::parse(path, &file).map(drop)
        };
        let mut bytes = trace(&[&nested]);
        assert!(parse(path, &bytes).is_ok());
        let short = parse(path, &bytes[..bytes.len() - 1]).unwrap_err();
        assert_eq!(short.code, Code::FileAccess);
        assert!(short.why.contains("byte "), "{short}");
        bytes[4] = 9;
        let other = parse(path, &bytes).unwrap_err();
        assert_eq!(other.code, Code::OtherVersion);
        assert!(other.to_string().contains("some.data"), "{other}");
    }

    #[test]
    fn lines_of_a_program_that_was_built_anew_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let (program, trace) = (dir.path().join("prog"), dir.path().join("flick.data"));
        File::create(&program).unwrap();
        File::create(&trace).unwrap();
        assert!(is_older(&program, &trace));
        let later = fs::metadata(&trace).unwrap().modified().unwrap() + Duration::from_secs(1);
        File::options()
            .write(true)
            .open(&program)
            .and_then(|file| file.set_modified(later))
            .unwrap();
        assert!(!is_older(&program, &trace));
    }
}
