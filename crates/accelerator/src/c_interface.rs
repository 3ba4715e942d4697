//! The layout of `include/flick_accelerator.h`. A machine makes blocks for the functions of shared objects, and
//! [`export!`](crate::export) makes such a function of logic in Rust.
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Accelerator, Computed};

/// The version of the interface. A machine refuses logic of another one.
pub const ABI: u32 = 1;

/// A function's name with this in front is that of a variable, which has the [`ABI`] that the function was
/// compiled for.
pub const ABI_PREFIX: &str = "flick_accelerator_abi_";

/// With this in front, it is that of a [`Memory`], which need not be there.
pub const MEMORY_PREFIX: &str = "flick_accelerator_memory_";

/// The local memory is aligned to so many bytes.
pub const ALIGNMENT: usize = 16;

/// What a function gets: `struct flick_block`.
#[derive(Debug)]
#[repr(C)]
pub struct Block {
    /// The local memory, whose first bytes are the block.
    pub memory: *mut u8,
    /// Its bytes.
    pub memory_size: u64,
    /// Those of the block.
    pub size: u64,
    /// 1: no other block follows; else 0.
    pub is_last: u64,
}

/// What it returns: `struct flick_computed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Output {
    /// Bytes of output, or [`FAILED`].
    pub size: u64,
    /// Cycles, or 0: as many as the machine file says for a block.
    pub cycles: u64,
}

const _: () = assert!(size_of::<Block>() == 32 && size_of::<Output>() == 16);

/// The [`Output::size`] of logic that has failed.
pub const FAILED: u64 = u64::MAX;

/// A function of a shared object.
pub type Function = unsafe extern "C" fn(*const Block) -> Output;

/// The bytes of local memory that a function needs, with blocks of so many bytes.
pub type Memory = unsafe extern "C" fn(u64) -> u64;

impl From<Computed> for Output {
    fn from(computed: Computed) -> Self {
        Self {
            size: computed.size as u64,
            cycles: computed.cycles.unwrap_or(0),
        }
    }
}

impl From<Output> for Computed {
    fn from(output: Output) -> Self {
        Self {
            size: usize::try_from(output.size).unwrap_or(usize::MAX),
            cycles: (output.cycles != 0).then_some(output.cycles),
        }
    }
}

/// Lets logic compute a block of a machine.
///
/// # Safety
/// The block is valid, and nobody else uses its memory during the call.
pub unsafe fn run<L: Accelerator>(logic: impl FnOnce() -> L, block: *const Block) -> Output {
    // SAFETY: by contract.
    let (memory, size, is_last) = unsafe {
        let Block {
            memory,
            memory_size,
            size,
            is_last,
        } = block.read();
        let memory = std::slice::from_raw_parts_mut(memory, memory_size as usize);
        (memory, size as usize, is_last != 0)
    };
    // After a panic nobody looks at what is half computed: the activity ends.
    let compute = AssertUnwindSafe(|| logic().block(memory, size, is_last));
    catch_unwind(compute).unwrap_or(Computed::FAILED).into()
}

/// The bytes of local memory that logic needs.
pub fn memory<L: Accelerator>(logic: impl FnOnce() -> L, block: u64) -> u64 {
    let needed = AssertUnwindSafe(|| logic().memory(block));
    catch_unwind(needed).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails on blocks that begin with 0xff, and doubles others.
    struct Doubler;

    impl Accelerator for Doubler {
        fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed {
            assert_ne!(memory[0], 0xff, "a block that it does not like");
            memory.copy_within(..size, size);
            Computed {
                size: 2 * size,
                cycles: is_last.then_some(7),
            }
        }

        fn memory(&self, block: u64) -> u64 {
            2 * block
        }
    }

    crate::export!(doubler_of_the_test, Doubler);

    unsafe extern "C" {
        fn doubler_of_the_test(block: *const Block) -> Output;
        #[link_name = "flick_accelerator_abi_doubler_of_the_test"]
        static EXPORTED: u32;
        fn flick_accelerator_memory_doubler_of_the_test(block: u64) -> u64;
    }

    fn call(memory: &mut [u8], size: usize, is_last: bool) -> Computed {
        let block = Block {
            memory: memory.as_mut_ptr(),
            memory_size: memory.len() as u64,
            size: size as u64,
            is_last: is_last.into(),
        };
        // SAFETY: the block is valid.
        unsafe { doubler_of_the_test(&block) }.into()
    }

    #[test]
    fn a_block_comes_through_the_c_interface() {
        let mut memory = [1, 2, 3, 0, 0, 0, 0, 9];
        assert_eq!(call(&mut memory, 3, false), Computed::bytes(6));
        assert_eq!(memory, [1, 2, 3, 1, 2, 3, 0, 9]);
        let computed = Computed {
            size: 2,
            cycles: Some(7),
        };
        assert_eq!(call(&mut memory, 1, true), computed);
        // SAFETY: a variable that is never written, and a function of this type.
        let (version, needed) =
            unsafe { (EXPORTED, flick_accelerator_memory_doubler_of_the_test(64)) };
        assert_eq!((version, needed), (ABI, 128));
    }

    #[test]
    fn a_panic_is_a_failure() {
        assert_eq!(call(&mut [0xff; 8], 8, false), Computed::FAILED);
        // So is an index that is out of range.
        assert_eq!(call(&mut [0; 8], 8, false), Computed::FAILED);
    }

    #[test]
    fn the_c_header_has_the_same_numbers() {
        let header = include_str!("../../../include/flick_accelerator.h");
        assert!(header.contains(&format!("#define FLICK_ACCELERATOR_ABI {ABI}\n")));
        assert!(header.contains("#define FLICK_FAILED UINT64_MAX\n"));
        assert!(header.contains(&format!("{ABI_PREFIX}##name")));
        assert!(header.contains(&format!("{MEMORY_PREFIX}##name")));
    }
}
