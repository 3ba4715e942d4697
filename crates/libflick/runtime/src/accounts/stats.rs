//! Statistics: what the counted paths count, and the summary at the end of the process.
//!
//! Chosen at start-up (`FLICK_STATS`). Gates then enter the counted crossing; where one path serves
//! both, it asks [`enabled`], a load and a branch. Counters are atomics that nobody waits for, so
//! they may be touched in signal handlers.
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use flick_abi::layout::{GATE_NXP, Gate};
use flick_events::card::Card;
use flick_events::{Calls, Cause, Heap, Offload, Summary, Trigger, View};
use flick_sync::Tally;

use crate::accounts::{gate_counts, migrations, symbols, timed};
use crate::config::{self, Statistics};
use crate::heap::{policy, usage};
use crate::locks::order::STATISTICS;
use crate::memory::{nxp_region, nxp_stack};
use crate::os::{fatal, process_facts};
use crate::{modules, translation};

static ENABLED: AtomicBool = AtomicBool::new(false);
static FINISHED: AtomicBool = AtomicBool::new(false);
static FAULTS: AtomicU64 = AtomicU64::new(0);
static INSTRUCTIONS: AtomicU64 = AtomicU64::new(0);

/// Whether the process counts. Once it does, it does so up to its end, since gates hold the counts
/// ([`Gate::calls`]).
#[inline]
pub fn enabled() -> bool {
    ENABLED.load(Relaxed)
}

/// A host fetch from an image that migrated its thread.
#[inline]
pub fn fault() {
    FAULTS.fetch_add(1, Relaxed);
}

/// `count` more RV64 instructions retired.
#[inline]
pub fn instructions(count: u64) {
    INSTRUCTIONS.fetch_add(count, Relaxed);
}

/// Calls by host function.
static HOST_CALLS: Tally<TARGETS> = Tally::new();
const TARGETS: usize = 1 << 14;

/// A call from NxP code to the host function at `target`.
pub fn host_call(target: usize) {
    HOST_CALLS.add(target);
}

/// What is known at start-up, and calls of functions whose module has been unloaded.
struct Run {
    /// Where the record goes; `None`: the text goes to stderr.
    record: Option<PathBuf>,
    start: Instant,
    fallback: Option<String>,
    engine: &'static str,
    backend: &'static str,
    card: Option<fn() -> Card>,
    gone_host_to_nxp: Vec<Calls>,
    gone_nxp_to_host: Vec<Calls>,
    gone_on_host: Vec<(Cause, Calls)>,
    /// Paths of unloaded modules.
    gone_files: Vec<String>,
    /// Gates of modules that run on the host: nobody else keeps those.
    host_gates: Vec<HostGate>,
}

struct HostGate(*const Gate);
// SAFETY: gates are read, and written only in atomics; they are dropped before their module goes.
unsafe impl Send for HostGate {}

struct State(UnsafeCell<Option<Run>>);
// SAFETY: accessed only with STATISTICS held.
unsafe impl Sync for State {}
static STATE: State = State(UnsafeCell::new(None));

fn with_run<R>(f: impl FnOnce(&mut Run) -> R) -> R {
    STATISTICS.with(|| {
        // SAFETY: the lock is held.
        let state = unsafe { &mut *STATE.0.get() };
        f(state.get_or_insert_with(|| Run {
            record: None,
            start: Instant::now(),
            fallback: None,
            engine: "",
            backend: "",
            card: None,
            gone_host_to_nxp: Vec::new(),
            gone_nxp_to_host: Vec::new(),
            gone_on_host: Vec::new(),
            gone_files: Vec::new(),
            host_gates: Vec::new(),
        }))
    })
}

/// Starts to count, and arranges for the summary when the process exits. Call once, before gates
/// get their targets.
pub fn init(statistics: Statistics) {
    let record = match statistics {
        Statistics::Off => return,
        Statistics::Stderr => None,
        // The program may change its directory.
        Statistics::File(path) => Some(std::path::absolute(&path).unwrap_or(path.into())),
    };
    with_run(|run| run.record = record);
    ENABLED.store(true, Relaxed);
    usage::count();
    // SAFETY: the functions live as long as the process; libflick is never unloaded.
    unsafe {
        libc::atexit(finish);
        libc::pthread_atfork(None, None, Some(forked));
    }
}

/// Offload was wanted and is off; `why` is for people.
pub fn set_fallback(why: &str) {
    with_run(|run| run.fallback = Some(why.to_owned()));
}

/// Names the engine and the backend that NxP code runs on.
pub fn set_engine(engine: &'static str, backend: &'static str) {
    with_run(|run| (run.engine, run.backend) = (engine, backend));
}

/// NxP code runs on a card, which says by `card` what ran there.
pub fn set_card(card: fn() -> Card) {
    with_run(|run| run.card = Some(card));
}

/// The child of a fork counts its own calls, not its parent's.
extern "C" fn forked() {
    for counter in [&FAULTS, &INSTRUCTIONS] {
        counter.store(0, Relaxed);
    }
    HOST_CALLS.reset();
    migrations::reset();
    usage::forked();
    gate_counts::reset();
    let reset = |gate: &Gate| gate.early_calls.store(0, Relaxed);
    modules::for_each_gate(reset);
    with_run(|run| {
        run.start = Instant::now();
        for gate in &run.host_gates {
            // SAFETY: a gate of a registered module.
            reset(unsafe { &*gate.0 });
        }
        run.gone_on_host.clear();
        run.gone_host_to_nxp.clear();
        run.gone_nxp_to_host.clear();
    });
}

/// The gates of a module whose functions run on the host in this process.
pub fn add_host_gates(gates: &[&Gate]) {
    if enabled() {
        let gates = gates.iter().map(|gate| HostGate(ptr::from_ref(*gate)));
        with_run(|run| run.host_gates.extend(gates));
    }
}

/// Keeps the counts of a module that is going to be unloaded, while its symbols can be found.
pub fn absorb(gates: &[&Gate]) {
    if !enabled() {
        return;
    }
    let Some(module) = gates
        .first()
        .and_then(|gate| symbols::Object::of(gate.entry as usize))
    else {
        return;
    };
    let gone: Vec<Calls> = gates
        .iter()
        .filter_map(|gate| of_gate(gate, gate_counts::take(*gate)))
        .collect();
    let early: Vec<(Cause, Calls)> = gates.iter().filter_map(|gate| early(gate)).collect();
    with_run(|run| {
        let known = run.host_gates.len();
        run.host_gates
            .retain(|known| !gates.iter().any(|gate| ptr::eq(known.0, *gate)));
        if run.host_gates.len() == known {
            run.gone_host_to_nxp.extend(gone);
        } else {
            run.gone_on_host
                .extend(gone.into_iter().map(|calls| (Cause::Off, calls)));
        }
        run.gone_on_host.extend(early);
        run.gone_files.push(module.path());
    });
    let gone = symbols::name_all(HOST_CALLS.take(|target| module.contains(target)).collect());
    with_run(|run| run.gone_nxp_to_host.extend(gone));
}

/// The calls of a gate's function, if it has any and is NxP code.
pub fn of_gate(gate: &Gate, count: u64) -> Option<Calls> {
    if count == 0 || gate.flags & GATE_NXP == 0 {
        return None;
    }
    // SAFETY: the record of a module that is still mapped.
    let name = unsafe { CStr::from_ptr(gate.name) }.to_string_lossy();
    let module = symbols::Object::of(gate.entry as usize).map_or(String::new(), |o| o.file_name());
    Some(Calls {
        function: flick_names::plain(&name).to_owned(),
        module,
        count,
    })
}

fn early(gate: &Gate) -> Option<(Cause, Calls)> {
    let count = u64::from(gate.early_calls.load(Relaxed));
    of_gate(gate, count).map(|calls| (Cause::Early, calls))
}

/// The process's summary so far.
pub fn summary() -> Summary {
    let mut host_to_nxp = Vec::new();
    let mut on_host = Vec::new();
    modules::for_each_gate(|gate| {
        host_to_nxp.extend(of_gate(gate, gate_counts::of(gate)));
        on_host.extend(early(gate));
    });
    let mut files: Vec<String> = symbols::paths();
    let mut nxp_to_host = symbols::name_all(HOST_CALLS.counts().collect());
    let other = HOST_CALLS.others();
    if other != 0 {
        let function = "(functions beyond those counted apart)".into();
        nxp_to_host.push(Calls {
            function,
            module: String::new(),
            count: other,
        });
    }

    let config = config::get();
    let (start, fallback, engine, backend, card) = with_run(|run| {
        host_to_nxp.extend(run.gone_host_to_nxp.iter().cloned());
        nxp_to_host.extend(run.gone_nxp_to_host.iter().cloned());
        on_host.extend(run.gone_on_host.iter().cloned());
        for gate in &run.host_gates {
            // SAFETY: a gate of a registered module.
            let gate = unsafe { &*gate.0 };
            let calls = of_gate(gate, gate_counts::of(gate));
            on_host.extend(calls.map(|calls| (Cause::Off, calls)));
            on_host.extend(early(gate));
        }
        let gone = run.gone_files.iter();
        files.extend(
            gone.filter(|gone| !files.contains(gone))
                .cloned()
                .collect::<Vec<_>>(),
        );
        let fallback = run.fallback.clone();
        (run.start, fallback, run.engine, run.backend, run.card)
    });
    let offload = match (fallback, config.offload) {
        (Some(why), _) => Offload::Off(why),
        (None, config::Offload::Off) => Offload::Off("FLICK_OFFLOAD=off".into()),
        (None, _) => Offload::On,
    };
    let heap = match policy::policy() {
        Some(policy::Policy::Nxp) => Heap::Nxp,
        Some(policy::Policy::Host(why)) => Heap::Host(why.clone()),
        None => Heap::Host("no NxP-local memory".into()),
    };
    let (user, system) = cpu_times();
    let translated = translation::usage();
    Summary {
        program: process_facts::program(),
        pid: std::process::id(),
        trigger: match config.trigger {
            config::Trigger::Gate => Trigger::Gate,
            config::Trigger::Fault => Trigger::Fault,
        },
        engine: engine.into(),
        backend: backend.into(),
        offload,
        heap,
        host_to_nxp: symbols::merged(host_to_nxp),
        nxp_to_host: symbols::merged(nxp_to_host),
        faults: FAULTS.load(Relaxed),
        instructions: INSTRUCTIONS.load(Relaxed),
        translated: translated.guest,
        translation: translated.host,
        translation_tables: translated.tables,
        translations: translated.translations,
        on_host,
        files,
        migrations: migrations::all(),
        threads: nxp_stack::acquired() as u64,
        region_size: nxp_region::size() as u64,
        heap_peak: usage::peak() as u64,
        heap_live: usage::live() as u64,
        stack_peak: nxp_stack::peak() as u64,
        elapsed: u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),
        user,
        system,
        card: card.map(|card| card()),
        timed: timed::total::total(),
        trace_lost: timed::trace::lost(),
    }
}

/// User and system time of the process in nanoseconds.
fn cpu_times() -> (u64, u64) {
    // SAFETY: plain data that getrusage fills in.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let nanoseconds = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime))
}

/// Prints or writes the summary, once; at exit.
pub extern "C" fn finish() {
    if !enabled() || FINISHED.swap(true, Relaxed) {
        return;
    }
    let summary = summary();
    let record = with_run(|run| run.record.clone());
    match record {
        None => fatal::write_stderr(summary.text(View::default()).to_string().as_bytes()),
        Some(path) => {
            if let Err(error) = append(&path, summary.to_record().as_bytes()) {
                fatal::warn(
                    "FLK0105",
                    &format!(
                        "the statistics cannot be written: {}: {error}",
                        path.display()
                    ),
                    "name a file that can be written in FLICK_STATS",
                );
            }
        }
    }
}

/// One write at the end of the file, so that records of several processes do not mix. A part of a
/// record, which would hide the others from every reader, is taken back.
fn append(path: &std::path::Path, record: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let mut done = 0;
    while done < record.len() {
        match file.write(&record[done..]) {
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                take_back(&mut file, done as u64);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// The last `count` bytes of `file`, if they are still the last. A pipe has none.
fn take_back(file: &mut File, count: u64) {
    if let (Ok(end), Ok(about)) = (file.stream_position(), file.metadata())
        && about.is_file()
        && about.len() == end
    {
        // Nothing more can be done about it.
        let _ = file.set_len(end - count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also those of more targets than the table holds, from several threads.
    #[test]
    fn every_host_call_is_counted_once() {
        const THREADS: usize = 4;
        const CALLS: usize = 60_000;
        let known = libc::getppid as unsafe extern "C" fn() -> libc::pid_t as usize;
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for i in 0..CALLS {
                        // Addresses where nothing is mapped, in a different order in each thread.
                        let target = (i * (2 * thread + 1)) % 20_000 * 16 + 0x1000;
                        host_call(target);
                        if i % 100 == 0 {
                            host_call(known);
                        }
                    }
                });
            }
        });
        let summary = summary();
        let count = |name: &str| {
            summary
                .nxp_to_host
                .iter()
                .find(|c| c.function == name)
                .map(|c| c.count)
        };
        assert_eq!(
            summary.nxp_to_host_calls(),
            (THREADS * CALLS + THREADS * CALLS / 100) as u64
        );
        assert!(count("(functions beyond those counted apart)").is_some());
        // Counted apart, unless the table was full when it was first called.
        assert_eq!(count("getppid"), Some((THREADS * CALLS / 100) as u64));
        assert!(summary.nxp_to_host.len() > TARGETS / 2);
    }
}
