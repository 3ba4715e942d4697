//! Points of the kernel that a machine's traces and counts are made of. A point is a note in the ELF
//! file (`.note.stapsdt`, the format of SystemTap, which gdb reads, too): an address, a name, and the
//! registers that have its values. It is no instruction, so that it takes neither time nor memory. The
//! names and values are in `docs/kernel.md`, "Points for traces".

/// A point of this name, with integers as its values.
macro_rules! point {
    ($name:literal) => { $crate::trace_points::point!(@note $name, "",) };
    ($name:literal, $a:expr) => { $crate::trace_points::point!(@note $name, "8@{0}", $a) };
    ($name:literal, $a:expr, $b:expr) => {
        $crate::trace_points::point!(@note $name, "8@{0} 8@{1}", $a, $b)
    };
    (@note $name:literal, $values:literal, $($value:expr),*) => {
        // SAFETY: it is no instruction.
        unsafe {
            core::arch::asm!(
                concat!("point \"", $name, "\", \"", $values, "\""),
                $(in(reg) u64::from($value),)*
                options(nomem, nostack, preserves_flags)
            )
        }
    };
}
pub(crate) use point;
