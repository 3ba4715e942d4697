//! Bare programs in assembly, built by clang.
use std::path::PathBuf;
use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

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
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    // Tests that build the same program run at once.
    let own = format!("{name}-{}-{}", id(), BUILT.fetch_add(1, Relaxed));
    let (source, program) = (dir.join(format!("{own}.s")), dir.join(format!("{own}.elf")));
    let text = format!(".text\n.globl _start\n_start:\n{text}{END}");
    std::fs::write(&source, text).unwrap();
    let march = format!("-march={march}");
    let status = Command::new("clang-19")
        .args(["--target=riscv64-unknown-elf", &march, "-nostdlib"])
        .args(["-fuse-ld=lld", "-Wl,--image-base=0x80000000"])
        .args([&source, &PathBuf::from("-o"), &program])
        .status()
        .unwrap();
    assert!(status.success(), "clang-19 failed");
    let bytes = std::fs::read(&program).unwrap();
    std::fs::rename(source, dir.join(format!("{name}.s"))).unwrap();
    std::fs::rename(program, dir.join(format!("{name}.elf"))).unwrap();
    bytes
}
