//! What runs programs in this process.

use crate::ahead::AheadOfTime;
use crate::program::Program;
use crate::translated::Translated;
use flick_engine::{
    CodeRegion, Exit, Hart, Identity, NoObserver, Observer, ProcessCore, Unlimited, run,
};
use flick_riscv::{Insn, Op};
use flick_translator::Context;

/// One engine, made for one program.
pub trait Engine {
    fn name(&self) -> &'static str;

    /// Executes from the hart's pc on. May be left by a jump out of a signal handler.
    fn run(&mut self, context: &mut Context, code: &CodeRegion) -> Exit;

    /// The guest's state at a fault, from the host's: `hart` is the one that is running. None if
    /// the fault is not one of guest code.
    fn state_at_fault(&self, context: &libc::ucontext_t, hart: &Hart) -> Option<Hart>;

    /// Registers that are dead at a fault may be overwritten in the hart: it is what the engine
    /// goes on with.
    fn clobbers_dead(&self) -> bool {
        false
    }

    /// How often each operation was executed, if it counts.
    fn census(&self) -> Option<&[u64; Op::COUNT]> {
        None
    }
}

pub type Make = fn(&CodeRegion, &Program) -> Box<dyn Engine>;

/// All engines, in the order in which they are compared: each with the one before, the first with
/// qemu.
pub const ENGINES: &[Make] = &[
    Interpreter::plain,
    Interpreter::forgetful,
    Translated::make,
    Translated::within_budgets,
    AheadOfTime::make,
];

/// Counts by operation.
struct Census([u64; Op::COUNT]);

impl Observer for Census {
    #[inline(always)]
    fn retired(&mut self, _: u64, insn: Insn) {
        self.0[insn.op() as usize] += 1;
    }
}

struct Interpreter {
    census: Census,
    clobbers_dead: bool,
}

impl Interpreter {
    fn plain(_: &CodeRegion, _: &Program) -> Box<dyn Engine> {
        Box::new(Self {
            census: Census([0; Op::COUNT]),
            clobbers_dead: false,
        })
    }

    /// Shows that the generator knows what is live: the others are asked for no more than that.
    fn forgetful(_: &CodeRegion, _: &Program) -> Box<dyn Engine> {
        Box::new(Self {
            census: Census([0; Op::COUNT]),
            clobbers_dead: true,
        })
    }
}

unsafe extern "C" {
    static __start_flick_engine: u8;
    static __stop_flick_engine: u8;
}

/// Whether code at `pc` of the host is the interpreter's.
pub fn interpreted(pc: u64) -> bool {
    let section = (&raw const __start_flick_engine).addr()..(&raw const __stop_flick_engine).addr();
    section.contains(&(pc as usize))
}

impl Engine for Interpreter {
    fn name(&self) -> &'static str {
        if self.clobbers_dead {
            "interp, forgetful"
        } else {
            "interp"
        }
    }

    fn run(&mut self, context: &mut Context, code: &CodeRegion) -> Exit {
        // SAFETY: the generated code stays in the program's mappings.
        let memory = unsafe { Identity::new() };
        let mut core = ProcessCore::new(&memory, code);
        if self.clobbers_dead {
            run(
                &mut context.hart,
                &mut core,
                &mut NoObserver,
                &mut Unlimited,
            )
        } else {
            run(
                &mut context.hart,
                &mut core,
                &mut self.census,
                &mut Unlimited,
            )
        }
    }

    fn state_at_fault(&self, context: &libc::ucontext_t, hart: &Hart) -> Option<Hart> {
        interpreted(context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64).then_some(*hart)
    }

    fn clobbers_dead(&self) -> bool {
        self.clobbers_dead
    }

    fn census(&self) -> Option<&[u64; Op::COUNT]> {
        (!self.clobbers_dead).then_some(&self.census.0)
    }
}
