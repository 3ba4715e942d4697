//! The dispatch loop: it calls translated code, and interprets code that has no translation.
use crate::code::Reason;
use crate::context::Context;
use crate::glue::{self, Lookup};
use flick_engine::CodeRegion;
use flick_engine::Exit;
use flick_engine::Identity;
use flick_engine::run as interpreter;
use flick_engine::{Control, LimitedCore, NoObserver, ProcessCore, Unlimited};
use flick_riscv::{Insn, Isa};

/// Ends a stretch of interpreted code at a jump, or after some instructions.
struct Until {
    /// Instructions.
    left: u64,
    /// A jump is the last one.
    jump: bool,
    retired: u64,
}

impl Control for Until {
    fn proceed(&mut self, _pc: u64) -> bool {
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
}

/// Instructions after which a translation is asked for again.
const MOST_INTERPRETED: u64 = 10_000;

/// Bytes of stack that a call of translated code needs at least. They suffice for a function
/// without calls.
pub const LEAST_STACK: usize = 2048;

/// Interprets from the hart's pc until translated code can be called. Returns its host address, or
/// the reason for which execution cannot go on. `interpret`: the first instruction is one that
/// translated code has left to the interpreter.
///
/// # Safety
/// The guest may do anything that the program may do.
#[inline]
pub unsafe fn advance(
    context: &mut Context,
    memory: &Identity,
    code: &CodeRegion,
    lookup: Lookup,
    mut interpret: bool,
) -> Result<u64, Exit> {
    loop {
        let hart = &mut context.hart;
        if !code.contains(hart.pc) {
            return Err(Exit::Leave);
        }
        // Translated code assumes that MXCSR has the rounding mode.
        if hart.frm == 0 {
            hart.pc &= !1;
            if !interpret {
                // SAFETY: by contract.
                let entry = unsafe { lookup(context, context.hart.pc) };
                if entry != 0 {
                    return Ok(entry);
                }
            }
        }
        let exit = interpret_some(context, memory, code, std::mem::take(&mut interpret));
        if exit != Exit::Budget {
            return Err(exit);
        }
    }
}

/// Interprets one instruction, or up to the point where the dispatch loop looks for translated code
/// again. If the hart has a rounding mode that MXCSR lacks, this point is the end of the run.
#[inline(never)]
fn interpret_some(context: &mut Context, memory: &Identity, code: &CodeRegion, one: bool) -> Exit {
    let hart = &mut context.hart;
    if hart.frm != 0 {
        let mut core = ProcessCore::counting(memory, code);
        let exit = interpreter(hart, &mut core, &mut NoObserver, &mut Unlimited);
        context.retired = context.retired.wrapping_add(core.instructions());
        return exit;
    }
    let mut until = Until {
        left: if one { 1 } else { MOST_INTERPRETED },
        jump: true,
        retired: 0,
    };
    let exit = interpreter(
        hart,
        &mut ProcessCore::new(memory, code),
        &mut NoObserver,
        &mut until,
    );
    context.retired = context.retired.wrapping_add(until.retired);
    exit
}

/// The same for code within a budget ([`Counting::Budget`](crate::Counting::Budget)), on a hart with this
/// ISA. [`Context::retired`] has the negative of what is left. `reason`: why translated code was left last.
/// [`Exit::Budget`]: nothing is left, and the hart is in front of the next instruction.
///
/// # Safety
/// As for [`advance`].
pub unsafe fn advance_within(
    context: &mut Context,
    memory: &Identity,
    code: &CodeRegion,
    isa: Isa,
    lookup: Lookup,
    mut reason: Reason,
) -> Result<u64, Exit> {
    loop {
        let hart = &mut context.hart;
        if !code.contains(hart.pc) {
            return Err(Exit::Leave);
        }
        let left = context.retired.wrapping_neg();
        // Code that leaves behind the end of a budget has counted more.
        if left.cast_signed() <= 0 {
            return Err(Exit::Budget);
        }
        let is_translated = hart.frm == 0;
        if is_translated && reason == Reason::Continue {
            hart.pc &= !1;
            // SAFETY: by contract.
            let entry = unsafe { lookup(context, context.hart.pc) };
            if entry != 0 {
                return Ok(entry);
            }
        }
        let mut within = Within {
            left: match reason {
                Reason::Interpret => 1,
                _ => left,
            },
            stops: is_translated && reason == Reason::Continue,
            has_jumped: false,
            last: 0,
            retired: 0,
        };
        reason = Reason::Continue;
        let mut core = LimitedCore::new(ProcessCore::new(memory, code), isa);
        let hart = &mut context.hart;
        let exit = interpreter(hart, &mut core, &mut NoObserver, &mut within);
        context.retired = context.retired.wrapping_add(within.retired);
        if exit != Exit::Budget {
            return Err(exit);
        }
    }
}

/// Ends a stretch of interpreted code within a budget: where that is over, or where the dispatch loop looks
/// for translated code, behind a jump and at the start of a loop.
struct Within {
    /// Instructions.
    left: u64,
    /// The dispatch loop looks for translated code.
    stops: bool,
    has_jumped: bool,
    last: u64,
    retired: u64,
}

impl Control for Within {
    #[inline(always)]
    fn proceed(&mut self, pc: u64) -> bool {
        let is_stop = self.has_jumped || pc < self.last;
        self.last = pc;
        self.left != 0 && !(self.stops && is_stop)
    }

    #[inline(always)]
    fn jump(&mut self, _pc: u64, _target: u64) {
        self.has_jumped = true;
    }

    #[inline(always)]
    fn retired(&mut self, _pc: u64, _insn: Insn) {
        self.left -= 1;
        self.retired += 1;
    }
}

/// [`run`] within a budget, as [`advance_within`] has it.
///
/// # Safety
/// As for [`run`].
pub unsafe fn run_within(
    context: &mut Context,
    memory: &Identity,
    code: &CodeRegion,
    isa: Isa,
    lookup: Lookup,
    stack_limit: u64,
) -> Exit {
    context.host_limit = stack_limit;
    let mut reason = Reason::Continue;
    loop {
        // SAFETY: by contract.
        match unsafe { advance_within(context, memory, code, isa, lookup, reason) } {
            Ok(entry) => {
                // SAFETY: by contract.
                reason = Reason::from(unsafe { glue::enter_counted(context, entry) });
            }
            Err(exit) => return exit,
        }
    }
}

/// Executes from the hart's pc like [`flick_engine::run()`], by translated code where it exists.
/// Calls in translated code do not use the stack below `stack_limit`. They always have
/// [`LEAST_STACK`] bytes, even if that leads below the limit.
///
/// # Safety
/// Translations that `lookup` gives are alive, and their guest code has not changed. The guest may
/// do anything that the program may do.
pub unsafe fn run(
    context: &mut Context,
    memory: &Identity,
    code: &CodeRegion,
    lookup: Lookup,
    stack_limit: u64,
) -> Exit {
    context.host_limit = stack_limit;
    let mut interpret = false;
    loop {
        // SAFETY: by contract.
        match unsafe { advance(context, memory, code, lookup, interpret) } {
            Ok(entry) => {
                // SAFETY: by contract.
                let reason = unsafe { glue::enter(context, entry) };
                interpret = reason == Reason::Interpret as u64;
            }
            Err(exit) => return exit,
        }
    }
}
