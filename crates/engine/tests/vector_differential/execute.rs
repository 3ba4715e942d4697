//! Runs a program with the engine, at the addresses it was made for, and with qemu-riscv64.

use flick_engine::fp::env;
use flick_engine::vector::VectorState;
use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited, run};
use flick_riscv_testing::mapping::Mapping;
use flick_riscv_testing::qemu;
use flick_riscv_testing::vector_cases::{self, LINUX, Layout};

/// The data as the engine leaves them.
pub fn engine(layout: &Layout, code: &[u8], data: &[u8]) -> Vec<u8> {
    let mapped_code = Mapping::new(LINUX.code, code);
    let mapped = Mapping::new(LINUX.data, data);
    // SAFETY: mapped until the end of this function.
    let region = unsafe { CodeRegion::new(LINUX.code, code.len() as u64) };
    // SAFETY: the generated code stays in the two mappings.
    let memory = unsafe { Identity::new() };
    let mut vectors = VectorState::new(layout.vlen).expect("a VLEN that there is");
    let mut hart = Hart::ZERO;
    hart.pc = LINUX.code;
    let saved = env::mxcsr();
    loop {
        let mut core = ProcessCore::new(&memory, &region).with_vectors(&mut vectors);
        match run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited) {
            Exit::Ecall => {
                hart.pc += 4;
                hart.x[10] = match hart.x[17] {
                    64 => hart.x[12],
                    93 => break,
                    _ => 0,
                };
            }
            // What the program's signal handler does.
            Exit::Illegal { .. } => {
                hart.x[29] = 1;
                hart.pc += 4;
            }
            exit => panic!("{exit:?} at {:#x}", hart.pc),
        }
    }
    env::set_mxcsr(saved);
    drop(mapped_code);
    mapped.bytes()[..data.len()].to_vec()
}

/// The data as qemu-riscv64 leaves them.
pub fn qemu(layout: &Layout, code: &[u8], data: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let executable = vector_cases::elf(layout, code, data);
    let name = format!("vector-{name}");
    let output = qemu::output_with_vectors(layout.vlen, &executable, &name)?;
    if output.len() != data.len() {
        return Err(format!(
            "qemu-riscv64: {} of {} bytes of output",
            output.len(),
            data.len()
        ));
    }
    Ok(output)
}
