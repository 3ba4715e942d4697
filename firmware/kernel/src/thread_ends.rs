//! Threads that have ended without a call (`thread_lines.rs` of the core): the kernel hart learns of them
//! when it has time, or needs their harts or places.
use flick_abi::card::Error;
use flick_kernel_core::thread_lines::{ENDED, JOINED, WATCHED};
use flick_kernel_core::threads::{Place, State, THREADS, Thread};

use crate::csr;
use crate::hart_page::PENDING;
use crate::kernel::{Answer, Caller, Kernel};

impl Kernel {
    /// The state of a thread's line.
    pub fn line_state(&self, place: Place) -> u64 {
        self.lines[usize::from(place)].state()
    }

    /// Harts call when their threads end, as long as other threads are ready.
    #[inline(never)]
    pub fn want_ends(&mut self) {
        let at_once = self.dispatch.threads.has_ready();
        self.ends.take(&PENDING, at_once);
        while at_once && self.take_end() {}
    }

    /// Does a part of what nobody waits for. False: there is nothing to do.
    #[inline(always)]
    pub fn tidy(&mut self, has_ended: bool) -> bool {
        if !has_ended && !self.ends.has_some() {
            let threads = &mut self.dispatch.threads;
            if threads.all.has_room() {
                return threads.add_place();
            }
            return threads.count() > THREADS / 2 && self.free_place(1);
        }
        self.tidy_end()
    }

    #[inline(never)]
    fn tidy_end(&mut self) -> bool {
        self.close_claims();
        if !self.ends.has_some() && !self.ends.are_told() {
            self.ends.take(&PENDING, false);
        }
        self.take_end()
    }

    /// All threads that have ended are known, and a place that a join has left is free, if there is one.
    #[inline(never)]
    pub fn tidy_all(&mut self) {
        if !self.ends.are_told() {
            self.ends.take(&PENDING, false);
        }
        while self.take_end() {}
        self.free_place(THREADS);
    }

    /// Ends a thread that its hart has ended. False: there is none.
    fn take_end(&mut self) -> bool {
        let Some(hart) = self.ends.take_first() else {
            return false;
        };
        // A hart that was asked to save its thread calls.
        if !self.dispatch.is_asked(hart)
            && let Some(place) = self.dispatch.running(hart)
        {
            let _: Answer = self.end_thread(place, None);
            self.dispatch.leave(hart, csr::time(), &mut self.harts);
        }
        true
    }

    /// Looks at some places, until one is free that a join on another hart has left.
    #[inline(never)]
    fn free_place(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let place = self.next_place;
            self.next_place = (place + 1) % THREADS as Place;
            if place >= self.dispatch.threads.places().end {
                continue;
            }
            let has_ended = self.dispatch.threads[place].state == State::Ended;
            if has_ended && self.line_state(place) & JOINED != 0 {
                self.dispatch.threads.remove(place);
                return true;
            }
        }
        false
    }

    /// A hart says that its thread has ended, since it was asked to save it, or others wait for harts.
    #[inline(never)]
    pub fn has_ended(&mut self, caller: Caller) -> Answer {
        self.ends.forget(&PENDING, caller.hart);
        self.end_thread(caller.thread, None)
    }

    /// The kernel hart has to know when any thread of a process ends.
    #[inline(never)]
    pub fn watch_all(&mut self, process: u16) {
        for place in self.dispatch.threads.places() {
            let Thread {
                state, process: of, ..
            } = self.dispatch.threads[place];
            if of != process || matches!(state, State::Free | State::Ended) {
                continue;
            }
            let before = self.lines[usize::from(place)].watch();
            if before & (ENDED | WATCHED) == ENDED
                && let State::Running(hart) = state
            {
                // It has ended already: its hart says so when it is asked to save it.
                self.dispatch.drive_out(hart, csr::time(), &mut self.harts);
            }
        }
    }

    /// The thread of a number, if no join has got its value yet.
    pub fn find_thread(&self, number: u64, process: u16) -> Result<Place, Error> {
        let place = self.dispatch.threads.find(number, process);
        let place = place.filter(|&place| self.line_state(place) & JOINED == 0);
        place.ok_or(Error::NotFound)
    }

    /// Has the thread ended, whether it is known or not?
    pub fn is_over(&self, place: Place) -> bool {
        self.line_state(place) & ENDED != 0
    }
}
