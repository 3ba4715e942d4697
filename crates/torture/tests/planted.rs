//! The whole way with a compiler that gets one thing wrong: it is found, made smaller and kept.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use flick_torture::{Compilers, Feature, Features, Generator, Settings, Totals, Workshop, run};

/// Stands for a compiler: what it makes is `same`, which stands for a program that does the right
/// thing, or `wrong`, where a source has what this compiler gets wrong.
const COMPILER: &str = r#"#!/bin/sh
here=$(dirname "$0")
made=same
for word; do
  case $word in
    *.c | *.cpp) if grep -q 'FAULT' "$word"; then made=wrong; fi ;;
  esac
done
cp "$here/$made" "$word"
"#;

/// Programs that say, as those of Flick's compiler do, that something was placed.
fn make_programs(dir: &Path, wrong: &str) {
    fs::write(dir.join("place"), "v1\tu\tmain\tnxp\trandom\t\tprog.c\t1\n").unwrap();
    for (name, status) in [("same", "0"), ("wrong", wrong)] {
        let source = dir.join(name).with_extension("c");
        let text = format!(
            "#include <stdlib.h>\n#include <string.h>\nint main(void) {{ return {status}; }}\n"
        );
        fs::write(&source, text).unwrap();
        let compile = Command::new("clang-19")
            .arg(&source)
            .arg("-o")
            .arg(dir.join(name))
            .status();
        assert!(compile.unwrap().success());
        let mark = Command::new("objcopy")
            .arg(format!(
                "--add-section=.flick.place={}",
                dir.join("place").display()
            ))
            .arg(dir.join(name))
            .status();
        assert!(mark.unwrap().success());
    }
}

fn make_compilers(dir: &Path, fault: &str) {
    for (name, fault) in [
        ("clang", "nothing is wrong with this one"),
        ("clang++", "nothing is wrong with this one"),
        ("flick-cc", fault),
        ("flick-c++", fault),
    ] {
        let file = dir.join(name);
        fs::write(&file, COMPILER.replace("FAULT", fault)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn session(dir: &Path, seed: u64, count: u64) -> (Totals, String) {
    let compiler = |name: &str| dir.join(name).display().to_string();
    let settings = Settings {
        backend: "inline",
        seed,
        count: Some(count),
        time: None,
        jobs: 2,
        generator: Generator::Own,
        features: Features::only(&[Feature::Varargs]),
        placements: 1,
        keep: dir.join("kept"),
        shrink: Duration::from_secs(900),
        sanitize: false,
        keep_all: false,
        user: None,
        workshop: Workshop {
            flick: Compilers {
                c: compiler("flick-cc"),
                cxx: compiler("flick-c++"),
                words: Vec::new(),
            },
            plain: Compilers {
                c: compiler("clang"),
                cxx: compiler("clang++"),
                words: Vec::new(),
            },
            build_limit: Duration::from_secs(120),
            run_limit: Duration::from_secs(60),
            plain_limit: Duration::from_secs(60),
        },
    };
    run(&settings).unwrap()
}

#[test]
fn a_sound_compiler_shows_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    make_programs(dir.path(), "1");
    make_compilers(dir.path(), "nothing is wrong with this one");
    let (totals, text) = session(dir.path(), 1, 3);
    assert_eq!(totals.differences, 0, "{text}");
    assert_eq!(totals.program_count(), 3);
    assert_eq!(totals.combinations, 6, "one placement, two triggers");
    assert!(text.contains("no difference"), "{text}");
    assert!(!dir.path().join("kept").exists());
}

#[test]
fn a_planted_fault_is_found_and_made_small() {
    let dir = tempfile::tempdir().unwrap();
    make_programs(dir.path(), "1");
    make_compilers(dir.path(), "f64 v = va_arg");
    // The first program that has such an argument, whatever the generator makes of the seeds.
    let small = (1..=20)
        .find_map(|seed| {
            let (totals, _) = session(dir.path(), seed, 1);
            (totals.differences > 0).then(|| dir.path().join(format!("kept/seed-{seed}-small")))
        })
        .expect("one of twenty programs takes a double off a list");
    let sources: Vec<String> = fs::read_dir(&small)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| matches!(path.extension().and_then(|e| e.to_str()), Some("c" | "cpp")))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let [text] = &sources[..] else {
        panic!("{} units are left", sources.len());
    };
    assert!(text.contains("va_arg(list, f64)") || text.contains("va_arg(again, f64)"));
    let calls = text.lines().filter(|line| line.contains("(c, \"")).count();
    assert_eq!(calls, 1, "one call is enough:\n{text}");
    assert!(text.lines().count() < 70, "{text}");

    repeats(dir.path(), &small);
}

#[test]
fn a_fault_of_one_engine_is_found_with_it() {
    let dir = tempfile::tempdir().unwrap();
    make_programs(
        dir.path(),
        "getenv(\"FLICK_ENGINE\") && !strcmp(getenv(\"FLICK_ENGINE\"), \"translate\")",
    );
    make_compilers(dir.path(), "main");
    let found = (1..=20).find(|&seed| session(dir.path(), seed, 1).0.differences > 0);
    let seed = found.expect("one of twenty cases draws the translator");
    repeats(
        dir.path(),
        &dir.path().join(format!("kept/seed-{seed}-small")),
    );
}

/// The script that repeats a failure says what it was.
fn repeats(dir: &Path, small: &Path) {
    let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
    let repeated = Command::new(small.join("repeat.sh"))
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(repeated.status.code(), Some(1), "{repeated:?}");
    let said = String::from_utf8_lossy(&repeated.stdout).into_owned();
    assert_eq!(said, "plain: 0, flick: 1\n");
}
