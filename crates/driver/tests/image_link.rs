//! The image link with unmodified host linkers, in every link mode.
mod common;

use std::fmt::Write as _;
use std::process::Command;

use common::{Bench, fixture};
use flick_abi::names::{CALL_PREFIX, NXP_LIBRARY, NXP_PREFIX, OUTSIDE_PREFIX};
use flick_support::output::{quiet, stderr, stdout};
use object::{Object, ObjectSymbol};

const WANT: &str = "\
address 1
module 0 of 1: FLKMOD1 1.10
aligned 1, start r--p, end r--p
function placed
line tests/fixtures/nxp.c:10
gate placed -> placed, lazy 1
host memcpy 0
host function 1, host variable 1, march rv64imafdc_zicsr_zifencei_zba_zbb_zbs, data 0
";

/// Lines of the table are many; one is enough.
fn reduced(text: &str) -> String {
    let mut seen = false;
    text.lines()
        .filter(|line| !line.starts_with("line ") || !std::mem::replace(&mut seen, true))
        .map(|line| match line.strip_prefix("line ") {
            Some(at) => {
                let file = at.rsplit_once(':').unwrap().0;
                assert!(file.ends_with("tests/fixtures/nxp.c"), "{file}");
                "line tests/fixtures/nxp.c:10\n".to_owned()
            }
            None => format!("{line}\n"),
        })
        .collect()
}

fn dynamic_section(bench: &Bench, program: &str) -> String {
    let output = Command::new("llvm-readelf-19")
        .arg("-dlW")
        .arg(bench.path(program))
        .output();
    stdout(&output.unwrap())
}

#[test]
fn every_link_mode() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    for linker in ["bfd", "lld"] {
        for mode in ["-pie", "-no-pie", "-static", "-static-pie"] {
            let args = format!("main.o unit.o {mode} -fuse-ld={linker} -o prog");
            bench.cc_quiet(&args);
            let output = bench.run("prog");
            assert_eq!(
                reduced(&stdout(&output)),
                WANT,
                "{args}: {}",
                stderr(&output)
            );
            let dynamic = dynamic_section(&bench, "prog");
            assert!(!dynamic.contains("TEXTREL"), "{args}: {dynamic}");
            for line in dynamic
                .lines()
                .filter(|l| l.trim_start().starts_with("LOAD"))
            {
                assert!(!line.contains("RWE"), "{args}: {line}");
            }
        }
    }
}

#[test]
fn the_instruction_set_is_that_of_all_units() {
    let bench = Bench::new();
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    let march = |sets: [&str; 2]| {
        let [placed, other] = sets;
        bench.fat("unit", "placed", &bench.payload_for(placed, &[]), &[]);
        let other = bench.payload_for(other, &["NAME=__flick_nxp_other"]);
        bench.fat("other", "other", &other, &["DATA"]);
        bench.cc_quiet("main.o unit.o other.o -o prog");
        let text = stdout(&bench.run("prog"));
        let march = text.lines().find_map(|line| line.split("march ").nth(1));
        march.unwrap().replace(", data 1", "")
    };
    assert_eq!(march(["rv64gc", "rv64gc"]), "rv64imafdc_zicsr_zifencei");
    assert_eq!(
        march(["rv64g_zba", "rv64gc_zbs_zicond"]),
        "rv64imafdc_zicond_zicsr_zifencei_zba_zbs"
    );
    // A letter stands among the letters (unprivileged manual, "Subset Naming Convention").
    assert_eq!(
        march(["rv64gcv", "rv64gc"]).split("_zve").next(),
        Some("rv64imafdcv_zicsr_zifencei")
    );
}

#[test]
fn shared_library_and_program_each_have_a_module() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    let other = bench.payload(&["NAME=__flick_nxp_second", "OTHER=__flick_nxp_third"]);
    bench.fat("other", "second", &other, &["DATA"]);
    std::fs::write(
        bench.path("m.c"),
        "extern int placed(int *, int), second(int *, int);\n\
         extern void runtime_show(int, const void *, const void *);\n\
         int host_variable = 7; int host_function(int x) { return x; }\n\
         void *keep[] = {placed, second};\n\
         int main(void) { for (int i = 0; i < 2; i++) runtime_show(i, host_function, &host_variable); }\n",
    )
    .unwrap();
    for linker in ["bfd", "lld"] {
        for mode in ["-pie", "-no-pie"] {
            bench.host(
                "m",
                &bench.path("m.c"),
                &[if mode == "-pie" { "-fPIE" } else { "-fno-pie" }],
            );
            bench.cc_quiet(&format!("-shared unit.o -fuse-ld={linker} -o libunit.so"));
            let args = format!(
                "m.o other.o -L. -lunit -Wl,-rpath,{} -fuse-ld={linker} {mode} -Wl,--as-needed -o prog",
                bench.dir.path().display()
            );
            bench.cc_quiet(&args);
            let text = stdout(&bench.run("prog"));
            for want in [
                "module 0 of 2",
                "module 1 of 2",
                "gate placed -> placed",
                "gate second -> second",
                "function third",
                "function memcpy",
                "host memcpy 1",
                "data 0",
                "data 1",
            ] {
                assert!(text.contains(want), "{args}: no {want:?} in {text}");
            }
            assert_eq!(
                text.matches("host function 1, host variable 1").count(),
                2,
                "{text}"
            );
            assert_eq!(
                text.matches("aligned 1, start r--p, end r--p").count(),
                2,
                "{text}"
            );
            let dynamic = dynamic_section(&bench, "libunit.so");
            assert!(
                !dynamic.contains("TEXTREL") && dynamic.contains("[libflick.so.1]"),
                "{dynamic}"
            );
        }
    }
}

#[test]
fn archives_bring_only_what_the_host_link_takes() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    let unused = bench.payload(&["NAME=__flick_nxp_unused"]);
    bench.fat("unused", "unused", &unused, &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    let archive = |thin: &str| {
        quiet(
            Command::new("llvm-ar-19")
                .args([&format!("rc{thin}"), "libu.a", "unit.o", "unused.o"])
                .current_dir(bench.dir.path()),
        );
    };
    for (linker, thin) in [("bfd", ""), ("lld", ""), ("lld", "T")] {
        let _ = std::fs::remove_file(bench.path("libu.a"));
        archive(thin);
        bench.cc_quiet(&format!("main.o -L. -lu -fuse-ld={linker} -o prog"));
        assert_eq!(
            reduced(&stdout(&bench.run("prog"))),
            WANT,
            "{linker} {thin}"
        );
        bench.cc_quiet(&format!("main.o libu.a -static -fuse-ld={linker} -o prog"));
        assert_eq!(
            reduced(&stdout(&bench.run("prog"))),
            WANT,
            "{linker} {thin} -static"
        );
        bench.cc_quiet(&format!(
            "main.o -Wl,--whole-archive,libu.a,--no-whole-archive -fuse-ld={linker} -o prog"
        ));
        let text = stdout(&bench.run("prog"));
        assert!(
            text.contains("function unused") && text.contains("function placed"),
            "{text}"
        );
    }
}

/// More than the 2 MiB of words that Linux takes on a command line.
#[test]
fn thousands_of_functions_and_words() {
    let bench = Bench::new();
    let names: Vec<String> = (0..2000)
        .map(|n| format!("f{n}_{}", "x".repeat(700)))
        .collect();
    let more = |file: &str, text: String| {
        std::fs::write(bench.path(file), text).unwrap();
        format!("MORE=\"{}\"", bench.path(file).display())
    };
    let define = |name: &String| format!("int {NXP_PREFIX}{name}(void) {{ return 0; }}\n");
    let define = more("define.c", names.iter().map(define).collect());
    let calls: String = names
        .iter()
        .map(|name| {
            let call = format!("{CALL_PREFIX}{name}");
            format!("int {call}(void);\nint of_{name}(void) {{ return {call}(); }}\n")
        })
        .collect();
    let call = more("call.c", calls);
    bench.fat("unit", "placed", &bench.payload(&[&define]), &[]);
    let payload = bench.payload(&["NAME=__flick_nxp_caller", &call]);
    bench.fat("caller", "caller", &payload, &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    let mut words = "main.o unit.o caller.o -o prog\n".to_owned();
    for name in &names {
        writeln!(words, "-L{}/{name}{name}", bench.dir.path().display()).unwrap();
    }
    std::fs::write(bench.path("words"), &words).unwrap();
    std::fs::write(bench.path("with-ours"), words + "--flick-save-temps=saved").unwrap();
    for linker in ["bfd", "lld"] {
        for file in ["words", "with-ours"] {
            bench.cc_quiet(&format!("@{file} -fuse-ld={linker}"));
            let text = stdout(&bench.run("prog"));
            assert!(text.contains("function caller"), "{linker}: {text}");
        }
        let image = std::fs::read(bench.path("saved/image.elf")).unwrap();
        let image = object::File::parse(&*image).unwrap();
        let outside: Vec<_> = image
            .dynamic_symbols()
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| symbol.name().ok())
            .filter_map(|name| name.strip_prefix(CALL_PREFIX))
            .collect();
        assert_eq!(outside, ["host_function"]);
    }
}

#[test]
fn ld_r_keeps_every_record() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    bench.fat(
        "more",
        "more",
        &bench.payload(&["NAME=__flick_nxp_more"]),
        &[],
    );
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    for linker in ["bfd", "lld"] {
        bench.cc_quiet(&format!(
            "-r unit.o more.o main.o -fuse-ld={linker} -o all.o"
        ));
        bench.cc_quiet(&format!("all.o -fuse-ld={linker} -o prog"));
        let text = stdout(&bench.run("prog"));
        assert!(
            text.contains("gate placed -> placed") && text.contains("gate more -> more"),
            "{text}"
        );
    }
}

#[test]
fn clang_alone_where_there_is_no_nxp_code() {
    let bench = Bench::new();
    std::fs::write(bench.path("p.c"), "int main(void) { return 3; }\n").unwrap();
    bench.host("p", &bench.path("p.c"), &[]);
    bench.cc_quiet("p.o -o prog");
    quiet(
        Command::new("clang-19")
            .args(["p.o", "-o", "want"])
            .current_dir(bench.dir.path()),
    );
    assert_eq!(
        std::fs::read(bench.path("prog")).unwrap(),
        std::fs::read(bench.path("want")).unwrap()
    );
    assert_eq!(bench.run("prog").status.code(), Some(3));
}

#[test]
fn a_plain_link_says_what_to_do() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    for args in [
        &["-fuse-ld=bfd"][..],
        &["-fuse-ld=lld"],
        &["-Wl,--gc-sections"],
        &["-shared"],
    ] {
        let output = Command::new("clang-19")
            .args(["unit.o", "-o", "prog"])
            .args(args)
            .current_dir(bench.dir.path())
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(stderr(&output).contains("link_it_with_flick_cc__see_flick_explain_FLK0301"));
    }
}

#[test]
fn bad_inputs_have_codes() {
    let bench = Bench::new();
    let payload = bench.payload(&[]);
    bench.fat("unit", "placed", &payload, &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    let fails = |args: &str, code: &str, words: &[&str]| {
        let output = bench.cc(args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args}: {text}");
        for word in [&[code][..], words].concat() {
            assert!(text.contains(word), "{args}: no {word:?} in: {text}");
        }
    };
    // The same function twice.
    bench.fat(
        "again",
        "again",
        &bench.payload(&["OTHER=__flick_nxp_again"]),
        &[],
    );
    fails(
        "main.o unit.o again.o -o prog",
        "FLK0305",
        &["placed", "duplicate", "unit.o", "again.o"],
    );
    // A damaged record.
    let object = std::fs::read(bench.path("unit.o")).unwrap();
    let at = object.windows(7).position(|w| w == b"FLKNXP1").unwrap();
    let damaged = |offset: usize, name: &str| {
        let mut object = object.clone();
        object[at + offset] ^= 0x10;
        std::fs::write(bench.path(name), object).unwrap();
    };
    damaged(100, "bad.o");
    fails(
        "main.o bad.o -o prog",
        "FLK0302",
        &["bad.o", "checksum", "help:"],
    );
    damaged(8, "version.o");
    fails("main.o version.o -o prog", "FLK0303", &["version.o"]);
    std::fs::write(bench.path("short.o"), &object[..object.len() / 2]).unwrap();
    fails("main.o short.o -o prog", "FLK0302", &["short.o"]);
    std::fs::write(bench.path("rv64.o"), &payload).unwrap();
    fails("main.o rv64.o -o prog", "FLK0304", &["rv64.o"]);
    // Data that the image cannot hold.
    let source = bench.path("data.c");
    std::fs::write(
        &source,
        "int counter = 1; int __flick_nxp_placed(void) { return counter++; }",
    )
    .unwrap();
    let args = ["--target=riscv64-unknown-linux-gnu", "-fPIC", "-mabi=lp64d"];
    bench.host("data", &source, &args);
    bench.fat(
        "data",
        "placed",
        &std::fs::read(bench.path("data.o")).unwrap(),
        &[],
    );
    fails("main.o data.o -o prog", "FLK0306", &["writable"]);
    std::fs::write(
        &source,
        "_Thread_local int t = 1; int *__flick_nxp_placed(void) { return &t; }",
    )
    .unwrap();
    bench.host("data", &source, &args);
    bench.fat(
        "data",
        "placed",
        &std::fs::read(bench.path("data.o")).unwrap(),
        &[],
    );
    fails("main.o data.o -o prog", "FLK0306", &["thread-local"]);
}

#[test]
fn the_library_has_what_the_pass_relies_on() {
    let bench = Bench::new();
    let output = Command::new("llvm-nm-19")
        .args(["-g", "--defined-only", "-j"])
        .arg(bench.path("lib/flick/libnxp.a"))
        .output()
        .unwrap();
    let text = stdout(&output);
    // Members' names end in a colon.
    let names = text
        .lines()
        .filter(|name| !name.is_empty() && !name.ends_with(':'))
        .filter(|name| !name.starts_with(OUTSIDE_PREFIX));
    let (second, mut first): (Vec<_>, Vec<_>) = names.partition(|n| n.starts_with(CALL_PREFIX));
    first.sort_unstable();
    assert_eq!(first, NXP_LIBRARY);
    let mut second: Vec<_> = second
        .iter()
        .map(|name| &name[CALL_PREFIX.len()..])
        .collect();
    second.sort_unstable();
    assert_eq!(second, NXP_LIBRARY);
}
