//! `/tmp/perf-PID.map` (Linux, tools/perf/Documentation, jit-interface.txt): a line for each
//! translation.
use std::ops::Range;

use super::file::{append_or_warn, put_name, remove, with_path};
use crate::os::text::Text;

const BEFORE: &str = "/tmp/perf-";
const AFTER: &str = ".map";

pub fn init() {
    with_path(BEFORE, AFTER, remove);
}

pub fn add(host: Range<u64>, guest: u64) {
    let mut line = Text::new();
    line.hex(host.start, 0).str(" ");
    line.hex(host.end - host.start, 0).str(" ");
    put_name(&mut line, guest);
    line.str("\n");
    with_path(BEFORE, AFTER, |path| append_or_warn(path, line.bytes()));
}
