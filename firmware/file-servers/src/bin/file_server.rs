//! The file server (`docs/files.md`): `file-server [--name NAME] [--size MIB] [--sessions N] [ARCHIVE]`.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

use flick_abi::card::{ProgramStart, rights};
use flick_abi::file_protocol::{REQUEST_SIZE, Request};
use flick_abi::file_session::{NAME, Operation, PAGE_SIZE};
use flick_file_servers::calls::{self, Capability, Message, WORDS, failure_of};
use flick_file_servers::program::{Start, fail};
use flick_file_servers::service::{Event, SESSIONS, Sender, Service};
use flick_files::{Failure, FileSystem, Limits, Memory, OPEN_FILES, Reply, find_in_tar, unpack};

/// Bytes of a path at most.
const PATH: u64 = 1024;
/// MiB of data, if the command line does not say it. What the kernel gives at once.
const SIZE: u64 = 16;

/// The memory for data.
struct Data(Capability);

impl Memory for Data {
    fn clear(&mut self, offset: u64, size: u64) -> Result<(), Failure> {
        static ZEROS: [u8; 16 << 10] = [0; 16 << 10];
        let mut at = offset;
        let end = offset + size;
        while at < end {
            let part = (end - at).min(ZEROS.len() as u64);
            self.store(at, &ZEROS[..part as usize])?;
            at += part;
        }
        Ok(())
    }

    fn store(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        calls::store(self.0, offset, bytes).map_err(failure_of)
    }
}

/// What the client of an open file has: the server's own capabilities, from which they are derived.
#[derive(Clone, Copy)]
struct Given {
    sender: Capability,
    view: Capability,
}

struct Server {
    service: Service,
    files: FileSystem,
    data: Data,
    /// Pages of all sessions.
    pages: Capability,
    /// The part of a session.
    page: [Option<Capability>; SESSIONS],
    given: [Option<Given>; OPEN_FILES],
}

/// An answer: some words.
struct Answer {
    words: [u64; WORDS],
    count: usize,
}

fn answer<const N: usize>(values: [u64; N]) -> Result<Answer, Failure> {
    let mut words = [0; WORDS];
    words[1..=N].copy_from_slice(&values);
    Ok(Answer {
        words,
        count: 1 + N,
    })
}

impl Server {
    fn serve(&mut self, sessions: u64) -> ! {
        loop {
            match self.service.next_event() {
                Ok(Event::Request(sender, message)) => {
                    let done = match sender {
                        Sender::Session(session) => self.of_session(session, &message),
                        Sender::File(file) => self.of_file(file, &message),
                    };
                    // Nothing is anybody else's before it is out of sight.
                    while let Some(file) = self.files.next_to_hide() {
                        self.show(file, (0, 0), 0);
                    }
                    match done {
                        Ok(Answer { words, count }) => {
                            self.service.answer(&message, &words[..count]);
                        }
                        Err(failure) => self.service.answer(&message, &[failure as u64, 0, 0]),
                    }
                }
                Ok(Event::Ended(session)) => {
                    self.end_session(session);
                    if sessions > 0 && self.service.is_done(sessions) {
                        calls::end(0);
                    }
                }
                Err(error) => fail(format_args!("file-server: no message: {}", error.c_name())),
            }
        }
    }

    fn end_session(&mut self, session: u8) {
        let mut from = 0;
        while let Some(file) = self.files.any_of(session, from) {
            let _: Result<Answer, Failure> = self.close(session, file);
            from = file;
        }
        if let Some(page) = self.page[usize::from(session)].take() {
            calls::revoke(page);
        }
    }

    /// What a file's client reaches from now on.
    fn show(&self, file: u64, range: (u64, u64), rights: u64) {
        if let Some(Some(given)) = self.given.get(file as usize)
            && let Err(error) = calls::view_set(given.view, range, rights)
        {
            fail(format_args!(
                "file-server: a view stays: {}",
                error.c_name()
            ));
        }
    }

    fn of_file(&mut self, file: u64, message: &Message) -> Result<Answer, Failure> {
        let mut bytes = [0; REQUEST_SIZE];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(message.words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let request = Request::from_bytes(&bytes);
        let request = request.filter(|_| message.size == REQUEST_SIZE as u64);
        let request = request.ok_or(Failure::NoOperation)?;
        match self.files.request(file, &request, &mut self.data)? {
            Reply::Words(first, second) => answer([first, second]),
            Reply::Piece { length: 0, .. } => answer([0, 0]),
            Reply::Piece {
                offset,
                length,
                rights,
            } => {
                self.show(file, (offset, length), rights);
                answer([0, length])
            }
        }
    }

    /// A path of the session's page, and another one behind it.
    fn paths<'a>(
        &self,
        session: u8,
        bytes: &'a mut [u8; 2 * PATH as usize],
        (first, second): (u64, u64),
    ) -> Result<(&'a [u8], &'a [u8]), Failure> {
        if first > PATH || second > PATH {
            return Err(Failure::NameTooLong);
        }
        self.page[usize::from(session)].ok_or(Failure::Invalid)?;
        let both = &mut bytes[..(first + second) as usize];
        let at = u64::from(session) * PAGE_SIZE;
        calls::load(self.pages, at, both).map_err(failure_of)?;
        Ok(both.split_at(first as usize))
    }

    fn of_session(&mut self, session: u8, message: &Message) -> Result<Answer, Failure> {
        let [number, a, b, ..] = message.words;
        let operation = Operation::from_number(number).ok_or(Failure::NoOperation)?;
        let right = self.service.session(session)?;
        let mut bytes = [0; 2 * PATH as usize];
        let sizes = match operation {
            Operation::Open => (b, 0),
            Operation::Link | Operation::Rename => (a, b),
            Operation::About
            | Operation::MakeDirectory
            | Operation::RemoveDirectory
            | Operation::Unlink
            | Operation::List => (a, 0),
            _ => (0, 0),
        };
        let (path, new) = match operation {
            Operation::Begin | Operation::Close | Operation::Resize => (&[][..], &[][..]),
            _ => self.paths(session, &mut bytes, sizes)?,
        };
        let files = &mut self.files;
        match operation {
            Operation::Begin => self.give_page(session, right),
            Operation::Open => self.open((session, right), path, a),
            Operation::Close => self.close(session, a),
            Operation::About => {
                let about = files.about(path)?;
                answer([about.kind, about.size, about.links, about.number])
            }
            Operation::MakeDirectory => files.make_directory(path).and_then(|()| answer([])),
            Operation::RemoveDirectory => files.remove_directory(path).and_then(|()| answer([])),
            Operation::Link => files.link(path, new).and_then(|()| answer([])),
            Operation::Unlink => files.unlink(path).and_then(|()| answer([])),
            Operation::Rename => files.rename(path, new).and_then(|()| answer([])),
            Operation::List => self.list(session, path, b),
            Operation::Resize => {
                files.resize(session, a, b, &mut self.data)?;
                answer([])
            }
            Operation::Pipe => Err(Failure::NoOperation),
        }
    }

    fn give_page(&mut self, session: u8, right: Capability) -> Result<Answer, Failure> {
        let place = usize::from(session);
        let page = match self.page[place] {
            Some(page) => page,
            None => {
                let range = (u64::from(session) * PAGE_SIZE, PAGE_SIZE);
                calls::narrow(self.pages, range, rights::READ | rights::WRITE)
                    .map_err(failure_of)?
            }
        };
        self.page[place] = Some(page);
        answer([calls::session_give(right, page).map_err(failure_of)?])
    }

    fn open(
        &mut self,
        (session, right): (u8, Capability),
        path: &[u8],
        flags: u64,
    ) -> Result<Answer, Failure> {
        let (file, size) = self.files.open(session, path, flags)?;
        match self.give_file(file, right) {
            Ok([sender, view]) => answer([file, sender, view, size]),
            Err(error) => {
                self.close(session, file)?;
                Err(failure_of(error))
            }
        }
    }

    fn give_file(&mut self, file: u64, right: Capability) -> calls::Result<[u64; 2]> {
        let sender = self.service.sender_of_file(file)?;
        let view = calls::view_create(self.data.0).inspect_err(|_| calls::revoke(sender))?;
        self.given[file as usize] = Some(Given { sender, view });
        Ok([
            calls::session_give(right, sender)?,
            calls::session_give(right, view)?,
        ])
    }

    fn close(&mut self, session: u8, file: u64) -> Result<Answer, Failure> {
        // What the client has goes first: the blocks may be another file's soon.
        if self.files.any_of(session, file) != Some(file) {
            return Err(Failure::BadFile);
        }
        if let Some(given) = self.given[file as usize].take() {
            calls::revoke(given.sender);
            calls::revoke(given.view);
        }
        self.files.close(session, file)?;
        answer([])
    }

    fn list(&mut self, session: u8, path: &[u8], first: u64) -> Result<Answer, Failure> {
        let mut bytes = [0; PAGE_SIZE as usize];
        let (size, count) = self.files.list(path, first, &mut bytes)?;
        let at = u64::from(session) * PAGE_SIZE;
        calls::store(self.pages, at, &bytes[..size]).map_err(failure_of)?;
        answer([size as u64, count])
    }
}

struct Place(UnsafeCell<Server>);

// SAFETY: the program has one thread.
unsafe impl Sync for Place {}

static SERVER: Place = Place(UnsafeCell::new(Server {
    service: Service::new(),
    files: FileSystem::new(),
    data: Data(0),
    pages: 0,
    page: [None; SESSIONS],
    given: [None; OPEN_FILES],
}));

/// What the command line says.
struct Options {
    name: &'static [u8],
    size: u64,
    sessions: u64,
    archive: Option<&'static [u8]>,
}

fn options(start: Start) -> Options {
    let mut options = Options {
        name: NAME,
        size: SIZE,
        sessions: 0,
        archive: None,
    };
    let mut words = start.arguments();
    while let Some(word) = words.next() {
        let mut value = || match words.next() {
            Some(value) => value,
            None => fail(format_args!("file-server: an option has no value")),
        };
        let number = |value: &[u8]| match core::str::from_utf8(value).map(str::parse) {
            Ok(Ok(number)) => number,
            _ => fail(format_args!("file-server: an option has no number")),
        };
        match word {
            b"--name" => options.name = value(),
            b"--size" => options.size = number(value()),
            b"--sessions" => options.sessions = number(value()),
            archive => options.archive = Some(archive),
        }
    }
    options
}

fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("?")
}

fn fill(server: &mut Server, name: &[u8]) {
    let archive = calls::archive().unwrap_or_default();
    let Some(contents) = find_in_tar(archive, name) else {
        fail(format_args!("file-server: no file {}", text(name)));
    };
    if let Err(broken) = unpack(&mut server.files, contents, &mut server.data) {
        fail(format_args!("file-server: {}: {broken:?}", text(name)));
    }
}

#[unsafe(no_mangle)]
extern "C" fn server_start(record: *const ProgramStart) -> ! {
    // SAFETY: this is the first thread, and the record is the kernel's.
    let start = unsafe { Start::at(record) };
    // SAFETY: this thread is the only one, and takes it once.
    let server = unsafe { &mut *SERVER.0.get() };
    let options = options(start);
    let size = options.size << 20;
    let memory = calls::tile_memory(size);
    let pages = calls::tile_memory(SESSIONS as u64 * PAGE_SIZE);
    let (Ok(memory), Ok(pages)) = (memory, pages) else {
        fail(format_args!(
            "file-server: no memory of {} MiB",
            options.size
        ));
    };
    (server.data, server.pages) = (Data(memory), pages);
    server.files.begin(Limits::of_memory(size));
    if let Some(name) = options.archive {
        fill(server, name);
    }
    if let Err(error) = server.service.begin(options.name, start.frequency() / 1000) {
        let name = text(options.name);
        fail(format_args!(
            "file-server: no service {name}: {}",
            error.c_name()
        ));
    }
    server.serve(options.sessions)
}
