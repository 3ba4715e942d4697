//! The kernels of share/flick/bench/engine, built for the host, for the NxP and as a program of
//! RV64 Linux without a C library, which other engines run.
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_abi::NXP_MARCH;
use flick_driver::root::CLANG;
use flick_driver::{Error, Root};

use crate::measure_engine::unknown;
use crate::{file_error, finish, flick};

/// Names of the programs that [`build`] leaves.
pub const NATIVE: &str = "native";
pub const VECTORISED: &str = "vectorised";
pub const V3: &str = "x86-64-v3";
pub const NXP: &str = "nxp";
pub const RV64: &str = "rv64";

/// For every compiler. Contraction is the compiler's choice where it is not forbidden, and differs
/// by machine; so does what a call of `sqrt` does to errno.
const EVERYWHERE: [&str; 5] = [
    "-O2",
    "-std=c11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wno-c23-extensions",
];
const SCALAR: [&str; 2] = ["-fno-vectorize", "-fno-slp-vectorize"];
/// Any alignment of plain loads and stores, as NxP code has it. [`NXP_MARCH`] has the extensions.
const RV64_OPTIONS: [&str; 8] = [
    "--target=riscv64-unknown-elf",
    "-mabi=lp64d",
    "-mno-strict-align",
    "-ffreestanding",
    "-fno-builtin",
    "-nostdlib",
    "-static",
    "-fuse-ld=lld",
];

struct Sources {
    dir: PathBuf,
    graph: PathBuf,
}

impl Sources {
    fn find() -> Result<Self, Error> {
        let share = Root::find()?.dir().join("share/flick");
        Ok(Self {
            dir: share.join("bench/engine"),
            graph: share.join("examples/data"),
        })
    }

    /// The files of the kernels of these names; no names: of all.
    fn kernels(&self, names: &[String]) -> Result<Vec<PathBuf>, Error> {
        let failed = |e| file_error("a directory cannot be read", &self.dir, &e);
        let mut files = Vec::new();
        for entry in self.dir.read_dir().map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let drivers = ["main", "list", "hosted", "bare"].map(OsStr::new);
            if path.extension() == Some(OsStr::new("c"))
                && !path.file_stem().is_some_and(|stem| drivers.contains(&stem))
            {
                files.push(path);
            }
        }
        files.sort();
        let stem = |file: &PathBuf| {
            let stem = file.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        };
        unknown(names, &files.iter().map(stem).collect::<Vec<_>>())?;
        files.retain(|f| names.is_empty() || names.iter().any(|n| stem(f) == **n));
        Ok(files)
    }

    fn compile(&self, mut compiler: Command, options: &[&str]) -> Command {
        compiler
            .args(EVERYWHERE)
            .args(options)
            .arg(format!("--embed-dir={}", self.graph.display()));
        compiler
    }

    /// Links `kernels`, sources or objects, with their driver and `system`, `hosted.c` or `bare.c`.
    fn link(
        &self,
        compiler: Command,
        options: &[&str],
        kernels: &[PathBuf],
        system: &str,
        program: &Path,
    ) -> Result<(), Error> {
        finish(
            self.compile(compiler, options)
                .args(kernels)
                .args(["main.c", "list.c", system].map(|name| self.dir.join(name)))
                .arg("-o")
                .arg(program),
        )?;
        Ok(())
    }
}

/// Builds the kernels of these names, or all, in `dir`; for other engines of RV64 code only where
/// there are any.
pub fn build(dir: &Path, names: &[String], for_peers: bool) -> Result<(), Error> {
    let sources = Sources::find()?;
    let kernels = sources.kernels(names)?;
    let clang = || Command::new(CLANG.name);
    let hosts: [(&str, &[&str]); 3] = [
        (NATIVE, &SCALAR),
        (VECTORISED, &[]),
        (V3, &["-march=x86-64-v3"]),
    ];
    for (name, options) in hosts {
        sources.link(clang(), options, &kernels, "hosted.c", &dir.join(name))?;
    }

    // The driver stays on the host; each call of a kernel crosses once.
    let place = dir.join("all.place");
    std::fs::write(&place, "nxp *\n")
        .map_err(|e| file_error("a file cannot be written", &place, &e))?;
    let mut objects = Vec::new();
    let flick = flick()?;
    let cc = || {
        let mut cc = Command::new(&flick);
        cc.arg("cc");
        cc
    };
    for (number, kernel) in kernels.iter().enumerate() {
        let object = dir.join(format!("{number}.o"));
        finish(
            sources
                .compile(cc(), &SCALAR)
                .arg(format!("--flick-place={}", place.display()))
                .arg("-c")
                .arg(kernel)
                .arg("-o")
                .arg(&object),
        )?;
        objects.push(object);
    }
    sources.link(cc(), &SCALAR, &objects, "hosted.c", &dir.join(NXP))?;

    if for_peers {
        let march = format!("-march={NXP_MARCH}");
        let mut options = vec![march.as_str()];
        options.extend(RV64_OPTIONS);
        sources.link(clang(), &options, &kernels, "bare.c", &dir.join(RV64))?;
    }
    Ok(())
}
