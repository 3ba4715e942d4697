//! A generated program as a tree of choices. Every part can be taken away, and what is left is still
//! a program without undefined behaviour: that is what makes failures small (`shrink/`).
//!
//! Every function gets a context `c`: checksum, fuel and depth, so that any call graph ends.
use crate::types::{Aggregate, Scalar, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

/// Stays with a function while others are taken away.
pub type Id = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub language: Language,
    pub aggregates: Vec<Aggregate>,
    pub functions: Vec<Function>,
    pub main: Vec<Statement>,
    pub ending: Ending,
    /// Translation units.
    pub units: usize,
    pub surroundings: Surroundings,
}

/// What goes on around the functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// A timer's signal comes every now and then; its handler keeps to itself.
    pub timer: bool,
    /// A function is registered with `atexit`.
    pub at_exit: bool,
    /// Handlers of the first thread run on a stack of their own.
    pub signal_stack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Return,
    Exit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub id: Id,
    /// Given once, from [`Kind::tag`]: placements name it, whatever is taken away from the function.
    pub name: String,
    pub kind: Kind,
    pub unit: usize,
    /// Only in programs of one unit.
    pub is_static: bool,
    /// `extern "C"` in a C++ program.
    pub c_linkage: bool,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any signature.
    Plain { parameters: Vec<Type>, result: Type },
    /// `u64 f(ctx *, const char *letters, ...)`: takes its arguments itself, or passes its list on.
    Variadic { forward: Option<Id> },
    /// `u64 f(ctx *, const char *letters, va_list)`; with a copy it walks the list twice.
    List { copy: bool },
    /// `u64 f(ctx *, const char *format, ...)`, which calls `vsnprintf`.
    Print,
    /// For `qsort` and `bsearch`.
    Compare { descending: bool },
    /// `u64 f(ctx *, u64)`, called through pointers.
    Callback,
    /// Calls the pointer that it is given.
    Apply { times: usize },
    /// Calls `setjmp`, then `next`, which does not return.
    SetJump { next: Option<Id>, mask: bool },
    /// Calls `next`, or `longjmp`. Never returns.
    Jump {
        next: Option<Id>,
        mask: bool,
        through: Through,
    },
    /// Calls `next` in a `try` with these clauses and a last one for everything.
    Try {
        next: Option<Id>,
        clauses: Vec<Thrown>,
    },
    /// Calls `next`, or throws. Never returns.
    Throw {
        next: Option<Id>,
        what: Thrown,
        guard: bool,
        rethrow: bool,
        through: Through,
    },
    /// A start routine; it ends by a return or by `pthread_exit`.
    Thread { exit: bool },
    /// A C++ class with virtual functions.
    Virtual { base: Base },
}

/// How a function of a chain calls the next one: what is between them is passed over as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    Name,
    Pointer,
    /// Of a comparator, called by `qsort`.
    Sort,
    Search,
    /// Of a signal's handler.
    Signal,
}

/// Where the class of a virtual function has its interface: what `this` and a covariant result are
/// adjusted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    First,
    Second,
    Virtual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thrown {
    Int,
    Base,
    /// Derived from `Base`: is caught by its clause, too.
    Derived,
    Text,
}

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
    /// Through an `Apply` function, or straight through a pointer.
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

impl Kind {
    /// Begins the function's name, which tells statistics what a crossing was. `sv`: a struct, a union
    /// or a class is in the signature.
    pub fn tag(&self) -> &'static str {
        let composite = |ty: &Type| !matches!(ty, Type::Scalar(_));
        match self {
            Self::Plain { parameters, result }
                if composite(result) || parameters.iter().any(composite) =>
            {
                "sv"
            }
            Self::Plain { .. } => "pl",
            Self::Variadic { .. } => "va",
            Self::List { .. } => "vl",
            Self::Print => "pr",
            Self::Compare { .. } => "cmp",
            Self::Callback => "cb",
            Self::Apply { .. } => "ap",
            Self::SetJump { .. } => "js",
            Self::Jump { .. } => "jm",
            Self::Try { .. } => "ts",
            Self::Throw { .. } => "tm",
            Self::Thread { .. } => "th",
            Self::Virtual { .. } => "vt",
        }
    }

    /// The function that this one leads to.
    pub fn next(&self) -> Option<Id> {
        match self {
            Self::SetJump { next, .. }
            | Self::Jump { next, .. }
            | Self::Try { next, .. }
            | Self::Throw { next, .. }
            | Self::Variadic { forward: next } => *next,
            _ => None,
        }
    }

    pub fn next_mut(&mut self) -> Option<&mut Option<Id>> {
        match self {
            Self::SetJump { next, .. }
            | Self::Jump { next, .. }
            | Self::Try { next, .. }
            | Self::Throw { next, .. }
            | Self::Variadic { forward: next } => Some(next),
            _ => None,
        }
    }
}

impl Function {
    /// How a placement file names it, in either language.
    pub fn placement_name(&self) -> String {
        match self.kind {
            Kind::Virtual { .. } => format!("{}::*", self.name),
            _ => self.name.clone(),
        }
    }

    /// The function between this one and the next of its chain, where there is one.
    pub fn helper(&self) -> Option<String> {
        match self.kind {
            Kind::Jump {
                next: Some(_),
                through,
                ..
            }
            | Kind::Throw {
                next: Some(_),
                through,
                ..
            } if through != Through::Name => Some(format!("{}h", self.name)),
            _ => None,
        }
    }
}

impl Program {
    pub fn function(&self, id: Id) -> Option<&Function> {
        self.functions.iter().find(|function| function.id == id)
    }

    /// All statements lists: of `main`, then of the functions.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Vec<Statement>> {
        std::iter::once(&mut self.main)
            .chain(self.functions.iter_mut().map(|function| &mut function.body))
    }

    pub fn bodies(&self) -> impl Iterator<Item = &Vec<Statement>> {
        std::iter::once(&self.main).chain(self.functions.iter().map(|function| &function.body))
    }

    /// Calls `visit` for every statement, also the inner ones.
    pub fn each_statement<'a>(&'a self, visit: &mut dyn FnMut(&'a Statement)) {
        for body in self.bodies() {
            each(body, visit);
        }
    }

    pub fn statement_count(&self) -> usize {
        let mut count = 0;
        self.each_statement(&mut |_| count += 1);
        count
    }
}

fn each<'a>(body: &'a [Statement], visit: &mut dyn FnMut(&'a Statement)) {
    for statement in body {
        visit(statement);
        match statement {
            Statement::If(_, yes, no) => {
                each(yes, visit);
                each(no, visit);
            }
            Statement::Loop(_, inner) => each(inner, visit),
            _ => {}
        }
    }
}

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
