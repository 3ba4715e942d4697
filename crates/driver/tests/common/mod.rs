//! A Flick tree with a stand-in runtime, and hand-made fat objects: the image link is tested
//! without the pass and without an engine.
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flick_abi::names::RUNTIME_SONAME;
use flick_support::output::{quiet, stderr, stdout};

pub struct Bench {
    pub dir: tempfile::TempDir,
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn driver() -> PathBuf {
    // target/<profile>/deps/<this test>; examples are beside deps.
    let exe = std::env::current_exe().unwrap();
    exe.parent().unwrap().parent().unwrap().join("examples/cc")
}

impl Bench {
    /// The directory of the C headers that the ABI crate makes.
    fn headers(&self) -> PathBuf {
        let dir = self.path("headers");
        std::fs::create_dir_all(dir.join("flick")).unwrap();
        for (name, write) in flick_abi::header::C_HEADERS {
            let mut text = String::new();
            write(&mut text).unwrap();
            std::fs::write(dir.join(name), text).unwrap();
        }
        // These programs do not run: they need no copy of the crossing.
        let near = "#define FLICK_NEAR_CROSSING \"\"\n";
        std::fs::write(dir.join("flick_near.h"), near).unwrap();
        dir
    }

    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bench = Self { dir };
        let lib = bench.path("lib/flick");
        std::fs::create_dir_all(&lib).unwrap();
        let nxp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nxp");
        let made = Command::new("make")
            .arg("-C")
            .arg(nxp)
            .arg(format!("OUT={}", lib.display()))
            .arg(format!("HEADERS={}", bench.headers().display()))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", stderr(&made));
        let wraps: String = flick_abi::names::STATIC_WRAPS
            .iter()
            .filter(|name| **name != "free")
            .map(|name| format!("WRAP({name})\n"))
            .collect();
        std::fs::write(bench.path("wraps.h"), wraps).unwrap();
        let clang = || {
            let mut clang = Command::new("clang-19");
            clang
                .arg("-I")
                .arg(bench.dir.path())
                .arg("-O1")
                .arg(fixture("runtime.c"));
            clang
        };
        let note = bench.headers().join("flick_note.h");
        quiet(
            clang()
                .arg("-include")
                .arg(note)
                .args(["-shared", "-fPIC", "-o"])
                .arg(lib.join(RUNTIME_SONAME))
                .arg(format!("-Wl,-soname,{RUNTIME_SONAME}")),
        );
        symlink(RUNTIME_SONAME, lib.join("libflick.so")).unwrap();
        quiet(clang().args(["-c", "-o"]).arg(lib.join("runtime.o")));
        quiet(
            Command::new("llvm-ar-19")
                .arg("rcs")
                .arg(lib.join("libflick.a"))
                .arg(lib.join("runtime.o")),
        );
        std::fs::create_dir(lib.join("linker")).unwrap();
        for name in ["ld", "ld.lld"] {
            symlink(driver(), lib.join("linker").join(name)).unwrap();
        }
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The driver, with this tree as its root and this directory as the current one.
    pub fn cc(&self, args: &str) -> Output {
        self.cc_words(&args.split_whitespace().collect::<Vec<_>>())
    }

    pub fn cc_words(&self, args: &[&str]) -> Output {
        Command::new(driver())
            .args(args)
            .env("FLICK_ROOT", self.dir.path())
            .current_dir(self.dir.path())
            .output()
            .unwrap()
    }

    pub fn cc_quiet(&self, args: &str) {
        let output = self.cc(args);
        let text = stdout(&output) + &stderr(&output);
        assert!(
            output.status.success() && text.is_empty(),
            "flick cc {args}: {text}"
        );
    }

    pub fn run(&self, program: &str) -> Output {
        // Cargo's would come before the program's own path to the runtime of these tests.
        Command::new(self.path(program))
            .env_remove("LD_LIBRARY_PATH")
            .current_dir("/")
            .output()
            .unwrap()
    }

    /// An RV64 object from nxp.c.
    pub fn payload(&self, defines: &[&str]) -> Vec<u8> {
        self.payload_for(flick_abi::NXP_MARCH, defines)
    }

    /// The same, compiled for the instruction set `march`.
    pub fn payload_for(&self, march: &str, defines: &[&str]) -> Vec<u8> {
        let object = self.path("payload.o");
        quiet(
            Command::new("clang-19")
                .args([
                    "--target=riscv64-unknown-linux-gnu",
                    "-mabi=lp64d",
                    "-fPIC",
                    "-O1",
                ])
                .arg(format!("-march={march}"))
                .args(["-g", "-fno-builtin", "-nostdinc"])
                .args(defines.iter().map(|d| format!("-D{d}")))
                .args(["-c", "-o"])
                .arg(&object)
                .arg(fixture("nxp.c")),
        );
        std::fs::read(object).unwrap()
    }

    /// A fat object `name`.o whose host half is `function`.
    pub fn fat(&self, name: &str, function: &str, payload: &[u8], defines: &[&str]) {
        let record = flick_image::fat::encode(payload);
        let unit = u64::from_le_bytes(record[24..32].try_into().unwrap());
        let file = self.path(&format!("{name}.rec"));
        std::fs::write(&file, record).unwrap();
        quiet(
            Command::new("clang-19")
                .args(["-c", "-o"])
                .arg(self.path(&format!("{name}.o")))
                .args([format!("-DNAME={function}"), format!("-DUNIT={unit:#x}")])
                .arg(format!("-DRECORD={}", file.display()))
                .args(defines.iter().map(|d| format!("-D{d}")))
                .arg(fixture("host.S")),
        );
    }

    /// Plain host object.
    pub fn host(&self, name: &str, source: &Path, args: &[&str]) {
        quiet(
            Command::new("clang-19")
                .args(["-c", "-o"])
                .arg(self.path(&format!("{name}.o")))
                .args(args)
                .arg(source),
        );
    }
}
