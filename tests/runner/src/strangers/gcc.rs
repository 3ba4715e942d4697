//! GCC's test programs that run: all of `gcc.c-torture/execute`, and the programs of the other
//! folders that say `dg-do run`.
use std::fs;
use std::path::{Path, PathBuf};

use super::dejagnu::{self, Directive, Item};
use super::stranger::{Found, Level, Stranger, Unit};
use crate::program::{Language, sorted_entries};

/// The settings that GCC's `.exp` files give to the programs of a folder.
struct Folder {
    path: &'static str,
    language: Language,
    words: &'static [&'static str],
    /// Programs that do not say what is to be done with them run.
    all_run: bool,
    /// Each program has a second source, and `lib/main.c`.
    with_library: bool,
}

const FOLDERS: [Folder; 8] = [
    folder("gcc.c-torture/execute", Language::C, true),
    Folder {
        words: &["-fno-inline"],
        ..folder("gcc.c-torture/execute/ieee", Language::C, true)
    },
    Folder {
        words: &[
            "-fno-tree-dse",
            "-fno-tree-loop-distribute-patterns",
            "-fno-tracer",
            "-fno-ipa-ra",
            "-fno-inline-functions",
        ],
        with_library: true,
        ..folder("gcc.c-torture/execute/builtins", Language::C, true)
    },
    folder("gcc.dg/torture", Language::C, false),
    folder("gcc.dg/torture/stackalign", Language::C, false),
    folder("gcc.dg/torture/tls", Language::C, false),
    folder("g++.dg/torture", Language::Cxx, false),
    folder("g++.dg/eh", Language::Cxx, false),
];

const fn folder(path: &'static str, language: Language, all_run: bool) -> Folder {
    Folder {
        path,
        language,
        words: &[],
        all_run,
        with_library: false,
    }
}

/// Options for old C, which GCC accepts with a warning and clang refuses.
const OLD_C: [&str; 6] = [
    "-Wno-implicit-int",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-error",
];

/// The programs of the suite in `dir`.
pub fn find(dir: &Path) -> Result<Found, String> {
    let mut found = Found::default();
    for folder in &FOLDERS {
        for path in sorted_entries(&dir.join(folder.path))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ending = match folder.language {
                Language::C => ".c",
                Language::Cxx => ".C",
            };
            let Some(stem) = name.strip_suffix(ending) else {
                continue;
            };
            if folder.with_library && stem.ends_with("-lib") {
                continue;
            }
            let name = format!("{}/{stem}", folder.path);
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let text = String::from_utf8_lossy(&bytes);
            match read(folder, &path, &text) {
                Ok(Read::Runs(asked)) => found.programs.push(stranger(folder, name, &path, asked)),
                Ok(Read::Compiles) => {}
                Ok(Read::Elsewhere(why)) => found.elsewhere.push((name, why)),
                Err(why) => found.not_understood.push(format!("{name}: {why}")),
            }
        }
    }
    Ok(found)
}

/// The requests of a program's directives.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    words: Vec<String>,
    sources: Vec<String>,
    levels: Vec<Level>,
}

#[derive(Debug, PartialEq, Eq)]
enum Read {
    Runs(Asked),
    Compiles,
    /// It is for another machine.
    Elsewhere(String),
}

fn read(folder: &Folder, path: &Path, text: &str) -> Result<Read, String> {
    let all = dejagnu::directives(text);
    let mut runs = folder.all_run;
    let mut elsewhere = None;
    let mut asked = Asked {
        levels: Level::ALL.to_vec(),
        ..Asked::default()
    };
    // The last one whose condition holds counts.
    for directive in all.iter().filter(|d| d.name == "do") {
        let run = directive.items.first().is_some_and(|i| i.text == "run");
        match selected(&directive.items) {
            Ok(true) => (runs, elsewhere) = (run, None),
            Ok(false) if run => elsewhere = Some(shown(directive)),
            Ok(false) => {}
            Err(word) => return Err(format!("dg-do: {word}")),
        }
        asked.words.extend(standard_in(directive));
    }
    match elsewhere {
        Some(why) => return Ok(Read::Elsewhere(why)),
        None if !runs => return Ok(Read::Compiles),
        None => {}
    }
    for directive in &all {
        if let Some(why) = apply(directive, &mut asked)? {
            return Ok(Read::Elsewhere(why));
        }
    }
    let extra = path.with_extension("x");
    if let Ok(text) = fs::read_to_string(extra) {
        asked.words.extend(flags_of_script(&text));
    }
    Ok(Read::Runs(asked))
}

/// Takes a directive over. A reason: the program is for another machine.
fn apply(directive: &Directive, asked: &mut Asked) -> Result<Option<String>, String> {
    let items = &directive.items;
    let text = |n: usize| items.get(n).map_or("", |i| i.text.as_str());
    let unknown = |word: String| format!("dg-{}: {word}", directive.name);
    match directive.name.as_str() {
        "options" | "additional-options"
            if selected(items.get(1..).unwrap_or(&[])).map_err(unknown)? =>
        {
            let words = dejagnu::list(text(0)).into_iter().map(|i| i.text);
            // The level is ours.
            asked.words.extend(words.filter(|w| !w.starts_with("-O")));
        }
        "additional-sources" => {
            asked
                .sources
                .extend(dejagnu::list(text(0)).into_iter().map(|i| i.text));
        }
        "require-effective-target" => {
            if selected(items.get(1..).unwrap_or(&[])).map_err(unknown)?
                && !dejagnu::holds(text(0)).map_err(unknown)?
            {
                return Ok(Some(shown(directive)));
            }
            asked.words.extend(standard_in(directive));
        }
        "skip-if" => {
            let condition = text(1);
            if dejagnu::holds(condition).map_err(unknown)? {
                asked.levels.retain(|level| !skipped(items, *level));
            }
            if asked.levels.is_empty() {
                return Ok(Some(shown(directive)));
            }
        }
        _ => {}
    }
    Ok(None)
}

/// `{ target CONDITION }`, if it is there; `xfail` says nothing about whether the program runs.
fn selected(items: &[Item]) -> Result<bool, String> {
    for item in items.iter().filter(|i| i.braced) {
        if let Some(condition) = item.text.trim().strip_prefix("target ") {
            return dejagnu::holds(condition);
        }
    }
    Ok(true)
}

/// The standard of C++ that the directive's condition asks for.
fn standard_in(directive: &Directive) -> Option<String> {
    let mut words = directive
        .items
        .iter()
        .flat_map(|i| i.text.split_whitespace());
    words.find_map(dejagnu::standard).map(String::from)
}

/// Of `dg-skip-if COMMENT CONDITION WITH WITHOUT`: whether the options in force match a pattern of
/// WITH and none of WITHOUT.
fn skipped(items: &[Item], level: Level) -> bool {
    let any = |n: usize, default: &str| {
        let patterns = items.get(n).map_or(default, |i| i.text.as_str());
        let options = level.to_string();
        let one = |p: &Item| match p.text.as_str() {
            "" => false,
            "*" => true,
            pattern => dejagnu::matches(&format!("*{pattern}*"), &options),
        };
        // A single pattern may stand without braces.
        let patterns = dejagnu::list(patterns);
        patterns.iter().any(one)
    };
    any(2, "*") && !any(3, "")
}

fn shown(directive: &Directive) -> String {
    let words: Vec<&str> = directive.items.iter().map(|i| i.text.trim()).collect();
    format!("dg-{} {}", directive.name, words.join(" "))
}

/// The options that a script of the old style, beside a program, adds for every target.
fn flags_of_script(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter_map(|l| l.strip_prefix("lappend additional_flags "));
    lines.flat_map(dejagnu::list).map(|i| i.text).collect()
}

fn stranger(folder: &Folder, name: String, path: &Path, asked: Asked) -> Stranger {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut sources = vec![path.to_owned()];
    sources.extend(asked.sources.iter().map(|s| dir.join(s)));
    if folder.with_library {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let beside = dir.join(format!("{stem}-lib.c"));
        sources.extend(Some(beside).filter(|p: &PathBuf| p.is_file()));
        sources.push(dir.join("lib/main.c"));
    }
    let mut words = vec!["-w".to_owned()];
    if folder.language == Language::C {
        words.extend(OLD_C.map(String::from));
    }
    words.extend(folder.words.iter().map(|w| (*w).to_owned()));
    words.extend(asked.words);
    Stranger {
        name,
        units: vec![Unit {
            sources,
            language: folder.language,
            words,
        }],
        language: folder.language,
        libs: vec!["-lm".into()],
        args: Vec::new(),
        stdin: None,
        data: Vec::new(),
        succeeds: true,
        levels: asked.levels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<Read, String> {
        read(&FOLDERS[3], Path::new("/nowhere/t.c"), text)
    }

    fn runs(words: &[&str], levels: &[Level]) -> Result<Read, String> {
        Ok(Read::Runs(Asked {
            words: words.iter().map(|w| (*w).to_owned()).collect(),
            sources: Vec::new(),
            levels: levels.to_vec(),
        }))
    }

    #[test]
    fn options_are_those_of_this_target() {
        let text = "/* { dg-do run } */\n/* { dg-options \"-O3 -fwrapv\" } */\n\
                    /* { dg-additional-options \"-mbig\" { target powerpc*-*-* } } */\n\
                    /* { dg-additional-options \"-msse2\" { target x86_64-*-* } } */\n";
        assert_eq!(asked(text), runs(&["-fwrapv", "-msse2"], &Level::ALL));
        assert_eq!(asked("/* { dg-do compile } */"), Ok(Read::Compiles));
        assert_eq!(asked("int main(void) {}"), Ok(Read::Compiles));
    }

    #[test]
    fn programs_for_other_machines_are_told_apart() {
        let arm = "/* { dg-do run { target arm*-*-* } } */";
        assert!(matches!(asked(arm), Ok(Read::Elsewhere(_))));
        let need = "/* { dg-do run } */\n/* { dg-require-effective-target ilp32 } */";
        assert!(matches!(asked(need), Ok(Read::Elsewhere(_))));
        let what = "/* { dg-do run } */\n/* { dg-require-effective-target warp } */";
        assert_eq!(asked(what), Err("dg-require-effective-target: warp".into()));
    }

    #[test]
    fn levels_can_be_left_out() {
        let at_0 = "/* { dg-do run } */\n/* { dg-skip-if \"\" { *-*-* } { \"-O0\" } { \"\" } } */";
        assert_eq!(asked(at_0), runs(&[], &[Level::O2, Level::Os]));
        let but_2 = "/* { dg-do run } */\n\
                     /* { dg-skip-if \"\" { ! run_expensive_tests } { \"*\" } { \"-O2\" } } */";
        assert_eq!(asked(but_2), runs(&[], &[Level::O2]));
    }

    #[test]
    fn a_script_s_conditions_are_left_alone() {
        let text = "if { x } {\n    lappend additional_flags \"-a\"\n}\n\
                    lappend additional_flags \"-b\" \"-c\"\nreturn 0\n";
        assert_eq!(flags_of_script(text), ["-b", "-c"]);
    }
}
