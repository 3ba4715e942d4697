//! The programs of the corpus: `NAME.c`, `NAME.cpp`, or a directory `NAME/` with `main.c` or
//! `main.cpp`.
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::directives::Directives;
use crate::filter::Filter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::C, Language::Cxx];

    /// The folder of its programs.
    pub fn folder(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "cpp",
        }
    }

    fn extension(self) -> &'static str {
        self.folder()
    }

    fn main(self) -> &'static str {
        match self {
            Language::C => "main.c",
            Language::Cxx => "main.cpp",
        }
    }
}

#[derive(Debug)]
pub struct Program {
    pub name: String,
    /// The language of `main`, whose compiler links it.
    pub language: Language,
    /// The folder that its file names are relative to.
    pub dir: PathBuf,
    /// Every C, C++ and assembly source, by name, sorted.
    pub sources: Vec<String>,
    pub directives: Directives,
}

impl Program {
    fn load(
        name: String,
        language: Language,
        main: &Path,
        dir: PathBuf,
        sources: Vec<String>,
    ) -> Result<Self, String> {
        let text = fs::read_to_string(main).map_err(|e| format!("{}: {e}", main.display()))?;
        let directives =
            Directives::parse(&text).map_err(|e| format!("{}: {e}", main.display()))?;
        Ok(Self {
            name,
            language,
            dir,
            sources,
            directives,
        })
    }

    /// The steps that build it, in words; see `tests/writing.md`.
    pub fn steps(&self) -> Vec<Vec<String>> {
        if !self.directives.steps.is_empty() {
            return self.directives.steps.clone();
        }
        // A C++ driver would take C sources for C++.
        let apart = |s: &str| self.language == Language::Cxx && s.ends_with(".c");
        let mut steps = Vec::new();
        let mut link = vec!["link".to_owned()];
        for source in &self.sources {
            if apart(source) {
                let object = format!("{source}.o");
                let compile = ["cc", "-c", source, "-o", &object];
                steps.push(compile.map(String::from).to_vec());
                link.push(object);
            } else {
                link.push(source.clone());
            }
        }
        steps.push(link);
        steps
    }
}

/// Every program under `tests` that `filter` takes.
pub fn discover(tests: &Path, filter: &Filter) -> Result<Vec<Program>, String> {
    let mut programs: Vec<Program> = Vec::new();
    for language in Language::ALL {
        of_language(tests, language, filter, &mut programs)?;
    }
    let mut names = BTreeSet::new();
    match programs.iter().find(|p| !names.insert(p.name.as_str())) {
        Some(twice) => Err(format!("two programs have the name '{}'", twice.name)),
        None => Ok(programs),
    }
}

fn of_language(
    tests: &Path,
    language: Language,
    filter: &Filter,
    programs: &mut Vec<Program>,
) -> Result<(), String> {
    let dir = tests.join(language.folder());
    for path in sorted_entries(&dir)? {
        let name = name_of(&path);
        if !filter.takes(&name) {
            continue;
        }
        if path.is_dir() {
            let sources = sorted_entries(&path)?
                .iter()
                .filter(|p| {
                    p.extension()
                        .is_some_and(|e| e == "c" || e == "cpp" || e == "s")
                })
                .map(|p| {
                    p.file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned()
                })
                .collect();
            programs.push(Program::load(
                name,
                language,
                &path.join(language.main()),
                path.clone(),
                sources,
            )?);
        } else if path.extension().is_some_and(|e| e == language.extension()) {
            let file = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            programs.push(Program::load(
                name,
                language,
                &path,
                dir.clone(),
                vec![file],
            )?);
        }
    }
    Ok(())
}

/// The name of a test, from the file or folder that it is in.
pub fn name_of(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

pub fn sorted_entries(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    Ok(paths)
}
