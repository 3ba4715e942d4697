//! What the fuzz target of the decoder does (`fuzz/`), over random bytes: `cargo test` needs no
//! fuzzer.

mod decoder;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

#[test]
fn decoder() {
    let mut bytes = vec![0; 1 << 20];
    Pcg64Mcg::new(1).fill_bytes(&mut bytes);
    decoder::decode_all(&bytes);
}
