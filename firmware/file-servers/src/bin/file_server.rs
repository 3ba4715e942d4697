//! The file server (`docs/files.md`): `file-server [--name NAME] [--size MIB] [--sessions N] [ARCHIVE]`.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

use flick_abi::card::ProgramStart;
use flick_abi::file_session::{NAME, Operation, PAGE_SIZE, kind, ready};
use flick_file_servers::calls::{self, Capability, Message, failure_of};
use flick_file_servers::data::{Data, PATH, Pages};
use flick_file_servers::options::{Options, text};
use flick_file_servers::program::{Start, fail};
use flick_file_servers::service::{Answer, Event, Sender, Service, answer};
use flick_files::{Failure, FileSystem, Limits, OPEN_FILES, Reply, find_in_tar, unpack};

/// MiB of data, if the command line does not say it.
const SIZE: u64 = 16;

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
    pages: Pages,
    given: [Option<Given>; OPEN_FILES],
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
                    self.service.finish(&message, done);
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
        self.files.end_session(session);
        self.pages.end(session);
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
        let request = message.request().ok_or(Failure::NoOperation)?;
        let session = self.files.session_of(file)?;
        self.files.serve(session);
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

    fn of_session(&mut self, session: u8, message: &Message) -> Result<Answer, Failure> {
        let [number, a, b, ..] = message.words;
        let operation = Operation::from_number(number).ok_or(Failure::NoOperation)?;
        let right = self.service.session(session)?;
        let mut long_paths;
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
            _ => match message.paths(sizes)? {
                Some(paths) => paths,
                None => {
                    long_paths = [0; 2 * PATH as usize];
                    self.pages.paths(session, &mut long_paths, sizes)?
                }
            },
        };
        let files = &mut self.files;
        files.serve(session);
        match operation {
            Operation::Begin => answer([self.pages.give(session, right)?]),
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
            Operation::Share => answer([files.share(session, a, b)?]),
            Operation::Adopt => {
                let flags = files.adopt(session, a, b)?;
                self.give((session, right), a, flags)
            }
            // Files do not wait.
            Operation::Ready => match files.any_of(session, a) {
                Some(file) if file == a => answer([ready::READ | ready::WRITE]),
                _ => Err(Failure::BadFile),
            },
            Operation::Pipe => Err(Failure::NoOperation),
        }
    }

    fn open(
        &mut self,
        (session, right): (u8, Capability),
        path: &[u8],
        flags: u64,
    ) -> Result<Answer, Failure> {
        let (file, _) = self.files.open(session, path, flags)?;
        self.give((session, right), file, flags)
    }

    /// Gives a client what it reaches an open file by.
    fn give(
        &mut self,
        (session, right): (u8, Capability),
        file: u64,
        flags: u64,
    ) -> Result<Answer, Failure> {
        match self.give_file(file, right) {
            Ok([sender, view]) => answer([file, sender, view, kind::FILE, flags]),
            Err(error) => {
                self.close(session, file)?;
                Err(failure_of(error))
            }
        }
    }

    fn give_file(&mut self, file: u64, right: Capability) -> calls::Result<[u64; 2]> {
        let sender = Service::sender_of_file(self.service.gate, file)?;
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
        self.pages.write(session, &bytes[..size])?;
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
    pages: Pages::new(),
    given: [None; OPEN_FILES],
}));

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
    let options = Options {
        name: NAME,
        size: SIZE,
        sessions: 0,
        archive: None,
    };
    let options = options.read(start);
    let size = options.size << 20;
    match (calls::tile_memory(size), server.pages.begin()) {
        (Ok(memory), Ok(())) => server.data = Data(memory),
        _ => fail(format_args!(
            "file-server: no memory of {} MiB",
            options.size
        )),
    }
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
