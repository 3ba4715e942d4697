//! What an address is that NxP code jumps to outside its image.
use std::arch::asm;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use flick_engine::CodeRegion;

use crate::{modules, returns_twice};

/// Meaning of a jump target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// NxP code at this address: the target is a gate, a both-sided function or an image address.
    Nxp(u64),
    /// Host code.
    Host,
}

const SLOTS: usize = 64;

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
            (&raw mut (*place).generation).write(AtomicU64::new(0));
            (&raw mut (*place).region).write(AtomicPtr::new(ptr::null_mut()));
        }
    }

    /// The region with NxP address `address`, which [`TargetCache::resolve`] has just given, or null
    /// if its module is gone.
    #[inline]
    pub fn region(&self, address: u64) -> *const CodeRegion {
        let last = self.region.load(Ordering::Relaxed);
        // SAFETY: `resolve` has dropped the region if any module came or went since; else its module
        // is registered.
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

    #[cold]
    fn resolve_slow(&mut self, target: u64) -> Target {
        let generation = modules::generation();
        if self.generation.load(Ordering::Relaxed) != generation {
            self.slots
                .iter_mut()
                .for_each(|slot| slot.write(Slot::EMPTY));
            self.region.store(ptr::null_mut(), Ordering::Relaxed);
            self.generation.store(generation, Ordering::Relaxed);
        }
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
    // In a no-PIE program a function of a shared library has the address of the program's PLT entry.
    // That may not be bound yet; and what looks like one may be a function of the program that ends
    // in a call through a variable. So neither answer lasts.
    match modules::plt_slot(target) {
        None => {
            returns_twice::refuse(target);
            (Target::Host, true)
        }
        Some(leads_to) => {
            returns_twice::refuse(leads_to);
            (
                modules::nxp_code_of(leads_to).map_or(Target::Host, Target::Nxp),
                false,
            )
        }
    }
}
