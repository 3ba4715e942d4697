//! `libflick.a` in a static C program: the program of libflick.so's test, with `--wrap`.
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_abi::names::STATIC_WRAPS;
use flick_support::library;

/// The library as `make` leaves it.
fn library(dir: &Path) -> PathBuf {
    let archive = library::dir(env!("CARGO_PKG_NAME")).join("libflick_static.a");
    let library = dir.join("libflick.a");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts/static-library.sh");
    let status = Command::new(script).arg(archive).arg(&library).status();
    assert!(status.unwrap().success());
    library
}

#[test]
fn blocks_of_the_nxp_heap() {
    let dir = tempfile::tempdir().unwrap();
    let library = library(dir.path());
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tests");
    for linker in ["bfd", "lld-19"] {
        let program = dir.path().join(linker);
        let output = Command::new("clang-19")
            .args(["-static", "-g", "-O1", "-pthread"])
            .arg(format!("-fuse-ld={linker}"))
            .arg(format!(
                "-DFLICK_ABI_VERSION={}",
                flick_abi::ABI_VERSION.bits()
            ))
            .arg(format!("-DFLICK_NXP_MARCH=\"{}\"", flick_abi::NXP_MARCH))
            .arg(tests.join("malloc.c"))
            .args(STATIC_WRAPS.iter().map(|name| format!("-Wl,--wrap={name}")))
            .arg(&library)
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{messages}");

        let record = dir.path().join("record");
        let output = Command::new(&program)
            .arg("nxp")
            .env("FLICK_STATS", &record)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && output.stdout == b"ok\n" && err.is_empty(),
            "{err}"
        );
        let text = std::fs::read_to_string(&record).unwrap();
        assert!(text.contains("\nheap nxp\n"), "{text}");
        std::fs::remove_file(&record).unwrap();
    }
}
