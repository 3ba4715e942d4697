//! Link options of `libflick.so`.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Threads keep its thread-exit hook and the program its signal handlers: it is never unloaded.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Programs ask for the major version that they were linked with.
    let soname = flick_abi::names::RUNTIME_SONAME;
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{soname}");
    // The engine asks where its own section is; nobody else needs to.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,start-stop-visibility=hidden");
}
