//! Loads of what the function has just stored in its frame.
//!
//! A function that returns early loads the registers that it has saved, and nothing has happened
//! since: without the loads, calls of it do not wait for memory one after the other.
use std::collections::BTreeMap;

use regalloc2::VReg;

use super::Aliases;
use crate::code::{Code, Form, Node, Op, Width};

/// As many places are remembered.
const MOST: usize = 64;

/// What the frame has, as far as it is known.
#[derive(Clone, Default)]
struct Frame {
    /// sp minus what it was when nothing was known.
    sp: i64,
    /// Values of 8 bytes by their addresses.
    values: BTreeMap<i64, VReg>,
}

impl Frame {
    fn kill(&mut self, offset: i32, width: i64) {
        let at = self.sp + i64::from(offset);
        self.values
            .retain(|&from, _| from + 8 <= at || from >= at + width);
    }

    fn set(&mut self, offset: i32, value: VReg) {
        self.kill(offset, 8);
        if self.values.len() < MOST {
            self.values.insert(self.sp + i64::from(offset), value);
        }
    }

    fn get(&self, offset: i32) -> Option<VReg> {
        self.values.get(&(self.sp + i64::from(offset))).copied()
    }

    /// After a node; the value that it loads if that is known.
    fn execute(&mut self, node: &Node) -> Option<VReg> {
        match node.op {
            Op::AddSp(k) => self.sp += i64::from(k),
            Op::Store(Width::D, offset, Form::Sp) | Op::StoreFloat(offset, Form::Sp, false) => {
                self.set(offset, node.value(0));
            }
            Op::Store(_, offset, Form::Sp)
            | Op::StoreConst(_, offset, Form::Sp, _)
            | Op::StoreFloat(offset, Form::Sp, true) => self.kill(offset, 8),
            Op::Load(Width::D, offset, Form::Sp) | Op::LoadFloat(offset, Form::Sp, false) => {
                let value = node.value(0);
                let known = self
                    .get(offset)
                    .filter(|known| known.class() == value.class());
                if known.is_some() {
                    return known;
                }
                self.set(offset, value);
            }
            // Through other pointers anything may be stored, and other threads may.
            Op::SetSp
            | Op::Store(..)
            | Op::StoreConst(..)
            | Op::StoreFloat(..)
            | Op::Atomic(..)
            | Op::LoadReserved(_)
            | Op::StoreConditional(_)
            | Op::Fence
            | Op::Call { .. }
            | Op::CallIndirect { .. }
            | Op::Helper(_)
            | Op::Vector => self.values.clear(),
            _ => {}
        }
        None
    }
}

/// Replaces loads from the frame by what is known to be there, along ways that nothing joins.
pub fn loads(code: &mut Code) {
    let mut aliases = Aliases::new(code);
    let mut ends: Vec<Option<Frame>> = vec![None; code.ranges.len()];
    for block in 0..code.ranges.len() {
        let mut frame = match code.preds[block][..] {
            [pred] => ends[pred.index()].clone().unwrap_or_default(),
            _ => Frame::default(),
        };
        let (begin, end) = code.ranges[block];
        for node in &mut code.nodes[begin..end] {
            if let Some(known) = frame.execute(node) {
                aliases.replace(node.value(0).vreg(), known.vreg());
                node.clear();
            }
        }
        if !frame.values.is_empty() {
            ends[block] = Some(frame);
        }
    }
    aliases.apply(code);
}
