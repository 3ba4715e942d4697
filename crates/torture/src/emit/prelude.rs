//! What stands before the program's own functions: the types that it uses and their two operations
//! (`types.rs`), the context, and in C++ the classes.
use std::fmt::Write as _;

use super::{Used, signal_text};
use crate::generated_program::{Language, Program};
use crate::types::{Aggregate, Field, Scalar, Type};

const COMMON: &str = r"
typedef unsigned long long u64;
typedef long long i64;
#define MIX(h, v) (((u64)(h) ^ (u64)(v)) * 0x9e3779b97f4a7c15u + 0x7f4a7c15u)
typedef struct ctx ctx;
typedef u64 hook(ctx *, u64);
/* A thread's own: checksum, what limits the calls, what a jump brought, a stored callback, where a
 * jump leads. */
struct ctx {
  u64 sum;
  int fuel, depth, slot, code;
  hook *stored;
  void *where;
};
";

const ITEM: &str = r"
/* An element that qsort and bsearch hand to a comparator. */
typedef struct item {
  u64 key, index;
  ctx *c;
} item;
";

const CLASSES: &str = r"
struct Guard {
  ctx *c;
  u64 value;
  ~Guard() { c->sum = MIX(c->sum, value); }
};
struct Base {
  u64 value;
  explicit Base(u64 v) : value(v) {}
  virtual ~Base() {}
  virtual u64 read() const { return value; }
};
struct Derived : Base {
  explicit Derived(u64 v) : Base(v + 1) {}
  u64 read() const override { return value ^ 0x55; }
};
";

const TRACKED: &str = r"
extern u64 alive;
struct Tracked {
  u64 value;
  explicit Tracked(u64 v) : value(v) { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
  Tracked(const Tracked &other) : value(MIX(other.value, 1)) { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
  ~Tracked() { __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED); }
};
#define make_Tracked(x) Tracked(x)
#define fold_Tracked(v) ((v).value)
";

const RUNNER: &str = r"
struct Runner {
  virtual u64 run(ctx *c, u64 x) = 0;
  virtual Runner *self() { return this; }
};
struct Padding {
  u64 padding = 7;
  virtual u64 pad(u64 x) { return MIX(x, padding); }
};
";

/// A thread's object: its destructor runs before the thread is joined.
const WITNESS: &str = r"
extern u64 witnessed;
struct Witness {
  u64 value = 1;
  ~Witness() { __atomic_fetch_add(&witnessed, value, __ATOMIC_RELAXED); }
};
extern thread_local Witness witness;
";

const ERRNO: &str = r"
void set_errno(ctx *c, int value);
u64 read_errno(ctx *c);
";

/// What pointers to members point to.
const WIDGET: &str = r"
struct Left {
  u64 l = 11;
  virtual u64 left(u64 x) { return MIX(l, x); }
};
struct Right {
  u64 r = 22;
  virtual u64 right(u64 x) { return MIX(r, x); }
  u64 fixed(u64 x) { return MIX(x, r); }
};
struct Widget : Left, Right {
  u64 w = 33;
  u64 right(u64 x) override { return MIX(w, x) ^ r; }
  u64 own(u64 x) { return MIX(x, l) + w; }
};
extern Widget widget;
";

/// The definitions, in an order in which each finds what it needs.
pub fn text(program: &Program, used: &Used) -> String {
    let mut text = String::new();
    let cxx = program.language == Language::Cxx;
    for header in [
        "pthread", "setjmp", "stdarg", "stdio", "stdlib", "string", "unistd",
    ] {
        let _ = writeln!(text, "#include <{header}.h>");
    }
    for (header, is_used) in [
        ("errno.h", used.errno),
        ("exception", cxx && used.exceptions),
        ("functional", used.functional),
        ("signal.h", used.signals || used.guarded || used.timer),
        ("sys/mman.h", used.guarded),
        ("sys/time.h", used.timer),
        ("sys/wait.h", used.fork),
        ("thread", used.standard_threads),
    ] {
        if is_used {
            let _ = writeln!(text, "#include <{header}>");
        }
    }
    if !cxx {
        text.push_str("#include <stdbool.h>\n");
    }
    text.push_str(COMMON);
    if used.scalars.iter().any(|scalar| scalar.is_member()) {
        text.push_str(WIDGET);
    }
    for scalar in Scalar::ALL {
        if used.scalars.contains(&scalar) {
            text.push_str(of_scalar(scalar));
        }
    }
    if used.signals {
        text.push_str(signal_text::RAISED);
    }
    for (part, is_used) in [(WITNESS, used.witness), (ERRNO, used.errno)] {
        if is_used {
            text.push_str(part);
        }
    }
    if used.sort {
        text.push_str(ITEM);
    }
    if cxx && used.exceptions {
        text.push_str(CLASSES);
    }
    if used.tracked {
        text.push_str(TRACKED);
    }
    if used.classes {
        text.push_str(RUNNER);
    }
    for (index, aggregate) in program.aggregates.iter().enumerate() {
        if used.aggregates.contains(&index) {
            text.push_str(&of_aggregate(index, aggregate));
        }
    }
    text
}

/// `make` and `fold` of a scalar are macros: a function would be placed and cross by itself.
fn of_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => {
            "#define make_bool(x) ((bool)(((x) & 1) != 0))\n#define fold_bool(v) ((u64)(v))\n"
        }
        Scalar::I8 => {
            "typedef signed char i8;\n#define make_i8(x) ((i8)(x))\n#define fold_i8(v) ((u64)(v))\n"
        }
        Scalar::U8 => {
            "typedef unsigned char u8;\n#define make_u8(x) ((u8)(x))\n#define fold_u8(v) ((u64)(v))\n"
        }
        Scalar::I16 => {
            "typedef short i16;\n#define make_i16(x) ((i16)(x))\n#define fold_i16(v) ((u64)(v))\n"
        }
        Scalar::U16 => {
            "typedef unsigned short u16;\n#define make_u16(x) ((u16)(x))\n#define fold_u16(v) ((u64)(v))\n"
        }
        Scalar::I32 => {
            "typedef int i32;\n#define make_i32(x) ((i32)(x))\n#define fold_i32(v) ((u64)(v))\n"
        }
        Scalar::U32 => {
            "typedef unsigned u32;\n#define make_u32(x) ((u32)(x))\n#define fold_u32(v) ((u64)(v))\n"
        }
        Scalar::I64 => "#define make_i64(x) ((i64)(x))\n#define fold_i64(v) ((u64)(v))\n",
        Scalar::U64 => "#define make_u64(x) ((u64)(x))\n#define fold_u64(v) ((u64)(v))\n",
        Scalar::I128 => concat!(
            "typedef __int128 i128;\n",
            "#define make_i128(x) ((i128)(((unsigned __int128)(x) << 64) | (u64)((x) * 3)))\n",
            "#define fold_i128(v) ((u64)(v) ^ ((u64)((unsigned __int128)(v) >> 64) * 5))\n"
        ),
        Scalar::Float => concat!(
            "typedef float f32;\n",
            "#define make_f32(x) ((f32)((int)((x) & 0x3fff) - 0x1000) * 0.5f)\n",
            "#define fold_f32(v) ((u64)(i64)((v) * 4.0f))\n"
        ),
        Scalar::Double => concat!(
            "typedef double f64;\n",
            "#define make_f64(x) ((f64)((i64)((x) & 0xffffffff) - 0x40000000) * 0.25)\n",
            "#define fold_f64(v) ((u64)(i64)((v) * 8.0))\n"
        ),
        Scalar::LongDouble => concat!(
            "typedef long double f80;\n",
            "#define make_f80(x) ((f80)((i64)((x) & 0xffffffff) - 0x40000000) * 0.25L)\n",
            "#define fold_f80(v) ((u64)(i64)((v) * 8.0L))\n"
        ),
        Scalar::ComplexFloat => concat!(
            "typedef float _Complex c32;\n",
            "#define make_c32(x) __builtin_complex((float)((x) & 0xfff), (float)(((x) >> 12) & 0xfff))\n",
            "#define fold_c32(v) ((u64)(i64)__real__(v) * 31 + (u64)(i64)__imag__(v))\n"
        ),
        Scalar::ComplexDouble => concat!(
            "typedef double _Complex c64;\n",
            "#define make_c64(x) __builtin_complex((double)((x) & 0xffff), (double)(((x) >> 16) & 0xffff))\n",
            "#define fold_c64(v) ((u64)(i64)__real__(v) * 37 + (u64)(i64)__imag__(v))\n"
        ),
        Scalar::Enum => concat!(
            "typedef enum color { RED, GREEN, BLUE = 70000 } color;\n",
            "#define make_color(x) ((x) % 3 == 0 ? RED : (x) % 3 == 1 ? GREEN : BLUE)\n",
            "#define fold_color(v) ((u64)(v))\n"
        ),
        Scalar::Pointer => concat!(
            "static const u64 pointed[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n",
            "typedef const u64 *ptr;\n",
            "#define make_ptr(x) (&pointed[(x) & 7])\n",
            "#define fold_ptr(v) (*(v))\n"
        ),
        Scalar::IntVector => concat!(
            "typedef int v16 __attribute__((vector_size(16)));\n",
            "#define make_v16(x) ((v16){(int)(x), (int)((x) >> 8), (int)((x) >> 16), (int)((x) >> 24)})\n",
            "#define fold_v16(v) ((u64)(v)[0] + (u64)(v)[1] * 3 + (u64)(v)[2] * 5 + (u64)(v)[3] * 7)\n"
        ),
        Scalar::FloatVector => concat!(
            "typedef float v8 __attribute__((vector_size(8)));\n",
            "#define make_v8(x) ((v8){(float)((x) & 0xfff), (float)(((x) >> 12) & 0xfff)})\n",
            "#define fold_v8(v) ((u64)(i64)(v)[0] * 41 + (u64)(i64)(v)[1])\n"
        ),
        Scalar::DoubleVector => concat!(
            "typedef double v2d __attribute__((vector_size(16)));\n",
            "#define make_v2d(x) ((v2d){(double)((x) & 0xffff), (double)(((x) >> 16) & 0xffff)})\n",
            "#define fold_v2d(v) ((u64)(i64)(v)[0] * 43 + (u64)(i64)(v)[1])\n"
        ),
        Scalar::ShortVector => concat!(
            "typedef short v4 __attribute__((vector_size(4)));\n",
            "#define make_v4(x) ((v4){(short)(x), (short)((x) >> 16)})\n",
            "#define fold_v4(v) ((u64)(v)[0] * 47 + (u64)(v)[1])\n"
        ),
        Scalar::Half => concat!(
            "typedef _Float16 f16;\n",
            "#define make_f16(x) ((f16)(int)((x) & 0x3ff))\n",
            "#define fold_f16(v) ((u64)(i64)(float)(v))\n"
        ),
        Scalar::MemberData => concat!(
            "typedef u64 Widget::*mdp;\n",
            "#define make_mdp(x) ((x) % 3 == 0 ? &Widget::w : (x) % 3 == 1 ? (mdp)&Left::l : (mdp)&Right::r)\n",
            "#define fold_mdp(v) (widget.*(v))\n"
        ),
        Scalar::MemberFunction => concat!(
            "typedef u64 (Widget::*mfp)(u64);\n",
            "#define make_mfp(x) ((x) % 4 == 0 ? &Widget::own : (x) % 4 == 1 ? (mfp)&Left::left : \\\n",
            "  (x) % 4 == 2 ? (mfp)&Right::right : (mfp)&Right::fixed)\n",
            "#define fold_mfp(v) ((widget.*(v))(3))\n"
        ),
    }
}

fn of_aggregate(index: usize, aggregate: &Aggregate) -> String {
    let name = format!("S{index}");
    let keyword = if aggregate.union_of.is_some() {
        "union"
    } else {
        "struct"
    };
    let mut attributes = String::new();
    if aggregate.packed {
        attributes.push_str(" __attribute__((packed))");
    }
    if let Some(align) = aggregate.align {
        let _ = write!(attributes, " __attribute__((aligned({align})))");
    }
    let mut text = format!("typedef {keyword}{attributes} {name} {{\n");
    for (k, field) in aggregate.fields.iter().enumerate() {
        let _ = write!(text, "  {} f{k}", field.ty.name());
        if let Some(length) = field.array {
            let _ = write!(text, "[{length}]");
        }
        if let Some(bits) = field.bits {
            let _ = write!(text, " : {bits}");
        }
        text.push_str(";\n");
    }
    let _ = writeln!(text, "}} {name};");
    let _ = writeln!(
        text,
        "static inline {name} make_{name}(u64 x) {{\n  {name} s;"
    );
    each_place(aggregate, |place, field, salt| {
        let _ = writeln!(
            text,
            "  s.{place} = make_{}((x + {salt}));",
            field.ty.name()
        );
    });
    let _ = writeln!(
        text,
        "  return s;\n}}\nstatic inline u64 fold_{name}({name} s) {{\n  u64 h = {index};"
    );
    each_place(aggregate, |place, field, _| {
        let ty = field.ty.name();
        // A copy: the value of a bit-field, and the address of nothing that is packed.
        let value = match field.bits {
            Some(_) => format!("(u64)s.{place}"),
            None => format!("fold_{ty}(s.{place})"),
        };
        let _ = writeln!(text, "  h = MIX(h, {value});");
    });
    text.push_str("  return h;\n}\n");
    text
}

/// The parts that have a value: every element of every field, of a union those of one member.
fn each_place(aggregate: &Aggregate, mut visit: impl FnMut(&str, &Field, usize)) {
    let mut salt = 0;
    for (k, field) in aggregate.fields.iter().enumerate() {
        if aggregate.union_of.is_some_and(|member| member != k) {
            continue;
        }
        let places: Vec<String> = match field.array {
            Some(length) => (0..length).map(|n| format!("f{k}[{n}]")).collect(),
            None => vec![format!("f{k}")],
        };
        for place in places {
            visit(&place, field, salt);
            salt += 7;
        }
    }
}

/// The parts of a type, for [`Used`].
pub fn parts(ty: Type, program: &Program, used: &mut Used) {
    match ty {
        Type::Scalar(scalar) => {
            used.scalars.insert(scalar);
        }
        Type::Tracked => used.tracked = true,
        Type::Aggregate(index) => {
            if used.aggregates.insert(index) {
                for field in &program.aggregates[index].fields {
                    parts(field.ty, program, used);
                }
            }
        }
    }
}
