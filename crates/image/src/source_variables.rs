//! The variables of an image's functions, and where they are in terms of RV64 registers (DWARF 5, 2.6
//! and 4.1).
use std::ops::Range;

use gimli::{AttributeValue, Operation, Register, UnitOffset};

use crate::line_table::Reader;
use crate::source_types::{TypeValue, constant};
use crate::source_units::{Entry, Position, Source};

/// A parameter or a variable of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// As in the source.
    pub name: String,
    /// Where it is declared.
    pub declared: Option<Position>,
    /// Index in [`SourceUnit::types`](crate::source_units::SourceUnit::types).
    pub type_entry: Option<usize>,
    /// It is a parameter.
    pub is_parameter: bool,
    /// The compiler made it.
    pub is_artificial: bool,
    /// Its value, if it is always the same.
    pub constant: Option<TypeValue>,
    /// Where it is.
    pub places: Vec<Place>,
    /// Its own entry, or the one that it adds to, by its offset in the unit.
    pub entry: usize,
    /// The entry that it adds to, by its offset in the unit.
    pub(crate) origin: Option<usize>,
}

/// Where a variable is while some of the code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offsets in the image; `None`: throughout.
    pub code: Option<Range<u32>>,
    /// How to find it there.
    pub steps: Vec<Step>,
}

/// An operation of a location description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is in this register, numbered as in [`Homed::reg`](crate::translation::Homed::reg).
    Register(u8),
    /// Pushes the register's value plus a number.
    RegisterValue(u8, i64),
    /// Pushes the function's canonical frame address plus a number.
    FrameAddress(i64),
    /// Pushes the address of a byte of the image.
    Address(u32),
    /// Pushes the address of a variable of the host, by its symbol.
    Host(String),
    /// An operation that means the same on any processor.
    Plain(Vec<u8>),
    /// What was computed is the value, and no address.
    Value,
    /// What was found has so many bytes of the variable, in their order.
    Piece(u64),
}

/// What offsets of a function's variables count from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum FrameBase {
    #[default]
    Unknown,
    Register(u8),
    FrameAddress,
}

impl<'a> Source<'a> {
    pub(crate) fn frame_base(&self, entry: &Entry<'_, 'a>) -> Result<FrameBase, gimli::Error> {
        let value = entry.attr_value(gimli::DW_AT_frame_base)?;
        let Some(AttributeValue::Exprloc(expression)) = value else {
            return Ok(FrameBase::Unknown);
        };
        let mut operations = expression.operations(self.unit.encoding());
        Ok(match operations.next()? {
            Some(Operation::Register { register }) => {
                number(register).map_or(FrameBase::Unknown, FrameBase::Register)
            }
            Some(Operation::CallFrameCFA) => FrameBase::FrameAddress,
            _ => FrameBase::Unknown,
        })
    }

    /// The variable of an entry. Its type is the offset of an entry, until all types are read.
    pub(crate) fn variable(
        &mut self,
        entry: &Entry<'_, 'a>,
        base: FrameBase,
    ) -> Result<Option<Variable>, gimli::Error> {
        let mut variable = Variable {
            is_parameter: entry.tag() == gimli::DW_TAG_formal_parameter,
            ..Variable::default()
        };
        if let Some(location) = entry.attr_value(gimli::DW_AT_location)? {
            variable.places = self.places(location, base)?;
        }
        variable.origin = self.reference(entry).map(|UnitOffset(offset)| offset);
        variable.entry = variable.origin.unwrap_or(entry.offset().0);
        let mut symbol = None;
        for entry in self.chain(entry.offset())? {
            if variable.name.is_empty()
                && let Some(name) = entry.attr_value(gimli::DW_AT_name)?
            {
                variable.name = self.text(name)?;
            }
            if variable.declared.is_none() {
                variable.declared = self.declared(&entry)?;
            }
            if variable.type_entry.is_none() {
                variable.type_entry = self.type_of(&entry)?;
            }
            if variable.constant.is_none()
                && let Some(value) = entry.attr_value(gimli::DW_AT_const_value)?
            {
                variable.constant = constant(value);
            }
            if symbol.is_none()
                && let Some(name) = entry.attr_value(gimli::DW_AT_linkage_name)?
            {
                symbol = Some(self.text(name)?);
            }
            let artificial = entry.attr_value(gimli::DW_AT_artificial)?;
            variable.is_artificial |= artificial == Some(AttributeValue::Flag(true));
        }
        // The compiler pass names the host's symbol of a static variable.
        if let (Some(symbol), true) = (symbol, variable.places.is_empty()) {
            variable.places.push(Place {
                code: None,
                steps: vec![Step::Host(symbol)],
            });
        }
        Ok(Some(variable).filter(|variable| !variable.name.is_empty()))
    }

    /// The variables of an inlined function or of a block in it that `known` ones add to no more:
    /// nothing is left of them.
    pub(crate) fn gone(
        &mut self,
        origin: UnitOffset,
        known: &[Variable],
    ) -> Result<Vec<Variable>, gimli::Error> {
        let unit = self.unit;
        let mut tree = unit.entries_tree(Some(origin))?;
        let mut children = tree.root()?.children();
        let mut gone = vec![];
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let is_known = |variable: &Variable| variable.origin == Some(entry.offset().0);
            if matches!(
                entry.tag(),
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable
            ) && !known.iter().any(is_known)
            {
                gone.extend(self.variable(entry, FrameBase::Unknown)?);
            }
        }
        Ok(gone)
    }

    fn places(
        &self,
        location: AttributeValue<Reader<'a>>,
        base: FrameBase,
    ) -> Result<Vec<Place>, gimli::Error> {
        if let AttributeValue::Exprloc(expression) = location {
            let steps = self.steps(expression, base)?;
            return Ok(steps
                .map(|steps| Place { code: None, steps })
                .into_iter()
                .collect());
        }
        let mut places = vec![];
        let Some(mut list) = self.dwarf.attr_locations(self.unit, location)? else {
            return Ok(places);
        };
        while let Some(entry) = list.next()? {
            let (begin, end) = (entry.range.begin, entry.range.end);
            let size = u32::try_from(end.saturating_sub(begin));
            if let (Some(start), Ok(size)) = (self.offset(begin), size)
                && size > 0
                && let Some(steps) = self.steps(entry.data, base)?
            {
                places.push(Place {
                    code: Some(start..start.saturating_add(size)),
                    steps,
                });
            }
        }
        Ok(places)
    }

    /// `None`: a description that has no translation.
    fn steps(
        &self,
        expression: gimli::Expression<Reader<'a>>,
        base: FrameBase,
    ) -> Result<Option<Vec<Step>>, gimli::Error> {
        let unit = self.unit;
        let mut operations = expression.operations(unit.encoding());
        let mut rest = expression.0;
        let mut steps = vec![];
        while let Some(operation) = operations.next()? {
            let behind = operations.offset_from(&expression);
            let len = behind - (expression.0.len() - rest.len());
            let (bytes, after) = rest.slice().split_at(len);
            rest = Reader::new(after, gimli::LittleEndian);
            let step = match operation {
                Operation::Register { register } => number(register).map(Step::Register),
                Operation::RegisterOffset {
                    register, offset, ..
                } => number(register).map(|register| Step::RegisterValue(register, offset)),
                Operation::FrameOffset { offset } => match base {
                    FrameBase::Unknown => None,
                    FrameBase::Register(register) => Some(Step::RegisterValue(register, offset)),
                    FrameBase::FrameAddress => Some(Step::FrameAddress(offset)),
                },
                Operation::CallFrameCFA => Some(Step::FrameAddress(0)),
                Operation::Address { address } => self.image_offset(address).map(Step::Address),
                Operation::AddressIndex { index } => {
                    let address = self.dwarf.address(unit, index)?;
                    self.image_offset(address).map(Step::Address)
                }
                Operation::StackValue => Some(Step::Value),
                Operation::Piece {
                    size_in_bits,
                    bit_offset: None,
                } if size_in_bits % 8 == 0 => Some(Step::Piece(size_in_bits / 8)),
                Operation::Deref { base_type, .. } if base_type.0 == 0 => {
                    Some(Step::Plain(bytes.to_vec()))
                }
                Operation::Drop
                | Operation::Pick { .. }
                | Operation::Swap
                | Operation::Rot
                | Operation::Abs
                | Operation::And
                | Operation::Div
                | Operation::Minus
                | Operation::Mod
                | Operation::Mul
                | Operation::Neg
                | Operation::Not
                | Operation::Or
                | Operation::Plus
                | Operation::PlusConstant { .. }
                | Operation::Shl
                | Operation::Shr
                | Operation::Shra
                | Operation::Xor
                | Operation::Eq
                | Operation::Ge
                | Operation::Gt
                | Operation::Le
                | Operation::Lt
                | Operation::Ne
                | Operation::Nop
                | Operation::UnsignedConstant { .. }
                | Operation::SignedConstant { .. }
                | Operation::ImplicitValue { .. } => Some(Step::Plain(bytes.to_vec())),
                _ => None,
            };
            let Some(step) = step else { return Ok(None) };
            steps.push(step);
        }
        Ok(Some(steps).filter(|steps| !steps.is_empty()))
    }

    fn image_offset(&self, address: u64) -> Option<u32> {
        let offset = address.wrapping_sub(self.linked.base);
        let is_inside = address != 0 && offset < self.linked.bytes.len() as u64;
        u32::try_from(offset).ok().filter(|_| is_inside)
    }
}

/// The RISC-V ELF psABI, "DWARF Register Numbers": x0 to x31, f0 to f31.
fn number(register: Register) -> Option<u8> {
    u8::try_from(register.0).ok().filter(|&number| number < 64)
}
