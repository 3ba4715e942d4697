//! Holds the pages of `docs/errors/`, the table in `docs/formats.md`, and every code that a file of
//! the repository names against the enum.
use std::fs;
use std::path::{Path, PathBuf};

use flick_diagnostics::{Code, table};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let mut pages: Vec<String> = fs::read_dir(root().join("docs/errors"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let codes: Vec<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
    assert_eq!(pages, codes);
}

#[test]
fn every_page_has_its_title_and_the_three_parts() {
    for code in Code::ALL {
        let page = fs::read_to_string(root().join(format!("docs/errors/{code}.md"))).unwrap();
        let title = format!("# {code}: {}\n", code.title());
        assert!(
            page.starts_with(&title),
            "{code}: the page does not begin with {title:?}"
        );
        for part in ["\n## Example\n", "\n## Why\n", "\n## What to do\n"] {
            assert!(page.contains(part), "{code}: no {part:?}");
        }
    }
}

/// `FLICK_BLESS=1` writes the table again.
#[test]
fn the_table_in_the_documentation_is_the_enums() {
    let path = root().join("docs/formats.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut want = String::new();
    table(&mut want).unwrap();
    let start = page.find("| code | ").expect("the table of codes");
    let end = start + page[start..].find("\n\n").expect("the table's end") + 1;
    if std::env::var_os("FLICK_BLESS").is_some() {
        fs::write(&path, [&page[..start], &want, &page[end..]].concat()).unwrap();
        return;
    }
    assert_eq!(
        &page[start..end],
        want,
        "FLICK_BLESS=1 cargo test -p flick-diagnostics"
    );
}

/// Codes that stand for codes that do not exist.
const UNKNOWN: [&str; 2] = ["FLK0000", "FLK9999"];

/// The runtime and the scripts write codes as text.
#[test]
fn every_code_that_a_file_names_exists_and_a_test_names_each() {
    let mut wrong = Vec::new();
    let mut tested = Vec::new();
    let folders = [
        "crates", "pass", "nxp", "include", "docs", "tests", "scripts", "gdb", "examples",
    ];
    for folder in folders {
        each_file(&root().join(folder), &mut |path, text| {
            for (at, _) in text.match_indices("FLK") {
                let Some(code) = text.get(at..at + 7) else {
                    continue;
                };
                if !code[3..].bytes().all(|byte| byte.is_ascii_digit()) {
                    continue;
                }
                match Code::of_text(code) {
                    Some(code) if is_test(path) => tested.push(code),
                    Some(_) => {}
                    None if UNKNOWN.contains(&code) => {}
                    None => wrong.push(format!("{}: {code}", path.display())),
                }
            }
        });
    }
    assert_eq!(wrong, [""; 0]);
    let untested = Code::ALL.iter().filter(|code| !tested.contains(code));
    assert_eq!(untested.collect::<Vec<_>>(), Vec::<&Code>::new());
}

/// The file is in a folder of tests.
fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
}

fn each_file(dir: &Path, visit: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                each_file(&path, visit);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            visit(&path, &text);
        }
    }
}
