//! What a hart reaches by physical addresses.

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Nothing at an address takes an access of this kind and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusError;

/// Memory and devices, shared by the harts of a machine, which run one at a time.
pub trait Bus {
    /// The first byte of the page of plain memory at the physical address `page`, a multiple of
    /// [`PAGE`]; `None`: no plain memory, or not all of the page.
    ///
    /// The pointer is good for reads and writes of the page as long as the bus lives. Nobody has a
    /// reference to its bytes while a hart runs.
    fn memory(&self, page: u64) -> Option<*mut u8>;

    /// Loads `size` bytes (1, 2, 4 or 8) at an address that is a multiple of it, where no plain memory
    /// is. `cycles`: how many the hart that runs has executed of its slice.
    fn load(&self, address: u64, size: u32, cycles: u64) -> Result<u64, BusError>;

    /// Stores them.
    fn store(&self, address: u64, size: u32, value: u64, cycles: u64) -> Result<(), BusError>;

    /// The machine's `time`, when the hart that runs has executed `cycles` of its slice.
    fn time(&self, cycles: u64) -> u64;
}
