//! Pipes: a ring of memory each, of which readers and writers get pieces in turn. A request that has to wait is
//! answered late.
use flick_abi::file_protocol::{DOES_NOT_WAIT, Operation, Request};
use flick_abi::file_session::ready;

use crate::shares::allowed;
use crate::{Failure, NAME, Reply};

/// Pipes at most.
pub const PIPES: usize = 16;
/// Ends of all pipes.
pub const ENDS: usize = 32;
/// Bytes of a pipe.
pub const PIPE_SIZE: u64 = 64 << 10;
/// A client gets at most this part of a pipe, divided by the clients of its side.
const PART: u64 = 4;

/// The side of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
}

/// The clients of a side.
#[derive(Clone, Copy, Debug, Default)]
struct Clients {
    /// Ends that are open, and have not said that they are done.
    count: u64,
    /// There has been one: without any more, it is the end.
    has_been: bool,
    /// Who has a piece: one client at a time.
    holder: Option<u8>,
    /// Bytes that it has had from the beginning on.
    done: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pipe {
    name: [u8; NAME],
    /// 0: it has none.
    length: u8,
    reads: Clients,
    writes: Clients,
    /// Ends, also those that are done.
    users: u64,
}

impl Pipe {
    fn side(&mut self, side: Side) -> &mut Clients {
        match side {
            Side::Reads => &mut self.reads,
            Side::Writes => &mut self.writes,
        }
    }

    /// Bytes that were written and not read.
    fn filled(&self) -> u64 {
        self.writes.done - self.reads.done
    }
}

/// An end that a session has open.
#[derive(Clone, Copy, Debug)]
struct End {
    session: u8,
    pipe: u8,
    side: Side,
    /// Bytes of its piece.
    piece: u64,
    is_done: bool,
    /// Who has this key may have it (`None`: it has its client).
    key: Option<u64>,
    /// The request that waits, and when it came.
    waiting: Option<(u64, u64)>,
}

/// A late answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The end.
    pub end: u64,
    /// What the request was handed in with.
    pub token: u64,
    /// Its answer.
    pub reply: Result<Reply, Failure>,
}

/// All pipes.
#[derive(Debug)]
pub struct Pipes {
    pipes: [Option<Pipe>; PIPES],
    ends: [Option<End>; ENDS],
    /// Requests that have waited so far.
    count: u64,
}

impl Default for Pipes {
    fn default() -> Self {
        Self::new()
    }
}

impl Pipes {
    /// None.
    pub const fn new() -> Self {
        Self {
            pipes: [None; PIPES],
            ends: [None; ENDS],
            count: 0,
        }
    }

    fn end(&mut self, end: u64) -> Result<&mut End, Failure> {
        let place = usize::try_from(end).ok();
        let found = place.and_then(|place| self.ends.get_mut(place));
        found.and_then(Option::as_mut).ok_or(Failure::BadFile)
    }

    fn pipe(&mut self, pipe: u8) -> Result<&mut Pipe, Failure> {
        let found = self.pipes.get_mut(usize::from(pipe));
        found.and_then(Option::as_mut).ok_or(Failure::BadFile)
    }

    /// The pipe of an end, which has its own range of the memory.
    ///
    /// # Errors
    /// There is no such end.
    pub fn pipe_of(&mut self, end: u64) -> Result<u8, Failure> {
        Ok(self.end(end)?.pipe)
    }

    /// Opens an end of the pipe of a name, which is made if it is not there. A pipe without a name is new.
    /// Returns the end, and whether the pipe is new.
    ///
    /// # Errors
    /// The name, or there is no place.
    pub fn open(&mut self, session: u8, name: &[u8], side: Side) -> Result<(u64, bool), Failure> {
        if name.len() > NAME {
            return Err(Failure::NameTooLong);
        }
        let is_it = |pipe: &Pipe| pipe.length > 0 && &pipe.name[..usize::from(pipe.length)] == name;
        let known = self
            .pipes
            .iter()
            .position(|pipe| pipe.as_ref().is_some_and(is_it));
        let free = self.pipes.iter().position(Option::is_none);
        let pipe = known.or(free).ok_or(Failure::NoMemory)? as u8;
        if known.is_none() {
            if allowed(self.pipes_of(session), self.free_pipes()) == 0 {
                return Err(Failure::NoMemory);
            }
            let mut own = [0; NAME];
            own[..name.len()].copy_from_slice(name);
            self.pipes[usize::from(pipe)] = Some(Pipe {
                name: own,
                length: name.len() as u8,
                reads: Clients::default(),
                writes: Clients::default(),
                users: 0,
            });
        }
        let opened = self.open_end(session, pipe, side);
        if opened.is_err() && known.is_none() {
            self.pipes[usize::from(pipe)] = None;
        }
        Ok((opened?, known.is_none()))
    }

    fn free_pipes(&self) -> u32 {
        self.pipes.iter().filter(|pipe| pipe.is_none()).count() as u32
    }

    fn ends_of(&self, session: u8) -> impl Iterator<Item = &End> {
        let ends = self.ends.iter().flatten();
        ends.filter(move |end| end.session == session)
    }

    /// Pipes of which a session has an end.
    fn pipes_of(&self, session: u8) -> u32 {
        let pipes = self
            .ends_of(session)
            .fold(0_u32, |all, end| all | 1 << end.pipe);
        pipes.count_ones()
    }

    /// Opens an end of a pipe.
    ///
    /// # Errors
    /// There is no place, or the session has its share, or there is no such pipe.
    pub fn open_end(&mut self, session: u8, pipe: u8, side: Side) -> Result<u64, Failure> {
        let used = self.ends_of(session).count() as u32;
        let count = self.ends.iter().filter(|end| end.is_none()).count();
        let free = self.ends.iter().position(Option::is_none);
        let free = free.filter(|_| allowed(used, count as u32) > 0);
        let free = free.ok_or(Failure::TooMany)?;
        let of = self.pipe(pipe)?;
        of.users += 1;
        let clients = of.side(side);
        clients.count += 1;
        clients.has_been = true;
        self.ends[free] = Some(End {
            session,
            pipe,
            side,
            piece: 0,
            is_done: false,
            key: None,
            waiting: None,
        });
        Ok(free as u64)
    }

    fn of_session(&mut self, session: u8, end: u64) -> Result<&mut End, Failure> {
        let of = self.end(end)?;
        match of.session == session {
            true => Ok(of),
            false => Err(Failure::BadFile),
        }
    }

    /// Another end of the same side for somebody else: it is the session's until another one shows the key. Returns
    /// its number.
    ///
    /// # Errors
    /// The session has no such end, or there is no place.
    pub fn share(&mut self, session: u8, end: u64, key: u64) -> Result<u64, Failure> {
        let &mut End { pipe, side, .. } = self.of_session(session, end)?;
        let shared = self.open_end(session, pipe, side)?;
        self.end(shared)?.key = Some(key);
        Ok(shared)
    }

    /// A shared end is a session's from now on. Returns its side, and whether the side has other clients.
    ///
    /// # Errors
    /// Nothing is shared by this number and key.
    pub fn adopt(&mut self, session: u8, end: u64, key: u64) -> Result<(Side, bool), Failure> {
        let of = self.end(end)?;
        if of.key != Some(key) {
            return Err(Failure::BadFile);
        }
        (of.session, of.key) = (session, None);
        let &mut End { pipe, side, .. } = of;
        Ok((side, self.pipe(pipe)?.side(side).count > 1))
    }

    /// Which requests of an end would not wait: [`ready`].
    ///
    /// # Errors
    /// The session has no such end.
    pub fn ready(&mut self, session: u8, end: u64) -> Result<u64, Failure> {
        let &mut End { pipe, side, .. } = self.of_session(session, end)?;
        let of = self.pipe(pipe)?;
        let (others, bit, has_room) = match side {
            Side::Reads => (of.writes, ready::READ, of.filled() > 0),
            Side::Writes => (of.reads, ready::WRITE, of.filled() < PIPE_SIZE),
        };
        let is_held = of
            .side(side)
            .holder
            .is_some_and(|holder| u64::from(holder) != end);
        let is_gone = others.has_been && others.count == 0;
        let is_early = side == Side::Writes && !others.has_been;
        let waits = !has_room || is_held || is_early;
        Ok(match (is_gone, waits) {
            // A writer gets an error, and a reader what is left.
            (true, _) => bit | ready::GONE,
            (false, true) => 0,
            (false, false) => bit,
        })
    }

    /// Closes an end of a session. If a request of it waits, its token is returned: it needs an answer.
    ///
    /// # Errors
    /// The session has no such end.
    pub fn close(&mut self, session: u8, end: u64) -> Result<Option<u64>, Failure> {
        let &mut End { pipe, waiting, .. } = self.of_session(session, end)?;
        self.settle(end, Some(0))?;
        self.is_done(end)?;
        self.ends[end as usize] = None;
        let of = self.pipe(pipe)?;
        of.users -= 1;
        if of.users == 0 {
            self.pipes[usize::from(pipe)] = None;
        }
        Ok(waiting.map(|(token, _)| token))
    }

    /// An end that a session has open, at a number or behind it.
    pub fn any_of(&self, session: u8, from: u64) -> Option<u64> {
        let all = (0..).zip(&self.ends).skip(from as usize);
        let mut own = all.filter(|(_, end)| end.is_some_and(|end| end.session == session));
        own.next().map(|(end, _)| end)
    }

    /// The client of an end uses it no more.
    fn is_done(&mut self, end: u64) -> Result<(), Failure> {
        let &mut End {
            pipe,
            side,
            is_done,
            ..
        } = self.end(end)?;
        if !is_done {
            self.end(end)?.is_done = true;
            self.pipe(pipe)?.side(side).count -= 1;
        }
        Ok(())
    }

    /// The client has used the first bytes of its piece (`None`: all), and has none any more.
    fn settle(&mut self, end: u64, used: Option<u64>) -> Result<u64, Failure> {
        let of = self.end(end)?;
        let used = used.unwrap_or(of.piece);
        if used > of.piece {
            return Err(Failure::Invalid);
        }
        let End {
            pipe, side, piece, ..
        } = *of;
        of.piece = 0;
        if piece > 0 {
            let clients = self.pipe(pipe)?.side(side);
            clients.holder = None;
            clients.done += used;
        }
        Ok(used)
    }

    /// A piece for an end. `None`: it has to wait.
    fn next(&mut self, end: u64) -> Result<Option<Reply>, Failure> {
        let &mut End {
            pipe,
            side,
            is_done,
            ..
        } = self.end(end)?;
        let of = self.pipe(pipe)?;
        let room = match side {
            Side::Reads => of.filled(),
            Side::Writes => PIPE_SIZE - of.filled(),
        };
        let (others, clients) = match side {
            Side::Reads => (of.writes, &mut of.reads),
            Side::Writes => (of.reads, &mut of.writes),
        };
        let has_ended = others.has_been && others.count == 0;
        if is_done || side == Side::Writes && has_ended {
            return Err(if side == Side::Writes {
                Failure::NoReader
            } else {
                Failure::BadFile
            });
        }
        // Without a reader the bytes would go with the writer.
        let is_early = side == Side::Writes && !others.has_been;
        if clients.holder.is_some() || room == 0 || is_early {
            let is_end = side == Side::Reads && has_ended && room == 0;
            return Ok(is_end.then_some(Reply::Piece {
                offset: 0,
                length: 0,
                rights: 0,
            }));
        }
        let offset = clients.done % PIPE_SIZE;
        let most = PIPE_SIZE / (PART * clients.count.max(1));
        let length = room.min(most).min(PIPE_SIZE - offset);
        clients.holder = Some(end as u8);
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
    /// The other side is gone, or the end is for something else.
    pub fn request(
        &mut self,
        end: u64,
        request: &Request,
        token: u64,
    ) -> Result<Option<Reply>, Failure> {
        let side = self.end(end)?.side;
        let done = match request.operation {
            Operation::Commit => {
                let used = self.settle(end, Some(request.first))?;
                return Ok(Some(Reply::Words(0, used)));
            }
            _ => self.settle(end, None)?,
        };
        let _: u64 = done;
        match (request.operation, side) {
            (Operation::NextIn, Side::Reads) | (Operation::NextOut, Side::Writes) => {
                let next = self.next(end)?;
                if next.is_none() && request.first == DOES_NOT_WAIT {
                    return Err(Failure::Again);
                }
                if next.is_none() {
                    self.count += 1;
                    let count = self.count;
                    // A client has one request at a time. Another one would be from a second owner of its sender.
                    let of = self.end(end)?;
                    if of.waiting.is_some() {
                        return Err(Failure::Busy);
                    }
                    of.waiting = Some((token, count));
                }
                Ok(next)
            }
            (Operation::End, _) => {
                self.is_done(end)?;
                Ok(Some(Reply::Words(0, 0)))
            }
            (Operation::Stat, _) => {
                let pipe = self.end(end)?.pipe;
                let filled = self.pipe(pipe)?.filled();
                Ok(Some(Reply::Words(
                    flick_abi::file_session::kind::PIPE,
                    filled,
                )))
            }
            (Operation::Seek, _) => Err(Failure::NoSeek),
            _ => Err(Failure::BadFile),
        }
    }

    /// The next late answer. It is asked for behind each request, until there is none.
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
