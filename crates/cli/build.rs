//! Lists docs/errors/*.md for `flick explain`: the pages are part of the command.
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let dir = Path::new(&manifest).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut codes: Vec<String> = fs::read_dir(&dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .map(|entry| entry.expect("readable entry").file_name())
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".md")?.to_owned()))
        .collect();
    codes.sort();
    let mut table = String::from("[\n");
    for code in codes {
        let page = dir.join(format!("{code}.md"));
        writeln!(
            table,
            "({code:?}, include_str!({:?})),",
            page.display().to_string()
        )
        .expect("writing to a string");
    }
    table.push(']');
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("pages.rs"), table).expect("OUT_DIR is writable");
}
