//! Instructions without their operands: the table's rows.

use crate::format::Format;
use crate::table::for_each_op;

/// What kind of work an instruction is: what its cost depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Integer computations of RV64I.
    Int,
    /// Address computations (Zba).
    Address,
    /// Bit manipulation (Zbb, Zbs, Zicond).
    Bit,
    /// Integer multiplication.
    Mul,
    /// Integer division and remainder.
    Div,
    /// Loads, into registers of either kind.
    Load,
    /// Stores, from registers of either kind.
    Store,
    /// The A extension.
    Atomic,
    /// Conditional branches.
    Branch,
    /// Unconditional jumps, calls and returns.
    Jump,
    /// Addition, comparison, conversion, moves between the register files.
    Fp,
    /// Floating-point multiplication, fused with an addition or not.
    FpMul,
    /// Division and square root.
    FpDiv,
    /// Fences, control and status registers, environment.
    System,
    /// Instructions of the privileged manual, and those that a machine's hart executes by a unit of its
    /// own: illegal in NxP code.
    Privileged,
    /// The V extension: illegal where there are no vector registers.
    Vector,
}

impl Class {
    /// Computes an integer from integers, and does nothing else: with x0 as destination it is a
    /// hint.
    pub const fn computes(self) -> bool {
        matches!(
            self,
            Self::Int | Self::Address | Self::Bit | Self::Mul | Self::Div
        )
    }
}

/// The memory that an instruction accesses, in bytes. What accesses memory may fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No memory.
    None,
    /// It loads.
    Load(u8),
    /// It stores.
    Store(u8),
    /// Loads and stores: atomic memory operations.
    Update(u8),
}

/// A row of the table.
#[derive(Clone, Copy)]
struct Info {
    name: &'static str,
    mask: u32,
    bits: u32,
    format: Format,
    class: Class,
    access: Access,
}

impl Info {
    /// Of what is no instruction: no word is one.
    const fn pseudo(name: &'static str) -> Self {
        Self {
            name,
            mask: 0,
            bits: 0,
            format: Format::Bare,
            class: Class::Int,
            access: Access::None,
        }
    }
}

macro_rules! define_op {
    ($($op:ident, $name:literal, $mask:literal, $bits:literal, $format:ident, $class:ident,
       $access:ident $(($bytes:literal))?;)*) => {
        /// What the interpreter dispatches on: one variant per instruction of RV64GC, Zba, Zbb,
        /// Zbs, Zicond and the privileged manual, and four for all of V. Compressed instructions have been expanded, hints
        /// are `Nop`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Op {
            /// The cache slot is empty.
            Undecoded = 0,
            /// The slot behind the region's last one.
            End,
            /// No instruction, or one that is reserved.
            Illegal,
            /// A hint, or a fence that the host's order of accesses makes superfluous.
            Nop,
            $(#[doc = $name] $op,)*
        }

        impl Op {
            /// Every one of them, by its number.
            pub const ALL: [Self; Self::COUNT] =
                [Self::Undecoded, Self::End, Self::Illegal, Self::Nop, $(Self::$op,)*];
            /// How many there are.
            pub const COUNT: usize = 4 $(+ { let _ = Self::$op; 1 })*;
        }

        const INFO: [Info; Op::COUNT] = [
            Info::pseudo("(undecoded)"),
            Info::pseudo("(end)"),
            Info::pseudo("(illegal)"),
            Info::pseudo("nop"),
            $(Info {
                name: $name,
                mask: $mask,
                bits: $bits,
                format: Format::$format,
                class: Class::$class,
                access: Access::$access $(($bytes))?,
            },)*
        ];
    };
}

for_each_op!(define_op);

impl Op {
    /// Every one of them.
    pub fn all() -> impl Iterator<Item = Op> {
        Self::ALL.into_iter()
    }

    const fn info(self) -> &'static Info {
        static TABLE: [Info; Op::COUNT] = INFO;
        &TABLE[self as usize]
    }

    /// As assemblers write it.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Mask and bits: `w & mask == bits` for words of this instruction. For pseudo instructions
    /// both are 0.
    pub const fn encoding(self) -> (u32, u32) {
        (self.info().mask, self.info().bits)
    }

    /// The shape of its operands.
    pub const fn format(self) -> Format {
        self.info().format
    }

    /// What kind of work it is.
    pub const fn class(self) -> Class {
        self.info().class
    }

    /// The memory that it accesses.
    pub const fn access(self) -> Access {
        self.info().access
    }

    /// Does it access memory?
    pub const fn may_fault(self) -> bool {
        !matches!(self.access(), Access::None)
    }
}
