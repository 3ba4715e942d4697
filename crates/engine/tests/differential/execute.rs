//! Runs a program with the engine, at the addresses it was made for, and with qemu-riscv64.

use flick_engine::fp::env;
use flick_engine::{
    CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Trap, Unlimited, run,
};
use flick_riscv::decode;

use crate::program::{self, CODE, DATA, LOG, Program, SIGBUS, SIGILL, SIGTRAP};
use flick_riscv_testing::mapping::Mapping;
use flick_riscv_testing::qemu;

/// The output (log, table and records) as the engine computes it.
pub fn engine(program: &Program) -> Vec<u8> {
    let code = Mapping::new(CODE, &program.code);
    let data = Mapping::new(DATA, &program.data);
    // SAFETY: mapped until the end of this function.
    let region = unsafe { CodeRegion::new(CODE, program.code.len() as u64) };
    // SAFETY: the generated code stays in the two mappings.
    let memory = unsafe { Identity::new() };
    let mut hart = Hart::ZERO;
    hart.pc = CODE;
    let saved = env::mxcsr();
    loop {
        let exit = run(
            &mut hart,
            &mut ProcessCore::new(&memory, &region),
            &mut NoObserver,
            &mut Unlimited,
        );
        // The generated code may have left any rounding mode; this code does no arithmetic in it.
        match exit {
            Exit::Ecall => {
                hart.pc += 4;
                hart.x[10] = match hart.x[17] {
                    64 => hart.x[12],
                    93 => break,
                    132 | 134 => 0,
                    _ => -i64::from(libc::ENOSYS) as u64,
                };
            }
            Exit::Ebreak => skip(&mut hart, SIGTRAP),
            Exit::Illegal { .. } => skip(&mut hart, SIGILL),
            Exit::Trap(Trap { .. }) => skip(&mut hart, SIGBUS),
            Exit::Leave | Exit::Budget | Exit::Wait => panic!("{exit:?} at {:#x}", hart.pc),
        }
    }
    env::set_mxcsr(saved);
    drop(code);
    data.bytes()[program.output..program.data.len()].to_vec()
}

/// What the program's signal handler does.
fn skip(hart: &mut Hart, signal: u64) {
    // SAFETY: aligned words of the log, which is mapped.
    unsafe {
        let log = (DATA + LOG) as *mut u64;
        let count = *log;
        *log.add(1 + 2 * count as usize) = hart.pc;
        *log.add(2 + 2 * count as usize) = signal;
        *log = count + 1;
        let bits = u32::from((hart.pc as *const u16).read());
        hart.pc += if bits & 3 == 3 { 4 } else { decode(bits).len() };
    }
}

/// The output as qemu-riscv64 computes it.
pub fn qemu(program: &Program, name: &str) -> Result<Vec<u8>, String> {
    let output = qemu::output(&program::elf(program), name)?;
    let wanted = program.data.len() - program.output;
    if output.len() != wanted {
        return Err(format!(
            "qemu-riscv64: {} of {wanted} bytes of output",
            output.len()
        ));
    }
    Ok(output)
}
