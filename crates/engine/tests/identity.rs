//! Guest code on the process's own memory: exits, faults, atomics, the floating-point environment.

use std::arch::asm;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use flick_engine::fp::env::{mxcsr, set_mxcsr};
use flick_engine::{
    Cause, CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Trap, Unlimited, run,
};

unsafe extern "C" {
    static __start_flick_engine: u8;
    static __stop_flick_engine: u8;
}

fn region(code: &'static [u32]) -> CodeRegion {
    // SAFETY: constants.
    unsafe { CodeRegion::new(code.as_ptr() as u64, size_of_val(code) as u64) }
}

fn execute(hart: &mut Hart, code: &CodeRegion) -> Exit {
    // SAFETY: the tests' code accesses what they give it.
    let memory = unsafe { Identity::new() };
    run(
        hart,
        &mut ProcessCore::new(&memory, code),
        &mut NoObserver,
        &mut Unlimited,
    )
}

fn at(code: &CodeRegion) -> Hart {
    Hart {
        pc: code.base(),
        ..Hart::ZERO
    }
}

const RET: u32 = 0x0000_8067;

#[test]
fn leaves_with_the_target_as_computed() {
    // jalr a1, 3(a0)
    static CODE: [u32; 1] = [0x0035_05e7];
    let code = region(&CODE);
    let mut hart = at(&code);
    hart.x[10] = 0x1234_5674;
    assert_eq!(execute(&mut hart, &code), Exit::Leave);
    assert_eq!((hart.pc, hart.x[11]), (0x1234_5677, code.base() + 4));
    // Entered outside: comes back at once.
    assert_eq!(execute(&mut hart, &code), Exit::Leave);
    assert_eq!(hart.pc, 0x1234_5677);
}

#[test]
fn falls_off_the_end() {
    // c.nop; c.nop
    static CODE: [u32; 1] = [0x0001_0001];
    let code = region(&CODE);
    let mut hart = at(&code);
    assert_eq!(execute(&mut hart, &code), Exit::Leave);
    assert_eq!(hart.pc, code.base() + 4);
}

#[test]
fn an_instruction_cut_off_by_the_end_is_illegal() {
    // c.nop, and the low half of an addi.
    static CODE: [u32; 1] = [0x0013_0001];
    let code = region(&CODE);
    let mut hart = at(&code);
    assert_eq!(execute(&mut hart, &code), Exit::Illegal { bits: 0x13 });
    assert_eq!(hart.pc, code.base() + 2);
}

#[test]
fn x0_stays_zero_whatever_it_held() {
    // add a0, x0, x0; jalr x0, 0(ra)
    static CODE: [u32; 2] = [0x0000_0533, RET];
    let code = region(&CODE);
    let mut hart = at(&code);
    hart.x = [0x55; 32];
    assert_eq!(execute(&mut hart, &code), Exit::Leave);
    assert_eq!((hart.x[0], hart.x[10]), (0, 0));
}

#[test]
fn misaligned_atomics_are_refused() {
    // amoadd.d a0, a1, (a2)
    static CODE: [u32; 2] = [0x00b6_352f, RET];
    let code = region(&CODE);
    let mut words = [1_u64, 2];
    let mut hart = at(&code);
    hart.x[12] = words.as_mut_ptr() as u64 + 4;
    let trap = Trap {
        cause: Cause::StoreMisaligned,
        addr: hart.x[12],
    };
    assert_eq!(execute(&mut hart, &code), Exit::Trap(trap));
    assert_eq!((hart.pc, words), (code.base(), [1, 2]));
}

#[test]
fn counters() {
    // rdcycle a0; rdtime a1; rdinstret a2; ret
    static CODE: [u32; 4] = [0xc000_2573, 0xc010_25f3, 0xc020_2673, RET];
    let code = region(&CODE);
    let mut hart = at(&code);
    // SAFETY: accesses nothing.
    let memory = unsafe { Identity::new() };
    let mut core = ProcessCore::counting(&memory, &code);
    for begun in [0, 4] {
        hart.pc = code.base();
        assert_eq!(
            run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited),
            Exit::Leave
        );
        assert_eq!((hart.x[10], hart.x[12]), (begun, begun + 2));
    }
    let first = hart;
    hart.pc = code.base();
    assert_eq!(execute(&mut hart, &code), Exit::Leave);
    assert!(hart.x[11] > first.x[11], "time goes on");
    assert!(hart.x[12] > hart.x[10], "so does the cheap source");
}

#[test]
fn the_environment_is_the_threads() {
    // frflags a0; fsrmi a1, 3; frrm a2; fsflagsi a3, 1; ret
    static CODE: [u32; 5] = [0x0010_2573, 0x0021_d5f3, 0x0020_2673, 0x0010_d6f3, RET];
    let code = region(&CODE);
    let mut hart = at(&code);
    let saved = mxcsr();
    // Divide by zero raised, towards zero, FTZ, a denormal seen.
    set_mxcsr(0x1f80 | 4 | 2 | 3 << 13 | 1 << 15);
    let exit = execute(&mut hart, &code);
    let after = mxcsr();
    set_mxcsr(saved);
    assert_eq!(exit, Exit::Leave);
    assert_eq!(&hart.x[10..14], &[8, 1, 3, 8]);
    // Upwards, inexact; masks, FTZ and DE as they were.
    assert_eq!(after, 0x1f80 | 0x20 | 2 | 2 << 13 | 1 << 15);
}

#[test]
fn rmm_yields_to_the_hosts_choice() {
    // fsrmi 4; ebreak; frrm a0; ret
    static CODE: [u32; 4] = [0x0022_5073, 0x0010_0073, 0x0020_2573, RET];
    let code = region(&CODE);
    let mut hart = at(&code);
    let saved = mxcsr();
    let first = execute(&mut hart, &code);
    hart.pc += 4;
    let mut again = hart;
    let second = execute(&mut again, &code);
    set_mxcsr(saved | 1 << 13);
    let third = execute(&mut hart, &code);
    set_mxcsr(saved);
    assert_eq!(
        (first, second, third),
        (Exit::Ebreak, Exit::Leave, Exit::Leave)
    );
    assert_eq!((again.x[10], hart.x[10]), (4, 2));
}

#[test]
fn store_conditional_is_atomic_between_host_and_guest() {
    // 1: lr.d a3, (a0); addi a3, a3, 1; sc.d a4, a3, (a0); bnez a4, 1b; amoadd.d x0, a2, (a1);
    // addi a5, a5, -1; bnez a5, 1b; ret
    static CODE: [u32; 8] = [
        0x1005_36af,
        0x0016_8693,
        0x18d5_372f,
        0xfe07_1ae3,
        0x00c5_b02f,
        0xfff7_8793,
        0xfe07_94e3,
        RET,
    ];
    const ROUNDS: u64 = 100_000;
    static A: AtomicU64 = AtomicU64::new(0);
    static B: AtomicU64 = AtomicU64::new(0);
    let code = region(&CODE);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut hart = at(&code);
                hart.x[10] = A.as_ptr() as u64;
                hart.x[11] = B.as_ptr() as u64;
                hart.x[12] = 3;
                hart.x[15] = ROUNDS;
                assert_eq!(execute(&mut hart, &code), Exit::Leave);
            });
        }
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                A.fetch_add(1, Ordering::Relaxed);
                B.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    assert_eq!(A.load(Ordering::Relaxed), 3 * ROUNDS);
    assert_eq!(B.load(Ordering::Relaxed), 7 * ROUNDS);
}

/// The hart and page of the fault test, and what its handler saw.
static HART: AtomicUsize = AtomicUsize::new(0);
static PAGE: AtomicUsize = AtomicUsize::new(0);
static FAULTS: AtomicUsize = AtomicUsize::new(0);
static SEEN: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];

extern "C" fn repair(_signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: called by the kernel for a fault of the test below, whose hart and page live.
    unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        let rip = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        let section = &raw const __start_flick_engine as u64..&raw const __stop_flick_engine as u64;
        let hart = HART.load(Ordering::Relaxed) as *const Hart;
        let n = FAULTS.fetch_add(1, Ordering::Relaxed);
        SEEN[0].store((*info).si_addr() as u64, Ordering::Relaxed);
        SEEN[1].store((*hart).pc, Ordering::Relaxed);
        SEEN[2].store((*hart).x[10], Ordering::Relaxed);
        SEEN[3].store((*hart).x[11], Ordering::Relaxed);
        SEEN[4].fetch_add(u64::from(section.contains(&rip)), Ordering::Relaxed);
        SEEN[5].store((*hart).x[0], Ordering::Relaxed);
        let page = PAGE.load(Ordering::Relaxed) as *mut libc::c_void;
        if n > 4 || libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            libc::abort();
        }
    }
}

#[test]
fn a_fault_is_a_precise_signal_and_restarts() {
    // SAFETY: a page of its own; a handler for this process's faults, of which there are no others.
    let page = unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = repair as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(
            libc::sigaction(libc::SIGSEGV, &action, core::ptr::null_mut()),
            0
        );
        let (prot, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        libc::mmap(core::ptr::null_mut(), 4096, prot, flags, -1, 0)
    };
    assert_ne!(page, libc::MAP_FAILED);
    // li a1, 7; X; ret, where X is: ld a1, 8(a0) / sd a1, 8(a0) / amoadd.d a1, a1, (a0) /
    // amomax.d a1, a1, (a0) / lw x0, 8(a0)
    static CODE: [[u32; 3]; 5] = [
        [0x0070_0593, 0x0085_3583, RET],
        [0x0070_0593, 0x00b5_3423, RET],
        [0x0070_0593, 0x00b5_35af, RET],
        [0x0070_0593, 0xa0b5_35af, RET],
        [0x0070_0593, 0x0085_2003, RET],
    ];
    for (n, (words, offset)) in CODE.iter().zip([8, 8, 0, 0, 8]).enumerate() {
        // SAFETY: our own page.
        unsafe { assert_eq!(libc::mprotect(page, 4096, libc::PROT_NONE), 0) };
        let code = region(words);
        let mut hart = at(&code);
        hart.x[10] = page as u64;
        FAULTS.store(0, Ordering::Relaxed);
        SEEN[4].store(0, Ordering::Relaxed);
        PAGE.store(page as usize, Ordering::Relaxed);
        HART.store(&raw mut hart as usize, Ordering::Relaxed);
        assert_eq!(execute(&mut hart, &code), Exit::Leave);
        assert_eq!(FAULTS.load(Ordering::Relaxed), 1, "{n}");
        let seen: Vec<u64> = SEEN.iter().map(|v| v.load(Ordering::Relaxed)).collect();
        let wanted = [page as u64 + offset, code.base() + 4, page as u64, 7, 1, 0];
        assert_eq!(seen, wanted, "{n}: address, pc, a0, a1, in the section, x0");
        // SAFETY: readable now.
        let words = unsafe { [*page.cast::<u64>(), *page.cast::<u64>().add(1)] };
        let result = [
            (0, [0, 0]),
            (7, [0, 7]),
            (0, [7, 7]),
            (7, [7, 7]),
            (7, [7, 7]),
        ][n];
        assert_eq!((hart.x[11], words), result, "{n}");
    }
}

static TRAPPED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn on_sigfpe(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: called by the kernel; the context is ours to change.
    unsafe {
        let context = &mut *context.cast::<libc::ucontext_t>();
        let rip = context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64;
        let section = &raw const __start_flick_engine as u64..&raw const __stop_flick_engine as u64;
        TRAPPED.fetch_add(
            1 + 100 * usize::from(section.contains(&rip)),
            Ordering::Relaxed,
        );
        // Masks the exceptions, so that the instruction completes.
        (*context.uc_mcontext.fpregs).mxcsr |= 0x1f80;
    }
}

#[test]
fn unmasked_exceptions_trap() {
    // SAFETY: this thread's divisions by zero are the only SIGFPE.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = on_sigfpe as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(
            libc::sigaction(libc::SIGFPE, &action, core::ptr::null_mut()),
            0
        );
    }
    // fdiv.d fa0, fa1, fa2 (dynamic, and towards zero); fcvt.wu.d a0, fa1, rtz; fmin.s; each then
    // ret
    static CODE: [[u32; 2]; 4] = [
        [0x1ac5_f553, RET],
        [0x1ac5_9553, RET],
        [0xc215_9553, RET],
        [0x28c5_8553, RET],
    ];
    for (n, words) in CODE.iter().enumerate() {
        let code = region(words);
        let mut hart = at(&code);
        hart.f[11] = if n == 3 {
            0xffff_ffff_7f80_0001
        } else {
            (-1.0_f64).to_bits()
        };
        let saved = mxcsr();
        set_mxcsr(0x1f80 & !(1 << 9) & !(1 << 7));
        TRAPPED.store(0, Ordering::Relaxed);
        let exit = execute(&mut hart, &code);
        set_mxcsr(saved);
        assert_eq!(exit, Exit::Leave);
        assert_eq!(TRAPPED.load(Ordering::Relaxed), 101, "{n}");
    }
}

#[test]
fn the_loop_is_in_its_section() {
    let here: u64;
    // SAFETY: reads the program counter.
    unsafe { asm!("lea {}, [rip]", out(reg) here) };
    let section = &raw const __start_flick_engine as u64..&raw const __stop_flick_engine as u64;
    let run = run::<ProcessCore<Identity>, NoObserver, Unlimited> as *const () as u64;
    assert!(section.contains(&run) && !section.contains(&here));
}
