//! Files and directories by their paths.
use flick_abi::file_session::kind;

use crate::contents::{Contents, Extents};
use crate::directories::{Entries, List, check_name};
use crate::open_files::OpenFiles;
use crate::shares::{NOBODY, Shares};
use crate::{Failure, Memory};

/// Files and directories at most.
pub const MOST_NODES: usize = 1024;
/// Names of a file at most.
const MOST_LINKS: u16 = 1000;
/// The directory that all paths begin at.
pub const ROOT: u16 = 0;

/// What a node is.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// Nothing.
    Free,
    /// A file, with its contents.
    File(Contents),
    /// A directory, with its entries, and the directory that it is in.
    Directory(List, u16),
}

/// A file or directory.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub node: Node,
    /// Names.
    pub links: u16,
    /// Clients that have it open.
    pub users: u16,
    /// The session that has made it.
    pub owner: u8,
}

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Blocks of data.
    pub blocks: u32,
    /// Extents of all files.
    pub extents: usize,
    /// Files and directories.
    pub nodes: usize,
    /// Names.
    pub entries: usize,
}

impl Limits {
    /// As much as the tables hold, with so much memory for data.
    pub const fn of_memory(size: u64) -> Self {
        Self {
            blocks: (size / crate::BLOCK) as u32,
            extents: usize::MAX,
            nodes: usize::MAX,
            entries: usize::MAX,
        }
    }
}

/// What there is to know of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// [`kind`].
    pub kind: u64,
    /// Bytes.
    pub size: u64,
    /// Names.
    pub links: u64,
    /// Its number.
    pub number: u64,
}

/// All files, and those that are open.
#[derive(Debug)]
pub struct FileSystem {
    pub(crate) nodes: [Held; MOST_NODES],
    nodes_used: usize,
    nodes_free: u32,
    node_shares: Shares,
    /// The session whose request is executed.
    client: u8,
    pub(crate) extents: Extents,
    entries: Entries,
    pub(crate) open: OpenFiles,
}

impl Default for FileSystem {
    fn default() -> Self {
        Self::new()
    }
}

impl FileSystem {
    /// Nothing, until [`Self::begin`].
    pub const fn new() -> Self {
        const FREE: Held = Held {
            node: Node::Free,
            links: 0,
            users: 0,
            owner: NOBODY,
        };
        Self {
            nodes: [FREE; MOST_NODES],
            nodes_used: 0,
            nodes_free: 0,
            node_shares: Shares::new(),
            client: NOBODY,
            extents: Extents::new(),
            entries: Entries::new(),
            open: OpenFiles::new(),
        }
    }

    /// An empty directory, and memory that is 0.
    pub fn begin(&mut self, limits: Limits) {
        self.nodes_used = limits.nodes.min(MOST_NODES);
        self.nodes_free = self.nodes_used.saturating_sub(1) as u32;
        self.extents.begin(limits.extents, limits.blocks);
        self.entries.begin(limits.entries);
        self.nodes[usize::from(ROOT)] = Held {
            node: Node::Directory(List::EMPTY, ROOT),
            links: 1,
            users: 0,
            owner: NOBODY,
        };
    }

    /// Requests of a session follow, and it has what they take. Before, they are of nobody.
    pub fn serve(&mut self, session: u8) {
        self.client = session;
        self.extents.client = session;
        self.entries.client = session;
    }

    /// A session is over, and its files are closed: what it has made is nobody's.
    pub fn end_session(&mut self, session: u8) {
        let owners = self.nodes.iter_mut().map(|held| &mut held.owner);
        self.node_shares.end(session, owners);
        self.extents.end_session(session);
        self.entries.end_session(session);
    }

    pub(crate) fn held(&mut self, node: u16) -> &mut Held {
        &mut self.nodes[usize::from(node)]
    }

    fn list_of(&self, node: u16) -> Result<List, Failure> {
        match self.nodes[usize::from(node)].node {
            Node::Directory(list, _) => Ok(list),
            _ => Err(Failure::NotDirectory),
        }
    }

    fn set_list(&mut self, node: u16, list: List) {
        if let Node::Directory(of, _) = &mut self.held(node).node {
            *of = list;
        }
    }

    /// What a part of a path leads to.
    fn step(&self, directory: u16, part: &[u8]) -> Result<u16, Failure> {
        let Node::Directory(list, parent) = &self.nodes[usize::from(directory)].node else {
            return Err(Failure::NotDirectory);
        };
        match part {
            b"" | b"." => Ok(directory),
            b".." => Ok(*parent),
            name => self.entries.find(list, name).ok_or(Failure::NotFound),
        }
    }

    /// The file or directory of a path.
    pub(crate) fn find(&self, path: &[u8]) -> Result<u16, Failure> {
        let mut parts = path.split(|&byte| byte == b'/');
        parts.try_fold(ROOT, |directory, part| self.step(directory, part))
    }

    /// The directory of a path's last part, and that part.
    fn find_place<'a>(&self, path: &'a [u8]) -> Result<(u16, &'a [u8]), Failure> {
        let trimmed = path.iter().rposition(|&byte| byte != b'/');
        let path = &path[..trimmed.map_or(0, |last| last + 1)];
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (before, name) = path.split_at(slash.map_or(0, |slash| slash + 1));
        check_name(name)?;
        let directory = self.find(before)?;
        self.list_of(directory)?;
        Ok((directory, name))
    }

    /// The directory and the name of something new.
    fn find_free<'a>(&self, path: &'a [u8]) -> Result<(u16, &'a [u8]), Failure> {
        // The root, and other paths without a name, are there.
        let place = self.find_place(path);
        let (directory, name) = match (place, self.find(path)) {
            (Err(Failure::Invalid), Ok(_)) => return Err(Failure::Exists),
            (place, _) => place?,
        };
        match self.step(directory, name) {
            Ok(_) => Err(Failure::Exists),
            Err(_) => Ok((directory, name)),
        }
    }

    fn name(&mut self, directory: u16, name: &[u8], node: u16) -> Result<(), Failure> {
        let mut list = self.list_of(directory)?;
        self.entries.add(&mut list, name, node)?;
        self.set_list(directory, list);
        self.held(node).links += 1;
        Ok(())
    }

    fn make(&mut self, directory: u16, name: &[u8], node: Node) -> Result<u16, Failure> {
        let used = &self.nodes[..self.nodes_used];
        let free = used.iter().position(|held| matches!(held.node, Node::Free));
        let place = free.ok_or(Failure::NoMemory)? as u16;
        let owner = self.client;
        if self.node_shares.allowed(owner, self.nodes_free) == 0 {
            return Err(Failure::NoMemory);
        }
        *self.held(place) = Held {
            node,
            links: 0,
            users: 0,
            owner,
        };
        self.name(directory, name, place)
            .inspect_err(|_| self.held(place).node = Node::Free)?;
        self.nodes_free -= 1;
        self.node_shares.take(owner, 1);
        Ok(place)
    }

    /// A new file.
    pub(crate) fn make_file(&mut self, path: &[u8]) -> Result<u16, Failure> {
        let (directory, name) = self.find_free(path)?;
        self.make(directory, name, Node::File(Contents::EMPTY))
    }

    /// A new directory.
    ///
    /// # Errors
    /// The name is there, or its directory is not, or there is no room.
    pub fn make_directory(&mut self, path: &[u8]) -> Result<(), Failure> {
        let (directory, name) = self.find_free(path)?;
        self.make(directory, name, Node::Directory(List::EMPTY, directory))?;
        Ok(())
    }

    /// A file gets one more name.
    ///
    /// # Errors
    /// It is a directory, or the name is there, or there is no room.
    pub fn link(&mut self, path: &[u8], new: &[u8]) -> Result<(), Failure> {
        let node = self.find(path)?;
        if matches!(self.held(node).node, Node::Directory(..)) {
            return Err(Failure::NotPermitted);
        }
        let (directory, name) = self.find_free(new)?;
        if self.held(node).links >= MOST_LINKS {
            return Err(Failure::TooManyLinks);
        }
        self.name(directory, name, node)
    }

    /// A file without names and users is gone.
    pub(crate) fn drop_unused(&mut self, node: u16) {
        let held = &mut self.nodes[usize::from(node)];
        if held.links > 0 || held.users > 0 {
            return;
        }
        if let Node::File(contents) = &mut held.node {
            self.extents.cut(contents, 0);
        }
        held.node = Node::Free;
        self.nodes_free += 1;
        self.node_shares.give_back(held.owner, 1);
    }

    fn remove(&mut self, directory: u16, name: &[u8], node: u16) -> Result<(), Failure> {
        let mut list = self.list_of(directory)?;
        self.entries.remove(&mut list, name);
        self.set_list(directory, list);
        self.held(node).links -= 1;
        self.drop_unused(node);
        Ok(())
    }

    /// A name of a file is no more. The file goes with its last name, when no client has it open.
    ///
    /// # Errors
    /// There is no such name, or it is of a directory.
    pub fn unlink(&mut self, path: &[u8]) -> Result<(), Failure> {
        let node = self.find(path)?;
        if matches!(self.held(node).node, Node::Directory(..)) {
            return Err(Failure::IsDirectory);
        }
        let (directory, name) = self.find_place(path)?;
        self.remove(directory, name, node)
    }

    fn check_empty(&self, directory: u16) -> Result<(), Failure> {
        match self.list_of(directory)?.is_empty() {
            true => Ok(()),
            false => Err(Failure::NotEmpty),
        }
    }

    /// A directory is no more.
    ///
    /// # Errors
    /// It is no directory, or it has entries.
    pub fn remove_directory(&mut self, path: &[u8]) -> Result<(), Failure> {
        let node = self.find(path)?;
        if node == ROOT {
            return Err(Failure::Busy);
        }
        let (directory, name) = self.find_place(path)?;
        self.check_empty(node)?;
        self.remove(directory, name, node)
    }

    /// Is a directory the other one, or somewhere below it?
    fn is_below(&self, directory: u16, top: u16) -> bool {
        let mut at = directory;
        loop {
            if at == top {
                return true;
            }
            match self.nodes[usize::from(at)].node {
                Node::Directory(_, parent) if at != ROOT => at = parent,
                _ => return false,
            }
        }
    }

    /// Can the file or directory take the place of another one?
    fn check_replaces(&mut self, node: u16, other: u16) -> Result<(), Failure> {
        let is_directory = matches!(self.held(node).node, Node::Directory(..));
        match (
            is_directory,
            matches!(self.held(other).node, Node::Directory(..)),
        ) {
            (false, true) => Err(Failure::IsDirectory),
            (true, false) => Err(Failure::NotDirectory),
            (false, false) => Ok(()),
            (true, true) if other == ROOT => Err(Failure::Busy),
            (true, true) => self.check_empty(other),
        }
    }

    /// A file or directory gets another name, in place of what has it.
    ///
    /// # Errors
    /// There is no such name, or what has the new name cannot be replaced.
    pub fn rename(&mut self, path: &[u8], new: &[u8]) -> Result<(), Failure> {
        let node = self.find(path)?;
        if node == ROOT {
            return Err(Failure::Busy);
        }
        let (from, old_name) = self.find_place(path)?;
        let (to, new_name) = self.find_place(new)?;
        if matches!(self.held(node).node, Node::Directory(..)) && self.is_below(to, node) {
            return Err(Failure::Invalid);
        }
        if let Ok(other) = self.step(to, new_name) {
            if other == node {
                return Ok(());
            }
            self.check_replaces(node, other)?;
            self.remove(to, new_name, other)?;
        }
        let mut list = self.list_of(from)?;
        let entry = self.entries.rename((&mut list, old_name), new_name);
        let entry = entry.ok_or(Failure::NotFound)?;
        self.set_list(from, list);
        let mut list = self.list_of(to)?;
        self.entries.put(&mut list, entry);
        self.set_list(to, list);
        if let Node::Directory(_, parent) = &mut self.held(node).node {
            *parent = to;
        }
        Ok(())
    }

    /// What there is to know of a file.
    ///
    /// # Errors
    /// It is not there.
    pub fn about(&self, path: &[u8]) -> Result<About, Failure> {
        Ok(self.about_node(self.find(path)?))
    }

    pub(crate) fn about_node(&self, node: u16) -> About {
        let held = &self.nodes[usize::from(node)];
        let (kind, size) = match held.node {
            Node::File(contents) => (kind::FILE, contents.size),
            _ => (kind::DIRECTORY, 0),
        };
        About {
            kind,
            size,
            links: held.links.into(),
            number: node.into(),
        }
    }

    /// Writes entries of a directory from one on: kind, name and a zero, as long as there is room. Returns how many
    /// bytes, and how many entries.
    ///
    /// # Errors
    /// It is no directory.
    pub fn list(&self, path: &[u8], first: u64, out: &mut [u8]) -> Result<(usize, u64), Failure> {
        let list = self.list_of(self.find(path)?)?;
        let (mut size, mut count) = (0, 0);
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        for entry in self.entries.list(&list).skip(first) {
            let name = entry.name();
            let Some(room) = out.get_mut(size..size + name.len() + 2) else {
                break;
            };
            room[0] = self.about_node(entry.node).kind as u8;
            room[1..=name.len()].copy_from_slice(name);
            room[name.len() + 1] = 0;
            size += room.len();
            count += 1;
        }
        Ok((size, count))
    }

    /// A file has these bytes, which come behind those that it has.
    pub(crate) fn append_bytes(
        &mut self,
        node: u16,
        mut bytes: &[u8],
        memory: &mut impl Memory,
    ) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let Node::File(contents) = &mut self.nodes[usize::from(node)].node else {
                return Err(Failure::IsDirectory);
            };
            let room = self.extents.reserve(contents, memory)?;
            let size = (bytes.len() as u64).min(room.length);
            let (piece, rest) = bytes.split_at(size as usize);
            memory.store(room.offset, piece)?;
            contents.size += size;
            let size = contents.size;
            self.extents.cut(contents, size);
            bytes = rest;
        }
        Ok(())
    }
}
