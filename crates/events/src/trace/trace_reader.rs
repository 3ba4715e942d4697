//! The reader. All of a trace is checked before any of it is used.
use std::collections::{BTreeMap, HashMap};

use super::event::{self, Event, What};
use super::prediction;
use super::trace_format::{HEADER, Kind, MAGIC, OLDEST, Reason, VERSION};
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
#[derive(Debug, Default)]
pub struct Trace<'a> {
    /// In the order in which they began.
    pub processes: Vec<Process<'a>>,
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
    /// Payloads that have been checked.
    blocks: Vec<&'a [u8]>,
}

impl<'a> Thread<'a> {
    /// In the order in which they happened, with definitions of names between them.
    pub fn events(&self) -> impl Iterator<Item = Event<'a>> + '_ {
        self.blocks
            .iter()
            .flat_map(|&bytes| Events::new(Source { bytes, at: 0 }).map_while(Result::ok))
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
    /// Payloads, and the time of the last event.
    threads: BTreeMap<u32, (Vec<&'a [u8]>, u64)>,
}

impl<'a> Trace<'a> {
    /// An empty file is a trace without processes. Memory is proportional to the file's length.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut processes: Vec<Open<'a>> = Vec::new();
        let mut last = HashMap::new();
        let mut source = Source { bytes, at: 0 };
        while !source.is_empty() {
            let offset = source.at;
            let header = header(&mut source).map_err(|reason| Error { offset, reason })?;
            let begin = source.at;
            let payload = source.take(header.length).map_err(|reason| Error {
                offset: begin,
                reason,
            })?;
            let mut inner = Source {
                bytes: payload,
                at: 0,
            };
            if header.kind == Kind::Process as u16 {
                last.insert(header.process, processes.len());
                processes.push(Open {
                    process: Process {
                        pid: header.process,
                        program: String::new(),
                        platform: String::new(),
                        threads: Vec::new(),
                        prediction: None,
                        run: None,
                        names: HashMap::new(),
                    },
                    threads: BTreeMap::new(),
                });
            }
            let open = last
                .get(&header.process)
                .and_then(|&index| processes.get_mut(index))
                .ok_or(Error {
                    offset,
                    reason: Reason::NoProcess,
                })?;
            open.block(&header, &mut inner).map_err(|reason| Error {
                offset: begin + inner.at,
                reason,
            })?;
        }
        Ok(Self {
            processes: processes.into_iter().map(Open::close).collect(),
        })
    }
}

impl<'a> Open<'a> {
    /// Takes what is in a block. Where it is malformed `source` is left there.
    fn block(&mut self, header: &Header, source: &mut Source<'a>) -> Result<(), Reason> {
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
            return self.events(header.thread, source);
        } else {
            return Ok(());
        }
        if source.is_empty() {
            Ok(())
        } else {
            Err(Reason::Surplus)
        }
    }

    fn events(&mut self, thread: u32, source: &mut Source<'a>) -> Result<(), Reason> {
        let payload = source.bytes;
        let (blocks, time) = self.threads.entry(thread).or_default();
        let mut events = Events::new(*source);
        let result = (|| {
            if events.time? < *time {
                return Err(Reason::Backwards);
            }
            for event in &mut events {
                let event = event?;
                *time = event.time;
                if let What::Name {
                    id,
                    text,
                    file,
                    line,
                } = event.what
                {
                    let text_of = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    self.process.names.entry(id).or_insert_with(|| Name {
                        text: text_of(text),
                        file: text_of(file),
                        line,
                    });
                }
            }
            Ok(())
        })();
        source.at = events.source.at;
        blocks.push(payload);
        result
    }

    fn close(self) -> Process<'a> {
        let threads = self.threads.into_iter();
        Process {
            threads: threads
                .map(|(id, (blocks, _))| Thread { id, blocks })
                .collect(),
            ..self.process
        }
    }
}

struct Header {
    kind: u16,
    process: u32,
    thread: u32,
    length: usize,
}

fn header(source: &mut Source<'_>) -> Result<Header, Reason> {
    // What is no trace at all is not "truncated".
    let start = source.bytes.get(source.at..).unwrap_or_default();
    let magic = start.get(..MAGIC.len()).unwrap_or(start);
    if !MAGIC.starts_with(magic) {
        return Err(Reason::Magic);
    }
    let header = source.take(HEADER)?;
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
