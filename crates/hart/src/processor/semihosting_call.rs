//! Calls of semihosting: `slli x0, x0, 0x1f`, `ebreak`, `srai x0, x0, 7`, none of them compressed
//! (*RISC-V Semihosting*, "Semihosting Trap Instruction Sequence"), and the memory that a caller means.
use super::{Privileged, Processor};
use crate::bus::Bus;

const FIRST: u32 = 0x01f0_1013;
const EBREAK: u32 = 0x0010_0073;
const LAST: u32 = 0x4070_5013;

impl<B: Bus> Privileged<'_, B> {
    /// Is the `ebreak` at `pc` a call?
    pub(super) fn is_semihosting_call(&self, pc: u64) -> bool {
        let word = |at: u64| {
            let half = |at| self.half(at).unwrap_or(0);
            u32::from(half(at)) | u32::from(half(at.wrapping_add(2))) << 16
        };
        self.semihosting
            && word(pc) == EBREAK
            && word(pc.wrapping_sub(4)) == FIRST
            && word(pc.wrapping_add(4)) == LAST
    }
}

impl<B: Bus> Processor<'_, B> {
    /// From now on calls of semihosting end a slice ([`SliceEnd::Call`](super::SliceEnd::Call)).
    pub fn allow_semihosting(&mut self) {
        self.core.semihosting = true;
    }

    /// The byte in plain memory that a load of the hart at this virtual address would read.
    pub fn load_byte(&self, address: u64) -> Option<u8> {
        let value = self.core.view.load_plain(address, 1);
        value.map(|value| value as u8)
    }

    /// Stores a byte as the hart would. False: it may not, or there is no plain memory.
    pub fn store_byte(&self, address: u64, value: u8) -> bool {
        self.core.view.store_program_byte(address, value)
    }
}
