//! Messages by which programs and accelerators use files, pipes and each other (`docs/accelerators.md`). A server
//! gives a client access to a piece of data at a time, through a memory endpoint of the client (M3x, section 4.8).
//!
//! ```
//! use flick_abi::file_protocol::{Answer, Operation, Request};
//!
//! let request = Request::new(Operation::NextIn);
//! assert_eq!(Request::from_bytes(&request.bytes()), Some(request));
//! // 4 KiB from offset 8192 of the memory endpoint on.
//! let answer = Answer { error: 0, offset: 8192, length: 4096 };
//! assert_eq!(Answer::from_bytes(&answer.bytes()), answer);
//! ```

/// Bytes of a request.
pub const REQUEST_SIZE: usize = 24;
/// Bytes of an answer.
pub const ANSWER_SIZE: usize = 24;

/// `first` of a request for a piece: without one, the answer is an error and not late.
pub const DOES_NOT_WAIT: u64 = 1;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Operation {
    /// Facts about the file.
    Stat = 0,
    /// Sets the position: `first` is an offset, and `second` says from where it counts.
    Seek = 1,
    /// Access to the next piece to read. A length of 0 is the end. `first` may be [`DOES_NOT_WAIT`].
    NextIn = 2,
    /// Access to the next piece to write. `first` may be [`DOES_NOT_WAIT`].
    NextOut = 3,
    /// So many bytes (`first`) of the last piece were used, and no more. Without it all were.
    Commit = 4,
    /// Access to the next piece to read and write.
    NextInOut = 5,
    /// The client writes no more.
    End = 6,
}

impl Operation {
    const ALL: [Self; 7] = [
        Self::Stat,
        Self::Seek,
        Self::NextIn,
        Self::NextOut,
        Self::Commit,
        Self::NextInOut,
        Self::End,
    ];

    /// The name, as in the documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stat => "STAT",
            Self::Seek => "SEEK",
            Self::NextIn => "NEXT_IN",
            Self::NextOut => "NEXT_OUT",
            Self::Commit => "COMMIT",
            Self::NextInOut => "NEXT_INOUT",
            Self::End => "END",
        }
    }

    /// The operation with this number.
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What is asked for.
    pub operation: Operation,
    /// Depends on the operation.
    pub first: u64,
    /// Depends on the operation.
    pub second: u64,
}

impl Request {
    /// A request without arguments.
    pub const fn new(operation: Operation) -> Self {
        Self {
            operation,
            first: 0,
            second: 0,
        }
    }

    /// Its words.
    pub const fn words(&self) -> [u64; 3] {
        [self.operation as u64, self.first, self.second]
    }

    /// As in a message.
    pub fn bytes(&self) -> [u8; REQUEST_SIZE] {
        words(self.words())
    }

    /// From a message. `None`: no operation has this number.
    pub fn from_bytes(bytes: &[u8; REQUEST_SIZE]) -> Option<Self> {
        let [operation, first, second] = from_words(bytes);
        Some(Self {
            operation: Operation::from_number(operation)?,
            first,
            second,
        })
    }
}

/// What a server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Answer {
    /// 0, or the number of an [error](crate::card::Error).
    pub error: u64,
    /// Where the piece begins in the client's memory endpoint.
    pub offset: u64,
    /// Bytes of the piece.
    pub length: u64,
}

impl Answer {
    /// As in a message.
    pub fn bytes(&self) -> [u8; ANSWER_SIZE] {
        words([self.error, self.offset, self.length])
    }

    /// From a message.
    pub fn from_bytes(bytes: &[u8; ANSWER_SIZE]) -> Self {
        let [error, offset, length] = from_words(bytes);
        Self {
            error,
            offset,
            length,
        }
    }
}

/// Three words of a message.
pub(crate) fn words(values: [u64; 3]) -> [u8; 24] {
    let mut bytes = [0; 24];
    for (word, value) in bytes.chunks_exact_mut(8).zip(values) {
        word.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// The words of a message.
pub(crate) fn from_words(bytes: &[u8; 24]) -> [u64; 3] {
    let (words, _) = bytes.as_chunks::<8>();
    [words[0], words[1], words[2]].map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_page() {
        for (number, operation) in (0..).zip(Operation::ALL) {
            assert_eq!(operation as u64, number);
            assert_eq!(Operation::from_number(number), Some(operation));
        }
        for number in [7, u64::MAX] {
            assert_eq!(Operation::from_number(number), None);
            assert_eq!(Request::from_bytes(&words([number, 0, 0])), None);
        }
        let request = Request {
            operation: Operation::Seek,
            first: 0x0102,
            second: 1,
        };
        let bytes = request.bytes();
        assert_eq!((bytes[0], bytes[8], bytes[9], bytes[16]), (1, 2, 1, 1));
    }
}
