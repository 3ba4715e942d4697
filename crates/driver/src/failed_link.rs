//! Notes behind the linker's own text, on the NxP code that a failed link concerns. The linker
//! speaks of symbols, and some of these are Flick's; the notes (FLK0310) name the functions of the
//! source.
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use flick_abi::names::{CALL_PREFIX, HOST_CLONE_PREFIX, LINK_GUARD, NXP_PREFIX};
use flick_diagnostics::Code;
use flick_image::place_lines::Placed;
use flick_image::{Placements, fat};
use flick_names::{demangled, function_name, plain};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};

use crate::line::{self, Line};
use crate::link_inputs::{each_own_object, is_script, shown_place};
use crate::run::Runner;
use crate::search::LinkInput;
use crate::temp::Temp;
use crate::{Error, Result};

/// More notes than this help nobody.
const MOST: usize = 4;

/// Asks the linker again, for text that can be read (no translation, the linker's names), and
/// explains what concerns NxP code. `words`: the line that failed.
pub fn notes(
    line: &Line,
    files: &[LinkInput],
    words: &[OsString],
    temp: &Temp,
) -> Result<Vec<Error>> {
    let mut words = line::for_another(words, &temp.file("failed"));
    words.push("--no-demangle".into());
    let output = Runner::default().capture_set(&line.linker, &words, |command| {
        command.env("LC_ALL", "C");
    })?;
    let text = String::from_utf8_lossy(&output.stderr);
    let complaints = Complaints::read(&text);
    if complaints.undefined.is_empty() && complaints.duplicate.is_empty() {
        return Ok(Vec::new());
    }
    let facts = Facts::read(files, &complaints)?;
    Ok(facts.explain(line, &complaints))
}

/// What the linker says, by symbol.
#[derive(Debug, Default, PartialEq, Eq)]
struct Complaints {
    undefined: BTreeSet<String>,
    duplicate: BTreeSet<String>,
    text: String,
}

impl Complaints {
    /// The texts of GNU ld, gold, lld and mold.
    fn read(text: &str) -> Self {
        let mut all = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        for line in text.lines() {
            let after = |marks: &[&str]| {
                let rest = marks.iter().find_map(|mark| line.split_once(mark))?.1;
                let rest = rest.trim_start_matches(['`', '\'', ' ']);
                let end = rest.find(['\'', ' ', ';', ',']).unwrap_or(rest.len());
                // GNU ld's `hidden symbol 'f' isn't defined` and a version behind the name.
                let name = rest[..end].split('@').next().unwrap_or_default();
                (!name.is_empty()).then(|| name.to_owned())
            };
            let undefined = [
                "undefined reference to ",
                "undefined symbol: ",
                "undefined hidden symbol: ",
                "undefined protected symbol: ",
            ];
            let hidden = || after(&["hidden symbol "]).filter(|_| line.ends_with("isn't defined"));
            all.undefined.extend(after(&undefined).or_else(hidden));
            let duplicate = after(&["multiple definition of ", "duplicate symbol: "]);
            all.duplicate.extend(duplicate);
        }
        all
    }
}

/// What the inputs say about the symbols in question.
#[derive(Debug, Default)]
struct Facts {
    functions: Vec<Placed>,
    /// Marked declarations.
    expected: Vec<Placed>,
    /// A linker script among the user's files.
    script: Option<String>,
    /// Symbol → files that define it, and that use it on the host.
    definers: BTreeMap<String, Vec<String>>,
    users: BTreeMap<String, String>,
    /// Undefined symbol → a defined one of the other language, and its file.
    other_language: BTreeMap<String, (String, String)>,
    nxp_users: Users,
    /// Of the host's functions those that have other names than in the source.
    renamed_users: Users,
}

/// Symbol → functions that refer to it, by the linker's names; with their file.
type Users = BTreeMap<String, BTreeSet<(String, String)>>;

impl Facts {
    fn read(files: &[LinkInput], complaints: &Complaints) -> Result<Self> {
        let mut facts = Self::default();
        let mut own = files.iter().filter(|input| !input.of_system());
        let script = own.find(|input| is_script(&input.path));
        facts.script = script.map(|input| input.path.display().to_string());
        each_own_object(files, |file, place| facts.object(file, place, complaints))?;
        Ok(facts)
    }

    fn object(&mut self, file: &object::File, place: &str, complaints: &Complaints) -> Result<()> {
        let place = shown_place(file, place);
        let places = Placements::of_file(file)?;
        self.functions.extend(places.functions);
        self.expected.extend(places.expected);
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            let known = complaints.undefined.contains(name) || complaints.duplicate.contains(name);
            if symbol.is_undefined() {
                if known {
                    let user = self.users.entry(name.into());
                    user.or_insert_with(|| place.clone());
                }
                continue;
            }
            if known {
                let definers = self.definers.entry(name.into()).or_default();
                definers.push(place.clone());
            }
            self.other_language.extend(
                complaints
                    .undefined
                    .iter()
                    .filter(|undefined| differ_in_language(undefined, name))
                    .map(|undefined| (undefined.clone(), (name.to_owned(), place.clone()))),
            );
        }
        let add = |users: &mut Users, file: &object::File| {
            for (symbol, function) in references(file, complaints) {
                let all = users.entry(symbol).or_default();
                all.insert((function, place.clone()));
            }
        };
        let mut host = Users::new();
        add(&mut host, file);
        for (symbol, mut users) in host {
            users.retain(|(function, _)| written(function) != function);
            self.renamed_users.entry(symbol).or_default().extend(users);
        }
        for record in fat::of_object(file)? {
            if let Ok(nxp) = object::File::parse(record.payload) {
                add(&mut self.nxp_users, &nxp);
            }
        }
        Ok(())
    }

    fn explain(&self, line: &Line, complaints: &Complaints) -> Vec<Error> {
        let mut notes: Vec<Error> = Vec::new();
        for symbol in &complaints.duplicate {
            notes.extend(self.duplicate(symbol));
        }
        let (library, others): (Vec<_>, Vec<_>) = complaints
            .undefined
            .iter()
            .partition(|symbol| is_cxx_library(symbol) && !self.definers.contains_key(*symbol));
        if !links_cxx_library(line)
            && let Some(symbol) = library.iter().find(|s| self.nxp_users.contains_key(**s))
        {
            notes.push(self.no_cxx_library(symbol));
        }
        for symbol in others {
            notes.extend(self.undefined(symbol, complaints));
        }
        notes.dedup();
        notes.truncate(MOST);
        notes
    }

    /// Where the source of a placed function is, or the file.
    fn position(&self, function: &str, file: &str) -> String {
        let row = self
            .functions
            .iter()
            .chain(&self.expected)
            .find(|row| row.function == function || row.function == plain(function));
        match row {
            Some(row) if row.line != 0 => format!("{}:{}", row.file, row.line),
            Some(row) if !row.file.is_empty() => row.file.clone(),
            _ => file.to_owned(),
        }
    }

    fn is_placed(&self, function: &str) -> bool {
        self.functions
            .iter()
            .any(|row| row.function == function && row.placement != "host")
    }

    fn duplicate(&self, symbol: &str) -> Option<Error> {
        let placed = self
            .functions
            .iter()
            .find(|row| row.function == symbol && row.placement != "host")?;
        let name = demangled(symbol);
        let place = self.position(symbol, &placed.unit);
        let files = self.definers.get(symbol)?.join(", ");
        Some(note(
            format!("'{name}' is defined twice"),
            place,
            format!(
                "this definition is placed on the NxP; these files define the function: {files}"
            ),
            "keep one: a function has one definition for both sides, and Flick makes the copy for the \
             host itself",
        ))
    }

    fn no_cxx_library(&self, symbol: &str) -> Error {
        let user = self.nxp_users.get(symbol).and_then(|users| users.first());
        let (function, file) = user.cloned().unwrap_or_default();
        note(
            "the C++ library is missing".into(),
            file,
            format!(
                "it is C++, and its NxP code uses '{}' (in '{}'); flick-cc links as clang does, without \
                 the C++ library",
                demangled(symbol),
                demangled(plain(&function))
            ),
            "link with flick-c++",
        )
    }

    fn undefined(&self, symbol: &str, complaints: &Complaints) -> Option<Error> {
        let name = demangled(plain(symbol));
        let what = format!("'{name}' is undefined");
        let user = self.nxp_users.get(symbol).and_then(|users| users.first());
        let expected = self.expected.iter().find(|row| row.function == symbol);
        if symbol == LINK_GUARD {
            return Some(note(
                "the linker takes NxP code that Flick has not seen".into(),
                self.script.clone().unwrap_or_default(),
                "an object that flick cc compiled comes into the link by a linker script, and Flick \
                 sees what the command line names"
                    .into(),
                "name the object or archive itself on the command line",
            ));
        }
        if symbol.starts_with("__flick_") || plain(symbol) != symbol {
            let file = self.users.get(symbol).cloned().unwrap_or_default();
            let (function, file) = user.cloned().unwrap_or((String::new(), file));
            let used = if function.is_empty() || file.is_empty() {
                "NxP code uses it".to_owned()
            } else {
                format!("the NxP code of '{}' uses it", demangled(plain(&function)))
            };
            let place = self.position(&function, &file);
            return (!place.is_empty()).then(|| {
                note(
                    what,
                    place,
                    format!(
                        "{used} under the hidden name '{symbol}', which is no longer global in the object"
                    ),
                    "run objcopy and strip on the finished program or library: an object with NxP code \
                     needs its global symbols, the hidden ones too",
                )
            });
        }
        if let Some((other, file)) = self.other_language.get(symbol)
            && (user.is_some() || expected.is_some() || self.is_placed(other))
        {
            let asks = match user {
                Some((function, file)) => {
                    let function = demangled(plain(function));
                    format!("the NxP code of '{function}' ({file})")
                }
                None => self.users.get(symbol).cloned().unwrap_or_default(),
            };
            let (defined, asked) = if other.starts_with("_Z") {
                ("C++ function", "C function")
            } else {
                ("C function", "C++ function")
            };
            return Some(note(
                what,
                self.position(other, file),
                format!(
                    "the {defined} '{}' is defined here, and {asks} asks for the {asked} '{name}'",
                    demangled(other)
                ),
                "declare it extern \"C\" where C++ sees it, in a header that both files include",
            ));
        }
        if let Some(row) = expected {
            let template = name.contains('<');
            let (why, help) = if template {
                (
                    "it is marked here, and nothing instantiates it: the template's body is not seen \
                     where it is used",
                    format!(
                        "put the body into the header, or instantiate the template where its body is \
                         (template {name};)"
                    ),
                )
            } else {
                (
                    "it is marked here, and no file of the link defines it",
                    "link the object or library that defines it".to_owned(),
                )
            };
            let place = format!("{}:{}", row.file, row.line);
            return Some(note(what, place, why.into(), help));
        }
        let renamed = || self.renamed_users.get(symbol)?.first();
        let (function, file) = user.or_else(renamed)?;
        let own = written(function);
        let mut why = format!(
            "'{}' needs it, and no file of the link defines it",
            demangled(own)
        );
        if user.is_some() {
            why.push_str(" for the host or the NxP");
        }
        let clone = format!("{HOST_CLONE_PREFIX}{own}");
        if complaints.text.contains(&clone) {
            why.push_str(&format!(" ('{clone}' is its copy for the host)"));
        }
        Some(note(
            what,
            self.position(own, file),
            why,
            "link the object or library that defines it, behind the objects that need it",
        ))
    }
}

/// The undefined symbols of `complaints` that a file refers to, with the functions that do.
fn references(file: &object::File, complaints: &Complaints) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for section in file.sections() {
        for (offset, relocation) in section.relocations() {
            let RelocationTarget::Symbol(target) = relocation.target() else {
                continue;
            };
            let target = file.symbol_by_index(target);
            let Some(name) = target.ok().and_then(|symbol| symbol.name().ok()) else {
                continue;
            };
            let name = name.strip_prefix(CALL_PREFIX).unwrap_or(name);
            if !complaints.undefined.contains(name) {
                continue;
            }
            let around = file.symbols().filter(|symbol| {
                symbol.section_index() == Some(section.index())
                    && symbol.kind() == SymbolKind::Text
                    && symbol.address() <= offset
            });
            let function = around.max_by_key(|symbol| symbol.address());
            if let Some(function) = function.and_then(|symbol| symbol.name().ok()) {
                let function = function.strip_prefix(NXP_PREFIX).unwrap_or(function);
                found.push((name.to_owned(), function.to_owned()));
            }
        }
    }
    found
}

/// The linker's name of a function before Flick gave it another one.
fn written(function: &str) -> &str {
    plain(function.strip_prefix(HOST_CLONE_PREFIX).unwrap_or(function))
}

fn note(what: String, place: String, why: String, help: impl Into<String>) -> Error {
    Error::new(Code::FailedLink, what, place, why, help)
}

/// Whether one is the C name and the other the C++ name of one function.
fn differ_in_language(a: &str, b: &str) -> bool {
    let (cxx, c) = match (a.starts_with("_Z"), b.starts_with("_Z")) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return false,
    };
    // `_Z4areai` has the length of the name before it; nested names are not C's.
    let Some(rest) = cxx.strip_prefix("_Z") else {
        return false;
    };
    rest.strip_prefix(&c.len().to_string())
        .is_some_and(|rest| rest.starts_with(c))
        && function_name(cxx).qualified == c
}

/// What libstdc++, libc++ and their ABI libraries define.
fn is_cxx_library(symbol: &str) -> bool {
    [
        "_ZSt",
        "_ZNSt",
        "_ZNKSt",
        "_ZTVSt",
        "_ZTISt",
        "_ZTVN10__cxxabiv1",
        "_Znw",
        "_Zna",
        "_Zdl",
        "_Zda",
        "__cxa_",
        "__gxx_personality",
    ]
    .iter()
    .any(|prefix| symbol.starts_with(prefix))
}

fn links_cxx_library(line: &Line) -> bool {
    line.words().any(|word| {
        let word = word.to_string_lossy();
        ["-lstdc++", "-lc++", "-lsupc++", "-lc++abi"].contains(&&*word)
            || word.contains("libstdc++.")
            || word.contains("libc++.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn texts_of_linkers() {
        for text in [
            "/usr/bin/ld.bfd: a.o: in function `__flick_twin_f':\n\
             a.c:(.text+0x2): undefined reference to `missing'\n\
             /usr/bin/ld: prog: hidden symbol `gone' isn't defined\n\
             /usr/bin/ld: b.o:b.c:(.text+0x0): multiple definition of `area'; a.o:a.c:(.text.area+0x0): first defined here\n\
             collect2: error: ld returned 1 exit status",
            "ld.lld: error: undefined symbol: missing\n>>> referenced by a.c:3\n\
             >>>               a.o:(__flick_twin_f)\n\
             ld.lld: error: undefined hidden symbol: gone\n\
             ld.lld: error: duplicate symbol: area\n>>> defined at a2.c\n",
        ] {
            let found = Complaints::read(text);
            assert_eq!(found.undefined, set(&["gone", "missing"]), "{text}");
            assert_eq!(found.duplicate, set(&["area"]), "{text}");
        }
        let other = Complaints::read("ld: warning: a.o: missing .note.GNU-stack section implies");
        assert!(other.undefined.is_empty() && other.duplicate.is_empty());
    }

    #[test]
    fn one_function_in_two_languages() {
        assert!(differ_in_language("area", "_Z4areai"));
        assert!(differ_in_language("_Z4areav", "area"));
        for (a, b) in [
            ("area", "_ZN6Square4areaEv"),
            ("area", "_Z5area2i"),
            ("area", "area"),
            ("4area", "_Z4areai"),
        ] {
            assert!(!differ_in_language(a, b), "{a} {b}");
        }
    }
}
