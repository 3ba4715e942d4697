//! Any bytes, made safe, executed by both engines.
#![no_main]

// What other tests use besides.
#[allow(dead_code)]
#[path = "../../crates/engine/tests/common/asm.rs"]
mod asm;
#[path = "../../crates/engine/tests/fuzz/execution.rs"]
mod execution;
#[path = "../../crates/engine/tests/fuzz/guest.rs"]
mod guest;
#[path = "../../crates/engine/tests/fuzz/safe.rs"]
mod safe;
#[allow(dead_code)]
#[path = "../../crates/engine/tests/common/values.rs"]
mod values;

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if execution::execute(data) {
        Corpus::Keep
    } else {
        Corpus::Reject
    }
});
