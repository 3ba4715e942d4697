//! A C program of any size, as large programs are: many functions that the linker can see, of which
//! a run uses few.
use std::fmt::Write as _;

/// With what it is compiled; what [`source`] takes for a function's size goes with it.
pub const LEVEL: &str = "-O1";
pub const PLACEMENT: &str = "nxp *\nhost main\n";

/// RV64 code that a function of [`source`] has at least, in bytes.
const FUNCTION: u64 = 400;
const STATEMENTS: usize = 24;
/// Functions that a run calls.
const CALLED: u64 = 16;

/// Source of a program with at least so many bytes of RV64 code. It prints one number.
pub fn source(bytes: u64) -> String {
    let functions = bytes.div_ceil(FUNCTION).max(2 * CALLED);
    let mut random = Random(1);
    let mut text = String::from(
        "#include <stdint.h>\n#include <stdio.h>\n\
         static uint64_t table[64];\n\
         typedef uint64_t function(uint64_t, uint64_t);\n",
    );
    for number in 0..functions {
        let _ = writeln!(text, "uint64_t f{number}(uint64_t a, uint64_t b) {{");
        for _ in 0..STATEMENTS {
            let (x, y) = [("a", "b"), ("b", "a")][random.below(2)];
            let k = random.below(1 << 16) as u64 * 2 + 1;
            let bit = random.below(60);
            let _ = match random.below(4) {
                0 => writeln!(text, "  {x} = {x} * {k}u + {y};"),
                1 => writeln!(text, "  if ({x} >> {bit} > {k}u) table[{y} & 63] += {x};"),
                2 => writeln!(text, "  {x} += table[({y} + {k}u) & 63];"),
                _ => writeln!(text, "  table[{x} & 63] ^= {y} >> {bit};"),
            };
        }
        // Down to the first function, by halves.
        if number > 0 {
            let _ = writeln!(text, "  if (a != b) a ^= f{}(b, a);", number / 2);
        }
        text.push_str("  return a + b;\n}\n");
    }
    text.push_str("function *const functions[] = {\n");
    for number in 0..functions {
        let _ = writeln!(text, "  f{number},");
    }
    let _ = write!(
        text,
        "}};\nint main(void) {{\n  uint64_t sum = 0;\n\
         \x20 for (int i = 0; i < {CALLED}; i++) sum = functions[i * {}](sum, (uint64_t)i);\n\
         \x20 printf(\"%llu\\n\", (unsigned long long)sum);\n}}\n",
        functions / CALLED
    );
    text
}

/// Knuth's MMIX generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}
