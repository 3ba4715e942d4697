//! Lists the page of each code for `flick explain`: the pages are part of the command.
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use flick_diagnostics::Code;

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let dir = Path::new(&manifest).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut table = String::from("[\n");
    for code in Code::ALL {
        let page = dir.join(format!("{code}.md")).display().to_string();
        writeln!(table, "(Code::{code:?}, include_str!({page:?})),")
            .expect("writing to a string does not fail");
    }
    table.push(']');
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("pages.rs"), table).expect("OUT_DIR is writable");
}
