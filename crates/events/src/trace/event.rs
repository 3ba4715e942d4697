//! Events, as they are in a block.
use super::sum_rows::{self, Lanes, Rows};
use super::trace_format::{How, Reason, Scope, Side};
use super::wire::Source;

/// Set in a tag: the event is the NxP's, the process's, a jump's, or a state's that has a thread.
const FLAG: u8 = 0x80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    ThreadStart = 1,
    ThreadEnd = 2,
    Name = 3,
    Enter = 4,
    Leave = 5,
    Wait = 6,
    Counter = 7,
    Sample = 8,
    State = 9,
    Way = 10,
    Message = 11,
    Sum = 12,
}

impl Tag {
    pub fn byte(self, flag: bool) -> u8 {
        self as u8 | if flag { FLAG } else { 0 }
    }

    fn of(byte: u8) -> Option<(Self, bool)> {
        let tag = match byte & !FLAG {
            1 => Self::ThreadStart,
            2 => Self::ThreadEnd,
            3 => Self::Name,
            4 => Self::Enter,
            5 => Self::Leave,
            6 => Self::Wait,
            7 => Self::Counter,
            8 => Self::Sample,
            9 => Self::State,
            10 => Self::Way,
            11 => Self::Message,
            12 => Self::Sum,
            _ => return None,
        };
        let flag = byte & FLAG != 0;
        let may = !matches!(
            tag,
            Self::ThreadStart
                | Self::ThreadEnd
                | Self::Name
                | Self::Wait
                | Self::Way
                | Self::Message
                | Self::Sum
        );
        (may || !flag).then_some((tag, flag))
    }
}

/// Something that happened to a thread, `time` picoseconds after its process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Picoseconds of the thread's clock.
    pub time: u64,
    /// The event itself.
    pub what: What<'a>,
}

/// The fields are those of [`super::Encoder`]'s methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// The thread begins.
    ThreadStart {
        /// Bytes of any kind.
        name: &'a [u8],
    },
    /// The thread ends.
    ThreadEnd,
    /// What a number stands for.
    Name {
        /// The number, from 1.
        id: u32,
        /// The linker's name of a function, or the name of a part or counter.
        text: &'a [u8],
        /// The source file; empty if unknown.
        file: &'a [u8],
        /// The line in `file`; 0 if unknown.
        line: u32,
    },
    /// The thread leaves for another side, by a call.
    Enter {
        /// Where it arrives.
        side: Side,
        /// The number of the function that is called.
        function: u32,
        /// The number of the call site.
        site: u32,
        /// The number of crossings that the thread was in before.
        depth: u32,
        /// The parts of the crossing.
        parts: Parts<'a>,
    },
    /// The thread goes back, by a return or a jump.
    Leave {
        /// Whether it is a return.
        how: How,
        /// The depth at which the crossing that ends began.
        depth: u32,
        /// The parts of the crossing.
        parts: Parts<'a>,
    },
    /// The thread has waited for an NxP core.
    Wait {
        /// Picoseconds.
        duration: u64,
        /// The core's number, from 0.
        core: u32,
    },
    /// A counter has a new value.
    Counter {
        /// Whose number it is.
        scope: Scope,
        /// The number of the counter's name.
        id: u32,
        /// The value, in the counter's own unit.
        value: u64,
    },
    /// The functions that the thread is in.
    Sample {
        /// Where the thread runs.
        side: Side,
        /// Femtoseconds.
        weight: u64,
        /// Femtoseconds in the world *staying*.
        staying: u64,
        /// Numbers of functions, innermost first.
        stack: Ids<'a>,
    },
    /// What the thread wants has been under way between the host and a hart of a card.
    Way {
        /// Picoseconds.
        duration: u64,
        /// The hart that the thread's code executes on from then on; `None`: the thread comes to the host.
        hart: Option<u32>,
    },
    /// A message has come to a tile of a machine.
    Message {
        /// The number of the sender's thread.
        from: u32,
        /// Picoseconds since it was sent.
        under_way: u64,
        /// The number of the message's name.
        id: u32,
    },
    /// The hart of a machine is in another state.
    State {
        /// The number of the state's name.
        id: u32,
        /// The number of the thread whose code the hart executes, where it is known.
        thread: Option<u32>,
    },
    /// What a thread has done in an interval that ends now, in place of its events.
    Sum {
        /// Picoseconds of the interval.
        duration: u64,
        /// What its time went to.
        lanes: Lanes,
        /// What it did.
        rows: Rows<'a>,
    },
}

/// Names and picoseconds of the parts of a crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a>(Kept<'a>);

/// As bytes that have been read once, or as a writer has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept<'a> {
    Bytes(&'a [u8]),
    Pairs(&'a [(u32, u64)]),
}

impl<'a> Parts<'a> {
    /// Those of a writer.
    pub fn new(parts: &'a [(u32, u64)]) -> Self {
        Self(Kept::Pairs(parts))
    }

    /// Picoseconds of all parts together.
    pub fn duration(self) -> u64 {
        self.fold(0, |sum, (_, duration)| sum.saturating_add(duration))
    }
}

impl Iterator for Parts<'_> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<(u32, u64)> {
        match &mut self.0 {
            Kept::Bytes(bytes) => {
                let mut source = Source { bytes, at: 0 };
                let part = (source.id().ok()?, source.number().ok()?);
                *bytes = bytes.get(source.at..)?;
                Some(part)
            }
            Kept::Pairs(pairs) => {
                let (first, rest) = pairs.split_first()?;
                *pairs = rest;
                Some(*first)
            }
        }
    }
}

/// Functions of a sample, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids<'a>(KeptIds<'a>);

/// As bytes that have been read once, or as a writer has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeptIds<'a> {
    Bytes(&'a [u8]),
    Numbers(&'a [u32]),
}

impl<'a> Ids<'a> {
    /// Those of a writer.
    pub fn new(stack: &'a [u32]) -> Self {
        Self(KeptIds::Numbers(stack))
    }
}

impl Iterator for Ids<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match &mut self.0 {
            KeptIds::Bytes(bytes) => {
                let mut source = Source { bytes, at: 0 };
                let id = source.id().ok()?;
                *bytes = bytes.get(source.at..)?;
                Some(id)
            }
            KeptIds::Numbers(numbers) => {
                let (first, rest) = numbers.split_first()?;
                *numbers = rest;
                Some(*first)
            }
        }
    }
}

/// The next event; `time` is that of the one before.
pub(super) fn read<'a>(source: &mut Source<'a>, time: u64) -> Result<Event<'a>, Reason> {
    let byte = source.byte()?;
    let (tag, flag) = Tag::of(byte).ok_or(Reason::Event(byte))?;
    let time = if tag == Tag::Name {
        time
    } else {
        let later = time.checked_add(source.number()?);
        later.ok_or(Reason::Time)?
    };
    let side = if flag { Side::Nxp } else { Side::Host };
    let what = match tag {
        Tag::ThreadStart => What::ThreadStart {
            name: source.raw_text()?,
        },
        Tag::ThreadEnd => What::ThreadEnd,
        Tag::Name => What::Name {
            id: source.id()?,
            text: source.raw_text()?,
            file: source.raw_text()?,
            line: source.id()?,
        },
        Tag::Enter => What::Enter {
            side,
            function: source.id()?,
            site: source.id()?,
            depth: source.id()?,
            parts: parts(source)?,
        },
        Tag::Leave => What::Leave {
            how: if flag { How::Jump } else { How::Return },
            depth: source.id()?,
            parts: parts(source)?,
        },
        Tag::Wait => What::Wait {
            duration: source.number()?,
            core: source.id()?,
        },
        Tag::Counter => What::Counter {
            scope: if flag { Scope::Process } else { Scope::Thread },
            id: source.id()?,
            value: source.number()?,
        },
        Tag::State => What::State {
            id: source.id()?,
            thread: match flag {
                true => Some(source.id()?),
                false => None,
            },
        },
        Tag::Sum => What::Sum {
            duration: source.number()?,
            lanes: sum_rows::lanes(source)?,
            rows: sum_rows::rows(source)?,
        },
        Tag::Message => What::Message {
            from: source.id()?,
            under_way: source.number()?,
            id: source.id()?,
        },
        Tag::Way => What::Way {
            duration: source.number()?,
            hart: source.id()?.checked_sub(1),
        },
        Tag::Sample => What::Sample {
            side,
            weight: source.number()?,
            staying: source.number()?,
            stack: {
                let count = source.count()?;
                let from = source.at;
                for _ in 0..count {
                    source.id()?;
                }
                let bytes = source.bytes.get(from..source.at).unwrap_or_default();
                Ids(KeptIds::Bytes(bytes))
            },
        },
    };
    Ok(Event { time, what })
}

fn parts<'a>(source: &mut Source<'a>) -> Result<Parts<'a>, Reason> {
    let count = source.count()?;
    let from = source.at;
    for _ in 0..count {
        source.id()?;
        source.number()?;
    }
    let bytes = source.bytes.get(from..source.at).unwrap_or_default();
    Ok(Parts(Kept::Bytes(bytes)))
}
