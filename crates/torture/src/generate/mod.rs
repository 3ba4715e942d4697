//! Draws programs. First every function gets a kind and a signature, then each gets a body, so that
//! any function may call any other; fuel and depth end what would not end.
mod body;
mod draw_functions;
mod draw_types;

use crate::draw::Draw;
use crate::generated_program::{Ending, Kind, Language, Program, Surroundings};
use crate::statement::Statement;

/// What a program may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// Functions with variable arguments.
    Varargs,
    /// Structs as arguments and results.
    StructByValue,
    /// C++ exceptions.
    Throw,
    /// `setjmp` and `longjmp`.
    Longjmp,
    /// Threads of the C library.
    Thread,
    /// Calls through pointers to functions.
    Callback,
    /// Virtual functions of C++.
    Virtual,
    /// Thread-local variables.
    ThreadLocal,
    /// Atomic operations.
    Atomic,
    /// Signal handlers.
    Signal,
    /// `fork`.
    Fork,
    /// Lambda expressions of C++.
    Lambda,
    /// `goto`, also through tables of labels.
    Goto,
}

impl Feature {
    /// All features.
    pub const ALL: [Self; 13] = [
        Self::Varargs,
        Self::StructByValue,
        Self::Throw,
        Self::Longjmp,
        Self::Thread,
        Self::Callback,
        Self::Virtual,
        Self::ThreadLocal,
        Self::Atomic,
        Self::Signal,
        Self::Fork,
        Self::Lambda,
        Self::Goto,
    ];

    /// The word that the command line has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Varargs => "varargs",
            Self::StructByValue => "struct",
            Self::Throw => "throw",
            Self::Longjmp => "longjmp",
            Self::Thread => "thread",
            Self::Callback => "callback",
            Self::Virtual => "virtual",
            Self::ThreadLocal => "tls",
            Self::Atomic => "atomic",
            Self::Signal => "signal",
            Self::Fork => "fork",
            Self::Lambda => "lambda",
            Self::Goto => "goto",
        }
    }
}

/// The features that programs may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features(Vec<Feature>);

impl Features {
    /// Every feature may occur.
    pub fn all() -> Self {
        Self(Feature::ALL.to_vec())
    }

    /// No other features may occur.
    pub fn only(features: &[Feature]) -> Self {
        Self(features.to_vec())
    }

    fn has(&self, feature: Feature) -> bool {
        self.0.contains(&feature)
    }
}

/// The program of a seed.
pub fn program(seed: u64, allowed: &Features) -> Program {
    let mut draw = Draw::new(seed, "program");
    let language = if draw.chance(50) {
        Language::Cxx
    } else {
        Language::C
    };
    // Each program has most features, not all: what hides behind another one is seen, too.
    let mut features: Vec<Feature> = allowed
        .0
        .iter()
        .copied()
        .filter(|_| draw.chance(65))
        .collect();
    if features.is_empty() {
        features.clone_from(&allowed.0);
    }
    if language == Language::C {
        features.retain(|f| !matches!(f, Feature::Throw | Feature::Virtual | Feature::Lambda));
    }
    let features = Features(features);
    let mut program = Program {
        language,
        aggregates: Vec::new(),
        functions: Vec::new(),
        main: Vec::new(),
        ending: draw.weighted(&[(80, Ending::Return), (17, Ending::Exit), (3, Ending::Abort)]),
        units: draw.weighted(&[(60, 1), (25, 2), (15, 3)]),
        surroundings: Surroundings {
            timer: features.has(Feature::Signal) && draw.chance(50),
            signal_stack: draw.chance(50),
            at_exit: features.has(Feature::Callback) && draw.chance(30),
        },
    };
    if features.has(Feature::StructByValue) {
        draw_types::add(&mut program, &mut draw);
    }
    draw_functions::add(&mut program, &features, &mut draw);
    body::add(&mut program, &features, &mut draw);
    program
}

/// Whether the program calls the function by a statement; others are led to by their chain.
fn is_head(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Jump { .. } | Kind::Throw { .. } | Kind::List { .. }
    )
}

/// A list of statements, for readers of this module's parts.
type Body = Vec<Statement>;

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the programs are C++, and every feature is in many of them.
    #[test]
    fn everything_is_drawn() {
        let programs: Vec<Program> = (0..300)
            .map(|seed| program(seed, &Features::all()))
            .collect();
        let cxx = programs
            .iter()
            .filter(|p| p.language == Language::Cxx)
            .count();
        assert!((120..180).contains(&cxx), "{cxx}");
        for tag in [
            "sv", "pl", "va", "vl", "pr", "cmp", "cb", "ap", "js", "jm", "ts", "tm", "th", "vt",
            "gt",
        ] {
            let with = programs
                .iter()
                .filter(|p| p.functions.iter().any(|f| f.kind.tag() == tag))
                .count();
            assert!(with > 40, "{tag}: {with}");
        }
    }

    /// A feature that is not allowed does not come.
    #[test]
    fn features_can_be_chosen() {
        for seed in 0..100 {
            let program = program(seed, &Features::only(&[Feature::Longjmp]));
            for function in &program.functions {
                let tag = function.kind.tag();
                assert!(["pl", "js", "jm"].contains(&tag), "{tag}");
            }
        }
    }

    /// Every callee exists and has the kind that its statement calls.
    #[test]
    fn calls_fit_their_callees() {
        for seed in 0..200 {
            let program = program(seed, &Features::all());
            program.each_statement(&mut |statement| {
                for id in statement.callees() {
                    assert!(program.function(id).is_some(), "seed {seed}: {statement:?}");
                }
                if let Statement::Call {
                    callee, arguments, ..
                } = statement
                {
                    let Some(Kind::Plain { parameters, .. }) =
                        program.function(*callee).map(|f| &f.kind)
                    else {
                        panic!("seed {seed}: {statement:?}");
                    };
                    assert_eq!(parameters.len(), arguments.len());
                }
            });
        }
    }
}
