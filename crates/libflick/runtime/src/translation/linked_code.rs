//! Code that the link has translated: where NxP code goes on in it.
use std::arch::naked_asm;

use crate::config::{self, Engine};
use crate::modules::{self, ModuleEntry};
use crate::thread::crossing_code;

/// The translation of the code at `address` in its module: what [`flick_translator::go_in`] enters.
/// Where instructions are counted, that is none, because it does not count; unless no other
/// translation is wanted.
pub(super) fn in_module(address: u64) -> Option<u64> {
    if crossing_code::counted() && config::get().engine != Engine::Ahead {
        return None;
    }
    Some(match modules::translated_entry(address)? {
        ModuleEntry::At(code) => code,
        ModuleEntry::BehindCall { .. } => go_on_address(),
    })
}

/// A place behind a call, and the bytes of its frame.
#[repr(C)]
struct BehindCall {
    code: u64,
    frame: u64,
}

/// Where NxP code goes on in its module's translation, which [`in_module`] has found for the guest
/// address `pc`.
extern "C" fn behind_call(pc: u64) -> BehindCall {
    match modules::translated_entry(pc) {
        Some(ModuleEntry::BehindCall { code, frame }) => BehindCall {
            code,
            frame: frame.into(),
        },
        // Its library was closed meanwhile: the fetch faults.
        _ => BehindCall { code: 0, frame: 0 },
    }
}

/// The address of [`go_on`].
pub(super) fn go_on_address() -> u64 {
    go_on as *const () as u64
}

/// Entered by `go_in`: NxP code goes on behind a call, at the guest address in rax.
#[unsafe(naked)]
unsafe extern "C" fn go_on() {
    naked_asm!(
        "sub rsp, 8",
        "mov rdi, rax",
        "call {behind_call}",
        "add rsp, 8",
        "mov r10, rax",
        "jmp {go_on}",
        behind_call = sym behind_call,
        go_on = sym flick_translator::go_on,
    )
}
