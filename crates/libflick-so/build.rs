//! Link options of `libflick.so`.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Threads keep its thread-exit hook and the program its signal handlers: it is never unloaded.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libflick.so");
}
