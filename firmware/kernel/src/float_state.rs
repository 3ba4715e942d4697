//! Floating-point registers of threads. A thread that uses none has none: its first instruction traps.
//! Registers are saved when the thread has changed them, and loaded when another thread has used the
//! hart's since.
use flick_kernel_core::context::Context;

use crate::csr;
use crate::csr_read;
use crate::hart_page::HartLocal;

/// FS of `mstatus`.
pub const STATUS: u64 = 3 << 13;
/// They are the thread's, and saved.
pub const CLEAN: u64 = 2 << 13;

/// Has the thread that runs no floating point yet?
pub fn is_off() -> bool {
    csr_read!(mstatus) & STATUS == 0
}

/// Has the hart floating point?
pub fn is_there() -> bool {
    csr_read!(misa) & 1 << 3 != 0
}

macro_rules! each_register {
    ($operation:literal, $at:expr) => {
        core::arch::asm!(
            ".option push",
            ".option arch, +d",
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            concat!($operation, " f\\n, 8*\\n({at})"),
            ".endr",
            ".option pop",
            at = in(reg) $at,
        )
    };
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
    // SAFETY: the thread that runs is this hart's, and its context has room for the registers. The
    // kernel is compiled without floating point of its own.
    unsafe {
        let context = &mut *local.context;
        each_register!("fsd", context.f.as_mut_ptr());
        let fcsr: u64;
        core::arch::asm!("csrr {}, fcsr", out(reg) fcsr);
        context.fcsr = fcsr;
        if context.float_harts != 1 << local.hart {
            context.float_harts = 1 << local.hart;
        }
    }
    local.float_owner = local.context;
    csr::clear_status(STATUS);
    csr::set_status(CLEAN);
}

/// Loads the registers of a thread.
pub fn load(local: &mut HartLocal, context: &mut Context) {
    csr::set_status(STATUS);
    if context.status & STATUS == 0 {
        // The thread's first ones. The context has another thread's, perhaps.
        (context.f, context.fcsr) = ([0; 32], 0);
    }
    // SAFETY: as in `save`; the registers belong to no thread that has not saved them.
    unsafe {
        each_register!("fld", context.f.as_ptr());
        core::arch::asm!("csrw fcsr, {}", in(reg) context.fcsr);
    }
    csr::clear_status(STATUS);
    csr::set_status(CLEAN);
    context.status = CLEAN;
    context.float_harts |= 1 << local.hart;
    local.float_owner = context;
}

/// The hart runs another thread.
pub fn switch(local: &mut HartLocal, context: &mut Context) {
    csr::clear_status(STATUS);
    if context.status & STATUS == 0 || !is_there() {
        return;
    }
    let is_here = core::ptr::eq(local.float_owner, context);
    match is_here && context.float_harts >> local.hart & 1 != 0 {
        true => csr::set_status(CLEAN),
        false => load(local, context),
    }
}
