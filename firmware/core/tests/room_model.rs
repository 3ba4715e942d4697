//! A model of waits for room in a mailbox. The receiver's hart frees slots without the kernel hart, and a
//! sender that finds none waits at the kernel hart. All orders of their atomic steps are tried: no sender
//! waits beside room that it will not hear of.
use stateright::{Checker, Model, Property};

/// The smallest mailbox: no other message brings the word later.
const ROOM: u8 = 1;

/// A sender, and its kernel hart for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sender {
    Sends,
    /// The unit has refused its message.
    Refused,
    /// The kernel hart has said that room is wanted.
    Wanted,
    /// It waits for the word that there is room.
    Waits,
}

/// The receiver's hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Receiver {
    Takes,
    /// It has freed a slot.
    Freed,
    /// It has seen that room is wanted, and calls the kernel hart.
    Calls,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    occupied: u8,
    is_wanted: bool,
    senders: [Sender; 2],
    receiver: Receiver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Sender(usize),
    Receiver,
}

/// A fault on purpose: an order of steps that loses the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The kernel hart looks for room, and says then that it is wanted.
    LooksFirst,
    /// The receiver looks whether room is wanted, and frees its slot then.
    FreesLast,
}

struct Mailbox(Fault);

impl State {
    /// The kernel hart does one thing after the other.
    fn kernel_is_busy(&self) -> bool {
        self.senders.contains(&Sender::Wanted)
    }
}

impl Mailbox {
    fn sender(&self, s: &mut State, n: usize) -> Option<()> {
        let is_full = s.occupied == ROOM;
        if s.senders[n] == Sender::Refused && s.kernel_is_busy() {
            return None;
        }
        s.senders[n] = match (s.senders[n], self.0) {
            (Sender::Sends, _) if is_full => Sender::Refused,
            (Sender::Sends, _) => {
                s.occupied += 1;
                Sender::Sends
            }
            (Sender::Refused, Fault::LooksFirst) if !is_full => Sender::Sends,
            (Sender::Refused, Fault::LooksFirst) => Sender::Wanted,
            (Sender::Wanted, Fault::LooksFirst) => {
                s.is_wanted = true;
                Sender::Waits
            }
            (Sender::Refused, _) => {
                s.is_wanted = true;
                Sender::Wanted
            }
            (Sender::Wanted, _) if is_full => Sender::Waits,
            (Sender::Wanted, _) => Sender::Sends,
            (Sender::Waits, _) => return None,
        };
        Some(())
    }

    fn receiver(&self, s: &mut State) -> Option<()> {
        let frees_last = self.0 == Fault::FreesLast;
        s.receiver = match s.receiver {
            Receiver::Takes if s.occupied == 0 => return None,
            Receiver::Takes => {
                if frees_last {
                    let calls = core::mem::take(&mut s.is_wanted);
                    match calls {
                        true => Receiver::Calls,
                        false => Receiver::Freed,
                    }
                } else {
                    s.occupied -= 1;
                    Receiver::Freed
                }
            }
            Receiver::Freed if frees_last => {
                s.occupied -= 1;
                Receiver::Takes
            }
            Receiver::Freed => match core::mem::take(&mut s.is_wanted) {
                true => Receiver::Calls,
                false => Receiver::Takes,
            },
            Receiver::Calls if s.kernel_is_busy() => return None,
            Receiver::Calls => {
                s.occupied -= u8::from(frees_last);
                let waits = s.senders.iter_mut().filter(|s| **s == Sender::Waits);
                waits.for_each(|sender| *sender = Sender::Sends);
                Receiver::Takes
            }
        };
        Some(())
    }
}

impl Model for Mailbox {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            occupied: 0,
            is_wanted: false,
            senders: [Sender::Sends; 2],
            receiver: Receiver::Takes,
        }]
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        actions.extend([Step::Sender(0), Step::Sender(1), Step::Receiver]);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        match step {
            Step::Sender(n) => self.sender(&mut next, n)?,
            Step::Receiver => self.receiver(&mut next)?,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            // The receiver's next message brings the word, if there is one.
            Property::always("no sender waits beside room", |_, s: &State| {
                let waits = s.senders.contains(&Sender::Waits);
                let will_look = s.is_wanted && (s.occupied > 0 || s.receiver == Receiver::Freed);
                let will_tell = will_look || s.receiver == Receiver::Calls;
                !waits || will_tell
            }),
            Property::sometimes("a sender waits", |_, s: &State| {
                s.senders.contains(&Sender::Waits)
            }),
        ]
    }
}

fn check(fault: Fault) -> impl Checker<Mailbox> {
    Mailbox(fault).checker().spawn_bfs().join()
}

#[test]
fn senders_hear_of_room() {
    check(Fault::None).assert_properties();
}

#[test]
fn orders_that_lose_the_word_are_found() {
    for fault in [Fault::LooksFirst, Fault::FreesLast] {
        let found = check(fault).discovery("no sender waits beside room");
        assert!(found.is_some(), "{fault:?}");
    }
}
