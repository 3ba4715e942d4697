//! Logic of accelerators: the trait, and its C interface, by which a shared object has logic that a machine file
//! names (`docs/accelerators.md`). Users depend on this crate, so it depends on nothing.
//!
//! | file | subject |
//! |---|---|
//! | `lib.rs` | the trait |
//! | `c_interface.rs` | the layout of `include/flick_accelerator.h`, for both sides |
#![warn(missing_docs)]
pub mod c_interface;

/// What a computation has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computed {
    /// Bytes of output, from the start of the local memory on.
    pub size: usize,
    /// Cycles that it takes. `None`: as many as the machine file says for a block. From a shared object, 0 means
    /// that, too.
    pub cycles: Option<u64>,
}

impl Computed {
    /// The logic has failed, which ends the activity with an error.
    pub const FAILED: Self = Self::bytes(usize::MAX);

    /// So much output, in the time of a block.
    pub const fn bytes(size: usize) -> Self {
        Self { size, cycles: None }
    }
}

/// An accelerator of streams. It keeps nothing but what is in its local memory, so that a kernel can let another
/// activity use it in between. Its output and its cycles depend on that memory alone, so that runs repeat.
///
/// ```
/// use flick_accelerator::{Accelerator, Computed};
///
/// /// Inverts each byte.
/// struct Inverter;
///
/// impl Accelerator for Inverter {
///     fn block(&self, memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
///         memory[..size].iter_mut().for_each(|byte| *byte = !*byte);
///         Computed { size, cycles: Some(size as u64 / 8) }
///     }
/// }
///
/// flick_accelerator::export!(inverter, Inverter);
/// ```
pub trait Accelerator {
    /// Computes a block: the first `size` bytes of `memory`, which become the output. All blocks but the last are
    /// whole. The last one may be empty.
    fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed;

    /// Bytes of local memory that it needs, with blocks of so many bytes. What is behind the block is 0 at first,
    /// unless another tile writes there.
    fn memory(&self, block: u64) -> u64 {
        block
    }
}

/// Exports logic from a shared object (`crate-type = ["cdylib"]`), under the name that a machine file has as
/// `function`. A panic of the logic ends the activity with an error.
///
/// The expression gives the logic for each block anew: `export!(inverter, Inverter);`
#[macro_export]
macro_rules! export {
    ($name:ident, $logic:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!("flick_accelerator_abi_", stringify!($name)))]
            static ABI: u32 = $crate::c_interface::ABI;

            #[unsafe(export_name = stringify!($name))]
            unsafe extern "C" fn block(
                block: *const $crate::c_interface::Block,
            ) -> $crate::c_interface::Output {
                let logic = || $logic;
                // SAFETY: a machine calls it, with a block as the interface says.
                unsafe { $crate::c_interface::run(logic, block) }
            }

            #[unsafe(export_name = concat!("flick_accelerator_memory_", stringify!($name)))]
            extern "C" fn memory(block: u64) -> u64 {
                $crate::c_interface::memory(|| $logic, block)
            }
        };
    };
}
