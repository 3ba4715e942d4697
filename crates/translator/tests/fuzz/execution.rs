//! Any bytes, made safe, executed by the interpreter and by translated code: both end alike.
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::OnceLock;

use flick_engine::fp::env::{mxcsr, set_mxcsr};
use flick_engine::vector::{VectorState, is_executed_alone, set_process_states};
use flick_engine::{CodeRegion, Control, Exit, Hart, Identity, NoObserver, ProcessCore, run};
use flick_riscv::{Insn, Op};
use flick_translator::{Context, Counting, Translator, VectorCall, set_vector_calls};

use crate::guest::{CURRENT, Guest, Input, lookup};
use crate::safe::{self, BASE, INDEX, SP, TABLE, TARGET};
use flick_riscv_testing::isa;
use flick_riscv_testing::values::{Rng, boxed, double, integer};

const CODE: u64 = 0x50_0000_0000;
/// The table may be looked for up to so far from where it is.
const AROUND: u64 = 256 << 10;
const ROOM: u64 = 64 << 10;
const STACK: u64 = 0x51_0000_0000;
const STACK_SIZE: u64 = 128 << 10;
const DATA: u64 = 0x52_0000_0000;
/// An index for bytes may be taken for one of words, and 8 KiB behind it may have elements.
const DATA_SIZE: u64 = 28 << 10;
/// Where functions return to.
const OUTSIDE: u64 = 0x53_0000_0008;

const TARGETS: usize = 8;
/// Instructions of a run.
const BUDGET: u64 = 400;
const DEFAULT_MXCSR: u32 = 0x1f80;

/// How often a run goes on after an instruction that ends it.
const MOST_ENDS: usize = 8;

/// What is compared after a run.
struct End {
    exit: Exit,
    before: Vec<Stop>,
    hart: Hart,
    retired: u64,
    mxcsr: u32,
    memory: Vec<u8>,
    vectors: Box<VectorState>,
}

/// An instruction that ended a run which went on.
#[derive(Debug, PartialEq)]
struct Stop {
    exit: Exit,
    pc: u64,
    /// The others are 0.
    alive_x: [u64; 32],
    alive_f: [u64; 32],
}

impl Stop {
    fn new(exit: Exit, insn: Insn, hart: &Hart) -> Self {
        let alive = alive_at(exit, insn);
        let value = |value, n| if alive >> n & 1 != 0 { value } else { 0 };
        Self {
            exit,
            pc: hart.pc,
            alive_x: std::array::from_fn(|n| value(hart.x[n], n)),
            alive_f: std::array::from_fn(|n| value(hart.f[n], n + 32)),
        }
    }

    /// Whether its block, which it ends early, has been counted as a whole.
    fn is_counted(&self, code: &CodeRegion) -> bool {
        is_in_block(self.exit, code.insn(self.pc))
    }
}

/// Whether translated code begins such an instruction, and leaves it to the interpreter then.
fn is_in_block(exit: Exit, insn: Insn) -> bool {
    matches!(exit, Exit::Trap(_)) || is_executed_alone(insn)
}

/// Registers whose contents are right where an instruction ends a run. In the middle of a block these
/// are the live ones: what is written before it is read again is dead.
fn alive_at(exit: Exit, insn: Insn) -> u64 {
    const FIXED: u64 = 0b11100;
    if is_in_block(exit, insn) {
        FIXED | insn.reads()
    } else {
        !1
    }
}

/// When a hart has a vector state.
#[derive(Clone, Copy, PartialEq)]
enum Vectors {
    Never,
    /// After the first instruction that needs it.
    Later,
    Always,
}

thread_local! {
    static VECTORS: Cell<Option<NonNull<VectorState>>> = const { Cell::new(None) };
}

fn vectors_of(_: &Hart) -> Option<NonNull<VectorState>> {
    VECTORS.get()
}

/// What a run of the interpreter sees.
struct Watch<'a> {
    /// Offsets of instructions, and of the code's end.
    starts: &'a [usize],
    len: u64,
    left: u64,
    last: Option<Insn>,
    target: u64,
    /// Where some jumps lead, as the translator is told, and whether one has led elsewhere.
    jumps: &'a BTreeMap<u64, Vec<u64>>,
    strays: bool,
    /// The instructions that it came to after so many.
    came_to: Vec<Vec<u64>>,
}

impl Control for Watch<'_> {
    fn proceed(&mut self, pc: u64) -> bool {
        let retired = (BUDGET - self.left) as usize;
        if self.came_to.len() <= retired {
            self.came_to.resize(retired + 1, vec![]);
        }
        self.came_to[retired].push(pc);
        self.left != 0
    }

    fn jump(&mut self, _: u64, target: u64) {
        self.target = target;
    }

    fn retired(&mut self, pc: u64, insn: Insn) {
        self.left -= 1;
        self.last = Some(insn);
        // Control may have come to the jump without what makes its target.
        if let Some(targets) = self.jumps.get(&pc)
            && !targets.contains(&self.target)
        {
            self.strays = true;
        }
        // Functions do not return into themselves, nor jump into an instruction.
        let offset = (self.target & !1).wrapping_sub(CODE);
        if insn.op() == Op::Jalr && offset < self.len {
            let starts = self.starts.binary_search(&(offset as usize)).is_ok();
            if returns(insn) || !starts {
                self.left = 0;
            }
        }
    }
}

fn returns(insn: Insn) -> bool {
    insn.op() == Op::Jalr && (insn.rd(), insn.rs1(), insn.imm()) == (0, 1, 0)
}

fn map(at: u64, len: u64) {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: harms no other mapping.
    let place = unsafe { libc::mmap(at as *mut _, len as usize, protection, flags, -1, 0) };
    assert_eq!(place as u64, at, "no place for {len:#x} bytes");
}

fn prepare() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        map(CODE - AROUND, ROOM + 2 * AROUND);
        map(STACK, STACK_SIZE);
        map(DATA, DATA_SIZE);
        set_process_states(vectors_of);
        set_vector_calls(state_at);
    });
}

fn memory(at: u64, len: u64) -> &'static mut [u8] {
    // SAFETY: mapped by `prepare`; runs are one after another, and nobody keeps a reference over
    // one.
    unsafe { std::slice::from_raw_parts_mut(at as *mut u8, len as usize) }
}

/// Registers and memory at the start.
struct Start {
    hart: Hart,
    data: Vec<u8>,
    vectors: Box<VectorState>,
    have_vectors: Vectors,
}

impl Start {
    fn new(seed: u64, table: u64, have_vectors: Vectors) -> Self {
        let mut rng = Rng(seed);
        let mut hart = Hart::ZERO;
        for x in &mut hart.x[1..] {
            *x = integer(&mut rng);
        }
        for f in &mut hart.f {
            *f = if rng.chance(50) {
                double(&mut rng)
            } else {
                boxed(&mut rng)
            };
        }
        hart.x[1] = OUTSIDE;
        hart.x[SP as usize] = STACK + STACK_SIZE / 2;
        hart.x[BASE as usize] = DATA + 2048;
        hart.x[TABLE as usize] = table;
        hart.x[TARGET as usize] = table;
        hart.x[INDEX as usize] = 0;
        hart.x[safe::ADDRESS as usize] = DATA + 2048;
        let data = (0..DATA_SIZE / 8)
            .flat_map(|_| integer(&mut rng).to_le_bytes())
            .collect();
        // All but the function's first instruction is entered as what it is.
        hart.pc = CODE + 4;
        let mut vectors = VectorState::new(safe::VLEN).expect("a VLEN that there is");
        for register in 0..32 {
            let values = [integer(&mut rng), double(&mut rng)];
            vectors.set_register(register, values.map(u64::to_le_bytes).as_flattened());
        }
        vectors.configure(rng.below(32), rng.below(20));
        Self {
            hart,
            data,
            vectors,
            have_vectors,
        }
    }

    /// Goes on after instructions that end a run, as handlers of signals have it in a process. After
    /// a breakpoint that is the next instruction. Any other is tried again if the handler has removed
    /// the reason; here it gives the hart its vector state. Else the handler leaves by `siglongjmp`,
    /// and code behind the instruction is called again.
    fn run(&self, code: &CodeRegion, mut engine: impl FnMut(&mut Context) -> Exit) -> End {
        let mut context = Context {
            hart: self.hart,
            ..Context::ZERO
        };
        memory(DATA, DATA_SIZE).copy_from_slice(&self.data);
        memory(STACK, STACK_SIZE).fill(0x5a);
        let mut vectors = self.vectors.clone();
        let given = NonNull::from(&mut *vectors);
        VECTORS.set((self.have_vectors == Vectors::Always).then_some(given));
        let own = mxcsr();
        set_mxcsr(DEFAULT_MXCSR);
        let mut before = vec![];
        let exit = loop {
            let exit = engine(&mut context);
            let hart = &mut context.hart;
            let ends = !matches!(exit, Exit::Leave | Exit::Budget) && hart.pc != CODE;
            if !ends || before.len() == MOST_ENDS {
                break exit;
            }
            let insn = code.insn(hart.pc);
            before.push(Stop::new(exit, insn, hart));
            let next = hart.pc + insn.len();
            let needs_vectors = self.have_vectors == Vectors::Later && is_executed_alone(insn);
            match exit {
                Exit::Ebreak => hart.pc = next,
                _ if needs_vectors && VECTORS.get().is_none() => VECTORS.set(Some(given)),
                _ => {
                    *hart = Hart {
                        pc: next,
                        frm: hart.frm,
                        ..self.hart
                    };
                }
            }
        };
        VECTORS.set(None);
        let guest = mxcsr();
        set_mxcsr(own);
        let mut all = memory(DATA, DATA_SIZE).to_vec();
        all.extend_from_slice(memory(STACK, STACK_SIZE));
        End {
            exit,
            before,
            hart: context.hart,
            retired: context.retired,
            mxcsr: guest,
            memory: all,
            vectors,
        }
    }
}

/// Shows the code of a run that ends by a panic, for `llvm-mc --disassemble`.
struct Shown<'a>(&'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let bytes: Vec<String> = self.0.iter().map(|byte| format!("{byte:#04x}")).collect();
            eprintln!("code: {}", bytes.join(" "));
        }
    }
}

/// Whether what it is was executed by both engines.
pub fn execute(data: &[u8]) -> bool {
    prepare();
    let mut input = Input { rest: data };
    let shape = input.byte();
    let seed = u64::from(input.half());
    let table = if shape & 1 != 0 {
        Some([(); TARGETS].map(|()| input.byte()))
    } else {
        None
    };
    let mut code = safe::code(&mut input, shape & 2 != 0, table.is_some());
    let len = code.bytes.len() as u64;
    let table_at = (CODE + len).next_multiple_of(8);
    for &at in &code.table_loads {
        lead_to(&mut code.bytes[at..at + 8], table_at - (CODE + at as u64));
    }
    let _shown = Shown(&code.bytes);
    memory(CODE, ROOM).fill(0);
    memory(CODE, len).copy_from_slice(&code.bytes);
    let (mut constants, mut jumps) = (CODE..CODE, BTreeMap::new());
    if let Some(table) = table {
        let target = |choice| CODE + code.starts[usize::from(choice) % code.starts.len()] as u64;
        let targets = table.map(target);
        for (n, target) in targets.iter().enumerate() {
            let distance = target.wrapping_sub(table_at) as u32;
            memory(table_at + 4 * n as u64, 4).copy_from_slice(&distance.to_le_bytes());
        }
        // The table may be one that changes, for all that is known.
        if shape & 16 == 0 {
            constants = table_at..table_at + 4 * TARGETS as u64;
        }
        if shape & 32 != 0 {
            let said = |&at: &usize| (CODE + at as u64, targets.to_vec());
            jumps.extend(code.table_jumps.iter().map(said));
        }
    }
    // SAFETY: mapped, and not changed before the next input.
    let region = || unsafe { CodeRegion::new(CODE, len) };
    let have_vectors = match shape >> 6 {
        0 | 2 => Vectors::Never,
        1 => Vectors::Always,
        _ => Vectors::Later,
    };
    let start = Start::new(seed, table_at, have_vectors);
    // SAFETY: the code accesses the sandbox only.
    let identity = unsafe { Identity::new() };

    let mut watch = Watch {
        starts: &code.starts,
        len,
        left: BUDGET,
        last: None,
        target: 0,
        jumps: &jumps,
        strays: false,
        came_to: vec![],
    };
    let cached = region();
    let wanted = start.run(&cached, |context| {
        // A jump before an end is not the last instruction.
        watch.last = None;
        run(
            &mut context.hart,
            &mut ProcessCore::new(&identity, &cached),
            &mut NoObserver,
            &mut watch,
        )
    });
    if wanted.exit == Exit::Budget || watch.strays {
        return false;
    }
    let counts = shape & 4 != 0;
    let counting = match counts {
        true => Counting::Retired,
        false => Counting::None,
    };
    let all = CODE..CODE + len;
    let translate = |counting| {
        let guest = Guest {
            code: region(),
            functions: vec![all.clone()],
            constants: constants.clone(),
            jumps: jumps.clone(),
        };
        let translator = Translator::new(1 << 20, counting, lookup).expect("memory for code");
        *CURRENT.lock().unwrap() = Some((translator, guest));
    };
    translate(counting);
    let limit = if shape & 8 != 0 { u64::MAX } else { 0 };
    // What is found by the loop the first time is found by translated code the second time.
    for _ in 0..2 {
        let have = start.run(&cached, |context| {
            // SAFETY: as above; the translator stays until it is taken.
            unsafe { flick_translator::run(context, &identity, &cached, lookup, limit) }
        });
        let retired = counts.then_some(BUDGET - watch.left);
        compare(&cached, &wanted, &have, watch.last, retired);
    }
    translate(Counting::Budget);
    let mut rng = Rng(seed ^ 0x5eed);
    for most in [12, 60, BUDGET] {
        let mut retired = 0;
        let mut have = start.run(&cached, |context| {
            loop {
                let budget = 1 + rng.below(most);
                context.retired = budget.wrapping_neg();
                // SAFETY: as above.
                let exit = unsafe {
                    flick_translator::run_within(
                        context,
                        &identity,
                        &cached,
                        isa::all(),
                        lookup,
                        limit,
                    )
                };
                assert!(context.retired as i64 <= 0, "the budget");
                retired += budget.wrapping_add(context.retired);
                if exit != Exit::Budget {
                    return exit;
                }
                let pc = context.hart.pc;
                let is_there = watch.came_to.get(retired as usize);
                assert!(
                    is_there.is_some_and(|all| all.contains(&pc)),
                    "{pc:#x} after {retired}"
                );
            }
        });
        have.retired = retired;
        compare(
            &cached,
            &wanted,
            &have,
            watch.last,
            Some(BUDGET - watch.left),
        );
    }
    if let Some((mut translator, _)) = CURRENT.lock().unwrap().take() {
        // Its tables would stay otherwise.
        translator.invalidate(std::slice::from_ref(&all));
    }
    true
}

/// The registers where a vector instruction is executed.
fn state_at(call: &VectorCall) -> Option<Hart> {
    let current = CURRENT.lock().unwrap();
    let (translator, _) = current.as_ref()?;
    // SAFETY: the call is being made.
    let at = |&place: &u64| unsafe { translator.states().restore(place, &call.registers) };
    call.places().iter().find_map(at)
}

/// Makes `auipc` and `addi` give an address so far away.
fn lead_to(pair: &mut [u8], distance: u64) {
    let low = distance & 0xfff;
    let high = distance.wrapping_add(0x800) as u32 & !0xfff;
    for (at, bits) in [(0, high), (4, (low as u32) << 20)] {
        let word = u32::from_le_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]);
        pair[at..at + 4].copy_from_slice(&(word | bits).to_le_bytes());
    }
}

/// Registers that somebody may read afterwards (RISC-V psABI, "Register Convention").
fn alive(code: &CodeRegion, end: &End, last: Option<Insn>) -> u64 {
    const SAVED: u64 = 0x0ffc_0300;
    const FIXED: u64 = 0b11110;
    const ARGUMENTS: u64 = 0xff << 10;
    let of_both = |registers: u64| registers | registers << 32;
    let jumped = last.filter(|_| end.exit == Exit::Leave);
    match jumped {
        Some(insn) if returns(insn) => of_both(SAVED | 0b11 << 10) | FIXED,
        // As at a call: what is outside is a function of somebody's.
        Some(_) => of_both(SAVED | ARGUMENTS) | FIXED | 0b11 << 6,
        // The function's start, reached by a jump.
        None if end.hart.pc == CODE => of_both(SAVED | ARGUMENTS) | FIXED | 0b11 << 6,
        None if code.contains(end.hart.pc) => alive_at(end.exit, code.insn(end.hart.pc)),
        None => !1,
    }
}

fn compare(code: &CodeRegion, wanted: &End, have: &End, last: Option<Insn>, retired: Option<u64>) {
    assert_eq!(wanted.before, have.before, "ends");
    assert_eq!(
        wanted.exit, have.exit,
        "pc {:#x}, {:#x}",
        wanted.hart.pc, have.hart.pc
    );
    assert_eq!(wanted.hart.pc, have.hart.pc, "the pc");
    let alive = alive(code, wanted, last);
    for n in (0..64).filter(|n| alive >> n & 1 != 0) {
        let register = |end: &End| match n {
            0..32 => end.hart.x[n],
            _ => end.hart.f[n - 32],
        };
        let (a, b) = (register(wanted), register(have));
        let name = ["x", "f"][n / 32];
        let pc = wanted.hart.pc;
        assert!(a == b, "{name}{}: {a:#x}, {b:#x}, at {pc:#x}", n % 32);
    }
    assert_eq!(
        (wanted.mxcsr, wanted.hart.frm),
        (have.mxcsr, have.hart.frm),
        "fcsr"
    );
    // Instructions are counted when their block begins.
    let mut stops = wanted.before.iter();
    let ends_early = stops.any(|stop| stop.is_counted(code))
        || code.contains(wanted.hart.pc) && is_in_block(wanted.exit, code.insn(wanted.hart.pc));
    if let Some(retired) = retired {
        let have = have.retired;
        assert!(
            have == retired || ends_early && have > retired,
            "{retired} instructions, {have}"
        );
    }
    assert!(wanted.vectors == have.vectors, "the vector state");
    let differs = wanted
        .memory
        .iter()
        .zip(&have.memory)
        .position(|(a, b)| a != b);
    assert_eq!(differs, None, "a byte of memory");
}
