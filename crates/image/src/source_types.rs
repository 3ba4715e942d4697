//! The types of a compilation unit that its variables name (DWARF 5, chapter 5), with all that they
//! are made of.
use std::collections::HashMap;

use gimli::{AttributeValue, DwAt, DwTag, EntriesTreeNode, Operation, UnitOffset};

use crate::line_table::Reader;
use crate::source_units::{Entry, Position, Source};

/// An entry that is a type, a part of one, or a namespace around one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeEntry {
    /// As in the RV64 ELF.
    pub tag: DwTag,
    /// Index in [`SourceUnit::types`](crate::source_units::SourceUnit::types), lower than its own;
    /// `None`: the unit.
    pub parent: Option<usize>,
    /// All that are copied.
    pub attributes: Vec<(DwAt, TypeValue)>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeValue {
    /// A name.
    Text(String),
    /// A number without a sign.
    Unsigned(u64),
    /// A number with a sign.
    Signed(i64),
    /// The attribute is there.
    Flag,
    /// Index in [`SourceUnit::types`](crate::source_units::SourceUnit::types).
    Type(usize),
    /// The variable with this [`Variable::entry`](crate::source_variables::Variable::entry).
    Variable(usize),
    /// An expression without addresses and registers.
    Expression(Vec<u8>),
    /// Bytes of a constant.
    Bytes(Vec<u8>),
    /// File and line of the declaration.
    Declared(Position),
}

/// Deepest type within types that is read.
const MOST_DEPTH: usize = 64;

/// What is known while a unit is read.
#[derive(Default)]
pub(crate) struct Types {
    /// The entry around each type or namespace, if it is one.
    parents: HashMap<UnitOffset, UnitOffset>,
    tags: HashMap<UnitOffset, DwTag>,
    /// Places in [`SourceUnit::types`](crate::source_units::SourceUnit::types).
    known: HashMap<UnitOffset, usize>,
    /// To be read.
    todo: Vec<UnitOffset>,
    /// Types that attributes name, which may not have been read yet; counts of elements name
    /// variables.
    references: Vec<(usize, DwAt, UnitOffset)>,
}

fn is_namespace(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_namespace | gimli::DW_TAG_module)
}

/// A type that can have others within it.
fn is_outer_type(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_interface_type
    )
}

impl<'a> Source<'a> {
    /// Notes an entry below others; `around` is the innermost entry around it that is no part of a
    /// function.
    pub(crate) fn note_parent(&mut self, entry: &Entry<'_, 'a>, around: Option<UnitOffset>) {
        if let Some(around) = around {
            self.types.parents.insert(entry.offset(), around);
        }
        if is_namespace(entry.tag()) || is_outer_type(entry.tag()) {
            self.types.tags.insert(entry.offset(), entry.tag());
        }
    }

    /// The entry has others within it that types name.
    pub(crate) fn is_outer(tag: DwTag) -> bool {
        is_namespace(tag) || is_outer_type(tag)
    }

    /// The type at `offset` is to be read.
    pub(crate) fn want_type(&mut self, offset: UnitOffset) {
        self.types.todo.push(offset);
    }

    /// The outermost type around one, which is read as a whole.
    fn whole(&self, offset: UnitOffset) -> UnitOffset {
        let (mut whole, mut at) = (offset, offset);
        for _ in 0..MOST_DEPTH {
            let Some(&around) = self.types.parents.get(&at) else {
                break;
            };
            let tag = self.types.tags.get(&around);
            if tag.is_some_and(|&tag| is_outer_type(tag)) {
                whole = around;
            }
            at = around;
        }
        whole
    }

    /// Reads the types that are wanted, with those that they name. Returns where each is.
    pub(crate) fn read_types(&mut self) -> Result<HashMap<UnitOffset, usize>, gimli::Error> {
        while let Some(offset) = self.types.todo.pop() {
            if self.types.known.contains_key(&offset) {
                continue;
            }
            let offset = self.whole(offset);
            let parent = self.namespace_around(offset, 0)?;
            let unit = self.unit;
            let mut tree = unit.entries_tree(Some(offset))?;
            self.copy(tree.root()?, parent, 0)?;
        }
        for (entry, name, offset) in std::mem::take(&mut self.types.references) {
            if let Some(&to) = self.types.known.get(&offset) {
                let value = TypeValue::Type(to);
                self.out.types[entry].attributes.push((name, value));
            } else if name == gimli::DW_AT_count {
                let value = TypeValue::Variable(offset.0);
                self.out.types[entry].attributes.push((name, value));
            }
        }
        Ok(std::mem::take(&mut self.types.known))
    }

    fn namespace_around(
        &mut self,
        offset: UnitOffset,
        depth: usize,
    ) -> Result<Option<usize>, gimli::Error> {
        let Some(&around) = self.types.parents.get(&offset) else {
            return Ok(None);
        };
        if let Some(&known) = self.types.known.get(&around) {
            return Ok(Some(known));
        }
        if depth > MOST_DEPTH {
            return Ok(None);
        }
        let parent = self.namespace_around(around, depth + 1)?;
        let unit = self.unit;
        let entry = unit.entry(around)?;
        Ok(Some(self.add_type(&entry, parent)?))
    }

    fn copy(
        &mut self,
        node: EntriesTreeNode<'_, '_, '_, Reader<'a>>,
        parent: Option<usize>,
        depth: usize,
    ) -> Result<(), gimli::Error> {
        let entry = node.entry();
        let has_code = entry.attr_value(gimli::DW_AT_low_pc)?.is_some()
            || entry.attr_value(gimli::DW_AT_ranges)?.is_some();
        if has_code || depth > MOST_DEPTH || self.types.known.contains_key(&entry.offset()) {
            return Ok(());
        }
        let index = self.add_type(entry, parent)?;
        let mut children = node.children();
        while let Some(child) = children.next()? {
            self.copy(child, Some(index), depth + 1)?;
        }
        Ok(())
    }

    fn add_type(
        &mut self,
        entry: &Entry<'_, 'a>,
        parent: Option<usize>,
    ) -> Result<usize, gimli::Error> {
        let index = self.out.types.len();
        self.types.known.insert(entry.offset(), index);
        self.out.types.push(TypeEntry {
            tag: entry.tag(),
            parent,
            attributes: vec![],
        });
        let mut attributes = vec![];
        if let Some(declared) = self.declared(entry)? {
            attributes.push((gimli::DW_AT_decl_line, TypeValue::Declared(declared)));
        }
        let mut all = entry.attrs();
        while let Some(attribute) = all.next()? {
            let name = attribute.name();
            if let Some(offset) = self.type_reference(name, &attribute.value()) {
                if name != gimli::DW_AT_count {
                    self.want_type(offset);
                }
                self.types.references.push((index, name, offset));
            } else if let Some(value) = self.type_value(name, attribute.value())? {
                attributes.push((name, value));
            }
        }
        self.out.types[index].attributes = attributes;
        Ok(index)
    }

    fn type_reference(&self, name: DwAt, value: &AttributeValue<Reader<'a>>) -> Option<UnitOffset> {
        let is_type = matches!(
            name,
            gimli::DW_AT_type
                | gimli::DW_AT_containing_type
                | gimli::DW_AT_object_pointer
                | gimli::DW_AT_count
        );
        self.unit_offset(value).filter(|_| is_type)
    }

    fn type_value(
        &self,
        name: DwAt,
        value: AttributeValue<Reader<'a>>,
    ) -> Result<Option<TypeValue>, gimli::Error> {
        Ok(match name {
            gimli::DW_AT_name | gimli::DW_AT_linkage_name => {
                let name = self.text(value)?;
                Some(TypeValue::Text(flick_names::plain(&name).to_owned()))
            }
            gimli::DW_AT_byte_size
            | gimli::DW_AT_bit_size
            | gimli::DW_AT_data_bit_offset
            | gimli::DW_AT_data_member_location
            | gimli::DW_AT_alignment
            | gimli::DW_AT_encoding
            | gimli::DW_AT_upper_bound
            | gimli::DW_AT_lower_bound
            | gimli::DW_AT_count
            | gimli::DW_AT_accessibility
            | gimli::DW_AT_virtuality
            | gimli::DW_AT_visibility
            | gimli::DW_AT_inline
            | gimli::DW_AT_calling_convention
            | gimli::DW_AT_defaulted
            | gimli::DW_AT_address_class
            | gimli::DW_AT_endianity
            | gimli::DW_AT_const_value => constant(value),
            gimli::DW_AT_declaration
            | gimli::DW_AT_external
            | gimli::DW_AT_artificial
            | gimli::DW_AT_prototyped
            | gimli::DW_AT_enum_class
            | gimli::DW_AT_export_symbols
            | gimli::DW_AT_explicit
            | gimli::DW_AT_deleted
            | gimli::DW_AT_reference
            | gimli::DW_AT_rvalue_reference
            | gimli::DW_AT_mutable
            | gimli::DW_AT_noreturn
            | gimli::DW_AT_GNU_vector => {
                (value == AttributeValue::Flag(true)).then_some(TypeValue::Flag)
            }
            _ => None,
        })
    }
}

/// The value of a constant.
pub(crate) fn constant(value: AttributeValue<Reader<'_>>) -> Option<TypeValue> {
    Some(match value {
        AttributeValue::Sdata(number) => TypeValue::Signed(number),
        AttributeValue::Block(bytes) => TypeValue::Bytes(bytes.slice().to_vec()),
        AttributeValue::String(text) => {
            let mut bytes = text.slice().to_vec();
            bytes.push(0);
            TypeValue::Bytes(bytes)
        }
        AttributeValue::Exprloc(expression) => TypeValue::Expression(plain_expression(expression)?),
        value => TypeValue::Unsigned(value.udata_value().or_else(|| number(&value))?),
    })
}

/// Of attributes whose numbers have names.
fn number(value: &AttributeValue<Reader<'_>>) -> Option<u64> {
    Some(match *value {
        AttributeValue::Encoding(value) => value.0.into(),
        AttributeValue::Accessibility(value) => value.0.into(),
        AttributeValue::Virtuality(value) => value.0.into(),
        AttributeValue::Visibility(value) => value.0.into(),
        AttributeValue::Inline(value) => value.0.into(),
        AttributeValue::CallingConvention(value) => value.0.into(),
        AttributeValue::AddressClass(value) => value.0,
        AttributeValue::Endianity(value) => value.0.into(),
        _ => return None,
    })
}

/// An expression that means the same in any file and on any processor.
fn plain_expression(expression: gimli::Expression<Reader<'_>>) -> Option<Vec<u8>> {
    let encoding = gimli::Encoding {
        address_size: 8,
        format: gimli::Format::Dwarf32,
        version: 5,
    };
    let mut operations = expression.operations(encoding);
    while let Some(operation) = operations.next().ok()? {
        let is_plain = matches!(
            operation,
            Operation::Deref { .. }
                | Operation::Pick { .. }
                | Operation::Swap
                | Operation::Plus
                | Operation::Minus
                | Operation::Neg
                | Operation::Mul
                | Operation::PlusConstant { .. }
                | Operation::UnsignedConstant { .. }
                | Operation::SignedConstant { .. }
        );
        if !is_plain {
            return None;
        }
    }
    Some(expression.0.slice().to_vec())
}
