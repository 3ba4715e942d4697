//! The types of a unit, again, in the debug information of translated code.
use gimli::write::{AttributeValue, Expression, UnitEntryId};

use super::debug_units::DebugUnit;
use crate::source_types::{TypeEntry, TypeValue};

impl DebugUnit<'_> {
    /// Adds all types. Variables name them by their places.
    pub(super) fn add_types(&mut self) {
        let unit = self.unit;
        for entry in &unit.types {
            let parent = entry.parent.and_then(|parent| self.types.get(parent));
            let parent = parent.copied().unwrap_or(self.out.root());
            self.types.push(self.out.add(parent, entry.tag));
        }
        for (n, entry) in unit.types.iter().enumerate() {
            let id = self.types[n];
            for (name, value) in &entry.attributes {
                match value {
                    TypeValue::Variable(entry) => self.counts.push((id, *entry)),
                    value => self.set_value(id, *name, value),
                }
            }
        }
    }

    /// Arrays have so many elements as variables say that are known by now.
    pub(super) fn set_counts(&mut self) {
        for (array, entry) in std::mem::take(&mut self.counts) {
            if let Some(&variable) = self.variables.get(&entry) {
                let count = AttributeValue::UnitRef(variable);
                self.out.get_mut(array).set(gimli::DW_AT_count, count);
            }
        }
    }

    pub(super) fn set_value(&mut self, id: UnitEntryId, name: gimli::DwAt, value: &TypeValue) {
        let value = match value {
            TypeValue::Text(text) => return self.text(id, name, text),
            TypeValue::Declared(at) => {
                let (file, line) = (gimli::DW_AT_decl_file, gimli::DW_AT_decl_line);
                return self.place(id, file, line, *at);
            }
            TypeValue::Unsigned(number) => AttributeValue::Udata(*number),
            TypeValue::Signed(number) => AttributeValue::Sdata(*number),
            TypeValue::Flag => AttributeValue::FlagPresent,
            TypeValue::Type(to) => match self.types.get(*to) {
                Some(&to) => AttributeValue::UnitRef(to),
                None => return,
            },
            TypeValue::Variable(_) => return,
            TypeValue::Expression(bytes) => AttributeValue::Exprloc(Expression::raw(bytes.clone())),
            TypeValue::Bytes(bytes) => AttributeValue::Block(bytes.clone()),
        };
        self.out.get_mut(id).set(name, value);
    }

    pub(super) fn set_type(&mut self, id: UnitEntryId, to: Option<usize>) {
        if let Some(to) = to {
            self.set_value(id, gimli::DW_AT_type, &TypeValue::Type(to));
        }
    }
}

/// Bytes of a type; `None`: unknown.
pub(super) fn size_of(types: &[TypeEntry], mut at: usize) -> Option<u64> {
    const LONGEST_CHAIN: usize = 32;
    const POINTER: u64 = 8;
    for _ in 0..LONGEST_CHAIN {
        let entry = types.get(at)?;
        let named = |name| {
            let mut all = entry.attributes.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        if let Some(TypeValue::Unsigned(size)) = named(gimli::DW_AT_byte_size) {
            return Some(*size);
        }
        match entry.tag {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => return Some(POINTER),
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_enumeration_type => {}
            _ => return None,
        }
        let Some(TypeValue::Type(next)) = named(gimli::DW_AT_type) else {
            return None;
        };
        at = *next;
    }
    None
}
