//! Functions that jump to labels by their addresses: small interpreters of a program of label
//! numbers. Labels of statements come first, then that of a loop and that of the end.
use std::fmt::Write as _;

use crate::generated_program::{Labels, Language};

/// A function of kind `Goto`.
pub struct Interpreter<'a> {
    pub labels: Labels,
    /// The target is chosen before a label's statement.
    pub early: bool,
    pub code: &'a [usize],
    pub turns: usize,
    /// The text of each statement.
    pub statements: &'a [String],
    pub language: Language,
}

impl Interpreter<'_> {
    /// Labels of statements; there is one in any case.
    fn count(&self) -> usize {
        self.statements.len().max(1)
    }

    fn all(&self, entry: impl Fn(usize) -> String) -> String {
        let entries: Vec<String> = (0..self.count() + 2).map(entry).collect();
        entries.join(", ")
    }

    fn distances(&self, ty: &str) -> String {
        // C++ initialises what is so narrow when control comes there: not in memory that both sides
        // share.
        let kept = match (self.language, ty) {
            (Language::Cxx, "short") => "const",
            _ => "static const",
        };
        let entries = self.all(|k| format!("({ty})((char *)&&l{k} - (char *)&&l0)"));
        format!("  {kept} {ty} t[] = {{{entries}}};\n")
    }

    /// Declarations, and what leads to the next label.
    fn table(&self) -> (String, &'static str) {
        let plain = self.all(|k| format!("&&l{k}"));
        let table = format!("  static const void *const t[] = {{{plain}}};\n");
        let last = self.count() + 1;
        match self.labels {
            Labels::Table => (table, "t[*pc++]"),
            Labels::Holes => {
                let entries = self.all(|k| format!("&&l{k}, 0"));
                let table = format!("  static const void *const t[] = {{{entries}}};\n");
                (table, "t[2 * *pc++]")
            }
            Labels::Fields => {
                let entries = self.all(|k| format!("{{{}, &&l{k}, 0}}", k * 3));
                let table = format!(
                    "  static const struct {{ u64 cost; const void *label; int more; }} t[] = {{{entries}}};\n"
                );
                (table, "(y += t[*pc].cost, t[*pc++].label)")
            }
            Labels::Short => (self.distances("short"), "((char *)&&l0 + t[*pc++])"),
            Labels::Int => (self.distances("int"), "((char *)&&l0 + t[*pc++])"),
            Labels::Long => (self.distances("long"), "((char *)&&l0 + t[*pc++])"),
            Labels::Stack => (format!("  const void *t[] = {{{plain}}};\n"), "t[*pc++]"),
            Labels::Heap => {
                let stores: String = (0..=last).map(|k| format!(" t[{k}] = &&l{k};")).collect();
                let table = format!(
                    "  const void **t = (const void **)malloc({} * sizeof *t);\n  if (!t) abort();\n {stores}\n",
                    last + 1
                );
                (table, "t[*pc++]")
            }
            Labels::Either => {
                let other = self.all(|k| match k {
                    _ if k < self.count() => format!("&&l{}", self.count() - 1 - k),
                    _ => format!("&&l{k}"),
                });
                let tables = format!("{table}  static const void *const u[] = {{{other}}};\n");
                (tables, "(y & 4 ? t : u)[*pc++]")
            }
            Labels::Threaded => {
                let copy = format!(
                    "  const void *direct[{0}], **next_of = direct;\n  \
                     for (unsigned i = 0; i < {0}; i++) direct[i] = t[code[i]];\n",
                    self.code.len() + 2
                );
                (table + &copy, "*next_of++")
            }
            Labels::Offsets => {
                let copy = format!(
                    "  long offsets[{0}], *next_of = offsets;\n  char *base = (char *)&&l0;\n  \
                     for (unsigned i = 0; i < {0}; i++) offsets[i] = (const char *)t[code[i]] - base;\n",
                    self.code.len() + 2
                );
                (table + &copy, "(base + *next_of++)")
            }
        }
    }

    /// From the declarations to the end's label; `x` and `c` are the function's, the result is in
    /// `y`.
    pub fn text(&self) -> String {
        let count = self.count();
        let code = self
            .code
            .iter()
            .map(|k| k % count)
            .chain([count, count + 1]);
        let code: Vec<String> = code.map(|k| k.to_string()).collect();
        let (table, next) = self.table();
        let mut text = format!(
            "  static const unsigned char code[] = {{{}}};\n  const unsigned char *pc = code;\n  \
             u64 y = x, left = {};\n  double d = (double)(x & 7);\n  const void *next;\n{table}  \
             (void)pc;\n  next = {next};\n  goto *next;\n",
            code.join(", "),
            self.turns
        );
        let (before, after) = if self.early {
            (format!("  next = {next};\n"), "  goto *next;\n".to_owned())
        } else {
            (String::new(), format!("  goto *{next};\n"))
        };
        for k in 0..count {
            let statement = self.statements.get(k).map_or("", String::as_str);
            let own = match k % 3 {
                0 => format!("y = MIX(y, x + {k});"),
                1 => format!("y ^= y >> 7, d += 0.5, y += {k};"),
                _ => format!("y += (u64)d * {k} + (u64)c->slot;"),
            };
            let _ = write!(
                text,
                "l{k}:\n{before}  if ((left & 31) == 1) {{\n{statement}  }}\n  {own}\n{after}"
            );
        }
        let again = match self.labels {
            Labels::Threaded => "next_of = direct;",
            Labels::Offsets => "next_of = offsets;",
            // What the table has changes with every turn.
            Labels::Stack | Labels::Heap if count > 1 => {
                "{ const void *first = t[0]; t[0] = t[1]; t[1] = first; } pc = code;"
            }
            _ => "pc = code;",
        };
        let free = if self.labels == Labels::Heap {
            "  free(t);\n"
        } else {
            ""
        };
        let _ = write!(
            text,
            "l{count}:\n  if (--left) {{ {again} }}\n  goto *{next};\nl{}:\n{free}",
            count + 1
        );
        text
    }
}
