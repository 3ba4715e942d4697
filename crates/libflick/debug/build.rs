//! Link options of `libflick-debug.so`.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The program may have an interface of this name for code of its own.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    // gdb has the addresses of its records, and threads what Rust's library keeps for them.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libflick-debug.so");
}
