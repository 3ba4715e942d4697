//! Runs a built program, and compares its output and exit with its leading comment and with plain
//! clang's build.
use std::fs;
use std::path::{Path, PathBuf};

use crate::build::Built;
use crate::directives::{Counter, Crossings, Directives};
use crate::exec::Invocation;
use crate::mode::{Engine, Trigger};
use crate::program::Program;
use crate::stats::Stats;
use flick_exec::{Finished, Status};

/// What a Flick build runs under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watch {
    Nothing,
    Valgrind {
        /// Reports that are no fault of the program.
        suppressions: PathBuf,
    },
    /// A runtime and engine built with AddressSanitizer.
    Asan {
        /// Folder of that `libflick.so`.
        runtime: PathBuf,
        /// The sanitizer's own library.
        sanitizer: PathBuf,
    },
    /// NxP functions run on the harts of the machine of FLICK_MACHINE.
    Card,
}

/// How to run a Flick build.
#[derive(Clone, Copy, Debug)]
pub struct RunAs<'a> {
    pub trigger: Trigger,
    pub engine: Engine,
    pub watch: &'a Watch,
    /// The program's marks are in force, so that its crossings can be checked.
    pub marked: bool,
}

const STATS_FILE: &str = "stats.flick";
/// valgrind's exit status when memcheck has found an error.
const MEMCHECK_FAILED: i32 = 99;

pub fn invocation(program: &Program, built: &Built) -> Invocation {
    let d = &program.directives;
    let dir = built.program.parent().unwrap_or(Path::new("."));
    let mut argv = vec!["./prog".to_owned()];
    argv.extend(d.args.iter().cloned());
    let mut run = Invocation::new(argv, dir);
    run.env = d.env.clone();
    run.stdin = d.stdin.clone();
    run.timeout = d.timeout;
    run
}

/// Runs a plain build and checks it against the program's own comment.
pub fn plain(program: &Program, built: &Built) -> Result<Finished, String> {
    let run = invocation(program, built);
    let done = run
        .run("plain")
        .map_err(|e| format!("cannot run the plain build: {e}"))?;
    let mut faults = Vec::new();
    compare_with_comment(&program.directives, &done, &mut faults);
    finish(faults, built, &run, &done)?;
    Ok(done)
}

/// Runs a Flick build and checks output, exit status and statistics. Returns its standard output.
///
/// It runs the program twice, because a program without statistics crosses another way. memcheck
/// sees only that run, which has more assembly and takes less of memcheck's time.
pub fn flick(
    program: &Program,
    built: &Built,
    oracle: Option<&Finished>,
    how: RunAs,
) -> Result<String, String> {
    match how.watch {
        Watch::Valgrind { .. } => return flick_once(program, built, oracle, (how, false, None)),
        // Once under each trigger, and once in each way.
        Watch::Card => {
            let counted = how.trigger == Trigger::Fault;
            let of_caller = [std::env::var("FLICK_MACHINE").unwrap_or_default()];
            let cards = match &*program.directives.cards {
                [] => &of_caller,
                cards => cards,
            };
            let mut said = String::new();
            for machine in cards {
                said = flick_once(program, built, oracle, (how, counted, Some(machine)))
                    .map_err(|why| format!("on the machine '{machine}': {why}"))?;
            }
            return Ok(said);
        }
        Watch::Nothing | Watch::Asan { .. } => {}
    }
    flick_once(program, built, oracle, (how, true, None))?;
    flick_once(program, built, oracle, (how, false, None))
}

fn flick_once(
    program: &Program,
    built: &Built,
    oracle: Option<&Finished>,
    (how, counted, machine): (RunAs, bool, Option<&str>),
) -> Result<String, String> {
    let d = &program.directives;
    let mut run = invocation(program, built);
    let stats = run.cwd.join(STATS_FILE);
    let _ = fs::remove_file(&stats);
    // Without a record it is the default, under which code that the link has not translated is
    // interpreted until it is hot.
    let engine = match how.engine {
        Engine::Ahead if !counted => String::new(),
        engine => engine.word().to_owned(),
    };
    let record = if counted {
        stats.display().to_string()
    } else {
        String::new()
    };
    for (name, value) in [
        ("FLICK_OFFLOAD", "require".to_owned()),
        ("FLICK_TRIGGER", how.trigger.word().to_owned()),
        ("FLICK_ENGINE", engine),
        ("FLICK_STATS", record),
    ] {
        if !run.env.iter().any(|(k, _)| k == name) {
            run.env.push((name.into(), value));
        }
    }
    watched(&mut run, how.watch, machine);
    let done = run
        .run("flick")
        .map_err(|e| format!("cannot run the Flick build: {e}"))?;
    let mut faults = Vec::new();
    compare_with_comment(d, &done, &mut faults);
    // Flick's own messages depend on the placement of the functions.
    for text in d.err.iter().filter(|_| how.marked) {
        if !done.stderr_text().contains(text) {
            faults.push(format!("stderr does not contain '{text}'"));
        }
    }
    if let Some(oracle) = oracle {
        if done.stdout != oracle.stdout {
            faults.push(format!(
                "stdout differs from plain clang's:\n{}",
                oracle.stdout_text()
            ));
        }
        if done.status != oracle.status {
            faults.push(format!("plain clang's build: {}", oracle.status));
        }
        if d.same_stderr && done.stderr != oracle.stderr {
            faults.push(format!(
                "stderr differs from plain clang's:\n{}",
                oracle.stderr_text()
            ));
        }
    }
    if counted {
        check_stats(d, &stats, how, &mut faults);
    }
    finish(faults, built, &run, &done)?;
    Ok(done.stdout_text())
}

/// `machine`: that of a run on a card.
fn watched(run: &mut Invocation, watch: &Watch, machine: Option<&str>) {
    match watch {
        Watch::Nothing => {}
        Watch::Card => {
            run.env.push(("FLICK_BACKEND".into(), "card".into()));
            let machine = machine.unwrap_or_default();
            run.env.push(("FLICK_MACHINE".into(), machine.into()));
        }
        Watch::Valgrind { suppressions } => {
            // Freeing libc's memory at the end would flush what `_exit` must not. libflick's debug
            // information has so many inlined calls that to read them takes half of a small run; a
            // report has the lines without them.
            let tool = [
                "valgrind",
                "-q",
                "--leak-check=no",
                "--error-limit=no",
                "--run-libc-freeres=no",
                "--read-inline-info=no",
            ];
            let mut argv: Vec<String> = tool.iter().map(|s| (*s).to_owned()).collect();
            argv.push(format!("--error-exitcode={MEMCHECK_FAILED}"));
            argv.push(format!("--suppressions={}", suppressions.display()));
            argv.append(&mut run.argv);
            run.argv = argv;
            run.timeout = run.timeout.max(30) * 8;
        }
        Watch::Asan { runtime, sanitizer } => {
            // The program handles its own signals, and may allocate memory that it never frees.
            let options = "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:\
                           handle_sigill=0:handle_abort=0:use_sigaltstack=0:allocator_may_return_null=1";
            run.env.push(("ASAN_OPTIONS".into(), options.into()));
            for (name, first) in [("LD_LIBRARY_PATH", runtime), ("LD_PRELOAD", sanitizer)] {
                let first = first.display().to_string();
                match run.env.iter_mut().find(|(k, _)| k == name) {
                    Some((_, value)) => *value = format!("{first}:{value}"),
                    None => run.env.push((name.into(), first)),
                }
            }
            run.timeout = run.timeout.max(30) * 4;
        }
    }
}

fn compare_with_comment(d: &Directives, done: &Finished, faults: &mut Vec<String>) {
    if done.status != d.exit {
        faults.push(format!("{}, its comment expects {}", done.status, d.exit));
    }
    if let Some(out) = &d.out
        && done.stdout_text() != *out
    {
        faults.push(format!("stdout is not what its comment expects:\n{out}"));
    }
}

fn check_stats(d: &Directives, path: &Path, how: RunAs, faults: &mut Vec<String>) {
    let Crossings::Counted(bounds) = &d.crossings else {
        return;
    };
    // A signal's default action ends the process before anything can be written.
    if matches!(d.exit, Status::Signal(_)) {
        return;
    }
    // Dice may place nothing; then there is no runtime in the program.
    if !how.marked && !path.exists() {
        return;
    }
    let stats = match Stats::read(path) {
        Ok(stats) => stats,
        Err(e) => return faults.push(format!("statistics: {e}")),
    };
    let faults_for_calls = match d.lost_calls {
        Some(_) => stats.faults >= stats.host_to_nxp,
        None => stats.faults == stats.host_to_nxp,
    };
    match how.trigger {
        Trigger::Fault if !faults_for_calls => faults.push(format!(
            "{} faults for {} calls from the host with FLICK_TRIGGER=fault",
            stats.faults, stats.host_to_nxp
        )),
        Trigger::Gate if stats.faults != 0 => {
            faults.push(format!("{} faults with FLICK_TRIGGER=gate", stats.faults));
        }
        _ => {}
    }
    if !how.marked {
        return;
    }
    if stats.host_to_nxp == 0 {
        faults.push("nothing crossed".into());
    }
    for bound in bounds {
        let value = match bound.counter {
            Counter::HostToNxp => stats.host_to_nxp,
            Counter::NxpToHost => stats.nxp_to_host,
        };
        let holds = if bound.at_least {
            value >= bound.value
        } else {
            value == bound.value
        };
        if !holds {
            faults.push(format!("crossings: {bound} expected, {value} counted"));
        }
    }
}

fn finish(
    faults: Vec<String>,
    built: &Built,
    run: &Invocation,
    done: &Finished,
) -> Result<(), String> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\n{}\n{}\n--- stdout\n{}--- stderr\n{}",
        faults.join("\n"),
        built.commands.join("\n"),
        run.shell(),
        done.stdout_text(),
        tail(&done.stderr_text(), 40)
    ))
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    let from = all.len().saturating_sub(lines);
    all[from..].iter().map(|l| format!("{l}\n")).collect()
}
