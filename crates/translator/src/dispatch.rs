//! The loop around translations.
use crate::code::Reason;
use crate::glue::{self, Lookup};
use flick_engine::CodeRegion;
use flick_engine::Identity;
use flick_engine::run as interpreter;
use flick_engine::{Exit, Hart};
use flick_engine::{InstructionCounter, Observer};
use flick_riscv::Insn;

/// Interprets until control goes elsewhere, or for some instructions.
struct Until {
    /// Instructions.
    left: u64,
    /// A jump is the last one.
    jump: bool,
    retired: u64,
}

impl Observer for Until {
    fn proceed(&mut self) -> bool {
        self.left != 0
    }

    fn jump(&mut self, _pc: u64, _target: u64) {
        if self.jump {
            self.left = 1;
        }
    }

    fn retired(&mut self, _pc: u64, _insn: Insn) {
        self.left -= 1;
        self.retired += 1;
    }

    fn instructions(&self) -> Option<u64> {
        None
    }
}

/// Instructions after which a translation is asked for again.
const MOST_INTERPRETED: u64 = 10_000;

/// Bytes of stack that a call of translated code needs at least, so that a function that calls nothing runs.
pub const LEAST_STACK: usize = 2048;

/// Interprets from `hart.pc` until translated code can be called; the first instruction in any case, if
/// translated code has left it to the interpreter (`interpret`). The host address of what to call, or why
/// there is nothing to be called.
///
/// # Safety
/// The guest may do what the program may.
#[inline]
pub unsafe fn advance(
    hart: &mut Hart,
    memory: &Identity,
    code: &CodeRegion,
    lookup: Lookup,
    mut interpret: bool,
) -> Result<u64, Exit> {
    loop {
        if !code.contains(hart.pc) {
            return Err(Exit::Leave);
        }
        // Translated code takes the rounding mode for the host's.
        if hart.frm == 0 {
            hart.pc &= !1;
            if !interpret {
                // SAFETY: by contract.
                let entry = unsafe { lookup(hart, hart.pc) };
                if entry != 0 {
                    return Ok(entry);
                }
            }
        }
        let exit = interpret_some(hart, memory, code, std::mem::take(&mut interpret));
        if exit != Exit::Budget {
            return Err(exit);
        }
    }
}

/// Interprets one instruction, or as many as are due before translated code is looked for again: with a rounding mode of
/// its own, all.
#[inline(never)]
fn interpret_some(hart: &mut Hart, memory: &Identity, code: &CodeRegion, one: bool) -> Exit {
    if hart.frm != 0 {
        let mut counter = InstructionCounter::default();
        let exit = interpreter(hart, memory, code, &mut counter);
        hart.retired = hart.retired.wrapping_add(counter.count);
        return exit;
    }
    let mut until = Until {
        left: if one { 1 } else { MOST_INTERPRETED },
        jump: true,
        retired: 0,
    };
    let exit = interpreter(hart, memory, code, &mut until);
    hart.retired = hart.retired.wrapping_add(until.retired);
    exit
}

/// Executes from `hart.pc` like [`flick_engine::run()`], by translated code where there is some. Translated
/// code does not use the stack below `stack_limit` for calls, as far as it can help it.
///
/// # Safety
/// Translations that `lookup` gives are alive and of code that is what it was; the guest may do what the
/// program may.
pub unsafe fn run(
    hart: &mut Hart,
    memory: &Identity,
    code: &CodeRegion,
    lookup: Lookup,
    stack_limit: u64,
) -> Exit {
    hart.host_limit = stack_limit;
    let mut interpret = false;
    loop {
        // SAFETY: by contract.
        match unsafe { advance(hart, memory, code, lookup, interpret) } {
            Ok(entry) => {
                // SAFETY: by contract.
                let reason = unsafe { glue::enter(hart, entry) };
                interpret = reason == Reason::Interpret as u64;
            }
            Err(exit) => return exit,
        }
    }
}
