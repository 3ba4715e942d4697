//! `process_wait`, `process_end` and `process_self`.
use flick_abi::card::Error;
use flick_kernel_core::threads::Wait;

use crate::kernel::{Answer, Caller, Done, Kernel, is_past, value};

/// Waits for the end of a child.
#[inline(never)]
pub fn process_wait(kernel: &mut Kernel, caller: Caller, number: u64, until: u64) -> Answer {
    let is_meant = |place: &u16| number == 0 || kernel.processes.number(*place) == number;
    let children = || kernel.processes.children(caller.process).filter(is_meant);
    if children().next().is_none() {
        return Err(Error::NotFound);
    }
    let over = children().find(|&place| kernel.processes[place].tables.is_none());
    if let Some(over) = over {
        let (number, status) = (kernel.processes.number(over), kernel.processes[over].status);
        kernel.processes.remove(over);
        return Ok(Done::Values(number, status));
    }
    if is_past(until) {
        return Err(Error::TimedOut);
    }
    let list = &mut kernel.processes[caller.process].parents;
    kernel.dispatch.threads.append(list, caller.thread);
    kernel.wait(caller.thread, Wait::Process(number), until)
}

/// Ends a process.
#[inline(never)]
pub fn process_end(kernel: &mut Kernel, caller: Caller, number: u64, status: u64) -> Answer {
    if number == 0 || number == kernel.processes.number(caller.process) {
        kernel.end_process(caller.process, status);
        return kernel.end_thread(caller.thread, Some(0));
    }
    let child = kernel
        .processes
        .child(caller.process, number)
        .ok_or(Error::NotFound)?;
    kernel.end_process(child, status);
    value(0)
}

/// The caller's process, and its parent.
#[inline(never)]
pub fn process_self(kernel: &mut Kernel, caller: Caller) -> Answer {
    let parent = kernel.processes[caller.process].parent;
    let parent = parent.map_or(0, |parent| kernel.processes.number(parent));
    Ok(Done::Values(
        kernel.processes.number(caller.process),
        parent,
    ))
}
