//! The process that watches a program: it waits for stops of threads, and for times at which threads
//! are free again.
use std::collections::{HashMap, HashSet};
use std::{fs, io, ptr};

use flick_diagnostics::Code;
use flick_image::Error;
use libc::{c_int, pid_t};

use crate::affinity;
use crate::cpu_set::CpuSet;
use crate::cpus::Cpus;
use crate::move_policy::{Decision, Fault, Place, Policy, Refusal, Time};
use crate::moved_lines::MovedLines;
use crate::thread_stops::{self, Change, Stop};

const MILLISECOND: Time = 1_000_000;
/// A new thread stops for the first time, or its maker tells of it: in either order. A maker that was
/// killed tells nothing, and after this time the thread goes on without.
const ORPHANED: Time = 50 * MILLISECOND;
/// Messages about instructions that no CPU takes.
const MESSAGES: usize = 10;

/// What the watcher knows of a thread.
struct Thread {
    place: Place,
    /// The thread whose mask the call sets that is under way.
    sets: Option<pid_t>,
}

/// The watcher of a program.
pub struct Watcher {
    cpus: Cpus,
    policy: Policy,
    has_report: bool,
    /// The process that the program began as.
    first: pid_t,
    has_begun: bool,
    threads: HashMap<pid_t, Thread>,
    /// Threads that have stopped before their makers told of them.
    early: HashSet<pid_t>,
    lines: MovedLines,
    messages: HashSet<(u64, Refusal)>,
}

impl Watcher {
    /// Of a program that is about to begin in the process `first`, which is watched already.
    pub fn new(cpus: Cpus, policy: Policy, has_report: bool, first: pid_t) -> io::Result<Self> {
        let thread = Thread {
            place: Place::new(affinity::get(first)?, &policy),
            sets: None,
        };
        Ok(Self {
            cpus,
            policy,
            has_report,
            first,
            has_begun: false,
            threads: HashMap::from([(first, thread)]),
            early: HashSet::new(),
            lines: MovedLines::default(),
            messages: HashSet::new(),
        })
    }

    /// Watches until no thread is left.
    pub fn watch(mut self) {
        let child = signal_of_children();
        loop {
            loop {
                let (thread, is_end) = match thread_stops::peek() {
                    Ok(Some(change)) => change,
                    Ok(None) => break,
                    // No thread is left.
                    Err(_) => return,
                };
                // Its parent does not know yet that it has ended.
                if is_end && thread == self.first && self.has_report && self.has_begun {
                    eprint!("{}", self.lines.report());
                }
                if let Some(change) = thread_stops::take(thread) {
                    self.change(thread, change);
                }
            }
            if self.threads.is_empty() && self.early.is_empty() {
                return;
            }
            let now = now();
            let due = self.free_threads(now);
            let due = if self.early.is_empty() {
                due
            } else {
                Some(now + ORPHANED)
            };
            if !wait_for(&child, due.map(|due| due - now)) && !self.early.is_empty() {
                for thread in std::mem::take(&mut self.early) {
                    let own = affinity::get(thread).unwrap_or(CpuSet::EMPTY);
                    self.begin(thread, own);
                    thread_stops::resume(thread, 0);
                }
            }
        }
    }

    fn begin(&mut self, thread: pid_t, own: CpuSet) {
        let place = Place::new(own, &self.policy);
        self.threads.insert(thread, Thread { place, sets: None });
    }

    /// Frees threads whose time is over. Returns when the next one is due.
    fn free_threads(&mut self, now: Time) -> Option<Time> {
        let mut next = None;
        for (&thread, Thread { place, .. }) in &mut self.threads {
            let (Some(until), Some(&held)) = (place.until(), place.held()) else {
                continue;
            };
            if until > now {
                next = Some(next.map_or(until, |next: Time| next.min(until)));
                continue;
            }
            self.lines.freed(place.free(now));
            match affinity::get(thread) {
                // Nobody else has given it a mask meanwhile.
                Ok(actual) if actual == held => {
                    // A thread that has ended needs no mask.
                    let _ = affinity::set(thread, place.own());
                }
                Ok(actual) => place.set_own(actual, now),
                Err(_) => {}
            }
        }
        next
    }

    fn change(&mut self, thread: pid_t, change: Change) {
        let stop = match change {
            Change::Gone => {
                self.threads.remove(&thread);
                self.early.remove(&thread);
                self.lines.forget(thread);
                return;
            }
            Change::Stopped(stop) => stop,
        };
        if let Stop::Executed(former) = stop {
            self.has_begun = true;
            // The thread that executes another program has the number of the first one now.
            if let Some(state) = self.threads.remove(&former) {
                self.threads.insert(thread, state);
            }
            self.lines.forget(thread);
            return thread_stops::resume(thread, 0);
        }
        if !self.threads.contains_key(&thread) {
            self.early.insert(thread);
            return;
        }
        match stop {
            Stop::Created(child) => {
                self.created(thread, child);
                thread_stops::resume(thread, 0);
            }
            Stop::Call => self.call(thread),
            Stop::CallEnded => self.call_ended(thread),
            Stop::Group => thread_stops::leave_stopped(thread),
            Stop::Begins | Stop::Executed(_) => thread_stops::resume(thread, 0),
            Stop::Signal(signal) => {
                let address =
                    (signal == libc::SIGILL).then(|| thread_stops::faulting_address(thread));
                let moved = address.flatten().is_some_and(|pc| self.fault(thread, pc));
                thread_stops::resume(thread, if moved { 0 } else { signal });
            }
        }
    }

    /// A thread or process begins with the mask of the program, and not with one that holds its maker.
    fn created(&mut self, maker: pid_t, child: pid_t) {
        let Some(Thread { place, .. }) = self.threads.get(&maker) else {
            return;
        };
        let (own, is_held) = (*place.own(), place.held().is_some());
        self.begin(child, own);
        if is_held {
            // It may have been killed, which is reported later.
            let _ = affinity::set(child, &own);
        }
        if self.early.remove(&child) {
            thread_stops::resume(child, 0);
        }
    }

    /// The thread calls for a mask, or about one.
    fn call(&mut self, thread: pid_t) {
        let Some(call) = thread_stops::call(thread) else {
            return thread_stops::resume(thread, 0);
        };
        if let Some(target) = affinity::sets(thread, &call) {
            if let Some(caller) = self.threads.get_mut(&thread) {
                caller.sets = Some(target);
            }
            return thread_stops::resume_to_end_of_call(thread);
        }
        if let Some(target) = affinity::asks(thread, &call)
            && let Some(asked) = self.threads.get(&target)
            && asked.place.held().is_some()
        {
            // It fails only for a thread that was killed.
            let _ = affinity::answer(thread, &call, target, asked.place.own());
        }
        thread_stops::resume(thread, 0);
    }

    /// The program has set a mask, which the kernel has taken or not.
    fn call_ended(&mut self, thread: pid_t) {
        let target = self
            .threads
            .get_mut(&thread)
            .and_then(|caller| caller.sets.take());
        if let Some(target) = target
            && thread_stops::call_succeeded(thread)
            && let Some(state) = self.threads.get_mut(&target)
            && let Ok(own) = affinity::get(target)
        {
            let now = now();
            self.lines.freed(state.place.free(now));
            state.place.set_own(own, now);
        }
        thread_stops::resume(thread, 0);
    }

    /// An instruction that a CPU lacks. Has the thread moved?
    fn fault(&mut self, thread: pid_t, pc: u64) -> bool {
        let Some(word) = thread_stops::instruction(thread, pc) else {
            return false;
        };
        let Some(state) = self.threads.get_mut(&thread) else {
            return false;
        };
        let now = now();
        let fault = Fault {
            pc,
            word,
            last_cpu: last_cpu(thread),
            now,
        };
        match state.place.fault(&self.cpus, &self.policy, &fault) {
            Decision::Move(cpus) => {
                let moved = affinity::set(thread, &cpus).is_ok();
                if moved {
                    self.lines.moved(thread, pc, word, &cpus);
                } else {
                    // CPUs that Linux has taken away since the program began.
                    state.place.free(now);
                    let _ = affinity::set(thread, state.place.own());
                }
                moved
            }
            Decision::Refuse(refusal) => {
                self.lines.refused(thread, pc, word, &refusal);
                self.tell(thread, pc, word, refusal);
                false
            }
        }
    }

    /// Says why the program ends. One that handles the signal may only try what there is.
    fn tell(&mut self, thread: pid_t, pc: u64, word: u32, refusal: Refusal) {
        let is_new =
            self.messages.len() < MESSAGES && !self.messages.contains(&(pc, refusal.clone()));
        if !is_new || handles_illegal_instructions(thread) {
            return;
        }
        let help = match &refusal {
            Refusal::Mask(..) => "give the program the CPUs: taskset, or the cpuset that it is in",
            Refusal::KernelState(..) => {
                "build without this extension, or start Linux with the CPUs alone that have it"
            }
            Refusal::NotExecuted(..) => {
                "correct the description of the CPUs (--cpus, the device tree)"
            }
            _ => "`flick run --extensions --list` shows what the CPUs have; --cpus adds to it",
        };
        let error = Error::new(
            Code::NoCpuForInstruction,
            "no CPU for an instruction",
            self.lines.place(thread, pc),
            format!("{word:#x}: {refusal}"),
            help,
        );
        eprintln!("{}", error.as_warning());
        self.messages.insert((pc, refusal));
    }
}

/// The set of signals that tell of children, which are blocked here and waited for.
fn signal_of_children() -> libc::sigset_t {
    // SAFETY: a set is plain data, and made before it is used. The default action keeps the signal, which
    // the starter of this program may have ignored.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
        set
    }
}

/// Waits for a signal of `set`, for this time or without end. Was there one?
fn wait_for(set: &libc::sigset_t, time: Option<Time>) -> bool {
    let limit = time.map(|time| libc::timespec {
        tv_sec: (time / 1_000_000_000) as libc::time_t,
        tv_nsec: (time % 1_000_000_000) as libc::c_long,
    });
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the set and the time live across the call.
    unsafe { libc::sigtimedwait(set, ptr::null_mut(), limit) == libc::SIGCHLD }
}

fn now() -> Time {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time lives across the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as Time * 1_000_000_000 + time.tv_nsec as Time
}

/// The CPU on which a thread was last: field 39 of its `stat`, behind the name in parentheses.
fn last_cpu(thread: pid_t) -> usize {
    let text = fs::read_to_string(format!("/proc/{thread}/stat")).unwrap_or_default();
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let cpu = fields.split_ascii_whitespace().nth(39 - 3);
    cpu.and_then(|cpu| cpu.parse().ok()).unwrap_or(usize::MAX)
}

/// Has the program a handler for SIGILL, or ignores it?
fn handles_illegal_instructions(thread: pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|value| u64::from_str_radix(value.trim(), 16).ok())
            .unwrap_or(0)
    };
    const BIT: c_int = libc::SIGILL - 1;
    (value("SigCgt:") | value("SigIgn:")) >> BIT & 1 != 0
}
