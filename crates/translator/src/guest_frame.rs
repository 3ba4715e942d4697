//! Where a function's frame is: the distances of sp and s0 from the canonical frame address, which
//! is sp at the function's entry (RISC-V ELF psABI, "Call Frame Information"). Debug information
//! needs them where s0 is nowhere any more, and where an unwinder needs the caller's sp.
use std::collections::BTreeMap;

use flick_riscv::{Insn, Op};

use crate::code::GuestFrame;
use crate::function::Function;
use crate::registers::{S0, SP, bit};

impl GuestFrame {
    const ENTRY: Self = Self {
        sp: Some(0),
        fp: None,
    };

    /// What holds on both ways.
    fn meet(self, other: Self) -> Self {
        Self {
            sp: self.sp.filter(|_| self.sp == other.sp),
            fp: self.fp.filter(|_| self.fp == other.fp),
        }
    }

    fn execute(&mut self, insn: Insn) {
        let writes = insn.writes();
        if writes & (bit(SP) | bit(S0)) == 0 {
            return;
        }
        let base = match insn.rs1() {
            _ if insn.op() != Op::Addi => None,
            SP => self.sp,
            S0 => self.fp,
            _ => None,
        };
        let distance = i32::try_from(insn.imm() as i64).ok();
        let distance = base.zip(distance).and_then(|(base, k)| base.checked_sub(k));
        if writes & bit(SP) != 0 {
            self.sp = distance;
        } else {
            self.fp = distance;
        }
    }
}

/// The frame at each of these addresses, up to the next.
pub fn frames(function: &Function) -> BTreeMap<u64, GuestFrame> {
    let blocks = &function.blocks;
    let mut starts: Vec<Option<GuestFrame>> = vec![None; blocks.len()];
    let mut todo = vec![];
    if let Some(first) = starts.first_mut() {
        *first = Some(GuestFrame::ENTRY);
        todo.push(0);
    }
    flow(function, &mut starts, &mut todo);
    // Landing pads have the frame that the function has at its calls.
    let is_call = |insn: &Insn| matches!(insn.op(), Op::Jal | Op::Jalr) && insn.rd() != 0;
    let mut at_calls = None;
    for (block, start) in blocks.iter().zip(&starts) {
        let Some(mut frame) = *start else { continue };
        for (_, insn) in &block.insns {
            if is_call(insn) {
                at_calls = Some(at_calls.map_or(frame, |known: GuestFrame| known.meet(frame)));
            }
            frame.execute(*insn);
        }
    }
    for &block in &function.entries {
        if starts[block].is_none() {
            starts[block] = at_calls;
            todo.push(block);
        }
    }
    flow(function, &mut starts, &mut todo);
    let mut frames = BTreeMap::new();
    for (block, start) in blocks.iter().zip(starts) {
        let mut frame = start.unwrap_or_default();
        frames.insert(block.start, frame);
        for (n, (_, insn)) in block.insns.iter().enumerate() {
            let before = frame;
            frame.execute(*insn);
            if let Some(&(next, _)) = block.insns.get(n + 1)
                && frame != before
            {
                frames.insert(next, frame);
            }
        }
    }
    frames
}

fn flow(function: &Function, starts: &mut [Option<GuestFrame>], todo: &mut Vec<usize>) {
    while let Some(at) = todo.pop() {
        let block = &function.blocks[at];
        let Some(mut frame) = starts[at] else {
            continue;
        };
        for (_, insn) in &block.insns {
            frame.execute(*insn);
        }
        for to in block.succs() {
            let joined = starts[to].map_or(frame, |known| known.meet(frame));
            if starts[to] != Some(joined) {
                starts[to] = Some(joined);
                todo.push(to);
            }
        }
    }
}
