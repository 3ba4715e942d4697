//! The pipe server (`docs/files.md`): `pipe-server [--name NAME] [--sessions N]`.
//!
//! Requests that wait keep their slots of a gate. So ends of pipes have gates of their own, each with a thread, and
//! more slots than ends. Names come to the service's gate, where no request waits.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

use flick_abi::card::{ProgramStart, rights};
use flick_abi::file_session::{Operation, PIPES as NAME, flags, kind};
use flick_file_servers::calls::{self, Capability, Message, failure_of};
use flick_file_servers::data::{Data, PATH, Pages};
use flick_file_servers::lock::Lock;
use flick_file_servers::options::{Options, text};
use flick_file_servers::program::{Start, fail};
use flick_file_servers::service::{Answer, Event, Sender, Service, answer, answer_at};
use flick_files::{ENDS, Failure, Memory, PIPE_SIZE, PIPES, Pipes, Reply, Side};

/// Ends of a gate, which has 16 slots.
const ENDS_OF_GATE: usize = 11;
const GATES: usize = ENDS.div_ceil(ENDS_OF_GATE);
/// Bytes of a thread's stack.
const STACK: usize = 16 << 10;

/// What the client of an end has: the server's own capabilities, from which they are derived.
#[derive(Clone, Copy)]
struct Given {
    sender: Capability,
    view: Capability,
}

/// What all threads use.
struct State {
    pipes: Pipes,
    given: [Option<Given>; ENDS],
    gates: [Capability; GATES],
    data: Data,
    /// Pipes whose memory has been another one's.
    is_dirty: [bool; PIPES],
}

static STATE: Lock<State> = Lock::new(State {
    pipes: Pipes::new(),
    given: [None; ENDS],
    gates: [0; GATES],
    data: Data(0),
    is_dirty: [false; PIPES],
});

#[repr(align(16))]
struct Stacks(UnsafeCell<[[u8; STACK]; GATES]>);

// SAFETY: each thread has one of them.
unsafe impl Sync for Stacks {}

static STACKS: Stacks = Stacks(UnsafeCell::new([[0; STACK]; GATES]));

const fn gate_of(end: u64) -> usize {
    end as usize / ENDS_OF_GATE
}

fn answer_of(reply: Reply) -> Result<Answer, Failure> {
    match reply {
        Reply::Words(first, second) => answer([first, second]),
        Reply::Piece { offset, length, .. } => answer([offset, length]),
    }
}

impl State {
    fn of_end(&mut self, message: &Message) {
        let end = message.file();
        let gate = gate_of(end);
        let token = (gate as u64) << 8 | message.slot;
        let request = message.request().ok_or(Failure::NoOperation);
        match request.and_then(|request| self.pipes.request(end, &request, token)) {
            // It waits.
            Ok(None) => {}
            Ok(Some(reply)) => answer_at(self.gates[gate], message.slot, answer_of(reply)),
            Err(failure) => answer_at(self.gates[gate], message.slot, Err(failure)),
        }
        self.answer_late();
    }

    fn answer_late(&mut self) {
        while let Some(late) = self.pipes.next_late() {
            self.finish(late.token, late.reply.and_then(answer_of));
        }
    }

    fn finish(&self, token: u64, done: Result<Answer, Failure>) {
        answer_at(self.gates[(token >> 8) as usize], token & 0xff, done);
    }

    /// Opens an end for the client of a session.
    fn open(
        &mut self,
        (session, right): (u8, Capability),
        name: &[u8],
        side: Side,
    ) -> Result<[u64; 3], Failure> {
        let (end, is_new) = self.pipes.open(session, name, side)?;
        let pipe = usize::from(self.pipes.pipe_of(end)?);
        if is_new && core::mem::replace(&mut self.is_dirty[pipe], true) {
            self.data.clear(pipe as u64 * PIPE_SIZE, PIPE_SIZE)?;
        }
        self.give_end((session, right), end, side)
    }

    fn give_end(
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
        let pipe = self.pipes.pipe_of(end).unwrap_or_default();
        let sender = Service::sender_of_file(self.gates[gate_of(end)], end)?;
        let view = calls::view_create(self.data.0).inspect_err(|_| calls::revoke(sender))?;
        self.given[end as usize] = Some(Given { sender, view });
        let rights = match side {
            Side::Reads => rights::READ,
            Side::Writes => rights::WRITE,
        };
        calls::view_set(view, (u64::from(pipe) * PIPE_SIZE, PIPE_SIZE), rights)?;
        Ok([
            calls::session_give(right, sender)?,
            calls::session_give(right, view)?,
        ])
    }

    fn close(&mut self, session: u8, end: u64) -> Result<Answer, Failure> {
        if self.pipes.any_of(session, end) != Some(end) {
            return Err(Failure::BadFile);
        }
        if let Some(given) = self.given[end as usize].take() {
            calls::revoke(given.sender);
            calls::revoke(given.view);
        }
        if let Some(token) = self.pipes.close(session, end)? {
            self.finish(token, Err(Failure::BadFile));
        }
        self.answer_late();
        answer([])
    }
}

/// Serves the ends of a gate.
extern "C" fn serve_gate(gate: u64) -> ! {
    let own = STATE.with(|state| state.gates[gate as usize]);
    loop {
        match calls::gate_receive(own) {
            Ok(message) => STATE.with(|state| state.of_end(&message)),
            Err(error) => fail(format_args!("pipe-server: no request: {}", error.c_name())),
        }
    }
}

fn of_session(
    (session, right): (u8, Capability),
    pages: &mut Pages,
    message: &Message,
) -> Result<Answer, Failure> {
    let [number, a, b, ..] = message.words;
    match Operation::from_number(number).ok_or(Failure::NoOperation)? {
        Operation::Begin => answer([pages.give(session, right)?]),
        Operation::Close => STATE.with(|state| state.close(session, a)),
        Operation::Open => {
            let mut bytes = [0; 2 * PATH as usize];
            let (name, _) = pages.paths(session, &mut bytes, (b, 0))?;
            let side = match a & (flags::READ | flags::WRITE) {
                flags::READ => Side::Reads,
                flags::WRITE => Side::Writes,
                _ => return Err(Failure::Invalid),
            };
            if name.is_empty() {
                return Err(Failure::NotFound);
            }
            let opened = STATE.with(|state| state.open((session, right), name, side));
            let [end, sender, view] = opened?;
            answer([end, sender, view, kind::PIPE])
        }
        Operation::Pipe => STATE.with(|state| {
            let [reader, requests, data] = state.open((session, right), b"", Side::Reads)?;
            let pipe = state.pipes.pipe_of(reader)?;
            let writer = state.pipes.open_end(session, pipe, Side::Writes);
            let given = writer.and_then(|end| state.give_end((session, right), end, Side::Writes));
            let Ok([writer, sender, view]) = given else {
                state.close(session, reader)?;
                return Err(given.err().unwrap_or(Failure::NoMemory));
            };
            answer([reader, requests, data, writer, sender, view])
        }),
        Operation::Share => STATE.with(|state| answer([state.pipes.share(session, a, b)?])),
        Operation::Adopt => STATE.with(|state| {
            let (side, is_shared) = state.pipes.adopt(session, a, b)?;
            let [end, sender, view] = state.give_end((session, right), a, side)?;
            let flags = side as u64 + 1 | if is_shared { flags::SHARED } else { 0 };
            answer([end, sender, view, kind::PIPE, flags])
        }),
        Operation::Ready => STATE.with(|state| answer([state.pipes.ready(session, a)?])),
        _ => Err(Failure::NoOperation),
    }
}

fn end_session(session: u8, pages: &mut Pages) {
    STATE.with(|state| {
        let mut from = 0;
        while let Some(end) = state.pipes.any_of(session, from) {
            let _: Result<Answer, Failure> = state.close(session, end);
            from = end;
        }
    });
    pages.end(session);
}

fn begin(pages: &mut Pages) -> calls::Result<()> {
    pages.begin()?;
    let memory = calls::tile_memory(PIPES as u64 * PIPE_SIZE)?;
    STATE.with(|state| {
        state.data = Data(memory);
        for gate in &mut state.gates {
            *gate = calls::gate_create()?;
        }
        Ok(())
    })?;
    for gate in 0..GATES {
        let end = STACKS.0.get().addr() + (gate + 1) * STACK;
        let entry = serve_gate as extern "C" fn(u64) -> !;
        calls::thread_create((entry as *const ()).addr() as u64, gate as u64, end as u64)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn server_start(record: *const ProgramStart) -> ! {
    // SAFETY: this is the first thread, and the record is the kernel's.
    let start = unsafe { Start::at(record) };
    let options = Options {
        name: NAME,
        size: 0,
        sessions: 0,
        archive: None,
    };
    let options = options.read(start);
    let (mut service, mut pages) = (Service::new(), Pages::new());
    let begun = begin(&mut pages);
    let ticks = start.frequency() / 1000;
    if let Err(error) = begun.and_then(|()| service.begin(options.name, ticks)) {
        let name = text(options.name);
        fail(format_args!(
            "pipe-server: no service {name}: {}",
            error.c_name()
        ));
    }
    loop {
        match service.next_event() {
            Ok(Event::Request(Sender::Session(session), message)) => {
                let right = service.session(session);
                let done =
                    right.and_then(|right| of_session((session, right), &mut pages, &message));
                service.finish(&message, done);
            }
            Ok(Event::Request(Sender::File(_), message)) => {
                service.finish(&message, Err(Failure::BadFile));
            }
            Ok(Event::Ended(session)) => {
                end_session(session, &mut pages);
                if options.sessions > 0 && service.is_done(options.sessions) {
                    calls::end(0);
                }
            }
            Err(error) => fail(format_args!("pipe-server: no message: {}", error.c_name())),
        }
    }
}
