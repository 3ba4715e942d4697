//! Where a thread runs: it moves at an instruction that its CPU lacks, and is free again after a time.
//!
//! Each thread has a mask of its own, which is the program's. After a fault the thread is *held* on CPUs
//! that have the instruction. When the time is over, the mask is the thread's own again. So Linux may
//! move the thread, and need not.
//!
//! A thread that comes back soon is held twice as long, up to a limit. So threads fault for this reason
//! once in `hold` at most, and the more often they do, the rarer.
use std::fmt;

use crate::cpu_set::CpuSet;
use crate::cpus::Cpus;
use crate::needs::{self, Need};

/// Nanoseconds of the monotonic clock.
pub type Time = u64;

/// For how long threads are held.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The first time, and after a rest.
    pub hold: Time,
    /// At most.
    pub longest: Time,
}

/// A fault of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The instruction's address.
    pub pc: u64,
    /// The instruction.
    pub word: u32,
    /// The CPU that the thread was on last. It may have moved since the fault, so this is a hint.
    pub last_cpu: usize,
    /// When.
    pub now: Time,
}

/// A thread's place.
#[derive(Clone, Debug)]
pub struct Place {
    own: CpuSet,
    held: Option<Held>,
    /// For how long it is held next.
    hold: Time,
    /// When it was free again.
    freed: Time,
    /// The last fault, and where the thread was sent for it.
    attempt: Option<Attempt>,
}

#[derive(Clone, Debug)]
struct Held {
    cpus: CpuSet,
    since: Time,
    until: Time,
    /// What it was moved for, so that the next place has all of it, if there is one.
    needs: Vec<Need>,
}

#[derive(Clone, Debug)]
struct Attempt {
    pc: u64,
    word: u32,
    /// CPUs that have not executed it.
    tried: CpuSet,
}

/// What becomes of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The thread goes to one of these CPUs, and executes the instruction there.
    Move(CpuSet),
    /// The program gets its signal.
    Refuse(Refusal),
}

/// Why no CPU takes a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// None has the extension.
    NoCpu(Need),
    /// All CPUs that the thread may use have tried the instruction.
    AllTried,
    /// The thread's own mask leaves the CPUs out that have it.
    Mask(Need, CpuSet),
    /// CPUs have the extension, as the system says, and do not execute it.
    NotExecuted(Need, CpuSet),
    /// Linux turns the extension on everywhere or nowhere.
    KernelState(&'static str, CpuSet),
    /// No program may execute it.
    Privileged,
}

impl Place {
    /// Of a thread with this mask.
    pub fn new(own: CpuSet, policy: &Policy) -> Self {
        Self {
            own,
            held: None,
            hold: policy.hold,
            freed: 0,
            attempt: None,
        }
    }

    /// The thread's own mask.
    pub fn own(&self) -> &CpuSet {
        &self.own
    }

    /// The CPUs on which it is held.
    pub fn held(&self) -> Option<&CpuSet> {
        self.held.as_ref().map(|held| &held.cpus)
    }

    /// When it is to be freed.
    pub fn until(&self) -> Option<Time> {
        self.held.as_ref().map(|held| held.until)
    }

    /// The program has given it another mask, which is in force.
    pub fn set_own(&mut self, own: CpuSet, now: Time) {
        self.own = own;
        self.free(now);
    }

    /// Its own mask is in force again. Returns for how long it was held.
    pub fn free(&mut self, now: Time) -> Time {
        self.freed = now;
        self.attempt = None;
        self.held
            .take()
            .map_or(0, |held| now.saturating_sub(held.since))
    }

    /// Decides on a fault.
    pub fn fault(&mut self, cpus: &Cpus, policy: &Policy, fault: &Fault) -> Decision {
        let need = needs::of(fault.word);
        let tried = self.tried(cpus, fault);
        let chosen = match need {
            Need::Privileged => Decision::Refuse(Refusal::Privileged),
            Need::KernelState(name) => {
                let on = cpus.with_extension(name);
                Decision::Refuse(Refusal::KernelState(name, on))
            }
            Need::Extension(name) => self.among(cpus.with_extension(name), need, &tried),
            Need::Custom(number) => match cpus.with_opcode(number) {
                // Nothing is known of vendors.
                none if none.is_empty() => self.next_kind(cpus, &tried, fault.last_cpu),
                some => self.among(some, need, &tried),
            },
            Need::Unknown => self.next_kind(cpus, &tried, fault.last_cpu),
        };
        let target = match chosen {
            Decision::Move(target) => self.with_all_needs(cpus, target),
            refused @ Decision::Refuse(_) => return refused,
        };
        let (since, mut needs) = match self.held.take() {
            Some(held) => (held.since, held.needs),
            None => {
                let soon = fault.now.saturating_sub(self.freed) < self.hold;
                self.hold = match soon && self.freed != 0 {
                    true => (self.hold * 2).min(policy.longest),
                    false => policy.hold,
                };
                (fault.now, Vec::new())
            }
        };
        if !needs.contains(&need) {
            needs.push(need);
        }
        self.attempt = Some(Attempt {
            pc: fault.pc,
            word: fault.word,
            tried,
        });
        self.held = Some(Held {
            cpus: target,
            since,
            until: fault.now + self.hold,
            needs,
        });
        Decision::Move(target)
    }

    /// The CPUs of which it is certain that they lack the instruction: the thread was held on them
    /// for it; or it cannot have been on any CPU of another kind.
    fn tried(&self, cpus: &Cpus, fault: &Fault) -> CpuSet {
        let before = match &self.attempt {
            Some(last) if last.pc == fault.pc && last.word == fault.word => {
                last.tried.or(self.held().unwrap_or(&CpuSet::EMPTY))
            }
            _ => CpuSet::EMPTY,
        };
        let here = self.held().unwrap_or(&self.own);
        let mut kinds = cpus
            .kinds()
            .iter()
            .filter(|kind| !kind.cpus.and(here).is_empty());
        match (kinds.next(), kinds.next()) {
            (Some(only), None) => before.or(&only.cpus),
            _ => before,
        }
    }

    /// Those CPUs of `some` that the thread may use, without those that have tried it.
    fn among(&self, some: CpuSet, need: Need, tried: &CpuSet) -> Decision {
        let allowed = some.and(&self.own);
        let left = allowed.without(tried);
        if some.is_empty() {
            Decision::Refuse(Refusal::NoCpu(need))
        } else if allowed.is_empty() {
            Decision::Refuse(Refusal::Mask(need, some))
        } else if left.is_empty() {
            Decision::Refuse(Refusal::NotExecuted(need, allowed))
        } else {
            Decision::Move(left)
        }
    }

    /// The kind of CPU that tries an unknown instruction next: the one where the thread was last comes
    /// at the end.
    fn next_kind(&self, cpus: &Cpus, tried: &CpuSet, last: usize) -> Decision {
        let left = |kind: &crate::cpus::Kind| kind.cpus.and(&self.own).without(tried);
        let kinds = cpus
            .kinds()
            .iter()
            .map(|kind| (kind.cpus.has(last), left(kind)));
        let mut kinds: Vec<_> = kinds.filter(|(_, left)| !left.is_empty()).collect();
        kinds.sort_by_key(|(is_last, _)| *is_last);
        match kinds.first() {
            Some((_, left)) => Decision::Move(*left),
            None => Decision::Refuse(Refusal::AllTried),
        }
    }

    /// CPUs of `target` that have all that the thread was moved for while it is held.
    fn with_all_needs(&self, cpus: &Cpus, target: CpuSet) -> CpuSet {
        let needs = self.held.iter().flat_map(|held| &held.needs);
        let all = needs.fold(target, |all, need| match need {
            Need::Extension(name) => all.and(&cpus.with_extension(name)),
            Need::Custom(number) => all.and(&cpus.with_opcode(*number)),
            _ => all,
        });
        if all.is_empty() { target } else { all }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCpu(need) => write!(f, "no CPU has {need}"),
            Self::AllTried => f.write_str("no CPU that the thread may use executes it"),
            Self::Mask(need, cpus) => {
                write!(
                    f,
                    "{need} is on CPUs {cpus}, which the thread's affinity mask leaves out"
                )
            }
            Self::NotExecuted(need, cpus) => {
                write!(
                    f,
                    "CPUs {cpus} are said to have {need}, and do not execute it"
                )
            }
            Self::KernelState(name, cpus) if cpus.is_empty() => {
                write!(
                    f,
                    "{name} has registers that Linux saves, and no CPU has it"
                )
            }
            Self::KernelState(name, cpus) => write!(
                f,
                "{name} has registers that Linux saves; it is on CPUs {cpus}, and Linux turns it on only \
                 if all CPUs have it"
            ),
            Self::Privileged => f.write_str("it is for the kernel alone"),
        }
    }
}

#[cfg(test)]
#[path = "move_policy_tests.rs"]
mod tests;
