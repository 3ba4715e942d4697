//! Descriptors: the messages of a crossing to and from a backend that is not in the calling thread
//! (`docs/card.md`). The inline backend builds none.
//!
//! A descriptor goes one way. The side that gets it runs the function, or goes on behind the call
//! that it had made, and answers with another.
use core::mem::{offset_of, size_of};

use crate::card::Error;

/// Version of [`Descriptor`].
pub const DESCRIPTOR_VERSION: u32 = 4;

/// What has happened to an activation, and who is to go on. Little-endian; three cache lines, of
/// which the first says what the others are.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// [`DESCRIPTOR_VERSION`].
    pub version: u32,
    /// One of the `DESCRIPTOR_*` kinds.
    pub kind: u32,
    /// The process that the activation belongs to, as the kernel of its host numbers it.
    pub process: u32,
    /// The device that is meant.
    pub device: u8,
    /// The endpoint of `tile` that takes what the owner asks for next, as the card has said: that of the
    /// hart where the activity waits. 0: the kernel's.
    pub endpoint: u8,
    /// The tile in `device` that is meant.
    pub tile: u16,
    /// The thread of the host: its slot in bits 15:0, and how often the slot was used above.
    pub owner: u64,
    /// The activation, as its owner numbers it; the answer has the same.
    pub activation: u64,
    /// A call: the function. Otherwise where the activation goes on, or has stopped.
    pub pc: u64,
    /// Stack pointer of the NxP.
    pub sp: u64,
    /// A call from the host: where its function returns to. To go on with all registers: where a
    /// [`ThreadState`](crate::card::ThreadState) is in the process. A fault: `mtval`.
    pub address: u64,
    /// fcsr of the hart.
    pub fcsr: u32,
    /// A return from the card: 0, or why the request was refused (an errno). A fault: `mcause`.
    pub error: u32,
    /// a0 to a7: arguments, or a0 and a1 as results. To go on with all registers: see [`Descriptor::in_full`].
    pub ints: [u64; 8],
    /// fa0 to fa7, the same.
    pub floats: [u64; 8],
}

/// Call the function at `pc`.
pub const DESCRIPTOR_CALL: u32 = 1;
/// The function has returned. From the card, with `error`: the request was refused.
pub const DESCRIPTOR_RETURN: u32 = 2;
/// From the card: the activation cannot go on at `pc`.
pub const DESCRIPTOR_FAULT: u32 = 3;
/// From the host: go on with all registers, which are at `address`.
pub const DESCRIPTOR_RESUME: u32 = 4;
/// From the host: the thread ends. There is no answer.
pub const DESCRIPTOR_END: u32 = 5;

/// From the host: an activation begins on the tile, with all registers, which are at `address`. It may
/// have begun on another tile.
pub const DESCRIPTOR_CALL_IN_FULL: u32 = 6;
/// From the host: as a call, of a function that takes no argument in fa0 to fa7. These stay as they are, so that
/// what a crossing takes does not depend on what is left in registers.
pub const DESCRIPTOR_CALL_OF_INTEGERS: u32 = 7;
/// From the card: other threads need the hart of an activation that has another tile of its own.
pub const DESCRIPTOR_YIELD: u32 = 8;

/// Slots of owners of a tile. The kernel has a place for each.
pub const OWNERS: usize = 1024;
/// Tiles of a machine that take programs of the host, at most. They have the first numbers.
pub const HOST_TILES: usize = 16;
/// Addresses of programs of the host are below this one.
pub const HOST_END: u64 = 1 << 47;
/// The mode of `satp` in which U mode is in the host's space.
pub const HOST_MODE: u64 = 14;
/// Bits of an owner's number that `satp` has in that mode.
pub const OWNER_BITS: u64 = (1 << 44) - 1;
/// `mcause`: the owner of the code that the hart executes has left it.
pub const OWNER_LEFT: u64 = 24;
/// `mcause`: the code gives a hint ([`hint`](crate::card::hint)), which is `mtval`.
pub const OWNER_HINTS: u64 = 25;

const _: () = assert!(size_of::<Descriptor>() == 192);
const _: () = assert!(offset_of!(Descriptor, owner) == 16);
const _: () = assert!(offset_of!(Descriptor, pc) == 32);
const _: () = assert!(offset_of!(Descriptor, address) == 48);
const _: () = assert!(offset_of!(Descriptor, ints) == 64);
const _: () = assert!(offset_of!(Descriptor, floats) == 128);

/// The endpoint of a tile's kernel that takes requests of the host.
pub const KERNEL_ENDPOINT: u16 = 3;
/// The first endpoint of harts that take requests of the host themselves: that of hart 0.
pub const FIRST_HART_ENDPOINT: u16 = KERNEL_ENDPOINT + 1;
/// Harts of a tile that do. Each may keep one message, so that the kernel's endpoint has slots left.
pub const DIRECT_HARTS: u16 = 8;
/// The activity of user harts in all units.
pub const HARTS_ACTIVITY: u16 = 2;
/// The endpoint of the host's tile that takes what kernels answer.
pub const HOST_ENDPOINT: u16 = 0;
/// The activity of kernels in all units.
pub const KERNEL_ACTIVITY: u16 = 1;
/// That of the host's tile in its unit.
pub const HOST_ACTIVITY: u16 = 3;
/// log2 of the bytes of a slot for a descriptor with its header.
pub const LOG2_DESCRIPTOR_SLOT: u8 = 8;
/// Slots of both endpoints.
pub const DESCRIPTOR_SLOTS: u8 = 16;
/// Descriptors that wait in the host's tile to be sent.
pub const RING: usize = 64;

/// Bytes of a descriptor.
pub const DESCRIPTOR_SIZE: usize = size_of::<Descriptor>();
/// Words of a descriptor.
pub const DESCRIPTOR_WORDS: usize = DESCRIPTOR_SIZE / 8;

/// What the card says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The activation has returned.
    Return,
    /// It calls the host function at `pc`.
    Call,
    /// It has left its hart for other threads, and is to go on on its own tile.
    Yield,
    /// The instruction at `pc` is impossible: illegal, a breakpoint, or an access that is misaligned.
    Fault {
        /// `mcause`.
        cause: u32,
        /// `mtval`.
        value: u64,
    },
}

/// What the host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To begin an activation, whose function returns to this address.
    Call {
        /// See there.
        returns_to: u64,
        /// Arguments are in fa0 to fa7.
        has_floats: bool,
    },
    /// The same with the registers at this address of the process.
    CallInFull {
        /// See there.
        registers: u64,
        /// See [`Request::Call`].
        returns_to: u64,
        /// The activation has another tile of its own.
        is_guest: bool,
        /// The last hint of its thread.
        hint: u64,
    },
    /// To go on with the registers that the kernel has.
    Return,
    /// To go on with those at this address of the process.
    Resume {
        /// See there.
        registers: u64,
        /// See [`Request::CallInFull`].
        is_guest: bool,
    },
    /// To end the owner.
    End,
}

/// A request that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRequest {
    /// Why.
    pub error: Error,
    /// Whether its owner can be told: the slot exists.
    pub has_owner: bool,
}

impl Descriptor {
    /// A descriptor of this kind whose other words are 0.
    pub const fn new(kind: u32) -> Self {
        Self {
            version: DESCRIPTOR_VERSION,
            kind,
            process: 0,
            device: 0,
            endpoint: 0,
            tile: 0,
            owner: 0,
            activation: 0,
            pc: 0,
            sp: 0,
            address: 0,
            fcsr: 0,
            error: 0,
            ints: [0; 8],
            floats: [0; 8],
        }
    }

    /// The activation begins or goes on with all registers. These are in its process, at `registers`, and
    /// `ints` says where its function returns to, whether it has another tile of its own, and the last hint
    /// of its thread.
    #[must_use]
    pub fn in_full(
        self,
        (kind, registers): (u32, u64),
        returns_to: u64,
        is_guest: bool,
        hint: u64,
    ) -> Self {
        let mut ints = [0; 8];
        (ints[0], ints[1], ints[2]) = (returns_to, is_guest.into(), hint);
        Self {
            kind,
            address: registers,
            ints,
            ..self
        }
    }

    /// As it is in a message.
    pub fn words(&self) -> [u64; DESCRIPTOR_WORDS] {
        let mut words = [0; DESCRIPTOR_WORDS];
        words[..8].copy_from_slice(&[
            u64::from(self.version) | u64::from(self.kind) << 32,
            u64::from(self.process)
                | u64::from(self.device) << 32
                | u64::from(self.endpoint) << 40
                | u64::from(self.tile) << 48,
            self.owner,
            self.activation,
            self.pc,
            self.sp,
            self.address,
            u64::from(self.fcsr) | u64::from(self.error) << 32,
        ]);
        words[8..16].copy_from_slice(&self.ints);
        words[16..].copy_from_slice(&self.floats);
        words
    }

    /// From a message.
    pub fn from_words(words: &[u64; DESCRIPTOR_WORDS]) -> Self {
        let mut all = Self::new((words[0] >> 32) as u32);
        all.version = words[0] as u32;
        all.process = words[1] as u32;
        (all.device, all.endpoint) = ((words[1] >> 32) as u8, (words[1] >> 40) as u8);
        all.tile = (words[1] >> 48) as u16;
        [all.owner, all.activation, all.pc, all.sp, all.address] =
            [words[2], words[3], words[4], words[5], words[6]];
        (all.fcsr, all.error) = (words[7] as u32, (words[7] >> 32) as u32);
        all.ints.copy_from_slice(&words[8..16]);
        all.floats.copy_from_slice(&words[16..]);
        all
    }

    /// As bytes of a message.
    pub fn bytes(&self) -> [u8; DESCRIPTOR_SIZE] {
        let mut bytes = [0; DESCRIPTOR_SIZE];
        let (places, _) = bytes.as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(self.words()) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// From the bytes of a message; `None`: it has another length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; DESCRIPTOR_SIZE] = bytes.try_into().ok()?;
        let mut words = [0; DESCRIPTOR_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Some(Self::from_words(&words))
    }

    /// The slot of its owner.
    pub const fn slot(&self) -> usize {
        (self.owner & 0xffff) as usize
    }

    /// What a descriptor from the host asks the kernel of a tile for. Nobody has to believe it: the
    /// host's program can write what it likes.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn request(&self, tile: u16) -> Result<Request, BadRequest> {
        let has_owner = self.slot() < OWNERS && self.owner >> 16 != 0;
        let refused = |error| BadRequest { error, has_owner };
        if self.version != DESCRIPTOR_VERSION {
            return Err(refused(Error::NoCall));
        }
        if !has_owner || (self.device, self.tile) != (0, tile) {
            return Err(refused(Error::NotFound));
        }
        let is_code = self.pc != 0 && self.pc < HOST_END;
        let is_stack = self.sp != 0 && self.sp < HOST_END && self.sp.is_multiple_of(16);
        let request = match self.kind {
            DESCRIPTOR_CALL | DESCRIPTOR_CALL_OF_INTEGERS
                if is_code && is_stack && self.address < HOST_END =>
            {
                Request::Call {
                    returns_to: self.address,
                    has_floats: self.kind == DESCRIPTOR_CALL,
                }
            }
            DESCRIPTOR_RETURN if is_code => Request::Return,
            DESCRIPTOR_RESUME if self.address < HOST_END && self.address.is_multiple_of(8) => {
                Request::Resume {
                    registers: self.address,
                    is_guest: self.ints[1] != 0,
                }
            }
            DESCRIPTOR_CALL_IN_FULL
                if self.address < HOST_END
                    && self.address.is_multiple_of(8)
                    && self.ints[0] < HOST_END =>
            {
                Request::CallInFull {
                    registers: self.address,
                    returns_to: self.ints[0],
                    is_guest: self.ints[1] != 0,
                    hint: self.ints[2],
                }
            }
            DESCRIPTOR_END => Request::End,
            DESCRIPTOR_CALL
            | DESCRIPTOR_CALL_OF_INTEGERS
            | DESCRIPTOR_CALL_IN_FULL
            | DESCRIPTOR_RETURN
            | DESCRIPTOR_RESUME => return Err(refused(Error::BadAddress)),
            _ => return Err(refused(Error::Invalid)),
        };
        let is_fcsr = self.fcsr < 0x100;
        match is_fcsr {
            true => Ok(request),
            false => Err(refused(Error::Invalid)),
        }
    }

    /// What a descriptor from the card says to its owner. `None`: a request was refused, for the reason in
    /// `error`; or no kernel sends this.
    pub fn answer(&self) -> Option<Answer> {
        match (self.version, self.kind, self.error) {
            (DESCRIPTOR_VERSION, DESCRIPTOR_RETURN, 0) => Some(Answer::Return),
            (DESCRIPTOR_VERSION, DESCRIPTOR_CALL, _) => Some(Answer::Call),
            (DESCRIPTOR_VERSION, DESCRIPTOR_YIELD, _) => Some(Answer::Yield),
            (DESCRIPTOR_VERSION, DESCRIPTOR_FAULT, cause @ (2 | 3 | 4 | 6)) => {
                let value = self.address;
                Some(Answer::Fault { cause, value })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Descriptor {
        Descriptor {
            process: 77,
            tile: 1,
            endpoint: 4,
            owner: 3 | 1 << 16,
            activation: 9,
            pc: 0x5555_1234_5678,
            sp: 0x7fff_0000_1230,
            address: 0x5555_0000_0001,
            fcsr: 0xe1,
            error: 5,
            ints: [1, 2, 3, 4, 5, 6, 7, u64::MAX],
            floats: [9, 8, 7, 6, 5, 4, 3, 1 << 63],
            ..Descriptor::new(DESCRIPTOR_CALL)
        }
    }

    fn refused(change: impl FnOnce(&mut Descriptor)) -> (Error, bool) {
        let mut all = call();
        change(&mut all);
        let BadRequest { error, has_owner } = all.request(1).unwrap_err();
        (error, has_owner)
    }

    #[test]
    fn words_are_the_record() {
        let call = call();
        let words = call.words();
        assert_eq!(Descriptor::from_words(&words), call);
        assert_eq!(words[1], 77 | 4 << 40 | 1 << 48);
        assert_eq!((words[8], words[23]), (1, 1 << 63));
        assert_eq!(Descriptor::from_bytes(&call.bytes()), Some(call));
        assert_eq!(Descriptor::from_bytes(&call.bytes()[1..]), None);
    }

    #[test]
    fn good_requests() {
        let mut all = call();
        let returns_to = all.address;
        let called = |has_floats| {
            Ok(Request::Call {
                returns_to,
                has_floats,
            })
        };
        assert_eq!(all.request(1), called(true));
        all.kind = DESCRIPTOR_CALL_OF_INTEGERS;
        assert_eq!(all.request(1), called(false));
        all.kind = DESCRIPTOR_RETURN;
        // The kernel has the stack pointer.
        all.sp = 7;
        assert_eq!(all.request(1), Ok(Request::Return));
        all.kind = DESCRIPTOR_RESUME;
        all.address = 0x7000;
        let (registers, returns_to) = (0x7000, 0x5555_0000_0003);
        let all = all.in_full((DESCRIPTOR_RESUME, registers), returns_to, true, 0);
        let resume = Request::Resume {
            registers,
            is_guest: true,
        };
        assert_eq!(all.request(1), Ok(resume));
        let mut all = all.in_full((DESCRIPTOR_CALL_IN_FULL, registers), returns_to, false, 5);
        let in_full = Request::CallInFull {
            registers,
            returns_to,
            is_guest: false,
            hint: 5,
        };
        assert_eq!(all.request(1), Ok(in_full));
        all.kind = DESCRIPTOR_END;
        assert_eq!(all.request(1), Ok(Request::End));
    }

    #[test]
    fn wild_requests() {
        assert_eq!(refused(|all| all.version = 1), (Error::NoCall, true));
        assert_eq!(refused(|all| all.tile = 2), (Error::NotFound, true));
        assert_eq!(refused(|all| all.device = 1), (Error::NotFound, true));
        let wild_owners = [OWNERS as u64 | 1 << 16, 0xffff | 1 << 16, 3, u64::MAX];
        for owner in wild_owners {
            let expected = (Error::NotFound, false);
            assert_eq!(refused(|all| all.owner = owner), expected);
        }
        for kind in [0, DESCRIPTOR_FAULT, DESCRIPTOR_YIELD, u32::MAX] {
            assert_eq!(refused(|all| all.kind = kind), (Error::Invalid, true));
        }
        for pc in [0, HOST_END, u64::MAX] {
            assert_eq!(refused(|all| all.pc = pc), (Error::BadAddress, true));
        }
        for sp in [0, 8, HOST_END, !15] {
            assert_eq!(refused(|all| all.sp = sp), (Error::BadAddress, true));
        }
        assert_eq!(
            refused(|all| all.address = HOST_END),
            (Error::BadAddress, true)
        );
        let unaligned = refused(|all| {
            all.kind = DESCRIPTOR_RESUME;
            all.address = 0x7004;
        });
        assert_eq!(unaligned, (Error::BadAddress, true));
        let returns_to = refused(|all| {
            *all = all.in_full((DESCRIPTOR_CALL_IN_FULL, 0x7000), HOST_END, false, 0);
        });
        assert_eq!(returns_to, (Error::BadAddress, true));
        assert_eq!(refused(|all| all.fcsr = 0x100), (Error::Invalid, true));
    }
}
