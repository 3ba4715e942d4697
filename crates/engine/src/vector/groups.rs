//! Register groups, and which operands are reserved (ISA manual, chapter "V", sections "Vector
//! Operands" and "Vector Masking").

use super::configuration::Shape;
use super::vector_state::{BYTE, DOUBLE};
use super::{Legal, Word, require};

/// The registers of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    register: u32,
    /// Logarithm of EEW; 0 for masks.
    width: u32,
    /// Logarithm of EMUL.
    emul: i32,
}

/// EEW of a mask.
const MASK: u32 = 0;

impl Group {
    /// Operand of EEW = SEW.
    pub fn of(register: u32, shape: Shape) -> Self {
        Self {
            register,
            width: shape.sew,
            emul: shape.lmul,
        }
    }

    /// Operand of this EEW, and as many elements.
    pub fn wide(register: u32, width: u32, shape: Shape) -> Self {
        Self {
            register,
            width,
            emul: shape.lmul + width as i32 - shape.sew as i32,
        }
    }

    /// A mask.
    pub fn mask(register: u32) -> Self {
        Self {
            register,
            width: MASK,
            emul: 0,
        }
    }

    /// One register, of which an element is a scalar.
    pub fn scalar(register: u32, width: u32) -> Self {
        Self {
            register,
            width,
            emul: 0,
        }
    }

    /// `count` registers of this EEW.
    pub fn registers(register: u32, width: u32, count: u32) -> Self {
        Self {
            register,
            width,
            emul: count.ilog2() as i32,
        }
    }

    fn len(self) -> u32 {
        1 << self.emul.max(0)
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.register < other.register + other.len() && other.register < self.register + self.len()
    }

    /// EEW and EMUL are supported, and the group begins where such groups do.
    fn is_valid(self) -> bool {
        let width = self.width == MASK || (BYTE..=DOUBLE).contains(&self.width);
        width && (-3..=3).contains(&self.emul) && self.register.is_multiple_of(self.len())
    }

    /// May this destination overlap `source`?
    fn may_overlap(self, source: Self) -> bool {
        use core::cmp::Ordering::*;
        match self.width.cmp(&source.width) {
            Equal => true,
            // In the lowest-numbered part of the source.
            Less => self.register == source.register,
            // In the highest-numbered part of the destination.
            Greater => {
                source.emul >= 0 && source.register + source.len() == self.register + self.len()
            }
        }
    }
}

/// How an instruction writes its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// Element by element.
    Elements,
    /// So that it must not overlap a source.
    Apart,
    /// An element that is a scalar: any overlap is allowed.
    Scalar,
}

/// Goes on if the operands are not reserved.
pub(super) fn check(word: Word, write: Write, destination: Group, sources: &[Group]) -> Legal {
    require(destination.is_valid())?;
    // Masks themselves and scalars may be written to v0 under a mask.
    if !word.vm() && destination.width != MASK && write != Write::Scalar {
        require(destination.register != 0)?;
    }
    if write == Write::Apart && !word.vm() {
        require(destination.register != 0)?;
    }
    for &source in sources {
        let fits = match write {
            Write::Scalar => true,
            _ if !destination.overlaps(source) => true,
            Write::Apart => false,
            Write::Elements => destination.may_overlap(source),
        };
        require(fits)?;
    }
    check_sources(word, sources)
}

/// The same of an instruction that writes no vector register.
pub(super) fn check_sources(word: Word, sources: &[Group]) -> Legal {
    for (n, &source) in sources.iter().enumerate() {
        require(source.is_valid())?;
        // No register is read with two element widths; v0 as a mask is one.
        require(word.vm() || source.width == MASK || source.register != 0)?;
        for &other in &sources[..n] {
            require(source.width == other.width || !source.overlaps(other))?;
        }
    }
    Ok(())
}
