//! Sanitizers, coverage and profiles beside NxP code: the host half is instrumented, the NxP half
//! has UBSan's checks and no more. Needs the built tree.
mod tree;

use std::process::{Command, Output};

use flick_support::output::{stderr, stdout};
use tree::Bed;

const WORK: &str = "\
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
FLICK_HOST int host(int a) {
  if (a > 2)
    return 1;
  return 2;
}
FLICK_NXP int *work(int n, int shift) {
  char local[32];
  memset(local, n, sizeof local);
  int *sums = malloc(n * sizeof *sums);
  for (int i = 0; i < n; i++)
    sums[i] = host(i) + local[i] - n;
  sums[0] += 1 << shift;
  return sums;
}
int main(int argc, char **argv) {
  int *sums = work(4, argc > 1 ? atoi(argv[1]) : 0);
  printf(\"%d %d\\n\", sums[0], sums[3]);
  if (argc > 2)
    printf(\"%d\\n\", sums[atoi(argv[2])]);
  free(sums);
  return 0;
}
";

fn bed() -> Bed {
    Bed::new(&[("work.c", WORK)])
}

fn run(bed: &Bed, args: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(bed.path("prog"))
        .args(args)
        .env("FLICK_OFFLOAD", "require")
        .envs(env.iter().copied())
        .current_dir(bed.dir.path())
        .output()
        .unwrap()
}

/// Runs it on the NxP.
fn crosses(bed: &Bed) {
    let output = run(bed, &[], &[("FLICK_STATS", "1")]);
    assert_eq!(stdout(&output), "3 1\n", "{}", stderr(&output));
    assert!(output.status.success());
    // `host` is no copy on the NxP.
    let text = stderr(&output);
    assert!(text.contains("4  host  "), "{text}");
}

#[test]
fn address_sanitizer_finds_what_the_host_does() {
    let bed = bed();
    for options in ["-O0", "-O2", "-O1 -fuse-ld=lld", "-O1 -no-pie"] {
        let line = format!("-g -fsanitize=address,undefined {options} work.c -o prog");
        bed.good("flick-cc", &line);
        crosses(&bed);
        // NxP code allocated the block.
        let output = run(&bed, &["0", "5"], &[]);
        let text = stderr(&output);
        assert!(!output.status.success(), "{line}");
        for part in ["heap-buffer-overflow", "in main", "work.c:23"] {
            assert!(text.contains(part), "{line}: no {part} in {text}");
        }
    }
}

#[test]
fn undefined_behaviour_is_found_on_both_sides() {
    let bed = bed();
    for options in ["-O0", "-O2"] {
        bed.good(
            "flick-cc",
            &format!("-g -fsanitize=undefined {options} work.c -o prog"),
        );
        crosses(&bed);
        let text = stderr(&run(&bed, &["40"], &[]));
        assert!(
            text.contains("work.c:16:16: runtime error: shift exponent 40"),
            "{text}"
        );
    }
    bed.good(
        "flick-cc",
        "-fsanitize=undefined -fno-sanitize-recover=all work.c -o prog",
    );
    assert_eq!(run(&bed, &["40"], &[]).status.code(), Some(1));
    bed.good(
        "flick-cc",
        "-fsanitize=undefined -fsanitize-trap=all work.c -o prog",
    );
    use std::os::unix::process::ExitStatusExt;
    assert!(run(&bed, &["40"], &[]).status.signal().is_some());
}

#[test]
fn leaks_of_nxp_code_are_reported() {
    let mut bed = bed();
    // Several: what is left of a pointer on a stack may hide the last one.
    let leaks = WORK.replace(
        "  free(sums);\n",
        "  for (int i = 0; i < 9; i++)\n    work(4, i);\n",
    );
    bed.add("leak.c", &leaks);
    bed.good("flick-cc", "-g -fsanitize=address leak.c -o prog");
    let text = stderr(&run(&bed, &[], &[("ASAN_OPTIONS", "detect_leaks=1")]));
    // A tracer, or a sandbox that forbids tracing, cannot look for leaks.
    assert!(
        text.contains("detected memory leaks")
            || text.contains("LeakSanitizer has encountered a fatal error"),
        "{text}"
    );
}

fn lines(bed: &Bed) -> String {
    let output = Command::new("llvm-cov-19")
        .args(["gcov", "-t", "prog-work.gcda"])
        .current_dir(bed.dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn gcov_counts_what_the_host_executed() {
    let bed = bed();
    for options in ["-O0", "-O2"] {
        let _ = std::fs::remove_file(bed.path("prog-work.gcda"));
        bed.good("flick-cc", &format!("--coverage {options} work.c -o prog"));
        crosses(&bed);
        let text = lines(&bed);
        for line in [
            "        4:    6:  if (a > 2)",
            "        3:    8:",
            "    #####:   12:",
            "        1:   21:",
        ] {
            assert!(text.contains(line), "{options}: no {line} in {text}");
        }
        std::fs::remove_file(bed.path("prog-work.gcda")).unwrap();
        run(&bed, &[], &[("FLICK_OFFLOAD", "off")]);
        let text = lines(&bed);
        assert!(
            text.contains("        1:   12:"),
            "the host clone counts: {text}"
        );
    }
}

fn counts(bed: &Bed) -> String {
    let profile = |args: &[&str]| {
        let output = Command::new("llvm-profdata-19")
            .args(args)
            .current_dir(bed.dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    profile(&["merge", "raw", "-o", "prog.profdata"]);
    profile(&["show", "--all-functions", "--counts", "prog.profdata"])
}

#[test]
fn profiles_count_and_are_used() {
    let bed = bed();
    for options in [
        "-fprofile-instr-generate",
        "-fprofile-instr-generate -fcoverage-mapping -O2",
        "-fprofile-generate -O2",
    ] {
        bed.good("flick-cc", &format!("{options} work.c -o prog"));
        let output = run(&bed, &[], &[("LLVM_PROFILE_FILE", "raw")]);
        assert_eq!(stdout(&output), "3 1\n", "{options}: {}", stderr(&output));
        let text = counts(&bed);
        let host = text.split("  host:").nth(1).unwrap_or_default();
        let host = host.lines().take(5).collect::<Vec<_>>().join("\n");
        assert!(
            host.contains('4') || host.contains("[1, 3]"),
            "{options}: {text}"
        );
        let used = if options.starts_with("-fprofile-instr") {
            "-fprofile-instr-use=prog.profdata"
        } else {
            "-fprofile-use=prog.profdata"
        };
        bed.good("flick-cc", &format!("-O2 {used} work.c -o prog -Werror"));
        crosses_quickly(&bed);
    }
}

fn crosses_quickly(bed: &Bed) {
    let output = run(bed, &[], &[]);
    assert_eq!(stdout(&output), "3 1\n", "{}", stderr(&output));
}

#[test]
fn calls_are_recorded() {
    let mut bed = bed();
    bed.add(
        "hooks.c",
        "#include <stdio.h>\n\
         #define NO __attribute__((no_instrument_function))\n\
         static int count;\n\
         NO void __cyg_profile_func_enter(void *f, void *c) { count++; }\n\
         NO void __cyg_profile_func_exit(void *f, void *c) {}\n\
         NO __attribute__((destructor)) void show(void) { fprintf(stderr, \"%d calls\\n\", count); }\n",
    );
    bed.good("flick-cc", "-finstrument-functions work.c hooks.c -o prog");
    // main, work (clang puts these calls in before the split), and four of `host`.
    let output = run(&bed, &[], &[]);
    assert!(stderr(&output).contains("6 calls"), "{}", stderr(&output));
}

/// Calls in gprof's call graph, as `CALLER CALLEE COUNT`.
fn call_graph(bed: &Bed) -> Vec<String> {
    let output = Command::new("gprof")
        .args(["-b", "-q", "prog", "gmon.out"])
        .current_dir(bed.dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let mut calls = Vec::new();
    // Callers are above a function's own line, which begins with its number.
    for block in text.split("-----\n") {
        let mut callers = Vec::new();
        for line in block.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [number, .., name, _] if number.starts_with('[') => {
                    calls.extend(
                        callers
                            .iter()
                            .map(|(caller, count)| format!("{caller} {name} {count}")),
                    );
                    break;
                }
                [_, _, counts, name, _] if counts.contains('/') => {
                    let count = counts.split('/').next().unwrap_or_default();
                    callers.push((name.to_owned(), count.to_owned()));
                }
                _ => {}
            }
        }
    }
    calls
}

#[test]
fn gprof_counts_the_calls_of_host_code() {
    let mut bed = bed();
    let more = WORK.replace("  free(sums);\n", "  free(sums);\n  host(1);\n  host(2);\n");
    bed.add("more.c", &more);
    let has = |calls: &[String], wanted: &[&str]| {
        let all = wanted
            .iter()
            .all(|call| calls.iter().any(|other| other == call));
        assert!(all, "{wanted:?} are not in {calls:?}");
    };
    // What NxP code calls comes from the program's copy of the crossing (docs/driver.md).
    bed.good("flick-cc", "-pg more.c -o prog");
    crosses_quickly(&bed);
    // gprof rounds the place of a call down, so it may name what is in front of the call.
    let crosses = |bed: &Bed, names: [&str; 2]| {
        let calls = call_graph(bed);
        has(&calls, &["main host 2"]);
        let is_one = |call: &String| names.iter().any(|name| *call == format!("{name} host 4"));
        assert!(
            calls.iter().any(is_one),
            "none of {names:?} is in {calls:?}"
        );
    };
    crosses(&bed, ["__flick_near_host_call", "__flick_near_calls"]);
    // Its host clone's calls are.
    run(&bed, &[], &[("FLICK_OFFLOAD", "off")]);
    let wanted = [
        "main host 2",
        "main __flick_twin_work 1",
        "__flick_twin_work host 4",
    ];
    has(&call_graph(&bed), &wanted);
    bed.good("flick-cc", "-pg -static more.c -o prog");
    crosses_quickly(&bed);
    crosses(&bed, ["__flick_fast_host_call", "__flick_fast_calls"]);
}
