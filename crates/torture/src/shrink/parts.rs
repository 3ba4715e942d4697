//! Single changes of a program, by position.
use super::Step;
use crate::generated_program::{Base, Id, Kind, Labels, Program, Through};
use crate::statement::{Expression, Statement};
use crate::types::{Scalar, Type};

const U64: Type = Type::Scalar(Scalar::U64);

/// Without `chunk` functions, and without the statements that call them. A chain is closed over
/// what was taken out of it.
pub fn drop_functions(program: &Program, at: usize, chunk: usize) -> Step<Program> {
    let start = at * chunk;
    let count = program.functions.len();
    if start >= count {
        return Step::End;
    }
    let mut simpler = program.clone();
    let gone: Vec<_> = simpler
        .functions
        .drain(start..count.min(start + chunk))
        .collect();
    let is_gone = |id: Id| gone.iter().find(|function| function.id == id);
    for function in &mut simpler.functions {
        if let Some(next) = function.kind.next_mut() {
            while let Some(function) = next.and_then(is_gone) {
                *next = function.kind.next();
            }
        }
    }
    for body in simpler.bodies_mut() {
        drop_calls(body, &|id| is_gone(id).is_some());
    }
    Step::Try(simpler)
}

fn drop_calls(body: &mut Vec<Statement>, is_gone: &dyn Fn(Id) -> bool) {
    body.retain_mut(|statement| {
        if let Statement::If(_, yes, no) = statement {
            drop_calls(yes, is_gone);
            drop_calls(no, is_gone);
        }
        if let Statement::Loop(_, inner) = statement {
            drop_calls(inner, is_gone);
        }
        !statement.callees().into_iter().any(is_gone)
    });
}

/// Changes the `at`th statement, inner ones counted too; the edit says whether it changed anything.
pub fn edit_statement(
    program: &Program,
    at: usize,
    edit: impl FnOnce(&mut Vec<Statement>, usize) -> bool,
) -> Step<Program> {
    let mut simpler = program.clone();
    let mut left = at;
    let changed = simpler
        .bodies_mut()
        .find_map(|body| nth(body, &mut left))
        .map(|(list, index)| edit(list, index));
    step(changed, simpler)
}

fn step(changed: Option<bool>, simpler: Program) -> Step<Program> {
    match changed {
        None => Step::End,
        Some(false) => Step::Same,
        Some(true) => Step::Try(simpler),
    }
}

fn nth<'a>(
    body: &'a mut Vec<Statement>,
    left: &mut usize,
) -> Option<(&'a mut Vec<Statement>, usize)> {
    let found = (0..body.len()).find_map(|k| {
        if *left == 0 {
            return Some((k, None));
        }
        *left -= 1;
        let inner: Vec<usize> = match &body[k] {
            Statement::If(_, yes, no) => vec![size(yes), size(no)],
            Statement::Loop(_, inner) => vec![size(inner)],
            _ => Vec::new(),
        };
        for (which, count) in inner.into_iter().enumerate() {
            if *left < count {
                return Some((k, Some(which)));
            }
            *left -= count;
        }
        None
    })?;
    match found {
        (k, None) => Some((body, k)),
        (k, Some(which)) => match &mut body[k] {
            Statement::If(_, yes, no) => nth(if which == 0 { yes } else { no }, left),
            Statement::Loop(_, inner) => nth(inner, left),
            _ => None,
        },
    }
}

/// Statements of a list, inner ones too.
fn size(body: &[Statement]) -> usize {
    body.iter().fold(0, |sum, statement| {
        sum + 1
            + match statement {
                Statement::If(_, yes, no) => size(yes) + size(no),
                Statement::Loop(_, inner) => size(inner),
                _ => 0,
            }
    })
}

/// Changes the `at`th expression of the program.
pub fn edit_expression(
    program: &Program,
    at: usize,
    edit: impl FnOnce(&mut Expression) -> bool,
) -> Step<Program> {
    let mut simpler = program.clone();
    let (mut left, mut edit, mut changed) = (at, Some(edit), None);
    for body in simpler.bodies_mut() {
        each_mut(body, &mut |statement| {
            let mut all = statement.expressions_mut();
            if left >= all.len() {
                left -= all.len();
            } else if let Some(edit) = edit.take() {
                changed = Some(edit(all[left]));
            }
        });
        if changed.is_some() {
            break;
        }
    }
    step(changed, simpler)
}

/// Without a function's parameter, and the argument of every call.
pub fn drop_parameter(program: &Program, at: usize) -> Step<Program> {
    let Some((index, parameter)) = slot(program, at, 0) else {
        return Step::End;
    };
    let mut simpler = program.clone();
    let function = &mut simpler.functions[index];
    let id = function.id;
    if let Kind::Plain { parameters, .. } = &mut function.kind {
        parameters.remove(parameter);
    }
    each_mut(&mut function.body, &mut |statement| {
        for expression in statement.expressions_mut() {
            replace_parameter(expression, parameter);
        }
    });
    for body in simpler.bodies_mut() {
        each_mut(body, &mut |statement| {
            if let Statement::Call {
                callee, arguments, ..
            } = statement
                && *callee == id
            {
                arguments.remove(parameter);
            }
        });
    }
    Step::Try(simpler)
}

fn replace_parameter(expression: &mut Expression, gone: usize) {
    match expression {
        Expression::Parameter(k) if *k == gone => *expression = Expression::Constant(1),
        Expression::Parameter(k) if *k > gone => *k -= 1,
        Expression::Binary(_, left, right) => {
            replace_parameter(left, gone);
            replace_parameter(right, gone);
        }
        _ => {}
    }
}

fn each_mut(body: &mut [Statement], visit: &mut dyn FnMut(&mut Statement)) {
    for statement in body {
        visit(statement);
        match statement {
            Statement::If(_, yes, no) => {
                each_mut(yes, visit);
                each_mut(no, visit);
            }
            Statement::Loop(_, inner) => each_mut(inner, visit),
            _ => {}
        }
    }
}

/// The function and the place in its signature that a position means; `extra` places follow the
/// parameters.
fn slot(program: &Program, at: usize, extra: usize) -> Option<(usize, usize)> {
    let mut left = at;
    for (index, function) in program.functions.iter().enumerate() {
        if let Kind::Plain { parameters, .. } = &function.kind {
            let places = parameters.len() + extra;
            if left < places {
                return Some((index, left));
            }
            left -= places;
        }
    }
    None
}

/// An integer in the place of a parameter or result of any other type.
pub fn plainer_type(program: &Program, at: usize) -> Step<Program> {
    let Some((index, place)) = slot(program, at, 1) else {
        return Step::End;
    };
    let mut simpler = program.clone();
    if let Kind::Plain { parameters, result } = &mut simpler.functions[index].kind {
        let ty = parameters.get_mut(place).unwrap_or(result);
        if *ty == U64 {
            return Step::Same;
        }
        *ty = U64;
    }
    Step::Try(simpler)
}

/// Without a member of a struct or union; the last one stays.
pub fn drop_field(program: &Program, at: usize) -> Step<Program> {
    let mut left = at;
    for (index, aggregate) in program.aggregates.iter().enumerate() {
        if left >= aggregate.fields.len() {
            left -= aggregate.fields.len();
            continue;
        }
        if aggregate.fields.len() == 1 {
            return Step::Same;
        }
        let mut simpler = program.clone();
        let aggregate = &mut simpler.aggregates[index];
        aggregate.fields.remove(left);
        if let Some(member) = &mut aggregate.union_of
            && *member >= left
        {
            *member = member.saturating_sub(1);
        }
        return Step::Try(simpler);
    }
    Step::End
}

/// Attributes, bit-fields, arrays, then the types of the members.
pub fn plainer_aggregate(program: &Program, at: usize) -> Step<Program> {
    const CHANGES: usize = 6;
    let Some(aggregate) = program.aggregates.get(at / CHANGES) else {
        return Step::End;
    };
    let mut simpler = aggregate.clone();
    match at % CHANGES {
        0 => simpler.packed = false,
        1 => simpler.align = None,
        2 => simpler.union_of = None,
        3 => simpler.fields.iter_mut().for_each(|f| f.bits = None),
        4 => simpler.fields.iter_mut().for_each(|f| f.array = None),
        _ => {
            let inner = |ty: &Type| matches!(ty, Type::Aggregate(_));
            let mut fields = simpler.fields.iter_mut();
            if let Some(field) = fields.find(|field| inner(&field.ty)) {
                field.ty = U64;
            }
        }
    }
    if simpler == *aggregate {
        return Step::Same;
    }
    let mut whole = program.clone();
    whole.aggregates[at / CHANGES] = simpler;
    Step::Try(whole)
}

/// What is special about a function of its kind, one thing at a time.
pub fn plainer_function(program: &Program, at: usize) -> Step<Program> {
    const CHANGES: usize = 6;
    let Some(function) = program.functions.get(at / CHANGES) else {
        return Step::End;
    };
    let mut simpler = function.clone();
    let change = at % CHANGES;
    match (&mut simpler.kind, change) {
        (_, 0) => simpler.is_static = false,
        (_, 1) => simpler.c_linkage = false,
        (Kind::Variadic { forward }, 2) => *forward = None,
        (Kind::List { copy, .. }, 2) => *copy = false,
        (Kind::List { pointer, .. }, 3) => *pointer = false,
        (Kind::Compare { descending }, 2) => *descending = false,
        (Kind::Apply { times }, 2) => *times = 1,
        (Kind::Try { clauses, .. }, 2) => clauses.clear(),
        (Kind::Throw { guard, .. }, 2) => *guard = false,
        (Kind::Throw { rethrow, .. }, 3) => *rethrow = None,
        (Kind::Thread { exit }, 2) => *exit = false,
        (Kind::Virtual { base }, 2) => *base = Base::First,
        (Kind::Goto { labels, .. }, 2) => *labels = Labels::Table,
        (Kind::Goto { early, .. }, 3) => *early = false,
        (Kind::Goto { code, .. }, 4) if code.len() > 1 => code.truncate(code.len() / 2),
        (Kind::Goto { turns, .. }, 5) => *turns = turns.div_ceil(2),
        (Kind::Jump { through, .. } | Kind::Throw { through, .. }, 4) => *through = Through::Name,
        _ => return Step::Same,
    }
    if simpler == *function {
        return Step::Same;
    }
    let mut whole = program.clone();
    whole.functions[at / CHANGES] = simpler;
    Step::Try(whole)
}
