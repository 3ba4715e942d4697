//! Compiles that place something: the options of the NxP half, reproducible output, what build
//! tools and compiler caches are told. Needs the built tree.
mod tree;

use std::path::Path;
use std::process::Command;

use flick_support::output::{stderr, stdout};
use flick_support::tree::tool;
use tree::Bed;

const PART: &str = "\
#include <flick.h>
static int bias = 3;
FLICK_NXP int part(const int *v, int n) {
  int sum = bias;
  for (int i = 0; i < n; i++)
    sum += v[i];
  return sum;
}
";
const MAIN: &str = "\
int part(const int *v, int n);
int main(void) { int v[] = {1, 2, 3}; return part(v, 3) - 9; }
";

fn bed() -> Bed {
    Bed::new(&[
        ("part.c", PART),
        ("main.c", MAIN),
        ("all.place", "nxp part\n"),
        ("two words.place", "host main\n"),
    ])
}

/// The NxP code of the program made with these words.
fn code(bed: &Bed, words: &str) -> String {
    bed.good("flick-cc", &format!("part.c main.c -o prog {words}"));
    let run = Command::new(bed.path("prog"))
        .env("FLICK_OFFLOAD", "require")
        .status()
        .unwrap();
    assert!(run.success(), "{words}");
    let text = stdout(&bed.good("flick", "objdump -d prog"));
    let part = text.split("<part>:").nth(1).expect(&text);
    part.split("\n\n").next().unwrap().to_owned()
}

#[test]
fn options_of_the_nxp_half() {
    let bed = bed();
    let length = |words: &str| code(&bed, words).lines().count();
    let (o0, o2) = (length("-O0"), length("-O2"));
    assert!(o0 > o2 + 5, "{o0} {o2}");
    assert!(length("-O0 -Xnxp=-O2") + 5 < o0);
    assert!(length("-O2 -Xnxp -O0") > o2 + 5);
    // Only compressed instructions stand at addresses that are no multiples of four.
    let compressed = |words: &str| {
        let text = code(&bed, words);
        let address = |line: &str| u64::from_str_radix(line.trim().split_once(':')?.0, 16).ok();
        text.lines().filter_map(address).any(|at| at % 4 != 0)
    };
    assert!(compressed("-O2 --nxp-march=rv64gc"));
    assert!(
        !compressed("-O2 --nxp-march=rv64g"),
        "{}",
        code(&bed, "-O2 --nxp-march=rv64g")
    );
    code(
        &bed,
        "-O2 -Xnxp -mtune=sifive-7-series -Xnxp=-mabi=lp64d -Xnxp=-mllvm=-riscv-use-aa=0",
    );
    // The host half is the same.
    let host = |words: &str| {
        bed.good("flick-cc", &format!("-O2 -c main.c {words}"));
        std::fs::read(bed.path("main.o")).unwrap()
    };
    assert_eq!(host(""), host("-Xnxp=-O0 --nxp-march=rv64g"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let make = |bed: &Bed| {
        let map = format!("-ffile-prefix-map={}=.", bed.dir.path().display());
        bed.good("flick-cc", &format!("-g -O2 {map} -c part.c"));
        bed.good(
            "flick-cc",
            &format!("-g -O2 {map} part.c main.c -o prog --flick-place=all.place"),
        );
        bed.good(
            "flick-cc",
            &format!("-g -O2 {map} -shared -fPIC part.c -fuse-ld=lld -o part.so"),
        );
        ["part.o", "prog", "part.so"].map(|name| std::fs::read(bed.path(name)).unwrap())
    };
    let (one, other) = (bed(), bed());
    let first = make(&one);
    assert!(first == make(&one), "the same directory");
    assert!(first == make(&other), "another directory");
    let temporary = std::env::temp_dir();
    for data in first {
        let text = String::from_utf8_lossy(&data);
        for name in ["part-", "main-", "flick-", ".tmp"] {
            let name = temporary.join(name).display().to_string();
            assert!(!text.contains(&name), "{name}");
        }
    }
}

#[test]
fn rules_for_make_name_the_placement_files() {
    let bed = bed();
    let place = "--flick-place=all.place";
    for words in [
        "-MD -c main.c",
        "-MMD -MP -MF main.d -c main.c",
        "-MM -MF main.d main.c",
    ] {
        bed.good("flick-cc", &format!("{words} {place}"));
        let text = std::fs::read_to_string(bed.path("main.d")).unwrap();
        assert!(
            text.contains("main.c") && text.contains("all.place"),
            "{words}: {text}"
        );
        std::fs::remove_file(bed.path("main.d")).unwrap();
    }
    bed.good("flick-cc", &format!("-MD part.c main.c -o prog {place}"));
    for name in ["prog-part.d", "prog-main.d", "part.d", "main.d", "prog.d"] {
        if let Ok(text) = std::fs::read_to_string(bed.path(name)) {
            assert!(text.contains("all.place"), "{name}: {text}");
        }
    }
}

#[test]
fn preprocessed_text_tells_caches_of_the_placement() {
    let mut bed = bed();
    let text = |bed: &Bed, words: &str| {
        let output = bed.command(tool("flick-cc"), words).output().unwrap();
        assert!(
            output.status.success() && stderr(&output).is_empty(),
            "{}",
            stderr(&output)
        );
        stdout(&output)
    };
    let plain = text(&bed, "-E main.c");
    let first = text(&bed, "-E main.c --flick-place=all.place");
    let marker = first
        .strip_prefix(&plain)
        .expect("clang's text comes first");
    let lines: Vec<&str> = marker.lines().collect();
    assert_eq!(lines[0], "# 1 \"all.place\"");
    assert!(
        lines[1].starts_with("# 1 \"<flick ") && lines.len() == 2,
        "{marker}"
    );
    assert_eq!(
        first,
        text(&bed, "-E --flick-place all.place main.c"),
        "it is the same again"
    );
    text(&bed, "-E main.c --flick-place=all.place -o main.i");
    assert_eq!(first, std::fs::read_to_string(bed.path("main.i")).unwrap());
    // Preprocessed text compiles.
    bed.good("flick-cc", "-c main.i --flick-place=all.place");
    bed.add("all.place", "nxp part\n# more\n");
    assert_ne!(first, text(&bed, "-E main.c --flick-place=all.place"));
    // Other questions are answered as they are.
    assert!(!text(&bed, "-M main.c --flick-place=all.place").contains("# 1"));
    assert!(!text(&bed, "-dM -E main.c --flick-place=all.place").contains("# 1"));
}

#[test]
fn compile_commands_are_for_any_clang() {
    let bed = bed();
    bed.good(
        "flick-cc",
        "-c part.c -O2 -Xclang -O1 --flick-place=all.place -MJ part.json",
    );
    let text = std::fs::read_to_string(bed.path("part.json")).unwrap();
    for part in [
        "\"file\": \"part.c\"",
        "\"-O2\"",
        "\"-Xclang\", \"-O1\"",
        "__FLICK__=1",
        "-idirafter",
    ] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    for part in [
        "flick-place",
        "flick-pass",
        "-load",
        "-Xlinker",
        "depfile",
        "crash",
    ] {
        assert!(!text.contains(part), "{part}: {text}");
    }
    // It is JSON, and its arguments are a command of clang's.
    let database = format!("[{}]", text.trim_end().trim_end_matches(','));
    std::fs::write(bed.path("compile_commands.json"), database).unwrap();
    if Path::new("/usr/lib/llvm-19/bin/clang-check").exists() {
        let mut check = bed.command("/usr/lib/llvm-19/bin/clang-check", "-p . part.c");
        assert!(check.status().unwrap().success());
    }
}

#[test]
fn side_files_of_programs_with_nxp_code() {
    let bed = bed();
    bed.good(
        "flick-cc",
        "-save-temps=obj -g -gsplit-dwarf part.c main.c -o sub",
    );
    bed.good("flick-cc", "-ftime-trace part.c main.c -o prog");
    for name in ["part.i", "part.s", "part.o"] {
        assert!(
            bed.path(name).is_file() || bed.path(&format!("sub-{name}")).is_file(),
            "{name}"
        );
    }
    for name in ["sub", "prog"] {
        let run = Command::new(bed.path(name))
            .env("FLICK_OFFLOAD", "require")
            .status()
            .unwrap();
        assert!(run.success(), "{name}");
    }
}

const BY_SIGNATURE: &str = "\
#include <flick.h>
#include <stdio.h>
float half(float x);
FLICK_NXP int digits(float x) {
  char text[8];
  snprintf(text, sizeof text, \"%.1f\", (double)half(x));
  return 10 * (text[0] - '0') + text[2] - '0';
}
";
const CALLER: &str = "\
int part(const int *v, int n);
int digits(float x);
float half(float x) { return x / 2; }
int main(void) { int v[] = {1, 2, 3}; return part(v, 3) - 9 + digits(3) - 15; }
";

#[test]
fn any_linker_of_the_system() {
    let mut bed = bed();
    // The host calls by a signature, and so does NxP code, with and without dots.
    bed.add("digits.c", BY_SIGNATURE);
    bed.add("main.c", CALLER);
    // binutils and lld, which Flick needs, have the first three.
    for (linker, always) in [
        ("bfd", true),
        ("gold", true),
        ("lld", true),
        ("mold", false),
    ] {
        let found = Command::new(format!("ld.{linker}")).arg("-v").output();
        if found.is_err() && !always {
            continue;
        }
        for mode in ["-pie -fPIE", "-no-pie -fno-pie", "-static"] {
            bed.good(
                "flick-cc",
                &format!("-fuse-ld={linker} {mode} -O1 part.c digits.c main.c -o prog"),
            );
            let run = Command::new(bed.path("prog"))
                .env("FLICK_OFFLOAD", "require")
                .status()
                .unwrap();
            assert!(run.success(), "{linker} {mode}");
        }
    }
}

#[test]
fn modules() {
    let bed = Bed::new(&[
        (
            "shape.cppm",
            "export module shape;\n\
             export int area(int a, int b) { return a * b; }\n\
             export struct Square { int n; int area() const { return n * n; } };\n\
             export template <class T> T twice(T x) { return x + x; }\n",
        ),
        (
            "main.cpp",
            "import shape;\n\
             int both(int x) { return twice(area(x, 2)); }\n\
             int main() { return area(3, 4) + Square{5}.area() + both(3) - 49; }\n",
        ),
        ("some.place", "nxp area\nnxp Square::area\nnxp both\n"),
    ]);
    let words = "-std=c++20 --flick-place=some.place";
    for ways in [
        // Interface and object apart, and both at once.
        [
            "--precompile shape.cppm -o shape.pcm",
            "-c shape.pcm -o shape.o",
        ],
        [
            "-c shape.cppm -fmodule-output=shape.pcm -o shape.o",
            "--version",
        ],
    ] {
        for way in ways {
            bed.good("flick-c++", &format!("{words} {way}"));
        }
        bed.good(
            "flick-c++",
            &format!("{words} -fprebuilt-module-path=. main.cpp shape.o -o prog"),
        );
        let output = Command::new(bed.path("prog"))
            .env("FLICK_OFFLOAD", "require")
            .env("FLICK_STATS", "1")
            .output()
            .unwrap();
        assert!(output.status.success());
        for name in ["area(int, int) ", "Square::area() const ", "both(int) "] {
            assert!(stderr(&output).contains(name), "{}", stderr(&output));
        }
    }
}

/// The pass's remarks go where clang's own go.
#[test]
fn placements_are_optimisation_remarks() {
    let bed = bed();
    let output = bed.good("flick-cc", "-O1 -c part.c -Rpass=flick -o part.o");
    let said = stderr(&output);
    let remark = "remark: 'part' placed on the NxP: marked in the source [-Rpass=flick]";
    assert!(
        said.contains("part.c:3:") && said.contains(remark),
        "{said}"
    );
    bed.good(
        "flick-cc",
        "-O1 -c part.c -fsave-optimization-record -o part.o",
    );
    let record = std::fs::read_to_string(bed.path("part.opt.yaml")).unwrap();
    let placed = record.split("--- ").find(|part| part.contains("Placed"));
    let placed = placed.expect("a remark of the pass");
    for part in [
        "!Passed",
        "flick",
        "Function:",
        "part",
        "marked in the source",
    ] {
        assert!(placed.contains(part), "no {part} in {placed}");
    }
}
