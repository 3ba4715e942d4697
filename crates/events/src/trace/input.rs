//! The bytes of a trace, in memory or in a file. A reader needs memory for one block of a file.
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::trace_format::Reason;

/// Bytes of a file that are read at once.
const CHUNK: usize = 256 << 10;

/// Where the bytes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a> {
    Bytes(&'a [u8]),
    File(&'a File),
}

/// A part of the input that is in memory.
#[derive(Debug)]
pub(super) struct Window<'a> {
    input: Input<'a>,
    /// Of the whole input. What is appended later is not read.
    length: u64,
    begin: u64,
    buffer: Vec<u8>,
}

impl<'a> Window<'a> {
    pub fn new(input: Input<'a>) -> Result<Self, Reason> {
        let length = match input {
            Input::Bytes(bytes) => bytes.len() as u64,
            Input::File(file) => {
                let about = file.metadata();
                about.map_err(|error| Reason::Read(error.kind()))?.len()
            }
        };
        Ok(Self {
            input,
            length,
            begin: 0,
            buffer: Vec::new(),
        })
    }

    /// The bytes from `begin` on, as many as `length`, or as there are. Those until `until` are wanted next.
    pub fn get(&mut self, begin: u64, length: usize, until: u64) -> Result<&[u8], Reason> {
        let left = usize::try_from(self.length.saturating_sub(begin)).unwrap_or(usize::MAX);
        let length = length.min(left);
        if let Input::Bytes(bytes) = self.input {
            let begin = usize::try_from(begin).unwrap_or(usize::MAX);
            let end = begin.saturating_add(length);
            return bytes.get(begin..end).ok_or(Reason::Truncated);
        }
        let held = |window: &Self| {
            let from = usize::try_from(begin.checked_sub(window.begin)?).ok()?;
            let end = from.checked_add(length)?;
            (end <= window.buffer.len()).then_some(from..end)
        };
        let range = match held(self) {
            Some(range) => range,
            None => {
                let next = until.min(self.length).saturating_sub(begin);
                let next = usize::try_from(next).unwrap_or(usize::MAX);
                self.fill(begin, length.max(next.min(CHUNK)))?;
                0..length
            }
        };
        self.buffer.get(range).ok_or(Reason::Truncated)
    }

    fn fill(&mut self, begin: u64, length: usize) -> Result<(), Reason> {
        let Input::File(file) = self.input else {
            return Ok(());
        };
        self.begin = begin;
        self.buffer.resize(length, 0);
        // A block that was longer than the others leaves no memory behind.
        self.buffer.shrink_to(2 * CHUNK);
        file.read_exact_at(&mut self.buffer, begin)
            .map_err(|error| {
                self.buffer.clear();
                match error.kind() {
                    io::ErrorKind::UnexpectedEof => Reason::Truncated,
                    kind => Reason::Read(kind),
                }
            })
    }

    pub fn length(&self) -> u64 {
        self.length
    }
}
