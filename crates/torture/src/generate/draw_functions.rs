//! Which functions a program has, and what their signatures are.
use super::{Feature, Features, draw_types};
use crate::draw::Draw;
use crate::generated_program::{
    Base, Function, Kind, Labels, Language, Program, Rethrow, Through, Thrown,
};
use crate::types::{Scalar, Type};

pub fn add(program: &mut Program, features: &Features, draw: &mut Draw) {
    for _ in 0..draw.range(3, 7) {
        let kind = plain(program, features, draw);
        push(program, kind, draw);
    }
    if features.has(Feature::Varargs) {
        varargs(program, draw);
    }
    if features.has(Feature::Callback) {
        for _ in 0..draw.range(1, 2) {
            let descending = draw.chance(50);
            push(program, Kind::Compare { descending }, draw);
            push(program, Kind::Callback, draw);
        }
        let times = draw.range(1, 3);
        push(program, Kind::Apply { times }, draw);
    }
    if features.has(Feature::Longjmp) {
        for _ in 0..draw.range(1, 2) {
            jumps(program, features, draw);
        }
    }
    if features.has(Feature::Throw) {
        for _ in 0..draw.range(1, 2) {
            throws(program, draw);
        }
    }
    if features.has(Feature::Thread) {
        let exit = draw.chance(30);
        push(program, Kind::Thread { exit }, draw);
    }
    if features.has(Feature::Virtual) {
        for _ in 0..draw.range(1, 2) {
            let base = draw.weighted(&[(30, Base::First), (45, Base::Second), (25, Base::Virtual)]);
            push(program, Kind::Virtual { base }, draw);
        }
    }
    if features.has(Feature::Goto) {
        for _ in 0..draw.range(1, 2) {
            let kind = Kind::Goto {
                labels: draw.pick(&Labels::ALL),
                early: draw.chance(30),
                code: (0..draw.range(1, 8)).map(|_| draw.below(60)).collect(),
                // Some get a translation of their own while they run.
                turns: draw.range(2, 130),
            };
            push(program, kind, draw);
        }
    }
}

fn push(program: &mut Program, kind: Kind, draw: &mut Draw) -> usize {
    let id = program.functions.len();
    let is_class = matches!(kind, Kind::Virtual { .. });
    let is_static = program.units == 1 && !is_class && draw.chance(30);
    program.functions.push(Function {
        id,
        name: format!("{}{id}", kind.tag()),
        unit: draw.below(program.units),
        is_static,
        c_linkage: !is_class && draw.chance(25),
        kind,
        body: Vec::new(),
    });
    id
}

fn plain(program: &Program, features: &Features, draw: &mut Draw) -> Kind {
    let count = draw.weighted(&[
        (5, 0),
        (15, 1),
        (25, 2),
        (20, 3),
        (10, 4),
        (8, 6),
        (8, 8),
        (5, 11),
        (4, 16),
    ]);
    Kind::Plain {
        parameters: (0..count).map(|_| ty(program, features, draw)).collect(),
        result: ty(program, features, draw),
    }
}

fn ty(program: &Program, features: &Features, draw: &mut Draw) -> Type {
    if !program.aggregates.is_empty() && draw.chance(35) {
        return Type::Aggregate(draw.below(program.aggregates.len()));
    }
    let classes = program.language == Language::Cxx && features.has(Feature::StructByValue);
    if classes && draw.chance(6) {
        return Type::Tracked;
    }
    Type::Scalar(match draw.chance(20) {
        true => Scalar::U64,
        false => draw_types::scalar(program.language, draw),
    })
}

/// Functions that take their arguments, and such that pass their list on.
fn varargs(program: &mut Program, draw: &mut Draw) {
    push(program, Kind::Variadic { forward: None }, draw);
    if draw.chance(70) {
        let copy = draw.chance(40);
        let pointer = draw.chance(40);
        let list = push(program, Kind::List { copy, pointer }, draw);
        let forward = Some(list);
        push(program, Kind::Variadic { forward }, draw);
    }
    if draw.chance(60) {
        push(program, Kind::Print, draw);
    }
}

/// A chain, from the jump back to `setjmp`.
fn jumps(program: &mut Program, features: &Features, draw: &mut Draw) {
    let mask = draw.chance(30);
    let mut next = None;
    for _ in 0..draw.range(1, 4) {
        let through = match through(draw) {
            Through::Sort if features.has(Feature::Signal) && draw.chance(40) => Through::Signal,
            other => other,
        };
        let kind = Kind::Jump {
            next,
            mask,
            through,
        };
        next = Some(push(program, kind, draw));
    }
    push(program, Kind::SetJump { next, mask }, draw);
}

fn through(draw: &mut Draw) -> Through {
    draw.weighted(&[
        (55, Through::Name),
        (10, Through::Pointer),
        (25, Through::Sort),
        (10, Through::Search),
    ])
}

/// A chain, from the `throw` back to the `try`.
fn throws(program: &mut Program, draw: &mut Draw) {
    let all = [Thrown::Int, Thrown::Base, Thrown::Derived, Thrown::Text];
    let mut next = None;
    for _ in 0..draw.range(1, 4) {
        let kind = Kind::Throw {
            next,
            what: draw.pick(&all),
            guard: draw.chance(60),
            rethrow: (next.is_some() && draw.chance(35))
                .then(|| draw.pick(&[Rethrow::Same, Rethrow::Pointer])),
            through: through(draw),
        };
        next = Some(push(program, kind, draw));
    }
    let mut clauses: Vec<Thrown> = Vec::new();
    for _ in 0..draw.range(0, 3) {
        let clause = draw.pick(&all);
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    push(program, Kind::Try { next, clauses }, draw);
}
