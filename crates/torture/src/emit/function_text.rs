//! Functions, by kind: each has its own frame around the statements of its body.
use std::fmt::Write as _;

use super::labels::Interpreter;
use super::statement_text::{self, declare_locals, fold};
use super::{Used, signal_text};
use crate::generated_program::{Base, Function, Kind, Language, Program, Rethrow, Through, Thrown};
use crate::statement::Letter;
use crate::types::{Scalar, Type};

/// Calls are this deep at most.
const DEPTH: usize = 12;

pub fn declaration(program: &Program, function: &Function) -> String {
    let name = &function.name;
    if let Kind::Virtual { base } = function.kind {
        let (bases, own) = match base {
            Base::First => ("Runner", ""),
            Base::Second => ("Padding, Runner", ""),
            Base::Virtual => ("Padding, virtual Runner", ""),
        };
        let own = match base {
            Base::First => own.to_owned(),
            _ => format!("  {name} *self() override;\n"),
        };
        return format!(
            "struct {name} : {bases} {{\n  u64 state = 5;\n  u64 run(ctx *c, u64 x) override;\n{own}}}"
        );
    }
    format!(
        "{}{}",
        linkage(program, function),
        signature(function, name)
    )
}

fn linkage(program: &Program, function: &Function) -> &'static str {
    if function.is_static {
        "static "
    } else if program.language == Language::Cxx && function.c_linkage {
        "extern \"C\" "
    } else {
        ""
    }
}

fn signature(function: &Function, name: &str) -> String {
    match &function.kind {
        Kind::Plain { parameters, result } => {
            let mut list = String::from("ctx *c");
            for (k, ty) in parameters.iter().enumerate() {
                let _ = write!(list, ", {} a{k}", ty.name());
            }
            format!("{} {name}({list})", result.name())
        }
        Kind::Variadic { .. } => format!("u64 {name}(ctx *c, const char *letters, ...)"),
        Kind::List { pointer, .. } => {
            let star = if *pointer { "*" } else { "" };
            format!("u64 {name}(ctx *c, const char *letters, va_list {star}list)")
        }
        Kind::Print => format!("u64 {name}(ctx *c, const char *format, ...)"),
        Kind::Compare { .. } => format!("int {name}(const void *left, const void *right)"),
        Kind::Apply { .. } => format!("u64 {name}(ctx *c, hook *f, u64 x)"),
        Kind::Jump { .. } => format!("void {name}(ctx *c, jmp_buf *where, u64 x)"),
        Kind::Throw { .. } => format!("void {name}(ctx *c, u64 x)"),
        Kind::Thread { .. } => format!("void *{name}(void *argument)"),
        Kind::Callback
        | Kind::SetJump { .. }
        | Kind::Try { .. }
        | Kind::Virtual { .. }
        | Kind::Goto { .. } => {
            format!("u64 {name}(ctx *c, u64 x)")
        }
    }
}

pub fn definition(program: &Program, function: &Function, used: &Used) -> String {
    let name = &function.name;
    let head = match function.kind {
        Kind::Virtual { .. } => signature(function, &format!("{name}::run")),
        _ => format!(
            "{}{}",
            linkage(program, function),
            signature(function, name)
        ),
    };
    let mut body = String::new();
    statement_text::write_all(
        &mut body,
        program,
        &function.body,
        &parameters(&function.kind),
        1,
    );
    let next = |arguments: &str| {
        let next = program.function(function.kind.next()?)?;
        Some(format!("{}({arguments});", next.name))
    };
    // The call of the next function of a chain, or of what is between.
    let through = |before: &str, arguments: &str| {
        let Some(helper) = function.helper() else {
            return next(arguments);
        };
        let through = function.kind.through()?;
        next(arguments)?;
        let x = arguments
            .rsplit_once(", M")
            .map_or("x".into(), |(_, x)| format!("M{x}"));
        Some(format!("{before} {}", call_helper(through, &helper, &x)))
    };
    let enter = |otherwise: &str| {
        format!(
            "  if (c->fuel <= 0 || c->depth >= {DEPTH})\n    return {otherwise};\n  c->fuel--;\n  c->depth++;\n"
        )
    };
    let locals = declare_locals(&body);
    let inner = match &function.kind {
        Kind::Plain { result, .. } => {
            let made = format!("make_{}", result.name());
            format!(
                "{}{locals}{body}  c->depth--;\n  return {made}((c->sum));\n",
                enter(&format!("{made}(3ull)"))
            )
        }
        Kind::Variadic { .. } => {
            let passed = match function.kind.next().and_then(|id| program.function(id)) {
                Some(Function {
                    kind: Kind::List { pointer: true, .. },
                    ..
                }) => "c, letters, &list",
                _ => "c, letters, list",
            };
            let taken = match next(passed) {
                Some(call) => format!("  h = {call}\n"),
                None => walk("list", used),
            };
            format!(
                "{}{locals}{body}  u64 h = 1;\n  va_list list;\n  va_start(list, letters);\n{taken}  \
                 va_end(list);\n  c->depth--;\n  return h;\n",
                enter("2")
            )
        }
        Kind::List { copy, pointer } => {
            let list = if *pointer { "*list" } else { "list" };
            let twice = if *copy {
                format!(
                    "  va_list again;\n  va_copy(again, {list});\n{}  va_end(again);\n",
                    walk("again", used)
                )
            } else {
                String::new()
            };
            format!(
                "{}{locals}{body}  u64 h = 5;\n{twice}{}  c->depth--;\n  return h;\n",
                enter("2"),
                walk(list, used)
            )
        }
        Kind::Print => format!(
            "{}{locals}{body}  char b[512];\n  va_list list;\n  va_start(list, format);\n  \
             u64 h = (u64)vsnprintf(b, sizeof b, format, list);\n  va_end(list);\n  \
             for (char *p = b; *p; p++)\n    h = MIX(h, *p);\n  c->depth--;\n  return h;\n",
            enter("2")
        ),
        Kind::Compare { descending } => {
            let (less, greater) = if *descending { (1, -1) } else { (-1, 1) };
            format!(
                "  const item *l = (const item *)left, *r = (const item *)right;\n  ctx *c = l->c;\n  \
                 if (c->fuel > 0 && c->depth < {DEPTH}) {{\n  c->fuel--;\n  c->depth++;\n{locals}{body}  \
                 c->depth--;\n  }}\n  if (l->key != r->key)\n    \
                 return l->key < r->key ? {less} : {greater};\n  \
                 return (l->index > r->index) - (l->index < r->index);\n"
            )
        }
        Kind::Virtual { .. } => format!(
            "{}{locals}{body}  state = MIX(state, x);\n  c->depth--;\n  return MIX(x, c->sum);\n",
            enter("x")
        ),
        Kind::Callback => format!(
            "{}{locals}{body}  c->depth--;\n  return MIX(x, c->sum);\n",
            enter("x")
        ),
        Kind::Goto {
            labels,
            early,
            code,
            turns,
        } => {
            let of = |statement| {
                let mut text = String::new();
                let parameters = parameters(&function.kind);
                statement_text::write(&mut text, program, statement, &parameters, 2);
                text
            };
            let statements: Vec<String> = function.body.iter().map(of).collect();
            let interpreter = Interpreter {
                labels: *labels,
                early: *early,
                code,
                turns: *turns,
                statements: &statements,
                language: program.language,
            };
            format!(
                "{}{locals}{}  c->depth--;\n  return MIX(y, c->sum);\n",
                enter("x"),
                interpreter.text()
            )
        }
        Kind::Apply { times } => format!(
            "{}{locals}{body}  for (int i = 0; i < {times}; i++)\n    x = MIX(x, f(c, x + i));\n  \
             c->depth--;\n  return x;\n",
            enter("x")
        ),
        Kind::SetJump { mask, .. } => {
            let (ty, set) = if *mask {
                ("sigjmp_buf", "sigsetjmp(where, 1)")
            } else {
                ("jmp_buf", "setjmp(where)")
            };
            let jump = next("c, &where, x").unwrap_or_default();
            format!(
                "{}{locals}{body}  {ty} where;\n  int depth = c->depth;\n  switch ({set}) {{\n  case 0:\n    \
                 {jump}\n    c->sum = 1;\n    break;\n  case 2:\n    c->sum = MIX(c->sum, 2);\n  \
                 default:\n    c->sum = MIX(c->sum, c->code);\n    c->depth = depth;\n  }}\n  c->depth--;\n  \
                 return MIX(c->sum, x);\n",
                enter("x")
            )
        }
        Kind::Jump { mask, .. } => {
            let function = if *mask { "siglongjmp" } else { "longjmp" };
            let leave = through("c->where = where;", "c, where, MIX(x, 3)").unwrap_or_else(|| {
                format!("c->code = (int)(x & 31);\n  {function}(*where, 1 + (int)(x & 3));")
            });
            format!("{locals}{body}  {leave}\n")
        }
        Kind::Try { clauses, .. } => {
            let call = next("c, x").unwrap_or_default();
            format!(
                "{}{locals}{body}  int depth = c->depth;\n  try {{\n    {call}\n    c->sum = 1;\n  }}{}  \
                 catch (...) {{\n    c->sum = MIX(c->sum, 77);\n  }}\n  c->depth = depth - 1;\n  \
                 return MIX(c->sum, x);\n",
                enter("x"),
                clauses.iter().map(|what| clause(*what)).collect::<String>()
            )
        }
        Kind::Throw {
            what,
            guard,
            rethrow,
            ..
        } => {
            let guard = if *guard {
                "  Guard guard = {c, x};\n"
            } else {
                ""
            };
            let leave = through("", "c, MIX(x, 1)").unwrap_or_else(|| thrown(*what).into());
            let leave = match rethrow {
                Some(Rethrow::Same) => format!(
                    "  try {{\n    {leave}\n  }} catch (const Base &e) {{\n    \
                     c->sum = MIX(c->sum, e.read() + 5);\n    throw;\n  }} catch (int e) {{\n    \
                     throw Derived(e);\n  }}\n"
                ),
                Some(Rethrow::Pointer) => format!(
                    "  std::exception_ptr held;\n  try {{\n    {leave}\n  }} catch (...) {{\n    \
                     held = std::current_exception();\n  }}\n  c->sum = MIX(c->sum, 4);\n  \
                     std::rethrow_exception(held);\n"
                ),
                None => format!("  {leave}\n"),
            };
            format!("{guard}{locals}{body}{leave}")
        }
        Kind::Thread { exit } => {
            let end = if *exit {
                "pthread_exit(c);"
            } else {
                "return c;"
            };
            format!("  ctx *c = (ctx *)argument;\n{locals}{body}  {end}\n")
        }
    };
    let mut text = helper(program, function).unwrap_or_default();
    let _ = writeln!(text, "{head} {{\n{inner}}}");
    if let Kind::Virtual { base } = function.kind
        && base != Base::First
    {
        let _ = writeln!(
            text,
            "{name} *{name}::self() {{\n  state ^= 9;\n  return this;\n}}"
        );
    }
    text
}

/// What stands between a function of a chain and the next one.
fn helper(program: &Program, function: &Function) -> Option<String> {
    let name = function.helper()?;
    let next = &program.function(function.kind.next()?)?.name;
    let place = |c: &str| match function.kind {
        Kind::Jump { .. } => format!("{c}, (jmp_buf *){c}->where"),
        _ => c.to_owned(),
    };
    Some(match function.kind.through()? {
        Through::Sort | Through::Search => format!(
            "static int {name}(const void *left, const void *right) {{\n  \
             const item *l = (const item *)left;\n  (void)right;\n  {next}({}, l->key);\n  return 0;\n}}\n",
            place("l->c")
        ),
        _ => format!(
            "static u64 {name}(ctx *c, u64 x) {{\n  {next}({}, x);\n  return x;\n}}\n",
            place("c")
        ),
    })
}

/// The call that leads to the helper; `x` is what it gets.
fn call_helper(through: Through, helper: &str, x: &str) -> String {
    let items = format!("item t[2] = {{{{{x}, 0, c}}, {{{x}, 1, c}}}};");
    match through {
        Through::Sort => format!("{{ {items} qsort(t, 2, sizeof t[0], {helper}); }}"),
        Through::Search => {
            format!("{{ {items} c->code += bsearch(&t[0], t, 2, sizeof t[0], {helper}) != 0; }}")
        }
        Through::Signal => signal_text::raise_only(helper, x),
        Through::Name | Through::Pointer => {
            format!("{{ hook *volatile f = {helper}; f(c, {x}); }}")
        }
    }
}

/// The parameters as integers.
fn parameters(kind: &Kind) -> Vec<String> {
    match kind {
        Kind::Plain { parameters, .. } => parameters
            .iter()
            .enumerate()
            .map(|(k, ty)| fold(*ty, &format!("a{k}")))
            .collect(),
        Kind::Compare { .. } => vec!["l->key".into(), "r->key".into()],
        Kind::Thread { .. } => vec!["c->sum".into()],
        Kind::Variadic { .. } | Kind::List { .. } | Kind::Print => Vec::new(),
        _ => vec!["x".into()],
    }
}

/// Takes every argument that the letters announce.
fn walk(list: &str, used: &Used) -> String {
    let mut text = String::from("  for (const char *p = letters; *p; p++) switch (*p) {\n");
    for letter in &used.letters {
        let key = letter.letter();
        let _ = match *letter {
            Letter::Text => writeln!(
                text,
                "  case '{key}': h = MIX(h, strlen(va_arg({list}, const char *))); break;"
            ),
            Letter::Scalar(scalar) => take(&mut text, key, list, Type::Scalar(scalar)),
            Letter::Aggregate(index) => take(&mut text, key, list, Type::Aggregate(index)),
        };
    }
    text.push_str("  default: h = MIX(h, 1);\n  }\n");
    text
}

fn take(text: &mut String, key: char, list: &str, ty: Type) -> std::fmt::Result {
    // Promoted types only: `u32` and `i32` are `unsigned` and `int`.
    debug_assert!(!matches!(ty, Type::Scalar(Scalar::Float | Scalar::Bool)));
    let name = ty.name();
    writeln!(
        text,
        "  case '{key}': {{ {name} v = va_arg({list}, {name}); h = MIX(h, fold_{name}(v)); break; }}"
    )
}

fn thrown(what: Thrown) -> &'static str {
    match what {
        Thrown::Int => "throw (int)(x & 1023);",
        Thrown::Base => "throw Base(x);",
        Thrown::Derived => "throw Derived(x);",
        Thrown::Text => "throw &\"torture\"[x & 7];",
    }
}

fn clause(what: Thrown) -> &'static str {
    match what {
        Thrown::Int => " catch (int e) {\n    c->sum = MIX(c->sum, e);\n  }",
        Thrown::Base => " catch (const Base &e) {\n    c->sum = MIX(c->sum, e.read());\n  }",
        Thrown::Derived => {
            " catch (const Derived &e) {\n    c->sum = MIX(c->sum, e.read() * 3);\n  }"
        }
        Thrown::Text => " catch (const char *e) {\n    c->sum = MIX(c->sum, strlen(e));\n  }",
    }
}
