//! What an address is that NxP code jumps to outside its image.
use std::ptr;

use flick_engine::CodeRegion;

use crate::modules;

/// Meaning of a jump target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// NxP code at this address: the target is a gate, a both-sided function or an image address.
    Nxp(u64),
    /// Host code.
    Host,
}

const SLOTS: usize = 64;

#[derive(Clone, Copy)]
struct Slot {
    target: u64,
    /// The NxP address; 0 for host code.
    nxp: u64,
}

/// Per-thread, direct-mapped: a repeated call looks nothing up in shared tables.
pub struct TargetCache {
    slots: [Slot; SLOTS],
    /// [`modules::generation`] that the slots were filled under.
    generation: u64,
    /// The region that ran last, or null.
    region: *const CodeRegion,
}

impl TargetCache {
    pub fn new() -> Self {
        let slots = [Slot {
            target: u64::MAX,
            nxp: 0,
        }; SLOTS];
        Self {
            slots,
            generation: 0,
            region: ptr::null(),
        }
    }

    /// The region with NxP address `address`, which [`TargetCache::resolve`] has just given, or null
    /// if its module is gone.
    #[inline]
    pub fn region(&mut self, address: u64) -> *const CodeRegion {
        // SAFETY: `resolve` has dropped the region if any module came or went since; else its module
        // is registered.
        if !self.region.is_null() && unsafe { (*self.region).contains(address) } {
            return self.region;
        }
        self.region = modules::region_of(address).unwrap_or(ptr::null());
        self.region
    }

    #[inline]
    pub fn resolve(&mut self, target: u64) -> Target {
        let slot = &self.slots[index(target)];
        if slot.target == target && self.generation == modules::generation() {
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
        if self.generation != generation {
            *self = Self {
                generation,
                ..Self::new()
            };
        }
        let (found, lasting) = classify(target);
        if lasting {
            let nxp = if let Target::Nxp(address) = found {
                address
            } else {
                0
            };
            self.slots[index(target)] = Slot { target, nxp };
        }
        found
    }
}

impl Default for TargetCache {
    fn default() -> Self {
        Self::new()
    }
}

fn index(target: u64) -> usize {
    // Functions are usually aligned to 16; gates are 16 bytes apart.
    (target ^ target >> 4 ^ target >> 10) as usize % SLOTS
}

/// The meaning of `target`, and whether it can be remembered.
fn classify(target: u64) -> (Target, bool) {
    if let Some(nxp) = modules::nxp_code_of(target) {
        return (Target::Nxp(nxp), true);
    }
    if modules::region_of(target).is_some() {
        return (Target::Nxp(target), true);
    }
    // In a no-PIE program a function of a shared library has the address of the program's PLT entry.
    match modules::plt_slot(target) {
        None => (Target::Host, true),
        Some(leads_to) => match modules::nxp_code_of(leads_to) {
            Some(nxp) => (Target::Nxp(nxp), true),
            // The entry may not be bound yet.
            None => (Target::Host, false),
        },
    }
}
