//! The directives of GCC's tests: `{ dg-NAME WORDS }` in comments, a Tcl list each.
//!
//! Conditions are about the target, which is x86-64 Linux with glibc here.

/// An element of a Tcl list; braces and quotes are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub text: String,
    pub braced: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Without `dg-`.
    pub name: String,
    pub items: Vec<Item>,
}

/// All directives of a source, in order.
pub fn directives(source: &str) -> Vec<Directive> {
    let mut found = Vec::new();
    for line in source.lines() {
        for (at, _) in line.match_indices("{ dg-") {
            let Some(inner) = braced(&line[at..]) else {
                continue;
            };
            let mut items = list(inner).into_iter();
            if let Some(name) = items.next() {
                found.push(Directive {
                    name: name.text.trim_start_matches("dg-").into(),
                    items: items.collect(),
                });
            }
        }
    }
    found
}

/// The text in the braces that `text` begins with.
fn braced(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(&text[1..at]),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The elements of a Tcl list. An element that is not closed ends with the list.
pub fn list(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (item, length) = match first {
            '{' => match braced(rest) {
                Some(inner) => (inner, inner.len() + 2),
                None => (&rest[1..], rest.len()),
            },
            '"' => match rest[1..].find('"') {
                Some(end) => (&rest[1..=end], end + 2),
                None => (&rest[1..], rest.len()),
            },
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        items.push(Item {
            text: item.into(),
            braced: first == '{',
        });
        rest = rest[length..].trim_start();
    }
    items
}

const TRIPLET: &str = "x86_64-pc-linux-gnu";

/// The features that the target has, of those that the programs ask for.
const HAS: [&str; 60] = [
    "__float128",
    "alloca",
    "base_quadfloat_support",
    "c++11",
    "c++14",
    "c++17",
    "c99_runtime",
    "cas_int",
    "cet",
    "dfp",
    "double64",
    "double64plus",
    "fenv",
    "fenv_exceptions",
    "fileio",
    "float128",
    "float128_runtime",
    "float16",
    "float16_runtime",
    "float32",
    "float32_runtime",
    "float32x",
    "float32x_runtime",
    "float64",
    "float64_runtime",
    "float64x",
    "float64x_runtime",
    "floatn_nx_runtime",
    "fpic",
    "freorder",
    "fstack_protector",
    "indirect_jumps",
    "inf",
    "int128",
    "int32",
    "int32plus",
    "label_values",
    "large_double",
    "longlong64",
    "lra",
    "lp64",
    "mempcpy",
    "mmap",
    "nonlocal_goto",
    "pie",
    "pie_enabled",
    "pthread",
    "return_address",
    "scheduling",
    "signal",
    "size32plus",
    "sse2_runtime",
    "sse_runtime",
    "stdint_types",
    "tls",
    "tls_runtime",
    "trampolines",
    "trapping",
    "untyped_assembly",
    "unwrapped",
];

const LACKS: [&str; 23] = [
    "arm32",
    "arm_eabi",
    "arm_fp16_alternative_ok",
    "arm_hf_eabi",
    "avx_runtime",
    "float128x",
    "float128x_runtime",
    "freestanding",
    "gld",
    "hard_float",
    "ia32",
    "ilp32",
    "large_long_double",
    "mips64",
    "newlib_nano_io",
    "nonpic",
    "powerpc_altivec_ok",
    "run_expensive_tests",
    "short_eq_int",
    "ti_c67x",
    "vmx_hw",
    "vxworks",
    "x32",
];

/// Standards of C++ that a program asks for as the newest: it is built for that one.
const STANDARDS: [(&str, &str); 3] = [
    ("c++98_only", "-std=gnu++98"),
    ("c++11_down", "-std=gnu++11"),
    ("c++14_down", "-std=gnu++14"),
];

/// The option with which the target has `name`, if it has it then only.
pub fn standard(name: &str) -> Option<&'static str> {
    STANDARDS
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, option)| *option)
}

/// Whether the condition holds for the target. The error is a word that is not known.
pub fn holds(condition: &str) -> Result<bool, String> {
    let mut any = false;
    let mut pending: Option<(bool, &str)> = None;
    let mut negated = false;
    for item in list(condition) {
        match item.text.as_str() {
            "!" if !item.braced => negated = !negated,
            "&&" if !item.braced => pending = Some((std::mem::take(&mut any), "&&")),
            "||" if !item.braced => pending = Some((std::mem::take(&mut any), "||")),
            text => {
                let value = negated
                    != if item.braced {
                        holds(text)?
                    } else {
                        word_holds(text)?
                    };
                negated = false;
                // Words side by side are alternatives.
                any = match pending.take() {
                    Some((left, "&&")) => left && value,
                    Some((left, _)) => left || value,
                    None => any || value,
                };
            }
        }
    }
    Ok(any)
}

fn word_holds(word: &str) -> Result<bool, String> {
    if word.contains('-') || word.contains('*') {
        return Ok(matches(word, TRIPLET));
    }
    if HAS.contains(&word) || standard(word).is_some() {
        Ok(true)
    } else if LACKS.contains(&word) {
        Ok(false)
    } else {
        Err(word.to_owned())
    }
}

/// A pattern of Tcl's `string match` with `*`, `?` and `[…]`.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut pattern_rest = pattern.chars();
    match pattern_rest.next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = pattern_rest.as_str();
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| matches(rest, &text[at..]))
        }
        Some('[') => {
            let Some((class, rest)) = pattern_rest.as_str().split_once(']') else {
                return false;
            };
            let mut chars = text.chars();
            chars.next().is_some_and(|c| class.contains(c)) && matches(rest, chars.as_str())
        }
        Some(wanted) => {
            let mut chars = text.chars();
            let next = chars.next();
            next.is_some_and(|c| wanted == '?' || c == wanted)
                && matches(pattern_rest.as_str(), chars.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_lists() {
        let text = "/* { dg-do run { target { ! ia32 } } } */\n\
                    // { dg-skip-if \"a b\" { *-*-* } { \"-O0\" } { \"\" } }\nint x;\n";
        let found = directives(text);
        assert_eq!(found[0].name, "do");
        assert_eq!(found[0].items[1].text, " target { ! ia32 } ");
        let texts: Vec<&str> = found[1].items.iter().map(|i| i.text.as_str()).collect();
        assert_eq!(texts, ["a b", " *-*-* ", " \"-O0\" ", " \"\" "]);
    }

    #[test]
    fn conditions_are_about_this_target() {
        for (condition, value) in [
            ("i?86-*-* x86_64-*-*", true),
            ("{ i?86-*-* x86_64-*-* } && ia32", false),
            ("{ i?86-*-* x86_64-*-* } && { ! ia32 }", true),
            ("! { i?86-*-* x86_64-*-* }", false),
            ("powerpc*-*-* || int128", true),
            ("{ *-*-linux* *-*-gnu* } && mmap", true),
            ("*-*-darwin[89]*", false),
        ] {
            assert_eq!(holds(condition), Ok(value), "{condition}");
        }
        assert_eq!(holds("lp64 && warp_drive"), Err("warp_drive".into()));
    }

    #[test]
    fn patterns_are_tcl_s() {
        assert!(matches("*-*-linux*", TRIPLET) && matches("x86_64-p?-*", TRIPLET));
        assert!(!matches("*-*-linux", TRIPLET) && matches("*-O[02]*", "-w -O2 -g"));
    }
}
