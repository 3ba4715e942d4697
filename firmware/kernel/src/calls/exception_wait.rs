//! `exception_wait` and `exception_resume`: handlers of exceptions.
use flick_abi::card::{Error, ExceptionRecord, FOR_EVER};
use flick_kernel_core::threads::{Place, State, Thread, Wait};

use crate::kernel::{Answer, Caller, Kernel, is_past, value};

/// Waits for an exception.
#[inline(never)]
pub fn exception_wait(kernel: &mut Kernel, caller: Caller, record: u64, until: u64) -> Answer {
    let thread = &mut kernel.dispatch.threads[caller.thread];
    if !core::mem::replace(&mut thread.is_handler, true) {
        kernel.processes[caller.process].handler_count += 1;
        kernel.lines[usize::from(caller.thread)].watch();
    }
    // A record that cannot be stored is refused before an exception is taken.
    kernel.store_words(caller, record, &[0; WORDS])?;
    let faulted = kernel.processes[caller.process].faulted;
    let threads = &kernel.dispatch.threads;
    if let Some(place) = threads.find_in(&faulted, Thread::exception_is_new) {
        tell(kernel, caller, record, place)?;
        return value(0);
    }
    if is_past(until) {
        return Err(Error::TimedOut);
    }
    let list = &mut kernel.processes[caller.process].handlers;
    kernel.dispatch.threads.append(list, caller.thread);
    kernel.wait(caller.thread, Wait::Exception(record), until)
}

const WORDS: usize = size_of::<ExceptionRecord>() / 8;

/// Stores the record of a thread's exception.
fn tell(kernel: &mut Kernel, handler: Caller, record: u64, place: Place) -> Result<(), Error> {
    let context = kernel.context(place);
    let ([cause, value], pc) = (context.exception, context.pc());
    let words = [kernel.dispatch.threads.number(place), cause, pc, value];
    kernel.store_words(handler, record, &words)?;
    kernel.dispatch.threads[place].is_told = true;
    Ok(())
}

/// The caller has an exception that the kernel does not resolve.
#[inline(never)]
pub fn exception(kernel: &mut Kernel, caller: Caller, cause: u64, value: u64) -> Answer {
    kernel.context(caller.thread).exception = [cause, value];
    let thread = &mut kernel.dispatch.threads[caller.thread];
    thread.is_told = false;
    let is_handler = thread.is_handler;
    if is_handler || kernel.processes[caller.process].handler_count == 0 {
        kernel.die_of_exception(caller.thread);
        return kernel.end_thread(caller.thread, Some(0));
    }
    let list = &mut kernel.processes[caller.process].faulted;
    kernel.dispatch.threads.append(list, caller.thread);
    let answer = kernel.wait(caller.thread, Wait::Handler, FOR_EVER);
    let handlers = kernel.processes[caller.process].handlers;
    let handler = kernel.dispatch.threads.in_list(&handlers).next();
    if let Some(handler) = handler
        && let State::Waits(Wait::Exception(record)) = kernel.dispatch.threads[handler].state
    {
        let thread = handler;
        let waiting = Caller::of_process(thread, caller.process);
        let told = tell(kernel, waiting, record, caller.thread);
        kernel.end_wait(handler, told.map(|()| (0, 0)));
    }
    answer
}

/// A thread goes on after its exception.
#[inline(never)]
pub fn exception_resume(kernel: &mut Kernel, caller: Caller, number: u64, pc: u64) -> Answer {
    let place = kernel.find_thread(number, caller.process)?;
    if kernel.dispatch.threads[place].state != State::Waits(Wait::Handler) {
        return Err(Error::NotFound);
    }
    if pc != 0 {
        kernel.context(place).x[0] = pc;
    }
    kernel.leave_wait(place);
    kernel.wake(place);
    value(0)
}
