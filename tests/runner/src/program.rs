//! The programs of the corpus: `NAME.c`, or a directory `NAME/` with `main.c`.
use std::fs;
use std::path::{Path, PathBuf};

use crate::directives::Directives;

#[derive(Debug)]
pub struct Program {
    pub name: String,
    /// The folder that its file names are relative to.
    pub dir: PathBuf,
    /// Every C and assembly source, by name, sorted.
    pub sources: Vec<String>,
    pub directives: Directives,
}

impl Program {
    fn load(name: String, main: &Path, dir: PathBuf, sources: Vec<String>) -> Result<Self, String> {
        let text = fs::read_to_string(main).map_err(|e| format!("{}: {e}", main.display()))?;
        let directives =
            Directives::parse(&text).map_err(|e| format!("{}: {e}", main.display()))?;
        Ok(Self {
            name,
            dir,
            sources,
            directives,
        })
    }

    /// The steps that build it, in words; see `tests/README.md`.
    pub fn steps(&self) -> Vec<Vec<String>> {
        if !self.directives.steps.is_empty() {
            return self.directives.steps.clone();
        }
        let mut link = vec!["link".to_owned()];
        link.extend(self.sources.iter().cloned());
        vec![link]
    }
}

/// Every program under `dir` whose name contains one of `filters` (all if there are none).
pub fn discover(dir: &Path, filters: &[String]) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for path in sorted_entries(dir)? {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !filters.is_empty() && !filters.iter().any(|f| name.contains(f.as_str())) {
            continue;
        }
        if path.is_dir() {
            let sources = sorted_entries(&path)?
                .iter()
                .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "s"))
                .map(|p| {
                    p.file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned()
                })
                .collect();
            programs.push(Program::load(
                name,
                &path.join("main.c"),
                path.clone(),
                sources,
            )?);
        } else if path.extension().is_some_and(|e| e == "c") {
            let file = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            programs.push(Program::load(name, &path, dir.to_owned(), vec![file])?);
        }
    }
    Ok(programs)
}

pub fn sorted_entries(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    Ok(paths)
}
