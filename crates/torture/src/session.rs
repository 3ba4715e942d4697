//! A session: cases one after the other, on several threads, until there were enough.
use std::io::{self, IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flick_abi::settings::{BACKEND, ENGINE, TRIGGER};

use crate::build_options::Options;
use crate::count::Crossings;
use crate::draw::Draw;
use crate::drawn_placement::Placement;
use crate::failure::{Failure, describe, entries, report};
use crate::failure_folder::keep;
use crate::generate::{self, Features};
use crate::generated_program::Program;
use crate::source::{Source, User, csmith};
use crate::totals::Totals;
use crate::workshop::{Build, Built, Case, Difference, Fault, Manner, Reference, Workshop};
use flick_exec::Status;

/// Who draws the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Flick's own generator (`generate/`).
    Own,
    /// csmith, which is installed apart.
    Csmith,
    /// Of even seeds csmith's, of odd ones our own.
    Both,
}

/// What `flick torture` was asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The first case's; the next has the next.
    pub seed: u64,
    /// Number of cases; without it the session goes on.
    pub count: Option<u64>,
    /// When the session ends; without it the session goes on.
    pub time: Option<Duration>,
    /// Number of cases that are tried at a time.
    pub jobs: usize,
    /// Where NxP code runs: one of the values of `FLICK_BACKEND`.
    pub backend: &'static str,
    /// Who draws the programs.
    pub generator: Generator,
    /// What Flick's own generator may draw.
    pub features: Features,
    /// Placements that are tried with each program.
    pub placements: usize,
    /// Where failures are kept.
    pub keep: PathBuf,
    /// How long a failure is made smaller; zero: not at all.
    pub shrink: Duration,
    /// Builds generated programs with sanitizers, too: a check of the generator.
    pub sanitize: bool,
    /// Keeps the case also where nothing is wrong.
    pub keep_all: bool,
    /// The program of a user, in the place of drawn ones.
    pub user: Option<User>,
    /// Compilers and limits of time.
    pub workshop: Workshop,
}

/// The backend that static programs do not have.
const CARD: &str = BACKEND.values[1];

/// C lets a compiler drop a loop that never ends and make anything of what follows; csmith draws
/// some.
const UNDEFINED: &str =
    "plain clang's builds with and without optimisation differ, or the latter never ends";

/// Set by the first interrupt from the terminal; the second ends the process.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the session. Failures are printed as they come; the totals and their text are returned. An
/// error of the kind `InvalidInput` says why a user's program is of no use.
pub fn run(settings: &Settings) -> io::Result<(Totals, String)> {
    stop_at_interrupt();
    let begin = Instant::now();
    let known = settings
        .user
        .as_ref()
        .map(|user| known(user, settings))
        .transpose()?;
    let next = AtomicU64::new(0);
    let state = Mutex::new(State {
        totals: Totals::default(),
        shown: Instant::now(),
        terminal: stderr().is_terminal(),
        error: None,
    });
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.load(Ordering::Relaxed);
                    let enough = settings.count.is_some_and(|count| index >= count)
                        || settings.time.is_some_and(|time| begin.elapsed() >= time)
                        || stopped()
                        || lock(&state).error.is_some();
                    if enough
                        || next
                            .compare_exchange(
                                index,
                                index + 1,
                                Ordering::Relaxed,
                                Ordering::Relaxed,
                            )
                            .is_err()
                    {
                        if enough {
                            break;
                        }
                        continue;
                    }
                    let seed = settings.seed.wrapping_add(index);
                    match case(seed, settings, known.as_ref()) {
                        Ok((totals, reports)) => lock(&state).add(&totals, &reports, begin),
                        Err(error) => lock(&state).error = Some(error),
                    }
                }
            });
        }
    });
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if state.terminal {
        // Where stderr is closed, the text has no reader.
        let _ = write!(stderr(), "\r\x1b[K");
    }
    if let Some(error) = state.error {
        return Err(error);
    }
    let done = next.load(Ordering::Relaxed);
    let seeds = match done {
        0 => "no seeds".into(),
        1 => format!("seed {}", settings.seed),
        _ => format!(
            "seeds {} to {}",
            settings.seed,
            settings.seed.wrapping_add(done - 1)
        ),
    };
    let text = state.totals.text(&seeds, begin.elapsed());
    Ok((state.totals, text))
}

struct State {
    totals: Totals,
    shown: Instant,
    terminal: bool,
    error: Option<io::Error>,
}

impl State {
    fn add(&mut self, totals: &Totals, reports: &[String], begin: Instant) {
        self.totals.add(totals);
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        for report in reports {
            let _ = writeln!(stderr(), "{clear}{report}");
        }
        let pause = Duration::from_millis(if self.terminal { 200 } else { 20_000 });
        if self.shown.elapsed() >= pause {
            self.shown = Instant::now();
            let line = self.totals.progress(begin.elapsed());
            let end = if self.terminal { "" } else { "\n" };
            let _ = write!(stderr(), "{clear}{line}{end}");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

extern "C" fn note_interrupt(signal: i32) {
    STOP.store(true, Ordering::Relaxed);
    // SAFETY: restoring the default action is async-signal-safe.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

fn stop_at_interrupt() {
    let handler = note_interrupt as extern "C" fn(i32);
    // SAFETY: the handler stores to an atomic and calls `signal`, both async-signal-safe.
    unsafe { libc::signal(libc::SIGINT, handler as libc::sighandler_t) };
}

/// What a user's program does: the same for all of its placements.
fn known(user: &User, settings: &Settings) -> io::Result<Reference> {
    let source = Source::User(user.clone());
    let dir = tempfile::Builder::new().prefix("flick-torture").tempdir()?;
    settings.workshop.write(&source, dir.path())?;
    settings
        .workshop
        .reference(&source, &Options::PLAIN, dir.path())?
        .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Everything that is tried with one seed; reports of failures. `known`: what the program does, if
/// that is known.
fn case(
    seed: u64,
    settings: &Settings,
    known: Option<&Reference>,
) -> io::Result<(Totals, Vec<String>)> {
    let mut totals = Totals::default();
    let workshop = &settings.workshop;
    let source = match (&settings.user, settings.generator) {
        (Some(user), _) => Source::User(user.clone()),
        (None, Generator::Own) => own(seed, settings),
        (None, Generator::Both) if seed % 2 == 1 => own(seed, settings),
        (None, _) => match csmith(seed) {
            Some(text) => Source::Csmith(text),
            None => {
                *totals
                    .discarded
                    .entry("csmith made no program".into())
                    .or_default() += 1;
                return Ok((totals, Vec::new()));
            }
        },
    };
    let options = match source {
        Source::User(_) => Options::PLAIN,
        _ if settings.backend == CARD => Options::draw(seed).without_static(),
        _ => Options::draw(seed),
    };
    let dir = tempfile::Builder::new().prefix("flick-torture").tempdir()?;
    let dir = dir.path();
    workshop.write(&source, dir)?;

    let mut failures = Vec::new();
    let manner = |round: usize, trigger: &'static str, counted: bool| Manner {
        backend: settings.backend,
        trigger,
        engine: Draw::new(seed, &format!("engine {round} {trigger} {counted}")).pick(ENGINE.values),
        counted,
    };
    let plainly = |difference| Failure {
        case: Case {
            source: source.clone(),
            options: options.clone(),
            placement: Placement::List(Vec::new()),
            manner: manner(0, TRIGGER.values[0], false),
        },
        difference,
        chosen: Vec::new(),
    };
    if settings.sanitize
        && let Source::Own(program) = &source
        && let Some(difference) = sanitized(workshop, program, &options, dir)?
    {
        let failure = plainly(difference);
        totals.differences += 1;
        let report = report(seed, settings, failure, false)?;
        return Ok((totals, vec![report]));
    }
    let made = match known {
        Some(reference) => Ok(reference.clone()),
        None => workshop.reference(&source, &options, dir)?,
    };
    let reference = match made {
        Ok(reference) => reference,
        Err(why) if matches!(source, Source::Own(_)) => {
            // The generator's own fault, which nobody may overlook.
            let failure = plainly(Difference {
                fault: Fault::Build(None),
                text: why,
            });
            totals.differences += 1;
            let report = report(seed, settings, failure, false)?;
            return Ok((totals, vec![report]));
        }
        Err(why) => {
            *totals.discarded.entry(why).or_default() += 1;
            return Ok((totals, Vec::new()));
        }
    };
    *totals.programs.entry(source.kind()).or_default() += 1;
    let names = source.function_names();
    for round in 0..settings.placements {
        let placement = Placement::draw(seed, round, &names);
        let failing = |manner, difference, built: &Built| Failure {
            case: Case {
                source: source.clone(),
                options: options.clone(),
                placement: placement.clone(),
                manner,
            },
            difference,
            chosen: entries(&source, built),
        };
        let built = match workshop.build(&source, &options, &placement, dir)? {
            Build::Refused(code) => {
                *totals.refused_builds.entry(code).or_default() += 1;
                continue;
            }
            Build::Failed(difference) => {
                let manner = manner(round, TRIGGER.values[0], false);
                failures.push(failing(manner, difference, &Built::default()));
                continue;
            }
            Build::Done(built) => built,
        };
        for code in built.refused() {
            *totals.refused.entry(code.to_owned()).or_default() += 1;
        }
        let placed = built.chosen().count() as u64;
        if placed == 0 {
            continue;
        }
        totals.placed += placed;
        totals.builds += 1;
        let counted = Draw::new(seed, &format!("counted {round}")).pick(TRIGGER.values);
        let plain_runs = TRIGGER.values.iter().copied();
        let runs = plain_runs
            .map(|trigger| manner(round, trigger, false))
            .chain([manner(round, counted, true)]);
        for manner in runs {
            totals.combinations += u64::from(!manner.counted);
            let compared = workshop.compare(&source, &manner, &reference, dir)?;
            if let Some(code) = compared.limit {
                *totals.stopped.entry(code).or_default() += 1;
            }
            let program = match &source {
                Source::Own(program) => Some(&**program),
                _ => None,
            };
            totals
                .crossings
                .add(&Crossings::of(program, &compared.summaries));
            if let Some(difference) = compared.difference {
                if let Source::Csmith(_) = source
                    && !workshop.same_unoptimised(&source, &options, &reference, dir)?
                {
                    let mut gone = Totals::default();
                    gone.discarded.insert(UNDEFINED.into(), 1);
                    return Ok((gone, Vec::new()));
                }
                failures.push(failing(manner, difference, &built));
                break;
            }
        }
    }
    if settings.keep_all && failures.is_empty() {
        let case = plainly(Difference {
            fault: Fault::Output,
            text: String::new(),
        })
        .case;
        let placement = Placement::draw(seed, 0, &names);
        let case = Case { placement, ..case };
        let folder = keep(
            &settings.keep,
            &format!("seed-{seed}"),
            &case,
            workshop,
            &format!("{}\nno difference\n", describe(seed, &case)),
        )?;
        return Ok((totals, vec![format!("kept in {}", folder.display())]));
    }
    totals.differences += failures.len() as u64;
    // One of them is enough: the others of this program are most likely the same.
    let reports = match failures.into_iter().next() {
        None => Vec::new(),
        Some(failure) => vec![report(seed, settings, failure, true)?],
    };
    Ok((totals, reports))
}

fn own(seed: u64, settings: &Settings) -> Source {
    Source::Own(Box::new(generate::program(seed, &settings.features)))
}

/// What sanitizers say of the plain build.
fn sanitized(
    workshop: &Workshop,
    program: &Program,
    options: &Options,
    dir: &Path,
) -> io::Result<Option<Difference>> {
    // AddressSanitizer's own part of a `longjmp` must not be interrupted by another one, and it
    // knows one stack.
    let mut calm = program.clone();
    calm.surroundings.timer = false;
    calm.surroundings.signal_stack = false;
    let source = &Source::Own(Box::new(calm));
    let dir = &dir.join("sanitized");
    workshop.write(source, dir)?;
    let options = Options {
        level: options.level,
        ..Options::PLAIN
    };
    let mut commands = source.commands(&workshop.plain, &options, None, "", "plain");
    for words in &mut commands {
        words.extend(
            [
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-g",
            ]
            .map(String::from),
        );
    }
    let report = |text: String| {
        Some(Difference {
            fault: Fault::Build(None),
            text: format!("the generated program is at fault: {text}"),
        })
    };
    if let Some(failed) = workshop.build_all(&commands, source, dir)? {
        return Ok(report(failed.stderr_text()));
    }
    let env = [("ASAN_OPTIONS".to_owned(), "detect_leaks=0".to_owned())];
    let run = workshop.run(source, dir, "plain", &env, workshop.run_limit)?;
    let said = run.stderr_text();
    let bad = said.contains("runtime error") || said.contains("Sanitizer");
    let ends = matches!(run.status, Status::Code(_) | Status::Signal(libc::SIGABRT));
    Ok((bad || !ends).then(|| report(said)).flatten())
}
