//! A terminal: lines of input, of which readers get pieces in turn, and a buffer of each writer. A request that has
//! to wait is answered late.
use flick_abi::file_protocol::{DOES_NOT_WAIT, Operation, Request};
use flick_abi::file_session::{kind, ready};

use crate::{Failure, Late, Reply, Side};

/// Clients of the terminal at most.
pub const TERMINAL_ENDS: usize = 11;
/// Bytes of input that wait for readers at most.
pub const INPUT_SIZE: u64 = 4096;
/// Bytes of a writer's buffer.
pub const OUTPUT_SIZE: u64 = 4096;
/// The memory that it needs.
pub const TERMINAL_SIZE: u64 = INPUT_SIZE + TERMINAL_ENDS as u64 * OUTPUT_SIZE;

/// Ends the input, as on a terminal of Unix.
const CONTROL_D: u8 = 4;
/// Is in front of a byte that is one of the two.
const CONTROL_V: u8 = 0x16;

#[derive(Clone, Copy, Debug)]
struct End {
    session: u8,
    side: Side,
    /// Bytes of its piece.
    piece: u64,
    is_done: bool,
    /// Who has this key may have it (`None`: it has its client).
    key: Option<u64>,
    /// The request that waits, and when it came.
    waiting: Option<(u64, u64)>,
}

/// What a writer has written: a range of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

/// The input, and the clients.
#[derive(Debug)]
pub struct Terminal {
    ends: [Option<End>; TERMINAL_ENDS],
    /// A ring: the server's own copy, in which it looks for ends of lines.
    input: [u8; INPUT_SIZE as usize],
    /// Bytes that have come, and that were read.
    arrived: u64,
    read: u64,
    /// No more come.
    is_ended: bool,
    /// The last byte was [`CONTROL_V`].
    is_literal: bool,
    /// The reader that has a piece.
    holder: Option<u8>,
    output: Option<Output>,
    /// Requests that have waited so far.
    count: u64,
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Terminal {
    /// Without clients.
    pub const fn new() -> Self {
        Self {
            ends: [None; TERMINAL_ENDS],
            input: [0; INPUT_SIZE as usize],
            arrived: 0,
            read: 0,
            is_ended: false,
            is_literal: false,
            holder: None,
            output: None,
            count: 0,
        }
    }

    fn end(&mut self, end: u64) -> Result<&mut End, Failure> {
        let place = usize::try_from(end).ok();
        let found = place.and_then(|place| self.ends.get_mut(place));
        found.and_then(Option::as_mut).ok_or(Failure::BadFile)
    }

    fn of_session(&mut self, session: u8, end: u64) -> Result<&mut End, Failure> {
        let of = self.end(end)?;
        match of.session == session {
            true => Ok(of),
            false => Err(Failure::BadFile),
        }
    }

    /// Opens it for a client.
    ///
    /// # Errors
    /// It has too many.
    pub fn open(&mut self, session: u8, side: Side) -> Result<u64, Failure> {
        let used = self.ends.iter().flatten();
        let used = used.filter(|end| end.session == session).count() as u32;
        let count = self.ends.iter().filter(|end| end.is_none()).count() as u32;
        let free = self.ends.iter().position(Option::is_none);
        let free = free.filter(|_| crate::shares::allowed(used, count) > 0);
        let free = free.ok_or(Failure::TooMany)?;
        self.ends[free] = Some(End {
            session,
            side,
            piece: 0,
            is_done: false,
            key: None,
            waiting: None,
        });
        Ok(free as u64)
    }

    /// A client is gone. If a request of it waits, its token is returned: it needs an answer.
    ///
    /// # Errors
    /// The session has no such end.
    pub fn close(&mut self, session: u8, end: u64) -> Result<Option<u64>, Failure> {
        let &mut End { waiting, .. } = self.of_session(session, end)?;
        self.settle(end, Some(0))?;
        self.ends[end as usize] = None;
        Ok(waiting.map(|(token, _)| token))
    }

    /// An end that a session has open, at a number or behind it.
    pub fn any_of(&self, session: u8, from: u64) -> Option<u64> {
        let all = (0..).zip(&self.ends).skip(from as usize);
        let mut own = all.filter(|(_, end)| end.is_some_and(|end| end.session == session));
        own.next().map(|(end, _)| end)
    }

    /// Another end of the same side for somebody else, who shows the key. Returns its number.
    ///
    /// # Errors
    /// The session has no such end, or there is no place.
    pub fn share(&mut self, session: u8, end: u64, key: u64) -> Result<u64, Failure> {
        let side = self.of_session(session, end)?.side;
        let shared = self.open(session, side)?;
        self.end(shared)?.key = Some(key);
        Ok(shared)
    }

    /// A shared end is a session's from now on. Returns its side.
    ///
    /// # Errors
    /// Nothing is shared by this number and key.
    pub fn adopt(&mut self, session: u8, end: u64, key: u64) -> Result<Side, Failure> {
        let of = self.end(end)?;
        if of.key != Some(key) {
            return Err(Failure::BadFile);
        }
        (of.session, of.key) = (session, None);
        Ok(of.side)
    }

    /// Which requests of an end would not wait: [`ready`].
    ///
    /// # Errors
    /// The session has no such end.
    pub fn ready(&mut self, session: u8, end: u64) -> Result<u64, Failure> {
        let side = self.of_session(session, end)?.side;
        let is_free = self.holder.is_none_or(|holder| u64::from(holder) == end);
        Ok(match side {
            Side::Writes => ready::WRITE,
            Side::Reads if is_free && (self.arrived > self.read || self.is_ended) => ready::READ,
            Side::Reads => 0,
        })
    }

    /// The memory of an end: all input, or its own buffer.
    ///
    /// # Errors
    /// There is no such end.
    pub fn memory_of(&mut self, end: u64) -> Result<(u64, u64), Failure> {
        Ok(match self.end(end)?.side {
            Side::Reads => (0, INPUT_SIZE),
            Side::Writes => (INPUT_SIZE + end * OUTPUT_SIZE, OUTPUT_SIZE),
        })
    }

    /// The client has used the first bytes of its piece (`None`: all), and has none any more.
    fn settle(&mut self, end: u64, used: Option<u64>) -> Result<u64, Failure> {
        let of = self.end(end)?;
        let used = used.unwrap_or(of.piece);
        if used > of.piece {
            return Err(Failure::Invalid);
        }
        let End { side, piece, .. } = *of;
        of.piece = 0;
        match side {
            Side::Reads if piece > 0 => {
                self.holder = None;
                self.read += used;
            }
            Side::Writes if used > 0 => {
                let (offset, _) = self.memory_of(end)?;
                self.output = Some(Output {
                    offset,
                    length: used,
                });
            }
            _ => {}
        }
        Ok(used)
    }

    /// What the last request has written. It is asked for in front of the answer.
    pub fn take_output(&mut self) -> Option<Output> {
        self.output.take()
    }

    /// Bytes that a reader waits for, and that there is room for. 0: nobody waits, or no more come.
    pub fn wanted(&self) -> u64 {
        let is_it = |end: &End| end.side == Side::Reads && end.waiting.is_some();
        match self.ends.iter().flatten().any(is_it) && !self.is_ended {
            true => INPUT_SIZE - (self.arrived - self.read),
            false => 0,
        }
    }

    /// Input has come, as a console has it; no bytes are its end. It is stored by `store` (bytes and their offset).
    ///
    /// # Errors
    /// Those of `store`.
    pub fn arrive(
        &mut self,
        bytes: &[u8],
        mut store: impl FnMut(u64, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.is_ended |= bytes.is_empty();
        for &byte in bytes {
            if !self.is_literal && byte == CONTROL_V {
                self.is_literal = true;
                continue;
            }
            if !self.is_literal && byte == CONTROL_D {
                self.is_ended = true;
            }
            self.is_literal = false;
            // There is room for all that was wanted.
            if self.is_ended || self.arrived - self.read == INPUT_SIZE {
                break;
            }
            let offset = self.arrived % INPUT_SIZE;
            store(offset, &[byte])?;
            self.input[offset as usize] = byte;
            self.arrived += 1;
        }
        Ok(())
    }

    /// A line, or the part of it that has come.
    fn line(&self) -> u64 {
        let start = self.read % INPUT_SIZE;
        let most = (self.arrived - self.read).min(INPUT_SIZE - start);
        let bytes = &self.input[start as usize..][..most as usize];
        let end = bytes.iter().position(|&byte| byte == b'\n');
        end.map_or(most, |end| end as u64 + 1)
    }

    /// A piece for an end. `None`: it has to wait.
    fn next(&mut self, end: u64) -> Result<Option<Reply>, Failure> {
        let &mut End { side, is_done, .. } = self.end(end)?;
        if is_done {
            return Err(Failure::BadFile);
        }
        let (offset, length) = match side {
            Side::Writes => (0, OUTPUT_SIZE),
            Side::Reads if self.holder.is_some() => return Ok(None),
            Side::Reads => (self.read % INPUT_SIZE, self.line()),
        };
        if length == 0 {
            let is_end = self.is_ended.then_some(Reply::Piece {
                offset: 0,
                length: 0,
                rights: 0,
            });
            return Ok(is_end);
        }
        if side == Side::Reads {
            self.holder = Some(end as u8);
        }
        self.end(end)?.piece = length;
        Ok(Some(Reply::Piece {
            offset,
            length,
            rights: side as u64 + 1,
        }))
    }

    /// Executes a request of an end. `None`: it waits, and [`Self::next_late`] will answer it with its token.
    ///
    /// # Errors
    /// The end is for something else.
    pub fn request(
        &mut self,
        end: u64,
        request: &Request,
        token: u64,
    ) -> Result<Option<Reply>, Failure> {
        let side = self.end(end)?.side;
        if request.operation == Operation::Commit {
            let used = self.settle(end, Some(request.first))?;
            return Ok(Some(Reply::Words(0, used)));
        }
        self.settle(end, None)?;
        match (request.operation, side) {
            (Operation::NextIn, Side::Reads) | (Operation::NextOut, Side::Writes) => {
                let next = self.next(end)?;
                if next.is_none() && request.first == DOES_NOT_WAIT {
                    return Err(Failure::Again);
                }
                if next.is_none() {
                    self.count += 1;
                    let count = self.count;
                    let of = self.end(end)?;
                    if of.waiting.is_some() {
                        return Err(Failure::Busy);
                    }
                    of.waiting = Some((token, count));
                }
                Ok(next)
            }
            (Operation::End, _) => {
                self.end(end)?.is_done = true;
                Ok(Some(Reply::Words(0, 0)))
            }
            (Operation::Stat, _) => {
                Ok(Some(Reply::Words(kind::TERMINAL, self.arrived - self.read)))
            }
            (Operation::Seek, _) => Err(Failure::NoSeek),
            _ => Err(Failure::BadFile),
        }
    }

    /// The next late answer. It is asked for behind each request, and when input has come, until there is none.
    pub fn next_late(&mut self) -> Option<Late> {
        // Who came first is served first.
        let mut after = 0;
        loop {
            let waiting = (0..).zip(&self.ends).filter_map(|(n, end)| {
                let (token, count) = end.as_ref()?.waiting?;
                (count > after).then_some((count, n, token))
            });
            let (count, end, token) = waiting.min()?;
            after = count;
            let reply = match self.next(end) {
                Ok(None) => continue,
                Ok(Some(reply)) => Ok(reply),
                Err(failure) => Err(failure),
            };
            if let Ok(end) = self.end(end) {
                end.waiting = None;
            }
            return Some(Late { end, token, reply });
        }
    }
}
