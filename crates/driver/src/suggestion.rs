//! Suggestions for a placement entry that matches nothing. The pass decides what an entry matches
//! (`pass/PlacementFile.cpp`); here are the names that it could have matched.
use std::collections::{BTreeMap, BTreeSet};

use flick_names::{FunctionName, distance, function_name, plain};
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::Result;
use crate::link_inputs::{each_own_object, shown_place};
use crate::search::LinkInput;

/// Functions of a link or of finished files, by the linker's names.
#[derive(Debug, Default)]
pub struct Functions {
    /// With the file that defines the function, and whether it was written in assembly, as far as
    /// that shows.
    defined: BTreeMap<String, (String, bool)>,
    /// With a file that calls it.
    called: BTreeMap<String, String>,
}

/// What is wrong with an entry, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Finding {
    /// The name is right: this file has the function, and was compiled without the entry.
    NotCompiledWith(String),
    /// The name is right, and this file has the function in assembly, which is not compiled at all.
    Assembly(String),
    /// This file calls it, and none of the files defines it.
    OnlyCalled(String),
    /// Entries that would match, at most [`MOST`] of them.
    Near(Vec<String>),
    Nothing,
}

const MOST: usize = 3;

impl Functions {
    /// Adds those of one file.
    pub fn add(&mut self, file: &object::File, place: &str) {
        let assembled = is_assembled(file);
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            let name = plain(name);
            if name.is_empty() || name.starts_with("__flick_") {
                continue;
            }
            if symbol.is_undefined() {
                let entry = self.called.entry(name.into());
                entry.or_insert_with(|| place.into());
            } else if is_function(file, &symbol) {
                // What a compiler makes has a type.
                let assembly = assembled || symbol.kind() == SymbolKind::Unknown;
                let entry = self.defined.entry(name.into());
                entry.or_insert_with(|| (place.into(), assembly));
            }
        }
    }

    /// What the entry `text` (`nxp PATTERN`) may have meant.
    pub fn find(&self, text: &str) -> Finding {
        let (side, pattern) = text.split_once([' ', '\t']).unwrap_or(("", text));
        let pattern = pattern.trim();
        let wanted = Wanted::parse(pattern);
        let whole = squeezed(pattern);
        let exact = |symbol: &String, name: &FunctionName| {
            [symbol, &name.full, &name.qualified]
                .iter()
                .any(|s| squeezed(s) == whole)
        };
        let mut best: Option<(Rank, BTreeSet<String>)> = None;
        let mut offer = |rank: Rank, name: String| match &mut best {
            Some((have, names)) if *have == rank => drop(names.insert(name)),
            Some((have, _)) if *have < rank => {}
            _ => best = Some((rank, BTreeSet::from([name]))),
        };
        for (symbol, (place, assembly)) in &self.defined {
            let name = function_name(symbol);
            if exact(symbol, &name) {
                return match assembly {
                    true => Finding::Assembly(place.clone()),
                    false => Finding::NotCompiledWith(place.clone()),
                };
            }
            // A lambda's name is spelt otherwise by each demangler.
            if name.full.contains('{') {
                continue;
            }
            let plain = without_arguments(&name.qualified);
            match wanted.scope {
                None => {
                    if let Some(rank) = wanted.rank(&plain) {
                        offer(rank, name.full);
                    }
                }
                Some(keyword) => {
                    for scope in scopes(&plain) {
                        if let Some(rank) = wanted.rank(scope) {
                            offer(rank, keyword.of(scope));
                        }
                    }
                }
            }
        }
        match best {
            Some((_, names)) => Finding::Near(
                names
                    .into_iter()
                    .take(MOST)
                    .map(|name| format!("{side} {name}").trim().to_owned())
                    .collect(),
            ),
            None => match self
                .called
                .iter()
                .find(|(symbol, _)| exact(symbol, &function_name(symbol)))
            {
                Some((_, place)) => Finding::OnlyCalled(place.clone()),
                None => Finding::Nothing,
            },
        }
    }
}

/// Those of a link's own objects.
pub fn of_inputs(files: &[LinkInput]) -> Result<Functions> {
    let mut functions = Functions::default();
    each_own_object(files, |file, place| {
        functions.add(file, &shown_place(file, place));
        Ok(())
    })?;
    Ok(functions)
}

/// Whether an object comes from an assembler alone: a compiler leaves its name there, or the
/// source's.
fn is_assembled(file: &object::File) -> bool {
    let sources = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::File);
    let mut names = sources.filter_map(|symbol| symbol.name().ok());
    file.kind() == ObjectKind::Relocatable
        && file.section_by_name(".comment").is_none()
        && names.all(|name| {
            let extension = name.rsplit_once('.').map(|(_, extension)| extension);
            matches!(extension, Some("s" | "S" | "sx" | "asm" | "nasm"))
        })
}

/// Whether a definition is code; what comes from assembly may have no type.
fn is_function<'a>(file: &object::File<'a>, symbol: &impl ObjectSymbol<'a>) -> bool {
    let in_code = || {
        let section = symbol.section_index();
        let section = section.and_then(|index| file.section_by_index(index).ok());
        section.is_some_and(|section| section.kind() == SectionKind::Text)
    };
    match symbol.kind() {
        SymbolKind::Text => true,
        SymbolKind::Unknown => in_code(),
        _ => false,
    }
}

/// Lower is nearer: how the names are alike, then the edits.
type Rank = (u8, usize);

/// How an entry asks for everything in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// `class NAME`, `namespace NAME`
    Keyword(&'static str),
    /// `NAME::*`
    Star,
}

impl Scope {
    fn of(self, name: &str) -> String {
        match self {
            Self::Keyword(keyword) => format!("{keyword} {name}"),
            Self::Star => format!("{name}::*"),
        }
    }
}

/// An entry's pattern, as far as it can be compared with names.
struct Wanted {
    scope: Option<Scope>,
    /// Qualified, without parameters, template arguments and result.
    name: String,
    /// Its letters between wildcards, where it has some.
    stem: Option<String>,
}

impl Wanted {
    fn parse(pattern: &str) -> Self {
        let keyword = ["class", "namespace"].into_iter().find_map(|keyword| {
            let rest = pattern.strip_prefix(keyword)?.strip_prefix([' ', '\t'])?;
            Some((Some(Scope::Keyword(keyword)), rest.trim()))
        });
        let star = || Some((Some(Scope::Star), pattern.strip_suffix("::*")?));
        let (scope, name) = keyword.or_else(star).unwrap_or((None, pattern));
        let name = match name.find("operator") {
            Some(_) => name.to_owned(),
            None => {
                let name = without_arguments(name);
                // What other languages and debuggers write.
                let name = name.replace("->", "::");
                let name = if name.contains("::") {
                    name
                } else {
                    name.replace('.', "::")
                };
                // A result stands before the name.
                let last = name.rsplit([' ', '\t', '&']).next().unwrap_or(&name);
                last.trim_start_matches("::").to_owned()
            }
        };
        let wild = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\');
        let stem = name
            .contains(wild)
            .then(|| name.split(wild).max_by_key(|part| part.len()))
            .flatten()
            .map(|stem| last_part(stem).to_lowercase());
        Self { scope, name, stem }
    }

    fn rank(&self, candidate: &str) -> Option<Rank> {
        if let Some(stem) = &self.stem {
            let near = stem.len() > 2 && last_part(candidate).to_lowercase().contains(&**stem);
            return near.then_some((0, 0));
        }
        if self.name.is_empty() {
            return None;
        }
        let suffix = |text: &str, end: &str| {
            let before = text.strip_suffix(end);
            before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
        };
        if suffix(candidate, &self.name) || suffix(&self.name, candidate) {
            return Some((0, 0));
        }
        // `Sqare::area` is near `Square::area`, not near every other `area`.
        let whole = distance(&self.name, candidate).map(|edits| (1, edits));
        let last = || distance(last_part(&self.name), last_part(candidate));
        let scoped = self.name.contains("::") && candidate.contains("::");
        whole.or_else(|| {
            let edits = last().filter(|&edits| !scoped || edits == 0)?;
            Some((2, edits))
        })
    }
}

/// The name behind the last `::`.
fn last_part(name: &str) -> &str {
    match name.find("operator") {
        Some(at) => &name[at..],
        None => name.rsplit("::").next().unwrap_or(name),
    }
}

/// The classes and namespaces around a name without template arguments, outermost first.
fn scopes(name: &str) -> impl Iterator<Item = &str> {
    let end = name.find("operator").unwrap_or(name.len());
    name[..end].match_indices("::").map(|(at, _)| &name[..at])
}

/// Without template arguments, and without parameters and what stands behind them.
fn without_arguments(name: &str) -> String {
    // Its brackets need not be brackets.
    if name.contains("operator") {
        return name.to_owned();
    }
    let mut out = String::new();
    let mut depth = 0_u32;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        const ANONYMOUS: &str = "(anonymous namespace)";
        if depth == 0 && rest.starts_with(ANONYMOUS) {
            out.push_str(ANONYMOUS);
            rest = &rest[ANONYMOUS.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out.trim().to_owned()
}

/// Without the blanks in which spellings differ.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Functions {
        let symbols = [
            "sum",
            "twice",
            "_ZNK6Square4areaEv",
            "_ZNK6Square9perimeterEv",
            "_ZN8geometry5scaleEd",
            "_ZN8geometry5scaleEi",
            "_ZN8geometry6CircleC1Ed",
            "_ZNK8geometry6Circle4areaEv",
            "_Z5halveIiET_S0_",
            "_ZlsR1AS_",
        ];
        let defined = symbols.map(|symbol| (symbol.to_owned(), ("a.o".to_owned(), false)));
        let mut defined: BTreeMap<_, _> = defined.into();
        defined.insert("copy_words".into(), ("copy.o".into(), true));
        let called = [("qsort".to_owned(), "b.o".to_owned())];
        Functions {
            defined,
            called: called.into(),
        }
    }

    #[test]
    fn what_an_entry_may_have_meant() {
        let functions = functions();
        for (entry, want) in [
            ("nxp sums", &["nxp sum"][..]),
            ("nxp SUM", &["nxp sum"]),
            ("nxp long sum(const int *, int)", &["nxp sum"]),
            (
                "nxp area",
                &[
                    "nxp Square::area() const",
                    "nxp geometry::Circle::area() const",
                ],
            ),
            ("nxp Square.area", &["nxp Square::area() const"]),
            ("nxp Sqare::area", &["nxp Square::area() const"]),
            ("nxp Square::aera", &["nxp Square::area() const"]),
            (
                "nxp double Square::area() const",
                &["nxp Square::area() const"],
            ),
            ("nxp shapes::Square::area", &["nxp Square::area() const"]),
            (
                "nxp geometry::scale(long)",
                &["nxp geometry::scale(double)", "nxp geometry::scale(int)"],
            ),
            ("both halve<long>", &["both halve<int>(int)"]),
            ("nxp class Sqare", &["nxp class Square"]),
            ("nxp class Circle", &["nxp class geometry::Circle"]),
            ("nxp namespace geometri", &["nxp namespace geometry"]),
            ("nxp Sqare::*", &["nxp Square::*"]),
            ("host peri*", &["host Square::perimeter() const"]),
        ] {
            let want = Finding::Near(want.iter().map(|s| (*s).to_owned()).collect());
            assert_eq!(functions.find(entry), want, "{entry}");
        }
        for entry in ["nxp sum", "nxp Square::area() const", "nxp Square::area"] {
            let want = Finding::NotCompiledWith("a.o".into());
            assert_eq!(functions.find(entry), want, "{entry}");
        }
        assert_eq!(
            functions.find("nxp copy_words"),
            Finding::Assembly("copy.o".into())
        );
        assert_eq!(
            functions.find("nxp qsort"),
            Finding::OnlyCalled("b.o".into())
        );
        for entry in ["nxp render", "nxp class Window", "nxp", "nxp x*"] {
            assert_eq!(functions.find(entry), Finding::Nothing, "{entry}");
        }
    }

    #[test]
    fn arguments() {
        for (name, want) in [
            (
                "ns::Stack<std::pair<int, int> >::push(int)",
                "ns::Stack::push",
            ),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("operator<<(A&, A)", "operator<<(A&, A)"),
        ] {
            assert_eq!(without_arguments(name), want);
        }
    }
}
