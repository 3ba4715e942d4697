//! The token that orders threads by virtual time (`docs/virtual-threads.md`): who holds it runs, and
//! gives it up at stated points, when another thread is earlier.
//!
//! This is the order alone. Who waits for the token, and how, is the caller's.

use std::collections::{BTreeMap, VecDeque};

use crate::Time;

/// A thread's number: they enter in the order of their numbers.
pub type Thread = usize;

/// Why a thread got the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// It was ready, and the earliest.
    Ready,
    /// Somebody has woken it.
    Woken,
    /// Its deadline came first.
    TimedOut,
    /// A signal has ended its waiting.
    Interrupted,
}

/// Time, and a number that makes two threads of one time take turns.
type Place = (Time, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State<K> {
    Holds,
    Ready {
        place: Place,
        turn: Turn,
    },
    Waits {
        key: K,
        since: Time,
        deadline: Option<Place>,
    },
    /// It has lost the token, and runs beside the order.
    Away,
    Ended,
}

/// The token, and the threads that it orders. `K` is what threads wait for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token<K> {
    threads: Vec<State<K>>,
    turns: Vec<Turn>,
    /// Those that are ready, and those whose deadline would end their waiting.
    queue: BTreeMap<Place, Thread>,
    /// Who waits for what, in the order in which they have come.
    waiting: BTreeMap<K, VecDeque<Thread>>,
    holder: Option<Thread>,
    sequence: u64,
}

impl<K: Copy + Ord> Default for Token<K> {
    fn default() -> Self {
        Self {
            threads: Vec::new(),
            turns: Vec::new(),
            queue: BTreeMap::new(),
            waiting: BTreeMap::new(),
            holder: None,
            sequence: 0,
        }
    }
}

impl<K: Copy + Ord> Token<K> {
    /// A token without threads.
    pub fn new() -> Self {
        Self::default()
    }

    fn place(&mut self, time: Time) -> Place {
        self.sequence += 1;
        (time, self.sequence)
    }

    fn make_ready(&mut self, thread: Thread, time: Time, turn: Turn) {
        let place = self.place(time);
        self.queue.insert(place, thread);
        self.threads[thread] = State::Ready { place, turn };
    }

    /// A new thread, which is ready at `time`.
    pub fn enter(&mut self, time: Time) -> Thread {
        let thread = self.threads.len();
        self.threads.push(State::Away);
        self.turns.push(Turn::Ready);
        self.make_ready(thread, time, Turn::Ready);
        thread
    }

    /// Who holds the token.
    pub fn holder(&self) -> Option<Thread> {
        self.holder
    }

    /// Whether the thread has ended.
    pub fn has_ended(&self, thread: Thread) -> bool {
        self.threads[thread] == State::Ended
    }

    /// The time of the thread that is next.
    pub fn next(&self) -> Option<Time> {
        self.queue.first_key_value().map(|(&(time, _), _)| time)
    }

    /// The time of the first thread that is next later than at `time`.
    pub fn next_after(&self, time: Time) -> Option<Time> {
        let later = self.queue.range((time, u64::MAX)..);
        later.map(|(&(time, _), _)| time).next()
    }

    /// Why the thread got the token the last time.
    pub fn turn(&self, thread: Thread) -> Turn {
        self.turns[thread]
    }

    /// Gives the token to the thread that is next, if nobody holds it and one is ready.
    pub fn hand_over(&mut self) -> Option<Thread> {
        if self.holder.is_some() {
            return None;
        }
        let (_, thread) = self.queue.pop_first()?;
        self.turns[thread] = match self.threads[thread] {
            State::Ready { turn, .. } => turn,
            State::Waits { key, .. } => {
                self.forget(key, thread);
                Turn::TimedOut
            }
            State::Holds | State::Away | State::Ended => Turn::Ready,
        };
        self.threads[thread] = State::Holds;
        self.holder = Some(thread);
        Some(thread)
    }

    /// `thread` waits no longer for `key`.
    fn forget(&mut self, key: K, thread: Thread) {
        if let Some(all) = self.waiting.get_mut(&key) {
            all.retain(|&other| other != thread);
            if all.is_empty() {
                self.waiting.remove(&key);
            }
        }
    }

    fn put_down(&mut self, thread: Thread) {
        if self.holder == Some(thread) {
            self.holder = None;
        }
    }

    /// The holder is at a stated point at `time`, and gives up the token. One that has lost it comes
    /// back.
    pub fn pass(&mut self, thread: Thread, time: Time) {
        self.put_down(thread);
        self.make_ready(thread, time, Turn::Ready);
    }

    /// The holder waits for `key` from `time` on, until `deadline` at most.
    pub fn wait(&mut self, thread: Thread, key: K, time: Time, deadline: Option<Time>) {
        self.put_down(thread);
        let deadline = deadline.map(|deadline| self.place(deadline.max(time)));
        if let Some(place) = deadline {
            self.queue.insert(place, thread);
        }
        self.waiting.entry(key).or_default().push_back(thread);
        self.threads[thread] = State::Waits {
            key,
            since: time,
            deadline,
        };
    }

    /// At `time` the first thread that waits for `key` is ready again: which it was.
    pub fn wake(&mut self, key: K, time: Time) -> Option<Thread> {
        let all = self.waiting.get_mut(&key)?;
        let thread = all.pop_front()?;
        if all.is_empty() {
            self.waiting.remove(&key);
        }
        let State::Waits {
            since, deadline, ..
        } = self.threads[thread]
        else {
            return None;
        };
        if let Some(place) = deadline {
            self.queue.remove(&place);
        }
        self.make_ready(thread, time.max(since), Turn::Woken);
        Some(thread)
    }

    /// `thread` is ready again at `time`, if it waits.
    pub fn rouse(&mut self, thread: Thread, time: Time) {
        self.stop_waiting(thread, time, Turn::Ready);
    }

    /// A signal comes to `thread` at `time`: it is ready again, if it waits.
    pub fn interrupt(&mut self, thread: Thread, time: Time) {
        self.stop_waiting(thread, time, Turn::Interrupted);
    }

    fn stop_waiting(&mut self, thread: Thread, time: Time, turn: Turn) {
        if let State::Waits {
            key,
            since,
            deadline,
        } = self.threads[thread]
        {
            if let Some(place) = deadline {
                self.queue.remove(&place);
            }
            self.forget(key, thread);
            self.make_ready(thread, time.max(since), turn);
        }
    }

    /// The first `count` threads that wait for `from` wait for `to`, behind those that do already.
    pub fn requeue(&mut self, from: K, to: K, count: usize) -> usize {
        let Some(mut all) = self.waiting.remove(&from) else {
            return 0;
        };
        let rest = all.split_off(count.min(all.len()));
        if !rest.is_empty() {
            self.waiting.insert(from, rest);
        }
        let moved = all.len();
        for &thread in &all {
            if let State::Waits { key, .. } = &mut self.threads[thread] {
                *key = to;
            }
        }
        self.waiting.entry(to).or_default().extend(all);
        moved
    }

    /// Whether somebody waits for `key`.
    pub fn is_awaited(&self, key: K) -> bool {
        self.waiting.contains_key(&key)
    }

    /// What the thread waits for.
    pub fn awaited_by(&self, thread: Thread) -> Option<K> {
        match self.threads[thread] {
            State::Waits { key, .. } => Some(key),
            State::Holds | State::Ready { .. } | State::Away | State::Ended => None,
        }
    }

    /// All that threads wait for.
    pub fn awaited(&self) -> impl Iterator<Item = K> + '_ {
        self.waiting.keys().copied()
    }

    /// The holder loses the token: who it was.
    pub fn lose(&mut self) -> Option<Thread> {
        let thread = self.holder.take()?;
        self.threads[thread] = State::Away;
        Some(thread)
    }

    /// `thread` is ready at this time from now on, whatever it did; `None`: it does nothing, until this is
    /// called again. That is for what is ordered and is no thread.
    pub fn set_ready(&mut self, thread: Thread, time: Option<Time>) {
        if let State::Ready { place, .. } = self.threads[thread]
            && Some(place.0) == time
        {
            return;
        }
        self.end(thread);
        match time {
            Some(time) => self.make_ready(thread, time, Turn::Ready),
            None => self.threads[thread] = State::Away,
        }
    }

    /// Whether the thread has lost the token, and has not come back.
    pub fn is_away(&self, thread: Thread) -> bool {
        self.threads[thread] == State::Away
    }

    /// The thread ends, whatever it does.
    pub fn end(&mut self, thread: Thread) {
        self.put_down(thread);
        match self.threads[thread] {
            State::Ready { place, .. } => drop(self.queue.remove(&place)),
            State::Waits { key, deadline, .. } => {
                deadline.map(|place| self.queue.remove(&place));
                self.forget(key, thread);
            }
            State::Holds | State::Away | State::Ended => {}
        }
        self.threads[thread] = State::Ended;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The token of `times.len()` threads, which are ready at these times.
    fn with(times: &[Time]) -> Token<u32> {
        let mut token = Token::new();
        for (thread, &time) in times.iter().enumerate() {
            assert_eq!(token.enter(time), thread);
        }
        token
    }

    #[test]
    fn the_earliest_is_next_and_threads_of_one_time_take_turns() {
        let mut token = with(&[20, 10, 10]);
        let mut order = Vec::new();
        for _ in 0..4 {
            let thread = token.hand_over().unwrap();
            assert_eq!(token.holder(), Some(thread));
            assert_eq!(token.hand_over(), None, "one holder");
            order.push(thread);
            token.pass(thread, 10);
        }
        assert_eq!(order, [1, 2, 1, 2]);
        assert_eq!(token.next(), Some(10));
        assert_eq!(token.next_after(10), Some(20));
        assert_eq!(token.next_after(20), None);
    }

    #[test]
    fn those_that_wait_are_woken_in_the_order_in_which_they_came() {
        let mut token = with(&[0, 1, 2]);
        for thread in [0, 1] {
            assert_eq!(token.hand_over(), Some(thread));
            token.wait(thread, 7, thread as Time, None);
        }
        assert_eq!(token.hand_over(), Some(2));
        assert_eq!(token.next(), None);
        assert_eq!(token.wake(8, 5), None);
        assert_eq!(token.wake(7, 5), Some(0));
        assert_eq!(token.wake(7, 5), Some(1));
        assert_eq!(token.wake(7, 5), None);
        assert!(!token.is_awaited(7));
        token.pass(2, 5);
        assert_eq!(token.hand_over(), Some(0));
        assert_eq!(token.turn(0), Turn::Woken);
    }

    #[test]
    fn a_waker_of_an_earlier_time_wakes_nobody_before_he_has_come() {
        let mut token = with(&[0, 9]);
        assert_eq!(token.hand_over(), Some(0));
        token.pass(0, 10);
        assert_eq!(token.hand_over(), Some(1));
        token.wait(1, 7, 9, None);
        token.wake(7, 3);
        assert_eq!(token.next(), Some(9));
    }

    #[test]
    fn a_deadline_ends_the_waiting_and_a_wake_up_the_deadline() {
        let mut token = with(&[0, 0, 50]);
        for thread in [0, 1] {
            assert_eq!(token.hand_over(), Some(thread));
            token.wait(thread, 7, 0, Some(20 + thread as Time));
        }
        assert_eq!(token.wake(7, 5), Some(0));
        assert_eq!(token.hand_over(), Some(0));
        assert_eq!(token.turn(0), Turn::Woken);
        token.pass(0, 30);
        assert_eq!(token.next(), Some(21));
        assert_eq!(token.hand_over(), Some(1));
        assert_eq!(token.turn(1), Turn::TimedOut);
        assert_eq!(token.wake(7, 40), None, "it has left the queue");
    }

    #[test]
    fn who_lost_the_token_comes_back_in_order() {
        let mut token = with(&[0, 10, 20]);
        assert_eq!(token.hand_over(), Some(0));
        assert_eq!(token.lose(), Some(0));
        assert!(token.is_away(0));
        assert_eq!(token.hand_over(), Some(1));
        token.pass(0, 15);
        assert!(!token.is_away(0));
        token.end(1);
        assert!(token.has_ended(1));
        assert_eq!(token.hand_over(), Some(0));
        token.wait(0, 7, 15, Some(30));
        token.end(0);
        token.end(2);
        assert_eq!((token.next(), token.is_awaited(7)), (None, false));
    }

    #[test]
    fn one_of_those_that_wait_is_roused() {
        let mut token = with(&[0, 0]);
        for thread in [0, 1] {
            assert_eq!(token.hand_over(), Some(thread));
            token.wait(thread, 7, 0, Some(50));
        }
        assert_eq!(token.awaited_by(1), Some(7));
        token.rouse(1, 5);
        assert_eq!(token.awaited_by(1), None);
        token.rouse(1, 9);
        assert_eq!(token.hand_over(), Some(1));
        assert_eq!(token.turn(1), Turn::Ready);
        token.wait(1, 8, 9, None);
        token.interrupt(1, 12);
        assert_eq!((token.next(), token.hand_over()), (Some(12), Some(1)));
        assert_eq!(token.turn(1), Turn::Interrupted);
        assert_eq!(token.wake(7, 6), Some(0));
    }

    #[test]
    fn what_is_no_thread_is_ready_when_it_is_said() {
        let mut token = with(&[5, 9]);
        token.set_ready(0, None);
        assert_eq!(token.next(), Some(9));
        token.set_ready(0, Some(7));
        token.set_ready(0, Some(7));
        assert_eq!(token.hand_over(), Some(0));
        token.set_ready(0, Some(12));
        assert_eq!(token.hand_over(), Some(1));
        token.set_ready(0, Some(3));
        assert_eq!(token.next(), Some(3));
        token.pass(1, 9);
        assert_eq!(token.hand_over(), Some(0));
        token.set_ready(0, None);
        assert_eq!((token.holder(), token.next()), (None, Some(9)));
    }

    #[test]
    fn waiting_threads_move_to_another_key() {
        let mut token = with(&[0, 0, 0]);
        for thread in [0, 1] {
            assert_eq!(token.hand_over(), Some(thread));
            token.wait(thread, 7, 0, None);
        }
        assert_eq!(token.requeue(7, 8, 1), 1);
        assert_eq!(token.awaited().collect::<Vec<_>>(), [7, 8]);
        assert_eq!(token.wake(8, 1), Some(0));
        assert_eq!(token.wake(7, 1), Some(1));
        assert_eq!(token.requeue(7, 8, 1), 0);
    }
}
