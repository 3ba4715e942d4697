//! The passes over a program. Each takes away one kind of choice, position by position; what it
//! leaves is a program that the emitter accepts.
use super::parts::{
    drop_field, drop_functions, drop_parameter, edit_expression, edit_statement, plainer_aggregate,
    plainer_function, plainer_type,
};
use super::{Step, sweep};
use crate::generated_program::{Ending, Program};
use crate::statement::{Expression, Statement, Via};

/// Whether anything could be taken away.
pub fn shrink(program: &mut Program, fails: &mut dyn FnMut(&Program) -> bool) -> bool {
    let mut progress = false;
    let mut chunk = program.functions.len().max(1);
    loop {
        progress |= sweep(program, |p, at| drop_functions(p, at, chunk), fails);
        if chunk == 1 {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
    let mut chunk = program.main.len().max(1);
    loop {
        progress |= sweep(program, |p, at| drop_from_main(p, at, chunk), fails);
        if chunk == 1 {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
    let passes: [fn(&Program, usize) -> Step<Program>; 11] = [
        drop_statement,
        unwrap_block,
        drop_functions_singly,
        drop_parameter,
        drop_argument,
        plainer_type,
        drop_field,
        plainer_aggregate,
        plainer_function,
        plainer_statement,
        plainer_expression,
    ];
    for pass in passes {
        progress |= sweep(program, pass, fails);
    }
    progress | sweep(program, plainer_whole, fails)
}

fn drop_functions_singly(program: &Program, at: usize) -> Step<Program> {
    drop_functions(program, at, 1)
}

fn drop_from_main(program: &Program, at: usize, chunk: usize) -> Step<Program> {
    match super::without(&program.main, at, chunk) {
        Step::Try(main) => Step::Try(Program {
            main,
            ..program.clone()
        }),
        _ => Step::End,
    }
}

fn drop_statement(program: &Program, at: usize) -> Step<Program> {
    edit_statement(program, at, |body, k| {
        body.remove(k);
        true
    })
}

/// What is inside of an `if` or a loop takes its place.
fn unwrap_block(program: &Program, at: usize) -> Step<Program> {
    edit_statement(program, at, |body, k| {
        let inner = match &mut body[k] {
            Statement::If(_, yes, no) => {
                yes.append(no);
                std::mem::take(yes)
            }
            Statement::Loop(_, inner) => std::mem::take(inner),
            _ => return false,
        };
        body.splice(k..=k, inner);
        true
    })
}

/// An argument of a variadic call.
fn drop_argument(program: &Program, at: usize) -> Step<Program> {
    /// Positions of a statement; no call is drawn with more arguments.
    const PLACES: usize = 16;
    edit_statement(program, at / PLACES, |body, k| {
        let argument = at % PLACES;
        match &mut body[k] {
            Statement::CallVariadic { arguments, .. } if argument < arguments.len() => {
                arguments.remove(argument);
                true
            }
            Statement::Print { arguments, .. } if argument < arguments.len() => {
                arguments.remove(argument);
                true
            }
            _ => false,
        }
    })
}

fn plainer_statement(program: &Program, at: usize) -> Step<Program> {
    edit_statement(program, at, |body, k| {
        let before = body[k].clone();
        match &mut body[k] {
            Statement::Call { via, to, .. } | Statement::CallVariadic { via, to, .. } => {
                *via = Via::Name;
                *to = 0;
            }
            Statement::Sort {
                count, search, to, ..
            } => {
                *count = 2;
                *search = false;
                *to = 0;
            }
            Statement::Apply { apply, to, .. } => {
                *apply = None;
                *to = 0;
            }
            Statement::Spawn {
                threads, standard, ..
            } => {
                *threads = 1;
                *standard = false;
            }
            Statement::Loop(count, _) => *count = 2,
            Statement::Heap(count, _, to) => {
                *count = 1;
                *to = 0;
            }
            Statement::Invoke { pointer, to, .. } => {
                *pointer = false;
                *to = 0;
            }
            Statement::Print { to, .. }
            | Statement::Raise { to, .. }
            | Statement::Fork { to, .. }
            | Statement::Lambda { to, .. }
            | Statement::Guarded(_, to)
            | Statement::Errno(_, to)
            | Statement::Stack(_, to)
            | Statement::Dispatch(_, to)
            | Statement::Static(_, to)
            | Statement::RunHook(_, to)
            | Statement::Set(to, _) => *to = 0,
            _ => {}
        }
        body[k] != before
    })
}

/// First a constant, then, where that does not do, an operand.
fn plainer_expression(program: &Program, at: usize) -> Step<Program> {
    edit_expression(program, at / 2, |expression| {
        let simpler = match expression {
            Expression::Constant(_) => return false,
            Expression::Binary(_, left, _) if at % 2 == 1 => (**left).clone(),
            _ if at % 2 == 1 => return false,
            _ => Expression::Constant(1),
        };
        *expression = simpler;
        true
    })
}

fn plainer_whole(program: &Program, at: usize) -> Step<Program> {
    let mut simpler = program.clone();
    match at {
        0 => simpler.ending = Ending::Return,
        1 => {
            simpler.units = 1;
            simpler.functions.iter_mut().for_each(|f| f.unit = 0);
        }
        2 => simpler
            .functions
            .iter_mut()
            .for_each(|f| f.unit = f.unit.min(1)),
        3 => simpler.units = simpler.units.min(2),
        4 => simpler.surroundings.timer = false,
        5 => simpler.surroundings.at_exit = false,
        6 => simpler.surroundings.signal_stack = false,
        _ => return Step::End,
    }
    if simpler == *program {
        Step::Same
    } else {
        Step::Try(simpler)
    }
}
