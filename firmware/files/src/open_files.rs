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
    position: u64,
    piece: Option<Piece>,
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

/// All of them.
#[derive(Debug)]
pub struct OpenFiles([Option<Open>; OPEN_FILES]);

impl OpenFiles {
    /// None.
    pub const fn new() -> Self {
        Self([None; OPEN_FILES])
    }

    fn get(&mut self, file: u64) -> Result<&mut Open, Failure> {
        let place = usize::try_from(file).ok();
        let open = place.and_then(|place| self.0.get_mut(place));
        open.and_then(Option::as_mut).ok_or(Failure::BadFile)
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
        for open in self.open.0.iter_mut().flatten() {
            if open.node == node {
                open.piece = None;
                open.hide();
            }
        }
    }

    /// An open file whose client must not reach anything any more. It is asked for behind each request, until there
    /// is none.
    pub fn next_to_hide(&mut self) -> Option<u64> {
        let mut all = self.open.0.iter_mut();
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
        let own = self.open.0.iter().flatten();
        let own = own.filter(|open| open.session == session).count();
        let free = self.open.0.iter().position(Option::is_none);
        let free = free.filter(|_| own < OPEN_FILES_OF_SESSION);
        let free = free.ok_or(Failure::TooMany)?;
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
        self.open.0[free] = Some(Open {
            session,
            node,
            flags: how,
            position: 0,
            piece: None,
            shows: false,
            is_to_hide: false,
        });
        Ok((free as u64, self.contents(node)?.size))
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
        let &mut Open { node, piece, .. } = self.of_session(session, file)?;
        if piece.is_some_and(|piece| piece.usage == Use::Behind) {
            let size = self.contents(node)?.size;
            self.cut(node, size)?;
        }
        self.open.0[file as usize] = None;
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
        let all = (0..).zip(&self.open.0).skip(from as usize);
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
        open.position = piece.position + used;
        let node = open.node;
        if piece.usage == Use::Behind {
            // The rest is free from now on.
            open.hide();
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
        let &mut Open { node, position, .. } = self.open.get(file)?;
        match request.operation {
            Operation::Stat => {
                let about = self.about_node(node);
                Ok(Reply::Words(about.kind, about.size))
            }
            Operation::Seek => {
                let base = match request.second {
                    0 => 0,
                    1 => position,
                    2 => self.contents(node)?.size,
                    _ => return Err(Failure::Invalid),
                };
                let to = base.checked_add_signed(request.first as i64);
                let to = to.filter(|&to| to <= i64::MAX as u64);
                let to = to.ok_or(Failure::Invalid)?;
                self.open.get(file)?.position = to;
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
        let &mut Open {
            node,
            flags,
            mut position,
            ..
        } = self.open.get(file)?;
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
        let open = self.open.get(file)?;
        open.position = position;
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
        match self.open.0.iter().flatten().any(writes) {
            true => Err(Failure::Exists),
            false => Ok(()),
        }
    }
}
