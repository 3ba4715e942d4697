//! Owners, the kernel hart and the user hart. What software does without another part that could see it is one
//! action.
use std::collections::VecDeque;

use flick_abi::card::Error;
use flick_abi::descriptor::{DESCRIPTOR_RETURN, Descriptor, FIRST_HART_ENDPOINT};
use flick_device::dtu::Packet;

use crate::tiles::{CARD, HART, KERNEL, Tiles, call};
use crate::{Rule, Scenario};

/// An owner's thread, as the kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thread {
    Away,
    Ready,
    Running,
}

/// What the user hart does. The number is its thread's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Hart {
    Idle,
    /// It executes the thread's code.
    Runs(usize),
    /// Nobody wants harts; it has still to say that it waits. Without a rule only.
    Looked(usize),
    /// It has sent, and has still to open its endpoint. Without a rule only.
    Sent(usize),
    /// It waits for the owner; behind an answer, or behind a message of its own.
    Waits(usize, bool),
    /// It gives the thread up, with what has come.
    GivesUp(usize, Option<Descriptor>),
    /// It has called the kernel hart.
    Calls(usize, Why),
}

/// Why a user hart calls the kernel hart.
#[expect(
    clippy::large_enum_variant,
    reason = "the model has one of them a state"
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Why {
    /// The thread has left its code.
    Left,
    /// It is away already. What has come.
    Away(Option<Descriptor>),
    /// The hart was asked for the thread, in its code.
    Asked,
}

/// A thread of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owner {
    calls: u8,
    done: u8,
    endpoint: u8,
    waits: bool,
    /// Its request was refused for now.
    is_refused: bool,
    /// It makes one again.
    asks_again: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    tiles: Tiles,
    late: Vec<Packet>,
    owners: Vec<Owner>,
    threads: Vec<Thread>,
    /// A thread whose message is sent, and which the kernel has still to mark. Without a rule only.
    unmarked: Option<usize>,
    /// What the kernel has to send.
    outbox: VecDeque<Descriptor>,
    hart: Hart,
    /// The hart has a message that it can answer.
    holds: bool,
    /// The waiting word: the hart's bit, and whether harts are wanted.
    is_waiting: bool,
    are_wanted: bool,
    /// The hart is asked for its thread.
    is_asked: bool,
    pub is_wrong: bool,
    pub was_busy: bool,
    /// The kernel has answered an owner, and then found that its thread is not away.
    pub broke_race_rule: bool,
    pub was_asked: bool,
    pub has_replied: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Event(usize, u32),
    Arrive(usize),
    Delay(usize),
    ArriveLate,
    /// The owner calls.
    Ask(usize),
    /// It makes a request again, a while after that was refused.
    AskAgain(usize),
    KernelTakes,
    KernelSends,
    KernelMarks,
    KernelServes,
    /// The thread leaves its code.
    Leave,
    /// The hart goes on with what it has begun.
    GoOn,
    /// It is asked for its thread, in its code.
    Stop,
    /// Its wait ends.
    Wake,
}

impl State {
    pub fn new(scenario: &Scenario) -> Self {
        let owner = |&calls| Owner {
            calls,
            done: 0,
            endpoint: 0,
            waits: false,
            is_refused: false,
            asks_again: false,
        };
        Self {
            tiles: Tiles::new(scenario.slots),
            late: vec![],
            owners: scenario.calls.iter().map(owner).collect(),
            threads: vec![Thread::Away; scenario.calls.len()],
            unmarked: None,
            outbox: VecDeque::new(),
            hart: Hart::Idle,
            holds: false,
            is_waiting: false,
            are_wanted: false,
            is_asked: false,
            is_wrong: false,
            was_busy: false,
            broke_race_rule: false,
            was_asked: false,
            has_replied: false,
        }
    }

    pub fn has_ended(&self) -> bool {
        let mut owners = self.owners.iter();
        owners.all(|owner| !owner.waits && owner.done == owner.calls)
    }

    pub fn actions(&self, scenario: &Scenario, actions: &mut Vec<Action>) {
        let tiles = &self.tiles;
        actions.extend(
            tiles
                .events()
                .map(|(tile, token)| Action::Event(tile, token)),
        );
        actions.extend(tiles.senders().map(Action::Arrive));
        let late = tiles
            .senders()
            .filter(|&from| tiles.may_delay(from, scenario.delays));
        actions.extend(late.map(Action::Delay));
        if !self.late.is_empty() {
            actions.push(Action::ArriveLate);
        }
        let kernel_is_free = !tiles.is_busy(KERNEL);
        let mut may = |does: bool, action| actions.extend(does.then_some(action));
        // Its commands wait for the end of its last message.
        may(
            kernel_is_free && tiles.kernel_has_unread(),
            Action::KernelTakes,
        );
        let has_credit = tiles.credits(KERNEL) > 0;
        may(
            !self.outbox.is_empty() && kernel_is_free && has_credit,
            Action::KernelSends,
        );
        may(
            self.unmarked.is_some() && self.outbox.is_empty(),
            Action::KernelMarks,
        );
        let calls = matches!(self.hart, Hart::Calls(..));
        may(calls && self.unmarked.is_none(), Action::KernelServes);
        let is_free = !tiles.is_busy(HART);
        match &self.hart {
            Hart::Idle | Hart::Calls(..) => {}
            Hart::Runs(_) => {
                // Without a message to answer it waits for the end of its last command.
                may(self.holds || is_free, Action::Leave);
                may(self.is_asked, Action::Stop);
            }
            Hart::Looked(_) => may(true, Action::GoOn),
            Hart::Sent(_) => may(is_free, Action::GoOn),
            Hart::GivesUp(..) => may(is_free, Action::GoOn),
            Hart::Waits(_, behind_answer) => {
                let is_late = !behind_answer && !is_free;
                let waits = is_late && scenario.keeps(Rule::HartWaitsForConfirmation);
                may(
                    match tiles.interrupts() {
                        true => !waits,
                        false => self.is_asked,
                    },
                    Action::Wake,
                );
            }
        }
        for (number, owner) in self.owners.iter().enumerate() {
            may(
                !owner.waits && owner.done < owner.calls,
                Action::Ask(number),
            );
        }
        // The pause in front of a request that comes again is longer than all that is going on. The bridge's is
        // not, but each try would be a state of its own.
        if actions.is_empty() {
            let again = tiles.again();
            actions.extend(again.map(|(tile, token)| Action::Event(tile, token)));
        }
        if actions.is_empty() {
            let refused = self.owners.iter().position(|owner| owner.is_refused);
            actions.extend(refused.map(Action::AskAgain));
        }
    }

    pub fn act(&mut self, scenario: &Scenario, action: Action) {
        match action {
            Action::Event(tile, token) => self.tiles.event(tile, token),
            Action::Arrive(from) => self.tiles.arrive(from),
            Action::Delay(from) => {
                let packet = self.tiles.delay(from);
                self.late.push(packet);
            }
            Action::ArriveLate => {
                let packet = self.late.remove(0);
                self.tiles.arrive_late(packet);
            }
            Action::Ask(owner) => {
                self.owners[owner].waits = true;
                self.ask(owner);
            }
            Action::AskAgain(owner) => {
                self.owners[owner].is_refused = false;
                self.ask(owner);
            }
            Action::KernelTakes => {
                if let Some(asked) = self.tiles.kernel_takes() {
                    self.host_asks(&asked);
                }
                self.dispatch();
            }
            Action::KernelSends => {
                if let Some(descriptor) = self.outbox.pop_front() {
                    self.tiles.send(KERNEL, &descriptor, false);
                }
            }
            Action::KernelMarks => {
                if let Some(thread) = self.unmarked.take() {
                    self.threads[thread] = Thread::Away;
                    self.hart = Hart::Idle;
                    self.dispatch();
                }
            }
            Action::KernelServes => self.serve(scenario),
            Action::Leave => self.leave(scenario),
            Action::GoOn => self.go_on(scenario),
            Action::Stop => {
                if let Hart::Runs(thread) = self.hart {
                    self.is_asked = false;
                    self.hart = Hart::Calls(thread, Why::Asked);
                }
            }
            Action::Wake => self.wake(),
        }
        for message in self.tiles.take_arrived() {
            self.comes(&message);
        }
    }

    fn ask(&mut self, number: usize) {
        let owner = &self.owners[number];
        let request = call(number, owner.done, owner.endpoint);
        self.tiles.ask(&request);
    }

    /// A message for an owner.
    fn comes(&mut self, message: &Descriptor) {
        let Some(owner) = self.owners.get_mut(message.slot()) else {
            self.is_wrong = true;
            return;
        };
        let is_expected = owner.waits && !owner.is_refused;
        self.is_wrong |= !is_expected || message.activation != u64::from(owner.done);
        let endpoint = std::mem::replace(&mut owner.endpoint, message.endpoint);
        if message.error == Error::Busy as u32 {
            self.was_busy = true;
            self.broke_race_rule |= endpoint == 0 && !owner.asks_again;
            (owner.is_refused, owner.asks_again) = (true, true);
        } else {
            self.is_wrong |= message.error != 0;
            (owner.waits, owner.asks_again) = (false, false);
            owner.done += 1;
        }
    }

    // The kernel hart.

    fn host_asks(&mut self, asked: &Descriptor) {
        let thread = asked.slot();
        match self.threads[thread] {
            Thread::Away => self.threads[thread] = Thread::Ready,
            state => {
                if state == Thread::Running {
                    self.drive_out();
                }
                self.outbox.push_back(Descriptor {
                    kind: DESCRIPTOR_RETURN,
                    endpoint: 0,
                    error: Error::Busy as u32,
                    ..*asked
                });
            }
        }
    }

    fn drive_out(&mut self) {
        self.is_asked = true;
        self.was_asked = true;
    }

    fn dispatch(&mut self) {
        let ready = |threads: &[Thread]| threads.iter().position(|&t| t == Thread::Ready);
        if self.hart == Hart::Idle
            && let Some(thread) = ready(&self.threads)
        {
            self.threads[thread] = Thread::Running;
            self.hart = Hart::Runs(thread);
            self.is_asked = false;
        }
        let are_wanted = ready(&self.threads).is_some();
        if std::mem::replace(&mut self.are_wanted, are_wanted) != are_wanted
            && are_wanted
            && self.is_waiting
        {
            self.drive_out();
        }
    }

    /// Does what the user hart has called for.
    fn serve(&mut self, scenario: &Scenario) {
        let Hart::Calls(thread, why) = std::mem::replace(&mut self.hart, Hart::Idle) else {
            return;
        };
        self.threads[thread] = match why {
            Why::Asked => Thread::Ready,
            Why::Left | Why::Away(_) => Thread::Away,
        };
        match why {
            Why::Asked | Why::Away(None) => {}
            Why::Away(Some(message)) => self.host_asks(&message),
            Why::Left => {
                self.outbox.push_back(self.answer(thread, 0));
                if !scenario.keeps(Rule::KernelMarksFirst) {
                    self.threads[thread] = Thread::Running;
                    self.hart = Hart::Calls(thread, Why::Left);
                    self.unmarked = Some(thread);
                    return;
                }
            }
        }
        self.dispatch();
    }

    /// What says that the call of a thread has returned.
    fn answer(&self, thread: usize, endpoint: u16) -> Descriptor {
        let number = self.owners[thread].done;
        Descriptor {
            kind: DESCRIPTOR_RETURN,
            ..call(thread, number, endpoint as u8)
        }
    }

    // The user hart.

    fn leave(&mut self, scenario: &Scenario) {
        let Hart::Runs(thread) = self.hart else {
            return;
        };
        let has_no_credit = !self.holds && self.tiles.credits(HART) == 0;
        if self.are_wanted || has_no_credit {
            self.hart = Hart::Calls(thread, Why::Left);
        } else if !scenario.keeps(Rule::HartLooksAtOnce) {
            self.hart = Hart::Looked(thread);
        } else {
            self.is_waiting = true;
            self.send(thread, scenario);
        }
    }

    fn send(&mut self, thread: usize, scenario: &Scenario) {
        let answer = self.answer(thread, FIRST_HART_ENDPOINT);
        let is_reply = std::mem::take(&mut self.holds);
        let opens_first = scenario.keeps(Rule::HartOpensFirst);
        if !is_reply && opens_first {
            self.tiles.open();
        }
        self.has_replied |= is_reply;
        self.tiles.send(HART, &answer, is_reply);
        self.hart = match is_reply || opens_first {
            true => Hart::Waits(thread, is_reply),
            false => Hart::Sent(thread),
        };
    }

    fn go_on(&mut self, scenario: &Scenario) {
        match std::mem::replace(&mut self.hart, Hart::Idle) {
            Hart::Looked(thread) => {
                self.is_waiting = true;
                self.send(thread, scenario);
            }
            Hart::Sent(thread) => {
                self.tiles.open();
                self.hart = Hart::Waits(thread, false);
            }
            Hart::GivesUp(thread, mut message) => {
                if message.is_none() && scenario.keeps(Rule::HartClosesFirst) {
                    message = self.tiles.close();
                    self.holds = message.is_some();
                }
                self.hart = Hart::Calls(thread, Why::Away(message));
            }
            other => self.hart = other,
        }
    }

    fn wake(&mut self) {
        let Hart::Waits(thread, _) = self.hart else {
            return;
        };
        self.is_waiting = false;
        if !self.tiles.interrupts() {
            self.is_asked = false;
            self.hart = Hart::GivesUp(thread, None);
            return;
        }
        let message = self.tiles.close();
        self.holds = message.is_some();
        self.hart = match message {
            Some(message) if message.slot() == thread => Hart::Runs(thread),
            message => Hart::GivesUp(thread, message),
        };
    }
}

const _: () = assert!(CARD == 0);
