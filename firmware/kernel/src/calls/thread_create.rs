//! `thread_create`: a thread more.
use flick_abi::card::{Error, PRIORITIES};
use flick_kernel_core::context::Context;
use flick_kernel_core::threads::Place;

use crate::kernel::{Answer, Caller, Kernel, value};

/// Makes a thread in the caller's process.
#[inline(never)]
pub fn thread_create(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [entry, argument, stack, tls, priority, _] = arguments;
    if priority >= PRIORITIES || !stack.is_multiple_of(16) {
        return Err(Error::Invalid);
    }
    let made = kernel.start_thread(caller.process, [entry, argument, stack, tls, priority]);
    let place = made.ok_or(Error::NoMemory)?;
    value(kernel.dispatch.threads.number(place))
}

impl Kernel {
    /// Starts a thread: its entry, its argument, the end of its stack, its tp, its priority.
    pub fn start_thread(&mut self, process: u16, start: [u64; 5]) -> Option<Place> {
        let [entry, argument, stack, tls, priority] = start;
        let satp = self.processes[process].tables?.satp(u64::from(process) + 1);
        let number = self.processes.number(process);
        let context = Context::new([entry, argument, stack, tls], satp, number);
        let harts = self.dispatch.harts();
        let place = self
            .dispatch
            .threads
            .create(process, priority as u8, harts)?;
        let Some(context) = self.contexts.create(context, &mut self.frames) else {
            self.dispatch.threads.remove(place);
            return None;
        };
        self.dispatch.threads[place].context = context;
        let owner = &mut self.processes[process];
        if owner.threads == 0 {
            owner.first = Some(place);
        }
        owner.threads += 1;
        self.wake(place);
        Some(place)
    }
}
