//! A file name stands for one subject: over all crates, a source file has a name of its own. So a
//! page or a comment can say `hotness.rs`, and a reader finds the file.
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Names that stand for a place, and not for a subject.
const PLACES: [&str; 6] = ["mod", "lib", "main", "build", "tests", "common"];

/// Names that two files have, by folder in `crates`, with the reason.
const ALLOWED: [(&str, [&str; 2], &str); 7] = [
    (
        "convert",
        ["translator/src/emit", "translator/src/lower"],
        STAGES,
    ),
    (
        "float",
        ["translator/src/emit", "translator/src/lower"],
        STAGES,
    ),
    (
        "flow",
        ["translator/src/emit", "translator/src/lower"],
        STAGES,
    ),
    (
        "malloc",
        ["libflick/shared/src", "libflick/static/src"],
        FORMS,
    ),
    (
        "memory",
        ["translator/src/emit", "translator/src/lower"],
        STAGES,
    ),
    (
        "pthread",
        ["libflick/shared/src", "libflick/static/src"],
        FORMS,
    ),
    (
        "signals",
        ["libflick/shared/src", "libflick/static/src"],
        FORMS,
    ),
];
const STAGES: &str = "the same instructions in two stages of the translator";
const FORMS: &str = "the same functions of the C library in the two forms of libflick";

/// The folders of the files below the folders `src` of `crates`, by the files' names.
fn names(crates: &Path) -> BTreeMap<String, Vec<String>> {
    let mut files = Vec::new();
    find_files(crates, &mut files);
    let mut names = BTreeMap::<String, Vec<String>>::new();
    for file in files {
        let inner = file.strip_prefix(crates).unwrap();
        let name = inner.file_stem().unwrap().to_str().unwrap();
        let folder = inner.parent().unwrap();
        if folder.iter().any(|part| part == "src") && !PLACES.contains(&name) {
            let folders = names.entry(name.to_owned()).or_default();
            folders.push(folder.to_str().unwrap().to_owned());
        }
    }
    names.values_mut().for_each(|folders| folders.sort());
    names
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// Names that more than one file has.
fn shared(crates: &Path) -> BTreeMap<String, Vec<String>> {
    let mut names = names(crates);
    names.retain(|_, folders| folders.len() > 1);
    names
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_file_name_stands_for_one_subject() {
    let mut shared = shared(&here().join("../../crates"));
    for (name, folders, reason) in ALLOWED {
        let found = shared.remove(name);
        assert_eq!(
            found.as_deref(),
            Some(&folders.map(String::from)[..]),
            "{name}: {reason}"
        );
    }
    assert!(shared.is_empty(), "one name for several files: {shared:#?}");
}

#[test]
fn planted_names_are_seen() {
    let folders = ["high/src".to_owned(), "low/src/deep".to_owned()];
    assert_eq!(
        shared(&here().join("tests/fixtures/names")),
        BTreeMap::from([("subject".to_owned(), folders.to_vec())])
    );
}
