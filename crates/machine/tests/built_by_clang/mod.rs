//! Files that clang builds for the harts of a machine.
use std::path::PathBuf;
use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Builds a program of this text, which has this suffix as a file, with these options. Where it is.
pub fn build(name: &str, suffix: &str, text: &str, options: &[&str]) -> PathBuf {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    // Tests that build the same program run at once.
    let own = format!("{name}-{}-{}", id(), BUILT.fetch_add(1, Relaxed));
    let [source, new] = [suffix, "elf"].map(|suffix| dir.join(format!("{own}.{suffix}")));
    std::fs::write(&source, text).unwrap();
    let status = Command::new("clang-19")
        .args(["--target=riscv64-unknown-elf", "-nostdlib"])
        .args(["-fuse-ld=lld", "-Wl,--image-base=0x80000000"])
        .args(options)
        .args([&source, &PathBuf::from("-o"), &new])
        .status()
        .unwrap();
    assert!(status.success(), "clang-19 failed");
    std::fs::rename(source, dir.join(format!("{name}.{suffix}"))).unwrap();
    let program = dir.join(format!("{name}.elf"));
    std::fs::rename(new, &program).unwrap();
    program
}
