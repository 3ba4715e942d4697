//! The NxP code of the process, as the translator asks for it.
use std::ops::Range;

use flick_abi::layout::{ARITY_CALLS_HIDDEN, ARITY_HIDDEN};
use flick_riscv::Insn;
use flick_translator::{Program, Summary, Target};

use super::linked_code::{go_on_address, in_module};
use crate::modules::{self, address_meaning};

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

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        modules::jump(pc)
    }

    fn translated(&self, pc: u64) -> Option<u64> {
        in_module(pc).filter(|&code| code != go_on_address())
    }

    fn summary(&self, pc: u64) -> Option<Summary> {
        modules::arity(pc).map(|arity| {
            let is = |flag| arity.flags & flag != 0;
            Summary::declared(
                [arity.arguments, arity.results, arity.calls],
                [is(ARITY_HIDDEN), is(ARITY_CALLS_HIDDEN)],
            )
        })
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        match address_meaning::classify(target) {
            (address_meaning::Target::Nxp(address), true) => Some(Target::Guest(address)),
            (address_meaning::Target::Host, true) => Some(Target::Elsewhere),
            _ => None,
        }
    }
}
