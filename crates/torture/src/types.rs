//! The types that cross: scalars of every class of the System V ABI, and structs and unions of
//! them.
//!
//! Every type has two operations in the generated program: `make_T(x)` makes a value of an integer,
//! `fold_T(v)` makes an integer of a value. Both are exact, so that the program's checksum is
//! defined.

/// Values that have a name in the prelude (`emit/prelude.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    I128,
    Float,
    Double,
    LongDouble,
    ComplexFloat,
    ComplexDouble,
    Enum,
    Pointer,
    /// Four `int`, 16 bytes.
    IntVector,
    /// Two `float`, 8 bytes.
    FloatVector,
    /// Two `double`, 16 bytes.
    DoubleVector,
    /// Two `short`, 4 bytes.
    ShortVector,
    /// `_Float16`
    Half,
    /// C++: a pointer to a data member.
    MemberData,
    /// C++: a pointer to a member function, of a class with two bases.
    MemberFunction,
}

impl Scalar {
    pub const ALL: [Self; 24] = [
        Self::Bool,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::I128,
        Self::Float,
        Self::Double,
        Self::LongDouble,
        Self::ComplexFloat,
        Self::ComplexDouble,
        Self::Enum,
        Self::Pointer,
        Self::IntVector,
        Self::FloatVector,
        Self::DoubleVector,
        Self::ShortVector,
        Self::Half,
        Self::MemberData,
        Self::MemberFunction,
    ];

    /// Whether it is there in C++ only.
    pub fn is_member(self) -> bool {
        matches!(self, Self::MemberData | Self::MemberFunction)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::I128 => "i128",
            Self::Float => "f32",
            Self::Double => "f64",
            Self::LongDouble => "f80",
            Self::ComplexFloat => "c32",
            Self::ComplexDouble => "c64",
            Self::Enum => "color",
            Self::Pointer => "ptr",
            Self::IntVector => "v16",
            Self::FloatVector => "v8",
            Self::DoubleVector => "v2d",
            Self::ShortVector => "v4",
            Self::Half => "f16",
            Self::MemberData => "mdp",
            Self::MemberFunction => "mfp",
        }
    }

    /// Width of the widest bit-field; `None` where there is none.
    pub fn bits(self) -> Option<usize> {
        Some(match self {
            Self::Bool => 1,
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 => 32,
            Self::I64 | Self::U64 => 64,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Scalar(Scalar),
    /// By its place in the program's list; refers to earlier ones only.
    Aggregate(usize),
    /// A C++ class with copy constructor and destructor.
    Tracked,
}

impl Type {
    pub fn name(self) -> String {
        match self {
            Self::Scalar(scalar) => scalar.name().into(),
            Self::Aggregate(index) => format!("S{index}"),
            Self::Tracked => "Tracked".into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub ty: Type,
    pub array: Option<usize>,
    /// Width of a bit-field.
    pub bits: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// A union's member that is written and read.
    pub union_of: Option<usize>,
    pub fields: Vec<Field>,
    pub packed: bool,
    pub align: Option<usize>,
}

impl Aggregate {
    /// Whether `va_arg` of it is sound in every compiler: not empty, not aligned beyond the stack.
    pub fn can_be_variadic(&self, all: &[Self]) -> bool {
        !self.fields.is_empty()
            && self.align.is_none_or(|align| align <= 16)
            && self.fields.iter().all(|field| match field.ty {
                Type::Aggregate(index) => all[index].can_be_variadic(all),
                _ => true,
            })
    }
}
