//! Which tests cover which module of the runtime: `tests/coverage.toml`.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::filter::Filter;
use crate::names;
use crate::program::sorted_entries;

/// The file under `tests/`: a table for each folder of modules, in it a row for each module.
const FILE: &str = "coverage.toml";

/// Paths of modules in the repository, and the tests of each module: `c/hello`, or files of the
/// repository.
#[derive(Debug, Default)]
pub struct Coverage {
    folders: Vec<String>,
    tests: BTreeMap<String, Vec<String>>,
}

impl Coverage {
    pub fn read(tests: &Path) -> Result<Self, String> {
        let path = tests.join(FILE);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let folders: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            toml::from_str(text).map_err(|e| e.to_string())?;
        let mut coverage = Self::default();
        for (folder, modules) in folders {
            for (module, tests) in modules {
                coverage.tests.insert(format!("{folder}/{module}"), tests);
            }
            coverage.folders.push(folder);
        }
        Ok(coverage)
    }

    /// The modules that a test covers.
    pub fn modules_of(&self, test: &str) -> Vec<&str> {
        let rows = self.tests.iter();
        rows.filter(|(_, tests)| tests.iter().any(|t| t == test))
            .map(|(module, _)| module.as_str())
            .collect()
    }

    /// Takes the tests that cover a module whose path contains one of `words`.
    pub fn filter(&self, words: &[String]) -> Result<Filter, String> {
        let mut names = BTreeSet::new();
        for word in words {
            let rows = self
                .tests
                .iter()
                .filter(|(module, _)| module.contains(word));
            let before = names.len();
            names.extend(rows.flat_map(|(_, tests)| tests));
            if names.len() == before {
                return Err(format!("{FILE} has no tests of a module '{word}'"));
            }
        }
        let last = |path: &String| path.rsplit('/').next().map(str::to_owned);
        Ok(Filter::names(names.into_iter().filter_map(last)))
    }

    /// Where the rows differ from the modules and tests of a repository, one line each.
    pub fn faults(&self, repository: &Path) -> Result<Vec<String>, String> {
        let mut faults = Vec::new();
        let mut modules = BTreeSet::new();
        for folder in &self.folders {
            find_modules(repository, folder, &mut modules)?;
        }
        for module in &modules {
            if self.tests.get(module).is_none_or(Vec::is_empty) {
                faults.push(format!("{module} has no tests"));
            }
        }
        let tests = repository.join("tests");
        let known: BTreeSet<String> = names::all(&tests)?.iter().map(names::Test::path).collect();
        for (module, names) in &self.tests {
            if !modules.contains(module) {
                faults.push(format!("{module} is no module"));
            }
            let missing = names
                .iter()
                .filter(|n| !known.contains(*n) && !repository.join(n).is_file());
            faults.extend(missing.map(|name| format!("{module}: there is no test {name}")));
        }
        Ok(faults)
    }
}

/// The modules below `folder`, by their paths in the repository; those of unit tests are none.
fn find_modules(
    repository: &Path,
    folder: &str,
    found: &mut BTreeSet<String>,
) -> Result<(), String> {
    for path in sorted_entries(&repository.join(folder))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let inner = format!("{folder}/{name}");
        if path.is_dir() {
            find_modules(repository, &inner, found)?;
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.insert(inner);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .unwrap()
    }

    #[test]
    fn every_module_of_the_runtime_names_its_tests() {
        let coverage = Coverage::read(&repository().join("tests")).unwrap();
        assert_eq!(coverage.faults(repository()).unwrap(), [""; 0]);
        assert!(coverage.tests.len() > 50, "{}", coverage.tests.len());
    }

    #[test]
    fn wrong_rows_are_seen() {
        let text = "[\"tests/runner/src\"]\n\"filter.rs\" = [\"c/hello\", \"c/no_such\"]\n\
                    \"gone.rs\" = [\"c/hello\"]\n\"mode.rs\" = []\n";
        let faults = Coverage::parse(text).unwrap().faults(repository()).unwrap();
        for fault in [
            "tests/runner/src/filter.rs: there is no test c/no_such",
            "tests/runner/src/gone.rs is no module",
            "tests/runner/src/mode.rs has no tests",
            "tests/runner/src/strangers/gcc.rs has no tests",
        ] {
            assert!(faults.iter().any(|f| f == fault), "{fault}: {faults:?}");
        }
        assert!(
            !faults.iter().any(|f| f.contains("filter.rs has")),
            "{faults:?}"
        );
    }

    #[test]
    fn both_directions_can_be_asked() {
        let text = "[\"a\"]\n\"x.rs\" = [\"c/one\", \"cpp/two\"]\n\"y.rs\" = [\"c/one\"]\n";
        let coverage = Coverage::parse(text).unwrap();
        assert_eq!(coverage.modules_of("c/one"), ["a/x.rs", "a/y.rs"]);
        let filter = coverage.filter(&["y.rs".into()]).unwrap();
        assert!(filter.takes("one") && !filter.takes("two"));
        assert!(coverage.filter(&["z.rs".into()]).is_err());
    }
}
