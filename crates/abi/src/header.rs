//! The C view of this crate, for the compiler pass: `pass/flick_abi.h`.
use core::fmt::{self, Write};

use crate::{ABI_VERSION, NXP_MARCH, layout, names, timed};

/// Writes `pass/flick_abi.h`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    writeln!(
        out,
        "// Made from crates/abi by `cargo run -p flick-abi --example c-header`."
    )?;
    writeln!(out, "#pragma once\n")?;
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
        ("ARITY_HIDDEN", layout::ARITY_HIDDEN.into()),
        ("ARITY_CALLS_HIDDEN", layout::ARITY_CALLS_HIDDEN.into()),
        ("TIMED_VERSION", timed::VERSION),
        ("TIMED_MAP_SHIFT", timed::MAP_SHIFT),
        ("TIMED_RETURNS", timed::RETURNS),
        ("TIMED_CALLS", timed::CALLS),
        ("TIMED_GROWS", timed::GROWS),
        ("TIMED_LEAVES", timed::LEAVES),
    ] {
        writeln!(out, "#define FLICK_{name} {value}")?;
    }
    for (name, value) in [
        ("SEC_NXP", names::SEC_NXP),
        ("SEC_PLACE", names::SEC_PLACE),
        ("SEC_UNITS", names::SEC_UNITS),
        ("SEC_GATES", names::SEC_GATES),
        ("SEC_NXP_DATA", names::SEC_NXP_DATA),
        ("SEC_ARITY", names::SEC_ARITY),
        ("SEC_JUMPS", names::SEC_JUMPS),
        ("SEC_NOTE", names::SEC_NOTE),
        ("LINK_GUARD", names::LINK_GUARD),
        ("NXP_PREFIX", names::NXP_PREFIX),
        ("CALL_PREFIX", names::CALL_PREFIX),
        ("TWIN_PREFIX", names::TWIN_PREFIX),
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
    ] {
        writeln!(out, "#define FLICK_{name} \"{value}\"")?;
    }
    // The elements of an array.
    write!(out, "#define FLICK_NXP_LIBRARY")?;
    for (i, name) in names::NXP_LIBRARY.iter().enumerate() {
        write!(out, "{} \\\n  \"{name}\"", if i == 0 { "" } else { "," })?;
    }
    writeln!(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn committed_header_is_current() {
        let mut want = String::new();
        super::c_header(&mut want).unwrap();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../pass/flick_abi.h");
        let have = std::fs::read_to_string(path).unwrap();
        assert!(
            have == want,
            "run `cargo run -p flick-abi --example c-header > pass/flick_abi.h`"
        );
    }
}
