//! A generated program as a tree of choices. Every part can be taken away, and what is left is
//! still a program without undefined behaviour: that is what makes failures small (`shrink/`).
//!
//! Every function gets a context `c`: checksum, fuel and depth, so that any call graph ends.
use crate::statement::Statement;
use crate::types::{Aggregate, Type};

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
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
    /// Given once, from [`Kind::tag`]: placements name it, whatever is taken away from the
    /// function.
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
    /// It may get a pointer to the list.
    List { copy: bool, pointer: bool },
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
        rethrow: Option<Rethrow>,
        through: Through,
    },
    /// A start routine; it ends by a return or by `pthread_exit`.
    Thread { exit: bool },
    /// A C++ class with virtual functions.
    Virtual { base: Base },
    /// `u64 f(ctx *, u64)`: goes from one statement of its body to another by the addresses of
    /// labels, in the order of the code, again and again.
    Goto {
        labels: Labels,
        /// The next label is chosen before the statement of the last one.
        early: bool,
        /// Numbers of statements, from 0 again behind the last.
        code: Vec<usize>,
        turns: usize,
    },
}

/// Where a function has the addresses of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    Table,
    /// Every other entry is null.
    Holes,
    /// Beside other fields.
    Fields,
    /// Distances.
    Short,
    Int,
    Long,
    /// In memory that statements write.
    Stack,
    Heap,
    /// In one of two tables.
    Either,
    /// In its program.
    Threaded,
    /// In its program, as offsets from one that stays in a register.
    Offsets,
}

impl Labels {
    pub const ALL: [Self; 11] = [
        Self::Table,
        Self::Holes,
        Self::Fields,
        Self::Short,
        Self::Int,
        Self::Long,
        Self::Stack,
        Self::Heap,
        Self::Either,
        Self::Threaded,
        Self::Offsets,
    ];
}

/// What a function does with an exception that comes up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rethrow {
    /// Catches it by its type and throws it again, or another one.
    Same,
    /// Keeps an `exception_ptr`.
    Pointer,
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

impl Kind {
    /// Begins the function's name, by which statistics know what a crossing was. `sv`: a struct, a
    /// union or a class is in the signature.
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
            Self::Goto { .. } => "gt",
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

    /// How it calls the next one of its chain, where there is one.
    pub fn through(&self) -> Option<Through> {
        let (Self::Jump { next, through, .. } | Self::Throw { next, through, .. }) = self else {
            return None;
        };
        next.map(|_| *through)
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
        let through = self.kind.through()?;
        (through != Through::Name).then(|| format!("{}h", self.name))
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
