//! What runs programs in this process.

use std::ops::Range;

use flick_engine::{CodeRegion, Exit, Hart, Identity, InstructionCounter, run};

/// One engine, made for one program.
pub trait Engine {
    fn name(&self) -> &'static str;

    /// Executes from `hart.pc` on. May be left by a jump out of a signal handler.
    fn run(&mut self, hart: &mut Hart, code: &CodeRegion) -> Exit;

    /// The guest's state at a fault, from the host's: `hart` is the one that is running. None if the
    /// fault is not one of guest code.
    fn state_at_fault(&self, context: &libc::ucontext_t, hart: &Hart) -> Option<Hart>;

    /// Instructions executed so far, if it counts.
    fn instructions(&self) -> Option<u64> {
        None
    }
}

pub type Make = fn(&CodeRegion, &[Range<u64>]) -> Box<dyn Engine>;

/// All engines, in the order in which they are compared: each with the one before, the first with
/// qemu.
pub const ENGINES: &[Make] = &[Interpreter::boxed];

struct Interpreter {
    counter: InstructionCounter,
}

impl Interpreter {
    fn boxed(_: &CodeRegion, _: &[Range<u64>]) -> Box<dyn Engine> {
        let counter = InstructionCounter::default();
        Box::new(Self { counter })
    }
}

unsafe extern "C" {
    static __start_flick_engine: u8;
    static __stop_flick_engine: u8;
}

impl Engine for Interpreter {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn run(&mut self, hart: &mut Hart, code: &CodeRegion) -> Exit {
        // SAFETY: the generated code stays in the program's mappings.
        let memory = unsafe { Identity::new() };
        run(hart, &memory, code, &mut self.counter)
    }

    fn state_at_fault(&self, context: &libc::ucontext_t, hart: &Hart) -> Option<Hart> {
        let rip = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        let section =
            (&raw const __start_flick_engine).addr()..(&raw const __stop_flick_engine).addr();
        section.contains(&rip).then_some(*hart)
    }

    fn instructions(&self) -> Option<u64> {
        Some(self.counter.count)
    }
}
