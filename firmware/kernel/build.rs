//! Tells the linker where the kernel is in memory.
fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::rustc-link-arg-bins=-T{folder}/kernel.ld");
    println!("cargo::rerun-if-changed=kernel.ld");
    println!("cargo::rerun-if-changed=src/start.S");
    println!("cargo::rerun-if-changed=src/trap_entry.S");
}
