//! What the fuzz target of the decoder does (`fuzz/`), over inputs that are made here
//! ([`flick_riscv_testing::inputs`]): `cargo test` needs no fuzzer.

mod decoder;

use std::path::Path;

use flick_riscv_testing::inputs::inputs;

#[test]
fn decoder() {
    inputs(Path::new(env!("CARGO_MANIFEST_DIR")), "decoder", |data| {
        decoder::decode_all(data);
        true
    });
}
