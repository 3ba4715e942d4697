//! The tree that `make` builds.
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The sources of the tree, under the folder of the repository.
const SOURCES: [&str; 8] = [
    "Cargo.lock",
    "Cargo.toml",
    "crates",
    "gdb",
    "include",
    "nxp",
    "pass",
    "platforms",
];

/// The folder of the repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The built tree: `FLICK_ROOT`, or `build/`.
pub fn root() -> PathBuf {
    std::env::var_os("FLICK_ROOT").map_or_else(|| repository().join("build"), PathBuf::from)
}

/// `flick-cc`, `flick-c++` or `flick` of the built tree.
pub fn tool(name: &str) -> PathBuf {
    let file = root().join("bin").join(name);
    assert!(file.is_file(), "no {}: run `make` first", file.display());
    file
}

/// Checks that the tree was built after the last change of its sources. Every `make` writes the
/// `flick` command anew.
pub fn is_current() -> Result<(), String> {
    built_since(&root().join("bin/flick"), &repository())
}

fn built_since(command: &Path, repository: &Path) -> Result<(), String> {
    let Some(built) = changed(command) else {
        return Err(format!("no {}: run `make` first", command.display()));
    };
    let newer = SOURCES
        .iter()
        .find_map(|source| newer_than(built, &repository.join(source)));
    match newer {
        Some(source) => Err(format!(
            "{} is older than {}: run `make` first",
            command.display(),
            source.display()
        )),
        None => Ok(()),
    }
}

/// A source at or below `path` that has changed since `built`; tests are no part of the tree.
fn newer_than(built: SystemTime, path: &Path) -> Option<PathBuf> {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        return paths
            .iter()
            .filter(|path| !path.ends_with("tests"))
            .find_map(|path| newer_than(built, path));
    }
    (changed(path)? > built).then(|| path.to_owned())
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::built_since;

    fn write(path: &Path, age: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        File::create(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_tree_is_as_old_as_its_command() {
        let dir = tempfile::tempdir().unwrap();
        let command = dir.path().join("build/bin/flick");
        let check = || built_since(&command, dir.path());
        assert!(check().unwrap_err().contains("no "), "{:?}", check());
        write(&command, 100);
        write(&dir.path().join("crates/libflick/runtime/src/lib.rs"), 200);
        write(&dir.path().join("crates/libflick/runtime/tests/own.rs"), 0);
        write(&dir.path().join("tests/c/hello.c"), 0);
        assert_eq!(check(), Ok(()));
        write(
            &dir.path().join("crates/libflick/runtime/src/memory/mod.rs"),
            50,
        );
        let why = check().unwrap_err();
        assert!(
            why.contains("older than") && why.contains("memory/mod.rs"),
            "{why}"
        );
    }
}
