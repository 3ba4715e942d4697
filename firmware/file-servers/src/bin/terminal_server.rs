//! The terminal server (`docs/files.md`): `terminal-server [--name NAME] [--sessions N]`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use flick_abi::card::ProgramStart;
use flick_abi::file_protocol::Request;
use flick_abi::file_session::{Operation, TERMINAL as NAME, kind};
use flick_file_servers::calls::{self, Capability, Message};
use flick_file_servers::data::{Data, PATH, Pages};
use flick_file_servers::ends::{self, Ends, GATES, Stacks, Table, side_of};
use flick_file_servers::lock::Lock;
use flick_file_servers::options::{Options, text};
use flick_file_servers::program::{Start, fail};
use flick_file_servers::service::{Answer, Service, answer};
use flick_files::{
    Failure, Late, Memory, OUTPUT_SIZE, Output, Reply, Side, TERMINAL_SIZE, Terminal,
};

/// Bytes that are read from the console at once. A line that is typed is less.
const PART: usize = 256;

struct Own(Terminal);

impl Table for Own {
    const KIND: u64 = kind::TERMINAL;
    const SIZE: u64 = TERMINAL_SIZE;
    const GATES: usize = 1;
    // What was typed for others is not to be seen.
    const HIDES: bool = true;

    fn memory_of(&mut self, end: u64) -> Result<(u64, u64), Failure> {
        self.0.memory_of(end)
    }

    fn request(
        &mut self,
        end: u64,
        request: &Request,
        token: u64,
    ) -> Result<Option<Reply>, Failure> {
        let done = self.0.request(end, request, token);
        ask_for_input(&self.0);
        done
    }

    fn work(&mut self, data: &Data) {
        static BUFFER: Lock<[u8; OUTPUT_SIZE as usize]> = Lock::new([0; OUTPUT_SIZE as usize]);
        while let Some(Output { offset, length }) = self.0.take_output() {
            BUFFER.with(|buffer| {
                let part = &mut buffer[..length as usize];
                if calls::load(data.0, offset, part).is_ok() {
                    calls::console_write(part);
                }
            });
        }
    }

    fn next_late(&mut self) -> Option<Late> {
        self.0.next_late()
    }

    fn close(&mut self, session: u8, end: u64) -> Result<Option<u64>, Failure> {
        self.0.close(session, end)
    }

    fn any_of(&self, session: u8, from: u64) -> Option<u64> {
        self.0.any_of(session, from)
    }

    fn share(&mut self, session: u8, end: u64, key: u64) -> Result<u64, Failure> {
        self.0.share(session, end, key)
    }

    fn adopt(&mut self, session: u8, end: u64, key: u64) -> Result<(Side, bool), Failure> {
        // Lines are for who asks first, and what others write has buffers of its own.
        Ok((self.0.adopt(session, end, key)?, true))
    }

    fn ready(&mut self, session: u8, end: u64) -> Result<u64, Failure> {
        self.0.ready(session, end)
    }
}

static STATE: Lock<Ends<Own>> = Lock::new(Ends::new(Own(Terminal::new())));
static STACKS: Stacks = Stacks::new();

/// How often a reader has waited for input.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// The console is read when a reader waits. So other programs have it before.
fn ask_for_input(terminal: &Terminal) {
    if terminal.wanted() > 0 {
        ASKED.fetch_add(1, Ordering::Release);
        calls::wake_on(&ASKED);
    }
}

extern "C" fn serve_gate(gate: u64) -> ! {
    ends::serve_gate(&STATE, gate)
}

/// Reads the console.
extern "C" fn read_console(_: u64) -> ! {
    loop {
        let asked = ASKED.load(Ordering::Acquire);
        let wanted = STATE.with(|state| state.table.0.wanted());
        if wanted == 0 {
            calls::wait_on(&ASKED, asked);
            continue;
        }
        let mut bytes = [0; PART];
        let most = PART.min(wanted as usize);
        let size = calls::console_read(&mut bytes[..most]).unwrap_or(0);
        STATE.with(|state| {
            let data = &mut state.data;
            let store = |offset, bytes: &[u8]| data.store(offset, bytes);
            if state.table.0.arrive(&bytes[..size], store).is_err() {
                fail(format_args!("terminal-server: its memory does not answer"));
            }
            state.answer_late();
        });
    }
}

fn of_session(
    client: (u8, Capability),
    pages: &Pages,
    message: &Message,
) -> Result<Answer, Failure> {
    let [number, a, b, ..] = message.words;
    // There is one terminal, which is the first directory's name.
    let has_name = |size| {
        let mut bytes = [0; 2 * PATH as usize];
        let (name, _) = match message.paths((size, 0))? {
            Some(paths) => paths,
            None => pages.paths(client.0, &mut bytes, (size, 0))?,
        };
        match name {
            b"" | b"/" => Ok(()),
            _ => Err(Failure::NotFound),
        }
    };
    match Operation::from_number(number).ok_or(Failure::NoOperation)? {
        Operation::Open => {
            has_name(b)?;
            let side = side_of(a)?;
            let [end, sender, view] = STATE.with(|state| {
                let end = state.table.0.open(client.0, side)?;
                state.give_end(client, end, side)
            })?;
            answer([end, sender, view, kind::TERMINAL])
        }
        Operation::About => {
            has_name(a)?;
            answer([kind::TERMINAL, 0, 1, 0])
        }
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
    let begun = begun.and_then(|()| STACKS.start(GATES - 1, read_console, 0));
    let ticks = start.frequency() / 1000;
    if let Err(error) = begun.and_then(|()| service.begin(options.name, ticks)) {
        let name = text(options.name);
        fail(format_args!(
            "terminal-server: no service {name}: {}",
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
