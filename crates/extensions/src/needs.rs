//! What an instruction needs of its CPU.
use std::fmt;

use flick_riscv::{Class, Extension, decode};

/// What an instruction that a CPU lacks asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// An extension without state that the kernel saves.
    Extension(&'static str),
    /// An opcode of `custom-0` to `custom-3`, by its number.
    Custom(u8),
    /// An extension with registers that the kernel saves: it turns them on for all CPUs or none.
    KernelState(&'static str),
    /// It is for the kernel. No CPU executes it for a program.
    Privileged,
    /// The word is not in Flick's table: an extension that came later, or no instruction.
    Unknown,
}

/// What the instruction in `word` needs. A compressed one is in the low half.
pub fn of(word: u32) -> Need {
    match word & 0x7f {
        0x0b => return Need::Custom(0),
        0x2b => return Need::Custom(1),
        0x5b => return Need::Custom(2),
        0x7b => return Need::Custom(3),
        // All of V, with the words that our table leaves open.
        0x57 => return Need::KernelState("v"),
        _ => {}
    }
    let insn = decode(word);
    let op = insn.op();
    if op == flick_riscv::Op::Illegal {
        return Need::Unknown;
    }
    let is_csr = word & 0x7f == 0x73 && word >> 12 & 3 != 0;
    if is_csr {
        let csr = word >> 20;
        return match Extension::of_register(csr) {
            Some(extension) => Need::KernelState(extension.name()),
            // Bits 9:8 are the least privilege.
            None if csr >> 8 & 3 != 0 => Need::Privileged,
            None => Need::Unknown,
        };
    }
    // Of loads and stores only these widths are vectors'. Others may be of half or quad precision.
    if op.class() == Class::Vector && !matches!(word >> 12 & 7, 0 | 5..=7) {
        return Need::Unknown;
    }
    match Extension::of(op) {
        Some(Extension::V) => Need::KernelState("v"),
        Some(Extension::F) => Need::KernelState("f"),
        Some(Extension::D) => Need::KernelState("d"),
        Some(extension) => match extension {
            Extension::Svinval => Need::Privileged,
            _ => Need::Extension(extension.name()),
        },
        None if op.class() == Class::Privileged => Need::Privileged,
        None if insn.len() == 2 => Need::Extension("c"),
        None => Need::Unknown,
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension(name) | Self::KernelState(name) => f.write_str(name),
            Self::Custom(number) => write!(f, "custom-{number}"),
            Self::Privileged => f.write_str("privileged"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_need_extensions() {
        for (word, need) in [
            (0x20b5_6533, Need::Extension("zba")), // sh3add a0, a0, a1 (funct3 6)
            (0x40b5_7533, Need::Extension("zbb")), // andn a0, a0, a1
            (0x28b5_1533, Need::Extension("zbs")), // bset a0, a0, a1
            (0x0eb5_5533, Need::Extension("zicond")), // czero.eqz a0, a0, a1
            (0x02b5_0533, Need::Extension("m")),   // mul a0, a0, a1
            (0x0000_000b, Need::Custom(0)),
            (0xffff_ffab, Need::Custom(1)),
            (0x0000_005b, Need::Custom(2)),
            (0x0000_007b, Need::Custom(3)),
            (0x0d00_7057, Need::KernelState("v")), // vsetvli
            (0x0205_f007, Need::KernelState("v")), // vle64.v v0, (a1)
            (0x0005_9007, Need::Unknown),          // flh ft0, (a1)
            (0xc200_2573, Need::KernelState("v")), // csrr a0, vl
            (0x0010_2573, Need::KernelState("f")), // csrr a0, fflags
            (0x02b5_7553, Need::KernelState("d")), // fadd.d
            (0x3020_0073, Need::Privileged),       // mret
            (0x3000_2573, Need::Privileged),       // csrr a0, mstatus
            (0x8000_2573, Need::Unknown),          // csrr a0, 0x800: a vendor's, for users
            (0x0000_4501, Need::Extension("c")),   // c.li a0, 0
            (0x0000_0000, Need::Unknown),
            (0xffff_ffff, Need::Unknown),
        ] {
            assert_eq!(of(word), need, "{word:08x}");
        }
    }
}
