//! The meaning of an address outside its image that NxP code jumps to, and the plan of a call's
//! signature: each thread remembers both.
use std::arch::asm;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use flick_engine::CodeRegion;

use super::signatures::{self, Plan};
use crate::modules;
use crate::os::{fatal, host_library};

/// Meaning of a jump target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// NxP code at this address: the target is a gate, a both-sided function or an image address.
    Nxp(u64),
    /// Host code.
    Host,
}

const SLOTS: usize = 64;
const PLANS: usize = 32;

/// Read and written by one instruction each: a signal handler that crosses may change any slot
/// between two instructions of the code it interrupted.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Slot {
    target: u64,
    /// The NxP address; 0 for host code.
    nxp: u64,
}

impl Slot {
    const EMPTY: Self = Self {
        target: u64::MAX,
        nxp: 0,
    };

    #[inline]
    fn read(&self) -> Self {
        let (target, nxp);
        // SAFETY: an aligned load of 16 bytes.
        unsafe {
            asm!(
                "movdqa {both}, xmmword ptr [{slot}]",
                "movq {target}, {both}",
                "psrldq {both}, 8",
                "movq {nxp}, {both}",
                slot = in(reg) ptr::from_ref(self),
                both = out(xmm_reg) _,
                target = out(reg) target,
                nxp = out(reg) nxp,
                options(nostack, preserves_flags, readonly),
            );
        }
        Self { target, nxp }
    }

    fn write(&mut self, new: Self) {
        // SAFETY: aligned load and store of 16 bytes.
        unsafe {
            asm!(
                "movdqa {both}, xmmword ptr [{new}]",
                "movdqa xmmword ptr [{slot}], {both}",
                slot = in(reg) ptr::from_mut(self),
                new = in(reg) &raw const new,
                both = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Per-thread, direct-mapped: a repeated call looks nothing up in shared tables.
pub struct TargetCache {
    slots: [Slot; SLOTS],
    /// [`modules::generation`] that the slots were filled under.
    generation: AtomicU64,
    /// The region that ran last, or null.
    region: AtomicPtr<CodeRegion>,
    /// By the texts of signatures; `nxp` is the address of the plan.
    plans: [Slot; PLANS],
}

impl TargetCache {
    /// Makes an empty one in its place: a small signal stack has no room for it.
    ///
    /// # Safety
    /// The place may be written.
    pub unsafe fn init(place: *mut Self) {
        // SAFETY: by contract.
        unsafe {
            for n in 0..SLOTS {
                (&raw mut (*place).slots[n]).write(Slot::EMPTY);
            }
            for n in 0..PLANS {
                (&raw mut (*place).plans[n]).write(Slot::EMPTY);
            }
            (&raw mut (*place).generation).write(AtomicU64::new(0));
            (&raw mut (*place).region).write(AtomicPtr::new(ptr::null_mut()));
        }
    }

    /// The region with NxP address `address`, which [`TargetCache::resolve`] has just given, or
    /// null if its module is gone.
    #[inline]
    pub fn region(&self, address: u64) -> *const CodeRegion {
        let last = self.region.load(Ordering::Relaxed);
        // SAFETY: `resolve` has dropped the region if any module came or went since; else its
        // module is registered.
        if !last.is_null() && unsafe { (*last).contains(address) } {
            return last;
        }
        let found = modules::region_of(address).unwrap_or(ptr::null());
        self.region.store(found.cast_mut(), Ordering::Relaxed);
        found
    }

    #[inline]
    pub fn resolve(&mut self, target: u64) -> Target {
        let slot = self.slots[index(target)].read();
        if slot.target == target && self.generation.load(Ordering::Relaxed) == modules::generation()
        {
            return if slot.nxp == 0 {
                Target::Host
            } else {
                Target::Nxp(slot.nxp)
            };
        }
        self.resolve_slow(target)
    }

    /// The plan of the signature at `text`.
    ///
    /// # Safety
    /// `text` is a C string in a registered module.
    #[inline]
    pub unsafe fn plan(&mut self, text: *const u8) -> &'static Plan {
        let slot = self.plans[index(text as u64) % PLANS].read();
        if slot.target == text as u64
            && self.generation.load(Ordering::Relaxed) == modules::generation()
        {
            // SAFETY: the address of a plan, which lives as long as the process.
            return unsafe { &*(slot.nxp as *const Plan) };
        }
        // SAFETY: by contract.
        unsafe { self.plan_slow(text) }
    }

    /// # Safety
    /// As [`TargetCache::plan`].
    #[cold]
    unsafe fn plan_slow(&mut self, text: *const u8) -> &'static Plan {
        self.forget_the_gone();
        // SAFETY: by contract.
        let plan = unsafe { signatures::plan(text) };
        self.plans[index(text as u64) % PLANS].write(Slot {
            target: text as u64,
            nxp: ptr::from_ref(plan) as u64,
        });
        plan
    }

    /// Drops everything if modules have come or gone.
    fn forget_the_gone(&mut self) {
        let generation = modules::generation();
        if self.generation.load(Ordering::Relaxed) != generation {
            self.slots
                .iter_mut()
                .chain(&mut self.plans)
                .for_each(|slot| slot.write(Slot::EMPTY));
            self.region.store(ptr::null_mut(), Ordering::Relaxed);
            self.generation.store(generation, Ordering::Relaxed);
        }
    }

    #[cold]
    fn resolve_slow(&mut self, target: u64) -> Target {
        self.forget_the_gone();
        let (found, lasting) = classify(target);
        if lasting {
            let nxp = if let Target::Nxp(address) = found {
                address
            } else {
                0
            };
            self.slots[index(target)].write(Slot { target, nxp });
        }
        found
    }
}

fn index(target: u64) -> usize {
    // Functions are usually aligned to 16; gates are 16 bytes apart.
    (target ^ target >> 4 ^ target >> 10) as usize % SLOTS
}

/// The meaning of `target`, and whether it can be remembered.
pub fn classify(target: u64) -> (Target, bool) {
    if let Some(nxp) = modules::nxp_code_of(target) {
        return (Target::Nxp(nxp), true);
    }
    if modules::region_of(target).is_some() {
        return (Target::Nxp(target), true);
    }
    // In a no-PIE program a function of a shared library has the address of the program's PLT
    // entry. That may not be bound yet; and what looks like one may be a function of the program
    // that ends in a call through a variable. So neither answer lasts.
    match modules::plt_slot(target) {
        None => {
            refuse_second_return(target);
            (Target::Host, true)
        }
        Some(leads_to) => {
            refuse_second_return(leads_to);
            (
                modules::nxp_code_of(leads_to).map_or(Target::Host, Target::Nxp),
                false,
            )
        }
    }
}

/// The meaning of `target`, the start of a function, if it is the same as long as that is mapped.
pub fn lasting(target: u64) -> Option<Target> {
    match modules::nxp_code_of(target) {
        Some(nxp) => Some(Target::Nxp(nxp)),
        None if modules::region_of(target).is_some() => Some(Target::Nxp(target)),
        None => modules::plt_slot(target).is_none().then_some(Target::Host),
    }
}

/// Ends the program if `target`, which NxP code is about to call through a pointer, would return a
/// second time to a crossing that has gone on. The compiler refuses the calls that it sees.
fn refuse_second_return(target: u64) {
    let Some(library) = host_library::get() else {
        return;
    };
    let name = match target as usize {
        target if target == library.vfork => "vfork",
        target if target == library.getcontext => "getcontext",
        _ => return,
    };
    fatal::exit(
        "FLK0208",
        &format!("NxP code calls {name} through a pointer, which returns twice"),
        "call fork or posix_spawn instead of vfork; call the other in a host function",
    );
}
