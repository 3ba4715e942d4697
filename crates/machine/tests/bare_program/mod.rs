//! Bare C programs for a machine, built by clang.
use std::path::PathBuf;
use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What every program begins with: a stack for each hart, and a way out.
const START: &str = r#"
static volatile unsigned char *const uart = (unsigned char *)0x10000000;
static volatile unsigned *const finisher = (unsigned *)0x100000;
static void put(char c) { *uart = c; }
static void print(const char *text) { while (*text) put(*text++); }
static void print_number(unsigned long n) {
  char digits[20];
  int at = 0;
  do digits[at++] = '0' + n % 10; while (n /= 10);
  while (at) put(digits[--at]);
}
static void end(unsigned status) { *finisher = status ? status << 16 | 0x3333 : 0x5555; for (;;) __asm__ volatile("wfi"); }
#define READ(csr) ({ unsigned long value; __asm__ volatile("csrr %0, " csr : "=r"(value)); value; })
#define WRITE(csr, value) __asm__ volatile("csrw " csr ", %0" : : "r"(value) : "memory")
#define SET(csr, value) __asm__ volatile("csrs " csr ", %0" : : "r"(value) : "memory")
void program(long hart);
__asm__(".text\n.globl _start\n_start:\nla sp, stacks\naddi t0, a0, 1\nslli t0, t0, 14\nadd sp, sp, t0\nj program\n");
char stacks[16384 * 8] __attribute__((aligned(16)));
"#;

/// Builds a program.
pub fn build(name: &str, text: &str) -> Vec<u8> {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    // Tests that build the same program run at once.
    let own = format!("{name}-{}-{}", id(), BUILT.fetch_add(1, Relaxed));
    let (source, program) = (dir.join(format!("{own}.c")), dir.join(format!("{own}.elf")));
    std::fs::write(&source, format!("{START}{text}")).unwrap();
    let status = Command::new("clang-19")
        .args([
            "--target=riscv64-unknown-elf",
            "-march=rv64gc",
            "-mcmodel=medany",
            "-O2",
        ])
        .args([
            "-ffreestanding",
            "-nostdlib",
            "-fuse-ld=lld",
            "-Wl,--image-base=0x80000000",
        ])
        .args([&source, &PathBuf::from("-o"), &program])
        .status()
        .unwrap();
    assert!(status.success(), "clang-19 failed");
    let bytes = std::fs::read(&program).unwrap();
    std::fs::rename(source, dir.join(format!("{name}.c"))).unwrap();
    std::fs::rename(program, dir.join(format!("{name}.elf"))).unwrap();
    bytes
}
