//! What the fuzz target of the devices does (`fuzz/`), over random bytes: `cargo test` needs no
//! fuzzer.

mod accesses;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

/// Steps for each device.
const STEPS: usize = 100_000;

#[test]
fn devices() {
    let mut bytes = vec![0; STEPS * accesses::STEP + 1];
    for kind in 0..accesses::KINDS {
        Pcg64Mcg::new(u128::from(kind)).fill_bytes(&mut bytes);
        bytes[0] = kind;
        accesses::access_all(&bytes);
    }
}

#[test]
fn states() {
    let mut bytes = vec![0; 2 * accesses::STEP * 100 + 1];
    for round in 0..2000 {
        Pcg64Mcg::new(round).fill_bytes(&mut bytes);
        bytes[0] = (round % u128::from(accesses::KINDS)) as u8;
        accesses::load_any(&bytes);
    }
}
