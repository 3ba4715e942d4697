//! The C view of this crate, for the compiler pass and the library of the RISC-V side. The build
//! makes it, with the example `c-headers`.
use core::fmt::{self, Write};

use flick_diagnostics::Code;

use crate::card::c_header;
use crate::dtu_header::dtu_header;
use crate::step_request::MOST_ARRAYS;
use crate::{
    ABI_VERSION, NXP_MARCH, layout, names, request_function, thread_order, timed, version,
};

/// Begins both headers.
const MADE: &str = "/* Made from crates/abi by its example c-headers. */\n#pragma once\n";

/// Writes a header.
pub type WriteHeader = fn(&mut dyn Write) -> fmt::Result;

/// All C views of this crate: the names of the headers, below a directory, and what writes them.
pub const C_HEADERS: [(&str, WriteHeader); 4] = [
    ("flick_abi.h", |mut out| abi_header(&mut out)),
    ("flick_note.h", |mut out| note_header(&mut out)),
    ("flick_dtu.h", |mut out| dtu_header(&mut out)),
    ("flick/card.h", |mut out| c_header(&mut out)),
];

/// Writes `flick_abi.h`, which has macros only.
///
/// # Errors
/// Those of `out`.
pub fn abi_header(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "{MADE}")?;
    writeln!(out, "#define FLICK_ABI_VERSION {}", ABI_VERSION.bits())?;
    writeln!(out, "#define FLICK_NXP_MARCH \"{NXP_MARCH}\"")?;
    writeln!(out, "#define FLICK_FAT_MAGIC \"FLKNXP1\"")?;
    writeln!(
        out,
        "#define FLICK_FAT_HEADER_SIZE {}",
        size_of::<layout::FatHeader>()
    )?;
    writeln!(
        out,
        "#define FLICK_JUMP_TARGET_SIZE {}",
        size_of::<layout::JumpTarget>()
    )?;
    for (name, value) in [
        ("GATE_NXP", layout::GATE_NXP),
        ("GATE_BOTH", layout::GATE_BOTH),
        ("GATE_PLAIN", layout::GATE_PLAIN),
        ("GATE_VARIADIC", layout::GATE_VARIADIC),
        ("GATE_TILE", layout::GATE_TILE),
        ("GATE_TILE_BY_FILE", layout::GATE_TILE_BY_FILE),
        ("ARITY_HIDDEN", layout::ARITY_HIDDEN.into()),
        ("ARITY_CALLS_HIDDEN", layout::ARITY_CALLS_HIDDEN.into()),
        ("TIMED_VERSION", timed::VERSION),
        ("TIMED_MAP_SHIFT", timed::MAP_SHIFT),
        ("TIMED_RETURNS", timed::RETURNS),
        ("TIMED_CALLS", timed::CALLS),
        ("TIMED_GROWS", timed::GROWS),
        ("TIMED_LEAVES", timed::LEAVES),
        ("TIMED_NXP_COUNTS", timed::NXP_COUNTS as u32),
        ("TIMED_NXP_UNIT", timed::NXP_UNIT),
        ("TIMED_FLOW_UNIT", timed::FLOW_UNIT),
        ("TIMED_PARTS_SHIFT", timed::PARTS_SHIFT),
        ("TIMED_EITHER_SHIFT", timed::EITHER_SHIFT),
        ("TIMED_OWN_SHIFT", timed::OWN_SHIFT),
        ("TIMED_FROM_SHIFT", timed::FROM_SHIFT),
        ("TIMED_MOST_PARTS", timed::MOST_PARTS as u32),
        ("TIMED_LATEST", timed::LATEST),
        ("TIMED_LINE_COUNT", timed::LINE_COUNT as u32),
        ("TIMED_BRANCH_SHIFT", timed::BRANCH_SHIFT),
        ("TIMED_BRANCH_MASK", timed::BRANCH_COUNT as u32 - 1),
        ("TIMED_BRANCH_HISTORY", timed::BRANCH_HISTORY as u32),
        ("TIMED_BRANCH_COUNTERS", timed::BRANCH_COUNTERS as u32),
        ("TIMED_BRANCH_TARGETS", timed::BRANCH_TARGETS as u32),
        ("TIMED_BRANCH_FAR", timed::BRANCH_FAR as u32),
        ("TIMED_BRANCH_REST", timed::BRANCH_REST as u32),
        ("TIMED_BRANCH_FAR_TARGET", timed::BRANCH_FAR_TARGET as u32),
        ("ORDERED", thread_order::ORDERED.into()),
        ("ON_BODY", request_function::BODY),
        ("ON_HAS_BODY", request_function::HAS_BODY),
        ("ON_RETURNS", request_function::RETURNS),
        ("ON_ARRAYS", MOST_ARRAYS as u32),
    ] {
        writeln!(out, "#define FLICK_{name} {value}")?;
    }
    for (name, value) in [
        ("SEC_NXP", names::SEC_NXP),
        ("SEC_PLACE", names::SEC_PLACE),
        ("SEC_UNITS", names::SEC_UNITS),
        ("SEC_GATES", names::SEC_GATES),
        ("SEC_NXP_DATA", names::SEC_NXP_DATA),
        ("SEC_TILE_DATA_PREFIX", names::SEC_TILE_DATA_PREFIX),
        ("SEC_TILE_DATA", names::SEC_TILE_DATA),
        ("SEC_ARITY", names::SEC_ARITY),
        ("SEC_JUMPS", names::SEC_JUMPS),
        ("SEC_NOTE", names::SEC_NOTE),
        ("LINK_GUARD", names::LINK_GUARD),
        ("NXP_PREFIX", names::NXP_PREFIX),
        ("CODE_PREFIX", names::CODE_PREFIX),
        ("CALL_PREFIX", names::CALL_PREFIX),
        ("HOST_CLONE_PREFIX", names::HOST_CLONE_PREFIX),
        ("TLS_PREFIX", names::TLS_PREFIX),
        ("STUB_PREFIX", names::STUB_PREFIX),
        ("RT_LAZY", names::RT_LAZY),
        ("RT_XCALL", names::RT_XCALL),
        ("RT_SETJMP", names::RT_SETJMP),
        ("RT_CHECK", names::RT_CHECK),
        ("RT_HEAP_PREFIX", names::RT_HEAP_PREFIX),
        ("TIMED_CLOCK", timed::CLOCK),
        ("TIMED_MAP", timed::MAP),
        ("TIMED_UNIT", timed::UNIT),
        ("TIMED_FULL", timed::FULL),
        ("TIMED_ACCESS", timed::ACCESS),
        ("TIMED_MEMORY", timed::MEMORY),
        ("TIMED_LIBRARY", timed::LIBRARY),
        ("TIMED_LINES", timed::LINES),
        ("TIMED_BRANCHES", timed::BRANCHES),
        ("ORDER_LEVEL", thread_order::LEVEL),
        ("ORDER_ATOMIC", thread_order::ATOMIC),
        ("ON_CALL", request_function::CALL),
    ] {
        writeln!(out, "#define FLICK_{name} \"{value}\"")?;
    }
    // The elements of an array.
    write!(out, "#define FLICK_NXP_LIBRARY")?;
    for (i, name) in names::NXP_LIBRARY.iter().enumerate() {
        write!(out, "{} \\\n  \"{name}\"", if i == 0 { "" } else { "," })?;
    }
    writeln!(out)?;
    // Function, its bits of the level.
    write!(out, "#define FLICK_ORDERED_FUNCTIONS(X)")?;
    for (name, level) in thread_order::FUNCTIONS {
        write!(out, " \\\n  X({name}, {level})")?;
    }
    writeln!(out)?;
    for code in Code::ALL {
        writeln!(out, "#define FLICK_CODE_{} \"{code}\"", code.c_name())?;
    }
    Ok(())
}

/// Writes `flick_note.h`. It defines the note ([`crate::Note`]) in the file that includes it.
///
/// # Errors
/// Those of `out`.
pub fn note_header(out: &mut impl Write) -> fmt::Result {
    let (name, kind, version) = (version::NAME, version::KIND, ABI_VERSION.bits());
    let name = name[..name.len() - 1].escape_ascii();
    let section = names::SEC_NOTE;
    writeln!(out, "{MADE}")?;
    writeln!(
        out,
        "__attribute__((section(\"{section}\"), used, aligned(4))) static const struct {{\n  \
         unsigned name_size, description_size, kind;\n  \
         char name[8];\n  \
         unsigned version;\n\
         }} note = {{sizeof \"{name}\", sizeof(unsigned), {kind}, \"{name}\", {version}}};"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_finds_codes_and_constants() {
        let mut text = String::new();
        abi_header(&mut text).unwrap();
        assert!(text.contains("#define FLICK_CODE_INLINE_ASSEMBLY \"FLK0202\"\n"));
        assert!(text.contains("#define FLICK_GATE_VARIADIC 8\n"));
    }

    #[test]
    fn the_note_is_that_of_the_crate() {
        let mut text = String::new();
        note_header(&mut text).unwrap();
        let end = "note = {sizeof \"Flick\", sizeof(unsigned), 1, \"Flick\", 65546};\n";
        assert!(text.ends_with(end), "{text}");
    }
}
