//! What gdb is told of the code by which `libflick-debug.so` leads calls through pointers.
//!
//! gdb's `step` goes on through code with the name of an indirect branch's thunk. It looks for the
//! function behind a C++ thunk by the name in the thunk's symbol, in the same file. So each function has
//! a name here that no other function has.
use std::collections::HashSet;
use std::ops::Range;

use gimli::write::{
    CallFrameInstruction, CommonInformationEntry, Dwarf, FrameDescriptionEntry, FrameTable,
    LineProgram, Range as CodeRange, Unit,
};
use gimli::{Register, X86_64};
use object::elf;
use object::write::SymbolSection;

use super::debug_stubs::add_unit;
use super::debug_units::{ENCODING, code_address};
use super::translated_code::{INDIRECT_THUNK, thunk};
use super::{Writer, internal};
use crate::Result;

/// A stub that leads to a function.
pub struct PointerStub {
    /// Its place in the code.
    pub code: Range<u64>,
    /// The address of the function's host code in the process.
    pub function: u64,
}

/// An x86-64 relocatable with `code` as its text, in which `thunks` look a function up and `stubs` lead
/// on to it.
pub fn pointer_stubs(
    code: Vec<u8>,
    thunks: &[Range<u64>],
    stubs: &[PointerStub],
) -> Result<Vec<u8>> {
    let mut out = Writer::new();
    let size = code.len() as u32;
    let executable = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
    let text = out.section(".text", executable, 64, code);
    let in_text = SymbolSection::Section(text);
    let size_of = |place: &Range<u64>| place.end - place.start;
    for place in thunks {
        out.name_code(INDIRECT_THUNK.into(), in_text, place.start, size_of(place));
    }
    let mut named = HashSet::new();
    for PointerStub { code, function } in stubs {
        let name = format!("flick_at_{function:x}");
        out.name_code(thunk(&name), in_text, code.start, size_of(code));
        if named.insert(*function) {
            out.name_code(name, SymbolSection::Absolute, *function, 0);
        }
    }
    let mut dwarf = Dwarf::default();
    let begin = code_address(0);
    let length = size.into();
    let range = CodeRange::StartLength { begin, length };
    let unit = Unit::new(ENCODING, LineProgram::none());
    add_unit(&mut dwarf, unit, vec![range]);
    let mut frames = FrameTable::default();
    const WORD: i32 = 8;
    let mut cie = CommonInformationEntry::new(ENCODING, 1, -8, X86_64::RA);
    let rsp: Register = X86_64::RSP;
    cie.add_instruction(CallFrameInstruction::Cfa(rsp, WORD));
    cie.add_instruction(CallFrameInstruction::Offset(X86_64::RA, -WORD));
    let cie = frames.add_cie(cie);
    frames.add_fde(cie, FrameDescriptionEntry::new(begin, size));
    let code = out.object.section_symbol(text);
    out.dwarf(dwarf, &frames, [code, code], &[])?;
    out.object.write().map_err(|e| internal(&e))
}
