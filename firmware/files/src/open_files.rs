//! Open files, and the requests of their clients for pieces (the file protocol, `docs/accelerators.md`).
use flick_abi::card::rights;
use flick_abi::file_protocol::{Operation, Request};
use flick_abi::file_session::flags;

use crate::contents::Contents;
use crate::file_system::{FileSystem, Node};
use crate::{Failure, Memory};

/// Open files of all sessions.
pub const OPEN_FILES: usize = 64;
/// Those of one session.
pub const OPEN_FILES_OF_SESSION: usize = 16;

/// How a client uses a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Bytes that the file has.
    Within,
    /// New bytes behind its end.
    Behind,
}

/// What a client has access to.
#[derive(Clone, Copy, Debug)]
struct Piece {
    position: u64,
    length: u64,
    usage: Use,
}

/// An open file.
#[derive(Clone, Copy, Debug)]
struct Open {
    session: u8,
    node: u16,
    flags: u64,
    /// The place of its position.
    position: u8,
    piece: Option<Piece>,
    /// Who has this key may have it (`None`: it has its client).
    key: Option<u64>,
    /// The client may reach bytes of the memory, also those of a piece that it has committed.
    shows: bool,
    /// Some of them are not the file's any more.
    is_to_hide: bool,
}

impl Open {
    fn hide(&mut self) {
        self.is_to_hide |= core::mem::take(&mut self.shows);
    }
}

/// A position, which open files of several clients may have together.
#[derive(Clone, Copy, Debug)]
struct Position {
    at: u64,
    /// Open files.
    users: u8,
}

/// All of them.
#[derive(Debug)]
pub struct OpenFiles {
    all: [Option<Open>; OPEN_FILES],
    positions: [Position; OPEN_FILES],
}

impl OpenFiles {
    /// None.
    pub const fn new() -> Self {
        Self {
            all: [None; OPEN_FILES],
            positions: [Position { at: 0, users: 0 }; OPEN_FILES],
        }
    }

    fn get(&mut self, file: u64) -> Result<&mut Open, Failure> {
        let place = usize::try_from(file).ok();
        let open = place.and_then(|place| self.all.get_mut(place));
        open.and_then(Option::as_mut).ok_or(Failure::BadFile)
    }

    /// The position of an open file.
    fn position(&mut self, file: u64) -> Result<&mut u64, Failure> {
        let place = usize::from(self.get(file)?.position);
        Ok(&mut self.positions[place].at)
    }

    /// Has a session as many as it may have?
    fn has_too_many(&self, session: u8) -> bool {
        let own = self.all.iter().flatten();
        own.filter(|open| open.session == session).count() >= OPEN_FILES_OF_SESSION
    }

    /// A place for an open file of a session.
    fn free(&self, session: u8) -> Result<usize, Failure> {
        let free = self.all.iter().position(Option::is_none);
        let free = free.filter(|_| !self.has_too_many(session));
        free.ok_or(Failure::TooMany)
    }

    /// One client at a time has a piece at a position that several have.
    fn check_position_is_free(&mut self, file: u64) -> Result<(), Failure> {
        let position = self.get(file)?.position;
        let is_it = |(n, open): (u64, &Option<Open>)| {
            let open = open.filter(|open| open.position == position && n != file);
            open.is_some_and(|open| open.piece.is_some())
        };
        match (0..).zip(&self.all).any(is_it) {
            true => Err(Failure::Busy),
            false => Ok(()),
        }
    }
}

/// The answer to a request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It may use these bytes of the memory, with these rights, and no others.
    Piece {
        /// Where they begin.
        offset: u64,
        /// How many. 0: it is the end.
        length: u64,
        /// [`rights`].
        rights: u64,
    },
    /// Two words. What the client may use stays.
    Words(u64, u64),
}

impl FileSystem {
    fn contents(&mut self, node: u16) -> Result<&mut Contents, Failure> {
        match &mut self.held(node).node {
            Node::File(contents) => Ok(contents),
            _ => Err(Failure::IsDirectory),
        }
    }

    /// Nobody has a piece of a file any more, because its blocks go.
    fn take_pieces(&mut self, node: u16) {
        for open in self.open.all.iter_mut().flatten() {
            if open.node == node {
                open.piece = None;
                open.hide();
            }
        }
    }

    /// The session of an open file.
    ///
    /// # Errors
    /// There is no such file.
    pub fn session_of(&mut self, file: u64) -> Result<u8, Failure> {
        Ok(self.open.get(file)?.session)
    }

    /// An open file whose client must not reach anything any more. It is asked for behind each request, until there
    /// is none.
    pub fn next_to_hide(&mut self) -> Option<u64> {
        let mut all = self.open.all.iter_mut();
        let is_it = |open: &mut Option<Open>| {
            open.as_mut()
                .is_some_and(|open| core::mem::take(&mut open.is_to_hide))
        };
        all.position(is_it).map(|place| place as u64)
    }

    /// Opens a file of a path for a session. Returns its number and its size.
    ///
    /// # Errors
    /// It is not there, or no file, or there are too many.
    pub fn open(&mut self, session: u8, path: &[u8], how: u64) -> Result<(u64, u64), Failure> {
        let free = self.open.free(session)?;
        let node = match self.find(path) {
            Ok(_) if how & flags::CREATE != 0 && how & flags::EXCLUSIVE != 0 => {
                return Err(Failure::Exists);
            }
            Err(Failure::NotFound) if how & flags::CREATE != 0 => self.make_file(path)?,
            found => found?,
        };
        self.contents(node)?;
        if how & flags::TRUNCATE != 0 && how & flags::WRITE != 0 {
            self.take_pieces(node);
            self.cut(node, 0)?;
        }
        self.held(node).users += 1;
        let mut positions = self.open.positions.iter();
        // There are as many as open files.
        let position = positions.position(|position| position.users == 0);
        let position = position.ok_or(Failure::TooMany)?;
        self.open.positions[position] = Position { at: 0, users: 1 };
        self.open.all[free] = Some(Open {
            session,
            node,
            flags: how,
            position: position as u8,
            piece: None,
            key: None,
            shows: false,
            is_to_hide: false,
        });
        Ok((free as u64, self.contents(node)?.size))
    }

    /// The same open file for somebody else, with the same position: it is the session's until another one shows
    /// the key. Returns its number.
    ///
    /// # Errors
    /// The session has no such file, or too many.
    pub fn share(&mut self, session: u8, file: u64, key: u64) -> Result<u64, Failure> {
        let open = *self.of_session(session, file)?;
        let free = self.open.free(session)?;
        self.held(open.node).users += 1;
        self.open.positions[usize::from(open.position)].users += 1;
        self.open.all[free] = Some(Open {
            piece: None,
            key: Some(key),
            shows: false,
            is_to_hide: false,
            ..open
        });
        Ok(free as u64)
    }

    /// A shared file is a session's from now on. Returns how it is open.
    ///
    /// # Errors
    /// Nothing is shared by this number and key, or the session has too many.
    pub fn adopt(&mut self, session: u8, file: u64, key: u64) -> Result<u64, Failure> {
        if self.open.get(file)?.key != Some(key) {
            return Err(Failure::BadFile);
        }
        if self.open.get(file)?.session != session && self.open.has_too_many(session) {
            return Err(Failure::TooMany);
        }
        let open = self.open.get(file)?;
        (open.session, open.key) = (session, None);
        let &mut Open {
            flags, position, ..
        } = open;
        let is_shared = self.open.positions[usize::from(position)].users > 1;
        Ok(flags | if is_shared { flags::SHARED } else { 0 })
    }

    fn cut(&mut self, node: u16, size: u64) -> Result<(), Failure> {
        if let Node::File(contents) = &mut self.nodes[usize::from(node)].node {
            self.extents.cut(contents, size);
        }
        Ok(())
    }

    /// Closes an open file of a session. A piece that was not committed is as if it had not been.
    ///
    /// # Errors
    /// The session has no such file.
    pub fn close(&mut self, session: u8, file: u64) -> Result<(), Failure> {
        let &mut Open {
            node,
            piece,
            position,
            ..
        } = self.of_session(session, file)?;
        self.open.positions[usize::from(position)].users -= 1;
        if piece.is_some_and(|piece| piece.usage == Use::Behind) {
            let size = self.contents(node)?.size;
            self.cut(node, size)?;
        }
        self.open.all[file as usize] = None;
        self.held(node).users -= 1;
        self.drop_unused(node);
        Ok(())
    }

    fn of_session(&mut self, session: u8, file: u64) -> Result<&mut Open, Failure> {
        let open = self.open.get(file)?;
        match open.session == session {
            true => Ok(open),
            false => Err(Failure::BadFile),
        }
    }

    /// A file that a session has open, at a number or behind it. When the session is over, they are closed.
    pub fn any_of(&self, session: u8, from: u64) -> Option<u64> {
        let all = (0..).zip(&self.open.all).skip(from as usize);
        let mut own = all.filter(|(_, open)| open.is_some_and(|open| open.session == session));
        own.next().map(|(file, _)| file)
    }

    /// An open file has this size from now on.
    ///
    /// # Errors
    /// It is not open for writing, or there is no room.
    pub fn resize(
        &mut self,
        session: u8,
        file: u64,
        size: u64,
        memory: &mut impl Memory,
    ) -> Result<(), Failure> {
        let &mut Open { node, flags, .. } = self.of_session(session, file)?;
        if flags & flags::WRITE == 0 {
            return Err(Failure::BadFile);
        }
        self.take_pieces(node);
        let before = self.contents(node)?.size;
        self.cut(node, before.min(size))?;
        self.fill_up_to(node, size, memory)
    }

    fn fill_up_to(
        &mut self,
        node: u16,
        size: u64,
        memory: &mut impl Memory,
    ) -> Result<(), Failure> {
        match &mut self.nodes[usize::from(node)].node {
            Node::File(contents) if contents.size < size => {
                self.extents.extend(contents, size, memory)
            }
            _ => Ok(()),
        }
    }

    /// The client has used the first bytes of its piece (`None`: all of them), and has none any more.
    fn settle(&mut self, file: u64, used: Option<u64>) -> Result<u64, Failure> {
        let open = self.open.get(file)?;
        let Some(piece) = open.piece else {
            return match used {
                None | Some(0) => Ok(0),
                Some(_) => Err(Failure::Invalid),
            };
        };
        let used = used.unwrap_or(piece.length);
        if used > piece.length {
            return Err(Failure::Invalid);
        }
        open.piece = None;
        let node = open.node;
        if piece.usage == Use::Behind {
            // The rest is free from now on.
            open.hide();
        }
        *self.open.position(file)? = piece.position + used;
        if piece.usage == Use::Behind {
            self.contents(node)?.size = piece.position + used;
            self.cut(node, piece.position + used)?;
        }
        Ok(used)
    }

    /// Executes a request of the file protocol.
    ///
    /// # Errors
    /// The file is not open in this way, another client writes behind its end, or there is no room.
    pub fn request(
        &mut self,
        file: u64,
        request: &Request,
        memory: &mut impl Memory,
    ) -> Result<Reply, Failure> {
        match request.operation {
            Operation::Commit => {
                let used = self.settle(file, Some(request.first))?;
                return Ok(Reply::Words(0, used));
            }
            _ => self.settle(file, None)?,
        };
        let node = self.open.get(file)?.node;
        match request.operation {
            Operation::Stat => {
                let about = self.about_node(node);
                Ok(Reply::Words(about.kind, about.size))
            }
            Operation::Seek => {
                self.open.check_position_is_free(file)?;
                let base = match request.second {
                    0 => 0,
                    1 => *self.open.position(file)?,
                    2 => self.contents(node)?.size,
                    _ => return Err(Failure::Invalid),
                };
                let to = base.checked_add_signed(request.first as i64);
                let to = to.filter(|&to| to <= i64::MAX as u64);
                let to = to.ok_or(Failure::Invalid)?;
                *self.open.position(file)? = to;
                Ok(Reply::Words(to, 0))
            }
            Operation::NextIn => self.next_piece(file, rights::READ, memory),
            Operation::NextOut => self.next_piece(file, rights::WRITE, memory),
            Operation::NextInOut => self.next_piece(file, rights::READ | rights::WRITE, memory),
            // What was used is committed. The file stays open, for others that may have its capabilities.
            Operation::End | Operation::Commit => Ok(Reply::Words(0, 0)),
        }
    }

    fn next_piece(
        &mut self,
        file: u64,
        rights: u64,
        memory: &mut impl Memory,
    ) -> Result<Reply, Failure> {
        let &mut Open { node, flags, .. } = self.open.get(file)?;
        self.open.check_position_is_free(file)?;
        let mut position = *self.open.position(file)?;
        if rights & !flags != 0 {
            return Err(Failure::BadFile);
        }
        let writes = rights & rights::WRITE != 0;
        if writes && flags & flags::APPEND != 0 {
            position = self.contents(node)?.size;
        }
        if writes && position > self.contents(node)?.size {
            self.check_end_is_free(node)?;
            self.fill_up_to(node, position, memory)?;
        }
        let Node::File(contents) = &self.nodes[usize::from(node)].node else {
            return Err(Failure::IsDirectory);
        };
        let (range, usage) = match self.extents.find(contents, position, contents.size) {
            Some(range) => (range, Use::Within),
            None if writes => {
                self.check_end_is_free(node)?;
                let Node::File(contents) = &mut self.nodes[usize::from(node)].node else {
                    return Err(Failure::IsDirectory);
                };
                (self.extents.reserve(contents, memory)?, Use::Behind)
            }
            None => {
                return Ok(Reply::Piece {
                    offset: 0,
                    length: 0,
                    rights: 0,
                });
            }
        };
        *self.open.position(file)? = position;
        let open = self.open.get(file)?;
        (open.shows, open.is_to_hide) = (true, false);
        open.piece = Some(Piece {
            position,
            length: range.length,
            usage,
        });
        Ok(Reply::Piece {
            offset: range.offset,
            length: range.length,
            rights,
        })
    }

    /// One client at a time writes behind the end of a file.
    fn check_end_is_free(&self, node: u16) -> Result<(), Failure> {
        let writes = |open: &Open| {
            let piece = open.piece.filter(|_| open.node == node);
            piece.is_some_and(|piece| piece.usage == Use::Behind)
        };
        match self.open.all.iter().flatten().any(writes) {
            true => Err(Failure::Exists),
            false => Ok(()),
        }
    }
}
