//! The pipe server (`docs/files.md`): `pipe-server [--name NAME] [--sessions N]`.
#![no_std]
#![no_main]

use flick_abi::card::ProgramStart;
use flick_abi::file_protocol::Request;
use flick_abi::file_session::{Operation, PIPES as NAME, kind};
use flick_file_servers::calls::{Capability, Message};
use flick_file_servers::data::{PATH, Pages};
use flick_file_servers::ends::{self, ENDS_OF_GATE, Ends, Stacks, Table, side_of};
use flick_file_servers::lock::Lock;
use flick_file_servers::options::{Options, text};
use flick_file_servers::program::{Start, fail};
use flick_file_servers::service::{Answer, Service, answer};
use flick_files::{ENDS, Failure, Late, Memory, PIPE_SIZE, PIPES, Pipes, Reply, Side};

struct Own {
    pipes: Pipes,
    /// Pipes whose memory has been another one's.
    is_dirty: [bool; PIPES],
}

impl Table for Own {
    const KIND: u64 = kind::PIPE;
    const SIZE: u64 = PIPES as u64 * PIPE_SIZE;
    const GATES: usize = ENDS.div_ceil(ENDS_OF_GATE);
    const HIDES: bool = false;

    fn memory_of(&mut self, end: u64) -> Result<(u64, u64), Failure> {
        let pipe = self.pipes.pipe_of(end)?;
        Ok((u64::from(pipe) * PIPE_SIZE, PIPE_SIZE))
    }

    fn request(
        &mut self,
        end: u64,
        request: &Request,
        token: u64,
    ) -> Result<Option<Reply>, Failure> {
        self.pipes.request(end, request, token)
    }

    fn next_late(&mut self) -> Option<Late> {
        self.pipes.next_late()
    }

    fn close(&mut self, session: u8, end: u64) -> Result<Option<u64>, Failure> {
        self.pipes.close(session, end)
    }

    fn any_of(&self, session: u8, from: u64) -> Option<u64> {
        self.pipes.any_of(session, from)
    }

    fn share(&mut self, session: u8, end: u64, key: u64) -> Result<u64, Failure> {
        self.pipes.share(session, end, key)
    }

    fn adopt(&mut self, session: u8, end: u64, key: u64) -> Result<(Side, bool), Failure> {
        self.pipes.adopt(session, end, key)
    }

    fn ready(&mut self, session: u8, end: u64) -> Result<u64, Failure> {
        self.pipes.ready(session, end)
    }
}

static STATE: Lock<Ends<Own>> = Lock::new(Ends::new(Own {
    pipes: Pipes::new(),
    is_dirty: [false; PIPES],
}));

static STACKS: Stacks = Stacks::new();

extern "C" fn serve_gate(gate: u64) -> ! {
    ends::serve_gate(&STATE, gate)
}

/// Opens an end for the client of a session.
fn open(
    state: &mut Ends<Own>,
    (session, right): (u8, Capability),
    name: &[u8],
    side: Side,
) -> Result<[u64; 3], Failure> {
    let (end, is_new) = state.table.pipes.open(session, name, side)?;
    let pipe = usize::from(state.table.pipes.pipe_of(end)?);
    if is_new && core::mem::replace(&mut state.table.is_dirty[pipe], true) {
        state.data.clear(pipe as u64 * PIPE_SIZE, PIPE_SIZE)?;
    }
    state.give_end((session, right), end, side)
}

fn of_session(
    client: (u8, Capability),
    pages: &Pages,
    message: &Message,
) -> Result<Answer, Failure> {
    let [number, a, b, ..] = message.words;
    match Operation::from_number(number).ok_or(Failure::NoOperation)? {
        Operation::Open => {
            let mut bytes = [0; 2 * PATH as usize];
            let (name, _) = match message.paths((b, 0))? {
                Some(paths) => paths,
                None => pages.paths(client.0, &mut bytes, (b, 0))?,
            };
            let side = side_of(a)?;
            if name.is_empty() {
                return Err(Failure::NotFound);
            }
            let [end, sender, view] = STATE.with(|state| open(state, client, name, side))?;
            answer([end, sender, view, kind::PIPE])
        }
        Operation::Pipe => STATE.with(|state| {
            let [reader, requests, data] = open(state, client, b"", Side::Reads)?;
            let pipe = state.table.pipes.pipe_of(reader)?;
            let writer = state.table.pipes.open_end(client.0, pipe, Side::Writes);
            let given = writer.and_then(|end| state.give_end(client, end, Side::Writes));
            let Ok([writer, sender, view]) = given else {
                state.close(client.0, reader)?;
                return Err(given.err().unwrap_or(Failure::NoMemory));
            };
            answer([reader, requests, data, writer, sender, view])
        }),
        _ => Err(Failure::NoOperation),
    }
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
    let begun = pages.begin();
    let begun = begun.and_then(|()| ends::begin(&STATE, &STACKS, serve_gate));
    let ticks = start.frequency() / 1000;
    if let Err(error) = begun.and_then(|()| service.begin(options.name, ticks)) {
        let name = text(options.name);
        fail(format_args!(
            "pipe-server: no service {name}: {}",
            error.c_name()
        ));
    }
    ends::serve_names(
        &STATE,
        (&mut service, &mut pages),
        options.sessions,
        of_session,
    )
}
