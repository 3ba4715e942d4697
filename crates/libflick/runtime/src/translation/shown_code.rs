//! Code that the harts of a card execute, and that a debugger shows (`docs/card.md`, "Debuggers").
//!
//! `libflick-debug.so` has made it of a whole module. It has budget points, and serves all harts: what one of
//! them may lack it leaves to the interpreter. It has a table of targets of its own. Where it comes to code
//! that is not shown, it leaves its hart's turn to the crossing, which knows the hart.
use std::arch::naked_asm;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use flick_abi::names::TRANSLATION_WORDS;
use flick_riscv::Isa;
use flick_translator::{Context, Targets};

use super::{TRANSLATOR, words};
use crate::modules::{self, ModuleEntry, address_meaning};

/// What all harts execute; 0: there is no such code.
static ISA: AtomicU64 = AtomicU64::new(0);
/// Where calls through registers lead; null: no code was made yet.
static TARGETS: AtomicPtr<Targets> = AtomicPtr::new(ptr::null_mut());

/// Code may be made for harts that have this ISA in common. What vectors they have differs, and is the
/// interpreter's.
pub fn set_isa(isa: Isa) {
    ISA.store(isa.without_vectors().bits(), Ordering::Relaxed);
}

/// See [`flick_abi::debug_interface::Request::isa`].
pub fn isa() -> u64 {
    ISA.load(Ordering::Relaxed)
}

/// Is there such code?
#[inline]
pub fn is_on() -> bool {
    !TARGETS.load(Ordering::Acquire).is_null()
}

/// What code refers to that is about to be made.
pub fn words() -> [u64; TRANSLATION_WORDS.len()] {
    let mut targets = TARGETS.load(Ordering::Acquire);
    if targets.is_null() {
        // It lives as long as the process.
        targets = Box::into_raw(Targets::boxed());
        TARGETS.store(targets, Ordering::Release);
    }
    let mut all = words::addresses();
    for (name, word) in TRANSLATION_WORDS.iter().zip(&mut all) {
        match *name {
            "__flick_1_targets" => *word = targets as u64,
            "__flick_1_call" => *word = call as *const () as u64,
            _ => {}
        }
    }
    all
}

/// Such code for what is at this address of an image, for the crossing.
pub fn entry(address: u64) -> Option<u64> {
    if !is_on() {
        return None;
    }
    match modules::translated_entry(address)? {
        ModuleEntry::At(code) | ModuleEntry::BehindCall { code, .. } => Some(code),
    }
}

/// The same for code that calls the address.
pub fn called(address: u64) -> Option<u64> {
    match is_on().then(|| modules::translated_entry(address))?? {
        ModuleEntry::At(code) => Some(code),
        ModuleEntry::BehindCall { .. } => None,
    }
}

/// Where a call of `function` leads, which means the code at `address`, if it stays on its hart.
pub fn leads_to(function: u64, address: u64) -> Option<u64> {
    if may_be_elsewhere(function, address) {
        return None;
    }
    called(address)
}

/// Does code that jumps to `target`, which means the code at `address`, have to leave its hart, perhaps? The
/// code is the same on all tiles.
pub(super) fn may_be_elsewhere(target: u64, address: u64) -> bool {
    target != address && modules::belongs_to_tile(address)
}

/// What is at these addresses goes away.
pub fn invalidate(ranges: &[Range<u64>]) {
    // SAFETY: null, or a table that lives as long as the process.
    if let Some(targets) = unsafe { TARGETS.load(Ordering::Acquire).as_ref() } {
        targets.invalidate(|at| ranges.iter().any(|range| range.contains(&at)));
    }
}

/// [`super::words`] has the same for code that is the host's threads'.
#[unsafe(naked)]
unsafe extern "C" fn call() {
    naked_asm!(
        "push r10",
        "lea r10, [rip + {lookup}]",
        "jmp {slow_call}",
        lookup = sym code_for,
        slow_call = sym flick_translator::slow_call_with,
    )
}

/// What a call of `target` leads to, through the cell at `cell`, if that is not 0. 0: the crossing finds it.
unsafe extern "C" fn code_for(_: *mut Context, target: u64, cell: *const AtomicU64) -> u64 {
    let (meaning, lasting) = address_meaning::classify(target);
    let code = match meaning {
        address_meaning::Target::Nxp(address) if !may_be_elsewhere(target, address) => {
            called(address).unwrap_or(0)
        }
        _ => flick_translator::leave_at_call as *const () as u64,
    };
    if !lasting || code == 0 {
        return code;
    }
    // Who changes a table has the translator's lock.
    let _ = TRANSLATOR.try_with(|_| {
        // SAFETY: the code is there, so there is a table, which lives as long as the process.
        if let Some(targets) = unsafe { TARGETS.load(Ordering::Acquire).as_ref() } {
            targets.insert(target, code);
        }
        // SAFETY: null, or a cell of the module that calls.
        if let Some(cell) = unsafe { cell.as_ref() } {
            cell.store(code, Ordering::Release);
        }
    });
    code
}
