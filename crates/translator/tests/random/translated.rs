//! The translator as an engine: every function is translated at its first call.
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use flick_engine::{CodeRegion, Exit, Hart, Identity};
use flick_riscv::Insn;
use flick_riscv_testing::isa;
use flick_riscv_testing::values::Rng;
use flick_translator::{Context, Counting, HostRegisters, Program, Summary, Target, Translator};

use crate::engine::Engine;

/// One for the process: the engine asks for translations by a plain function.
static TRANSLATOR: Mutex<Option<Current>> = Mutex::new(None);

struct Current {
    translator: Translator,
    guest: Guest,
}

/// What the generator knows of its program.
pub struct Guest {
    pub code: CodeRegion,
    pub functions: Vec<Range<u64>>,
    /// What their makers know of them: see [`crate::program::Program`].
    constants: Vec<Range<u64>>,
    jumps: HashMap<u64, Vec<u64>>,
    summaries: HashMap<u64, Summary>,
}

impl Guest {
    pub fn of(code: &CodeRegion, program: &crate::program::Program) -> Self {
        Self {
            // SAFETY: the same code, which outlives the engine.
            code: unsafe { CodeRegion::new(code.base(), code.len()) },
            functions: program.functions.clone(),
            constants: program.constants.clone(),
            jumps: program.jumps.clone(),
            summaries: program.summaries.clone(),
        }
    }
}

impl Program for Guest {
    /// The targets of every jump, in half of the programs.
    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        let is_told = self.functions.len().is_multiple_of(2);
        self.jumps.get(&pc).filter(|_| is_told).cloned()
    }

    fn insn(&self, pc: u64) -> Option<Insn> {
        self.code.contains(pc).then(|| self.code.insn(pc))
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let has = |range: &&Range<u64>| range.contains(&pc);
        self.functions.iter().find(has).cloned()
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        let has = |range: &Range<u64>| range.contains(&address) && address + len <= range.end;
        if !self.constants.iter().any(has) {
            return None;
        }
        // SAFETY: the program's code is mapped and readable.
        Some(unsafe {
            match len {
                4 => u64::from((address as *const u32).read_unaligned()),
                _ => (address as *const u64).read_unaligned(),
            }
        })
    }

    /// The registers of every function, in some of the programs.
    fn summary(&self, pc: u64) -> Option<Summary> {
        let is_told = !self.functions.len().is_multiple_of(3);
        self.summaries.get(&pc).filter(|_| is_told).copied()
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        Some(if self.code.contains(target) {
            Target::Guest(target)
        } else {
            Target::Elsewhere
        })
    }
}

unsafe extern "C" fn lookup(_: *mut Context, target: u64) -> u64 {
    let mut current = TRANSLATOR.lock().unwrap();
    let Some(Current { translator, guest }) = current.as_mut() else {
        return 0;
    };
    if let Some(known) = translator.targets().get(target) {
        return known;
    }
    if !guest.code.contains(target) {
        translator.remember_elsewhere(target);
        return 0;
    }
    translator.entry(guest, target).unwrap_or(0)
}

pub struct Translated {
    /// Draws budgets, if the code has some.
    budgets: Option<Rng>,
}

/// The longest budget.
const MOST: u64 = 300;

impl Translated {
    pub fn make(code: &CodeRegion, program: &crate::program::Program) -> Box<dyn Engine> {
        Self::counting(code, program, Counting::None)
    }

    /// In budgets, which end anywhere.
    pub fn within_budgets(code: &CodeRegion, program: &crate::program::Program) -> Box<dyn Engine> {
        Self::counting(code, program, Counting::Budget)
    }

    fn counting(
        code: &CodeRegion,
        program: &crate::program::Program,
        counting: Counting,
    ) -> Box<dyn Engine> {
        *TRANSLATOR.lock().unwrap() = Some(Current {
            translator: Translator::new(16 << 20, counting, lookup)
                .expect("memory for translated code"),
            guest: Guest::of(code, program),
        });
        let budgets = (counting == Counting::Budget).then(|| Rng(code.len()));
        Box::new(Self { budgets })
    }
}

impl Engine for Translated {
    fn name(&self) -> &'static str {
        match self.budgets {
            Some(_) => "translate, within budgets",
            None => "translate",
        }
    }

    fn run(&mut self, context: &mut Context, code: &CodeRegion) -> Exit {
        // SAFETY: the generated code stays in the program's mappings; translations live as long as
        // the engine.
        let memory = unsafe { Identity::new() };
        let Some(rng) = &mut self.budgets else {
            // SAFETY: as above.
            return unsafe { flick_translator::run(context, &memory, code, lookup, 0) };
        };
        let isa = isa::all();
        loop {
            context.retired = (1 + rng.below(MOST)).wrapping_neg();
            // SAFETY: as above.
            let exit =
                unsafe { flick_translator::run_within(context, &memory, code, isa, lookup, 0) };
            assert!(context.retired as i64 <= 0, "the budget");
            if exit != Exit::Budget {
                return exit;
            }
        }
    }

    fn state_at_fault(&self, context: &libc::ucontext_t, hart: &Hart) -> Option<Hart> {
        let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        let current = TRANSLATOR.lock().unwrap();
        let translator = &current.as_ref()?.translator;
        let (start, end) = translator.range();
        if !(start..end).contains(&pc) {
            // What the interpreter does for the translator.
            return crate::engine::interpreted(pc).then_some(*hart);
        }
        let host = HostRegisters::of(context);
        // SAFETY: the context is that of the fault in this thread, which runs `hart`.
        unsafe { translator.states().restore(pc, &host) }
    }
}
