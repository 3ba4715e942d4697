//! Statements and expressions of the functions of a generated program.
use crate::generated_program::Id;
use crate::types::Scalar;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Into the checksum.
    Mix(Expression),
    Set(usize, Expression),
    If(Expression, Vec<Statement>, Vec<Statement>),
    Loop(usize, Vec<Statement>),
    Call {
        callee: Id,
        via: Via,
        arguments: Vec<Expression>,
        to: usize,
    },
    /// Of a `Variadic` function.
    CallVariadic {
        callee: Id,
        via: Via,
        arguments: Vec<(Letter, Expression)>,
        to: usize,
    },
    /// Of a `Print` function, or of `snprintf`.
    Print {
        callee: Option<Id>,
        arguments: Vec<(Conversion, Expression)>,
        to: usize,
    },
    Sort {
        compare: Id,
        count: usize,
        search: bool,
        seed: Expression,
        to: usize,
    },
    /// Through an `Apply` function, or directly through a pointer.
    Apply {
        apply: Option<Id>,
        callback: Id,
        value: Expression,
        to: usize,
    },
    /// Stores a callback in the context.
    Hook(Id),
    /// Calls what is stored there.
    RunHook(Expression, usize),
    /// Of a `SetJump`, `Try` or `Virtual` function: `u64 (ctx *, u64)`.
    Invoke {
        callee: Id,
        /// Through one, also one to a member.
        pointer: bool,
        value: Expression,
        to: usize,
    },
    /// Threads that run a `Thread` function, and are joined.
    Spawn {
        start: Id,
        threads: usize,
        /// `std::thread`
        standard: bool,
        value: Expression,
    },
    /// A signal whose handler calls the callback.
    Raise {
        callback: Id,
        value: Expression,
        to: usize,
    },
    /// A child that calls the callback and exits with what comes of it.
    Fork {
        callback: Id,
        value: Expression,
        to: usize,
    },
    /// A `std::function` of a lambda that calls the callback.
    Lambda {
        callback: Id,
        value: Expression,
        to: usize,
    },
    /// Memory that a handler of SIGSEGV makes accessible.
    Guarded(Expression, usize),
    /// Sets `errno` in one function and reads it in others.
    Errno(Expression, usize),
    /// Of a size that is known at run time.
    Stack(Expression, usize),
    /// C: a jump through a table of labels.
    Dispatch(Expression, usize),
    /// C++: a variable that is initialised when control first comes there.
    Static(Expression, usize),
    /// C++: a thread's object with a destructor.
    Witness(Expression),
    ThreadLocal(usize, Expression),
    Atomic(usize, AtomicOperation, Expression),
    /// Under a mutex.
    Locked(usize, Expression),
    /// Variables of the first thread.
    Global(usize, Expression),
    /// `malloc`, fill, fold, `free`.
    Heap(usize, Expression, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Name,
    /// A pointer in a local variable that the compiler cannot see through.
    Pointer,
    /// A pointer in initialised static memory.
    Table,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOperation {
    Add,
    CompareExchange,
}

/// A variadic argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    Scalar(Scalar),
    Text,
    Aggregate(usize),
}

impl Letter {
    /// What is left of a type behind an ellipsis.
    pub const SCALARS: [(char, Scalar); 9] = [
        ('i', Scalar::I32),
        ('u', Scalar::U32),
        ('l', Scalar::I64),
        ('d', Scalar::Double),
        ('p', Scalar::Pointer),
        ('x', Scalar::LongDouble),
        ('w', Scalar::I128),
        ('v', Scalar::IntVector),
        ('c', Scalar::ComplexDouble),
    ];
    /// Aggregates that have a letter.
    pub const AGGREGATES: usize = 26;

    pub fn letter(self) -> char {
        match self {
            Self::Text => 's',
            Self::Aggregate(index) => (b'A' + (index % Self::AGGREGATES) as u8) as char,
            Self::Scalar(scalar) => Self::SCALARS
                .iter()
                .find(|(_, known)| *known == scalar)
                .map_or('u', |(letter, _)| *letter),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    Int,
    UnsignedLong,
    Char,
    Byte,
    Double,
    LongDouble,
    Text,
}

impl Conversion {
    pub const ALL: [Self; 7] = [
        Self::Int,
        Self::UnsignedLong,
        Self::Char,
        Self::Byte,
        Self::Double,
        Self::LongDouble,
        Self::Text,
    ];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    Constant(u64),
    Local(usize),
    Parameter(usize),
    /// Some bits of the checksum so far.
    State(usize),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Xor,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
    Divide,
    Remainder,
    Less,
}

pub const LOCALS: usize = 3;
pub const STATES: usize = 4;
pub const GLOBALS: usize = 3;
pub const THREAD_LOCALS: usize = 2;
pub const ATOMICS: usize = 2;

impl Statement {
    /// The functions that it names.
    pub fn callees(&self) -> Vec<Id> {
        match self {
            Self::Call { callee, .. }
            | Self::CallVariadic { callee, .. }
            | Self::Invoke { callee, .. } => vec![*callee],
            Self::Print { callee, .. } => callee.iter().copied().collect(),
            Self::Sort { compare, .. } => vec![*compare],
            Self::Apply {
                apply, callback, ..
            } => apply.iter().copied().chain([*callback]).collect(),
            Self::Hook(callback)
            | Self::Raise { callback, .. }
            | Self::Fork { callback, .. }
            | Self::Lambda { callback, .. } => vec![*callback],
            Self::Spawn { start, .. } => vec![*start],
            _ => Vec::new(),
        }
    }

    pub fn expressions_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Self::Mix(value)
            | Self::Set(_, value)
            | Self::If(value, ..)
            | Self::RunHook(value, _)
            | Self::ThreadLocal(_, value)
            | Self::Atomic(_, _, value)
            | Self::Locked(_, value)
            | Self::Global(_, value)
            | Self::Heap(_, value, _)
            | Self::Sort { seed: value, .. }
            | Self::Apply { value, .. }
            | Self::Invoke { value, .. }
            | Self::Raise { value, .. }
            | Self::Fork { value, .. }
            | Self::Lambda { value, .. }
            | Self::Guarded(value, _)
            | Self::Errno(value, _)
            | Self::Stack(value, _)
            | Self::Dispatch(value, _)
            | Self::Static(value, _)
            | Self::Witness(value)
            | Self::Spawn { value, .. } => vec![value],
            Self::Call { arguments, .. } => arguments.iter_mut().collect(),
            Self::CallVariadic { arguments, .. } => {
                arguments.iter_mut().map(|(_, value)| value).collect()
            }
            Self::Print { arguments, .. } => arguments.iter_mut().map(|(_, value)| value).collect(),
            Self::Loop(..) | Self::Hook(_) => Vec::new(),
        }
    }
}
