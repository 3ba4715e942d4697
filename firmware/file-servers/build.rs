//! Tells the linker how the kernel maps a program: no page has parts with different rights.
fn main() {
    for option in ["-zseparate-code", "-znorelro", "--gc-sections"] {
        println!("cargo::rustc-link-arg-bins={option}");
    }
}
