//! What people call an instruction, as its source says it.
use crate::extensions::Extension;
use crate::{Format, Op};

/// Registers of control and status that not each hart has: how they are read and written.
const REGISTERS: [(u32, &str, &str); 10] = [
    (0x001, "csrr fflags", "csrw fflags"),
    (0x002, "csrr frm", "csrw frm"),
    (0x003, "csrr fcsr", "csrw fcsr"),
    (0x008, "csrr vstart", "csrw vstart"),
    (0x009, "csrr vxsat", "csrw vxsat"),
    (0x00a, "csrr vxrm", "csrw vxrm"),
    (0x00f, "csrr vcsr", "csrw vcsr"),
    (0xc20, "csrr vl", "csrw vl"),
    (0xc21, "csrr vtype", "csrw vtype"),
    (0xc22, "csrr vlenb", "csrw vlenb"),
];

/// The instruction in `bits` and the extension that has it, as `sh3add (zba)`; the bits, if no extension of
/// [`Extension`] has it.
pub fn instruction_name(bits: u32) -> String {
    match extension_name(bits) {
        Some((name, extension)) => format!("{name} ({extension})"),
        None => format!("{bits:#010x}"),
    }
}

/// The name of the instruction in `bits`, and that of the extension that has it, if one of [`Extension`] has.
pub fn extension_name(bits: u32) -> Option<(&'static str, &'static str)> {
    let op = crate::decode(bits).op();
    let of_register = || match op.format() {
        Format::Csr | Format::CsrI => Extension::of_register(bits >> 20),
        _ => None,
    };
    let extension = Extension::of(op).or_else(of_register);
    extension.map(|extension| (spelled(op, bits), extension.name()))
}

/// The instruction in `bits`, which is this one. Rows of the table with several names have the one that is meant.
fn spelled(op: Op, bits: u32) -> &'static str {
    let of_register = |read: bool| {
        let mut all = REGISTERS.iter();
        let found = all.find(|(number, ..)| *number == bits >> 20);
        found.map(|&(_, reads, writes)| if read { reads } else { writes })
    };
    let (rd, rs1) = (bits >> 7 & 31, bits >> 15 & 31);
    let spelled = match op {
        Op::Csrrs if rs1 == 0 => of_register(true),
        Op::Csrrw if rd == 0 => of_register(false),
        Op::VConfig => Some(match bits >> 30 {
            0b11 => "vsetivli",
            0b10 => "vsetvl",
            _ => "vsetvli",
        }),
        _ => None,
    };
    spelled.unwrap_or(op.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_the_names_of_their_source() {
        let cases = [
            (0x0d05_7557, "vsetvli", "v"),
            (0x80c5_f557, "vsetvl", "v"),
            (0xcd02_7557, "vsetivli", "v"),
            // csrr s3, vlenb; csrrs a0, vcsr, a0; csrw vxrm, a0; csrrw a1, vxrm, a0
            (0xc220_29f3, "csrr vlenb", "v"),
            (0x00f5_2573, "csrrs", "v"),
            (0x00a5_1073, "csrw vxrm", "v"),
            (0x00a5_15f3, "csrrw", "v"),
            (0x0030_2573, "csrr fcsr", "f"),
            (0x00c5_f50b, "flick.dot", "xflickdot"),
        ];
        for (bits, name, extension) in cases {
            assert_eq!(extension_name(bits), Some((name, extension)), "{bits:#x}");
        }
        assert_eq!(extension_name(0x0015_0513), None);
        assert_eq!(instruction_name(0), "0x00000000");
        assert_eq!(instruction_name(0xc220_29f3), "csrr vlenb (v)");
    }

    #[test]
    fn registers_of_extensions_have_names() {
        for number in 0..1 << 12 {
            let is_named = REGISTERS.iter().any(|(named, ..)| *named == number);
            assert_eq!(
                is_named,
                Extension::of_register(number).is_some(),
                "{number:#x}"
            );
        }
    }
}
