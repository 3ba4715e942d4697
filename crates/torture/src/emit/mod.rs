//! Writes a program down as C or C++.
mod function_text;
mod labels;
mod prelude;
mod signal_text;
mod statement_text;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::generated_program::{Ending, Kind, Language, Program, Through};
use crate::statement::{ATOMICS, Conversion, GLOBALS, Letter, Statement, THREAD_LOCALS};
use crate::types::{Scalar, Type};

pub use signal_text::names;

/// A source file: its name and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

/// What of the prelude the program needs.
#[derive(Debug, Default)]
pub struct Used {
    pub scalars: BTreeSet<Scalar>,
    pub aggregates: BTreeSet<usize>,
    pub letters: Vec<Letter>,
    pub tracked: bool,
    pub sort: bool,
    pub exceptions: bool,
    pub classes: bool,
    pub globals: bool,
    pub thread_locals: bool,
    pub atomics: bool,
    pub locked: bool,
    /// A signal whose handler calls something.
    pub signals: bool,
    pub guarded: bool,
    pub timer: bool,
    pub fork: bool,
    pub functional: bool,
    pub standard_threads: bool,
    pub errno: bool,
    pub witness: bool,
}

impl Used {
    fn of(program: &Program) -> Self {
        let mut used = Self {
            timer: program.surroundings.timer,
            ..Self::default()
        };
        for function in &program.functions {
            match &function.kind {
                Kind::Plain { parameters, result } => {
                    for ty in parameters.iter().chain([result]) {
                        prelude::parts(*ty, program, &mut used);
                    }
                }
                Kind::Compare { .. } => used.sort = true,
                Kind::Try { .. } | Kind::Throw { .. } => used.exceptions = true,
                Kind::Virtual { .. } => used.classes = true,
                _ => {}
            }
            match function.kind.through() {
                Some(Through::Sort | Through::Search) => used.sort = true,
                Some(Through::Signal) => used.signals = true,
                Some(Through::Name | Through::Pointer) | None => {}
            }
        }
        program.each_statement(&mut |statement| match statement {
            Statement::CallVariadic { arguments, .. } => {
                for (letter, _) in arguments {
                    if !used.letters.contains(letter) {
                        used.letters.push(*letter);
                    }
                    match *letter {
                        Letter::Scalar(scalar) => {
                            prelude::parts(Type::Scalar(scalar), program, &mut used);
                        }
                        Letter::Aggregate(index) => {
                            prelude::parts(Type::Aggregate(index), program, &mut used);
                        }
                        Letter::Text => {}
                    }
                }
            }
            Statement::Print { arguments, .. } => {
                for (conversion, _) in arguments {
                    match conversion {
                        Conversion::Double => used.scalars.insert(Scalar::Double),
                        Conversion::LongDouble => used.scalars.insert(Scalar::LongDouble),
                        _ => false,
                    };
                }
            }
            Statement::Sort { .. } => used.sort = true,
            Statement::Raise { .. } => used.signals = true,
            Statement::Fork { .. } => used.fork = true,
            Statement::Lambda { .. } => used.functional = true,
            Statement::Guarded(..) => used.guarded = true,
            Statement::Errno(..) => used.errno = true,
            Statement::Witness(_) => used.witness = true,
            Statement::Spawn { standard, .. } => used.standard_threads |= standard,
            Statement::Global(..) => used.globals = true,
            Statement::ThreadLocal(..) => used.thread_locals = true,
            Statement::Atomic(..) => used.atomics = true,
            Statement::Locked(..) => used.locked = true,
            _ => {}
        });
        used
    }
}

/// The program's sources: one self-contained file, or a header and a file for each unit.
pub fn sources(program: &Program) -> Vec<SourceFile> {
    let used = Used::of(program);
    let suffix = match program.language {
        Language::C => "c",
        Language::Cxx => "cpp",
    };
    let mut shared = prelude::text(program, &used);
    shared.push_str(&declarations(program, &used));
    let mut units = vec![String::new(); program.units];
    units[0].push_str(&variables(&used));
    units[0].push_str(&signal_text::functions(program, &used));
    for function in &program.functions {
        let unit = function.unit.min(program.units - 1);
        units[unit].push_str(&function_text::definition(program, function, &used));
    }
    units[0].push_str(&main(program, &used));
    if program.units == 1 {
        return vec![SourceFile {
            name: format!("prog.{suffix}"),
            text: shared + &units[0],
        }];
    }
    let mut files: Vec<SourceFile> = units
        .into_iter()
        .enumerate()
        .map(|(k, text)| SourceFile {
            name: format!("unit{k}.{suffix}"),
            text: format!("#include \"prog.h\"\n{text}"),
        })
        .collect();
    files.push(SourceFile {
        name: "prog.h".into(),
        text: format!("#pragma once\n{shared}"),
    });
    files
}

/// Variables and functions, for all units.
fn declarations(program: &Program, used: &Used) -> String {
    let mut text = String::new();
    if used.globals {
        let _ = writeln!(text, "extern u64 globals[{GLOBALS}];");
    }
    if used.thread_locals {
        let _ = writeln!(text, "extern __thread u64 locals[{THREAD_LOCALS}];");
    }
    if used.atomics {
        let _ = writeln!(text, "extern u64 atomics[{ATOMICS}];");
    }
    if used.locked {
        let _ = writeln!(
            text,
            "extern u64 locked[{GLOBALS}];\nextern pthread_mutex_t lock;"
        );
    }
    for function in &program.functions {
        let _ = writeln!(text, "{};", function_text::declaration(program, function));
    }
    text
}

/// The variables, which are the first unit's.
fn variables(used: &Used) -> String {
    let mut text = String::new();
    if used.globals {
        let _ = writeln!(text, "u64 globals[{GLOBALS}] = {{11, 22, 33}};");
    }
    if used.thread_locals {
        let _ = writeln!(text, "__thread u64 locals[{THREAD_LOCALS}] = {{5, 6}};");
    }
    if used.atomics {
        let _ = writeln!(text, "u64 atomics[{ATOMICS}];");
    }
    if used.locked {
        let _ = writeln!(
            text,
            "u64 locked[{GLOBALS}];\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;"
        );
    }
    if used.tracked {
        text.push_str("u64 alive;\n");
    }
    if used.scalars.iter().any(|scalar| scalar.is_member()) {
        text.push_str("Widget widget;\n");
    }
    if used.witness {
        text.push_str("u64 witnessed;\nthread_local Witness witness;\n");
    }
    text
}

/// Every statement of `main` starts with fresh fuel, and prints the checksum: the first line that
/// differs says which it was.
fn main(program: &Program, used: &Used) -> String {
    let mut text = String::from(
        "int main(void) {\n  ctx root;\n  ctx *c = &root;\n  memset(c, 0, sizeof *c);\n",
    );
    let mut body = String::new();
    for (k, one) in program.main.iter().enumerate() {
        body.push_str("  c->fuel = 60;\n");
        statement_text::write(&mut body, program, one, &[], 1);
        let _ = writeln!(body, "  printf(\"{k} %016llx\\n\", c->sum);");
    }
    text.push_str(&statement_text::declare_locals(&body));
    text.push_str(&signal_text::install(program, used));
    text.push_str(&body);
    for (name, count, is_used) in [
        ("globals", GLOBALS, used.globals),
        ("locals", THREAD_LOCALS, used.thread_locals),
        ("atomics", ATOMICS, used.atomics),
        ("locked", GLOBALS, used.locked),
    ] {
        for k in (0..count).filter(|_| is_used) {
            let _ = writeln!(text, "  printf(\"{name} %016llx\\n\", {name}[{k}]);");
        }
    }
    if used.tracked {
        text.push_str("  printf(\"alive %llu\\n\", alive);\n");
    }
    if used.witness {
        text.push_str("  printf(\"witnessed %llx\\n\", witnessed);\n");
    }
    text.push_str(match program.ending {
        Ending::Return => "  return (int)(c->sum & 63);\n}\n",
        Ending::Exit => "  exit((int)(c->sum & 63));\n}\n",
        Ending::Abort => "  fflush(stdout);\n  abort();\n}\n",
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Features};
    use crate::generated_program::Surroundings;

    #[test]
    fn same_seed_same_text() {
        for seed in 1..40 {
            let text = || sources(&generate::program(seed, &Features::all()));
            assert_eq!(text(), text());
        }
    }

    #[test]
    fn only_what_is_used() {
        let program = Program {
            language: Language::C,
            aggregates: Vec::new(),
            functions: Vec::new(),
            main: Vec::new(),
            ending: Ending::Return,
            units: 1,
            surroundings: Surroundings::default(),
        };
        let text = &sources(&program)[0].text;
        for absent in ["item", "globals", "f64", "lock", "Guard"] {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
    }
}
