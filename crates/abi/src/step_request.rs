//! Requests to an accelerator that computes in steps over arrays (`docs/accelerators.md`), and their answers.
//!
//! ```
//! use flick_abi::step_request::{Array, StepRequest};
//!
//! // Steps 16 to 31 over two arrays.
//! let mut request = StepRequest::new(&[
//!     Array { address: 0x1000, size: 512 },
//!     Array { address: 0x4000, size: 512 },
//! ]);
//! (request.first, request.steps) = (16, 16);
//! let bytes = request.bytes();
//! assert_eq!(StepRequest::from_bytes(&bytes), Some(request));
//! ```
use crate::file_protocol::{from_words, words};

/// Arrays of a request at most.
pub const MOST_ARRAYS: usize = 8;
/// Bytes of a request with all of them. What a shorter message lacks is 0.
pub const STEP_REQUEST_SIZE: usize = 32 + 16 * MOST_ARRAYS;
/// Bytes of an answer.
pub const STEP_ANSWER_SIZE: usize = 24;

const KEEPS: u64 = 1 << 8;

/// An array, at addresses that the accelerator's unit translates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Array {
    /// Its first byte.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepRequest {
    /// The first step.
    pub first: u64,
    /// How many steps. 0: all from the first one on.
    pub steps: u64,
    /// How often these are made, one after the other. 0 counts as 1.
    pub repeats: u64,
    /// Only the accelerator has changed the arrays since the last request: what the cache has of them is theirs.
    pub keeps_cache: bool,
    arrays: [Array; MOST_ARRAYS],
    count: u8,
}

impl StepRequest {
    /// All steps over these arrays, once. There are no more than [`MOST_ARRAYS`].
    pub fn new(arrays: &[Array]) -> Self {
        let count = arrays.len().min(MOST_ARRAYS);
        let mut all = [Array::default(); MOST_ARRAYS];
        all[..count].copy_from_slice(&arrays[..count]);
        Self {
            first: 0,
            steps: 0,
            repeats: 0,
            keeps_cache: false,
            arrays: all,
            count: count as u8,
        }
    }

    /// The arrays.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays[..self.count.into()]
    }

    /// As in a message.
    pub fn bytes(&self) -> [u8; STEP_REQUEST_SIZE] {
        let flags = u64::from(self.count) | if self.keeps_cache { KEEPS } else { 0 };
        let mut bytes = [0; STEP_REQUEST_SIZE];
        let first = [self.first, self.steps, self.repeats, flags];
        let arrays = self
            .arrays
            .iter()
            .flat_map(|array| [array.address, array.size]);
        for (word, value) in bytes
            .chunks_exact_mut(8)
            .zip(first.into_iter().chain(arrays))
        {
            word.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// From a message. `None`: it has more arrays than a request can have.
    pub fn from_bytes(bytes: &[u8; STEP_REQUEST_SIZE]) -> Option<Self> {
        let (all, _) = bytes.as_chunks::<8>();
        let word = |n: usize| u64::from_le_bytes(all[n]);
        let count = word(3) as u8;
        let array = |n: usize| match n < count.into() {
            true => Array {
                address: word(4 + 2 * n),
                size: word(5 + 2 * n),
            },
            false => Array::default(),
        };
        let is_possible = usize::from(count) <= MOST_ARRAYS;
        is_possible.then(|| Self {
            first: word(0),
            steps: word(1),
            repeats: word(2),
            keeps_cache: word(3) & KEEPS != 0,
            arrays: core::array::from_fn(array),
            count,
        })
    }
}

/// What the accelerator answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StepAnswer {
    /// 0, or the number of an [error](crate::card::Error).
    pub error: u64,
    /// Steps that were made.
    pub steps: u64,
}

impl StepAnswer {
    /// As in a message.
    pub fn bytes(&self) -> [u8; STEP_ANSWER_SIZE] {
        words([self.error, self.steps, 0])
    }

    /// From a message.
    pub fn from_bytes(bytes: &[u8; STEP_ANSWER_SIZE]) -> Self {
        let [error, steps, _] = from_words(bytes);
        Self { error, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_page() {
        let mut request = StepRequest::new(&[Array {
            address: 0x1000,
            size: 64,
        }]);
        request.keeps_cache = true;
        request.repeats = 3;
        let mut bytes = request.bytes();
        assert_eq!((bytes[16], bytes[24], bytes[25]), (3, 1, 1));
        assert_eq!((bytes[33], bytes[40]), (0x10, 64));
        assert_eq!(StepRequest::from_bytes(&bytes), Some(request));
        bytes[24] = MOST_ARRAYS as u8;
        assert_eq!(
            StepRequest::from_bytes(&bytes).unwrap().arrays().len(),
            MOST_ARRAYS
        );
        bytes[24] = MOST_ARRAYS as u8 + 1;
        assert_eq!(StepRequest::from_bytes(&bytes), None);
        let answer = StepAnswer {
            error: 14,
            steps: 2,
        };
        let bytes = answer.bytes();
        assert_eq!((bytes[0], bytes[8]), (14, 2));
        assert_eq!(StepAnswer::from_bytes(&bytes), answer);
    }
}
