//! The writer of a thread's blocks.
use super::event::{Event, Parts, Tag, What};
use super::sum_rows::{self, Lanes, Row};
use super::trace_format::{HEADER, How, Kind, MAX_STACK, Scope, Side};
use super::wire::{Fixed, Sink};

/// Encodes one thread's events into a buffer of its own. Each method says whether the event had
/// room; where it had none nothing has changed, and the block is to be written out.
#[derive(Debug)]
pub struct Encoder<'b> {
    buffer: &'b mut [u8],
    /// Bytes of the block so far; 0 where it has no event.
    used: usize,
    process: u32,
    thread: u32,
    /// Of the last event.
    time: u64,
}

impl<'b> Encoder<'b> {
    /// For thread `thread` of process `process`: numbers that distinguish threads, the first is 1
    /// and the thread that ran `main`.
    pub fn new(buffer: &'b mut [u8], process: u32, thread: u32) -> Self {
        Self {
            buffer,
            used: 0,
            process,
            thread,
            time: 0,
        }
    }

    /// Encodes what `event` encodes. Where the block is full it goes to `write` first. False where
    /// the event does not fit into the empty buffer: it is lost.
    pub fn with(&mut self, write: impl FnOnce(&[u8]), event: impl Fn(&mut Self) -> bool) -> bool {
        event(self) || {
            self.flush(write);
            event(self)
        }
    }

    /// Gives the block to `write` if it has events, and begins another.
    pub fn flush(&mut self, write: impl FnOnce(&[u8])) {
        if let Some(block) = self.block() {
            write(block);
        }
        self.used = 0;
    }

    /// The block so far; `None` if it has no event.
    pub fn block(&mut self) -> Option<&[u8]> {
        let length = u32::try_from(self.used.checked_sub(HEADER)?).ok()?;
        let place = self.buffer.get_mut(HEADER - size_of::<u32>()..HEADER)?;
        place.copy_from_slice(&length.to_le_bytes());
        self.buffer.get(..self.used)
    }

    /// Discards the block so far and its time: after `fork`, in the child, whose events are another
    /// process's; and where a thread turns out to begin at another time, before any block of it is
    /// written.
    pub fn restart(&mut self, process: u32, thread: u32) {
        self.used = 0;
        self.time = 0;
        self.process = process;
        self.thread = thread;
    }

    /// Goes on with a thread whose last event, in an earlier block, was at `time`.
    pub fn since(mut self, time: u64) -> Self {
        self.time = time;
        self
    }

    /// The thread begins; its clock shows `time` (that of whoever started it).
    pub fn thread_start(&mut self, time: u64, name: &[u8]) -> bool {
        self.event(Tag::ThreadStart, false, Some(time), |out| out.text(name))
    }

    /// The thread ends; its clock shows `time`.
    pub fn thread_end(&mut self, time: u64) -> bool {
        self.event(Tag::ThreadEnd, false, Some(time), |_| ())
    }

    /// What number `id` stands for. `text` is the linker's name of a function (of the caller, for a
    /// call site), the name of a part or of a counter; `file` and `line` (0: unknown) its source.
    pub fn name(&mut self, id: u32, text: &[u8], file: &[u8], line: u32) -> bool {
        self.event(Tag::Name, false, None, |out| {
            out.number(id.into());
            out.text(text);
            out.text(file);
            out.number(line.into());
        })
    }

    /// At `time` the thread leaves for `side`, to run `function`, called at `site`. It arrives when
    /// the `parts` (a name and picoseconds, one after the other) have passed. `depth` is the number
    /// of crossings that it was in before.
    pub fn enter(
        &mut self,
        time: u64,
        side: Side,
        (function, site): (u32, u32),
        depth: u32,
        parts: &[(u32, u64)],
    ) -> bool {
        self.event(Tag::Enter, side == Side::Nxp, Some(time), |out| {
            put_enter(out, (function, site), depth, Parts::new(parts));
        })
    }

    /// At `time` the thread leaves for where the crossing was entered that began at `depth`.
    /// Deeper ones that were not left (`longjmp`, an exception) are over.
    pub fn leave(&mut self, time: u64, how: How, depth: u32, parts: &[(u32, u64)]) -> bool {
        self.event(Tag::Leave, how == How::Jump, Some(time), |out| {
            out.number(depth.into());
            put_parts(out, Parts::new(parts));
        })
    }

    /// From `time` on the thread waited for NxP core `core` for `duration` picoseconds.
    pub fn wait(&mut self, time: u64, duration: u64, core: u32) -> bool {
        self.event(Tag::Wait, false, Some(time), |out| {
            out.number(duration);
            out.number(core.into());
        })
    }

    /// From `time` on what the thread wanted was under way for `duration` picoseconds, to a hart of a card or
    /// from there.
    pub fn way(&mut self, time: u64, duration: u64, hart: Option<u32>) -> bool {
        self.event(Tag::Way, false, Some(time), |out| {
            out.number(duration);
            out.number(hart.map_or(0, |hart| u64::from(hart) + 1));
        })
    }

    /// The counter of this name has this value now.
    pub fn counter(&mut self, time: u64, scope: Scope, id: u32, value: u64) -> bool {
        let process = scope == Scope::Process;
        self.event(Tag::Counter, process, Some(time), |out| {
            out.number(id.into());
            out.number(value);
        })
    }

    /// From `time` on the hart of a machine is in the state of this name.
    pub fn state(&mut self, time: u64, id: u32) -> bool {
        self.event(Tag::State, false, Some(time), |out| out.number(id.into()))
    }

    /// The same of the hart of a card that executes the code of `thread` in it.
    pub fn state_of(&mut self, time: u64, id: u32, thread: Option<u32>) -> bool {
        self.event(Tag::State, thread.is_some(), Some(time), |out| {
            out.number(id.into());
            if let Some(thread) = thread {
                out.number(thread.into());
            }
        })
    }

    /// In the `duration` until `time` the thread has done what the rows say. Of several sums of an
    /// interval one has its lanes, and the others have none.
    pub fn sum(&mut self, time: u64, duration: u64, lanes: &Lanes, rows: &[Row]) -> bool {
        self.event(Tag::Sum, false, Some(time), |out| {
            out.number(duration);
            sum_rows::put(out, lanes, rows);
        })
    }

    /// Any event but a sum. `false` also for one.
    pub fn put(&mut self, event: &Event<'_>) -> bool {
        let time = event.time;
        match event.what {
            What::ThreadStart { name } => self.thread_start(time, name),
            What::ThreadEnd => self.thread_end(time),
            What::Name {
                id,
                text,
                file,
                line,
            } => self.name(id, text, file, line),
            What::Enter {
                side,
                function,
                site,
                depth,
                parts,
            } => self.event(Tag::Enter, side == Side::Nxp, Some(time), |out| {
                put_enter(out, (function, site), depth, parts);
            }),
            What::Leave { how, depth, parts } => {
                self.event(Tag::Leave, how == How::Jump, Some(time), |out| {
                    out.number(depth.into());
                    put_parts(out, parts);
                })
            }
            What::Wait { duration, core } => self.wait(time, duration, core),
            What::Way { duration, hart } => self.way(time, duration, hart),
            What::Counter { scope, id, value } => self.counter(time, scope, id, value),
            What::Message {
                from,
                under_way,
                id,
            } => self.message(time, from, under_way, id),
            What::State { id, thread } => self.state_of(time, id, thread),
            What::Sample {
                side,
                weight,
                staying,
                stack,
            } => self.event(Tag::Sample, side == Side::Nxp, Some(time), |out| {
                out.number(weight);
                out.number(staying);
                out.number(stack.take(MAX_STACK).count() as u64);
                for function in stack.take(MAX_STACK) {
                    out.number(function.into());
                }
            }),
            What::Sum { .. } => false,
        }
    }

    /// At `time` a message of this name has come to the tile of a machine, which thread `from` had sent
    /// `under_way` picoseconds before.
    pub fn message(&mut self, time: u64, from: u32, under_way: u64, id: u32) -> bool {
        self.event(Tag::Message, false, Some(time), |out| {
            out.number(from.into());
            out.number(under_way);
            out.number(id.into());
        })
    }

    /// The thread runs on `side` in the functions of `stack`, innermost first. The sample stands
    /// for `weight` femtoseconds, and for `staying` where nothing migrates.
    pub fn sample(
        &mut self,
        time: u64,
        side: Side,
        weight: u64,
        staying: u64,
        stack: &[u32],
    ) -> bool {
        let stack = stack.get(..MAX_STACK).unwrap_or(stack);
        self.event(Tag::Sample, side == Side::Nxp, Some(time), |out| {
            out.number(weight);
            out.number(staying);
            out.number(stack.len() as u64);
            for &function in stack {
                out.number(function.into());
            }
        })
    }

    fn event(
        &mut self,
        tag: Tag,
        flag: bool,
        time: Option<u64>,
        body: impl FnOnce(&mut Fixed<'_>),
    ) -> bool {
        let now = time.map_or(self.time, |time| time.max(self.time));
        // A block's length has 32 bits.
        let room = self.buffer.len().min(u32::MAX as usize);
        let Some(buffer) = self.buffer.get_mut(..room) else {
            return false;
        };
        let mut out = Fixed {
            buffer,
            at: self.used,
            full: false,
        };
        if self.used == 0 {
            out.header(Kind::Events, self.process, self.thread, 0);
            out.number(self.time);
        }
        out.byte(tag.byte(flag));
        if time.is_some() {
            out.number(now.saturating_sub(self.time));
        }
        body(&mut out);
        if out.full {
            return false;
        }
        self.used = out.at;
        self.time = now;
        true
    }
}

fn put_enter(out: &mut Fixed<'_>, (function, site): (u32, u32), depth: u32, parts: Parts<'_>) {
    out.number(function.into());
    out.number(site.into());
    out.number(depth.into());
    put_parts(out, parts);
}

fn put_parts(out: &mut Fixed<'_>, parts: Parts<'_>) {
    out.number(parts.count() as u64);
    for (name, duration) in parts {
        out.number(name.into());
        out.number(duration);
    }
}

/// The block with which a process begins.
pub fn process_block(process: u32, program: &[u8], platform: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    payload.text(program);
    payload.text(platform);
    block(Kind::Process, process, &payload)
}

/// That the run which has process `process` was begun at `date` (seconds since 1970, UTC) by the
/// command `words`. Behind that process's first block.
pub fn run_block<'w>(
    process: u32,
    date: u64,
    words: impl ExactSizeIterator<Item = &'w [u8]>,
) -> Vec<u8> {
    let mut payload = Vec::new();
    payload.number(date);
    payload.number(words.len() as u64);
    for word in words {
        payload.text(word);
    }
    block(Kind::Run, process, &payload)
}

/// A block that is no thread's.
pub(super) fn block(kind: Kind, process: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + payload.len());
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.header(kind, process, 0, length);
    out.extend(payload.iter().take(length as usize));
    out
}
