//! Vector registers of threads. A thread has none until its first vector instruction, which traps: then
//! the kernel hart gives it memory for them. They are saved when the thread has changed them, and loaded
//! when another thread has used the hart's since, as those of floating point.
use flick_abi::card::PAGE;
use flick_kernel_core::context::Context;

use crate::hart_page::HartLocal;
use crate::{csr, csr_read};

/// VS of `mstatus`.
pub const STATUS: u64 = 3 << 9;
pub const CLEAN: u64 = 2 << 9;

/// What stands behind the registers: `vstart`, `vcsr`, `vl`, `vtype`.
const REGISTERS: u64 = 4;

/// Pages that the registers of this length take.
pub fn pages(vlenb: u64) -> usize {
    (32 * vlenb + 8 * REGISTERS).div_ceil(PAGE) as usize
}

/// Has the thread that runs no vectors yet?
pub fn is_off() -> bool {
    csr_read!(mstatus) & STATUS == 0
}

/// Has the hart vectors?
pub fn is_there() -> bool {
    csr_read!(misa) & 1 << 21 != 0
}

/// Is the instruction one of vectors, or an access of their registers (unprivileged manual, chapter "V")?
pub fn is_vector(bits: u64) -> bool {
    let (opcode, width) = (bits & 0x7f, bits >> 12 & 7);
    match opcode {
        0x57 => true,
        // Loads and stores of floating point have widths 1 to 4.
        0x07 | 0x27 => matches!(width, 0 | 5..=7),
        0x73 => width != 0 && matches!(bits >> 20 & 0xfff, 8..=10 | 15 | 0xc20..=0xc22),
        _ => false,
    }
}

/// Bytes of a register.
pub fn register_bytes() -> u64 {
    // The register can be read with vectors on only.
    let before = csr_read!(mstatus) & STATUS;
    csr::set_status(STATUS);
    let bytes: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("csrr {}, 0xc22", out(reg) bytes) };
    csr::clear_status(STATUS);
    csr::set_status(before);
    bytes
}

/// Saves the registers of the thread that runs, if it has changed them.
#[inline(always)]
pub fn save(local: &mut HartLocal) {
    if csr_read!(mstatus) & STATUS == STATUS {
        save_registers(local);
    }
}

#[inline(never)]
fn save_registers(local: &mut HartLocal) {
    // SAFETY: the thread that runs is this hart's. With vectors on it has memory for them.
    unsafe {
        let context = &mut *local.context;
        core::arch::asm!(
            ".option push",
            ".option arch, +v",
            "csrr {start}, vstart",
            "csrr {rounding}, vcsr",
            "csrr {length}, vl",
            "csrr {kind}, vtype",
            "csrr {bytes}, vlenb",
            "slli {bytes}, {bytes}, 3",
            "csrw vstart, zero",
            "vs8r.v v0, ({at})",
            "add {at}, {at}, {bytes}",
            "vs8r.v v8, ({at})",
            "add {at}, {at}, {bytes}",
            "vs8r.v v16, ({at})",
            "add {at}, {at}, {bytes}",
            "vs8r.v v24, ({at})",
            "add {at}, {at}, {bytes}",
            "sd {start}, 0({at})",
            "sd {rounding}, 8({at})",
            "sd {length}, 16({at})",
            "sd {kind}, 24({at})",
            ".option pop",
            at = inout(reg) context.vector => _,
            start = out(reg) _,
            rounding = out(reg) _,
            length = out(reg) _,
            kind = out(reg) _,
            bytes = out(reg) _,
        );
        // No store, if nothing changes: other harts have the line.
        if context.vector_harts != 1 << local.hart {
            context.vector_harts = 1 << local.hart;
        }
    }
    local.vector_owner = local.context;
    csr::clear_status(STATUS);
    csr::set_status(CLEAN);
}

/// Loads the registers of a thread, which has memory for them.
pub fn load(local: &mut HartLocal, context: &mut Context) {
    csr::set_status(STATUS);
    // SAFETY: as in `save_registers`; the hart's registers belong to no thread that has not saved them.
    unsafe {
        core::arch::asm!(
            ".option push",
            ".option arch, +v",
            "csrr {bytes}, vlenb",
            "slli {bytes}, {bytes}, 3",
            "csrw vstart, zero",
            "vl8re8.v v0, ({at})",
            "add {at}, {at}, {bytes}",
            "vl8re8.v v8, ({at})",
            "add {at}, {at}, {bytes}",
            "vl8re8.v v16, ({at})",
            "add {at}, {at}, {bytes}",
            "vl8re8.v v24, ({at})",
            "add {at}, {at}, {bytes}",
            "ld {bytes}, 16({at})",
            "ld {kind}, 24({at})",
            "vsetvl zero, {bytes}, {kind}",
            "ld {bytes}, 8({at})",
            "csrw vcsr, {bytes}",
            "ld {bytes}, 0({at})",
            "csrw vstart, {bytes}",
            ".option pop",
            at = inout(reg) context.vector => _,
            kind = out(reg) _,
            bytes = out(reg) _,
        );
    }
    csr::clear_status(STATUS);
    csr::set_status(CLEAN);
    context.vector_harts |= 1 << local.hart;
    local.vector_owner = context;
}

/// The hart runs another thread.
pub fn switch(local: &mut HartLocal, context: &mut Context) {
    csr::clear_status(STATUS);
    if context.vector == 0 || !is_there() {
        return;
    }
    let is_here = core::ptr::eq(local.vector_owner, context);
    match is_here && context.vector_harts >> local.hart & 1 != 0 {
        true => csr::set_status(CLEAN),
        // Registers of another length do not hold them: the next instruction of vectors traps.
        false if register_bytes() == context.vector_bytes => {
            let bytes = 32 * context.vector_bytes + 8 * REGISTERS;
            crate::cache::refresh(context.vector, bytes);
            load(local, context);
        }
        false => {}
    }
}
