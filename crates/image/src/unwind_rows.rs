//! How to leave each function of an image, from the call frame information of the linked RV64 ELF
//! (DWARF 5, 6.4; RISC-V ELF psABI, "DWARF register numbers"), as rows that a signal handler and a
//! debugger's script can read without an interpreter of DWARF.
use flick_abi::layout::{
    SAVED_NUMBERS, SavedRegisters, UNWIND_BY_FP, UNWIND_SAVED_SHIFT, UNWIND_UNKNOWN, UnwindEntry,
};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, LittleEndian, Pointer, Register,
    RegisterRule, UnwindContext, UnwindSection,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

const RA: Register = Register(1);
const SP: Register = Register(2);
const FP: Register = Register(8);
/// Of f0.
const FLOATS: u16 = 32;

/// What an image says about its frames; offsets count from its first byte.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Sorted by offset; each holds up to the next.
    pub rows: Vec<UnwindEntry>,
    /// What [`UNWIND_SAVED_SHIFT`] leads to.
    pub saved: Vec<SavedRegisters>,
    /// Functions that the program may unwind at run time: those of `.eh_frame`.
    pub frames: Vec<Frame>,
}

/// One function (or part of one) with unwind information.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Offset of the first instruction.
    pub start: u32,
    /// Bytes of code.
    pub size: u32,
    /// The language's table of its landing pads.
    pub lsda: Option<u32>,
    /// The word that holds the address of its personality routine.
    pub personality: Option<u32>,
    /// Sorted by offset; each holds up to the next, the last up to the end.
    pub rows: Vec<UnwindEntry>,
}

/// Information that cannot be read gives no rows: it is a help in reports; where it lacks at run
/// time an exception ends as it does natively in code without unwind information.
pub fn read(elf: &ElfFile64<object::LittleEndian>, base: u64, size: u64) -> Table {
    let section = |name| {
        let section = elf.section_by_name(name)?;
        Some((section.address(), section.data().ok()?))
    };
    let mut table = Table {
        saved: vec![SavedRegisters::default()],
        ..Table::default()
    };
    if let Some((address, data)) = section(".eh_frame") {
        let bases = BaseAddresses::default().set_eh_frame(address);
        let frames = EhFrame::new(data, LittleEndian);
        // A list that breaks off keeps what was read.
        let _ = table.collect(&frames, &bases, base, size);
    }
    let run_time = table.frames.len();
    if let Some((_, data)) = section(".debug_frame") {
        let frames = DebugFrame::new(data, LittleEndian);
        let _ = table.collect(&frames, &BaseAddresses::default(), base, size);
    }
    for frame in &table.frames {
        table.rows.extend(&frame.rows);
        table.rows.push(unknown(frame.start + frame.size));
    }
    table.frames.truncate(run_time);
    // Where one function ends and another begins, the beginning counts.
    let rows = &mut table.rows;
    rows.sort_by_key(|row| (row.offset, row.flags & UNWIND_UNKNOWN == 0));
    rows.reverse();
    rows.dedup_by_key(|row| row.offset);
    rows.reverse();
    table
}

impl Table {
    fn collect<'a, S>(
        &mut self,
        section: &S,
        bases: &BaseAddresses,
        base: u64,
        size: u64,
    ) -> Result<(), gimli::Error>
    where
        S: UnwindSection<gimli::EndianSlice<'a, LittleEndian>>,
    {
        let mut context = UnwindContext::new();
        let mut entries = section.entries(bases);
        while let Some(entry) = entries.next()? {
            let CieOrFde::Fde(partial) = entry else {
                continue;
            };
            let fde = partial.parse(S::cie_from_offset)?;
            let start = fde.initial_address();
            let offset = start.wrapping_sub(base);
            // Code that the linker has dropped is left at address 0 or below.
            if start == 0 || offset >= size || fde.len() > size - offset {
                continue;
            }
            let inside = |address: u64| {
                let offset = address.wrapping_sub(base);
                u32::try_from(offset).ok().filter(|_| offset < size)
            };
            let (Some(start), Ok(length)) = (inside(start), u32::try_from(fde.len())) else {
                continue;
            };
            let mut frame = Frame {
                start,
                size: length,
                lsda: match fde.lsda() {
                    Some(Pointer::Direct(at)) => inside(at),
                    _ => None,
                },
                personality: match fde.personality() {
                    Some(Pointer::Indirect(at)) => inside(at),
                    _ => None,
                },
                rows: Vec::new(),
            };
            let mut rows = fde.rows(section, bases, &mut context)?;
            while let Some(row) = rows.next_row()? {
                let at = row.start_address().wrapping_sub(base);
                frame.rows.push(self.compact(row, at));
            }
            self.frames.push(frame);
        }
        Ok(())
    }

    fn compact(&mut self, row: &gimli::UnwindTableRow<usize>, offset: u64) -> UnwindEntry {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let saved = |register| match row.register(register) {
            RegisterRule::Offset(at) => i16::try_from(at).ok().filter(|at| *at != 0),
            RegisterRule::Undefined | RegisterRule::SameValue => Some(0),
            _ => None,
        };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => match *register {
                SP => Some((0, offset)),
                FP => Some((UNWIND_BY_FP, offset)),
                _ => None,
            },
            CfaRule::Expression(_) => None,
        };
        let known = || {
            let (flags, at) = cfa?;
            let mut registers = SavedRegisters::default();
            for (i, number) in SAVED_NUMBERS.into_iter().map(u16::from).enumerate() {
                registers.s[i] = saved(Register(number))?;
                registers.fs[i] = saved(Register(FLOATS + number))?;
            }
            Some((
                UnwindEntry {
                    offset,
                    cfa: i32::try_from(*at).ok()?,
                    ra: saved(RA)?,
                    fp: registers.s[0],
                    flags,
                },
                registers,
            ))
        };
        let Some((mut entry, registers)) = known() else {
            return unknown(offset);
        };
        // Functions save few combinations; a module has some dozens.
        let at = self.saved.iter().position(|known| *known == registers);
        let at = at.unwrap_or_else(|| {
            self.saved.push(registers);
            self.saved.len() - 1
        });
        if at >= 1 << (u32::BITS - UNWIND_SAVED_SHIFT) {
            return unknown(offset);
        }
        entry.flags |= (at as u32) << UNWIND_SAVED_SHIFT;
        entry
    }
}

fn unknown(offset: u32) -> UnwindEntry {
    UnwindEntry {
        offset,
        flags: UNWIND_UNKNOWN,
        ..UnwindEntry::default()
    }
}
