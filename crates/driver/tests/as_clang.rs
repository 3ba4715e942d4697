//! Where nothing is placed, a command does what clang does with the same words: exit code, output,
//! diagnostics and every file, byte for byte. Needs the built tree.
mod tree;

use std::io::Write;
use std::process::Stdio;

use flick_support::tree::tool;
use tree::Bed;

const PART: &str = "\
#include \"part.h\"
static int twice(int x) { return 2 * x; }
int counter;
int part(int x) {
  counter++;
  return x > 3 ? twice(x) : x / 2;
}
";
const MAIN: &str = "\
#include \"part.h\"
#ifdef LOUD
#warning loud
#endif
int main(int argc, char **argv) { return part(argc) + argv[0][0] == LIMIT; }
";
const CLASS: &str = "\
#include <string>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual int area() const = 0; };
struct Square : Shape { int n; explicit Square(int n) : n(n) {} int area() const override { return n * n; } };
std::string name(const Shape &s) { return std::to_string(s.area()); }
int main() { std::vector<int> v{1, 2}; return name(Square(2)).size() + v.size() - 3; }
";

fn bed() -> Bed {
    Bed::new(&[
        ("part.h", "#pragma once\n#define LIMIT 10\nint part(int);\n"),
        ("part.c", PART),
        ("main.c", MAIN),
        ("class.cpp", CLASS),
        (
            "bad.c",
            "int f(void) { return nonsense; }\nint g(void) { return 1 }\n",
        ),
        ("add.s", ".globl add\nadd: lea (%rdi,%rsi), %eax\nret\n"),
        (
            "sub.S",
            "#define NAME sub\n.globl NAME\nNAME: mov %edi, %eax\nsub %esi, %eax\nret\n",
        ),
        ("words", "-O2 -DLOUD \"main.c\" 'part.c'\n-o from_words"),
        ("sub/deep.c", "int deep(void) { return __LINE__; }\n"),
        ("words_of_ld", "--build-id=none -z now\n"),
        ("script.ld", "SECTIONS { .text : { *(.text*) } }\n"),
        ("script.map", "{ global: part; local: *; };\n"),
        ("main.o.txt", "no object\n"),
        ("part.i", "int part(int x) { return x; }\n"),
    ])
}

fn all_same(front: &str, lines: &[&str]) {
    let bed = bed();
    let found: Vec<String> = lines
        .iter()
        .flat_map(|line| bed.differences(front, line, |_| {}))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

#[test]
fn stages() {
    all_same(
        "cc",
        &[
            "-c part.c",
            "-c part.c main.c",
            "-c part.c -o out.o",
            "-c sub/deep.c",
            "-S part.c -O2",
            "-S -masm=intel part.c -o -",
            "-S -emit-llvm -O1 part.c",
            "-c -emit-llvm part.c",
            "-E main.c",
            "-E -P main.c -o main.txt",
            "-fsyntax-only main.c -DLOUD",
            "-M main.c",
            "-MM main.c part.c",
            "-MD -c main.c",
            "-MMD -MP -MF deps -MT target -c main.c",
            "-MMD main.c part.c -o prog",
            "-E -MMD -MF deps main.c -o x.i",
            "-c add.s sub.S",
            "-c -x c part.h -o header.o",
            "-x c part.c -x none add.s -c",
            "-c part.c -o /dev/null",
            "--analyze part.c",
            "-c part.c -O0 -pipe -w",
            "-c part.c -Ofast",
            "-c part.c -Oz -ffunction-sections -fdata-sections",
            "-c part.c -O -Og",
            "-S -fverbose-asm -Os part.c",
            "-E -C -H main.c",
            "-E -dI main.c -undef -UMISSING",
            "-E -CC -dI main.c -o -",
            "-M -MG -MQ a$b main.c -include generated.h",
            "-MM -MV -MT one -MT two part.c",
            "-MD -MF - -c main.c",
            "-MM -MD main.c",
            "-MMD -c sub/deep.c -o sub/other.o",
            "-c -x assembler-with-cpp add.s -o x.o",
            "-c -x cpp-output part.i",
            "-c -fno-integrated-as part.c",
            "-ffreestanding -nostdinc -c part.c",
            "-ftime-trace -c part.c -o /dev/null -ftime-trace-granularity=900000000 -fsyntax-only",
            "-c -ftime-report part.c -o /dev/null -DQUIET -w -fno-color-diagnostics --version",
        ],
    );
}

#[test]
fn links() {
    all_same(
        "cc",
        &[
            "main.c part.c -o prog",
            "main.c part.c",
            "@words",
            "-static -O2 main.c part.c -o prog",
            "-fuse-ld=lld main.c part.c -o prog -Wl,--gc-sections -ffunction-sections",
            "-shared -fPIC part.c -o libpart.so -Wl,-soname,libpart.so.1 -Wl,-z,now",
            "-no-pie -fno-pie main.c part.c -Xlinker --strip-all -o prog",
            "-r part.c sub/deep.c -o both.o",
            "-flto main.c part.c -fuse-ld=lld -o prog",
            "-flto=thin main.c part.c -fuse-ld=lld -o prog",
            "-nostdlib -Wl,-e,main main.c part.c -o prog",
            "-Wl,--version",
            "-Wl,@words_of_ld main.c part.c -o prog",
            "-Xlinker -rpath -Xlinker /somewhere -Wl,-z,relro,-z,now main.c part.c -o prog",
            "-static-pie main.c part.c -o prog",
            "-pthread -rdynamic -Wl,--as-needed -lm -ldl main.c part.c -o prog",
            "-Wl,--dependency-file=deps -save-temps main.c part.c -fuse-ld=lld -o prog",
            "-nostartfiles -nodefaultlibs -e main -u counter main.c part.c -o prog",
            "-s -O1 main.c part.c",
            "-T script.ld -r main.c part.c -o both.o",
            "-L sub -l:libdeep.a main.c part.c -o prog",
            "-Wl,--defsym=part=0 main.c -o prog",
            "-Wl,--wrap=part main.c part.c -o prog",
            "-Wl,--nonsense main.c part.c -o prog",
            "-Wl,--unresolved-symbols=ignore-all main.c -o prog",
            "-z nonsense=1 main.c part.c -o prog",
            "-shared part.c main.c -o libboth.so -Wl,--version-script=script.map -fPIC",
            "main.o.txt part.c -o prog",
            "main.c -o prog",
            "-fuse-ld=gold -O1 main.c part.c",
            "-fuse-ld=nonesuch main.c part.c",
            "missing.o main.c",
            "main.c part.c -lnonesuch -o prog",
            "main.c part.c -o no/such/dir/prog",
            "part.c main.c -Wl,--build-id=none,--cref -o prog -Wl,-M -Wl,-Map=/dev/null",
        ],
    );
}

#[test]
fn debug_information() {
    all_same(
        "cc",
        &[
            "-g -c part.c",
            "-g3 -gdwarf-4 -c part.c -O2",
            "-g -gsplit-dwarf -c part.c",
            "-g -gsplit-dwarf main.c part.c -o prog",
            "-g -ffile-prefix-map=sub=other -c sub/deep.c",
            "-g -fdebug-compilation-dir=/somewhere -c part.c",
            "-g -gz -c part.c",
            "-frecord-command-line -c part.c",
            "-g -grecord-command-line -O1 -DX=\"a\\ b\" -c part.c main.c",
        ],
    );
}

#[test]
fn side_files() {
    all_same(
        "cc",
        &[
            "-save-temps -c part.c",
            "-save-temps main.c part.c -o prog",
            "-save-temps=obj -c part.c -o sub/x.o",
            "--coverage -c part.c -o sub/x.o",
            "--coverage main.c part.c -o prog",
            "-fprofile-instr-generate -fcoverage-mapping main.c part.c -o prog",
            "-fprofile-generate -O2 -c part.c",
            "-ftest-coverage -c part.c",
            "-save-temps=cwd -g sub/deep.c -c -o sub/x.o",
            "-foptimization-record-file=r.yaml -fsave-optimization-record -O1 -c part.c",
            "-Rpass=inline -O2 -c part.c",
            "-Wa,-L,--noexecstack,-I,sub -c add.s part.c",
            "-Xassembler --nonsense -c part.c",
            "-Xassembler -g -c add.s",
            "-Wa,--nonsense -c part.c",
            "-Wp,-DLOUD,-MD,deps -c main.c",
            "-Xpreprocessor -DLOUD -c main.c",
            "-Xclang -ast-print -fsyntax-only part.c",
            "-Xclang -nonsense -c part.c",
            "-mllvm -nonsense -c part.c",
            "-mllvm --help-hidden -c part.c -o /dev/null -DQUIET --version",
            "-serialize-diagnostics out.dia -c main.c -DLOUD",
            "-fstack-usage -c part.c",
            "-fsave-optimization-record -O2 -c part.c",
            "-dumpdir pre- --coverage -c part.c",
        ],
    );
}

#[test]
fn instrumentation() {
    all_same(
        "cc",
        &[
            "-fsanitize=address -c part.c",
            "-fsanitize=thread -O2 -c part.c",
            "-fsanitize=memory -c part.c",
            "-fsanitize=undefined,leak -c part.c",
            "-fsanitize=nonsense -c part.c",
            "-pg -c part.c",
            "-finstrument-functions -c part.c",
            "-fxray-instrument -c part.c",
            "-fstack-protector-all -fcf-protection=full -c part.c",
            "-mcmodel=large -c part.c",
            "-march=x86-64-v3 -mtune=native -O3 -c part.c",
            "-flto -c part.c",
        ],
    );
}

#[test]
fn diagnostics() {
    all_same(
        "cc",
        &[
            "",
            "-c",
            "nothere.c",
            "-c bad.c part.c",
            "bad.c main.c -o prog",
            "-c main.c -DLOUD",
            "-c main.c -DLOUD -Werror",
            "-c part.c main.c -o one.o",
            "-fdiagnostics-format=msvc -c bad.c",
            "-fdiagnostics-parseable-fixits -c bad.c",
            "-fcolor-diagnostics -c bad.c",
            "-nonsense part.c",
            "-fnonsense -c part.c",
            "-Wnonsense -c part.c",
            "-c -fno-caret-diagnostics -fdiagnostics-show-category=id bad.c",
            "-ferror-limit=1 -c bad.c main.c",
            "-Weverything -c part.c main.c",
            "-pedantic-errors -std=c89 -c part.c",
            "-Werror=implicit-function-declaration -fsyntax-only part.c bad.c",
            "-c .",
            "-c part.c -o sub",
            "sub",
            "-I",
            "-D",
            "-MF x -c part.c",
            "-include nothere.h -c part.c",
            "-mnonsense -c part.c",
            "-march=nonsense -c part.c",
            "-mcpu=x -mtune=nonsense -c part.c",
            "--sysroot=/nothere main.c part.c",
            "-stdlib=libc++ -c part.c",
            "-fuse-ld=lld -fuse-ld=bfd -c part.c",
            "-c part.c -lm -Wl,-x",
            "-L. part.o -c",
            "-x nonsense part.c",
            "-o",
            "-std=c++17 -c part.c",
            "-O7 -c part.c",
            "-V",
            "-qversion",
            "--nonsense",
            "-E",
            "@nothere",
        ],
    );
}

#[test]
fn questions() {
    all_same(
        "cc",
        &[
            "-v",
            "-ccc-print-phases main.c part.c",
            "-ccc-print-bindings -c part.c",
            "-print-targets",
            "-print-runtime-dir",
            "-print-multi-directory",
            "-print-search-dirs -B.",
            "-print-rocm-search-dirs",
            "-print-diagnostic-options",
            "-mcpu=help -c part.c",
            "-fsanitize=help",
            "-### -static main.c -flto=thin -fuse-ld=lld",
            "-### -c nothere.c",
            "-dumpmachine",
            "-dumpversion",
            "-print-search-dirs",
            "-print-prog-name=ld",
            "-print-file-name=crt1.o",
            "-print-resource-dir",
            "-print-libgcc-file-name",
            "-print-multi-lib",
            "-print-effective-triple",
            "-print-target-triple",
            "--print-supported-cpus",
            "--autocomplete=-fsyn",
            "-### -c main.c",
            "-### main.c part.c -o prog",
        ],
    );
}

/// Flick's options stand in front of clang's.
#[test]
fn help() {
    let bed = bed();
    for (front, clang) in [("flick-cc", "clang-19"), ("flick-c++", "clang++-19")] {
        for line in ["--help", "-help", "--help-hidden", "-c part.c --help"] {
            let own = bed.run(bed.command(tool(front), line)).stdout;
            let clangs = bed.run(bed.command(clang, line)).stdout;
            let flicks = own.strip_suffix(&clangs).expect("clang's help follows");
            let begin = format!("OVERVIEW: {front}: {clang}, and NxP code");
            assert!(flicks.starts_with(&begin), "{flicks}");
            assert!(flicks.contains("\n  --flick-place=<file> "), "{flicks}");
        }
    }
}

#[test]
fn standard_input_and_output() {
    let bed = bed();
    for (line, text) in [
        ("-x c -c - -o in.o", "int f(void) { return 1; }"),
        ("-xc - -S -o -", "int f(void) { return 1; }"),
        ("-E -", "#define A 1\nA\n"),
        ("-x c - -o prog", "int main(void) { return 0; }"),
        ("-x c++ -fsyntax-only -", "struct S { S() = default; } s;"),
        ("-x c -c -", "int f(void) { return y; }"),
        ("-", "int x;"),
    ] {
        bed.same("cc", line, |command| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            command.stdin(Stdio::from(file));
        });
    }
    // Flick's macro is the one difference.
    let macros = |program: &std::path::Path| {
        let outcome = bed.run(bed.command(program, "-dM -E -"));
        outcome
            .stdout
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut have = macros(&tool("flick-cc"));
    have.retain(|line| line != "#define __FLICK__ 1");
    assert_eq!(have, macros("clang-19".as_ref()));
}

#[test]
fn environment() {
    let mut bed = bed();
    bed.add("cpath/part_of_path.h", "int from_path;\n");
    bed.add("path.c", "#include <part_of_path.h>\n");
    bed.add("own.cfg", "-DLIMIT=3 -O2\n");
    for (words, name, value) in [
        ("-c path.c", "CPATH", "cpath"),
        ("-c path.c", "C_INCLUDE_PATH", "cpath"),
        ("-c main.c -g", "CCC_OVERRIDE_OPTIONS", "# +-O3 x-g"),
        ("main.c part.c", "CCC_OVERRIDE_OPTIONS", "+-fuse-ld=lld"),
    ] {
        bed.same("cc", words, |command| {
            command.env(name, value);
        });
    }
    bed.same("cc", "--config=./own.cfg -c part.c -w", |_| {});
    bed.same("cc", "--config ./own.cfg part.c main.c -w", |_| {});
    bed.same("cc", "-working-directory sub -c deep.c -g", |_| {});
    bed.same("cc", "-B. main.c part.c", |_| {});
}

#[test]
fn cxx() {
    all_same(
        "c++",
        &[
            "-c class.cpp",
            "class.cpp -o prog",
            "-O2 -g -std=c++20 class.cpp -o prog -static-libstdc++ -static-libgcc",
            "class.cpp -fuse-ld=lld -o prog",
            "-fno-exceptions -fno-rtti -c class.cpp",
            "-c part.c",
            "-S -O1 class.cpp -o -",
            "-E -MMD -MF deps class.cpp -o x.ii",
            "-fmodules -c class.cpp -fmodules-cache-path=cache -fdisable-module-hash -o /dev/null",
            "-print-prog-name=ld",
        ],
    );
    all_same(
        "cc",
        &["-c class.cpp", "class.cpp", "class.cpp -lstdc++ -o prog"],
    );
}

#[test]
fn precompiled_headers() {
    let mut bed = bed();
    for (program, header) in [("flick-cc", "part.h"), ("flick-c++", "part.h")] {
        let language = if program == "flick-cc" { "c" } else { "c++" };
        bed.good(
            program,
            &format!("-x {language}-header {header} -o {header}.pch"),
        );
        assert!(bed.path("part.h.pch").is_file());
        bed.good(
            program,
            &format!("-x {language} -include part.h -c part.c -o with.o"),
        );
        bed.good(
            program,
            &format!("-x {language} -include-pch part.h.pch -c part.c -o with2.o"),
        );
        let with = std::fs::read(bed.path("with.o")).unwrap();
        assert_eq!(with, std::fs::read(bed.path("with2.o")).unwrap());
        std::fs::remove_file(bed.path("part.h.pch")).unwrap();
        bed.good(program, &format!("-x {language} -c part.c -o without.o"));
        assert_eq!(
            with,
            std::fs::read(bed.path("without.o")).unwrap(),
            "{program}"
        );
    }
    bed.keep();
    // Without -o it goes beside the header, also without -c.
    bed.good("flick-cc", "part.h");
    assert!(bed.path("part.h.pch").is_file() || bed.path("part.h.gch").is_file());
}
