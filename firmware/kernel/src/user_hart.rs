//! A user hart: it runs a program's thread in U mode, and executes what is local to it. The kernel hart
//! gets the rest.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::{Call, CallPlace, Error};
use flick_kernel_core::context::{Context, Stored};
use flick_kernel_core::lines::{BROKEN, EXCEPTION, PREEMPTED, VECTORS, command};

use crate::cache;
use crate::csr;
use crate::float_state;
use crate::hart_page::{HartLocal, HartPage, PENDING, Sending};
use crate::hart_unit::{self, attempt, note};
use crate::trace_points::point;
use crate::{csr_read, csr_write, vector_state};

#[expect(
    improper_ctypes,
    reason = "assembly knows the first fields of the hart's record, and not the others"
)]
unsafe extern "C" {
    fn trap_entry();
    fn resume(context: *mut Context, local: *mut HartLocal) -> !;
}

/// Software interrupts, in `mie` and `mcause`.
pub const SOFTWARE: u64 = 8;
const SOFTWARE_CAUSE: u64 = 1 << 63 | 3;
const ILLEGAL: u64 = 2;
const CALL: u64 = 8;
/// MPP of `mstatus`: the trap is of M mode.
const MACHINE: u64 = 3 << 11;

/// From `start.S`: the hart runs programs from now on.
#[unsafe(no_mangle)]
extern "C" fn user_hart_begin(page: *mut HartPage) -> ! {
    // SAFETY: `start.S` has the page from the kernel hart's table; the record is this hart's.
    let local = unsafe { &mut *(*page).local() };
    // SAFETY: traps go to the entry for programs, which finds that the kernel runs. Programs may access
    // what their page tables map, and read the counters.
    unsafe {
        csr_write!(mtvec, trap_entry as *const () as u64);
        csr_write!(pmpaddr0, u64::MAX >> 10);
        csr_write!(pmpcfg0, 0x1f);
        csr_write!(mcounteren, 7);
        csr_write!(scounteren, 7);
        csr_write!(satp, 0xffff << 44);
    }
    local.has_spaces = csr_read!(satp) >> 44 & 0xffff != 0;
    // SAFETY: as before.
    unsafe {
        csr_write!(satp, 0);
        csr_write!(mie, SOFTWARE);
    }
    // MPP is U mode; floating point and vectors are off.
    csr::clear_status(0x1800 | float_state::STATUS | vector_state::STATUS);
    let context = wait(local);
    // SAFETY: a context that the kernel hart has given, and this hart's record.
    unsafe { resume(context, local) }
}

/// Commands with which a thread goes on, one at a time.
const STARTS: u64 = command::RUN | command::REPLY | command::GO_ON;

/// From `trap_entry.S`: the thread's registers are in its context. Returns the context that goes on, and
/// with bit 0 set if all its registers are to be loaded.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn user_trap(local: &mut HartLocal, cause: u64) -> *mut Context {
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &mut *local.context };
    match cause {
        CALL => {
            context.x[0] = context.x[0].wrapping_add(4);
            let number = context.x[17];
            match Call::from_number(number) {
                Some(call) if call.place() == CallPlace::Kernel => remote_call(local, context, 0),
                Some(call) if call.place() == CallPlace::Unit => tried_call(local, context),
                _ => {
                    context.x[10] = Error::NoCall.to_register();
                    local.context
                }
            }
        }
        SOFTWARE_CAUSE => {
            local.clint.clear(local.hart as usize);
            let flags = HartPage::of(local).command.take();
            invalidate(local, flags);
            match flags & command::PREEMPT {
                0 => local.context,
                _ => remote(local, PREEMPTED, [0; 6]),
            }
        }
        ILLEGAL if float_state::is_off() && float_state::is_there() => {
            // The thread's first instruction of floating point, or one that is illegal all the same.
            float_state::load(local, context);
            local.context
        }
        ILLEGAL if vector_state::is_off() && vector_state::is_there() && has_vector() => {
            // The kernel hart has stored it, perhaps.
            cache::refresh_value(&raw const context.vector);
            if context.vector == 0 {
                return remote(
                    local,
                    VECTORS,
                    [vector_state::register_bytes(), 0, 0, 0, 0, 0],
                );
            }
            vector_state::load(local, context);
            local.context
        }
        cause => {
            let value = csr_read!(mtval);
            if csr_read!(mstatus) & MACHINE == MACHINE {
                // The kernel itself: its registers are where the thread's were.
                report_broken(local, cause, context.x[0], value);
            }
            let next = remote(local, EXCEPTION, [cause, value, context.x[0], 0, 0, 0]);
            csr::forget_page(Some(value));
            next.map_addr(|address| address | 1)
        }
    }
}

/// A call that the hart could not execute by its unit.
fn tried_call(local: &mut HartLocal, context: &mut Context) -> *mut Context {
    match local.attempt {
        attempt::PREEMPTED => {
            context.make_again();
            remote(local, PREEMPTED, [0; 6])
        }
        why => {
            let why = why >> 8;
            if why == note::MADE_ROOM {
                context.x[11] = local.sender;
            }
            remote_call(local, context, why)
        }
    }
}

/// Was the instruction that is illegal one of vectors?
fn has_vector() -> bool {
    vector_state::is_vector(csr_read!(mtval))
}

/// Asks the kernel hart for the call that the context has, and says why it is asked.
#[inline(always)]
fn remote_call(local: &mut HartLocal, context: &Context, why: u64) -> *mut Context {
    // A thread without these registers is most frequent.
    if context.status | context.vector != 0 {
        float_state::save(local);
        vector_state::save(local);
    }
    #[cfg(feature = "symmetric")]
    return crate::symmetric::serve_call(local, context, why);
    #[cfg(not(feature = "symmetric"))]
    {
        let line = &HartPage::of(local).call;
        line.number
            .store(context.x[17] | why << 8, Ordering::Relaxed);
        for (word, &value) in line.arguments.iter().zip(&context.x[10..16]) {
            word.store(value, Ordering::Relaxed);
        }
        ask(local)
    }
}

/// Says that the call line is complete, and waits for the answer.
#[inline(always)]
fn ask(local: &mut HartLocal) -> *mut Context {
    cache::clean();
    point!("ask");
    if PENDING.call(local.hart as usize) {
        local.clint.interrupt(local.kernel_hart as usize);
    }
    wait(local)
}

/// Asks the kernel hart, and waits until it says how to go on.
#[inline(never)]
fn remote(local: &mut HartLocal, number: u64, arguments: [u64; 6]) -> *mut Context {
    float_state::save(local);
    vector_state::save(local);
    #[cfg(feature = "symmetric")]
    return crate::symmetric::serve(local, number, arguments);
    #[cfg(not(feature = "symmetric"))]
    {
        HartPage::of(local).call.write(number, arguments);
        ask(local)
    }
}

/// What the hart has told itself, as bits of `command`.
#[cfg(not(feature = "symmetric"))]
#[inline(always)]
fn take_own(_: &mut HartLocal) -> u64 {
    0
}
#[cfg(feature = "symmetric")]
use crate::symmetric::take_own;

/// Waits for a command that lets a thread run.
#[inline(always)]
pub fn wait(local: &mut HartLocal) -> *mut Context {
    let line = &HartPage::of(local).command;
    loop {
        let flags = match take_own(local) {
            0 => {
                // The order matters: a command that comes behind `take` interrupts again.
                local.clint.clear(local.hart as usize);
                line.take()
            }
            own => own,
        };
        invalidate(local, flags);
        if flags & STARTS == 0 {
            if flags == 0 {
                csr::wait();
            }
            continue;
        }
        point!("told");
        if flags & command::FORGET != 0 {
            hart_unit::forget(local);
            csr::forget_page(None);
        }
        let next = match flags & STARTS {
            command::REPLY => {
                let [a0, a1] = line.values.each_ref().map(load);
                // SAFETY: the thread that has called, which is this hart's.
                unsafe { (*local.context).set_values([a0, a1]) };
                local.context
            }
            command::RUN => switch(local),
            _ => {
                if flags & command::AGAIN != 0 {
                    // SAFETY: as above.
                    unsafe { (*local.context).make_again() };
                }
                local.context
            }
        };
        if flags & command::STORED != 0 {
            see_stored(local);
        }
        return next;
    }
}

/// The thread sees what the kernel hart has stored for it.
#[inline(never)]
fn see_stored(local: &mut HartLocal) {
    // SAFETY: the thread is this hart's now.
    let context = unsafe { &mut *local.context };
    cache::refresh_value(&raw const context.stored);
    for Stored { address, size } in core::mem::take(&mut context.stored) {
        cache::refresh(address, size);
    }
}

fn load(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed)
}

/// Forgets pages, if the kernel hart has said so.
#[inline(always)]
pub fn invalidate(local: &mut HartLocal, flags: u64) {
    if flags & command::INVALIDATE != 0 {
        forget_pages(local);
    }
}

#[inline(never)]
fn forget_pages(local: &mut HartLocal) {
    hart_unit::forget(local);
    forget_translations(HartPage::of(local));
}

/// Forgets the pages that the command line names, and says so.
#[inline(always)]
pub fn forget_translations(HartPage { call, command, .. }: &HartPage) {
    let (page, pages) = (load(&command.page), load(&command.pages));
    // Many pages are dearer than all.
    match pages {
        0..16 => (0..pages).for_each(|n| csr::forget_page(Some(page + n * flick_abi::card::PAGE))),
        _ => csr::forget_page(None),
    }
    cache::clean();
    call.invalidations.fetch_add(1, Ordering::Release);
}

/// The hart runs the thread that its command line names.
#[inline(never)]
fn switch(local: &mut HartLocal) -> *mut Context {
    let line = &HartPage::of(local).command;
    let next = load(&line.context) as *mut Context;
    local.thread = load(&line.thread);
    local.is_parked = false;
    local.sending.tile = Sending::NONE;
    local.taking.port = u64::MAX;
    hart_unit::forget(local);
    cache::refresh_thread(next);
    // SAFETY: the kernel hart has given the thread to this hart, and touches it no more.
    let context = unsafe { &mut *next };
    if csr_read!(satp) != context.satp {
        // SAFETY: the kernel runs in M mode, which `satp` does not concern.
        unsafe { csr_write!(satp, context.satp) };
        if !local.has_spaces {
            csr::forget_page(None);
        }
    }
    float_state::switch(local, context);
    vector_state::switch(local, context);
    local.context = next;
    // Bit 0: all registers are loaded, even if the thread ran here before.
    next.map_addr(|address| address | 1)
}

/// From `trap_entry.S` and `start.S`: the kernel has failed on this hart.
#[unsafe(no_mangle)]
extern "C" fn kernel_broken(cause: u64, pc: u64, value: u64) -> ! {
    crate::failure::broken(cause, pc, value)
}

/// The kernel on this hart has failed: the kernel hart is told, and the hart stops.
pub fn report_broken(local: &HartLocal, cause: u64, pc: u64, value: u64) -> ! {
    if cfg!(feature = "symmetric") {
        crate::failure::broken(cause, pc, value);
    }
    let page = HartPage::of(local);
    page.call.write(BROKEN, [cause, pc, value, 0, 0, 0]);
    cache::clean();
    if PENDING.call(local.hart as usize) {
        local.clint.interrupt(local.kernel_hart as usize);
    }
    loop {
        csr::wait();
    }
}
