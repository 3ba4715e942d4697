//! Conversions as the translator has them against the interpreter, which is compared with qemu:
//! every one with every rounding mode, named and current, for operands at all edges. Results and
//! flags are compared; then exceptions trap, and the guest's state there is.

mod common;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use flick_engine::fp::env::{RC_MASK, mxcsr, set_mxcsr};
use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited};
use flick_riscv::Insn;
use flick_riscv_testing::values::Rng;
use flick_riscv_testing::{asm, values};
use flick_translator::{Context, Counting, HostRegisters, Program, Target, Translator};

use common::{Current, look_up, region};

/// Operands for each instruction and current mode.
const TIMES: usize = 1500;
const RET: u32 = 0x0000_8067;
/// Without a rounding mode.
const FROM_SINGLE: [u32; 4] = [0xc000_0053, 0xc010_0053, 0xc020_0053, 0xc030_0053];
const FROM_DOUBLE: [u32; 4] = [0xc200_0053, 0xc210_0053, 0xc220_0053, 0xc230_0053];
const TO_SINGLE: [u32; 4] = [0xd000_0053, 0xd010_0053, 0xd020_0053, 0xd030_0053];
const TO_DOUBLE: [u32; 4] = [0xd200_0053, 0xd210_0053, 0xd220_0053, 0xd230_0053];
const NARROW: u32 = 0x4010_0053;
const WIDEN: u32 = 0x4200_0053;
/// Of signs: the second operand is the first result register.
const SIGNS: [u32; 6] = [
    0x2000_0053,
    0x2000_1053,
    0x2000_2053,
    0x2200_0053,
    0x2200_1053,
    0x2200_2053,
];
const MODES: [u32; 6] = [0, 1, 2, 3, 4, 7];
/// Of MXCSR's flags, those that conversions raise.
const INVALID: u32 = 1;
const INEXACT: u32 = 32;
const FLAGS: u32 = 0x3f;
const MASKS: u32 = FLAGS << 7;

/// Where operands and results are: nobody reads the operands' registers afterwards.
const OPERAND: u32 = 5;
const RESULT: u32 = 10;

#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Single,
    Double,
    Integer,
}

struct Case {
    insn: u32,
    operand: Operand,
}

fn cases() -> Vec<Case> {
    let groups: [(&[u32], Operand); 6] = [
        (&FROM_SINGLE, Operand::Single),
        (&FROM_DOUBLE, Operand::Double),
        (&TO_SINGLE, Operand::Integer),
        (&TO_DOUBLE, Operand::Integer),
        (&[NARROW], Operand::Double),
        (&[WIDEN], Operand::Single),
    ];
    let mut all = vec![];
    for (bases, operand) in groups {
        for &base in bases {
            for mode in MODES {
                let insn = asm::r(base, RESULT, OPERAND, 0) | mode << 12;
                all.push(Case { insn, operand });
            }
        }
    }
    for (n, base) in SIGNS.into_iter().enumerate() {
        let operand = if n < 3 {
            Operand::Single
        } else {
            Operand::Double
        };
        let insn = asm::r(base, RESULT, OPERAND, RESULT);
        all.push(Case { insn, operand });
    }
    all
}

struct Guest {
    code: CodeRegion,
}

impl Program for Guest {
    fn insn(&self, pc: u64) -> Option<Insn> {
        self.code.contains(pc).then(|| self.code.insn(pc))
    }
    fn function(&self, pc: u64) -> Option<Range<u64>> {
        let start = pc - (pc - self.code.base()) % 8;
        Some(start..start + 8)
    }
    fn constant(&self, _: u64, _: u64) -> Option<u64> {
        None
    }
    fn resolve(&self, _: u64) -> Option<Target> {
        None
    }
}

static CURRENT: Current<Guest> = Mutex::new(None);

unsafe extern "C" fn lookup(_: *mut Context, target: u64) -> u64 {
    look_up(&CURRENT, |guest| &guest.code, target)
}

static TRAPS: AtomicU32 = AtomicU32::new(0);
static TRAP_PC: AtomicU64 = AtomicU64::new(0);
static TRAP_INTEGER: AtomicU64 = AtomicU64::new(0);
static TRAP_FLOAT: AtomicU64 = AtomicU64::new(0);

/// Notes the guest's state and goes on with all exceptions masked.
extern "C" fn trapped(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
    let current = CURRENT.lock().unwrap();
    let (translator, _) = current.as_ref().unwrap();
    // SAFETY: the context is that of this thread's trap.
    let hart = unsafe { translator.states().restore(pc, &HostRegisters::of(context)) };
    if let Some(hart) = hart {
        TRAP_PC.store(hart.pc, Relaxed);
        TRAP_INTEGER.store(hart.x[OPERAND as usize], Relaxed);
        TRAP_FLOAT.store(hart.f[OPERAND as usize], Relaxed);
    }
    TRAPS.fetch_add(1, Relaxed);
    // SAFETY: the kernel saved it there.
    unsafe { (*context.uc_mcontext.fpregs).mxcsr |= MASKS };
}

/// a0 or fa0 and MXCSR afterwards.
fn outcome(hart: &Hart) -> (u64, u64, u32) {
    let seen = mxcsr();
    set_mxcsr(MASKS);
    (
        hart.x[RESULT as usize],
        hart.f[RESULT as usize],
        // Denormal operands are none of the guest's.
        seen & !2,
    )
}

#[test]
fn as_the_interpreter() {
    let cases = cases();
    let words: Vec<u32> = cases.iter().flat_map(|case| [case.insn, RET]).collect();
    let words: &'static [u32] = words.leak();
    let region = || region(words);
    let translator =
        Translator::new(16 << 20, Counting::None, lookup).expect("memory for translated code");
    *CURRENT.lock().unwrap() = Some((translator, Guest { code: region() }));
    // SAFETY: all zero is a value of it; the handler does what handlers may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = trapped as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGFPE, &action, std::ptr::null_mut());
    }
    let code = region();
    // SAFETY: the code accesses no memory.
    let memory = unsafe { Identity::new() };
    let mut rng = Rng(1);
    for (n, case) in cases.iter().enumerate() {
        let pc = code.base() + 8 * n as u64;
        for time in 0..TIMES {
            let current = (time as u32 & 3) << 13;
            let mut hart = Hart::ZERO;
            hart.pc = pc;
            hart.x[OPERAND as usize] = values::integer(&mut rng);
            hart.f[OPERAND as usize] = match case.operand {
                Operand::Single => values::boxed(&mut rng),
                _ => values::double(&mut rng),
            };
            hart.f[RESULT as usize] = hart.f[OPERAND as usize].rotate_left(time as u32);
            let operand = match case.operand {
                Operand::Integer => hart.x[OPERAND as usize],
                _ => hart.f[OPERAND as usize],
            };
            let context = Context {
                hart,
                ..Context::ZERO
            };
            let (mut interpreted, mut translated, mut trapping) = (hart, context, context);
            set_mxcsr(MASKS | current);
            let exit = flick_engine::run(
                &mut interpreted,
                &mut ProcessCore::new(&memory, &code),
                &mut NoObserver,
                &mut Unlimited,
            );
            let wanted = outcome(&interpreted);
            assert_eq!(exit, Exit::Leave);

            set_mxcsr(MASKS | current);
            // SAFETY: as above.
            let exit = unsafe { flick_translator::run(&mut translated, &memory, &code, lookup, 0) };
            let found = outcome(&translated.hart);
            assert_eq!(exit, Exit::Leave);
            let what = format!("{:#x} of {operand:#x} in mode {current:#x}", case.insn);
            assert_eq!(found, wanted, "{what}");
            assert_eq!(wanted.2 & RC_MASK, current, "{what}");

            if case.insn & !(31 << 7 | 31 << 15) == NARROW | 4 << 12 {
                // The interpreter's function does that one, and traps there.
                continue;
            }
            let unmasked = [INVALID, INEXACT, INVALID | INEXACT][time / 4 % 3];
            TRAPS.store(0, Relaxed);
            set_mxcsr(MASKS & !(unmasked << 7) | current);
            // SAFETY: as above.
            let exit = unsafe { flick_translator::run(&mut trapping, &memory, &code, lookup, 0) };
            let seen = outcome(&trapping.hart);
            assert_eq!(exit, Exit::Leave);
            let should = wanted.2 & unmasked != 0;
            assert_eq!(TRAPS.load(Relaxed), u32::from(should), "{what}: traps");
            if should {
                assert_eq!(
                    (seen.0, seen.1),
                    (wanted.0, wanted.1),
                    "{what}, after a trap"
                );
                assert_eq!(TRAP_PC.load(Relaxed), pc, "{what}: place of the trap");
                let kept = match case.operand {
                    Operand::Integer => TRAP_INTEGER.load(Relaxed),
                    _ => TRAP_FLOAT.load(Relaxed),
                };
                assert_eq!(kept, operand, "{what}: the operand at the trap");
            }
        }
    }
}
