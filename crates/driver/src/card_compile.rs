//! `flick card cc` and `flick card c++`: programs of the card, by clang, picolibc, Flick's library
//! (`firmware/lib`), and libstdc++ (`scripts/card-cxx.sh`).
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flick_diagnostics::Code;

use crate::driver::FrontEnd;
use crate::root::{LLD, Root};
use crate::{Error, Result};

/// Debian's places of the C library and of gcc's library for its compiler.
const PICOLIBC: &str = "/usr/lib/picolibc/riscv64-unknown-elf";
const GCC: &str = "/usr/lib/gcc/riscv64-unknown-elf";

/// What every program is compiled with. The user's options follow, so that they win.
const COMPILE: &[&str] = &[
    "--target=riscv64-unknown-elf",
    "-march=rv64gc",
    "-mabi=lp64d",
    "-mcmodel=medany",
    // The kernel prints callers by frame pointers.
    "-fno-omit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-ftls-model=local-exec",
    "-nostdlibinc",
];
/// libstdc++ is used with GNU's declarations, as on Linux.
const COMPILE_CXX: &[&str] = &["-nostdinc++", "-D_GNU_SOURCE"];
const LINK: &[&str] = &["-nostdlib", "-static"];
const LINKER: &[&str] = &[
    "-zseparate-code",
    "-znorelro",
    "--gc-sections",
    // Exceptions find their frames by it.
    "--eh-frame-hdr",
    "--wrap=vfprintf",
];

fn missing(place: &Path, help: &str) -> Error {
    Error::new(
        Code::MissingTool,
        "a library for programs of the card is missing",
        place.display().to_string(),
        "no such file",
        help,
    )
}

/// gcc's own functions for what harts have no instructions for, of the newest gcc.
fn libgcc() -> Result<PathBuf> {
    let versions = fs::read_dir(GCC).into_iter().flatten().flatten();
    let files = versions.map(|version| version.path().join("libgcc.a"));
    let newest = files.filter(|file| file.is_file()).max();
    newest.ok_or_else(|| {
        missing(
            Path::new(GCC),
            "sudo apt-get install gcc-riscv64-unknown-elf",
        )
    })
}

/// Becomes clang, and comes back only with an error.
pub fn card_cc(front: FrontEnd, arguments: &[OsString]) -> Error {
    match command(front, arguments) {
        Err(error) => error,
        Ok(mut command) => Error::new(
            Code::FailedTool,
            "a tool cannot be started",
            command.get_program().display().to_string(),
            command.exec().to_string(),
            "check its permissions",
        ),
    }
}

fn command(front: FrontEnd, arguments: &[OsString]) -> Result<Command> {
    let card = Root::find()?.card();
    let picolibc = Path::new(PICOLIBC);
    let library = picolibc.join("lib/release");
    if !library.join("libc.a").is_file() {
        return Err(missing(
            picolibc,
            "sudo apt-get install picolibc-riscv64-unknown-elf",
        ));
    }
    // In this order: libstdc++'s headers include those of the C library by `#include_next`.
    let mut includes = vec![card.join("include"), picolibc.join("include/release")];
    let mut libraries = vec![
        card.join("crt.o"),
        card.join("libcard.a"),
        library.join("libc.a"),
        libgcc()?,
    ];
    let mut further = &[][..];
    if front == FrontEnd::Cxx {
        let cxx = card.join("c++");
        let archive = cxx.join("libstdc++.a");
        if !archive.is_file() {
            return Err(missing(
                &archive,
                "sudo apt-get install gcc-12-source gcc-riscv64-unknown-elf, and build Flick again",
            ));
        }
        let headers = cxx.join("include");
        let for_target = headers.join("riscv64-unknown-elf");
        includes.splice(0..0, [headers, for_target]);
        libraries.insert(1, archive);
        further = COMPILE_CXX;
    }
    let mut command = Command::new(front.tool().require()?);
    // A compile uses no option of the link, and a link none of the compile.
    command.arg("--start-no-unused-arguments");
    command.args(COMPILE).args(further);
    for folder in includes {
        command.arg("-isystem").arg(folder);
    }
    command.args(LINK);
    let mut linker = OsString::from("--ld-path=");
    linker.push(LLD.require()?);
    command.arg(linker).arg("--end-no-unused-arguments");
    command.args(arguments);
    command.arg("--start-no-unused-arguments");
    let of_linker = |command: &mut Command, word: OsString| {
        command.arg("-Xlinker").arg(word);
    };
    for option in LINKER {
        of_linker(&mut command, option.into());
    }
    for file in libraries {
        of_linker(&mut command, file.into());
    }
    // For `-lm` and `-lpthread`.
    command.arg("-L").arg(&card).arg("-L").arg(&library);
    command.arg("--end-no-unused-arguments");
    Ok(command)
}
