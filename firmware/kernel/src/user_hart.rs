//! A user hart: it runs a program's thread in U mode, and executes what is local to it. The kernel hart
//! gets the rest.
use core::sync::atomic::{AtomicU64, Ordering};

#[cfg(any(feature = "root", feature = "host"))]
use flick_abi::card::RootCall;
use flick_abi::card::{Call, CallPlace, Error};
use flick_kernel_core::context::{Context, Stored};
use flick_kernel_core::lines::{BROKEN, EXCEPTION, HAS_ENDED, PREEMPTED, VECTORS, command};

use crate::cache;
use crate::claim::{self, HAS_CLAIMS};
use crate::csr;
use crate::float_state;
use crate::hart_page::{HartLocal, HartPage, Sending};
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
#[cfg(not(feature = "alone"))]
const INTERRUPTS: u64 = SOFTWARE;
#[cfg(feature = "alone")]
use crate::kernel_hart::INTERRUPTS;
const SOFTWARE_CAUSE: u64 = 1 << 63 | 3;
const ILLEGAL: u64 = 2;
pub const CALL: u64 = 8;
/// MPP of `mstatus`: the trap is of M mode.
pub const MACHINE: u64 = 3 << 11;

/// From `start.S`: the hart runs programs from now on.
#[unsafe(no_mangle)]
pub extern "C" fn user_hart_begin(page: *mut HartPage) -> ! {
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
        csr_write!(mie, INTERRUPTS);
    }
    #[cfg(feature = "host")]
    local.host.begin();
    // MPP is U mode; floating point and vectors are off.
    csr::clear_status(0x1800 | float_state::STATUS | vector_state::STATUS);
    let context = wait(local);
    // SAFETY: a context that the kernel hart has given, and this hart's record.
    unsafe { resume(context, local) }
}

/// Looks for a command before the hart sleeps. Behind code of the host a hart has nothing to do for long.
const LOOKS: u32 = if cfg!(feature = "host") { 2 } else { 40 };
/// The same where the hart's thread has gone to another one.
const LONG_LOOKS: u32 = 4 * LOOKS;
/// The command of a hart that has claimed this one, most often.
const TAKES: u64 = command::RUN | command::CLAIMED;
/// Commands with which a thread goes on, one at a time.
const STARTS: u64 = command::RUN | command::REPLY | command::GO_ON;

/// From `trap_entry.S`: the thread's registers are in its context. Returns the context that goes on, and
/// with bit 0 set if all its registers are to be loaded.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
pub extern "C" fn user_trap(local: &mut HartLocal, cause: u64) -> *mut Context {
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &mut *local.context };
    match cause {
        #[cfg(feature = "host")]
        CALL if local.host.has_owner() => host_call(local, context),
        CALL => {
            context.x[0] = context.x[0].wrapping_add(4);
            let number = context.x[17];
            match Call::from_number(number) {
                Some(call) if call.place() == CallPlace::Unit => tried_call(local, context),
                Some(call) if call.place() != CallPlace::Caller => remote_call(local, context, 0),
                #[cfg(feature = "root")]
                None if let Some(call) = RootCall::from_number(number) => {
                    root_call(local, context, call)
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
        #[cfg(feature = "alone")]
        interrupt if interrupt >> 63 != 0 => crate::alone::interrupted(local),
        ILLEGAL if float_state::is_off() && float_state::is_there() => {
            // The thread's first instruction of floating point, or one that is illegal all the same.
            float_state::load(local, context);
            local.context
        }
        ILLEGAL if vector_state::is_off() && vector_state::is_there() && has_vector() => {
            // The kernel hart has stored them, perhaps.
            cache::refresh_value(&raw const context.vector);
            cache::refresh_value(&raw const context.vector_bytes);
            if context.vector == 0 {
                return remote(
                    local,
                    VECTORS,
                    [vector_state::register_bytes(), 0, 0, 0, 0, 0],
                );
            }
            if context.vector_bytes != vector_state::register_bytes() {
                return exception(local, cause, context.x[0]);
            }
            vector_state::load(local, context);
            local.context
        }
        #[cfg(feature = "host")]
        crate::host_hart::INVERTED_NX if let Some(next) = crate::host_hart::leave(local) => next,
        cause => {
            let value = csr_read!(mtval);
            if csr_read!(mstatus) & MACHINE == MACHINE {
                // The kernel itself: its registers are where the thread's were.
                report_broken(local, cause, context.x[0], value);
            }
            exception(local, cause, context.x[0])
        }
    }
}

/// The kernel hart deals with an exception.
#[inline(never)]
fn exception(local: &mut HartLocal, cause: u64, pc: u64) -> *mut Context {
    let value = csr_read!(mtval);
    let next = remote(local, EXCEPTION, [cause, value, pc, 0, 0, 0]);
    if cause != ILLEGAL {
        csr::forget_page(Some(value));
    }
    next.map_addr(|address| address | 1)
}

/// A call of the root role: the hart executes some by its unit.
#[cfg(feature = "root")]
fn root_call(local: &mut HartLocal, context: &mut Context, call: RootCall) -> *mut Context {
    use crate::hart_unit::Attempt;
    let arguments = core::array::from_fn(|n| context.x[10 + n]);
    let handed_over = crate::root::hand_over(local, call, arguments);
    if let Some(next) = handed_over {
        return next;
    }
    match crate::root::attempt(local, call, arguments) {
        Attempt::Done(values) => {
            context.set_values(values);
            local.context
        }
        Attempt::Ask(why) => remote_call(local, context, why),
        Attempt::Preempted => {
            context.make_again();
            remote(local, PREEMPTED, [0; 6])
        }
    }
}

/// A call of a host program, which its runtime makes (`docs/host-files.md`). There are those of the root role, which
/// the kernel hart executes.
#[cfg(feature = "host")]
#[inline(never)]
fn host_call(local: &mut HartLocal, context: &mut Context) -> *mut Context {
    context.x[0] = context.x[0].wrapping_add(4);
    if RootCall::from_number(context.x[17]).is_some() && cfg!(feature = "root") {
        return remote_call(local, context, 0);
    }
    context.x[10] = Error::NoCall.to_register();
    local.context
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
    // The kernel hart lets a thread wait here until its next call.
    local.is_parked = why == note::PARK;
    // A thread without these registers is most frequent.
    if context.status | context.vector != 0 {
        float_state::save(local);
        vector_state::save(local);
    }
    let arguments = core::array::from_fn(|n| context.x[10 + n]);
    let number = context.x[17] | why << 8;
    ask_for(local, number, arguments)
}

/// The same, of a call of the root role.
#[cfg(feature = "root")]
pub fn ask_because(local: &mut HartLocal, why: u64) -> *mut Context {
    // SAFETY: the hart's own, while it runs the thread.
    let context = unsafe { &*local.context };
    remote_call(local, context, why)
}

/// The kernel executes a call: its hart does, or this one in the symmetric kernel.
#[inline(always)]
fn ask_for(local: &mut HartLocal, number: u64, arguments: [u64; 6]) -> *mut Context {
    #[cfg(feature = "symmetric")]
    return crate::symmetric::serve(local, number, arguments);
    #[cfg(feature = "alone")]
    return crate::alone::serve(local, number, arguments);
    #[cfg(not(any(feature = "symmetric", feature = "alone")))]
    {
        HartPage::of(local).call.write(number, arguments);
        ask(local)
    }
}

/// Says that the call line is complete, and waits for the answer.
#[cfg(not(any(feature = "symmetric", feature = "alone")))]
#[inline(always)]
fn ask(local: &mut HartLocal) -> *mut Context {
    point!("ask");
    call(local);
    wait(local)
}

#[inline(always)]
fn call(local: &HartLocal) {
    cache::clean();
    if local.pending.call(local.hart as usize) {
        local.clint.interrupt(local.kernel_hart as usize);
    }
}

/// Asks the kernel hart, and waits until it says how to go on.
#[inline(never)]
pub fn remote(local: &mut HartLocal, number: u64, arguments: [u64; 6]) -> *mut Context {
    local.is_parked = false;
    float_state::save(local);
    vector_state::save(local);
    ask_for(local, number, arguments)
}

/// What the hart has told itself, as bits of `command`.
#[cfg(not(any(feature = "symmetric", feature = "alone")))]
#[inline(always)]
fn take_own(_: &mut HartLocal) -> u64 {
    0
}
#[cfg(feature = "symmetric")]
use crate::symmetric::take_own;

/// From `trap_entry.S`: the thread ends. Its registers are nobody's any more.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn user_exit(local: &mut HartLocal, value: u64) -> *mut Context {
    point!("end");
    // SAFETY: each thread has a line, at its place.
    let line = unsafe { &*local.lines.add((local.thread & 0xffff) as usize) };
    line.set_value(value);
    cache::clean();
    if line.end() {
        let arguments = [value, 0, 0, 0, 0, 0];
        return ask_for(local, Call::ThreadExit as u64, arguments);
    }
    local.is_silent = true;
    if local.pending.end(local.hart as usize) {
        tell_end(local);
    }
    wait(local)
}

/// Tells the kernel hart that the thread has ended, if it has not been told.
#[inline(never)]
fn tell_end(local: &mut HartLocal) {
    if core::mem::take(&mut local.is_silent) {
        HartPage::of(local).call.write(HAS_ENDED, [0; 6]);
        call(local);
    }
}

/// From `trap_entry.S`: a light call's answer is more than a reply, or does not come soon. The hart has
/// taken these flags. Returns a context to run, or null: the thread goes on with the values that the
/// command line has.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.user_hart")]
extern "C" fn light_wait(local: &mut HartLocal, mut flags: u64) -> *mut Context {
    let mut asked = 0;
    loop {
        asked |= flags & command::PREEMPT;
        invalidate(local, flags);
        if flags & STARTS != 0 {
            break;
        }
        flags = take_flags(local, LOOKS);
    }
    let next = begin(local, flags | asked);
    match flags & command::RUN {
        0 => core::ptr::null_mut(),
        _ => next,
    }
}

#[cfg(feature = "alone")]
use crate::alone::take_flags;

/// Waits for flags of the command line: the hart looks for some time, and then it sleeps.
#[cfg(not(feature = "alone"))]
#[inline(always)]
fn take_flags(local: &mut HartLocal, looks: u32) -> u64 {
    let own = take_own(local);
    if own != 0 {
        return own;
    }
    let line = &HartPage::of(local).command;
    loop {
        for _ in 0..looks {
            let flags = line.take();
            if flags != 0 {
                return flags;
            }
        }
        // The order matters: a command that comes behind the next look interrupts again.
        if line.sleep() {
            csr::wait();
            local.clint.clear(local.hart as usize);
        }
    }
}

/// Waits for a command that lets a thread run.
#[inline(never)]
#[unsafe(link_section = ".text.user_hart")]
pub fn wait(local: &mut HartLocal) -> *mut Context {
    wait_for(local, LOOKS)
}

/// The same of a hart whose thread has gone to another one, and may come back soon.
#[inline(never)]
#[unsafe(link_section = ".text.user_hart")]
pub fn wait_and_resume(local: &mut HartLocal) -> ! {
    let next = wait_for(local, LONG_LOOKS);
    // SAFETY: a context that another hart has given, and this hart's record. What is on the stack is of no
    // use any more.
    unsafe { resume(next, local) }
}

#[inline(always)]
fn wait_for(local: &mut HartLocal, looks: u32) -> *mut Context {
    // The thread that the hart was asked to save, and that it does not have yet.
    let mut asked = u64::MAX;
    loop {
        let flags = take_flags(local, looks);
        if HAS_CLAIMS && flags == TAKES && asked == u64::MAX {
            point!("told");
            return claim::take_back(local).unwrap_or_else(|| switch(local, false));
        }
        invalidate(local, flags);
        if flags & STARTS != 0 {
            let line = &HartPage::of(local).command;
            let is_asked = asked == load(&line.thread) && flags & command::CLAIMED != 0;
            let asked = if is_asked { command::PREEMPT } else { 0 };
            return begin(local, flags | asked);
        }
        if flags & command::PREEMPT != 0 {
            asked = load(&HartPage::of(local).command.asked);
            // Or the kernel hart knows of a thread that claims this hart before it is here.
            if asked == local.thread {
                tell_end(local);
            }
        }
    }
}

/// A command lets a thread run.
#[inline(always)]
fn begin(local: &mut HartLocal, flags: u64) -> *mut Context {
    let line = &HartPage::of(local).command;
    point!("told");
    if flags & command::PREEMPT != 0 {
        // The hart saves the thread as soon as it runs, since it cannot know which command came first.
        let _ = line.give(command::PREEMPT);
        local.clint.interrupt(local.hart as usize);
    }
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
        command::RUN => switch(local, flags & command::FRESH != 0),
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
    next
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

/// A word that this hart has been given.
pub fn load(word: &AtomicU64) -> u64 {
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
fn switch(local: &mut HartLocal, is_fresh: bool) -> *mut Context {
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
    if is_fresh {
        context.begin();
    }
    (local.owner, local.is_silent) = (context.satp, false);
    if csr_read!(satp) != context.satp {
        // SAFETY: the kernel runs in M mode, which `satp` does not concern.
        unsafe { csr_write!(satp, context.satp) };
        if !local.has_spaces {
            csr::forget_page(None);
        }
    }
    #[cfg(feature = "host")]
    local.host.switch(context.satp);
    float_state::switch(local, context);
    vector_state::switch(local, context);
    local.context = next;
    // Bit 0: all registers are loaded, even if the thread ran here before. Bit 1: most of them are 0.
    let bits = if is_fresh { 3 } else { 1 };
    next.map_addr(|address| address | bits)
}

/// The hart runs a thread that waited, in place of its own, which waits now and whose registers are saved.
#[cfg(feature = "root")]
#[inline(always)]
pub fn switch_to(local: &mut HartLocal, next: *mut Context, thread: u64) -> *mut Context {
    point!("run", local.hart, thread);
    local.thread = thread;
    local.is_parked = false;
    local.sending.tile = Sending::NONE;
    local.taking.port = u64::MAX;
    hart_unit::forget(local);
    // SAFETY: the thread is this hart's now, as the word of hand-overs says.
    let context = unsafe { &mut *next };
    if local.owner != context.satp {
        local.owner = context.satp;
        // SAFETY: the kernel runs in M mode, which `satp` does not concern.
        unsafe { csr_write!(satp, context.satp) };
        if !local.has_spaces {
            csr::forget_page(None);
        }
    }
    // Threads without these registers are most frequent.
    let both = float_state::STATUS | vector_state::STATUS;
    if csr_read!(mstatus) & both | context.status | context.vector != 0 {
        float_state::switch(local, context);
        vector_state::switch(local, context);
    }
    local.context = next;
    next.map_addr(|address| address | 1)
}

/// From `trap_entry.S` and `start.S`: the kernel has failed on this hart.
#[unsafe(no_mangle)]
extern "C" fn kernel_broken(cause: u64, pc: u64, value: u64) -> ! {
    crate::failure::broken(cause, pc, value)
}

/// The kernel on this hart has failed: the kernel hart is told, and the hart stops.
pub fn report_broken(local: &HartLocal, cause: u64, pc: u64, value: u64) -> ! {
    if cfg!(any(feature = "symmetric", feature = "alone")) {
        crate::failure::broken(cause, pc, value);
    }
    let page = HartPage::of(local);
    page.call.write(BROKEN, [cause, pc, value, 0, 0, 0]);
    call(local);
    loop {
        csr::wait();
    }
}
