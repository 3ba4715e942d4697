//! Vector instructions against qemu-riscv64: random words over every opcode, SEW, LMUL, mask and
//! policy, VLEN from 128 to 1024. All vector registers, the vector CSRs, integer and floating-point
//! registers, fcsr and memory are compared, and what is illegal. VLEN 2048 and 4096 are compared
//! with a quarter of them (`wide.rs`).
//!
//! Deterministic. `FLICK_SEED=n` chooses another sequence, `FLICK_CASES=n` the number of
//! instructions, `FLICK_VLEN=n` one VLEN, `FLICK_OPCODE=name` one instruction.

mod deviations;
mod execute;
mod substitutes;
mod wide;

use std::process::ExitCode;

use flick_riscv_testing::values::Rng;
use flick_riscv_testing::vector_cases::{Batch, Comparison, LINUX, Layout};
use libtest_mimic::{Arguments, Failed, Trial};

/// Instructions of a program.
const TOGETHER: usize = 4000;
/// Instructions, unless the user names another number.
const CASES: usize = 32_000;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The programs stand at fixed addresses.
    arguments.test_threads = Some(1);
    let trials = vec![
        Trial::test("qemu", || test().map_err(Failed::from)),
        Trial::test("wide_registers", || {
            let [seed, cases] = [number("FLICK_SEED", 1)?, number("FLICK_CASES", CASES)?];
            wide::test(cases, seed as u64).map_err(Failed::from)
        }),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A number that the user may choose.
fn number(name: &str, default: usize) -> Result<usize, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|e| format!("{name}: {e}")),
        Err(_) => Ok(default),
    }
}

fn test() -> Result<(), String> {
    let seed = number("FLICK_SEED", 1)? as u64;
    let cases = number("FLICK_CASES", CASES)?;
    let only = number("FLICK_VLEN", 0)? as u32;
    let opcode = std::env::var("FLICK_OPCODE").ok();
    let mut comparison = Comparison::new("qemu", deviations::is_allowed);
    for n in 0..cases.div_ceil(TOGETHER) {
        let vlen = match (only, n % 8) {
            (0, 3) => 256,
            (0, 5) => 512,
            (0, 7) => 1024,
            (0, _) => 128,
            (only, _) => only,
        };
        let layout = Layout { vlen, place: LINUX };
        let mut rng = Rng(seed << 32 ^ n as u64);
        let batch = Batch::random(&mut rng, &layout, TOGETHER, opcode.as_deref());
        let Batch { cases, data, code } = batch;
        let ours = execute::engine(&layout, &code, &data);
        let theirs = substitutes::qemu(&layout, &cases, &data, &n.to_string())?;
        comparison.add(&layout, &cases, [&data, &ours, &theirs]);
    }
    comparison.report()
}
