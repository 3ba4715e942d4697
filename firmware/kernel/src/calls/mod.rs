//! The kernel calls that the kernel hart executes, one subject a file. `flick_abi::card` has their table.
pub mod archive_map;
pub mod console_read;
mod console_write;
pub mod exception_wait;
mod memory_map;
mod process_create;
mod process_wait;
pub mod thread_create;
mod thread_detach;
mod thread_exit;
mod thread_join;
mod thread_place;
mod thread_priority;
mod thread_sleep;
mod thread_state;
mod thread_wait_on;

#[cfg(feature = "root")]
use flick_abi::card::RootCall;
use flick_abi::card::{Call, Error, PAGE, rights};
#[cfg(feature = "host")]
use flick_kernel_core::lines::AWAY;
use flick_kernel_core::lines::{BROKEN, EXCEPTION, HAS_ENDED, PREEMPTED, VECTORS};
use flick_kernel_core::page_tables::{Physical, Trouble};

use crate::direct::Direct;
use crate::kernel::{Answer, Caller, Done, Kernel, value};
use crate::migration::hint;
use crate::vector_state;

/// Light calls, as bits by their numbers: they return at once, and look at none of the caller's registers
/// but their arguments. The caller's hart saves no registers for them, so that the caller stays there.
pub const LIGHT: u64 = {
    // The symmetric kernel executes calls where the registers are.
    if cfg!(feature = "symmetric") {
        0
    } else {
        light()
    }
};

const fn light() -> u64 {
    let all = [
        Call::ThreadCreate,
        Call::ThreadDetach,
        Call::ThreadWakeup,
        Call::ThreadWakeOn,
        Call::MemoryMap,
        Call::MemoryUnmap,
        Call::MemoryProtect,
        Call::MemoryFree,
        Call::ProcessCreate,
        Call::ProcessCopy,
        Call::ProcessMap,
        Call::ProcessStart,
        Call::ProcessSelf,
        Call::ConsoleWrite,
        Call::ArchiveMap,
        Call::KernelNothing,
    ];
    let (mut bits, mut n) = (0, 0);
    while n < all.len() {
        bits |= 1 << all[n] as u64;
        n += 1;
    }
    bits
}

/// Is a call of this number light?
pub const fn is_light(number: u64) -> bool {
    number < 64 && LIGHT >> number & 1 != 0
}

/// Executes a call of a user hart, or what it has to say.
#[unsafe(link_section = ".text.kernel_hart")]
#[inline(always)]
pub fn execute(kernel: &mut Kernel, caller: Caller, number: u64, arguments: [u64; 6]) -> Answer {
    let [a0, a1, ..] = arguments;
    let (called, why) = parts(number);
    let call = match (Call::from_number(called), number) {
        (Some(call), _) => call,
        // Another thread runs, or the same one goes on as it was.
        (None, PREEMPTED) => return Ok(Done::GoesOn),
        #[cfg(feature = "host")]
        (None, EXCEPTION) if kernel.is_foreign(caller.thread) => {
            return kernel.foreign_exception(caller, a0, a1);
        }
        #[cfg(feature = "host")]
        (None, AWAY) if kernel.is_foreign(caller.thread) => {
            return kernel.foreign_away(caller.thread, a0);
        }
        (None, EXCEPTION) => return exception(kernel, caller, arguments),
        (None, VECTORS) => return first_vector(kernel, caller, a0),
        (None, HAS_ENDED) => return kernel.has_ended(caller),
        (None, BROKEN) => return broken(kernel, caller, arguments),
        #[cfg(feature = "root")]
        (None, _) => {
            let call = RootCall::from_number(called).ok_or(Error::NoCall)?;
            return kernel.root_call(caller, call, arguments, why);
        }
        #[cfg(not(feature = "root"))]
        (None, _) => return Err(Error::NoCall),
    };
    match call {
        Call::ThreadSelf | Call::HartSelf | Call::CacheRefresh => Err(Error::NoCall),
        // It goes a way of its own, which is quicker.
        Call::ThreadCreate => Err(Error::NoCall),
        Call::ThreadExit => thread_exit::thread_exit(kernel, caller, a0),
        Call::ThreadJoin => thread_join::thread_join(kernel, caller, a0, a1),
        Call::ThreadDetach => thread_detach::thread_detach(kernel, caller, a0),
        Call::ThreadYield => Ok(Done::GivesWay),
        Call::ThreadSleep => thread_sleep::thread_sleep(kernel, caller, a0),
        Call::ThreadWakeup => thread_sleep::thread_wakeup(kernel, caller, a0),
        Call::ThreadWaitOn => thread_wait_on::thread_wait_on(kernel, caller, arguments),
        Call::ThreadWakeOn => thread_wait_on::thread_wake_on(kernel, caller, a0, a1),
        Call::ThreadPlace => thread_place::thread_place(kernel, caller, a0, a1),
        Call::ThreadPriority => thread_priority::thread_priority(kernel, caller, a0, a1),
        Call::Hint => hint(kernel, caller, a0),
        Call::ThreadState => thread_state::thread_state(kernel, caller, arguments),
        Call::ExceptionWait => exception_wait::exception_wait(kernel, caller, a0, a1),
        Call::ExceptionResume => exception_wait::exception_resume(kernel, caller, a0, a1),
        Call::MemoryMap => memory_map::memory_map(kernel, caller, arguments),
        Call::MemoryUnmap => memory_map::memory_unmap(kernel, caller, a0, a1),
        Call::MemoryProtect => memory_map::memory_protect(kernel, caller, arguments),
        Call::MemoryFree => memory_map::memory_free(kernel),
        Call::ProcessCreate => process_create::process_create(kernel, caller),
        Call::ProcessCopy => process_create::process_copy(kernel, caller),
        Call::ProcessMap => process_create::process_map(kernel, caller, arguments),
        Call::ProcessStart => process_create::process_start(kernel, caller, arguments),
        Call::ProcessWait => process_wait::process_wait(kernel, caller, a0, a1),
        Call::ProcessEnd => process_wait::process_end(kernel, caller, a0, a1),
        Call::ProcessSelf => process_wait::process_self(kernel, caller),
        Call::ConsoleWrite => console_write::console_write(kernel, caller, a0, a1),
        Call::ConsoleRead => console_read::console_read(kernel, caller, arguments),
        Call::ArchiveMap => archive_map::archive_map(kernel, caller),
        Call::KernelNothing => value(0),
        Call::MailboxCreate => kernel.create_mailbox(caller, a0),
        Call::MailboxClose => kernel.close_mailbox(caller, a0),
        Call::MailboxSend => kernel.send_mail(caller, arguments, why),
        Call::MailboxReceive => kernel.receive_mail(caller, arguments, why),
        Call::PortalCreate => kernel.create_portal(caller, a0),
        Call::PortalClose => kernel.close_portal(caller, a0),
        Call::PortalAllow => kernel.allow_portal(caller, arguments),
        Call::PortalWrite => kernel.write_portal(caller, arguments, why),
        Call::PortalRead => kernel.read_portal(caller, a0, a1),
    }
}

/// A hart that could not execute a call itself says why, in bits 31:8.
const fn parts(number: u64) -> (u64, u64) {
    match number >> 32 {
        0 => (number & 0xff, number >> 8),
        _ => (number, 0),
    }
}

/// A call of a process that ends. The receiver of what it has just written learns of that all the same.
pub fn end_early(kernel: &mut Kernel, number: u64, arguments: [u64; 6]) {
    let (called, why) = parts(number);
    if called == Call::PortalWrite as u64 {
        kernel.end_write(arguments, why);
    }
}

/// The right that an exception of a page wanted.
pub fn wanted(cause: u64) -> Option<u64> {
    match cause {
        12 => Some(rights::EXECUTE),
        13 => Some(rights::READ),
        15 => Some(rights::WRITE),
        _ => None,
    }
}

/// The caller has an exception.
#[inline(never)]
fn exception(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [cause, address, pc, ..] = arguments;
    if cause == ILLEGAL && kernel.moves_for(caller, pc, address) {
        return Ok(Done::GoesOn);
    }
    if let Some(right) = wanted(cause) {
        match kernel.resolve(caller.process, address, right, Some(caller.hart)) {
            Ok(_) => return Ok(Done::GoesOn),
            Err(Trouble::NoMemory) => {
                crate::report!(kernel.console, "kernel: memory is used up\n");
            }
            // The program may handle it.
            Err(_) => {}
        }
    }
    exception_wait::exception(kernel, caller, cause, address)
}

/// The caller gets memory for its vector registers, which are 0.
#[inline(never)]
fn first_vector(kernel: &mut Kernel, caller: Caller, register_bytes: u64) -> Answer {
    let pages = vector_state::pages(register_bytes);
    let Some(at) = kernel.frames.allocate_many(pages) else {
        crate::report!(kernel.console, "kernel: memory is used up\n");
        return exception_wait::exception(kernel, caller, ILLEGAL, 0);
    };
    for n in 0..pages as u64 {
        Direct.clear(at + n * PAGE);
    }
    kernel.lines[usize::from(caller.thread)].watch();
    kernel.dispatch.threads[caller.thread].vector_pages = pages as u8;
    let context = kernel.context(caller.thread);
    (context.vector, context.vector_bytes) = (at, register_bytes);
    // The instruction traps again, and finds the memory.
    Ok(Done::GoesOn)
}

/// `mcause` of an illegal instruction.
pub const ILLEGAL: u64 = 2;

/// The kernel on the caller's hart has failed.
#[inline(never)]
fn broken(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [cause, pc, value, ..] = arguments;
    let console = &kernel.console;
    crate::report!(
        console,
        "kernel: exception {cause:#x} in the kernel at {pc:#x}, value {value:#x}\n"
    );
    kernel.lose(caller.hart, "its kernel has failed");
    Ok(Done::Ended)
}
