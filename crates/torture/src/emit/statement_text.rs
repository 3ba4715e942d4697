//! Statements and expressions.
use std::fmt::Write as _;

use crate::generated_program::{Kind, Program};
use crate::statement::{
    AtomicOperation, Conversion, Expression, LOCALS, Letter, Operator, Statement, Via,
};
use crate::types::Type;

use super::signal_text;

/// A function's parameters as integers.
pub type Parameters = [String];

/// The local variables that the text of a body uses.
pub fn declare_locals(body: &str) -> String {
    (0..LOCALS)
        .filter(|k| body.contains(&format!("n{k}")))
        .fold(String::new(), |mut text, k| {
            let _ = writeln!(text, "  u64 n{k} = {};", k + 1);
            text
        })
}

pub fn write_all(
    text: &mut String,
    program: &Program,
    body: &[Statement],
    parameters: &Parameters,
    depth: usize,
) {
    for statement in body {
        write(text, program, statement, parameters, depth);
    }
}

/// A statement whose callee was taken away is left out.
pub fn write(
    text: &mut String,
    program: &Program,
    statement: &Statement,
    parameters: &Parameters,
    depth: usize,
) {
    if statement
        .callees()
        .iter()
        .any(|id| program.function(*id).is_none())
    {
        return;
    }
    let value = |e: &Expression| expression(e, parameters);
    let name = |id: usize| {
        program
            .function(id)
            .map_or_else(String::new, |function| function.name.clone())
    };
    let line = match statement {
        Statement::Mix(e) => format!("c->sum = MIX(c->sum, {});", value(e)),
        Statement::Set(to, e) => format!("n{to} = {};", value(e)),
        Statement::If(e, yes, no) => {
            indent(text, depth);
            let _ = writeln!(text, "if ({} & 1) {{", value(e));
            write_all(text, program, yes, parameters, depth + 1);
            if !no.is_empty() {
                indent(text, depth);
                text.push_str("} else {\n");
                write_all(text, program, no, parameters, depth + 1);
            }
            "}".into()
        }
        Statement::Loop(count, inner) => {
            indent(text, depth);
            let _ = writeln!(text, "for (int i = 0; i < {count}; i++) {{");
            write_all(text, program, inner, parameters, depth + 1);
            "}".into()
        }
        Statement::Call {
            callee,
            via,
            arguments,
            to,
        } => call(program, *callee, *via, arguments, *to, parameters),
        Statement::CallVariadic {
            callee,
            via,
            arguments,
            to,
        } => {
            let callee = name(*callee);
            let ty = "(ctx *, const char *, ...)";
            let (before, called) = match via {
                Via::Name => (String::new(), callee.as_str()),
                Via::Pointer => (format!("u64 (*volatile f){ty} = {callee}; "), "f"),
                Via::Table => (format!("static u64 (*f){ty} = {callee}; "), "f"),
            };
            let letters: String = arguments
                .iter()
                .map(|(letter, _)| letter.letter())
                .collect();
            let mut line = format!("{{ {before}n{to} = {called}(c, \"{letters}\"");
            for (letter, e) in arguments {
                let _ = write!(line, ", {}", variadic(*letter, &value(e)));
            }
            line + "); }"
        }
        Statement::Print {
            callee,
            arguments,
            to,
        } => print(callee.map(name), arguments, *to, parameters),
        Statement::Sort {
            compare,
            count,
            search,
            seed,
            to,
        } => {
            let compare = name(*compare);
            let found = if *search {
                format!(
                    " item *hit = (item *)bsearch(&t[{}], t, {count}, sizeof t[0], {compare}); \
                     n{to} = MIX(n{to}, hit ? hit - t : 99);",
                    count / 2
                )
            } else {
                String::new()
            };
            format!(
                "{{ u64 seed = {}; item t[{count}]; for (unsigned i = 0; i < {count}; i++) {{ \
                 t[i].key = MIX(seed, i) >> 60; t[i].index = i; t[i].c = c; }} \
                 qsort(t, {count}, sizeof t[0], {compare}); n{to} = 0; \
                 for (unsigned i = 0; i < {count}; i++) n{to} = MIX(n{to}, t[i].index);{found} }}",
                value(seed)
            )
        }
        Statement::Apply {
            apply,
            callback,
            value: e,
            to,
        } => match apply {
            Some(apply) => format!(
                "n{to} = {}(c, {}, {});",
                name(*apply),
                name(*callback),
                value(e)
            ),
            None => format!(
                "{{ hook *volatile f = {}; n{to} = f(c, {}); }}",
                name(*callback),
                value(e)
            ),
        },
        Statement::Hook(callback) => format!("c->stored = {};", name(*callback)),
        Statement::RunHook(e, to) => {
            format!("if (c->stored) n{to} = c->stored(c, {});", value(e))
        }
        Statement::Invoke {
            callee,
            pointer,
            value: e,
            to,
        } => {
            let function = program.function(*callee).map(|function| &function.kind);
            let callee = name(*callee);
            match function {
                Some(Kind::Virtual { .. }) => format!(
                    "{{ {callee} object; Runner *volatile runner = &object; \
                     {}(c, {}), object.state); }}",
                    if *pointer {
                        format!(
                            "u64 (Runner::*volatile m)(ctx *, u64) = &Runner::run; \
                             n{to} = MIX((runner->self()->*m)"
                        )
                    } else {
                        format!("n{to} = MIX(runner->self()->run")
                    },
                    value(e)
                ),
                _ if *pointer => {
                    format!(
                        "{{ hook *volatile f = {callee}; n{to} = f(c, {}); }}",
                        value(e)
                    )
                }
                _ => format!("n{to} = {callee}(c, {});", value(e)),
            }
        }
        Statement::Spawn {
            start,
            threads,
            standard,
            value: e,
        } => {
            let start = name(*start);
            let (ty, create, join) = if *standard {
                (
                    "std::thread",
                    format!("id[i] = std::thread([&t, i] {{ {start}(&t[i]); }});"),
                    "id[i].join();",
                )
            } else {
                (
                    "pthread_t",
                    format!("if (pthread_create(&id[i], 0, {start}, &t[i])) abort();"),
                    "pthread_join(id[i], 0);",
                )
            };
            format!(
                "if (c->slot == 0) {{ u64 seed = {}; ctx t[{threads}]; {ty} id[{threads}]; \
                 for (int i = 0; i < {threads}; i++) {{ memset(&t[i], 0, sizeof t[i]); t[i].fuel = 20; \
                 t[i].slot = i + 1; t[i].sum = seed + i; {create} }} \
                 for (int i = 0; i < {threads}; i++) {{ {join} c->sum = MIX(c->sum, t[i].sum); }} }}",
                value(e)
            )
        }
        Statement::Raise {
            callback,
            value: e,
            to,
        } => signal_text::raise(&name(*callback), &value(e), *to),
        Statement::Guarded(e, to) => signal_text::guarded(&value(e), *to),
        Statement::Errno(e, to) => format!(
            "set_errno(c, (int)(({}) & 127)); n{to} = read_errno(c) * 256 + (u64)errno;",
            value(e)
        ),
        Statement::Stack(e, to) => format!(
            "{{ u64 k = {}; unsigned char *m = (unsigned char *)__builtin_alloca((k & 1023) + 64); \
             memset(m, (int)(k & 255), 64); n{to} = MIX(m[0], m[63]); }}",
            value(e)
        ),
        Statement::Dispatch(e, to) => format!(
            "{{ __label__ l0, l1, l2; static void *const t[] = {{&&l0, &&l1, &&l2}}; \
             goto *t[({}) % 3]; l0: n{to} += 7; l1: n{to} *= 3; l2: n{to} ^= 5; }}",
            value(e)
        ),
        // Of the first thread's: which one comes there first is open.
        Statement::Static(e, to) => format!(
            "if (c->slot == 0) {{ static const u64 first = MIX({}, 6); n{to} = first; }}",
            value(e)
        ),
        Statement::Witness(e) => format!("witness.value += ({}) & 255;", value(e)),
        // One level of processes only, and none of a thread's.
        Statement::Fork {
            callback,
            value: e,
            to,
        } => format!(
            "if (c->slot == 0) {{ fflush(stdout); pid_t child = fork(); if (child < 0) abort(); \
             if (child == 0) {{ c->slot = 1; _exit((int)({}(c, {}) & 63)); }} \
             int how = 0; if (waitpid(child, &how, 0) != child) abort(); n{to} = (u64)how; }}",
            name(*callback),
            value(e)
        ),
        Statement::Lambda {
            callback,
            value: e,
            to,
        } => format!(
            "{{ u64 k = {}; std::function<u64(u64)> f = [=](u64 y) {{ return MIX({}(c, y + k), k); }}; \
             n{to} = f(k >> 3); }}",
            value(e),
            name(*callback)
        ),
        Statement::ThreadLocal(k, e) => format!(
            "locals[{k}] = MIX(locals[{k}], {}); c->sum = MIX(c->sum, locals[{k}]);",
            value(e)
        ),
        Statement::Atomic(k, AtomicOperation::Add, e) => format!(
            "__atomic_fetch_add(&atomics[{k}], {}, __ATOMIC_SEQ_CST);",
            value(e)
        ),
        Statement::Atomic(k, AtomicOperation::CompareExchange, e) => format!(
            "{{ u64 add = {}, seen = __atomic_load_n(&atomics[{k}], __ATOMIC_ACQUIRE); \
             while (!__atomic_compare_exchange_n(&atomics[{k}], &seen, seen + add, 1, \
             __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {{ }} }}",
            value(e)
        ),
        Statement::Locked(k, e) => format!(
            "{{ u64 add = {}; pthread_mutex_lock(&lock); locked[{k}] += add; \
             pthread_mutex_unlock(&lock); }}",
            value(e)
        ),
        Statement::Global(k, e) => format!(
            "if (c->slot == 0) globals[{k}] = MIX(globals[{k}], {});",
            value(e)
        ),
        Statement::Heap(count, e, to) => format!(
            "{{ u64 *m = (u64 *)malloc({count} * sizeof *m); if (!m) abort(); \
             for (unsigned i = 0; i < {count}; i++) m[i] = ({}) + i; n{to} = 0; \
             for (unsigned i = 0; i < {count}; i++) n{to} = MIX(n{to}, m[i]); free(m); }}",
            value(e)
        ),
    };
    indent(text, depth);
    text.push_str(&line);
    text.push('\n');
}

fn call(
    program: &Program,
    callee: usize,
    via: Via,
    arguments: &[Expression],
    to: usize,
    parameters: &Parameters,
) -> String {
    let Some(function) = program.function(callee) else {
        return String::new();
    };
    let Kind::Plain {
        parameters: types,
        result,
    } = &function.kind
    else {
        return String::new();
    };
    let name = &function.name;
    let result_type = result.name();
    let list = types
        .iter()
        .fold(String::from("ctx *"), |list, ty| list + ", " + &ty.name());
    let (before, called) = match via {
        Via::Name => (String::new(), name.as_str()),
        Via::Pointer => (
            format!("{result_type} (*volatile f)({list}) = {name}; "),
            "f",
        ),
        Via::Table => (format!("static {result_type} (*f)({list}) = {name}; "), "f"),
    };
    let made = types
        .iter()
        .zip(arguments)
        .fold(String::new(), |made, (ty, e)| {
            made + &format!(", make_{}(({}))", ty.name(), expression(e, parameters))
        });
    format!(
        "{{ {before}{result_type} result = {called}(c{made}); n{to} = {}; }}",
        fold(*result, "result")
    )
}

/// An integer of a value; `name` is evaluated more than once.
pub fn fold(ty: Type, name: &str) -> String {
    format!("fold_{}({name})", ty.name())
}

fn variadic(letter: Letter, value: &str) -> String {
    match letter {
        Letter::Scalar(scalar) => format!("make_{}(({value}))", scalar.name()),
        Letter::Aggregate(index) => format!("make_S{index}({value})"),
        Letter::Text => format!("&\"torture\"[({value}) & 7]"),
    }
}

fn print(
    callee: Option<String>,
    arguments: &[(Conversion, Expression)],
    to: usize,
    parameters: &Parameters,
) -> String {
    let (mut format, mut values) = (String::new(), String::new());
    for (conversion, e) in arguments {
        let e = expression(e, parameters);
        let (text, value) = match conversion {
            Conversion::Int => ("%d", format!("(int)({e})")),
            Conversion::UnsignedLong => ("%llu", format!("(u64)({e})")),
            Conversion::Char => ("%c", format!("(int)('a' + ({e}) % 26)")),
            Conversion::Byte => ("%hhx", format!("(int)(({e}) & 255)")),
            Conversion::Double => ("%.3f", format!("make_f64(({e}))")),
            Conversion::LongDouble => ("%.2Lf", format!("make_f80(({e}))")),
            Conversion::Text => ("%s", variadic(Letter::Text, &e)),
        };
        format.push_str(text);
        format.push(' ');
        values = values + ", " + &value;
    }
    match callee {
        Some(callee) => format!("n{to} = {callee}(c, \"{format}\"{values});"),
        None => format!(
            "{{ char b[512]; n{to} = (u64)snprintf(b, sizeof b, \"{format}\"{values}); \
             for (char *p = b; *p; p++) n{to} = MIX(n{to}, *p); }}"
        ),
    }
}

pub fn expression(e: &Expression, parameters: &Parameters) -> String {
    match e {
        Expression::Constant(value) => format!("{value}ull"),
        Expression::Local(k) => format!("n{k}"),
        Expression::Parameter(k) => parameters
            .get(*k)
            .cloned()
            .unwrap_or_else(|| format!("{}ull", k + 9)),
        Expression::State(k) => format!("(c->sum >> {})", 8 * k),
        Expression::Binary(operator, left, right) => {
            let (a, b) = (expression(left, parameters), expression(right, parameters));
            match operator {
                Operator::Add => format!("({a} + {b})"),
                Operator::Subtract => format!("({a} - {b})"),
                Operator::Multiply => format!("({a} * {b})"),
                Operator::Xor => format!("({a} ^ {b})"),
                Operator::And => format!("({a} & {b})"),
                Operator::Or => format!("({a} | {b})"),
                Operator::ShiftLeft => format!("({a} << ({b} & 63))"),
                Operator::ShiftRight => format!("({a} >> ({b} & 63))"),
                Operator::Divide => format!("({a} / ({b} | 1))"),
                Operator::Remainder => format!("({a} % ({b} | 1))"),
                Operator::Less => format!("(u64)({a} < {b})"),
            }
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    for _ in 0..depth {
        text.push_str("  ");
    }
}
