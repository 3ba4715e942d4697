//! Streams of one instruction, whose times are the cycles of its class: in a chain, where each needs the
//! result of the one before (the latency), and side by side (the reciprocal throughput).
use std::arch::asm;

/// One word of memory for each of the loads and stores of a stream.
#[repr(C, align(64))]
#[derive(Default)]
pub struct Words([u64; 16]);

/// What a stream is given.
pub struct Given<'a> {
    /// How often its loop runs.
    pub rounds: u64,
    /// For loads and stores.
    pub words: &'a mut Words,
}

/// A stream: it executes [`Stream::count`] instructions a round.
pub struct Stream {
    /// Instructions a round.
    pub count: u64,
    run: fn(&mut Given<'_>),
}

impl Stream {
    /// Executes it.
    pub fn run(&self, given: &mut Given<'_>) {
        (self.run)(given);
    }
}

/// The same text in a loop, `$times` times in a round. The text may use all registers that are named here:
/// r8 to r14 and xmm0 to xmm8 hold ones, or 1.0000001 each, rcx 1, rsi the words, rax and rdx anything.
macro_rules! stream {
    ($times:literal x $each:literal: $($text:literal),* $(; before $($before:literal),*)?) => {
        Stream {
            count: $times * $each,
            run: |given| {
                let near_one = [1.000_000_1f64; 2];
                // SAFETY: the text changes the registers that are named here, the words that it is lent, and
                // what it pushes and pops itself. It ends after `rounds` rounds.
                unsafe {
                    asm!(
                        "movupd xmm0, [rdi]", "movapd xmm1, xmm0", "movapd xmm2, xmm0",
                        "movapd xmm3, xmm0", "movapd xmm4, xmm0", "movapd xmm5, xmm0",
                        "movapd xmm6, xmm0", "movapd xmm7, xmm0", "movapd xmm8, xmm0",
                        "mov r8d, 1", "mov r9d, 1", "mov r10d, 1", "mov r11d, 1",
                        "mov r12d, 1", "mov r13d, 1", "mov r14d, 1",
                        "mov ecx, 1", "mov rax, rsi", "mov [rsi], rsi",
                        $($($before,)*)?
                        ".balign 64",
                        "2:",
                        concat!(".rept ", $times),
                        $($text,)*
                        ".endr",
                        "dec r15",
                        "jnz 2b",
                        in("rsi") given.words.0.as_mut_ptr(),
                        in("rdi") near_one.as_ptr(),
                        inout("r15") given.rounds => _,
                        out("rdx") _, out("rax") _, out("rcx") _, out("r8") _, out("r9") _, out("r10") _,
                        out("r11") _, out("r12") _, out("r13") _, out("r14") _,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
                        out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _,
                    );
                }
            },
        }
    };
}

/// A chain of additions, of which every processor does one a cycle: the measure of the clock.
pub static ADDITIONS: Stream = stream!(64 x 1: "add r8, rcx");

/// A chain of products. Since 2008 they take three cycles, or four on some: it tells how good that clock is.
pub static PRODUCTS: Stream = stream!(64 x 1: "imul r8, rcx");

/// A class of the host's operations, and how it is measured.
pub struct Class {
    /// Its key in `[host.cycles]`.
    pub key: &'static str,
    /// What the streams consist of.
    pub of: &'static str,
    /// A chain of them, and cycles of it that are not theirs.
    pub chain: Option<(Stream, f64)>,
    /// Independent ones, and others.
    pub apart: &'static [Stream],
}

/// All classes of platform files, in their order.
pub static CLASSES: [Class; 12] = [
    Class {
        key: "int",
        of: "additions",
        chain: Some((stream!(64 x 1: "add r8, rcx"), 0.0)),
        apart: &[
            stream!(8 x 7: "add r8, rcx", "add r9, rcx", "add r10, rcx", "add r11, rcx",
            "add r12, rcx", "add r13, rcx", "add r14, rcx"),
        ],
    },
    Class {
        key: "mul",
        of: "products of 64 bits",
        chain: Some((stream!(64 x 1: "imul r8, rcx"), 0.0)),
        apart: &[
            stream!(8 x 7: "imul r8, rcx", "imul r9, rcx", "imul r10, rcx", "imul r11, rcx",
            "imul r12, rcx", "imul r13, rcx", "imul r14, rcx"),
        ],
    },
    Class {
        key: "div",
        of: "quotients of 32 bits",
        // The addition makes each dividend large.
        chain: Some((
            stream!(16 x 1: "xor edx, edx", "div ecx", "add eax, r8d";
            before "mov ecx, 3", "mov r8d, 0x70000000", "mov eax, 0x70000000"),
            1.0,
        )),
        apart: &[stream!(16 x 1: "mov eax, r8d", "xor edx, edx", "div ecx";
            before "mov ecx, 3", "mov r8d, 0x70000000")],
    },
    Class {
        key: "load",
        of: "loads from the nearest cache",
        chain: None,
        apart: &[
            stream!(8 x 7: "mov r8, [rsi]", "mov r9, [rsi + 8]", "mov r10, [rsi + 16]",
            "mov r11, [rsi + 24]", "mov r12, [rsi + 64]", "mov r13, [rsi + 72]", "mov r14, [rsi + 80]"),
        ],
    },
    Class {
        key: "store",
        of: "stores to the nearest cache",
        chain: None,
        apart: &[
            stream!(8 x 7: "mov [rsi], r8", "mov [rsi + 8], r9", "mov [rsi + 16], r10",
            "mov [rsi + 24], r11", "mov [rsi + 64], r12", "mov [rsi + 72], r13", "mov [rsi + 80], r14"),
        ],
    },
    Class {
        key: "branch",
        of: "branches, not taken and taken",
        chain: None,
        apart: &[
            stream!(32 x 1: "test r8d, r8d", "jz 3f", "3:"),
            stream!(32 x 1: "test r8d, r8d", "jnz 3f", ".balign 32", "3:"),
        ],
    },
    Class {
        key: "call",
        of: "calls and returns",
        chain: None,
        apart: &[stream!(16 x 2: "call 4b"; before "jmp 5f", ".balign 32", "4: ret", "5:")],
    },
    Class {
        key: "fp",
        of: "additions of double",
        chain: Some((stream!(32 x 1: "addsd xmm0, xmm8"), 0.0)),
        apart: &[
            stream!(8 x 8: "addsd xmm0, xmm8", "addsd xmm1, xmm8", "addsd xmm2, xmm8",
            "addsd xmm3, xmm8", "addsd xmm4, xmm8", "addsd xmm5, xmm8", "addsd xmm6, xmm8",
            "addsd xmm7, xmm8"),
        ],
    },
    Class {
        key: "fp-mul",
        of: "products of double",
        chain: Some((stream!(32 x 1: "mulsd xmm0, xmm8"), 0.0)),
        apart: &[
            stream!(8 x 8: "mulsd xmm0, xmm8", "mulsd xmm1, xmm8", "mulsd xmm2, xmm8",
            "mulsd xmm3, xmm8", "mulsd xmm4, xmm8", "mulsd xmm5, xmm8", "mulsd xmm6, xmm8",
            "mulsd xmm7, xmm8"),
        ],
    },
    Class {
        key: "fp-div",
        of: "quotients of double",
        chain: Some((stream!(16 x 1: "divsd xmm0, xmm8"), 0.0)),
        apart: &[
            stream!(2 x 8: "divsd xmm0, xmm8", "divsd xmm1, xmm8", "divsd xmm2, xmm8",
            "divsd xmm3, xmm8", "divsd xmm4, xmm8", "divsd xmm5, xmm8", "divsd xmm6, xmm8",
            "divsd xmm7, xmm8"),
        ],
    },
    Class {
        key: "vector",
        of: "additions of four float",
        chain: Some((stream!(32 x 1: "addps xmm0, xmm8"), 0.0)),
        apart: &[
            stream!(8 x 8: "addps xmm0, xmm8", "addps xmm1, xmm8", "addps xmm2, xmm8",
            "addps xmm3, xmm8", "addps xmm4, xmm8", "addps xmm5, xmm8", "addps xmm6, xmm8",
            "addps xmm7, xmm8"),
            stream!(8 x 8: "paddd xmm0, xmm8", "paddd xmm1, xmm8", "paddd xmm2, xmm8",
            "paddd xmm3, xmm8", "paddd xmm4, xmm8", "paddd xmm5, xmm8", "paddd xmm6, xmm8",
            "paddd xmm7, xmm8"),
        ],
    },
    Class {
        key: "atomic",
        of: "locked additions to one word",
        chain: None,
        apart: &[stream!(16 x 1: "lock xadd [rsi], r8")],
    },
];

/// Loads whose addresses were just loaded, from the nearest cache.
pub static CHAINED_LOADS: Stream = stream!(64 x 1: "mov rax, [rax]");

/// As many instructions as can begin in a cycle.
pub static NOTHING: Stream = stream!(128 x 1: "nop");
