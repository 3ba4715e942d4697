//! Debug information of the stubs by which translated code calls the host: a unit without lines. gdb's
//! `step` skips the prologue of the function behind a stub only where the stub has a unit.
use flick_abi::names;
use gimli::write::{Address, AttributeValue, Dwarf, LineProgram, Range, RangeList, Unit};

use super::debug_units::{ENCODING, code_address};
use crate::linked::{Linked, Target};
use crate::translation::Translated;

/// Bytes of a stub's code.
pub(super) const STUB_CODE: u64 = 13;

/// Adds the unit of the stubs of `functions`, each with its name and its place.
pub(super) fn add<'a>(dwarf: &mut Dwarf, functions: impl Iterator<Item = (&'a str, u64)>) {
    let mut unit = Unit::new(ENCODING, LineProgram::none());
    let root = unit.root();
    let mut ranges = vec![];
    for (name, stub) in functions {
        let begin = code_address(stub as u32);
        ranges.push(Range::StartLength {
            begin,
            length: STUB_CODE,
        });
        let entry = unit.add(root, gimli::DW_TAG_subprogram);
        let entry = unit.get_mut(entry);
        let name = flick_names::demangled(flick_names::plain(name));
        let name = format!("call of {name}").into_bytes();
        entry.set(gimli::DW_AT_name, AttributeValue::String(name));
        entry.set(gimli::DW_AT_artificial, AttributeValue::FlagPresent);
        entry.set(gimli::DW_AT_low_pc, AttributeValue::Address(begin));
        entry.set(gimli::DW_AT_high_pc, AttributeValue::Udata(STUB_CODE));
    }
    if ranges.is_empty() {
        return;
    }
    add_unit(dwarf, unit, ranges);
}

/// Adds a unit of the code in `ranges`.
pub(super) fn add_unit(dwarf: &mut Dwarf, mut unit: Unit, ranges: Vec<Range>) {
    let root = unit.root();
    let ranges = unit.ranges.add(RangeList(ranges));
    let root = unit.get_mut(root);
    let name = AttributeValue::String(b"calls of the host".to_vec());
    root.set(gimli::DW_AT_name, name);
    let language = AttributeValue::Language(gimli::DW_LANG_C99);
    root.set(gimli::DW_AT_language, language);
    let zero = AttributeValue::Address(Address::Constant(0));
    root.set(gimli::DW_AT_low_pc, zero);
    root.set(gimli::DW_AT_ranges, AttributeValue::RangeListRef(ranges));
    dwarf.units.add(unit);
}

/// The host functions that translated code calls by name, with the places of their stubs. Flick's own
/// are nothing for a debugger to enter.
pub(super) fn functions_outside<'a>(
    linked: &'a Linked,
    translated: &'a Translated,
) -> impl Iterator<Item = (&'a str, u64)> {
    stubs(linked, translated).filter(|(name, _)| !name.starts_with("__flick_"))
}

/// The places of stubs by which translated code calls through pointers by a signature.
pub(super) fn stubs_by_signature<'a>(
    linked: &'a Linked,
    translated: &'a Translated,
) -> impl Iterator<Item = u64> + 'a {
    let all = stubs(linked, translated);
    all.filter_map(|(name, stub)| (name == names::RT_XCALL).then_some(stub))
}

fn stubs<'a>(
    linked: &'a Linked,
    translated: &'a Translated,
) -> impl Iterator<Item = (&'a str, u64)> {
    translated.outside.iter().filter_map(|outside| {
        let words = &linked.relocations;
        let at = words.binary_search_by_key(&outside.function, |word| word.offset);
        match &words[at.ok()?].target {
            Target::Host { name, .. } => Some((name.as_str(), outside.stub)),
            Target::Image => None,
        }
    })
}
