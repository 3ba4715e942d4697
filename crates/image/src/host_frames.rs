//! The host's view of NxP frames: x86-64 call frame information (`.eh_frame`) for the RV64
//! functions of an image, so that the host's own unwinder walks them like any others
//! (`docs/design.md`, "Unwinding").
//!
//! In the frames of an image the unwinder's rsp is the NxP's stack pointer, rip is the NxP's pc,
//! and rcx, which no x86-64 function keeps, stands for s0; the host's own callee-saved registers
//! are those of the crossing. Other RV64 registers are the runtime's business.
use flick_abi::layout::{UNWIND_BY_FP, UNWIND_UNKNOWN, UnwindEntry};
use gimli::write::{
    Address, CallFrameInstruction, CommonInformationEntry, EhFrame, EndianVec,
    FrameDescriptionEntry, FrameTable, RelocateWriter, Relocation, RelocationTarget,
};
use gimli::{DwEhPe, Encoding, Format, LittleEndian, Register, constants};

use crate::unwind_rows::Frame;

/// System V x86-64 psABI, figure 3.36.
const RCX: Register = Register(2);
const RSP: Register = Register(7);
const RIP: Register = Register(16);
const PC_RELATIVE: DwEhPe = DwEhPe(constants::DW_EH_PE_pcrel.0 | constants::DW_EH_PE_sdata4.0);
const INDIRECT: DwEhPe = DwEhPe(PC_RELATIVE.0 | constants::DW_EH_PE_indirect.0);

/// What a field of the section is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The first byte of the image.
    Image,
    /// A word that holds the address of the runtime's personality routine.
    Personality,
}

/// A 32-bit field that becomes `base + addend` minus its own address.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Offset of the field in the section, in bytes.
    pub offset: u64,
    /// What `addend` counts from.
    pub base: Base,
    /// Bytes.
    pub addend: i64,
}

/// The section's bytes, and its fields in their order.
pub fn section(frames: &[Frame]) -> Result<(Vec<u8>, Vec<Field>), gimli::write::Error> {
    let mut table = FrameTable::default();
    let plain = table.add_cie(common(false));
    let handling = table.add_cie(common(true));
    for frame in frames {
        let address = |at: u32| Address::Symbol {
            symbol: Base::Image as usize,
            addend: i64::from(at),
        };
        let mut entry = FrameDescriptionEntry::new(address(frame.start), frame.size);
        for row in &frame.rows {
            describe(&mut entry, row, row.offset - frame.start);
        }
        entry.lsda = frame
            .lsda
            .filter(|_| frame.personality.is_some())
            .map(address);
        let common = if entry.lsda.is_some() {
            handling
        } else {
            plain
        };
        table.add_fde(common, entry);
    }
    let mut out = EhFrame(Recorder {
        bytes: EndianVec::new(LittleEndian),
        fields: Vec::new(),
    });
    table.write_eh_frame(&mut out)?;
    Ok((out.0.bytes.into_vec(), out.0.fields))
}

fn common(handling: bool) -> CommonInformationEntry {
    let encoding = Encoding {
        address_size: 8,
        format: Format::Dwarf32,
        version: 1,
    };
    let mut out = CommonInformationEntry::new(encoding, 1, -8, RIP);
    out.fde_address_encoding = PC_RELATIVE;
    if handling {
        let word = Address::Symbol {
            symbol: Base::Personality as usize,
            addend: 0,
        };
        out.personality = Some((INDIRECT, word));
        out.lsda_encoding = Some(PC_RELATIVE);
    }
    // As at a function's entry: the return address is in a register that a call destroys, so a
    // frame that waits for a call to return is past this.
    out.add_instruction(CallFrameInstruction::Cfa(RSP, 0));
    out.add_instruction(CallFrameInstruction::Undefined(RIP));
    out
}

fn describe(entry: &mut FrameDescriptionEntry, row: &UnwindEntry, at: u32) {
    use CallFrameInstruction::{Cfa, Offset, SameValue, Undefined};
    let plain = row.cfa >= 0 && row.ra % 8 == 0 && row.fp % 8 == 0;
    if row.flags & UNWIND_UNKNOWN != 0 || !plain {
        // Here the stack ends, as natively in code without information.
        entry.add_instruction(at, Undefined(RIP));
        return;
    }
    let base = if row.flags & UNWIND_BY_FP != 0 {
        RCX
    } else {
        RSP
    };
    entry.add_instruction(at, Cfa(base, row.cfa));
    let saved = |register, at: i16, otherwise| match i32::from(at) {
        0 => otherwise,
        at => Offset(register, at),
    };
    entry.add_instruction(at, saved(RCX, row.fp, SameValue(RCX)));
    entry.add_instruction(at, saved(RIP, row.ra, Undefined(RIP)));
}

struct Recorder {
    bytes: EndianVec<LittleEndian>,
    fields: Vec<Field>,
}

impl RelocateWriter for Recorder {
    type Writer = EndianVec<LittleEndian>;

    fn writer(&self) -> &Self::Writer {
        &self.bytes
    }

    fn writer_mut(&mut self) -> &mut Self::Writer {
        &mut self.bytes
    }

    fn relocate(&mut self, relocation: Relocation) {
        let base = if relocation.target == RelocationTarget::Symbol(Base::Personality as usize) {
            Base::Personality
        } else {
            Base::Image
        };
        self.fields.push(Field {
            offset: relocation.offset as u64,
            base,
            addend: relocation.addend,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::{BaseAddresses, UnwindContext, UnwindSection};

    /// What a reader finds at `pc`: the rule of the canonical frame address, of rip and of rcx.
    fn rules(bytes: &[u8], pc: u64) -> String {
        let frames = gimli::read::EhFrame::new(bytes, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(0);
        let mut context = UnwindContext::new();
        let row = frames
            .unwind_info_for_address(&bases, &mut context, pc, gimli::EhFrame::cie_from_offset)
            .unwrap();
        format!(
            "{:?} {:?} {:?}",
            row.cfa(),
            row.register(RIP),
            row.register(RCX)
        )
    }

    /// As a linker that puts the section and the image at 0.
    fn place_at_zero(bytes: &mut [u8], fields: &[Field]) {
        for field in fields {
            let at = field.offset as usize;
            let value = (field.addend - field.offset as i64) as i32;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
    }

    fn row(offset: u32, cfa: i32, ra: i16, fp: i16, flags: u32) -> UnwindEntry {
        UnwindEntry {
            offset,
            cfa,
            ra,
            fp,
            flags,
        }
    }

    /// Rows of hand-written assembly.
    #[test]
    fn what_x86_64_rows_cannot_say_ends_the_stack() {
        let frame = Frame {
            size: 0x100,
            rows: vec![
                row(0x00, -16, -8, -16, 0),
                row(0x10, 32, -12, -16, 0),
                row(0x20, 32, -8, -12, 0),
                row(0x30, 32, -8, -16, 0),
            ],
            ..Frame::default()
        };
        let (mut bytes, fields) = section(&[frame]).unwrap();
        place_at_zero(&mut bytes, &fields);
        for pc in [0x00, 0x10, 0x20] {
            assert!(rules(&bytes, pc).contains(" Undefined "), "{pc:#x}");
        }
        assert!(rules(&bytes, 0x30).contains(" Offset(-8) "));
    }

    #[test]
    fn a_function_with_a_landing_pad() {
        let frame = Frame {
            start: 0x1000,
            size: 0x100,
            lsda: Some(0x2000),
            personality: Some(0x3000),
            rows: vec![
                row(0x1000, 0, 0, 0, 0),
                row(0x1004, 32, -8, -16, 0),
                row(0x1010, 0, -8, -16, UNWIND_BY_FP),
                row(0x10f0, 0, 0, 0, UNWIND_UNKNOWN),
            ],
        };
        let plain = Frame {
            start: 0x1100,
            size: 8,
            ..Frame::default()
        };
        let (mut bytes, fields) = section(&[frame, plain]).unwrap();
        let of = |base| fields.iter().filter(move |f| f.base == base);
        let image: Vec<_> = of(Base::Image).map(|f| f.addend).collect();
        assert_eq!(image, [0x1000, 0x2000, 0x1100]);
        assert_eq!(of(Base::Personality).count(), 1);
        place_at_zero(&mut bytes, &fields);
        let cfa =
            |register, offset| gimli::CfaRule::<usize>::RegisterAndOffset { register, offset };
        assert_eq!(
            rules(&bytes, 0x1004),
            format!("{:?} Offset(-8) Offset(-16)", cfa(RSP, 32))
        );
        assert_eq!(
            rules(&bytes, 0x1020),
            format!("{:?} Offset(-8) Offset(-16)", cfa(RCX, 0))
        );
        assert!(rules(&bytes, 0x1000).contains(" Undefined "));
        assert!(rules(&bytes, 0x10f4).contains(" Undefined "));
    }
}
