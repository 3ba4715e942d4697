//! Fields of a vector instruction's word (ISA manual, chapter "V", section "Vector Instruction
//! Formats").

/// The word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub u32);

/// Integer, vector and vector.
pub(super) const IVV: u32 = 0;
/// Floating-point, vector and vector.
pub(super) const FVV: u32 = 1;
/// Integer and mask, vector and vector.
pub(super) const MVV: u32 = 2;
/// Integer, vector and immediate.
pub(super) const IVI: u32 = 3;
/// Integer, vector and integer register.
pub(super) const IVX: u32 = 4;
/// Floating-point, vector and floating-point register.
pub(super) const FVF: u32 = 5;
/// Integer and mask, vector and integer register.
pub(super) const MVX: u32 = 6;

impl Word {
    /// Destination, or the data of a store.
    #[inline(always)]
    pub fn vd(self) -> u32 {
        self.0 >> 7 & 31
    }

    /// First operand: a vector register or another one, or an immediate.
    #[inline(always)]
    pub fn vs1(self) -> u32 {
        self.0 >> 15 & 31
    }

    /// Second operand.
    #[inline(always)]
    pub fn vs2(self) -> u32 {
        self.0 >> 20 & 31
    }

    /// Unmasked?
    #[inline(always)]
    pub fn vm(self) -> bool {
        self.0 >> 25 & 1 != 0
    }

    #[inline(always)]
    pub fn funct3(self) -> u32 {
        self.0 >> 12 & 7
    }

    #[inline(always)]
    pub fn funct6(self) -> u32 {
        self.0 >> 26
    }

    /// The immediate, sign-extended.
    #[inline(always)]
    pub fn simm(self) -> u64 {
        ((self.0 << 12) as i32 >> 27) as u64
    }
}
