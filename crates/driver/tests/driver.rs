//! What the driver does with its arguments; no C is compiled, so the pass need not be there.
mod common;

use std::process::Command;

use common::{Bench, fixture};
use flick_support::output::{stderr, stdout};

fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("lib/flick/flick-pass.so"), "").unwrap();
    std::fs::write(
        bench.path("a.s"),
        ".globl main\nmain: xor %eax, %eax\ncall b\nret\n",
    )
    .unwrap();
    std::fs::write(bench.path("b.s"), ".globl b\nb: mov $5, %eax\nret\n").unwrap();
    bench
}

#[test]
fn several_sources() {
    let bench = bench();
    bench.cc_quiet("-c a.s b.s -Wa,--noexecstack");
    assert!(bench.path("a.o").is_file() && bench.path("b.o").is_file());
    std::fs::write(
        bench.path("words"),
        "-Wa,--noexecstack 'a.s'\n\"b.s\" -o prog -O2",
    )
    .unwrap();
    bench.cc_quiet("@words -Werror -lm");
    assert_eq!(bench.run("prog").status.code(), Some(5));
    let output = bench.cc("-c a.s b.s -o one.o");
    assert!(stderr(&output).contains("cannot specify -o when generating multiple output files"));
}

#[test]
fn preprocessing_sees_flick() {
    let bench = bench();
    std::fs::create_dir(bench.path("include")).unwrap();
    std::fs::write(bench.path("include/flick.h"), "from_the_tree\n").unwrap();
    std::fs::write(bench.path("p.c"), "#include <flick.h>\nversion __FLICK__\n").unwrap();
    let text = stdout(&bench.cc("-E p.c"));
    assert!(
        text.contains("from_the_tree") && text.contains("version 1"),
        "{text}"
    );
    // The user's own header of that name comes first.
    std::fs::create_dir(bench.path("own")).unwrap();
    std::fs::write(bench.path("own/flick.h"), "from_the_user\n").unwrap();
    let text = stdout(&bench.cc("-Iown -E p.c"));
    assert!(text.contains("from_the_user"), "{text}");
    assert_eq!(stdout(&bench.cc("-MM -Iown p.c")), "p.o: p.c own/flick.h\n");
}

#[test]
fn questions_go_to_clang() {
    let bench = bench();
    let clang = |arg: &str| stdout(&Command::new("clang-19").arg(arg).output().unwrap());
    for question in ["-dumpmachine", "-print-search-dirs", "-print-prog-name=ld"] {
        assert_eq!(stdout(&bench.cc(question)), clang(question));
    }
    let version = stdout(&bench.cc("--version"));
    assert!(
        version.starts_with(&clang("--version")) && version.contains("\nflick "),
        "{version}"
    );
}

#[test]
fn failures_are_the_tools_or_coded() {
    let bench = bench();
    std::fs::write(bench.path("bad.s"), "nonsense\n").unwrap();
    let output = bench.cc("bad.s -o prog");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("bad.s:1:1: error"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&bench.cc("missing.o")).contains("no such file or directory: 'missing.o'"));
    for (args, code) in [
        ("x.cu", "FLK0101"),
        ("--flick-place=missing.txt a.s", "FLK0105"),
        ("--flick-place=random:1:200 a.s", "FLK0104"),
    ] {
        let text = stderr(&bench.cc(args));
        assert!(
            text.starts_with(&format!("flick: error: [{code}] ")) && text.contains("\nhelp: "),
            "{text}"
        );
    }
}

#[test]
fn the_runtime_comes_with_its_functions() {
    let bench = bench();
    let source = bench.path("m.c");
    std::fs::write(
        &source,
        "int flick_is_nxp_memory(const void *); int x; int main(void) { return flick_is_nxp_memory(&x); }",
    )
    .unwrap();
    bench.host("m", &source, &[]);
    for mode in ["", "-static", "-Wl,--as-needed"] {
        bench.cc_quiet(&format!("m.o {mode} -o prog"));
        assert_eq!(bench.run("prog").status.code(), Some(0), "{mode}");
    }
}

#[test]
fn missing_pieces_are_named() {
    let bench = bench();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    std::fs::remove_file(bench.path("lib/flick/flickcrt.o")).unwrap();
    std::fs::remove_file(bench.path("lib/flick/libnxp.a")).unwrap();
    let text = stderr(&bench.cc("main.o unit.o -o prog"));
    assert!(
        text.contains("[FLK0102]") && text.contains("libnxp.a"),
        "{text}"
    );
}
