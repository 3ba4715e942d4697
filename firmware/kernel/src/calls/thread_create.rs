//! `thread_create`: a thread more.
use flick_abi::card::{Error, PRIORITIES};
use flick_kernel_core::context::Context;
use flick_kernel_core::thread_lines::WATCHED;
use flick_kernel_core::threads::Place;

use crate::csr;
use crate::hart_page::HartPage;
use crate::kernel::{Caller, Kernel};
use crate::trace_points::point;

/// Makes a thread in the caller's process, and answers before the thread runs.
#[inline(always)]
pub fn thread_create(kernel: &mut Kernel, caller: Caller, page: &HartPage, arguments: [u64; 6]) {
    let [entry, argument, stack, tls, priority, _] = arguments;
    let process = caller.process;
    if priority >= PRIORITIES || !stack.is_multiple_of(16) {
        return kernel.answer_create(caller.hart, Err(Error::Invalid));
    }
    let Some(place) = kernel.new_thread(process, priority) else {
        kernel.tidy_all();
        let place = kernel.start_thread(process, [entry, argument, stack, tls, priority]);
        return kernel.answer_create(caller.hart, place.ok_or(Error::NoMemory));
    };
    let number = kernel.dispatch.threads.number(place);
    kernel.harts.reply(page, caller.hart, [number, 0], 0);
    kernel.begin_thread(place, process, [entry, argument, stack, tls]);
    point!("wake", place);
    let (dispatch, harts) = (&mut kernel.dispatch, &mut kernel.harts);
    dispatch.wake_soon(place, csr::time(), harts);
}

impl Kernel {
    /// Starts a thread: its entry, its argument, the end of its stack, its tp, its priority.
    #[inline(never)]
    fn start_thread(&mut self, process: u16, start: [u64; 5]) -> Option<Place> {
        let [entry, argument, stack, tls, priority] = start;
        let place = self.new_thread(process, priority)?;
        self.begin_thread(place, process, [entry, argument, stack, tls]);
        self.wake(place);
        Some(place)
    }

    /// Starts the first thread of a process.
    pub fn start_process(&mut self, process: u16, start: [u64; 5]) -> Option<Place> {
        // The kernel hart has to know when it ends. The symmetric kernel has none, so that it has to know
        // of all ends.
        let others = if cfg!(feature = "symmetric") {
            WATCHED
        } else {
            0
        };
        self.processes[process].watches = WATCHED;
        let place = self.start_thread(process, start);
        let owner = &mut self.processes[process];
        (owner.watches, owner.first) = (others, place);
        place
    }

    /// The first thread of a process that has begun elsewhere. Its registers follow, and then it is woken.
    #[cfg(feature = "root")]
    pub fn start_held(&mut self, process: u16, priority: u64) -> Option<Place> {
        let place = self.new_thread(process, priority.min(PRIORITIES - 1))?;
        let owner = &mut self.processes[process];
        (owner.watches, owner.first) = (WATCHED, Some(place));
        self.begin_thread(place, process, [0; 4]);
        self.processes[process].watches = 0;
        Some(place)
    }

    #[inline(never)]
    fn answer_create(&mut self, hart: u8, made: Result<Place, Error>) {
        let value = match made {
            Ok(place) => self.dispatch.threads.number(place),
            Err(error) => error.to_register(),
        };
        if let Some(page) = self.harts.page(hart) {
            self.harts.reply(page, hart, [value, 0], 0);
        }
    }

    /// Finds a place and a context.
    #[inline(always)]
    pub fn new_thread(&mut self, process: u16, priority: u64) -> Option<Place> {
        let harts = self.dispatch.harts();
        let threads = &mut self.dispatch.threads;
        let place = threads.create(process, priority as u8, harts)?;
        let Some(context) = self.contexts.take(&mut self.frames) else {
            threads.remove(place);
            return None;
        };
        threads[place].context = context;
        Some(place)
    }

    /// The thread at a place can run: its entry, its argument, the end of its stack, its tp.
    #[inline(always)]
    fn begin_thread(&mut self, place: Place, process: u16, start: [u64; 4]) {
        let number = self.processes.number(process);
        let harts = self.dispatch.harts();
        let owner = &mut self.processes[process];
        owner.threads += 1;
        let context = self.dispatch.threads[place].context as *mut Context;
        // SAFETY: the context is this thread's, which no hart has yet. What else is there is still another
        // thread's: the hart that runs it first clears it.
        unsafe { (*context).set_start(start, owner.satp, number) };
        let number = self.dispatch.threads.number(place);
        self.lines[usize::from(place)].begin(number, owner.satp, owner.watches, harts);
    }
}
