//! All orders in which a unit can ask a pager for a page, and a root can move the page meanwhile. A state of the
//! model has the real units.
//!
//! Tile 0 reads a page through its unit. Hart 0 of tile 1 is the pager, and the memory is there, too. The root moves
//! the page: the pager answers with the new place from then on, the root takes the page away, and uses the old place
//! for something else as soon as `INVALIDATE` reads as 0.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, Header, Invalidation, MemoryEndpoint, Outcome,
    PAGE_SIZE, PageAnswer, PagesEndpoint, ReceiveEndpoint, SendEndpoint,
};
use flick_device::Device;
use flick_device::dtu::{CommandNumber, Dtu, DtuDescription, Packet, PacketKind};
use flick_device::mock::Mock;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model_state::is_soon;
use crate::network::{MEMORY, access, set_up};

/// Endpoints of tile 0, and the pager's.
const PAGES: u16 = 0;
const ASKS: u16 = 1;
const REACHES: u16 = 2;
const SERVES: u16 = 0;
const READER: u16 = 10;
const PAGER: u16 = 20;
/// The page, and the address in it that is read.
const PAGE: u64 = 7 * PAGE_SIZE;
const IN_PAGE: u64 = 0xf00;
/// More packets than are under way at a time.
const MANY: u64 = 34;
/// Where the byte is at first, and then.
const PLACES: [u64; 2] = [MEMORY, MEMORY + 0x40];
const VALUES: [u8; 2] = [0xa0, 0xa1];
const BUFFER: u64 = MEMORY + 0x80;
const LOCAL: u64 = MEMORY;

/// What goes wrong, so that a property must find it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The root takes no page away.
    NotInvalidated,
    /// Answers carry the label that the unit awaits.
    Relabelled,
}

#[derive(Clone, Debug)]
struct Paging {
    reads: usize,
    /// Bytes of a read, each of which is a packet.
    size: u64,
    credits: u16,
    /// Whether the root moves the page.
    moves: bool,
    /// Whether the pager may say that there is no page.
    refuses: bool,
    aborts: u8,
    losses: u8,
    repeats: u8,
    fault: Option<Fault>,
}

const CALM: Paging = Paging {
    reads: 2,
    size: 2,
    credits: 1,
    moves: false,
    refuses: false,
    aborts: 0,
    losses: 0,
    repeats: 0,
    fault: None,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    units: [Dtu; 2],
    arounds: [Mock; 2],
    links: BTreeMap<u16, VecDeque<Packet>>,
    /// A read that runs, and whether it began behind the move.
    reads: Option<bool>,
    /// How reads have ended, with their value.
    ended: Vec<(Error, u8)>,
    /// A read that began behind the move got the old byte.
    got_old: bool,
    is_fetching: bool,
    /// Slots of faults that the pager has not answered.
    fetched: Vec<u8>,
    moved: bool,
    invalidated: bool,
    /// The root has seen that nothing reaches the old place.
    freed: bool,
    roots: u64,
    aborts: u8,
    lost: u8,
    repeated: u8,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Event(usize, u32),
    Arrive(u16),
    Lose(u16),
    Repeat(u16),
    Read,
    Fetch,
    Answer(u8),
    Refuse(u8),
    Move,
    Invalidate,
    Free,
    Abort,
    Resume,
}

impl State {
    fn new(paging: &Paging) -> Self {
        let unit = |tile: u16| {
            Dtu::new(DtuDescription {
                tile,
                endpoints: 3,
                slots: 2,
                message: 64,
                packet: 1,
                command: 0,
                cycle: 1000,
                harts: 1,
                kernel: (tile == 1).then_some(0),
                is_root: false,
            })
            .unwrap()
        };
        let mut around = Mock::with_memory(MEMORY, 0x100);
        around.tiles = (0..2).collect();
        let mut state = Self {
            units: [unit(0), unit(1)],
            arounds: [around.clone(), around],
            links: BTreeMap::new(),
            reads: None,
            ended: vec![],
            got_old: false,
            is_fetching: false,
            fetched: vec![],
            moved: false,
            invalidated: false,
            freed: false,
            roots: 0,
            aborts: 0,
            lost: 0,
            repeated: 0,
        };
        for (place, value) in PLACES.into_iter().zip(VALUES) {
            let start = (place - MEMORY) as usize;
            state.arounds[1].memory[start..start + MANY as usize].fill(value);
        }
        let send = Endpoint::Send(SendEndpoint {
            activity: READER,
            tile: 1,
            endpoint: SERVES,
            receiver: PAGER,
            label: 0,
            credits: paging.credits,
            most_credits: paging.credits,
            log2_message: 6,
        });
        let memory = Endpoint::Memory(MemoryEndpoint {
            activity: READER,
            can_read: true,
            can_write: true,
            tile: 1,
            // The range that is read lies at the first place, if the page does.
            address: MEMORY - IN_PAGE,
            size: 2 * PAGE_SIZE,
        });
        let pages = Endpoint::Pages(PagesEndpoint::new(READER, ASKS));
        let serves = Endpoint::Receive(ReceiveEndpoint::new(PAGER, BUFFER, 6, 2));
        for (tile, number, endpoint) in [
            (0, ASKS, send),
            (0, REACHES, memory),
            (0, PAGES, pages),
            (1, SERVES, serves),
        ] {
            let (unit, around) = (&mut state.units[tile], &mut state.arounds[tile]);
            set_up(unit, around, number, endpoint.words());
        }
        state.write(0, dtu::current(0), READER.into());
        state.write(1, dtu::current(0), PAGER.into());
        state
    }

    fn write(&mut self, tile: usize, offset: u64, value: u64) {
        let (unit, around) = (&mut self.units[tile], &mut self.arounds[tile]);
        access(unit, around, 0, offset, Some(value)).unwrap();
    }

    fn read(&self, tile: usize, offset: u64) -> u64 {
        let (mut unit, mut around) = (self.units[tile].clone(), self.arounds[tile].clone());
        access(&mut unit, &mut around, 0, offset, None).unwrap()
    }

    fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.links.values().flatten()
    }

    fn is_quiet(&self) -> bool {
        let mut events = self
            .arounds
            .iter()
            .flat_map(|around| around.events.values());
        self.packets().next().is_none() && !events.any(|&at| is_soon(at))
    }

    /// The root's request to the unit of tile 0, which takes no time.
    fn of_root(&mut self, kind: impl Fn(CommandNumber) -> PacketKind) -> PacketKind {
        self.roots += 1;
        let command = CommandNumber {
            bank: 60,
            number: self.roots,
        };
        let (from, to, kind) = (1, 0, kind(command));
        let sent = self.arounds[0].sent.len();
        self.units[0].packet(Packet { from, to, kind }, &mut self.arounds[0]);
        // The unit sends the answer before what else follows, or behind that.
        let mut new = self.arounds[0].sent.split_off(sent).into_iter();
        let is_answer = |packet: &Packet| match &packet.kind {
            PacketKind::Done { command, .. } | PacketKind::Data { command, .. } => {
                command.bank == 60
            }
            _ => false,
        };
        let answer = new.find(is_answer).expect("the unit answers");
        self.arounds[0].sent.extend(new);
        answer.kind
    }

    /// Whether the root may use the old place.
    fn may_free(&mut self) -> bool {
        let answer = self.of_root(|command| PacketKind::ReadRegisters {
            command,
            part: 0,
            register: dtu::INVALIDATE,
            size: 8,
        });
        matches!(answer, PacketKind::Data { bytes, .. } if bytes == [0; 8])
    }

    /// The pager answers.
    fn reply(&mut self, slot: u8, answer: PageAnswer) {
        let bytes = answer.bytes();
        let start = 0x40 + MANY as usize - 2;
        let at = LOCAL + start as u64;
        let memory = &mut self.arounds[1].memory;
        let before = memory[start..start + bytes.len()].to_vec();
        memory[start..start + bytes.len()].copy_from_slice(&bytes);
        self.write(1, dtu::ADDRESS, at);
        self.write(1, dtu::SIZE, bytes.len() as u64);
        let word = CommandWord::new(Command::Reply, SERVES).with_slot(slot);
        self.write(1, dtu::COMMAND, word.bits());
        self.arounds[1].memory[start..start + before.len()].copy_from_slice(&before);
        self.fetched.retain(|&other| other != slot);
    }

    fn transmit(&mut self, fault: Option<Fault>) {
        for tile in 0..2 {
            for packet in std::mem::take(&mut self.arounds[tile].sent) {
                self.links.entry(packet.to).or_default().push_back(packet);
            }
        }
        if fault == Some(Fault::Relabelled) {
            let awaited = self.read(0, dtu::endpoint_word(PAGES, 2));
            let packets = self.links.values_mut().flatten();
            for packet in packets.filter(|packet| packet.to == 0) {
                if let PacketKind::Message(_, message) = &mut packet.kind {
                    let label = awaited;
                    let header = Header::from_bytes(&message.header);
                    message.header = Header { label, ..header }.bytes();
                }
            }
        }
    }

    /// Takes note of commands that have ended.
    fn observe(&mut self) {
        let outcome = Outcome::from_bits(self.read(0, dtu::RESULT)).result();
        if let Some(is_behind) = self.reads
            && self.read(0, dtu::COMMAND) == 0
        {
            self.reads = None;
            let value = self.arounds[0].memory[0];
            self.ended
                .push((outcome.err().unwrap_or(Error::None), value));
            self.got_old |= is_behind && outcome.is_ok() && value == VALUES[0];
        }
        if self.is_fetching && self.read(1, dtu::COMMAND) == 0 {
            self.is_fetching = false;
            let found = Outcome::from_bits(self.read(1, dtu::RESULT)).result();
            if let Ok(address @ 1..) = found {
                self.fetched.push(((address - BUFFER) / 64) as u8);
            }
        }
    }

    fn is_enabled(&self) -> bool {
        self.read(0, dtu::ENABLE) & 1 != 0
    }

    /// All rests, and the pager has answered everything.
    fn rests(&self) -> bool {
        let has_answered = self.fetched.is_empty() && self.read(1, dtu::EVENTS) == 0;
        let mut arounds = self.arounds.iter();
        has_answered
            && self.packets().next().is_none()
            && arounds.all(|around| around.events.is_empty())
    }
}

const NO_STALE_ACCESS: &str = "nothing reaches a page that was taken away";
const ENDS: &str = "commands and aborts end";

impl Model for Paging {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let is_quiet = state.is_quiet();
        for (tile, around) in state.arounds.iter().enumerate() {
            let events = around.events.iter();
            let events = events.filter(|&(_, &at)| is_soon(at) || is_quiet);
            actions.extend(events.map(|(&token, _)| Action::Event(tile, token)));
        }
        let mut may = |does: bool, action| actions.extend(does.then_some(action));
        for (&to, _) in state.links.iter().filter(|(_, link)| !link.is_empty()) {
            may(true, Action::Arrive(to));
            may(state.lost < self.losses, Action::Lose(to));
            may(state.repeated < self.repeats, Action::Repeat(to));
        }
        let is_enabled = state.is_enabled();
        let may_read = state.reads.is_none() && state.ended.len() < self.reads;
        may(may_read && is_enabled, Action::Read);
        let is_idle = state.read(1, dtu::COMMAND) == 0;
        may(is_idle && state.read(1, dtu::EVENTS) != 0, Action::Fetch);
        for &slot in state.fetched.iter().filter(|_| is_idle) {
            may(true, Action::Answer(slot));
            may(self.refuses, Action::Refuse(slot));
        }
        may(self.moves && !state.moved, Action::Move);
        let invalidates = self.fault != Some(Fault::NotInvalidated);
        may(
            state.moved && !state.invalidated && invalidates,
            Action::Invalidate,
        );
        let may_free = state.invalidated || state.moved && !invalidates;
        may(may_free && !state.freed, Action::Free);
        may(is_enabled && state.aborts < self.aborts, Action::Abort);
        may(
            !is_enabled && state.read(0, dtu::ABORT) == 0,
            Action::Resume,
        );
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action.clone() {
            Action::Event(tile, token) => {
                state.arounds[tile].events.remove(&token);
                state.units[tile].event(token, &mut state.arounds[tile]);
            }
            Action::Arrive(to) | Action::Lose(to) | Action::Repeat(to) => {
                let link = state.links.get_mut(&to).unwrap();
                let packet = link.pop_front().unwrap();
                state.lost += u8::from(matches!(action, Action::Lose(_)));
                if let Action::Repeat(_) = action {
                    state.repeated += 1;
                    link.push_back(packet.clone());
                }
                if !matches!(action, Action::Lose(_)) {
                    let tile = usize::from(to);
                    state.units[tile].packet(packet, &mut state.arounds[tile]);
                }
            }
            Action::Read => {
                state.arounds[0].memory.fill(0);
                for (register, value) in [
                    (dtu::ADDRESS, LOCAL),
                    (dtu::SIZE, self.size),
                    (dtu::OFFSET, PAGE + IN_PAGE),
                ] {
                    state.write(0, register, value);
                }
                state.reads = Some(state.freed);
                let word = CommandWord::new(Command::Read, PAGES);
                state.write(0, dtu::COMMAND, word.bits());
            }
            Action::Fetch => {
                state.is_fetching = true;
                let word = CommandWord::new(Command::Fetch, SERVES);
                state.write(1, dtu::COMMAND, word.bits());
            }
            Action::Answer(slot) => {
                let place = PLACES[usize::from(state.moved)];
                let answer = PageAnswer {
                    memory: REACHES,
                    can_read: true,
                    offset: place - MEMORY,
                    ..PageAnswer::default()
                };
                state.reply(slot, answer);
            }
            Action::Refuse(slot) => {
                let error = 1;
                state.reply(
                    slot,
                    PageAnswer {
                        error,
                        ..PageAnswer::default()
                    },
                );
            }
            Action::Move => state.moved = true,
            Action::Invalidate => {
                state.invalidated = true;
                let page = Some(PAGE);
                let endpoint = PAGES as u8;
                let bits = Invalidation { endpoint, page }.bits();
                state.of_root(|command| PacketKind::WriteRegisters {
                    command,
                    part: 0,
                    register: dtu::INVALIDATE,
                    bytes: bits.to_le_bytes().into(),
                });
            }
            Action::Free if state.may_free() => state.freed = true,
            Action::Free => return None,
            Action::Abort => {
                state.aborts += 1;
                state.write(0, dtu::ABORT, 0);
            }
            Action::Resume => state.write(0, dtu::ENABLE, 1),
        }
        state.transmit(self.fault);
        state.observe();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(NO_STALE_ACCESS, |paging: &Self, state: &State| {
                let is_old = |packet: &Packet| match packet.kind {
                    PacketKind::Read { address, .. } => address < PLACES[1],
                    _ => false,
                };
                // A packet that links repeat may come behind its end, and is answered to nobody.
                let is_reached = state.freed && state.packets().any(is_old);
                !state.got_old && (!is_reached || paging.repeats > 0)
            }),
            Property::always(ENDS, |_, state: &State| {
                let has_ended = state.reads.is_none() && state.read(0, dtu::ABORT) == 0;
                !state.rests() || has_ended
            }),
            Property::always("credits come back", |paging: &Self, state: &State| {
                let words = [0, 1, 2, 3].map(|word| state.read(0, dtu::endpoint_word(ASKS, word)));
                let Some(Endpoint::Send(send)) = Endpoint::from_words(words) else {
                    return false;
                };
                send.credits <= paging.credits && (!state.rests() || send.credits == paging.credits)
            }),
            Property::always(
                "a read has one place's bytes",
                |paging: &Self, state: &State| {
                    let read = &state.arounds[0].memory[..paging.size as usize];
                    let is_whole = VALUES
                        .iter()
                        .any(|value| read.iter().all(|byte| byte == value));
                    let ended = state.reads.is_none().then(|| state.ended.last()).flatten();
                    !matches!(ended, Some((Error::None, _))) || is_whole
                },
            ),
            Property::sometimes("all is read", |paging: &Self, state: &State| {
                let is_read = |&(error, _): &(Error, u8)| error == Error::None;
                state.ended.len() == paging.reads && state.ended.iter().all(is_read)
            }),
        ];
        let mut happens = |does: bool, what, when: fn(&Self, &State) -> bool| {
            if does {
                properties.push(Property::sometimes(what, when));
            }
        };
        happens(self.refuses, "there is no page", |_, state| {
            has_ended(state, Error::NoPage)
        });
        let may_abort = self.aborts > 0 || self.moves;
        happens(may_abort, "a read is aborted", |_, state| {
            has_ended(state, Error::Aborted)
        });
        happens(self.moves, "the moved page is read", |_, state| {
            state.freed && state.ended.contains(&(Error::None, VALUES[1]))
        });
        properties
    }
}

fn has_ended(state: &State, error: Error) -> bool {
    state.ended.iter().any(|&(other, _)| other == error)
}

fn check(paging: Paging) -> usize {
    let checker = paging.checker().spawn_bfs().join();
    checker.assert_properties();
    println!("{} states", checker.unique_state_count());
    checker.unique_state_count()
}

#[test]
fn a_page_is_read() {
    check(CALM);
    check(Paging {
        refuses: true,
        aborts: 1,
        ..CALM
    });
}

#[test]
fn a_page_is_moved() {
    let paging = Paging {
        moves: true,
        credits: 2,
        reads: 3,
        ..CALM
    };
    assert!(check(paging.clone()) > 500);
    check(Paging {
        credits: 1,
        ..paging.clone()
    });
    check(Paging {
        aborts: 1,
        reads: 2,
        ..paging.clone()
    });
    // The page is taken away while more packets are to be sent.
    check(Paging {
        size: MANY,
        reads: 2,
        ..paging
    });
}

#[test]
fn links_lose_and_repeat() {
    check(Paging { losses: 1, ..CALM });
    check(Paging { repeats: 1, ..CALM });
}

#[test]
fn faults_are_found() {
    for fault in [Fault::NotInvalidated, Fault::Relabelled] {
        let paging = Paging {
            moves: true,
            credits: 2,
            reads: 3,
            fault: Some(fault),
            ..CALM
        };
        let wanted = HasDiscoveries::AllOf(BTreeSet::from([NO_STALE_ACCESS]));
        let checker = paging.checker().finish_when(wanted).spawn_bfs().join();
        checker.assert_any_discovery(NO_STALE_ACCESS);
    }
}
