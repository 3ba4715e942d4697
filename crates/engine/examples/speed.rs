//! Instructions per second on three small loops:
//! `cargo run --release -p flick-engine --example speed`.

use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited, run};
use std::time::Instant;

/// addi, xor, slli, srli, or, add, addi, bnez; ret.
const INTEGER: [u32; 9] = [
    0x0035_8593,
    0x00b6_4633,
    0x0076_1693,
    0x0096_5713,
    0x00e6_e633,
    0x00c7_87b3,
    0xfff5_0513,
    0xfe05_12e3,
    0x0000_8067,
];
/// ld, addi, sd, lw, add, addi, bnez; ret.
const MEMORY: [u32; 8] = [
    0x0005_b603,
    0x0016_0613,
    0x00c5_b023,
    0x0085_a683,
    0x00d7_0733,
    0xfff5_0513,
    0xfe05_14e3,
    0x0000_8067,
];
/// fmul.d, fadd.d, fmadd.d, addi, bnez; ret.
const FLOAT: [u32; 6] = [
    0x12c5_f553,
    0x02a6_f6d3,
    0x72c5_f743,
    0xfff5_0513,
    0xfe05_18e3,
    0x0000_8067,
];

const ROUNDS: u64 = 50_000_000;

fn measure(name: &str, code: &[u32]) {
    // SAFETY: the array is aligned and outlives the region.
    let region = unsafe { CodeRegion::new(code.as_ptr() as u64, size_of_val(code) as u64) };
    let mut buffer = [0_u64; 2];
    let mut hart = Hart::ZERO;
    hart.pc = region.base();
    hart.x[10] = ROUNDS;
    hart.x[11] = buffer.as_mut_ptr() as u64;
    // SAFETY: the loops access nothing but `buffer`.
    let memory = unsafe { Identity::new() };
    let start = Instant::now();
    // ra is zero, so that the return leaves the region.
    assert_eq!(
        run(
            &mut hart,
            &mut ProcessCore::new(&memory, &region),
            &mut NoObserver,
            &mut Unlimited
        ),
        Exit::Leave
    );
    let seconds = start.elapsed().as_secs_f64();
    let count = ROUNDS * (code.len() as u64 - 1) + 1;
    println!(
        "{name:8} {:6.0} million instructions/s",
        count as f64 / seconds / 1e6
    );
}

fn main() {
    measure("integer", &INTEGER);
    measure("memory", &MEMORY);
    measure("float", &FLOAT);
}
