//! Symbols as people read them, and the names that a misspelt word may mean.
//!
//! **From where.** Symbols come from symbol tables of objects and images, from records of runs, and
//! from the text of linkers and disassemblers. All of these keep the linker's names. Misspelt words
//! come from command lines and platform files.
//!
//! | file | subject |
//! |---|---|
//! | `lib.rs` | [`plain`] and [`demangled`] names; [`FunctionName`]: names for placement files |
//! | `nearest.rs` | [`nearest`]: the known name that is most like a word |
//!
//! **Where to.** The driver, the reports and the runtime put the names into messages and reports.
//! `image` and `timing` use them for tables and suggestions.
//!
//! ```
//! assert_eq!(flick_names::demangled("_Z3addii"), "add(int, int)");
//! assert_eq!(flick_names::plain("sum.flick.0123abcd"), "sum");
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, Symbol};

mod nearest;

pub use nearest::{did_you_mean, distance, nearest, use_one_of};

/// Whether C++ names are shown as in the source (`--no-demangle` of binutils' tools asks for the
/// linker's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demangle {
    /// The names of the source.
    #[default]
    Yes,
    /// The linker's names.
    No,
}

impl Demangle {
    /// `symbol` as it is to be shown.
    pub fn apply(self, symbol: &str) -> Cow<'_, str> {
        match self {
            Self::Yes => demangled(symbol),
            Self::No => Cow::Borrowed(symbol),
        }
    }
}

/// A symbol as the source has it: without the version that the linker, and the suffix that the
/// compiler's pass added (`name.flick.HHHHHHHH`, docs/compiler.md).
pub fn plain(symbol: &str) -> &str {
    let name = symbol.split('@').next().unwrap_or(symbol);
    match name.rsplit_once(".flick.") {
        Some((stem, hash))
            if hash.len() == 8
                && hash.bytes().all(|b| b.is_ascii_hexdigit())
                && !stem.is_empty() =>
        {
            stem
        }
        _ => name,
    }
}

/// The C++ name of a symbol of the Itanium C++ ABI (`_Z…`), and the Rust name of a function of Rust's;
/// any other as it is.
pub fn demangled(symbol: &str) -> Cow<'_, str> {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Cow::Owned(format!("{name:#}"));
    }
    if !symbol.starts_with("_Z") {
        return Cow::Borrowed(symbol);
    }
    match demangled_with(symbol, DemangleOptions::new()) {
        Some(name) => Cow::Owned(name),
        None => Cow::Borrowed(symbol),
    }
}

fn demangled_with(symbol: &str, options: DemangleOptions) -> Option<String> {
    let parsed = Symbol::new(symbol.to_owned())
        .or_else(|error| Symbol::new(without_modules(symbol).ok_or(error)?));
    parsed.ok()?.demangle_with_options(&options).ok()
}

/// A symbol of an entity of a C++20 module, as if it were of none: `cpp_demangle` does not know
/// `W5shape`, the attachment to module `shape`. None where that would count the substitutions
/// (`S0_`) another way.
fn without_modules(symbol: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = symbol;
    let mut in_module = false;
    while let Some(first) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let end = digits + rest[..digits].parse::<usize>().ok()?;
            let name = rest.get(..end)?;
            if !std::mem::take(&mut in_module) {
                out.push_str(name);
            }
            rest = &rest[end..];
        } else if let Some(after) = rest.strip_prefix('W') {
            in_module = true;
            rest = after.strip_prefix('P').unwrap_or(after);
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    let counted = |(at, _): (usize, &str)| {
        let after = out[at + 1..]
            .trim_start_matches(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        after.starts_with('_')
    };
    (out.len() < symbol.len() && !out.match_indices('S').any(counted)).then_some(out)
}

/// A C++ function's name as a placement file may have it: with parameters, and without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// `ns::Stack<int>::push(int)`
    pub full: String,
    /// `ns::Stack<int>::push`
    pub qualified: String,
}

/// Of a symbol of the Itanium C++ ABI; of a C function's its name twice.
pub fn function_name(symbol: &str) -> FunctionName {
    let plain = || symbol.to_owned();
    let cxx = symbol.starts_with("_Z");
    let with = |options: DemangleOptions| {
        let name = cxx.then(|| demangled_with(symbol, options)).flatten();
        name.unwrap_or_else(plain)
    };
    let options = DemangleOptions::new().no_return_type();
    FunctionName {
        full: with(options),
        qualified: with(options.no_params()),
    }
}

/// The name of a function by its symbol, without namespaces, classes and parameters.
pub fn base_name(symbol: &str) -> String {
    let name = function_name(symbol).qualified;
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth -= 1,
            b':' if depth == 0 => start = at + 1,
            // The rest is an operator, with brackets of its own.
            b'o' if depth == 0 && at == start && name[at..].starts_with("operator") => break,
            _ => {}
        }
    }
    name[start..].to_owned()
}

/// A text in which each word that is a C++ symbol is demangled: a line of a disassembler or linker.
pub fn demangled_text(text: &str) -> Cow<'_, str> {
    if !text.contains("_Z") {
        return Cow::Borrowed(text);
    }
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(part) {
        out.push_str(&rest[..start]);
        let word = &rest[start..];
        let end = word.find(|c| !part(c)).unwrap_or(word.len());
        out.push_str(&demangled(&word[..end]));
        rest = &word[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_in_the_source() {
        assert_eq!(plain("f.flick.0123abcd"), "f");
        assert_eq!(plain("f.flick.12"), "f.flick.12");
        assert_eq!(plain("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(plain("plain"), "plain");
    }

    #[test]
    fn cxx_names() {
        for (symbol, name) in [
            ("_Z3addii", "add(int, int)"),
            ("_ZN5Graph5visitEl", "Graph::visit(long)"),
            (
                "_ZNSt6vectorIlSaIlEE9push_backERKl",
                "std::vector<long, std::allocator<long> >::push_back(long const&)",
            ),
            ("_Znwm", "operator new(unsigned long)"),
            ("main", "main"),
            ("_Z", "_Z"),
            ("_Znonsense", "_Znonsense"),
            (
                "_ZN12flick_kernel6kernel6Kernel6finish17ha0f439177954e0e9E",
                "flick_kernel::kernel::Kernel::finish",
            ),
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
            ("_ZW5shape4areaii", "area(int, int)"),
            ("_ZNKW5shapeWP5round6Circle4areaEv", "Circle::area() const"),
            // Is S_ the module, or Square?
            (
                "_ZNKW5shape6Square4sameERKS_",
                "_ZNKW5shape6Square4sameERKS_",
            ),
        ] {
            assert_eq!(demangled(symbol), name, "{symbol}");
            assert_eq!(Demangle::No.apply(symbol), symbol);
        }
    }

    #[test]
    fn parts_of_functions() {
        for (symbol, full, qualified) in [
            ("sum", "sum", "sum"),
            ("_ZNK6Square4areaEv", "Square::area() const", "Square::area"),
            ("_Z5twiceIiET_S0_", "twice<int>(int)", "twice<int>"),
            ("_ZN6SquareC1Ed", "Square::Square(double)", "Square::Square"),
            ("_ZlsR1AS_", "operator<<(A&, A)", "operator<<"),
        ] {
            let name = function_name(symbol);
            assert_eq!((&*name.full, &*name.qualified), (full, qualified));
        }
    }

    #[test]
    fn names_without_what_is_around_them() {
        for (symbol, name) in [
            ("sum", "sum"),
            ("_ZNK6Square4areaEv", "area"),
            ("_Z5twiceIiET_S0_", "twice<int>"),
            ("_ZN6SquareC1Ed", "Square"),
            ("_ZlsR1AS_", "operator<<"),
            ("_ZN1AclEv", "operator()"),
        ] {
            assert_eq!(base_name(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn names_inside_a_line() {
        assert_eq!(
            demangled_text("  10: jal 0x20 <_Z3addii+0x4>\n"),
            "  10: jal 0x20 <add(int, int)+0x4>\n"
        );
        assert_eq!(demangled_text("é _Zx 7"), "é _Zx 7");
    }
}
