//! How to leave each function of an image, from the call frame information of the linked RV64 ELF
//! (DWARF 5, 6.4; RISC-V ELF psABI, "DWARF register numbers"), as rows that a signal handler and a
//! debugger's script can read without an interpreter of DWARF.
use flick_abi::layout::{UNWIND_BY_FP, UNWIND_UNKNOWN, UnwindEntry};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindSection,
};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

const RA: Register = Register(1);
const SP: Register = Register(2);
const FP: Register = Register(8);

/// All rows, sorted by offset; each holds up to the next. Information that cannot be read gives no
/// rows: it is a help in reports, not a condition.
pub fn read(elf: &ElfFile64<object::LittleEndian>, base: u64, size: u64) -> Vec<UnwindEntry> {
    let section = |name| {
        let section = elf.section_by_name(name)?;
        Some((section.address(), section.data().ok()?))
    };
    let mut rows = Vec::new();
    if let Some((address, data)) = section(".eh_frame") {
        let bases = BaseAddresses::default().set_eh_frame(address);
        let frames = EhFrame::new(data, LittleEndian);
        // A list that breaks off keeps what was read.
        let _ = collect(&frames, &bases, base, size, &mut rows);
    }
    if let Some((_, data)) = section(".debug_frame") {
        let frames = DebugFrame::new(data, LittleEndian);
        let _ = collect(&frames, &BaseAddresses::default(), base, size, &mut rows);
    }
    // Where one function ends and another begins, the beginning counts.
    rows.sort_by_key(|row| (row.offset, row.flags & UNWIND_UNKNOWN == 0));
    rows.reverse();
    rows.dedup_by_key(|row| row.offset);
    rows.reverse();
    rows
}

fn collect<'a, S>(
    section: &S,
    bases: &BaseAddresses,
    base: u64,
    size: u64,
    out: &mut Vec<UnwindEntry>,
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
        let mut rows = fde.rows(section, bases, &mut context)?;
        while let Some(row) = rows.next_row()? {
            out.push(compact(row, row.start_address().wrapping_sub(base)));
        }
        out.push(unknown(offset + fde.len()));
    }
    Ok(())
}

fn unknown(offset: u64) -> UnwindEntry {
    UnwindEntry {
        offset: u32::try_from(offset).unwrap_or(u32::MAX),
        flags: UNWIND_UNKNOWN,
        ..UnwindEntry::default()
    }
}

fn compact(row: &gimli::UnwindTableRow<usize>, offset: u64) -> UnwindEntry {
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
    let cfa = cfa.and_then(|(flags, at)| Some((flags, i32::try_from(*at).ok()?)));
    match (cfa, saved(RA), saved(FP)) {
        (Some((flags, cfa)), Some(ra), Some(fp)) => UnwindEntry {
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            cfa,
            ra,
            fp,
            flags,
        },
        _ => unknown(offset),
    }
}
