//! Statements. Every function that can be called by a statement is called from `main` at least
//! once.
use super::{Body, Feature, Features, is_head};
use crate::draw::Draw;
use crate::generated_program::{Id, Kind, Language, Program};
use crate::statement::{
    ATOMICS, AtomicOperation, Conversion, Expression, GLOBALS, LOCALS, Letter, Operator, STATES,
    Statement, THREAD_LOCALS, Via,
};
use crate::types::Scalar;

pub fn add(program: &mut Program, features: &Features, draw: &mut Draw) {
    let heads: Vec<Id> = program
        .functions
        .iter()
        .filter(|function| is_head(&function.kind))
        .map(|function| function.id)
        .collect();
    for index in 0..program.functions.len() {
        let body = body(program, &heads, index, features, draw);
        program.functions[index].body = body;
    }
    let here = Here {
        program,
        heads: &heads,
        features,
        parameters: 0,
    };
    let mut main: Body = Vec::new();
    for id in &heads {
        main.push(here.call(*id, draw));
        if draw.chance(30) {
            main.push(here.statement(1, draw));
        }
    }
    program.main = main;
}

fn body(
    program: &Program,
    heads: &[Id],
    index: usize,
    features: &Features,
    draw: &mut Draw,
) -> Body {
    let kind = &program.functions[index].kind;
    let parameters = match kind {
        Kind::Plain { parameters, .. } => parameters.len(),
        Kind::Compare { .. } => 2,
        _ => 1,
    };
    let here = Here {
        program,
        heads,
        features,
        parameters,
    };
    // What came in goes into the checksum, all of it.
    let mut body: Body = (0..parameters)
        .map(|k| Statement::Mix(Expression::Parameter(k)))
        .collect();
    let count = match kind {
        // They are called often.
        Kind::Compare { .. } => draw.below(2),
        _ => draw.range(1, 4),
    };
    body.extend((0..count).map(|_| here.statement(0, draw)));
    body
}

/// Where statements are drawn for.
struct Here<'a> {
    program: &'a Program,
    heads: &'a [Id],
    features: &'a Features,
    parameters: usize,
}

impl Here<'_> {
    fn statement(&self, depth: usize, draw: &mut Draw) -> Statement {
        let to = draw.below(LOCALS);
        if draw.chance(45) {
            let callee = draw.pick(self.heads);
            return self.call(callee, draw);
        }
        let value = self.expression(draw);
        let cxx = self.program.language == Language::Cxx;
        match draw.below(18) {
            0 | 1 => Statement::Mix(value),
            2 => Statement::Set(to, value),
            3 | 4 if depth < 2 => {
                let yes = self.some(depth, draw);
                let no = if draw.chance(50) {
                    self.some(depth, draw)
                } else {
                    Vec::new()
                };
                Statement::If(value, yes, no)
            }
            5 if depth < 2 => Statement::Loop(draw.range(2, 4), self.some(depth, draw)),
            6 if self.features.has(Feature::ThreadLocal) => {
                Statement::ThreadLocal(draw.below(THREAD_LOCALS), value)
            }
            7 if self.features.has(Feature::Atomic) => {
                let operation =
                    draw.pick(&[AtomicOperation::Add, AtomicOperation::CompareExchange]);
                Statement::Atomic(draw.below(ATOMICS), operation, value)
            }
            8 if self.features.has(Feature::Thread) => {
                Statement::Locked(draw.below(GLOBALS), value)
            }
            9 => Statement::Heap(draw.range(1, 40), value, to),
            10 if self.features.has(Feature::Varargs) => Statement::Print {
                callee: None,
                arguments: self.conversions(draw),
                to,
            },
            11 if self.features.has(Feature::Signal) => Statement::Guarded(value, to),
            12 => Statement::Errno(value, to),
            13 => Statement::Stack(value, to),
            // C++ forbids such jumps past what has a destructor, of any other table's labels too.
            14 if !cxx => Statement::Dispatch(value, to),
            15 if cxx => Statement::Static(value, to),
            16 if cxx && self.features.has(Feature::ThreadLocal) => Statement::Witness(value),
            _ => Statement::Global(draw.below(GLOBALS), value),
        }
    }

    fn some(&self, depth: usize, draw: &mut Draw) -> Body {
        (0..draw.range(1, 2))
            .map(|_| self.statement(depth + 1, draw))
            .collect()
    }

    /// A statement that calls this function, in whatever way its kind is called.
    fn call(&self, callee: Id, draw: &mut Draw) -> Statement {
        let to = draw.below(LOCALS);
        match &self.program.functions[callee].kind {
            Kind::Plain { parameters, .. } => Statement::Call {
                callee,
                via: draw.weighted(&[(60, Via::Name), (25, Via::Pointer), (15, Via::Table)]),
                arguments: parameters.iter().map(|_| self.expression(draw)).collect(),
                to,
            },
            Kind::Variadic { .. } => Statement::CallVariadic {
                callee,
                via: draw.weighted(&[(65, Via::Name), (25, Via::Pointer), (10, Via::Table)]),
                arguments: self.variadic(draw),
                to,
            },
            Kind::Print => Statement::Print {
                callee: Some(callee),
                arguments: self.conversions(draw),
                to,
            },
            Kind::Compare { .. } => Statement::Sort {
                compare: callee,
                count: draw.range(2, 12),
                search: draw.chance(50),
                seed: self.expression(draw),
                to,
            },
            Kind::Callback => match draw.below(10) {
                0 | 1 => Statement::Hook(callee),
                2 | 3 => Statement::RunHook(self.expression(draw), to),
                4 | 5 if self.features.has(Feature::Signal) => Statement::Raise {
                    callback: callee,
                    value: self.expression(draw),
                    to,
                },
                6 if self.features.has(Feature::Lambda) => Statement::Lambda {
                    callback: callee,
                    value: self.expression(draw),
                    to,
                },
                7 if self.features.has(Feature::Fork) => Statement::Fork {
                    callback: callee,
                    value: self.expression(draw),
                    to,
                },
                way => Statement::Apply {
                    apply: (way % 2 == 0).then(|| self.apply()).flatten(),
                    callback: callee,
                    value: self.expression(draw),
                    to,
                },
            },
            Kind::Apply { .. } => Statement::Apply {
                apply: Some(callee),
                callback: self.callback(draw).unwrap_or(callee),
                value: self.expression(draw),
                to,
            },
            Kind::Thread { exit } => Statement::Spawn {
                start: callee,
                threads: draw.range(1, 3),
                // `pthread_exit` would pass through the library's own clean-up.
                standard: !exit && self.features.has(Feature::Lambda) && draw.chance(50),
                value: self.expression(draw),
            },
            _ => Statement::Invoke {
                callee,
                pointer: draw.chance(30),
                value: self.expression(draw),
                to,
            },
        }
    }

    fn apply(&self) -> Option<Id> {
        let is = |kind: &Kind| matches!(kind, Kind::Apply { .. });
        let mut functions = self.program.functions.iter();
        functions.find(|f| is(&f.kind)).map(|f| f.id)
    }

    fn callback(&self, draw: &mut Draw) -> Option<Id> {
        let functions = self.program.functions.iter();
        let all: Vec<Id> = functions
            .filter(|f| f.kind == Kind::Callback)
            .map(|f| f.id)
            .collect();
        (!all.is_empty()).then(|| draw.pick(&all))
    }

    fn variadic(&self, draw: &mut Draw) -> Vec<(Letter, Expression)> {
        let aggregates: Vec<usize> = (0..self.program.aggregates.len().min(Letter::AGGREGATES))
            .filter(|&k| self.program.aggregates[k].can_be_variadic(&self.program.aggregates))
            .collect();
        let mut arguments: Vec<_> = (0..draw.range(0, 14))
            .map(|_| {
                let letter = match draw.below(20) {
                    0..=2 if !aggregates.is_empty() => Letter::Aggregate(draw.pick(&aggregates)),
                    3 | 4 => Letter::Text,
                    // `long double` and `__int128` less often: a call with them may be refused.
                    5 | 6 => Letter::Scalar(draw.pick(&Letter::SCALARS[5..]).1),
                    _ => Letter::Scalar(draw.pick(&Letter::SCALARS[..5]).1),
                };
                (letter, self.expression(draw))
            })
            .collect();
        // First, where they fill pairs of registers: clang 19 leaves one register out if it is the
        // only one that is left, and its `va_arg` then takes the next integer from there.
        arguments.sort_by_key(|(letter, _)| *letter != Letter::Scalar(Scalar::I128));
        arguments
    }

    fn conversions(&self, draw: &mut Draw) -> Vec<(Conversion, Expression)> {
        (0..draw.range(1, 9))
            .map(|_| {
                let mut conversion = draw.pick(&Conversion::ALL);
                if conversion == Conversion::LongDouble && draw.chance(80) {
                    conversion = Conversion::Double;
                }
                (conversion, self.expression(draw))
            })
            .collect()
    }

    fn expression(&self, draw: &mut Draw) -> Expression {
        self.nested(draw, 2)
    }

    fn nested(&self, draw: &mut Draw, depth: usize) -> Expression {
        if depth > 0 && draw.chance(45) {
            let operator = draw.pick(&[
                Operator::Add,
                Operator::Subtract,
                Operator::Multiply,
                Operator::Xor,
                Operator::And,
                Operator::Or,
                Operator::ShiftLeft,
                Operator::ShiftRight,
                Operator::Divide,
                Operator::Remainder,
                Operator::Less,
            ]);
            let left = self.nested(draw, depth - 1);
            let right = self.nested(draw, depth - 1);
            return Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        match draw.below(10) {
            0..=2 if self.parameters > 0 => Expression::Parameter(draw.below(self.parameters)),
            3..=5 => Expression::Local(draw.below(LOCALS)),
            6 | 7 => Expression::State(draw.below(STATES)),
            8 => Expression::Constant(draw.word()),
            _ => Expression::Constant(draw.below(300) as u64),
        }
    }
}
