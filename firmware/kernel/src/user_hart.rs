//! A user hart: it runs a program's thread in U mode, and executes what is local to it. The kernel hart
//! gets the rest.
use flick_abi::card::{Call, CallPage, CallPlace, Error, pages};
use flick_kernel::context::Context;
use flick_kernel::lines::{BROKEN, EXCEPTION, PREEMPTED, command};

use crate::cache;
use crate::csr;
use crate::float_state;
use crate::hart_page::{HartLocal, HartPage, PENDING};
use crate::{csr_read, csr_write};

unsafe extern "C" {
    fn trap_entry();
    fn resume(context: *mut Context, local: *mut HartLocal) -> !;
}

/// Software interrupts, in `mie` and `mcause`.
const SOFTWARE: u64 = 8;
const SOFTWARE_CAUSE: u64 = 1 << 63 | 3;
const ILLEGAL: u64 = 2;
const CALL: u64 = 8;

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
    csr::clear_status(0x1800 | float_state::STATUS | VECTORS);
    let context = wait(local);
    // SAFETY: a context that the kernel hart has given, and this hart's record.
    unsafe { resume(context, local) }
}

const VECTORS: u64 = 3 << 9;

fn page_of(call: Call) -> Option<&'static CallPage> {
    pages().iter().find(|page| page.call == call)
}

/// From `trap_entry.S`: the thread's registers are in its context. Returns the context that goes on.
#[unsafe(no_mangle)]
extern "C" fn user_trap(local: &mut HartLocal) -> *mut Context {
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &mut *local.context };
    match csr_read!(mcause) {
        CALL => {
            context.x[0] = context.x[0].wrapping_add(4);
            let number = context.x[17];
            match Call::from_number(number) {
                Some(call) if is_kernels(call) => {
                    let arguments = core::array::from_fn(|n| context.x[10 + n]);
                    remote(local, number, arguments)
                }
                Some(Call::CacheRefresh) => {
                    context.x[10] = 0;
                    local.context
                }
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
        cause => {
            let value = csr_read!(mtval);
            let next = remote(local, EXCEPTION, [cause, value, context.x[0], 0, 0, 0]);
            csr::forget_page(Some(value));
            next
        }
    }
}

fn is_kernels(call: Call) -> bool {
    // The table is by number, and numbers below those of the kernel are few.
    call as u64 >= Call::ThreadCreate as u64
        && page_of(call).is_some_and(|page| page.place == CallPlace::Kernel)
}

/// Asks the kernel hart, and waits until it says how to go on.
fn remote(local: &mut HartLocal, number: u64, arguments: [u64; 6]) -> *mut Context {
    float_state::save(local);
    HartPage::of(local).call.write(number, arguments);
    if PENDING.call(local.hart as usize) {
        local.clint.interrupt(local.kernel_hart as usize);
    }
    wait(local)
}

/// Waits for a command that lets a thread run.
fn wait(local: &mut HartLocal) -> *mut Context {
    let line = &HartPage::of(local).command;
    loop {
        // The order matters: a command that comes behind `take` interrupts again.
        local.clint.clear(local.hart as usize);
        let flags = line.take();
        invalidate(local, flags);
        if flags & command::FORGET != 0 {
            csr::forget_page(None);
        }
        if flags & command::RUN != 0 {
            return switch(local);
        }
        if flags & command::REPLY != 0 {
            let [a0, a1] = line.values.each_ref().map(load);
            // SAFETY: the thread that has called, which is this hart's.
            unsafe { (*local.context).set_values([a0, a1]) };
            return local.context;
        }
        if flags & command::GO_ON != 0 {
            return local.context;
        }
        if flags == 0 {
            csr::wait();
        }
    }
}

fn load(word: &core::sync::atomic::AtomicU64) -> u64 {
    word.load(core::sync::atomic::Ordering::Relaxed)
}

fn invalidate(local: &HartLocal, flags: u64) {
    if flags & command::INVALIDATE == 0 {
        return;
    }
    let HartPage { call, command, .. } = HartPage::of(local);
    let (page, pages) = (load(&command.page), load(&command.pages));
    // Many pages are dearer than all.
    match pages {
        0..16 => (0..pages).for_each(|n| csr::forget_page(Some(page + n * flick_abi::card::PAGE))),
        _ => csr::forget_page(None),
    }
    call.invalidations
        .fetch_add(1, core::sync::atomic::Ordering::Release);
}

/// The hart runs the thread that its command line names.
fn switch(local: &mut HartLocal) -> *mut Context {
    let line = &HartPage::of(local).command;
    let next = load(&line.context) as *mut Context;
    local.thread = load(&line.thread);
    cache::refresh_value(next);
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
    local.context = next;
    next
}

/// From `trap_entry.S` and `start.S`: the kernel has failed on this hart.
#[unsafe(no_mangle)]
extern "C" fn kernel_broken(cause: u64, pc: u64, value: u64) -> ! {
    crate::failure::broken(cause, pc, value)
}

/// The kernel on this hart has failed: the kernel hart is told, and the hart stops.
pub fn report_broken(local: &HartLocal, cause: u64, pc: u64, value: u64) -> ! {
    let page = HartPage::of(local);
    page.call.write(BROKEN, [cause, pc, value, 0, 0, 0]);
    if PENDING.call(local.hart as usize) {
        local.clint.interrupt(local.kernel_hart as usize);
    }
    loop {
        csr::wait();
    }
}
