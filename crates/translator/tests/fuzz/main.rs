//! What the fuzz targets of the translator do (`fuzz/`), over inputs that are made here
//! ([`flick_riscv_testing::inputs`]): `cargo test` needs no fuzzer. Found inputs that differed are
//! in `inputs/`, a folder for each target.

mod execution;
mod guest;
mod safe;
mod translator;

use std::path::Path;

use flick_riscv_testing::inputs::inputs;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn translator() {
    inputs(here(), "translator", |data| {
        translator::translate_all(data);
        true
    });
}

#[test]
fn execution() {
    inputs(here(), "execution", execution::execute);
}
