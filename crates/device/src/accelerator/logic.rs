//! What an accelerator computes. A user adds one by this trait, and names it in a machine file.

/// What a computation has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computed {
    /// Bytes of output, from the start of the local memory on.
    pub size: usize,
    /// Cycles that it takes. `None`: as many as the machine file says for a block.
    pub cycles: Option<u64>,
}

impl Computed {
    /// So much output, in the time of a block.
    pub const fn bytes(size: usize) -> Self {
        Self { size, cycles: None }
    }
}

/// An accelerator of streams. It keeps nothing but what is in its local memory, so that a kernel can let another
/// activity use it in between.
///
/// ```
/// use flick_device::accelerator::{Accelerator, Computed};
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
/// ```
pub trait Accelerator {
    /// Computes a block: the first `size` bytes of `memory`, which become the output. All blocks but the last are
    /// whole. The last one may be empty.
    fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed;
}
