//! What host threads do, step by step.
use crate::Merged;
use crate::host_and_machine::Step::*;
use crate::host_and_machine::{
    Doing, Event, LINK, LOCK, Mistake, Next, State, Then, Thread, owner,
};

impl Merged {
    /// The thread leaves the lock.
    pub fn leave(&self, state: &mut State, number: usize, then: Then) {
        let next = state.hand_over();
        let thread = &mut state.threads[number];
        (thread.doing, thread.then) = (Doing::GoOn(next), then);
    }

    /// The step is over.
    fn over(thread: &mut Thread) {
        thread.step += 1;
        thread.doing = Doing::Point;
    }

    /// The thread has done all for others.
    fn settle(thread: &mut Thread) {
        match thread.then {
            Then::Operation | Then::Over => thread.doing = Doing::Park,
            Then::GoesOn => Self::over(thread),
            Then::End => thread.doing = Doing::End,
        }
    }

    pub fn go(&self, state: &mut State, number: usize) {
        let time = state.threads[number].time;
        match state.threads[number].doing {
            Doing::Point => self.come_to_point(state, number),
            Doing::Operation => self.operate(state, number),
            Doing::Answer => {
                if !self.has(Mistake::MachineIsNotTold) {
                    state.tell_machine();
                }
                match state.early.remove(&number) {
                    Some(came) => {
                        state.threads[number].came = came;
                        state.token.pass(number, time.max(came));
                    }
                    None => state.token.wait(number, owner(number), time, None),
                }
                self.leave(state, number, Then::Over);
            }
            Doing::GoOn(next) => match next {
                Next::Machine => state.threads[number].doing = Doing::Drive,
                next => {
                    if let Next::Thread(next) = next
                        && state.threads[next].doing == Doing::Sleep
                    {
                        state.threads[next].woken |= !self.has(Mistake::NobodyIsWoken);
                    }
                    Self::settle(&mut state.threads[number]);
                }
            },
            Doing::Drive => self.drive(state, number),
            Doing::Merge(to) => self.merge(state, number, to),
            Doing::Park => {
                let looks = !self.has(Mistake::SleepsWithoutALook);
                let thread = &mut state.threads[number];
                match thread.word && looks {
                    true => self.take(thread),
                    false => thread.doing = Doing::Sleep,
                }
            }
            Doing::Sleep => {
                let thread = &mut state.threads[number];
                thread.woken = false;
                match thread.word {
                    true => self.take(thread),
                    false => thread.doing = Doing::Park,
                }
            }
            Doing::End => {}
        }
    }

    /// The thread takes the token that it was given.
    fn take(&self, thread: &mut Thread) {
        (thread.word, thread.away) = (self.has(Mistake::WordStays), false);
        thread.time = thread.time.max(thread.came);
        match thread.then {
            Then::Operation => thread.doing = Doing::Operation,
            _ => Self::over(thread),
        }
    }

    fn come_to_point(&self, state: &mut State, number: usize) {
        let thread = &mut state.threads[number];
        if let Computes(time) = self.scripts[number][thread.step] {
            thread.time += time;
        }
        let time = thread.time;
        thread.doing = Doing::Operation;
        let is_first = state.next.is_none_or(|next| time < next);
        if thread.away || !(is_first || self.has(Mistake::PointIsPassed)) {
            thread.came = time;
            state.token.pass(number, time);
            self.leave(state, number, Then::Operation);
        }
    }

    fn operate(&self, state: &mut State, number: usize) {
        let Thread { step, time, .. } = state.threads[number];
        match self.scripts[number][step] {
            Computes(_) => Self::over(&mut state.threads[number]),
            Lock if state.lock.is_some() => {
                state.token.wait(number, LOCK, time, None);
                self.leave(state, number, Then::Operation);
            }
            Lock => {
                state.lock = Some(number);
                self.log(state, time, number, "lock");
                Self::over(&mut state.threads[number]);
            }
            Unlock => {
                state.lock = None;
                self.log(state, time, number, "unlock");
                if let Some(woken) = state.token.wake(LOCK, time) {
                    state.threads[woken].came = time;
                }
                self.leave(state, number, Then::GoesOn);
            }
            Cross(work) => {
                let event = Event::Arrives(number, work);
                state.machine.schedule(time + LINK, event);
                self.log(state, time, number, "call");
                state.threads[number].doing = Doing::Answer;
            }
            End => {
                self.log(state, time, number, "end");
                state.token.end(number);
                self.leave(state, number, Then::End);
            }
        }
    }

    /// Runs the machine until something comes for an owner, or until a thread is next.
    fn drive(&self, state: &mut State, number: usize) {
        let until = state.next.filter(|_| !self.has(Mistake::MachineRunsOn));
        let mut to = None;
        while let Some((time, owner)) = state.machine.run() {
            self.log(state, time, owner.unwrap_or(usize::MAX), "event");
            to = owner.map(|owner| (owner, time));
            let next = state.machine.next();
            let is_later = |next: u64| until.is_some_and(|until| next >= until);
            if to.is_some() || next.is_none_or(is_later) {
                break;
            }
        }
        state.threads[number].doing = Doing::Merge(to);
    }

    fn merge(&self, state: &mut State, number: usize, to: Option<(usize, u64)>) {
        if let Some((thread, time)) = to {
            if state.token.wake(owner(thread), time).is_some() {
                state.threads[thread].came = time;
            } else if !self.has(Mistake::EarlyIsForgotten) {
                state.early.insert(thread, time);
            }
        }
        state.tell_machine();
        match self.has(Mistake::DriverGoesAway) {
            true => Self::settle(&mut state.threads[number]),
            false => {
                let then = state.threads[number].then;
                self.leave(state, number, then);
            }
        }
    }
}
