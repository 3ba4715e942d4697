//! Code within a budget counts each of its instructions once, by whichever way it is left: compared with
//! the interpreter's count.

mod common;

use std::ops::Range;
use std::sync::Mutex;

use flick_engine::{CodeRegion, Exit, Hart, Identity, InstructionBudget, NoObserver, ProcessCore};
use flick_riscv::Insn;
use flick_riscv_testing::isa;
use flick_translator::{Context, Counting, Program, Target, Translator, run_within};

use common::{Current, look_up, region};

const RET: u32 = 0x0000_8067;
const RA: usize = 1;
const A0: usize = 10;
/// More than the code has.
const BUDGET: u64 = 1000;
/// No code: where the outermost function returns.
const OUTSIDE: u64 = 0;

struct Guest {
    code: CodeRegion,
    /// The bytes of the first function. The second is behind it.
    first: u64,
}

impl Program for Guest {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.code.contains(pc).then(|| self.code.insn(pc))
    }
    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let (start, middle) = (self.code.base(), self.code.base() + self.first);
        match pc < middle {
            true => Some(start..middle),
            false => Some(middle..start + self.code.len()),
        }
    }
    fn constant(&self, _: u64, _: u64) -> Option<u64> {
        None
    }
    fn resolve(&self, target: u64) -> Option<Target> {
        match self.code.contains(target) {
            true => Some(Target::Guest(target)),
            false => Some(Target::Elsewhere),
        }
    }
}

static CURRENT: Current<Guest> = Mutex::new(None);
/// The tests have one translator.
static ALONE: Mutex<()> = Mutex::new(());

unsafe extern "C" fn lookup(_: *mut Context, target: u64) -> u64 {
    match look_up(&CURRENT, |guest| &guest.code, target) {
        0 => {
            let current = CURRENT.lock().unwrap();
            let known = current.as_ref();
            known
                .and_then(|(translator, _)| translator.targets().get(target))
                .unwrap_or(0)
        }
        found => found,
    }
}

const MEMORY: Identity = {
    // SAFETY: the code accesses no memory.
    unsafe { Identity::new() }
};

/// The code is run three times: what is looked up the first time is known the next.
fn counts_as_the_interpreter(words: &[u32], first: u64) {
    let _alone = ALONE.lock().unwrap();
    let code = region(words);
    let begin = Hart {
        pc: code.base(),
        ..Hart::ZERO
    };
    assert_eq!(begin.x[RA], OUTSIDE);
    let (mut hart, mut left) = (begin, InstructionBudget { left: BUDGET });
    let mut core = ProcessCore::new(&MEMORY, &code);
    let exit = flick_engine::run(&mut hart, &mut core, &mut NoObserver, &mut left);
    assert_eq!(exit, Exit::Leave);
    let wanted = BUDGET - left.left;

    let translator = Translator::new(1 << 20, Counting::Budget, lookup).expect("memory for code");
    let guest = Guest {
        code: region(words),
        first,
    };
    *CURRENT.lock().unwrap() = Some((translator, guest));
    let isa = isa::all();
    for run in 0..3 {
        let mut context = Context {
            hart: begin,
            retired: BUDGET.wrapping_neg(),
            ..Context::ZERO
        };
        // SAFETY: as above; the translator stays until it is taken.
        let exit = unsafe { run_within(&mut context, &MEMORY, &code, isa, lookup, 0) };
        assert_eq!(exit, Exit::Leave, "run {run}");
        assert_eq!(context.hart.pc, hart.pc, "run {run}");
        assert_eq!(context.hart.x[A0], hart.x[A0], "run {run}");
        assert_eq!(BUDGET.wrapping_add(context.retired), wanted, "run {run}");
    }
    CURRENT.lock().unwrap().take();
}

#[test]
fn where_a_function_returns_elsewhere() {
    let words = [
        0x0000_8493, // mv s1, ra
        0x014000ef,  // jal ra, to the second function
        0x0015_0513, // addi a0, a0, 1
        0x0025_0513, // addi a0, a0, 2
        0x0004_8093, // mv ra, s1
        RET,
        // It returns to the instruction behind that.
        0x0045_0513, // addi a0, a0, 4
        0x0040_8093, // addi ra, ra, 4
        RET,
    ];
    counts_as_the_interpreter(&words, 24);
}

#[test]
fn where_calls_are_looked_up() {
    let words = [
        0x0000_8493, // mv s1, ra
        0x0000_0917, // auipc s2, 0
        0x0249_0913, // addi s2, s2, 36: the second function
        0x0009_00e7, // jalr ra, s2
        0x0009_00e7, // jalr ra, s2
        0x0010_0293, // li t0, 1
        0x0000_0313, // li t1, 0
        0x0004_8093, // mv ra, s1
        0x0003_0067, // jr t1: a tail call of what is no code
        0x0000_0013, // nop
        0x0045_0513, // addi a0, a0, 4
        RET,
    ];
    counts_as_the_interpreter(&words, 40);
}
