//! Vector instructions as translated code has them against the interpreter, which is compared with
//! qemu: random sequences between scalar instructions, of which some are illegal; and the guest's
//! registers where an access faults.

mod common;

use std::cell::Cell;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Mutex;

use flick_engine::vector::{VectorState, set_process_states};
use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited};
use flick_riscv::Insn;
use flick_riscv_testing::isa;
use flick_riscv_testing::values::Rng;
use flick_translator::{
    Context, Counting, Program, Target, Translator, VectorCall, set_vector_calls,
    state_at_vector_call,
};

use common::{Current, look_up, region};

const RET: u32 = 0x0000_8067;
const A0: usize = 10;
const A1: usize = 11;

struct Guest {
    code: CodeRegion,
    /// Addresses of words that never change.
    constants: Range<u64>,
}

impl Guest {
    fn new(code: CodeRegion) -> Self {
        Self {
            code,
            constants: 0..0,
        }
    }
}

impl Program for Guest {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.code.contains(pc).then(|| self.code.insn(pc))
    }
    fn function(&self, _: u64) -> Option<Range<u64>> {
        Some(self.code.base()..self.code.base() + self.code.len())
    }
    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        let is_one = len == 4 && self.constants.contains(&address);
        // SAFETY: the words outlive the region.
        is_one.then(|| u64::from(unsafe { *(address as *const u32) }))
    }
    fn resolve(&self, _: u64) -> Option<Target> {
        None
    }
}

static CURRENT: Current<Guest> = Mutex::new(None);
/// The tests have one translator.
static ALONE: Mutex<()> = Mutex::new(());

unsafe extern "C" fn lookup(_: *mut Context, target: u64) -> u64 {
    look_up(&CURRENT, |guest| &guest.code, target)
}

fn state_at(call: &VectorCall) -> Option<Hart> {
    let current = CURRENT.lock().unwrap();
    let (translator, _) = current.as_ref()?;
    // SAFETY: the call is being made.
    let at = |&place: &u64| unsafe { translator.states().restore(place, &call.registers) };
    call.places().iter().find_map(at)
}

thread_local! {
    static STATE: Cell<Option<NonNull<VectorState>>> = const { Cell::new(None) };
}

fn state_of(_: &Hart) -> Option<NonNull<VectorState>> {
    STATE.get()
}

const MEMORY: Identity = {
    // SAFETY: the programs access the memory of these tests.
    unsafe { Identity::new() }
};

const BYTES: usize = 4096;

/// An instruction of which most are legal. Addresses are in a0, and a2 to a4 are small.
fn instruction(rng: &mut Rng) -> u32 {
    let any = rng.next() as u32;
    let register = |at: u32| (any >> at & 7) * 4;
    let (vd, vs1, vs2) = (register(0), register(3), register(6));
    let scalar = 12 + (any >> 9) % 3;
    let vm = if any >> 12 & 3 == 0 { 0 } else { 1 << 25 };
    let group = vs2 << 20 | vm;
    match any >> 28 {
        0 | 1 => {
            // vsetvli a1, a2, e8 to e64, mf2 to m4
            let vtype = (any >> 14 & 3) << 3 | [0, 1, 2, 7][any as usize >> 16 & 3];
            vtype << 20 | 12 << 15 | 7 << 12 | 11 << 7 | 0x57
        }
        // Scalar: add, and addi of an argument.
        2 => 0x0000_0033 | scalar << 20 | 11 << 15 | 11 << 7,
        3 => 0x0010_0013 | scalar << 15 | scalar << 7,
        4 | 5 => {
            group & !(31 << 20)
                | 10 << 15
                | [0, 5, 6, 7][any as usize >> 14 & 3] << 12
                | vd << 7
                | 0x07
        }
        6 => {
            group & !(31 << 20)
                | 10 << 15
                | [0, 5, 6, 7][any as usize >> 14 & 3] << 12
                | vd << 7
                | 0x27
        }
        // Strided.
        7 => 2 << 26 | vm | scalar << 20 | 10 << 15 | ((any >> 14 & 1) * 5) << 12 | vd << 7 | 0x07,
        // vmv.x.s, vfmv.f.s, vcpop.m
        8 => 0x4200_2057 | vs2 << 20 | 11 << 7,
        9 => 0x4200_1057 | vs2 << 20 | 10 << 7,
        10 => 0x4208_2057 | vs2 << 20 | 11 << 7,
        // csrr a1, vl, vtype or vlenb
        11 => 0xc200_2073 | ((any >> 14) % 3) << 20 | 11 << 7,
        kind => {
            let funct6 = any >> 14 & 0x3f;
            let (operand, funct3) = match kind {
                12 => (vs1, any >> 20 & 3),
                13 => (vs1, 3),
                14 => (scalar, [4, 6][any as usize >> 20 & 1]),
                _ => (10, 5),
            };
            funct6 << 26 | group | operand << 15 | funct3 << 12 | vd << 7 | 0x57
        }
    }
}

/// What a run leaves behind.
struct Outcome {
    exit: Exit,
    hart: Hart,
    state: Box<VectorState>,
    bytes: Vec<u8>,
}

fn start(rng: &mut Rng) -> (Hart, Box<VectorState>, Vec<u8>) {
    let mut hart = Hart::ZERO;
    for register in 10..18 {
        hart.x[register] = rng.next() % 40;
        hart.f[register] = rng.next();
    }
    let mut state = VectorState::new(256).expect("a VLEN that there is");
    for register in 0..32 {
        let bytes: Vec<u8> = (0..32).map(|_| rng.next() as u8).collect();
        state.set_register(register, &bytes);
    }
    state.configure(0x10, 5);
    (hart, state, (0..BYTES).map(|_| rng.next() as u8).collect())
}

fn outcome(
    &(mut hart, ref state, ref bytes): &(Hart, Box<VectorState>, Vec<u8>),
    place: &mut [u8; BYTES],
    pc: u64,
    run: impl FnOnce(&mut Hart) -> Exit,
) -> Outcome {
    place.copy_from_slice(bytes);
    let mut state = state.clone();
    STATE.set(Some(NonNull::from(&mut *state)));
    hart.pc = pc;
    hart.x[A0] = place.as_ptr() as u64;
    hart.x[1] = 0;
    let exit = run(&mut hart);
    STATE.set(None);
    Outcome {
        exit,
        hart,
        state,
        bytes: place.to_vec(),
    }
}

/// Runs code in budgets that end anywhere.
fn within_budgets(context: &mut Context, code: &CodeRegion, rng: &mut Rng) -> Exit {
    let isa = isa::all();
    loop {
        context.retired = (1 + rng.next() % 16).wrapping_neg();
        // SAFETY: the program accesses the memory of its test.
        let exit = unsafe { flick_translator::run_within(context, &MEMORY, code, isa, lookup, 0) };
        assert!(context.retired.cast_signed() <= 0, "the budget");
        if exit != Exit::Budget {
            return exit;
        }
    }
}

#[test]
fn as_the_interpreter() {
    const PROGRAMS: u64 = 3000;
    let _alone = ALONE.lock().unwrap();
    set_process_states(state_of);
    set_vector_calls(state_at);
    let mut place = Box::new([0; BYTES]);
    let (mut completed, mut illegal) = (0, 0);
    for seed in 0..PROGRAMS {
        let mut rng = Rng(seed + 1);
        let len = 4 + rng.next() % 12;
        let mut words: Vec<u32> = (0..len).map(|_| instruction(&mut rng)).collect();
        words.push(RET);
        let code = region(&words);
        let begin = start(&mut rng);
        let interpreted = outcome(&begin, &mut place, code.base(), |hart| {
            let mut core = ProcessCore::new(&MEMORY, &code);
            flick_engine::run(hart, &mut core, &mut NoObserver, &mut Unlimited)
        });
        for counting in [Counting::None, Counting::Budget] {
            let translator = Translator::new(1 << 20, counting, lookup).expect("memory for code");
            let code = region(&words);
            *CURRENT.lock().unwrap() = Some((translator, Guest::new(region(&words))));
            let translated = outcome(&begin, &mut place, code.base(), |hart| {
                let mut context = Context {
                    hart: *hart,
                    ..Context::ZERO
                };
                let exit = match counting {
                    Counting::Budget => within_budgets(&mut context, &code, &mut rng),
                    // SAFETY: the program accesses the memory of this test.
                    _ => unsafe { flick_translator::run(&mut context, &MEMORY, &code, lookup, 0) },
                };
                *hart = context.hart;
                exit
            });
            let what = format!("program {seed}, {counting:?}: {words:08x?}");
            assert_eq!(translated.exit, interpreted.exit, "{what}");
            assert_eq!(translated.hart.pc, interpreted.hart.pc, "{what}");
            assert!(translated.state == interpreted.state, "{what}");
            assert_eq!(translated.bytes, interpreted.bytes, "{what}");
            match translated.exit {
                Exit::Leave => {
                    completed += 1;
                    let results =
                        |o: &Outcome| (o.hart.x[A0], o.hart.x[A1], o.hart.f[A0], o.hart.f[A1]);
                    assert_eq!(results(&translated), results(&interpreted), "{what}");
                }
                Exit::Illegal { .. } => {
                    illegal += 1;
                    // Each instruction may use it later, and RET hands it on.
                    assert_eq!(translated.hart.x[A0], interpreted.hart.x[A0], "{what}");
                }
                exit => panic!("{exit:?} in {what}"),
            }
        }
    }
    CURRENT.lock().unwrap().take();
    assert!(
        completed > PROGRAMS / 10 && illegal > PROGRAMS / 10,
        "{completed}, {illegal}"
    );
}

static FAULT: Mutex<Option<Hart>> = Mutex::new(None);

const PAGE: usize = 4096;

/// Notes the guest's registers, and opens the page.
extern "C" fn faulted(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the state is this thread's, and the call is being made.
    unsafe {
        let state = STATE.get().expect("vector code");
        let call = state.as_ref().caller() as *const VectorCall;
        *FAULT.lock().unwrap() = state_at_vector_call(&*call);
        let page = (*info).si_addr() as usize & !(PAGE - 1);
        libc::mprotect(page as *mut _, PAGE, libc::PROT_READ | libc::PROT_WRITE);
    }
}

#[test]
fn registers_are_exact_where_an_access_faults() {
    let _alone = ALONE.lock().unwrap();
    set_process_states(state_of);
    set_vector_calls(state_at);
    // SAFETY: new memory, and a handler for it.
    let pages = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let pages = libc::mmap(
            std::ptr::null_mut(),
            2 * PAGE,
            libc::PROT_READ,
            flags,
            -1,
            0,
        );
        assert_ne!(pages, libc::MAP_FAILED);
        libc::mprotect(pages.wrapping_byte_add(PAGE), PAGE, libc::PROT_NONE);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = faulted as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
        pages as u64
    };
    let words = [
        0x0280_0593_u32,        // li a1, 40
        0x0030_0613,            // li a2, 3
        0x00b5_06b3,            // add a3, a0, a1
        0x0d00_7057 | 11 << 15, // vsetvli zero, a1, e32, m1
        0x0206_e407,            // vle32.v v8, (a3)
        0x00c5_8533,            // add a0, a1, a2
        0x00d5_0533,            // add a0, a0, a3
        RET,
    ];
    let mut state = VectorState::new(128).expect("a VLEN that there is");
    STATE.set(Some(NonNull::from(&mut *state)));
    let code = region(&words);
    let translator = Translator::new(1 << 20, Counting::None, lookup).expect("memory for code");
    *CURRENT.lock().unwrap() = Some((translator, Guest::new(region(&words))));
    let mut context = Context::ZERO;
    context.hart.pc = code.base();
    context.hart.x[A0] = pages + PAGE as u64 - 48;
    // SAFETY: the program accesses the memory of this test.
    let exit = unsafe { flick_translator::run(&mut context, &MEMORY, &code, lookup, 0) };
    STATE.set(None);
    CURRENT.lock().unwrap().take();
    assert_eq!(exit, Exit::Leave);
    let at = FAULT.lock().unwrap().take().expect("there was a fault");
    let base = pages + PAGE as u64 - 8;
    assert_eq!(at.pc, code.base() + 16);
    assert_eq!((at.x[11], at.x[12], at.x[13]), (40, 3, base));
    assert_eq!(context.hart.x[A0], 43 + base);
    assert_eq!((state.vstart(), state.caller()), (0, 0));
}

#[test]
fn a_jump_by_an_index_behind_the_table_executes_it_once() {
    let _alone = ALONE.lock().unwrap();
    set_process_states(state_of);
    set_vector_calls(state_at);
    const CODE: usize = 8;
    let words = [
        0x0000_0597_u32, // auipc a1, 0
        0x0205_8593,     // addi a1, a1, 32
        0x20b6_46b3,     // sh2add a3, a2, a1
        0x0210_80d7,     // vadd.vv v1, v1, v1
        0x0006_a683,     // lw a3, 0(a3)
        0x00b6_86b3,     // add a3, a3, a1
        0x0006_8067,     // jr a3
        RET,
        // The table: distances of RET, of which the translator is told of two.
        -4_i32 as u32,
        -4_i32 as u32,
        -4_i32 as u32,
    ];
    for index in 0..3 {
        let mut state = VectorState::new(128).expect("a VLEN that there is");
        state.configure(0x00, 16);
        state.set_register(1, &[3; 16]);
        STATE.set(Some(NonNull::from(&mut *state)));
        let code = region(&words[..CODE]);
        let table = code.base() + code.len();
        let guest = Guest {
            code: region(&words[..CODE]),
            constants: table..table + 8,
        };
        let translator = Translator::new(1 << 20, Counting::None, lookup).expect("memory for code");
        *CURRENT.lock().unwrap() = Some((translator, guest));
        let mut context = Context::ZERO;
        context.hart.pc = code.base();
        context.hart.x[12] = index;
        // SAFETY: the program accesses its table.
        let exit = unsafe { flick_translator::run(&mut context, &MEMORY, &code, lookup, 0) };
        STATE.set(None);
        CURRENT.lock().unwrap().take();
        assert_eq!(exit, Exit::Leave, "index {index}");
        assert!(state.register(1).eq([6; 16]), "index {index}");
    }
}
