//! Servers whose requests may wait, as those of pipes and of a terminal.
//!
//! Requests that wait keep their slots of a gate. So ends have gates of their own, each with a thread, and more slots
//! than ends. Names come to the service's gate, where no request waits.
use core::cell::UnsafeCell;

use flick_abi::card::rights;
use flick_abi::file_protocol::Request;
use flick_abi::file_session::{Operation, flags};
use flick_files::{Failure, Late, Reply, Side};

use crate::calls::{self, Capability, Message, failure_of};
use crate::data::{Data, Pages};
use crate::lock::Lock;
use crate::program::fail;
use crate::service::{Answer, Event, Sender, Service, answer, answer_at};

/// Ends of a gate, which has 16 slots.
pub const ENDS_OF_GATE: usize = 11;
/// Ends of a server at most.
const MOST_ENDS: usize = GATES * ENDS_OF_GATE;
/// Gates at most.
pub const GATES: usize = 3;
/// Bytes of a thread's stack.
const STACK: usize = 16 << 10;

/// What a server keeps of its ends.
pub trait Table {
    /// What an end is for who opens it.
    const KIND: u64;
    /// Bytes of memory.
    const SIZE: u64;
    /// Gates that it needs.
    const GATES: usize;
    /// A client of the reading side sees its piece alone, and not the memory of its end.
    const HIDES: bool;

    /// The memory that an end may show.
    fn memory_of(&mut self, end: u64) -> Result<(u64, u64), Failure>;
    /// Executes a request. `None`: it waits.
    fn request(
        &mut self,
        end: u64,
        request: &Request,
        token: u64,
    ) -> Result<Option<Reply>, Failure>;
    /// What a request has left to be done in front of its answer.
    fn work(&mut self, data: &Data) {
        let _: &Data = data;
    }
    /// A request that waits no more.
    fn next_late(&mut self) -> Option<Late>;
    /// The token of a request that waits is returned.
    fn close(&mut self, session: u8, end: u64) -> Result<Option<u64>, Failure>;
    /// An end of a session, at a number or behind it.
    fn any_of(&self, session: u8, from: u64) -> Option<u64>;
    /// Another end for somebody else.
    fn share(&mut self, session: u8, end: u64, key: u64) -> Result<u64, Failure>;
    /// Its side, and whether the side has others.
    fn adopt(&mut self, session: u8, end: u64, key: u64) -> Result<(Side, bool), Failure>;
    /// What would not wait.
    fn ready(&mut self, session: u8, end: u64) -> Result<u64, Failure>;
}

/// What the client of an end has: the server's own capabilities, from which they are derived.
#[derive(Clone, Copy, Debug)]
struct Given {
    sender: Capability,
    view: Capability,
}

/// What all threads use.
#[derive(Debug)]
pub struct Ends<T> {
    /// The ends.
    pub table: T,
    given: [Option<Given>; MOST_ENDS],
    gates: [Capability; GATES],
    /// The memory.
    pub data: Data,
}

/// Its threads' stacks.
#[repr(align(16))]
#[derive(Debug)]
pub struct Stacks(UnsafeCell<[[u8; STACK]; GATES]>);

// SAFETY: each thread has one of them.
unsafe impl Sync for Stacks {}

impl Stacks {
    /// They are 0.
    pub const fn new() -> Self {
        Self(UnsafeCell::new([[0; STACK]; GATES]))
    }

    /// Starts a thread with one of them, which nobody else takes.
    ///
    /// # Errors
    /// The kernel's.
    pub fn start(
        &self,
        place: usize,
        entry: extern "C" fn(u64) -> !,
        argument: u64,
    ) -> calls::Result<()> {
        let end = self.0.get().addr() + (place + 1) * STACK;
        calls::thread_create((entry as *const ()).addr() as u64, argument, end as u64)
    }
}

impl Default for Stacks {
    fn default() -> Self {
        Self::new()
    }
}

const fn gate_of(end: u64) -> usize {
    end as usize / ENDS_OF_GATE
}

impl<T: Table> Ends<T> {
    /// None is open.
    pub const fn new(table: T) -> Self {
        Self {
            table,
            given: [None; MOST_ENDS],
            gates: [0; GATES],
            data: Data(0),
        }
    }

    fn of_end(&mut self, message: &Message) {
        let end = message.file();
        let gate = gate_of(end);
        let token = (gate as u64) << 8 | message.slot;
        let request = message.request().ok_or(Failure::NoOperation);
        let done = request.and_then(|request| self.table.request(end, &request, token));
        self.table.work(&self.data);
        match done {
            // It waits.
            Ok(None) => self.show(end, (0, 0), 0),
            Ok(Some(reply)) => {
                let done = self.answer_of(end, reply);
                answer_at(self.gates[gate], message.slot, done);
            }
            Err(failure) => answer_at(self.gates[gate], message.slot, Err(failure)),
        }
        self.answer_late();
    }

    fn answer_of(&mut self, end: u64, reply: Reply) -> Result<Answer, Failure> {
        match reply {
            Reply::Words(first, second) => answer([first, second]),
            Reply::Piece {
                offset,
                length,
                rights: rights::READ,
            } if T::HIDES => {
                let (start, _) = self.table.memory_of(end)?;
                self.show(end, (start + offset, length), rights::READ);
                answer([0, length])
            }
            Reply::Piece { offset, length, .. } => answer([offset, length]),
        }
    }

    /// What the client of a reading end reaches from now on.
    fn show(&self, end: u64, range: (u64, u64), rights: u64) {
        if let Some(Some(given)) = self.given.get(end as usize)
            && T::HIDES
            && let Err(error) = calls::view_set(given.view, range, rights)
        {
            fail(format_args!("server: a view stays: {}", error.c_name()));
        }
    }

    /// Answers requests that wait no more.
    pub fn answer_late(&mut self) {
        while let Some(late) = self.table.next_late() {
            let done = late.reply.and_then(|reply| self.answer_of(late.end, reply));
            self.finish(late.token, done);
        }
    }

    fn finish(&self, token: u64, done: Result<Answer, Failure>) {
        answer_at(self.gates[(token >> 8) as usize], token & 0xff, done);
    }

    /// Gives an end that is open to the client of a session: its number and two capabilities.
    ///
    /// # Errors
    /// There is no place for these. Then it is closed.
    pub fn give_end(
        &mut self,
        (session, right): (u8, Capability),
        end: u64,
        side: Side,
    ) -> Result<[u64; 3], Failure> {
        let given = self.give(right, end, side);
        if given.is_err() {
            self.close(session, end)?;
        }
        let [sender, view] = given.map_err(failure_of)?;
        // Others may have waited for it.
        self.answer_late();
        Ok([end, sender, view])
    }

    fn give(&mut self, right: Capability, end: u64, side: Side) -> calls::Result<[u64; 2]> {
        let range = self.table.memory_of(end).unwrap_or_default();
        let sender = Service::sender_of_file(self.gates[gate_of(end)], end)?;
        let view = calls::view_create(self.data.0).inspect_err(|_| calls::revoke(sender))?;
        self.given[end as usize] = Some(Given { sender, view });
        match side {
            Side::Reads if T::HIDES => {}
            Side::Reads => calls::view_set(view, range, rights::READ)?,
            Side::Writes => calls::view_set(view, range, rights::WRITE)?,
        }
        Ok([
            calls::session_give(right, sender)?,
            calls::session_give(right, view)?,
        ])
    }

    /// Closes an end.
    ///
    /// # Errors
    /// The session has no such end.
    pub fn close(&mut self, session: u8, end: u64) -> Result<Answer, Failure> {
        if self.table.any_of(session, end) != Some(end) {
            return Err(Failure::BadFile);
        }
        if let Some(given) = self.given[end as usize].take() {
            calls::revoke(given.sender);
            calls::revoke(given.view);
        }
        if let Some(token) = self.table.close(session, end)? {
            self.finish(token, Err(Failure::BadFile));
        }
        self.table.work(&self.data);
        self.answer_late();
        answer([])
    }

    fn adopt(
        &mut self,
        (session, right): (u8, Capability),
        end: u64,
        key: u64,
    ) -> Result<Answer, Failure> {
        let (side, is_shared) = self.table.adopt(session, end, key)?;
        let [end, sender, view] = self.give_end((session, right), end, side)?;
        let shared = if is_shared { flags::SHARED } else { 0 };
        answer([end, sender, view, T::KIND, (side as u64 + 1) | shared])
    }
}

/// The side of what a client opens.
///
/// # Errors
/// It is none, or both.
pub fn side_of(how: u64) -> Result<Side, Failure> {
    match how & (flags::READ | flags::WRITE) {
        flags::READ => Ok(Side::Reads),
        flags::WRITE => Ok(Side::Writes),
        _ => Err(Failure::Invalid),
    }
}

/// Serves the ends of a gate.
pub fn serve_gate<T: Table>(ends: &Lock<Ends<T>>, gate: u64) -> ! {
    let own = ends.with(|ends| ends.gates[gate as usize]);
    loop {
        match calls::gate_receive(own) {
            Ok(message) => ends.with(|ends| ends.of_end(&message)),
            Err(error) => fail(format_args!("server: no request: {}", error.c_name())),
        }
    }
}

/// Takes memory and gates, and starts a thread for each gate.
///
/// # Errors
/// The kernel's.
pub fn begin<T: Table>(
    ends: &Lock<Ends<T>>,
    stacks: &'static Stacks,
    entry: extern "C" fn(u64) -> !,
) -> calls::Result<()> {
    let memory = calls::tile_memory(T::SIZE)?;
    ends.with(|ends| {
        ends.data = Data(memory);
        for gate in &mut ends.gates[..T::GATES] {
            *gate = calls::gate_create()?;
        }
        Ok(())
    })?;
    (0..T::GATES).try_for_each(|gate| stacks.start(gate, entry, gate as u64))
}

/// Serves names, of which `open` executes what is the server's own.
pub fn serve_names<T: Table>(
    ends: &Lock<Ends<T>>,
    (service, pages): (&mut Service, &mut Pages),
    sessions: u64,
    mut open: impl FnMut((u8, Capability), &Pages, &Message) -> Result<Answer, Failure>,
) -> ! {
    loop {
        match service.next_event() {
            Ok(Event::Request(Sender::Session(session), message)) => {
                let done = service.session(session).and_then(|right| {
                    let client = (session, right);
                    let [number, a, b, ..] = message.words;
                    match Operation::from_number(number).ok_or(Failure::NoOperation)? {
                        Operation::Begin => answer([pages.give(session, right)?]),
                        Operation::Close => ends.with(|ends| ends.close(session, a)),
                        Operation::Share => {
                            ends.with(|ends| answer([ends.table.share(session, a, b)?]))
                        }
                        Operation::Adopt => ends.with(|ends| ends.adopt(client, a, b)),
                        Operation::Ready => {
                            ends.with(|ends| answer([ends.table.ready(session, a)?]))
                        }
                        _ => open(client, pages, &message),
                    }
                });
                service.finish(&message, done);
            }
            Ok(Event::Request(Sender::File(_), message)) => {
                service.finish(&message, Err(Failure::BadFile));
            }
            Ok(Event::Ended(session)) => {
                ends.with(|ends| {
                    let mut from = 0;
                    while let Some(end) = ends.table.any_of(session, from) {
                        let _: Result<Answer, Failure> = ends.close(session, end);
                        from = end;
                    }
                });
                pages.end(session);
                if sessions > 0 && service.is_done(sessions) {
                    calls::end(0);
                }
            }
            Err(error) => fail(format_args!("server: no message: {}", error.c_name())),
        }
    }
}
