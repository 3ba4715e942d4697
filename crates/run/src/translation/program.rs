//! The NxP code of the process, as the translator asks for it.
use std::ops::Range;

use flick_engine::Insn;
use flick_engine::translate::{Program, Target};

use crate::modules;

pub struct Process;

impl Program for Process {
    fn insn(&self, pc: u64) -> Option<Insn> {
        modules::insn_at(pc)
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        modules::function_range(pc)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        modules::constant_at(address, len)
    }

    fn is_compiled(&self) -> bool {
        true
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        super::resolve(target)
    }
}
