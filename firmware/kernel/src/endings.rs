//! How threads and processes end.
use flick_abi::card::{Error, PAGE, rights};
use flick_kernel_core::page_tables::Trouble;
use flick_kernel_core::thread_lines::WATCHED;
use flick_kernel_core::threads::{Place, State, Wait};

use crate::calls::ILLEGAL;
use crate::csr;
use crate::devices;
use crate::direct::Direct;
use crate::kernel::{Answer, Caller, Done, Kernel};
use crate::program_symbols;

impl Kernel {
    /// A thread that is in no list ends.
    /// Its line has the value already, if there is none here.
    pub fn end_thread(&mut self, place: Place, value: Option<u64>) -> Answer {
        let thread = self.dispatch.threads[place];
        if thread.vector_pages != 0 {
            let at = self.context(place).vector;
            for n in 0..u64::from(thread.vector_pages) {
                self.frames.free(at + n * PAGE);
            }
        }
        self.contexts.free(thread.context);
        let process = thread.process;
        match self.dispatch.threads.joiner(place) {
            Some(joiner) => {
                self.end_wait(joiner, Ok((0, value.unwrap_or(0))));
                self.dispatch.threads.remove(place);
            }
            None if thread.is_detached => self.dispatch.threads.remove(place),
            None => {
                self.dispatch.threads[place].state = State::Ended;
                if let Some(value) = value {
                    let number = self.dispatch.threads.number(place);
                    self.lines[usize::from(place)].settle(number, value);
                }
            }
        }
        let owner = &mut self.processes[process];
        owner.threads -= 1;
        if owner.first == Some(place) {
            owner.first = None;
            if !owner.is_ending {
                owner.status = value.unwrap_or(0);
            }
            if owner.threads != 0 {
                owner.watches = WATCHED;
                self.watch_all(process);
            }
        }
        let owner = &mut self.processes[process];
        if thread.is_handler {
            owner.handler_count -= 1;
        }
        let is_over = owner.threads == 0;
        if is_over {
            self.process_is_over(process);
        } else if owner.handler_count == 0 && !owner.faulted.is_empty() && !owner.is_ending {
            // Nobody will handle these exceptions.
            let faulted = self
                .dispatch
                .threads
                .in_list(&self.processes[process].faulted)
                .next();
            if let Some(faulted) = faulted {
                self.die_of_exception(faulted);
            }
        }
        Ok(Done::Ended)
    }

    /// A process ends with all its threads; those that run on harts end at their next call.
    pub fn end_process(&mut self, process: u16, status: u64) {
        let owner = &mut self.processes[process];
        if owner.is_ending || owner.tables.is_none() {
            return;
        }
        (owner.is_ending, owner.status) = (true, status);
        if owner.threads == 0 {
            return self.process_is_over(process);
        }
        let now = csr::time();
        for place in self.dispatch.threads.places() {
            let thread = &self.dispatch.threads[place];
            if thread.process != process {
                continue;
            }
            match thread.state {
                State::Free | State::Ended => continue,
                State::Running(hart) => {
                    self.dispatch.drive_out(hart, now, &mut self.harts);
                    continue;
                }
                State::Ready => self.dispatch.threads.take_ready(place),
                State::Waits(_) => self.leave_wait(place),
            }
            let _: Answer = self.end_thread(place, Some(0));
        }
    }

    fn process_is_over(&mut self, process: u16) {
        let owner = &mut self.processes[process];
        owner.is_ending = true;
        let (status, parent) = (owner.status, owner.parent);
        self.close_mailboxes(process);
        self.close_portals(process);
        #[cfg(feature = "root")]
        self.revoke_all(process);
        let owner = &mut self.processes[process];
        if let Some(tables) = owner.tables.take() {
            // No hart runs it. Another process with its number could meet old translations.
            self.harts.forget |= self.dispatch.harts();
            tables.free(&mut self.frames, &mut Direct);
        }
        for place in self.dispatch.threads.places() {
            let thread = &self.dispatch.threads[place];
            if thread.process == process && thread.state == State::Ended {
                self.dispatch.threads.remove(place);
            }
        }
        for child in 0..crate::processes::PROCESSES as u16 {
            let other = &mut self.processes[child];
            if other.is_used && other.parent == Some(process) {
                other.parent = None;
                if other.tables.is_none() {
                    self.processes.remove(child);
                }
            }
        }
        self.end_orphans();
        let Some(parent) = parent else {
            self.processes.remove(process);
            // The machine ends with the first program of the first tile that has one.
            if process == FIRST && self.map.ends_machine {
                devices::end_machine(&self.map, status);
            }
            return;
        };
        let number = self.processes.number(process);
        let list = self.processes[parent].parents;
        let waiting = self.dispatch.threads.find_in(&list, |thread| {
            matches!(thread.state, State::Waits(Wait::Process(of)) if of == 0 || of == number)
        });
        if let Some(waiting) = waiting {
            self.processes.remove(process);
            self.end_wait(waiting, Ok((number, status)));
        }
    }

    /// Children of processes that are over end, too. Those of children come behind them, and not within
    /// their end: the stack is small.
    fn end_orphans(&mut self) {
        if core::mem::replace(&mut self.processes.ends_orphans, true) {
            return;
        }
        while let Some(orphan) = self.processes.orphan() {
            self.end_process(orphan, Error::NotFound as u64);
        }
        self.processes.ends_orphans = false;
    }

    /// A thread's exception ends its process.
    pub fn die_of_exception(&mut self, place: Place) {
        let thread = self.dispatch.threads[place];
        let context = self.context(place);
        let [cause, value] = context.exception;
        let (pc, sp) = (context.pc(), context.x[2]);
        let at = program_symbols::place(self, Caller::of_process(place, thread.process), pc, 0);
        let number = self.processes.number(thread.process);
        crate::report!(
            self.console,
            "kernel: process {number:#x} ends: exception {cause} at {at}, value {value:#x}\n"
        );
        if cause == ILLEGAL {
            self.explain_illegal(value);
        }
        // A page at the stack pointer is not there: it is the one in front of the stack.
        let found = self.resolve(thread.process, value, rights::READ, None);
        if value.wrapping_sub(sp) < PAGE && found == Err(Trouble::Unmapped) {
            crate::report!(self.console, "kernel:   its stack is full\n");
        }
        crate::backtrace::report(self, place);
        self.end_process(thread.process, 0x100 | cause);
    }
}

/// The place of the process that the machine ends with.
pub const FIRST: u16 = 0;
