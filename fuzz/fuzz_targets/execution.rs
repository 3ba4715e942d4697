//! Makes any bytes safe, and executes them on both engines.
#![no_main]

#[path = "../../crates/translator/tests/fuzz/execution.rs"]
mod execution;
#[path = "../../crates/translator/tests/fuzz/guest.rs"]
mod guest;
#[path = "../../crates/translator/tests/fuzz/safe.rs"]
mod safe;

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if execution::execute(data) {
        Corpus::Keep
    } else {
        Corpus::Reject
    }
});
