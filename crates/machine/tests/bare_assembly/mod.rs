//! Bare programs in assembly, built by clang.
#[path = "../built_by_clang/mod.rs"]
mod built_by_clang;

/// What every program has behind it: a jump to `end` ends the machine with the status a0.
const END: &str = r#"
.text
.balign 4
end:
  li t0, 0x100000
  slli a0, a0, 16
  li t1, 0x3333
  or a0, a0, t1
  sw a0, 0(t0)
1: wfi
  j 1b
"#;

/// Builds a program that begins with the first instruction of `text`.
pub fn build(name: &str, march: &str, text: &str) -> Vec<u8> {
    let text = format!(".text\n.globl _start\n_start:\n{text}{END}");
    let march = format!("-march={march}");
    std::fs::read(built_by_clang::build(name, "s", &text, &[&march])).unwrap()
}
