//! Makes a program's calls with an engine in this process. Faults are taken by a signal handler,
//! which writes the log, and opens the page or jumps out of the engine.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::ptr::{self, null_mut};

use flick_engine::fp::{self, env};
use flick_engine::{CodeRegion, Exit, Hart};

use crate::code::{ALWAYS, f, x};
use crate::driver::RETURN;
use crate::engine::{Engine, Make};
use crate::program::{
    self, CODE, DATA, DATA_AREA, DRIVER, ENTRIES, ENTRY, ENTRY_ADDRESS, ENTRY_F, ENTRY_FCSR,
    ENTRY_SIZE, F, FCSR, FUEL, FUEL_GIVEN, LEAVE, LEFT, LOG, MOST_FAULTS, OUT_F, OUT_FCSR, OUT_X,
    PROTECTED, PROTECTED_DATA, PROTECTED_SIZE, Program, READABLE, RECORD, RECORDS,
};
use flick_riscv_testing::mapping::Mapping;
use flick_translator::Context;

/// A call takes milliseconds.
const SECONDS: u32 = 5;

/// What the handler needs. There is one thread.
struct Current {
    engine: *const dyn Engine,
    program: *const Program,
    hart: *mut Hart,
    /// Stack pointer at which `enter` can be left; null while no guest runs.
    out: *mut c_void,
    /// Faults until one is left; 0: none.
    leave_in: u64,
    trouble: Option<Trouble>,
}

#[derive(Clone, Copy)]
struct Trouble {
    what: &'static str,
    signal: c_int,
    host_pc: i64,
    address: u64,
}

static mut CURRENT: *mut Current = null_mut();

struct Call<'a> {
    engine: &'a mut dyn Engine,
    context: &'a mut Context,
    code: &'a CodeRegion,
    exit: Option<Exit>,
}

extern "C" fn call(call: *mut c_void) {
    // SAFETY: `execute` passes a `Call`, which nobody else uses meanwhile.
    let call = unsafe { &mut *call.cast::<Call>() };
    call.exit = Some(call.engine.run(call.context, call.code));
}

/// Calls `f(argument)`; `out` gets the stack pointer with which [`leave`] returns from here.
///
/// # Safety
/// `out` is writable, and `f` may be called with `argument`.
#[unsafe(naked)]
unsafe extern "C" fn enter(
    out: *mut *mut c_void,
    f: extern "C" fn(*mut c_void),
    argument: *mut c_void,
) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [rdi], rsp",
        "mov rax, rsi",
        "mov rdi, rdx",
        "call rax",
        "jmp {leave}",
        leave = sym leave,
    )
}

/// Where the handler has the thread continue, with the stack pointer of `enter`.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

unsafe extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments; `CURRENT` is null or points to `one`'s.
    unsafe {
        let (context, current) = (&mut *context.cast::<libc::ucontext_t>(), CURRENT);
        if current.is_null() || (*current).out.is_null() {
            // Not the guest's: what raised it is executed again, and ends the test.
            libc::signal(signal, libc::SIG_DFL);
            return;
        }
        let current = &mut *current;
        let address = (*info).si_addr() as u64;
        let left = match fault(current, signal, context, address) {
            Ok(left) => left,
            Err(what) => {
                current.trouble = Some(Trouble {
                    what,
                    signal,
                    host_pc: context.uc_mcontext.gregs[libc::REG_RIP as usize],
                    address,
                });
                true
            }
        };
        if left {
            let registers = &mut context.uc_mcontext.gregs;
            registers[libc::REG_RSP as usize] = current.out as i64;
            registers[libc::REG_RIP as usize] = leave as *const () as i64;
        }
    }
}

/// Writes the log and opens the page; is the engine to be left?
///
/// # Safety
/// In the handler, while `current` runs.
unsafe fn fault(
    current: &mut Current,
    signal: c_int,
    context: &libc::ucontext_t,
    address: u64,
) -> Result<bool, &'static str> {
    match signal {
        libc::SIGSEGV => {}
        libc::SIGALRM => return Err("it does not end"),
        _ => return Err("a signal that no program raises"),
    }
    // SAFETY: by the caller; the log is mapped, and the page is one of the program's.
    unsafe {
        let state = (*current.engine)
            .state_at_fault(context, &*current.hart)
            .ok_or("a fault that is not of guest code")?;
        let count = (LOG as *const u64).read();
        if count >= MOST_FAULTS {
            return Err("too many faults");
        }
        log(count, &state, context, address);
        let page = address & !4095;
        if !(PROTECTED..PROTECTED + PROTECTED_SIZE).contains(&page) {
            *current.hart = state;
            return Err("a fault outside of the protected pages");
        }
        current.leave_in = current.leave_in.wrapping_sub(1);
        if current.leave_in == 0 {
            *current.hart = state;
            return Ok(true);
        }
        protect(page, 4096, libc::PROT_READ | libc::PROT_WRITE);
        if (*current.engine).clobbers_dead() {
            clobber_dead(&*current.program, &mut *current.hart);
        }
    }
    Ok(false)
}

/// Overwrites the registers that the generator takes for dead.
fn clobber_dead(program: &Program, hart: &mut Hart) {
    let live = program
        .live
        .get(&hart.pc)
        .map_or(!0, |(_, maybe)| maybe | ALWAYS);
    for n in 0..32_u32 {
        let garbage = 0xdead_0000_0000_dead ^ u64::from(n) << 16;
        if live & x(n) == 0 {
            hart.x[n as usize] = garbage;
        }
        if live & f(n) == 0 {
            hart.f[n as usize] = garbage;
        }
    }
    hart.x[0] = 0;
}

/// # Safety
/// The log is mapped.
unsafe fn log(count: u64, state: &Hart, context: &libc::ucontext_t, address: u64) {
    // SAFETY: the entry is in the log; the kernel gives the floating-point state.
    unsafe {
        let here = env::mxcsr();
        env::set_mxcsr((*context.uc_mcontext.fpregs).mxcsr);
        let fcsr = fp::read_fcsr(state);
        env::set_mxcsr(here);
        let entry = ENTRIES + count * ENTRY_SIZE;
        let word = |at: u64, value: u64| ((entry + at) as *mut u64).write(value);
        word(0, state.pc);
        for n in 1..32 {
            word(8 * n, state.x[n as usize]);
        }
        for n in 0..32 {
            word(ENTRY_F + 8 * n, state.f[n as usize]);
        }
        word(ENTRY_FCSR, fcsr);
        word(ENTRY_ADDRESS, address);
        (LOG as *mut u64).write(count + 1);
    }
}

/// # Safety
/// Nobody relies on the pages' protection.
unsafe fn protect(address: u64, len: u64, access: c_int) {
    // SAFETY: by the caller.
    let done = unsafe { libc::mprotect(address as *mut c_void, len as usize, access) };
    assert_eq!(done, 0, "mprotect");
}

/// Installs the handler, also for what an engine at fault raises.
pub fn prepare() {
    const SIZE: usize = 0x20000;
    let stack = Box::leak(Box::new([0_u64; SIZE / 8]));
    // SAFETY: the stack lives for ever; the structs are plain data.
    unsafe {
        let stack = libc::stack_t {
            ss_sp: stack.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: SIZE,
        };
        assert_eq!(libc::sigaltstack(&stack, null_mut()), 0);
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGTRAP,
            libc::SIGALRM,
        ] {
            assert_eq!(libc::sigaction(signal, &action, null_mut()), 0);
        }
    }
}

/// What a run leaves.
pub struct Outcome {
    /// From `RECORDS` on, a record for each call.
    pub records: Vec<u8>,
    pub data: Vec<u8>,
    pub protected: Vec<u8>,
    /// The log's entries.
    pub faults: Vec<u8>,
    /// How often each operation was executed.
    pub census: Option<[u64; flick_riscv::Op::COUNT]>,
}

/// All calls of the program with an engine made for it.
pub fn execute(program: &Program, make: Make) -> Result<(&'static str, Outcome), String> {
    let code = Mapping::new(DRIVER, &program.code);
    let data = Mapping::new(DATA, &program.data);
    let mut protected = program.protected.clone();
    protected.resize(PROTECTED_SIZE as usize, 0);
    let guarded = Mapping::new(PROTECTED, &protected);
    let size = program.code.len() as u64 - (CODE - DRIVER);
    // SAFETY: mapped until the end of this function.
    let region = unsafe { CodeRegion::new(CODE, size) };
    let mut engine = make(&region, program);
    for n in 0..program.calls.len() as u64 {
        one(program, &mut *engine, &region, RECORDS + n * RECORD)
            .map_err(|e| format!("{}: call {n}: {e}", engine.name()))?;
    }
    // SAFETY: the whole mapping becomes accessible.
    unsafe {
        protect(
            PROTECTED,
            PROTECTED_SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
        )
    };
    let bytes = data.bytes();
    let part = |from: u64, to: u64| bytes[(from - DATA) as usize..(to - DATA) as usize].to_vec();
    let faults = program::get(bytes, LOG - DATA);
    let outcome = Outcome {
        records: part(RECORDS, RECORDS + program.calls.len() as u64 * RECORD),
        data: part(DATA_AREA.start, DATA_AREA.end),
        protected: guarded.bytes()[..(PROTECTED_DATA.end - PROTECTED) as usize].to_vec(),
        faults: part(ENTRIES, ENTRIES + faults * ENTRY_SIZE),
        census: engine.census().copied(),
    };
    drop(code);
    Ok((engine.name(), outcome))
}

fn one(
    program: &Program,
    engine: &mut (dyn Engine + 'static),
    region: &CodeRegion,
    record: u64,
) -> Result<(), String> {
    // SAFETY: words of the data segment, which is mapped.
    let read = |at: u64| unsafe { ((record + at) as *const u64).read() };
    // SAFETY: as above.
    let write = |at: u64, value: u64| unsafe { ((record + at) as *mut u64).write(value) };
    // SAFETY: nothing uses the pages now; the fuel is in the data segment.
    unsafe {
        protect(PROTECTED, PROTECTED_SIZE, libc::PROT_NONE);
        protect(
            READABLE.start,
            READABLE.end - READABLE.start,
            libc::PROT_READ,
        );
        (FUEL as *mut u64).write(read(FUEL_GIVEN));
    }
    let mut context = Context::ZERO;
    let hart = &mut context.hart;
    for n in 0..32 {
        hart.x[n as usize] = read(8 * n);
        hart.f[n as usize] = read(F + 8 * n);
    }
    hart.pc = read(ENTRY);
    let context_at: *mut Context = &mut context;
    // SAFETY: a place in it.
    let hart_at = unsafe { &raw mut (*context_at).hart };
    let mut current = Current {
        engine: ptr::from_ref(&*engine),
        program,
        hart: hart_at,
        out: null_mut(),
        leave_in: read(LEAVE),
        trouble: None,
    };
    let mut the_call = Call {
        engine,
        // SAFETY: the handler uses the pointer only while the engine runs.
        context: unsafe { &mut *context_at },
        code: region,
        exit: None,
    };
    let saved = env::mxcsr();
    // SAFETY: `current` and the call outlive the run. The generated code may leave any rounding
    // mode; nothing here computes in it.
    let fcsr = unsafe {
        CURRENT = &raw mut current;
        libc::alarm(SECONDS);
        fp::write_fcsr(&mut *hart_at, read(FCSR));
        enter(&raw mut current.out, call, (&raw mut the_call).cast());
        current.out = null_mut();
        libc::alarm(0);
        let fcsr = fp::read_fcsr(&*hart_at);
        env::set_mxcsr(saved);
        CURRENT = null_mut();
        fcsr
    };
    // SAFETY: the variables are this function's.
    let (exit, trouble, hart) = unsafe {
        (
            (&raw const the_call.exit).read_volatile(),
            (&raw const current.trouble).read_volatile(),
            hart_at.read_volatile(),
        )
    };
    if let Some(trouble) = trouble {
        return Err(format!(
            "{}: signal {} at {:#x} in the host, address {:#x}; pc in the hart {:#x}",
            trouble.what, trouble.signal, trouble.host_pc, trouble.address, hart.pc
        ));
    }
    write(OUT_FCSR, fcsr);
    match exit {
        None => write(LEFT, 1),
        Some(Exit::Leave) if hart.pc == RETURN => {
            for n in 0..32 {
                write(OUT_X + 8 * n, hart.x[n as usize]);
                write(OUT_F + 8 * n, hart.f[n as usize]);
            }
        }
        Some(exit) => return Err(format!("{exit:?} at {:#x}", hart.pc)),
    }
    Ok(())
}
