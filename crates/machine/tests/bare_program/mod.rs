//! Bare C programs for a machine, built by clang.
#[path = "../built_by_clang/mod.rs"]
mod built_by_clang;

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
    let options = ["-march=rv64gc", "-mcmodel=medany", "-O2", "-ffreestanding"];
    let text = format!("{START}{text}");
    std::fs::read(built_by_clang::build(name, "c", &text, &options)).unwrap()
}
