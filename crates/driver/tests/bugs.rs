//! Crashes are told from errors of the user's, and every command can be saved and repeated
//! elsewhere.
#[allow(dead_code)]
mod common;
mod tree;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::Bench;
use flick_support::output::{quiet, stderr, stdout};
use flick_support::tree::tool;
use tree::Bed;

/// The directory that the message names.
fn named(text: &str) -> PathBuf {
    let at = text.find(" has all that a report needs").expect(text);
    let start = text[..at].rfind(' ').unwrap() + 1;
    PathBuf::from(&text[start..at])
}

fn removes(dir: &Path) {
    std::fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

#[test]
fn a_crash_of_clang_is_clangs() {
    let bed = Bed::new(&[
        (
            "crash.c",
            "#include <flick.h>\n#pragma clang __debug crash\n",
        ),
        (
            "fatal.c",
            "int f(void) { return 1; }\n#pragma clang __debug llvm_fatal_error\n",
        ),
    ]);
    for name in ["crash.c", "fatal.c"] {
        let mut want = bed.command("clang-19", &format!("-c {name}"));
        want.env("CLANG_CRASH_DIAGNOSTICS_DIR", bed.path("reports"));
        let want = bed.run(want);
        let output = bed
            .command(tool("flick-cc"), &format!("-c {name}"))
            .output()
            .unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), want.code, "{text}");
        for part in [
            "[FLK0106]",
            "a bug of clang's, not of your program",
            name,
            "report it to LLVM",
        ] {
            assert!(text.contains(part), "no {part}: {text}");
        }
        let dir = named(&text);
        for file in ["run.sh", "plain.sh", "README", "overlay.yaml"] {
            assert!(dir.join(file).is_file(), "{file}");
        }
        removes(&dir);
    }
}

#[test]
fn a_crash_of_the_pass_is_flicks() {
    let bench = Bench::new();
    let pass = bench.path("lib/flick/flick-pass.so");
    std::fs::write(
        bench.path("pass.c"),
        "__attribute__((constructor)) void loaded(void) { *(volatile int *)8 = 0; }\n",
    )
    .unwrap();
    let mut cc = Command::new("clang-19");
    quiet(
        cc.args(["-shared", "-fPIC", "-o"])
            .arg(&pass)
            .arg(bench.path("pass.c")),
    );
    std::fs::write(bench.path("good.c"), "int f(void) { return 1; }\n").unwrap();
    let output = bench.cc("-c good.c");
    let text = stderr(&output);
    assert!(!output.status.success());
    assert!(
        text.contains("[FLK0106]") && text.contains("a bug of Flick's"),
        "{text}"
    );
    removes(&named(&text));
}

#[test]
fn errors_of_the_user_are_not_bugs() {
    let bed = Bed::new(&[
        ("bad.c", "int f(void) { return x; }\n"),
        ("good.c", "int main(void) { return f(); }\nint f(void);\n"),
        (
            "placed.c",
            "#include <flick.h>\nFLICK_NXP void f(void) { __asm__(\"cpuid\"); }\n",
        ),
    ]);
    for line in [
        "-c bad.c",
        "-c nothere.c",
        "-nonsense good.c",
        "-Wno-everything -std=c89 good.c",
        "-c placed.c",
    ] {
        let text = stderr(&bed.command(tool("flick-cc"), line).output().unwrap());
        let good = text.contains("error:") && !text.contains("FLK0106");
        assert!(good, "{line}: {text}");
    }
}

struct Saved {
    bed: Bed,
    /// Moved away from where it was saved.
    moved: tempfile::TempDir,
}

impl Saved {
    /// Runs the commands with FLICK_SAVE_DIR, then moves what they saved and deletes everything
    /// else. What each printed.
    fn new(files: &[(&str, &str)], lines: &[(&str, &str)]) -> (Self, Vec<Output>) {
        let bed = Bed::new(files);
        let save = bed.path("saved");
        let absolute = bed.dir.path().display().to_string();
        let outputs = lines
            .iter()
            .map(|(program, line)| {
                let mut command = bed.command(tool(program), &line.replace("HERE", &absolute));
                command.env("FLICK_SAVE_DIR", &save).output().unwrap()
            })
            .collect();
        let moved = tempfile::tempdir().unwrap();
        quiet(Command::new("cp").arg("-a").arg(&save).arg(moved.path()));
        (Self { bed, moved }, outputs)
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.moved.path().join("saved").join(name)
    }

    fn repeat(&self, name: &str) -> Output {
        let mut sh = Command::new("sh");
        sh.arg(self.dir(name).join("run.sh")).current_dir("/");
        sh.output().unwrap()
    }
}

#[test]
fn a_saved_command_repeats_without_its_tree() {
    let (mut saved, outputs) = Saved::new(
        &[
            (
                "inc/part.h",
                "#include <flick.h>\nFLICK_NXP int part(int);\n",
            ),
            (
                "src/part.c",
                "#include \"part.h\"\n#include <string.h>\n\
                 int part(int x) { int unset; return x * 3 + (int)strlen(__FILE__) + 0 * unset; }\n\
                 int other(int x) { return x + 1; }\n",
            ),
            (
                "main.c",
                "#include \"part.h\"\nint main(int c, char **v) { return part(c); }\n",
            ),
            ("all.place", "nxp other\n"),
            ("words", "-Wall -g -O2\n"),
        ],
        &[
            (
                "flick-cc",
                "@words -Iinc -c src/part.c -o rel.o --flick-place=all.place",
            ),
            (
                "flick-cc",
                "@words -IHERE/inc -c HERE/src/part.c -o HERE/abs.o --flick-place=HERE/all.place",
            ),
            ("flick-cc", "-Iinc main.c abs.o -o prog -LHERE/src"),
            ("flick-c++", "-c -Iinc src/part.c -o cxx.o"),
            ("flick-cc", "-c main.c"),
        ],
    );
    let files =
        ["rel.o", "abs.o", "prog", "cxx.o"].map(|f| (f, std::fs::read(saved.bed.path(f)).unwrap()));
    // Nothing of the tree is left.
    let place = saved.bed.dir.path().canonicalize().unwrap();
    saved.bed = Bed::new(&[]);
    assert!(!place.exists());
    let names = [
        "0001-part",
        "0002-part",
        "0001-main",
        "0003-part",
        "0002-main",
    ];
    for (name, want) in names.iter().zip(&outputs) {
        let have = saved.repeat(name);
        assert_eq!(stderr(&have), stderr(want), "{name}");
        assert_eq!(stdout(&have), stdout(want), "{name}");
        assert_eq!(have.status.code(), want.status.code(), "{name}");
    }
    assert!(stderr(&outputs[0]).contains("warning: ") && !outputs[4].status.success());
    for (name, (file, want)) in names.iter().zip(&files) {
        let relative = place.strip_prefix("/").unwrap().join(file);
        let have = std::fs::read(saved.dir(name).join("tree").join(relative)).unwrap();
        assert!(have == *want, "{name}: {file} differs");
    }
    let text = std::fs::read_to_string(saved.dir("0001-part/preprocessed.txt")).unwrap();
    assert!(text.contains("flick.nxp") && text.contains("int other(int x)"));
}

#[test]
fn standard_input_is_saved() {
    let bed = Bed::new(&[("in.c", "int f(void) { return nonsense; }\n")]);
    let mut command = bed.command(tool("flick-cc"), "-x c -c - -o out.o");
    command.env("FLICK_SAVE_DIR", bed.path("saved"));
    command.stdin(std::fs::File::open(bed.path("in.c")).unwrap());
    let want = stderr(&command.output().unwrap());
    assert!(want.contains("nonsense"), "{want}");
    let saved = std::fs::read_dir(bed.path("saved"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let output = Command::new("sh")
        .arg(saved.path().join("run.sh"))
        .output()
        .unwrap();
    assert_eq!(stderr(&output), want);
}
