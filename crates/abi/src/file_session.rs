//! What clients and file servers tell each other by a session (`docs/files.md`). A request is a message of words: an
//! operation, and its arguments. An answer is words, too, and the first one is 0 or a [`Failure`]. Paths are in the
//! session's page, a part of the server's memory that both have. Requests for data of an open file are those of the
//! [`file_protocol`](crate::file_protocol).

/// Bytes of the session's page.
pub const PAGE_SIZE: u64 = 4096;
/// The name of a file server, if nothing else is said.
pub const NAME: &[u8] = b"files";
/// That of a server of pipes.
pub const PIPES: &[u8] = b"pipes";
/// That of a server of a terminal.
pub const TERMINAL: &[u8] = b"terminal";

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Operation {
    /// Answer: a capability of the session's page.
    Begin = 16,
    /// [`flags`], bytes of the path. Answer: number of the open file, capabilities to send requests of the file
    /// protocol, and of the view of its data, and [`kind`].
    Open,
    /// The number of an open file.
    Close,
    /// Bytes of the path. Answer: [`kind`], size, links, number of the file.
    About,
    /// Bytes of the path.
    MakeDirectory,
    /// Bytes of the path.
    RemoveDirectory,
    /// Bytes of the path of a file, and of that of a new name of it, which is behind.
    Link,
    /// Bytes of the path.
    Unlink,
    /// Bytes of a path, and of the new one, which is behind.
    Rename,
    /// Bytes of the path, and the first entry. Answer: bytes in the page, and entries there. Each is a byte (the
    /// [`kind`]), the name, and a zero.
    List,
    /// The number of an open file, and its size from now on.
    Resize,
    /// Of a server of pipes. Answer: numbers and capabilities as of `Open` for the end to read, then for that to write.
    Pipe,
    /// The number of an open file, and a key. Answer: a number for somebody else, who has the same position.
    Share,
    /// A number for somebody else, and its key. Answer: as of `Open`, and [`flags`].
    Adopt,
    /// The number of an open file. Answer: what does not wait, [`ready`].
    Ready,
}

impl Operation {
    const ALL: [Self; 15] = [
        Self::Begin,
        Self::Open,
        Self::Close,
        Self::About,
        Self::MakeDirectory,
        Self::RemoveDirectory,
        Self::Link,
        Self::Unlink,
        Self::Rename,
        Self::List,
        Self::Resize,
        Self::Pipe,
        Self::Share,
        Self::Adopt,
        Self::Ready,
    ];

    /// The operation with this number.
    pub fn from_number(number: u64) -> Option<Self> {
        let place = number.checked_sub(Self::Begin as u64)?;
        Self::ALL.get(usize::try_from(place).ok()?).copied()
    }
}

/// How a file is opened.
pub mod flags {
    /// For reading.
    pub const READ: u64 = 1;
    /// For writing.
    pub const WRITE: u64 = 2;
    /// It is made if it is not there.
    pub const CREATE: u64 = 4;
    /// It must not be there.
    pub const EXCLUSIVE: u64 = 8;
    /// It is empty afterwards.
    pub const TRUNCATE: u64 = 16;
    /// What is written goes to its end.
    pub const APPEND: u64 = 32;
    /// Somebody else has the same position. A client does not say this, it is told.
    pub const SHARED: u64 = 64;
}

/// Requests for data that are answered at once.
pub mod ready {
    /// To read.
    pub const READ: u64 = 1;
    /// To write.
    pub const WRITE: u64 = 2;
    /// The other side is gone.
    pub const GONE: u64 = 4;
}

/// What a name is of.
pub mod kind {
    /// A file.
    pub const FILE: u64 = 0;
    /// A directory.
    pub const DIRECTORY: u64 = 1;
    /// A pipe.
    pub const PIPE: u64 = 2;
    /// A terminal.
    pub const TERMINAL: u64 = 3;
}

/// Why a server refuses: the numbers are those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Failure {
    /// It is not allowed for this kind of file.
    NotPermitted = 1,
    /// No file has this name.
    NotFound = 2,
    /// The memory does not answer.
    Failed = 5,
    /// No file is open by this number, or not in this way.
    BadFile = 9,
    /// It would have to wait, and must not.
    Again = 11,
    /// The server has no place for more.
    NoMemory = 12,
    /// It is in use.
    Busy = 16,
    /// The name is there, or another client writes behind the file's end.
    Exists = 17,
    /// A part of the path is no directory.
    NotDirectory = 20,
    /// It is a directory.
    IsDirectory = 21,
    /// The request makes no sense.
    Invalid = 22,
    /// The client has too many open files.
    TooMany = 24,
    /// The memory for data is full.
    NoSpace = 28,
    /// A pipe has no positions.
    NoSeek = 29,
    /// A file has too many names.
    TooManyLinks = 31,
    /// Nobody reads the pipe.
    NoReader = 32,
    /// The name, or the path.
    NameTooLong = 36,
    /// The server has no such operation.
    NoOperation = 38,
    /// The directory has entries.
    NotEmpty = 39,
}

impl Failure {
    /// Those that are no errors of the kernel, and their names in C.
    pub const OTHERS: &[(Self, &str)] = &[
        (Self::BadFile, "EBADF"),
        (Self::NotDirectory, "ENOTDIR"),
        (Self::IsDirectory, "EISDIR"),
        (Self::TooMany, "EMFILE"),
        (Self::NoSpace, "ENOSPC"),
        (Self::NoSeek, "ESPIPE"),
        (Self::TooManyLinks, "EMLINK"),
        (Self::NoReader, "EPIPE"),
        (Self::NameTooLong, "ENAMETOOLONG"),
        (Self::NotEmpty, "ENOTEMPTY"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_operations() {
        for (number, operation) in (16..).zip(Operation::ALL) {
            assert_eq!(operation as u64, number);
            assert_eq!(Operation::from_number(number), Some(operation));
        }
        for number in [0, 15, 31, u64::MAX] {
            assert_eq!(Operation::from_number(number), None);
        }
    }
}
