//! The copy of the fast path near a program's own code. The build writes its text for `flickcrt.o`
//! ([`header`]); a program whose copy is this runtime's code uses it.
use core::mem::offset_of;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_abi::layout::{Gate, Module, NearCrossing};
use flick_abi::names::NEAR_CROSSING;
use flick_engine::Hart;
use flick_translator::Context;

use super::fast_path;
use super::fast_path_code::{
    MOST_STACK, entry_code, host_call_code, host_called, lines, plain_call, plain_entry,
    stepped_through, stepped_through_end, with_fast_path_operands, word,
};
use super::frame::{called_by_nxp, from_translated};
use super::move_code::{
    a_move, call_by_move, calls_nxp, code_of_move, for_registers, from_register, moves, object,
    objects, word, words, words_to_host, words_to_nxp,
};
use super::signature_path::{signature_call_code, signature_entry};
use crate::modules;
use crate::modules::argument_moves::{self, Move, Moves};
use crate::modules::signature_table::{self, Call};
use crate::modules::signatures::Plan;
use crate::os::host_stack::HostStack;
use crate::thread::Thread;
use crate::thread::activation::{self, Activation};
use crate::thread::activations::{ActivationStack, GAP};
use crate::thread::crossing_code::{self, NearAddresses};
use crate::translation;

/// Gates with a translation alone lead to it, so that nothing checks that there is one.
// DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4
const CODE: &str = concat!(
    plain_entry!(
        "__flick_near",
        "__flick_near_words",
        ".cfi_personality 0x9b, __flick_near_personality",
        "",
        ""
    ),
    host_call_code!(
        "__flick_near",
        "__flick_near_words",
        ".cfi_personality 0x9b, __flick_near_personality"
    ),
    signature_entry!(
        "__flick_near_signature",
        "__flick_near_words",
        ".cfi_personality 0x9b, __flick_near_personality",
        "",
        ""
    ),
    signature_call_code!(
        "__flick_near_signature",
        "__flick_near_words",
        ".cfi_personality 0x9b, __flick_near_personality",
        moves!(
            ".pushsection .rodata.flick_moves, \"a\", @progbits\n .p2align 4\n __flick_near_box:\n .quad 0xffffffff00000000, 0\n __flick_near_moves:\n .popsection",
            ".pushsection .rodata.flick_moves, \"a\", @progbits\n .long 71f - __flick_near_moves\n .popsection\n",
            "__flick_near_words",
            "__flick_near_box"
        )
    ),
);

macro_rules! pairs {
    (; $($name:ident = $value:expr),* $(,)?) => {
        [$((stringify!($name), $value as i64)),*]
    };
}

/// What stands for the names in braces.
const OPERANDS: &[(&str, i64)] = &with_fast_path_operands!(pairs,);

/// See [`NearCrossing::number`]: FNV-1a of the code and the operands.
const NUMBER: u64 = {
    const fn add(hash: u64, byte: u8) -> u64 {
        (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3)
    }
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < CODE.len() {
        hash = add(hash, CODE.as_bytes()[at]);
        at += 1;
    }
    let mut n = 0;
    while n < OPERANDS.len() {
        let mut byte = 0;
        while byte < 8 {
            hash = add(hash, OPERANDS[n].1.to_le_bytes()[byte]);
            byte += 1;
        }
        n += 1;
    }
    hash
};

const _: () = assert!(word::PERSONALITY + 1 == word::COUNT);

/// Without symbols where host functions return to: gdb's `finish` wants the same function there as
/// at the call in front.
fn without_called(code: String) -> String {
    ["__flick_near_called", "__flick_near_signature_called"]
        .iter()
        .fold(code, |code, name| {
            code.replace(&format!(".globl {name}\n.hidden {name}\n"), "")
                .replace(name, &format!(".L{name}"))
        })
}

/// A C header with the macro `FLICK_NEAR_CROSSING`: the code, its words and its record, as a string
/// for the assembler.
pub fn header() -> String {
    let mut code = String::from(CODE);
    for (name, value) in OPERANDS {
        code = code.replace(&format!("{{{name}}}"), &value.to_string());
    }
    let mut text = String::from(".intel_syntax noprefix\n");
    text += ".pushsection .text.flick_near, \"ax\", @progbits\n";
    text += &without_called(code);
    text += "__flick_near_end:\n.popsection\n";
    text += ".pushsection .bss.flick_near, \"aw\", @nobits\n.p2align 6\n__flick_near_words:\n";
    text += &format!(".zero {}\n", 8 * word::PERSONALITY);
    text += "__flick_near_personality:\n.zero 8\n.popsection\n";
    text += ".pushsection .rodata.flick_near, \"a\", @progbits\n.p2align 3\n";
    text += &format!(".globl {NEAR_CROSSING}\n.hidden {NEAR_CROSSING}\n{NEAR_CROSSING}:\n");
    text += &format!(".quad {NUMBER:#x}\n");
    for place in [
        "",
        "_host_call",
        "_calls",
        "_called",
        "_end",
        "_words",
        "_signature",
        "_signature_aligned",
        "_signature_call",
        "_signature_calls",
        "_signature_called",
        "_moves",
    ] {
        let local = if place.ends_with("_called") { ".L" } else { "" };
        text += &format!(".long {local}__flick_near{place} - {NEAR_CROSSING}\n");
    }
    text += ".popsection\n.att_syntax prefix\n";
    let mut header = String::from("#define FLICK_NEAR_CROSSING \\\n");
    for line in text.lines() {
        let line = line.replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(header, "  \"{line}\\n\" \\").expect("writing to a String cannot fail");
    }
    header += "\n";
    header
}

/// Uses the copy in `module` from now on, if that is the program, the copy is this runtime's, and
/// libflick's own is far away. Call before the module's gates get their targets.
pub fn adopt(module: &Module) {
    let size = offset_of!(Module, near) + size_of::<*const NearCrossing>();
    if (module.size as usize) < size || crossing_code::counted() || !translation::enabled() {
        return;
    }
    // SAFETY: null, or the module's own record.
    let Some(record) = (unsafe { module.near.as_ref() }) else {
        return;
    };
    if record.number != NUMBER {
        return;
    }
    let base = module.near as u64;
    let at = |distance: i32| base.wrapping_add_signed(distance.into());
    let (start, end) = modules::main_text();
    let is_programs = (start..end).contains(&at(record.entry));
    if !is_programs || crossing_code::is_near(at(record.entry)) {
        return;
    }
    // SAFETY: a record with this number has as many words, which nothing has used yet.
    let words = unsafe { &*(at(record.words) as *const [AtomicU64; word::COUNT]) };
    crossing_code::set_near(&NearAddresses {
        entry: at(record.entry),
        host_call: at(record.host_call),
        calls: at(record.calls),
        called: at(record.called),
        end: at(record.end),
        signature: at(record.signature),
        signature_aligned: at(record.signature_aligned),
        signature_call: at(record.signature_call),
        signature_calls: at(record.signature_calls),
        signature_called: at(record.signature_called),
    });
    fast_path::init();
    for (word, value) in words.iter().zip(fast_path::words()) {
        word.store(value, Ordering::Relaxed);
    }
    // SAFETY: the copy's own table, of the same moves.
    unsafe { argument_moves::use_code(at(record.moves) as *const i32) };
}
