//! `libflick.so` in C programs: who frees and resizes which block.
use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flick_abi::names::RUNTIME_SONAME;
use flick_support::library;

struct Build {
    dir: tempfile::TempDir,
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

impl Build {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // The name in programs. Not beside the library: cargo's library path leads there, for every
        // program that tests run.
        symlink(
            library::dir(env!("CARGO_PKG_NAME")).join("libflick.so"),
            dir.path().join(RUNTIME_SONAME),
        )
        .unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles one file of this directory; with `flick`, linked with libflick.so.
    fn cc(&self, file: &str, out: &str, flick: bool, options: &[&str]) -> PathBuf {
        let path = self.path(out);
        let library = library::dir(env!("CARGO_PKG_NAME"));
        let mut cc = Command::new("cc");
        cc.args(["-g", "-O1", "-Wall"])
            .args(options)
            .arg(source(file))
            .arg("-o")
            .arg(&path);
        cc.arg(format!(
            "-DFLICK_ABI_VERSION={}",
            flick_abi::ABI_VERSION.bits()
        ));
        cc.arg(format!("-DFLICK_NXP_MARCH=\"{}\"", flick_abi::NXP_MARCH));
        if flick {
            cc.arg("-L").arg(library).arg("-lflick");
            cc.arg(format!("-Wl,-rpath,{}", self.dir.path().display()));
        }
        let output = cc.args(["-lpthread", "-ldl"]).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        path
    }
}

fn run(program: impl AsRef<OsStr>, args: &[&OsStr], env: &[(&str, &OsStr)]) -> Output {
    Command::new(program)
        .env_remove("LD_LIBRARY_PATH")
        .args(args)
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

/// The program said "ok", and nothing on stderr but what `stderr` allows.
fn assert_ok(output: &Output) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{err}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ok\n", "{err}");
}

fn assert_silent(output: &Output) {
    assert_ok(output);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn blocks_of_the_nxp_heap() {
    let build = Build::new();
    for (out, options) in [
        ("pie", ["-pie", "-fPIE"]),
        ("no-pie", ["-no-pie", "-fno-pie"]),
    ] {
        let program = build.cc("malloc.c", out, true, &options);
        assert_silent(&run(&program, &["nxp".as_ref()], &[]));
        assert_silent(&run(
            &program,
            &["nxp".as_ref()],
            &[("LD_BIND_NOW", "1".as_ref())],
        ));
    }
}

/// What the statistics say of the heap.
fn heap_policy(program: &Path, args: &[&OsStr], env: &[(&str, &OsStr)], build: &Build) -> String {
    let record = build.path("record");
    let mut env = env.to_vec();
    env.push(("FLICK_STATS", record.as_os_str()));
    assert_ok(&run(program, args, &env));
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::remove_file(&record).unwrap();
    text.lines()
        .find_map(|line| line.strip_prefix("heap "))
        .unwrap()
        .to_owned()
}

#[test]
fn a_preloaded_allocator_serves_everybody() {
    let build = Build::new();
    let allocator = build.cc("preloaded.c", "preloaded.so", false, &["-shared", "-fPIC"]);
    for (out, options) in [
        ("pie", ["-pie", "-fPIE"]),
        ("no-pie", ["-no-pie", "-fno-pie"]),
    ] {
        let program = build.cc("malloc.c", out, true, &options);
        let env = [("LD_PRELOAD", allocator.as_os_str())];
        assert_silent(&run(&program, &["host".as_ref()], &env));
        let heap = heap_policy(&program, &["host".as_ref()], &env, &build);
        assert!(heap.starts_with("host free belongs to "), "{heap}");
        assert_eq!(heap_policy(&program, &["nxp".as_ref()], &[], &build), "nxp");
    }
}

#[test]
fn an_allocator_behind_libflick_keeps_its_blocks() {
    let build = Build::new();
    let allocator = build.cc("preloaded.c", "libbehind.so", false, &["-shared", "-fPIC"]);
    let program = build.path("program");
    // The order of the command line is that of symbol lookup: libflick, then the allocator.
    let object = build.cc("malloc.c", "malloc.o", false, &["-c"]);
    let dir = library::dir(env!("CARGO_PKG_NAME"));
    let output = Command::new("cc")
        .arg(object)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(dir)
        .arg("-lflick")
        .arg(&allocator)
        .arg(format!("-Wl,-rpath,{}", build.dir.path().display()))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_silent(&run(&program, &["nxp".as_ref()], &[]));
}

#[test]
fn a_library_loaded_late_uses_the_process_heap() {
    let build = Build::new();
    let library = build.cc("late_library.c", "library.so", true, &["-shared", "-fPIC"]);
    let program = build.cc("late.c", "late", false, &[]);
    assert_silent(&run(&program, &[library.as_os_str()], &[]));
    let heap = heap_policy(&program, &[library.as_os_str()], &[], &build);
    assert!(heap.starts_with("host free belongs to libc.so"), "{heap}");
}

#[test]
fn memcheck_sees_every_block() {
    let build = Build::new();
    let program = build.cc("malloc.c", "program", true, &[]);
    let output = run(
        "valgrind",
        &[
            "--error-exitcode=9".as_ref(),
            "--leak-check=no".as_ref(),
            "-q".as_ref(),
            program.as_os_str(),
            "host".as_ref(),
        ],
        &[],
    );
    assert_ok(&output);
}

#[test]
fn the_region_shrinks_under_ulimit() {
    let build = Build::new();
    let program = build.cc("malloc.c", "program", true, &[]);
    for limit in ["4000000", "700000"] {
        let script = format!("ulimit -v {limit}; exec \"$0\" nxp");
        assert_ok(&run(
            "sh",
            &["-c".as_ref(), script.as_ref(), program.as_os_str()],
            &[],
        ));
    }
}

#[test]
fn each_process_appends_its_record() {
    let build = Build::new();
    let program = build.cc("children.c", "children", true, &[]);
    let record = build.path("record");
    let output = run(&program, &[], &[("FLICK_STATS", record.as_os_str())]);
    assert!(output.status.success());
    let records = flick_events::parse(&std::fs::read_to_string(&record).unwrap()).unwrap();
    assert_eq!(records.len(), 9);
    let (parent, children) = records.split_last().unwrap();
    assert!(
        parent.heap_peak >= 1 << 20 && parent.heap_peak < 2 << 20,
        "{parent:?}"
    );
    for child in children {
        assert!(
            child.heap_peak >= 3 << 20 && child.pid != parent.pid,
            "{child:?}"
        );
        assert_eq!(Path::new(&child.program), program);
    }
}
