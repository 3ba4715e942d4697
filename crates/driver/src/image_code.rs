//! The code of a linked image, as the translator asks for it.
use std::ops::Range;

use flick_abi::layout::{ARITY_CALLS_HIDDEN, ARITY_HIDDEN};
use flick_image::linked::{Function, Linked};
use flick_riscv::{Insn, decode};
use flick_translator::Summary;

/// The code of `linked`, whose first byte is at `base`.
#[derive(Clone, Copy)]
pub struct ImageCode<'a> {
    pub linked: &'a Linked,
    pub base: u64,
}

impl<'a> ImageCode<'a> {
    pub fn offset(self, address: u64) -> u64 {
        address.wrapping_sub(self.base)
    }

    pub fn function_at(self, address: u64) -> Option<&'a Function> {
        let offset = self.offset(address);
        let functions = &self.linked.functions;
        let after = functions.partition_point(|function| function.offset <= offset);
        let function = functions.get(after.checked_sub(1)?)?;
        // In a damaged file it may be said to be larger than it can be.
        let rest = self.linked.text.end.checked_sub(function.offset)?;
        (offset - function.offset < function.size && function.size <= rest).then_some(function)
    }

    pub fn insn(self, pc: u64) -> Option<Insn> {
        let offset = self.offset(pc);
        if !self.linked.text.contains(&offset) {
            return None;
        }
        let bytes = &self.linked.bytes[offset as usize..self.linked.text.end as usize];
        let half = |n: usize| {
            Some(u32::from(u16::from_le_bytes(
                bytes.get(n..n + 2)?.try_into().ok()?,
            )))
        };
        let low = half(0)?;
        Some(decode(if low & 3 == 3 {
            low | half(2)? << 16
        } else {
            low
        }))
    }

    pub fn function(self, pc: u64) -> Option<Range<u64>> {
        let function = self.function_at(pc)?;
        let start = self.base + function.offset;
        Some(start..start + function.size)
    }

    /// `len` bytes (4 or 8) as they are in the file.
    pub fn word(self, address: u64, len: u64) -> Option<u64> {
        let at = usize::try_from(self.offset(address)).ok()?;
        let bytes = self.linked.bytes.get(at..at.checked_add(len as usize)?)?;
        let mut word = [0; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }

    pub fn jump(self, pc: u64) -> Option<Vec<u64>> {
        let offset = u32::try_from(self.offset(pc)).ok()?;
        let targets = self.linked.jumps.of(offset)?.iter();
        Some(targets.map(|&at| self.base + u64::from(at)).collect())
    }

    pub fn summary(self, pc: u64) -> Option<Summary> {
        let all = &self.linked.arity;
        let at = all.binary_search_by_key(&self.offset(pc), |f| u64::from(f.offset));
        let arity = all[at.ok()?];
        let is = |flag| arity.flags & flag != 0;
        Some(Summary::declared(
            [arity.arguments, arity.results, arity.calls],
            [is(ARITY_HIDDEN), is(ARITY_CALLS_HIDDEN)],
        ))
    }
}
