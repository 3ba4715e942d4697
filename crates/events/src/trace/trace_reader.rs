//! The reader. All of a trace is checked before any of it is used. It is read from its file each
//! time that somebody goes through its events.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::rc::Rc;

use super::event::{self, Event, What};
use super::input::{Input, Window};
use super::prediction;
use super::trace_format::{FIRST_HART, HEADER, Kind, MAGIC, OLDEST, Reason, VERSION};
use super::wire::Source;
use crate::timed::Timed;

/// Why bytes are not a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct Error {
    /// From the beginning of the file.
    pub offset: usize,
    /// What is wrong there.
    pub reason: Reason,
}

/// A whole trace.
#[derive(Debug)]
pub struct Trace<'a> {
    /// In the order in which they began.
    pub processes: Vec<Process<'a>>,
    /// Bytes of it.
    pub length: u64,
    input: Rc<Shared<'a>>,
}

/// What all threads read from.
#[derive(Debug)]
struct Shared<'a> {
    window: RefCell<Window<'a>>,
    /// Why a later pass has not come to its end.
    failed: Cell<Option<Error>>,
}

/// A process, from its start or an `exec` to its end or an `exec`.
#[derive(Debug)]
pub struct Process<'a> {
    /// The process's number.
    pub pid: u32,
    /// Path of the program.
    pub program: String,
    /// Name of the platform.
    pub platform: String,
    /// By number.
    pub threads: Vec<Thread<'a>>,
    /// Missing where the process did not come to its exit.
    pub prediction: Option<Timed>,
    /// Where `flick record` has said it.
    pub run: Option<Run>,
    names: HashMap<u32, Name>,
}

/// How a run was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Seconds since 1970, UTC.
    pub date: u64,
    /// Program and arguments.
    pub command: Vec<String>,
}

/// What a number stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Name {
    /// The linker's name of a function, or the name of a part or counter.
    pub text: String,
    /// Empty if unknown.
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
}

impl Process<'_> {
    /// All names, in no order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.names.values()
    }

    /// `None` for 0, and for a number whose definition was in a block that was never written.
    pub fn name(&self, id: u32) -> Option<&Name> {
        self.names.get(&id)
    }
}

/// The events of a thread.
#[derive(Debug)]
pub struct Thread<'a> {
    /// 1 is the one that ran `main`.
    pub id: u32,
    /// What it calls itself; empty if nothing.
    pub name: String,
    /// Whether it is a hart or another tile of a machine: it has states or messages.
    pub is_tile: bool,
    /// The end of its first sum, if it has one: it has no events of its own behind that.
    pub coarse_from: Option<u64>,
    /// Where its blocks are, which have been checked: the first one's offset, and the last one's end. No other
    /// thread's are between them.
    stretches: Vec<(u64, u64)>,
    input: Rc<Shared<'a>>,
}

impl Thread<'_> {
    /// Calls `each` for all events in the order in which they happened, with definitions of names between them.
    /// Where a file cannot be read [`Trace::failure`] says so afterwards. `each` must not go through another
    /// thread of the trace: they share what is in memory.
    pub fn each(&self, mut each: impl FnMut(Event<'_>)) {
        for &(mut offset, end) in &self.stretches {
            while offset < end {
                match self.block((offset, end), &mut each) {
                    Ok(next) => offset = next,
                    Err(reason) => {
                        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                        self.input.failed.set(Some(Error { offset, reason }));
                        return;
                    }
                }
            }
        }
    }

    /// What `each` says of all events.
    pub fn map<T>(&self, mut each: impl FnMut(Event<'_>) -> T) -> Vec<T> {
        let mut all = Vec::new();
        self.each(|event| all.push(each(event)));
        all
    }

    /// The events of the block there; where the next one is.
    fn block(
        &self,
        (offset, end): (u64, u64),
        each: &mut impl FnMut(Event<'_>),
    ) -> Result<u64, Reason> {
        let mut window = self.input.window.borrow_mut();
        let header = header(window.get(offset, HEADER, end)?)?;
        let begin = offset + HEADER as u64;
        let bytes = window.get(begin, header.length, end)?;
        if bytes.len() < header.length {
            return Err(Reason::Truncated);
        }
        for event in Events::new(Source { bytes, at: 0 }) {
            each(event?);
        }
        Ok(begin + header.length as u64)
    }
}

/// The events of one block.
struct Events<'a> {
    source: Source<'a>,
    time: Result<u64, Reason>,
}

impl<'a> Events<'a> {
    fn new(mut source: Source<'a>) -> Self {
        let time = source.number();
        Self { source, time }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, Reason>;

    fn next(&mut self) -> Option<Self::Item> {
        let time = match self.time {
            Ok(_) if self.source.is_empty() => return None,
            Ok(time) => time,
            Err(reason) => return Some(Err(reason)),
        };
        let event = event::read(&mut self.source, time);
        self.time = event.map(|event| event.time);
        Some(event)
    }
}

/// A process while its blocks are gathered.
struct Open<'a> {
    process: Process<'a>,
    threads: BTreeMap<u32, OpenThread>,
}

#[derive(Default)]
struct OpenThread {
    stretches: Vec<(u64, u64)>,
    /// Of the last event.
    time: u64,
    name: String,
    is_tile: bool,
    coarse_from: Option<u64>,
}

impl<'a> Trace<'a> {
    /// An empty file is a trace without processes. Memory is proportional to the names, the threads, and how
    /// often the blocks of one follow those of another.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::of(Input::Bytes(bytes))
    }

    /// The same of a file, of which one block at a time is in memory.
    pub fn open(file: &'a File) -> Result<Self, Error> {
        Self::of(Input::File(file))
    }

    /// Why the events of a thread were not all there, where they could not be read.
    pub fn failure(&self) -> Option<Error> {
        self.input.failed.get()
    }

    fn of(input: Input<'a>) -> Result<Self, Error> {
        let at = |offset: u64, reason| Error {
            offset: usize::try_from(offset).unwrap_or(usize::MAX),
            reason,
        };
        let mut processes: Vec<Open<'a>> = Vec::new();
        let mut last = HashMap::new();
        let mut window = Window::new(input).map_err(|reason| at(0, reason))?;
        let length = window.length();
        let mut offset = 0;
        while offset < length {
            let head = window
                .get(offset, HEADER, length)
                .and_then(header)
                .map_err(|reason| at(offset, reason))?;
            let begin = offset + HEADER as u64;
            if head.length as u64 > length - begin {
                return Err(at(begin, Reason::Truncated));
            }
            let end = begin + head.length as u64;
            if head.kind == Kind::Process as u16 {
                last.insert(head.process, processes.len());
                processes.push(Open::new(head.process));
            }
            let open = last
                .get(&head.process)
                .and_then(|&index| processes.get_mut(index))
                .ok_or_else(|| at(offset, Reason::NoProcess))?;
            let bytes = window
                .get(begin, head.length, length)
                .map_err(|reason| at(begin, reason))?;
            let mut inner = Source { bytes, at: 0 };
            open.block(&head, (offset, end), &mut inner)
                .map_err(|reason| at(begin + inner.at as u64, reason))?;
            offset = end;
        }
        let input = Rc::new(Shared {
            window: RefCell::new(window),
            failed: Cell::new(None),
        });
        let processes = processes.into_iter();
        Ok(Self {
            processes: processes.map(|open| open.close(&input)).collect(),
            length,
            input,
        })
    }
}

impl<'a> Open<'a> {
    fn new(pid: u32) -> Self {
        Self {
            process: Process {
                pid,
                program: String::new(),
                platform: String::new(),
                threads: Vec::new(),
                prediction: None,
                run: None,
                names: HashMap::new(),
            },
            threads: BTreeMap::new(),
        }
    }

    /// Takes what is in a block, which has this place. Where it is malformed `source` is left there.
    fn block(
        &mut self,
        header: &Header,
        place: (u64, u64),
        source: &mut Source<'_>,
    ) -> Result<(), Reason> {
        if header.kind == Kind::Process as u16 {
            self.process.program = source.text()?;
            self.process.platform = source.text()?;
        } else if header.kind == Kind::Prediction as u16 {
            self.process.prediction = Some(prediction::read(source)?);
        } else if header.kind == Kind::Run as u16 {
            let date = source.number()?;
            let mut command = Vec::new();
            for _ in 0..source.number()? {
                command.push(source.text()?);
            }
            self.process.run = Some(Run { date, command });
        } else if header.kind == Kind::Events as u16 {
            return self.events(header.thread, place, source);
        } else {
            return Ok(());
        }
        if source.is_empty() {
            Ok(())
        } else {
            Err(Reason::Surplus)
        }
    }

    fn events(
        &mut self,
        thread: u32,
        (begin, end): (u64, u64),
        source: &mut Source<'_>,
    ) -> Result<(), Reason> {
        let thread = self.threads.entry(thread).or_default();
        let mut events = Events::new(*source);
        let result = (|| {
            if events.time? < thread.time {
                return Err(Reason::Backwards);
            }
            for event in &mut events {
                let event = event?;
                thread.time = event.time;
                thread.take(event.what);
                if let What::Name {
                    id,
                    text,
                    file,
                    line,
                } = event.what
                {
                    self.process.names.entry(id).or_insert_with(|| Name {
                        text: text_of(text),
                        file: text_of(file),
                        line,
                    });
                }
                if let (What::Sum { .. }, None) = (event.what, thread.coarse_from) {
                    thread.coarse_from = Some(event.time);
                }
            }
            Ok(())
        })();
        source.at = events.source.at;
        match thread.stretches.last_mut() {
            Some((_, last)) if *last == begin => *last = end,
            _ => thread.stretches.push((begin, end)),
        }
        result
    }

    fn close(self, input: &Rc<Shared<'a>>) -> Process<'a> {
        let threads = self.threads.into_iter();
        let threads = threads.map(|(id, thread)| Thread {
            id,
            name: thread.name,
            is_tile: thread.is_tile || id >= FIRST_HART,
            coarse_from: thread.coarse_from,
            stretches: thread.stretches,
            input: Rc::clone(input),
        });
        Process {
            threads: threads.collect(),
            ..self.process
        }
    }
}

impl OpenThread {
    fn take(&mut self, what: What<'_>) {
        match what {
            What::ThreadStart { name } if self.name.is_empty() => self.name = text_of(name),
            What::State { .. } | What::Message { .. } => self.is_tile = true,
            _ => {}
        }
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Header {
    kind: u16,
    process: u32,
    thread: u32,
    length: usize,
}

fn header(bytes: &[u8]) -> Result<Header, Reason> {
    // What is no trace at all is not "truncated".
    let magic = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    if !MAGIC.starts_with(magic) {
        return Err(Reason::Magic);
    }
    let header = bytes.get(..HEADER).ok_or(Reason::Truncated)?;
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
    let version = half(4);
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(Reason::Version(version));
    }
    Ok(Header {
        kind: half(6),
        process: word(8),
        thread: word(12),
        length: word(16) as usize,
    })
}
