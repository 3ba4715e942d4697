//! `flick card cc`: programs of the card, by clang, picolibc, and Flick's library (`firmware/lib`).
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
/// Debian has no C++ library for this target.
const COMPILE_CXX: &[&str] = &["-fno-exceptions", "-fno-rtti", "-nostdinc++"];
const LINK: &[&str] = &["-nostdlib", "-static"];
const LINKER: &[&str] = &[
    "-zseparate-code",
    "-znorelro",
    "--gc-sections",
    "--wrap=vfprintf",
];

fn missing(place: &Path, package: &str) -> Error {
    Error::new(
        Code::MissingTool,
        "a library for programs of the card is missing",
        place.display().to_string(),
        "no such file",
        format!("sudo apt-get install {package}"),
    )
}

/// gcc's own functions for what harts have no instructions for, of the newest gcc.
fn libgcc() -> Result<PathBuf> {
    let versions = fs::read_dir(GCC).into_iter().flatten().flatten();
    let files = versions.map(|version| version.path().join("libgcc.a"));
    let newest = files.filter(|file| file.is_file()).max();
    newest.ok_or_else(|| missing(Path::new(GCC), "gcc-riscv64-unknown-elf"))
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
        return Err(missing(picolibc, "picolibc-riscv64-unknown-elf"));
    }
    let further = match front {
        FrontEnd::C => &[][..],
        FrontEnd::Cxx => COMPILE_CXX,
    };
    let mut command = Command::new(front.tool().require()?);
    // A compile uses no option of the link, and a link none of the compile.
    command.arg("--start-no-unused-arguments");
    command.args(COMPILE).args(further);
    for folder in [card.join("include"), picolibc.join("include/release")] {
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
    for file in [
        card.join("crt.o"),
        card.join("libcard.a"),
        library.join("libc.a"),
        libgcc()?,
    ] {
        of_linker(&mut command, file.into());
    }
    // For `-lm` and `-lpthread`.
    command.arg("-L").arg(&card).arg("-L").arg(&library);
    command.arg("--end-no-unused-arguments");
    Ok(command)
}
