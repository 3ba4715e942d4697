//! Which thread runs on which hart. A thread that can go on runs at once if a hart is idle: on the one
//! that it ran on last if it may, else on the next one in turns. Otherwise it waits, and takes the hart
//! of a less urgent thread. Threads of the same priority share harts by time slices.
use flick_abi::card::FOR_EVER;

use crate::lines::MOST_HARTS;
use crate::threads::{Place, State, Threads};

/// What the kernel hart does when a thread is to run elsewhere.
pub trait Orders<const THREADS: usize = { crate::threads::THREADS }> {
    /// The hart, which is idle, shall run a thread.
    fn run(&mut self, hart: u8, threads: &mut Threads<THREADS>, place: Place);

    /// The hart shall save its thread, which has this number, and say so.
    fn preempt(&mut self, hart: u8, number: u64);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Hart {
    runs: Option<Place>,
    /// It was asked to save its thread, at this time.
    preempted: Option<u64>,
    /// It has been waited for once without an answer.
    is_late: bool,
    /// When its thread began.
    since: u64,
}

/// Threads and harts of a tile. Small fields are first, where instructions reach them.
#[repr(C)]
#[derive(Debug)]
#[cfg_attr(not(target_os = "none"), derive(Clone, PartialEq, Eq, Hash))]
pub struct Dispatch<
    const THREADS: usize = { crate::threads::THREADS },
    const HARTS: usize = MOST_HARTS,
> {
    /// The harts that take threads, as bits.
    used: u64,
    /// The hart that is the next in turns.
    next: u8,
    count: u8,
    /// Those that run nothing, as bits.
    idle: u64,
    /// Harts that were asked to save their threads and have not.
    asked: u8,
    /// Harts whose threads may wait there, as bits. A hart asks again behind each other call.
    parked: u64,
    /// Ticks of a time slice.
    slice: u64,
    harts: [Hart; HARTS],
    /// The threads.
    pub threads: Threads<THREADS>,
}

const UNUSED: Hart = Hart {
    runs: None,
    preempted: None,
    is_late: false,
    since: 0,
};

impl<const THREADS: usize, const HARTS: usize> Default for Dispatch<THREADS, HARTS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const THREADS: usize, const HARTS: usize> Dispatch<THREADS, HARTS> {
    /// Without threads and harts.
    pub const fn new() -> Self {
        Self {
            threads: Threads::new(),
            harts: [UNUSED; HARTS],
            used: 0,
            next: 0,
            count: 0,
            idle: 0,
            asked: 0,
            parked: 0,
            slice: FOR_EVER,
        }
    }

    /// Harts of these numbers, which are bits, run threads, for so many ticks each.
    pub fn begin(&mut self, harts: u64, slice: u64) {
        self.slice = slice;
        let first = u64::MAX >> (64 - HARTS);
        self.used = harts & first;
        self.count = (64 - self.used.leading_zeros()) as u8;
        self.idle = self.used;
    }

    /// The harts that run threads, as bits.
    pub fn harts(&self) -> u64 {
        self.used
    }

    /// Those that run nothing, as bits.
    pub fn idle(&self) -> u64 {
        self.idle
    }

    /// The thread that a hart runs.
    pub fn running(&self, hart: u8) -> Option<Place> {
        self.harts[usize::from(hart)].runs
    }

    /// Harts that run threads of a process, as bits.
    pub fn running_process(&self, process: u16) -> u64 {
        let all = self.harts.iter().enumerate();
        let is_of = |hart: &Hart| {
            hart.runs
                .is_some_and(|p| self.threads[p].process == process)
        };
        all.fold(0, |bits, (n, hart)| bits | u64::from(is_of(hart)) << n)
    }

    /// Threads of this process, or of all, and the machine's harts: is nothing left that could run?
    pub fn is_idle(&self) -> bool {
        self.idle == self.used && !self.threads.has_ready()
    }

    #[inline(always)]
    fn idle_hart(&mut self, place: Place) -> Option<u8> {
        let thread = &self.threads[place];
        let (free, last) = (self.idle & thread.harts, thread.last_hart);
        if last < 64 && free >> last & 1 != 0 {
            return Some(last);
        }
        if free == 0 {
            return None;
        }
        // Special harts take other threads if nothing else is idle.
        let others = free & !self.threads.special;
        let free = if others == 0 { free } else { others };
        let from = free >> self.next << self.next;
        let hart = if from == 0 { free } else { from }.trailing_zeros() as u8;
        self.next = if hart + 1 == self.count { 0 } else { hart + 1 };
        Some(hart)
    }

    /// The hart whose thread is the least urgent, and less so than a thread that may run there.
    fn less_urgent(&self, place: Place) -> Option<u8> {
        let thread = &self.threads[place];
        if !self.threads.may_be_less_urgent(thread.priority) {
            return None;
        }
        let all = (0..self.count).filter(|&hart| thread.harts >> hart & 1 != 0);
        let running = all.filter_map(|hart| {
            let state = &self.harts[usize::from(hart)];
            let runs = state.runs.filter(|_| state.preempted.is_none())?;
            Some((self.threads[runs].priority, hart))
        });
        // The first hart of equal ones.
        let least = running.max_by_key(|&(priority, hart)| (priority, core::cmp::Reverse(hart)));
        let least = least.filter(|&(priority, _)| priority > thread.priority);
        least.map(|(_, hart)| hart)
    }

    #[inline(always)]
    fn start(&mut self, hart: u8, place: Place, now: u64, orders: &mut impl Orders<THREADS>) {
        let state = &mut self.harts[usize::from(hart)];
        (state.runs, state.since) = (Some(place), now);
        self.parked &= !(1 << hart);
        self.idle &= !(1 << hart);
        let thread = &mut self.threads[place];
        (thread.state, thread.last_hart) = (State::Running(hart), hart);
        orders.run(hart, &mut self.threads, place);
    }

    fn preempt(&mut self, hart: u8, now: u64, orders: &mut impl Orders<THREADS>) {
        let state = &mut self.harts[usize::from(hart)];
        if let Some(place) = state.runs
            && state.preempted.is_none()
        {
            (state.preempted, state.is_late) = (Some(now), false);
            self.parked &= !(1 << hart);
            self.asked += 1;
            orders.preempt(hart, self.threads.number(place));
        }
    }

    /// A thread that is in no list can go on.
    #[inline(never)]
    pub fn wake(&mut self, place: Place, now: u64, orders: &mut impl Orders<THREADS>) {
        self.wake_soon(place, now, orders);
    }

    /// The same, where it is part of a call that has to be quick.
    #[inline(always)]
    pub fn wake_soon(&mut self, place: Place, now: u64, orders: &mut impl Orders<THREADS>) {
        match self.idle_hart(place) {
            Some(hart) => self.start(hart, place, now, orders),
            None => self.wait_for_hart(place, now, orders),
        }
    }

    /// A thread that was ready runs on a hart that is idle.
    #[inline(never)]
    fn start_ready(&mut self, hart: u8, place: Place, now: u64, orders: &mut impl Orders<THREADS>) {
        self.threads.take_ready(place);
        self.start(hart, place, now, orders);
    }

    #[inline(never)]
    fn wait_for_hart(&mut self, place: Place, now: u64, orders: &mut impl Orders<THREADS>) {
        self.threads.make_ready(place);
        if !self.ask_parked(place, now, orders)
            && let Some(hart) = self.less_urgent(place).or_else(|| self.guest(place))
        {
            self.preempt(hart, now, orders);
        }
    }

    /// A hart that a thread needs, and that has one which can run elsewhere, and is not more urgent.
    fn guest(&self, place: Place) -> Option<u8> {
        let thread = &self.threads[place];
        let needed = thread.harts & self.threads.special;
        if needed != thread.harts {
            return None;
        }
        let mut all = (0..self.count).filter(|&hart| needed >> hart & 1 != 0);
        all.find(|&hart| {
            let state = &self.harts[usize::from(hart)];
            state.runs.is_some_and(|runs| {
                let can_leave = !self.threads.is_special(runs);
                can_leave && self.threads[runs].priority >= thread.priority
            }) && state.preempted.is_none()
        })
    }

    /// A hart whose thread only waits there, perhaps, is asked to save it for one that is ready. False:
    /// there is none.
    fn ask_parked(&mut self, place: Place, now: u64, orders: &mut impl Orders<THREADS>) -> bool {
        let parked = self.parked & self.threads[place].harts;
        if parked != 0 {
            self.preempt(parked.trailing_zeros() as u8, now, orders);
        }
        parked != 0
    }

    /// A thread that waits keeps its hart as long as no other one needs it. False: one does.
    #[must_use]
    pub fn park(&mut self, hart: u8) -> bool {
        let is_free = self.threads.first_ready(hart).is_none();
        self.parked |= u64::from(is_free) << hart;
        is_free
    }

    /// Threads that only wait on their harts leave them.
    pub fn drive_out_parked(&mut self, now: u64, orders: &mut impl Orders<THREADS>) {
        while self.parked != 0 {
            let hart = self.parked.trailing_zeros() as u8;
            self.parked &= !(1 << hart);
            self.preempt(hart, now, orders);
        }
    }

    /// Was the hart asked to save its thread, and has not?
    pub fn is_asked(&self, hart: u8) -> bool {
        self.harts[usize::from(hart)].preempted.is_some()
    }

    /// The thread of a hart has called, so that it is saved: a demand to save it has been met. Was there
    /// one?
    pub fn has_called(&mut self, hart: u8) -> bool {
        let was_asked = self.harts[usize::from(hart)].preempted.take().is_some();
        self.asked -= u8::from(was_asked);
        was_asked
    }

    /// The thread of a hart does not go on there: another one runs, or the hart is idle. Nothing else
    /// takes a thread from a hart.
    pub fn leave(&mut self, hart: u8, now: u64, orders: &mut impl Orders<THREADS>) {
        self.has_called(hart);
        let state = &mut self.harts[usize::from(hart)];
        if state.runs.take().is_some() {
            self.idle |= 1 << hart & self.used;
        }
        self.parked &= !(1 << hart);
        if self.used >> hart & 1 == 0 {
            return;
        }
        if let Some(next) = self.threads.first_ready(hart) {
            self.start_ready(hart, next, now, orders);
        }
    }

    /// The thread of a hart, which may not stay, goes on where a hart is idle. False: there is none.
    pub fn pass_on(&mut self, hart: u8, now: u64, orders: &mut impl Orders<THREADS>) -> bool {
        let Some(place) = self.running(hart) else {
            return false;
        };
        let Some(next) = self.idle_hart(place) else {
            return false;
        };
        // The thread goes on before its hart gets another one.
        self.start(next, place, now, orders);
        self.leave(hart, now, orders);
        true
    }

    /// The thread of a hart lets others run: those that are as urgent, or more.
    pub fn give_way(&mut self, hart: u8, now: u64, orders: &mut impl Orders<THREADS>) -> GaveWay {
        let Some(place) = self.running(hart) else {
            return GaveWay::Left;
        };
        // It has called, so that it does not wait there.
        self.parked &= !(1 << hart);
        let priority = self.threads[place].priority;
        let may_stay = self.threads[place].harts >> hart & 1 != 0;
        let ready = self.threads.first_ready(hart);
        let next = ready.filter(|&next| self.threads[next].priority <= priority);
        if may_stay && next.is_none() {
            self.harts[usize::from(hart)].since = now;
            // It may have been asked for one that is less urgent, since it only waited then.
            if let Some(ready) = ready {
                self.ask_parked(ready, now, orders);
            }
            return GaveWay::Stays;
        }
        // Behind those that are ready, unless another hart is idle.
        self.harts[usize::from(hart)].runs = None;
        self.idle |= 1 << hart & self.used;
        match next {
            Some(next) => {
                self.start_ready(hart, next, now, orders);
                self.wake(place, now, orders);
            }
            None => {
                self.wake(place, now, orders);
                self.leave(hart, now, orders);
            }
        }
        GaveWay::Left
    }

    /// Saves the threads whose slice is over, where others wait.
    pub fn end_slices(&mut self, now: u64, orders: &mut impl Orders<THREADS>) {
        if !self.threads.has_ready() {
            return;
        }
        for hart in 0..self.count {
            let state = &self.harts[usize::from(hart)];
            let Some(place) = state.runs else { continue };
            let is_over = state.since.saturating_add(self.slice) <= now;
            let next = self.threads.first_ready(hart).filter(|_| is_over);
            let priority = self.threads[place].priority;
            if next.is_some_and(|next| self.threads[next].priority <= priority) {
                self.preempt(hart, now, orders);
            }
        }
    }

    /// When the next slice ends for which another thread waits.
    pub fn next_slice_end(&self) -> u64 {
        if !self.threads.has_ready() {
            return FOR_EVER;
        }
        let all = self.harts[..usize::from(self.count)].iter();
        let running = all.filter(|hart| hart.runs.is_some() && hart.preempted.is_none());
        let ends = running.map(|hart| hart.since.saturating_add(self.slice));
        ends.min().unwrap_or(FOR_EVER)
    }

    /// When the first hart was asked that has not saved its thread yet.
    pub fn next_answer(&self) -> u64 {
        if self.asked == 0 {
            return FOR_EVER;
        }
        let all = self.harts[..usize::from(self.count)].iter();
        all.filter_map(|hart| hart.preempted)
            .min()
            .unwrap_or(FOR_EVER)
    }

    /// A hart that was asked to save its thread, and has not within so many ticks, twice: all harts of an
    /// emulator may stand still once.
    pub fn unanswered(&mut self, now: u64, ticks: u64) -> Option<u8> {
        if self.asked == 0 {
            return None;
        }
        let all = &mut self.harts[..usize::from(self.count)];
        let is_due = |hart: &Hart| hart.preempted.is_some_and(|at| at + ticks < now);
        for (hart, state) in all.iter_mut().enumerate().filter(|(_, hart)| is_due(hart)) {
            if state.is_late {
                return Some(hart as u8);
            }
            (state.preempted, state.is_late) = (Some(now), true);
        }
        None
    }

    /// A thread shall leave its hart soon: it may not run there any more, or ends.
    pub fn drive_out(&mut self, hart: u8, now: u64, orders: &mut impl Orders<THREADS>) {
        self.preempt(hart, now, orders);
    }

    /// Is there a hart that was asked to save its thread, and has not?
    pub fn is_any_asked(&self) -> bool {
        self.asked != 0
    }

    /// The thread of a hart has gone to another one by itself, which was idle ([`crate::claims`]).
    pub fn moved(&mut self, from: u8, to: u8) {
        let Hart { runs, since, .. } = self.harts[usize::from(from)];
        let Some(place) = runs else { return };
        self.harts[usize::from(from)].runs = None;
        self.harts[usize::from(to)] = Hart {
            runs: Some(place),
            since,
            ..UNUSED
        };
        self.idle = (self.idle | 1 << from) & !(1 << to);
        self.parked &= !(1 << from | 1 << to);
        let thread = &mut self.threads[place];
        (thread.state, thread.last_hart) = (State::Running(to), to);
    }

    /// The thread of a hart waits, and another one that has waited runs there, without the kernel hart
    /// ([`crate::handovers`]). The time of the hart's slice goes on.
    pub fn handed_over(&mut self, hart: u8, place: Place) {
        self.harts[usize::from(hart)].runs = Some(place);
        self.parked &= !(1 << hart);
        let thread = &mut self.threads[place];
        (thread.state, thread.last_hart) = (State::Running(hart), hart);
    }

    /// A thread that has waited runs on a hart that was idle, without the kernel hart.
    pub fn has_begun(&mut self, hart: u8, place: Place, now: u64) {
        self.handed_over(hart, place);
        self.harts[usize::from(hart)].since = now;
        self.idle &= !(1 << hart);
    }

    /// A hart takes no threads any more. The one that it ran has no hart.
    pub fn lose(&mut self, hart: u8) -> Option<Place> {
        self.has_called(hart);
        let state = &mut self.harts[usize::from(hart)];
        let lost = core::mem::replace(state, UNUSED).runs;
        self.used &= !(1 << hart);
        self.idle &= self.used;
        lost
    }
}

/// What a thread does that lets others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveWay {
    /// Nobody else is ready: it goes on.
    Stays,
    /// It does not run on the hart any more.
    Left,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log(Vec<(u8, Option<Place>)>);

    impl Orders for Log {
        fn run(&mut self, hart: u8, _: &mut Threads, place: Place) {
            self.0.push((hart, Some(place)));
        }

        fn preempt(&mut self, hart: u8, _: u64) {
            self.0.push((hart, None));
        }
    }

    fn dispatch(threads: usize) -> (Box<Dispatch>, Vec<Place>, Log) {
        let mut dispatch: Box<Dispatch> = Box::default();
        // Harts 1 and 2.
        dispatch.begin(0b110, 100);
        let all = (0..threads).map(|_| dispatch.threads.create(1, 4, u64::MAX).unwrap());
        let all = all.collect();
        (dispatch, all, Log::default())
    }

    #[test]
    fn harts_take_turns() {
        let (mut dispatch, all, mut log) = dispatch(3);
        dispatch.wake(all[0], 0, &mut log);
        dispatch.wake(all[1], 0, &mut log);
        dispatch.wake(all[2], 5, &mut log);
        assert_eq!(log.0, [(1, Some(all[0])), (2, Some(all[1]))]);
        assert_eq!(dispatch.next_slice_end(), 100);
        log.0.clear();
        dispatch.end_slices(99, &mut log);
        assert!(log.0.is_empty());
        dispatch.end_slices(100, &mut log);
        assert_eq!(log.0, [(1, None), (2, None)]);
        assert_eq!(dispatch.unanswered(150, 60), None);
        assert_eq!(dispatch.unanswered(161, 60), None);
        assert_eq!(dispatch.unanswered(221, 60), None);
        assert_eq!(dispatch.unanswered(222, 60), Some(1));
        log.0.clear();
        assert!(dispatch.has_called(2));
        assert_eq!(dispatch.give_way(2, 101, &mut log), GaveWay::Left);
        assert!(dispatch.has_called(1));
        assert_eq!(dispatch.give_way(1, 102, &mut log), GaveWay::Left);
        assert_eq!(log.0, [(2, Some(all[2])), (1, Some(all[1]))]);
        log.0.clear();
        dispatch.leave(1, 103, &mut log);
        dispatch.leave(1, 104, &mut log);
        assert_eq!(log.0, [(1, Some(all[0]))]);
        assert_eq!(dispatch.give_way(2, 105, &mut log), GaveWay::Stays);
        dispatch.leave(2, 106, &mut log);
        assert!(dispatch.is_idle());
    }

    #[test]
    fn urgent_threads_do_not_wait() {
        let (mut dispatch, all, mut log) = dispatch(3);
        dispatch.threads.set_priority(all[0], 5);
        dispatch.threads.set_priority(all[2], 2);
        for &place in &all {
            dispatch.wake(place, 0, &mut log);
        }
        assert_eq!(log.0, [(1, Some(all[0])), (2, Some(all[1])), (1, None)]);
        // A thread that may not stay goes where it may.
        log.0.clear();
        dispatch.leave(1, 1, &mut log);
        dispatch.leave(1, 1, &mut log);
        dispatch.threads[all[1]].harts = 0b10;
        assert_eq!(dispatch.give_way(2, 2, &mut log), GaveWay::Left);
        assert_eq!(log.0, [(1, Some(all[2])), (1, Some(all[1]))]);
    }

    #[test]
    fn a_lost_hart_runs_nothing() {
        let (mut dispatch, all, mut log) = dispatch(2);
        dispatch.wake(all[0], 0, &mut log);
        assert_eq!(dispatch.lose(1), Some(all[0]));
        dispatch.threads.make_ready(all[1]);
        dispatch.leave(1, 1, &mut log);
        assert_eq!(log.0, [(1, Some(all[0]))]);
        assert_eq!((dispatch.lose(2), dispatch.harts()), (None, 0));
    }
}
