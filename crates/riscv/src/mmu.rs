//! Modes of address translation (privileged manual, "Supervisor Address Translation and Protection
//! (satp) Register").

/// A mode that the manual leaves to custom use: user code is in another machine's address space, and
/// somebody else executes it.
pub const FOREIGN_MODE: u64 = 14;
/// Bits of `satp` that say in that mode whose code it is: its PPN.
pub const FOREIGN_OWNER: u64 = (1 << 44) - 1;

/// The highest mode of `satp` that a hart has. It has those below, too: Sv57 requires Sv48, which
/// requires Sv39.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mmu {
    /// No translation.
    Bare,
    /// Three levels of page tables.
    Sv39,
    /// Four levels of page tables.
    Sv48,
    /// Five levels of page tables.
    #[default]
    Sv57,
}

impl Mmu {
    /// All of them, the lowest first.
    pub const ALL: [Self; 4] = [Self::Bare, Self::Sv39, Self::Sv48, Self::Sv57];

    /// Its name in machine files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Sv39 => "sv39",
            Self::Sv48 => "sv48",
            Self::Sv57 => "sv57",
        }
    }

    /// The mode that a number in the field MODE of `satp` stands for; `None`: it is reserved.
    pub const fn of_mode(mode: u64) -> Option<Self> {
        match mode {
            0 => Some(Self::Bare),
            8 => Some(Self::Sv39),
            9 => Some(Self::Sv48),
            10 => Some(Self::Sv57),
            _ => None,
        }
    }

    /// Levels of its page tables.
    pub const fn levels(self) -> u32 {
        match self {
            Self::Bare => 0,
            Self::Sv39 => 3,
            Self::Sv48 => 4,
            Self::Sv57 => 5,
        }
    }
}
