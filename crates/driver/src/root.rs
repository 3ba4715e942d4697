//! Where Flick's own files are and which tools it calls.
use std::env;
use std::path::{Path, PathBuf};

use flick_abi::{ABI_VERSION, Version};
use flick_diagnostics::Code;
use flick_image::elf_kind::open_file;
use flick_image::final_file;
use object::ReadCache;

use crate::run::Runner;
use crate::{Error, Result};

/// The installed tree (`docs/formats.md`, "Installed tree").
#[derive(Clone, Debug)]
pub struct Root {
    dir: PathBuf,
}

impl Root {
    /// The tree that holds this executable (`bin/..`), else `FLICK_ROOT`.
    pub fn find() -> Result<Self> {
        let from_exe = env::current_exe()
            .and_then(|exe| exe.canonicalize())
            .ok()
            .and_then(|exe| Some(exe.parent()?.parent()?.to_path_buf()));
        let from_env = env::var_os("FLICK_ROOT").map(PathBuf::from);
        from_exe
            .into_iter()
            .chain(from_env)
            .find(|dir| dir.join("lib/flick").is_dir())
            .map(Self::at)
            .ok_or_else(|| {
                Error::new(
                    Code::MissingTool,
                    "Flick's own files are missing",
                    "lib/flick",
                    "it is neither beside this executable's directory nor under FLICK_ROOT",
                    "run `make` in Flick's source tree and use build/bin/flick, or set FLICK_ROOT \
                     to the tree that holds lib/flick",
                )
            })
    }

    /// The installation in the folder `dir`, of which nothing is checked.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Self {
            dir: dir.canonicalize().unwrap_or(dir),
        }
    }

    /// The folder of the installation.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
    /// The folder of `flick.h`.
    pub fn include(&self) -> PathBuf {
        self.dir.join("include")
    }
    /// Where the runtime and the other link inputs are; the run path of dynamic programs.
    pub fn lib(&self) -> PathBuf {
        self.dir.join("lib/flick")
    }
    /// The compiler pass, a plugin of clang.
    pub fn pass(&self) -> PathBuf {
        self.lib().join("flick-pass.so")
    }
    /// The runtime of dynamic programs and of shared libraries.
    pub fn runtime_shared(&self) -> PathBuf {
        self.lib().join("libflick.so")
    }
    /// The runtime of static programs.
    pub fn runtime_static(&self) -> PathBuf {
        self.lib().join("libflick.a")
    }
    /// What orders threads of timed dynamic programs (`nxp/flick-time.c`).
    pub fn time_shared(&self) -> PathBuf {
        self.lib().join("libflick-time.so")
    }
    /// The same for static programs.
    pub fn time_static(&self) -> PathBuf {
        self.lib().join("libflick-time.a")
    }
    /// Files and accelerators of the card, for host code (`nxp/host`).
    pub fn files(&self) -> PathBuf {
        self.lib().join("libflick-files.a")
    }
    /// The object that registers a module at its start (`nxp/flickcrt.c`).
    pub fn crt(&self) -> PathBuf {
        self.lib().join("flickcrt.o")
    }
    /// The C library of the RISC-V side.
    pub fn nxp_library(&self) -> PathBuf {
        self.lib().join("libnxp.a")
    }

    /// The program for hosts of RISC-V (`flick run --extensions`), which not every build has.
    pub fn riscv64_program(&self) -> PathBuf {
        self.lib().join("riscv64/flick")
    }

    /// Kernel, headers and library of programs of the card.
    pub fn card(&self) -> PathBuf {
        self.lib().join("card")
    }

    /// The servers of programs of the card, else FLK0102.
    pub fn card_servers(&self) -> Result<PathBuf> {
        self.require(self.card().join("servers"))
    }

    /// A program of the card that is part of Flick, else FLK0102.
    pub fn card_program(&self, name: &str) -> Result<PathBuf> {
        self.require(self.card().join(name))
    }

    /// The kernel of the card, else FLK0102.
    pub fn card_kernel(&self) -> Result<PathBuf> {
        self.require(self.card().join("kernel.elf"))
    }

    /// The same with the role of a root, else FLK0102.
    pub fn root_kernel(&self) -> Result<PathBuf> {
        self.require(self.card().join("kernel-root.elf"))
    }

    /// The symmetric one, for measurements, if it was built.
    pub fn symmetric_kernel(&self) -> Option<PathBuf> {
        let file = self.card().join("kernel-symmetric.elf");
        file.exists().then_some(file)
    }

    /// Flick under the name of a linker that clang knows; it reads the name.
    pub fn linker(&self, lld: bool) -> PathBuf {
        let name = if lld { "ld.lld" } else { "ld" };
        self.lib().join("linker").join(name)
    }

    /// `file` if it exists and its note says a version that `fits`, else FLK0102 or FLK0303: a tree
    /// that was put together from two.
    pub(crate) fn require_version(
        &self,
        file: PathBuf,
        fits: impl Fn(Version) -> bool,
    ) -> Result<PathBuf> {
        let file = self.require(file)?;
        // Of the runtime's megabytes of code and debug information, only what leads to the note.
        let data = ReadCache::new(open_file(&file)?);
        let version = object::File::parse(&data)
            .ok()
            .and_then(|f| final_file::version(&f));
        check_own(&file, version, fits)?;
        Ok(file)
    }

    /// `file` if it exists, else FLK0102.
    pub(crate) fn require(&self, file: PathBuf) -> Result<PathBuf> {
        if file.is_file() {
            return Ok(file);
        }
        Err(Error::new(
            Code::MissingTool,
            "one of Flick's own files is missing",
            file.display().to_string(),
            "no such file",
            "run `make` (or `make install PREFIX=…`) in Flick's source tree again",
        ))
    }
}

/// FLK0303 where `version` of Flick's own `file` does not fit.
pub(crate) fn check_own(
    file: &Path,
    version: Option<Version>,
    fits: impl Fn(Version) -> bool,
) -> Result<()> {
    if version.is_some_and(&fits) {
        return Ok(());
    }
    let found = version.map_or("none".into(), |version| version.to_string());
    Err(Error::new(
        Code::OtherVersion,
        "one of Flick's own files is of another version",
        file.display().to_string(),
        format!("its format is {found}, this flick makes {ABI_VERSION}"),
        "install Flick again: all of its files together, into an empty place",
    ))
}

/// A program that Flick runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name of the program in `PATH`.
    pub name: &'static str,
    /// Debian package that has it.
    pub package: &'static str,
    /// A fragment for people: the work of the tool.
    pub purpose: &'static str,
}

/// Compiles C.
pub const CLANG: Tool = Tool {
    name: "clang-19",
    package: "clang-19",
    purpose: "compiles and drives the host link",
};
/// Compiles C++.
pub const CLANGXX: Tool = Tool {
    name: "clang++-19",
    package: "clang-19",
    purpose: "compiles C++ and drives its link",
};
/// Links the image.
pub const LLD: Tool = Tool {
    name: "ld.lld-19",
    package: "lld-19",
    purpose: "links NxP code",
};
/// Disassembles the code of both sides.
pub const OBJDUMP: Tool = Tool {
    name: "llvm-objdump-19",
    package: "llvm-19",
    purpose: "`flick objdump`",
};
/// Links the program, behind clang.
pub const HOST_LD: Tool = Tool {
    name: "ld",
    package: "binutils",
    purpose: "links host code",
};

/// Every tool that building or inspecting programs may need.
pub const TOOLS: [Tool; 4] = [CLANG, LLD, HOST_LD, OBJDUMP];

impl Tool {
    /// Searches `PATH`.
    pub fn locate(&self) -> Option<PathBuf> {
        env::split_paths(&env::var_os("PATH")?)
            .map(|dir| dir.join(self.name))
            .find(|file| file.is_file())
    }

    /// Its path, else FLK0102 with the command that installs it.
    pub fn require(&self) -> Result<PathBuf> {
        self.locate().ok_or_else(|| {
            Error::new(
                Code::MissingTool,
                "a required tool is missing",
                self.name,
                format!("not found in PATH ({})", self.purpose),
                format!("sudo apt-get install {}", self.package),
            )
        })
    }
}

/// LLVM's major version that the pass is built for: a plugin fits one only.
const LLVM: &str = "19";

/// FLK0102 if a clang that failed is of another major version than the pass.
pub(crate) fn other_clang(clang: &Path, runner: Runner) -> Option<Error> {
    let output = runner.capture(clang, &["--version".into()]).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_once("clang version ")?.1;
    let version = version.split_whitespace().next()?;
    if version.split('.').next() == Some(LLVM) {
        return None;
    }
    Some(Error::new(
        Code::MissingTool,
        "a required tool is of another version",
        clang.display().to_string(),
        format!("it is clang {version}, and Flick's pass is a plugin for clang {LLVM}"),
        format!(
            "sudo apt-get install {}; see which one comes first in PATH",
            CLANG.package
        ),
    ))
}

/// One thing that `flick doctor` checks.
#[derive(Clone, Debug)]
pub struct Check {
    /// The name of the tool or file.
    pub name: String,
    /// A fragment for people: what it is needed for.
    pub purpose: &'static str,
    /// Where it was found.
    pub found: Option<PathBuf>,
    /// What to do when it was not.
    pub help: String,
}

/// Tools and Flick's own files, present or not.
pub fn tools() -> Vec<Check> {
    let mut checks: Vec<Check> = TOOLS
        .iter()
        .map(|tool| Check {
            name: tool.name.into(),
            purpose: tool.purpose,
            found: tool.locate(),
            help: format!("sudo apt-get install {}", tool.package),
        })
        .collect();
    let root = Root::find().ok();
    let files: [(&str, &'static str); 9] = [
        ("lib/flick/flick-pass.so", "compiler plugin"),
        ("lib/flick/libflick.so", "runtime"),
        ("lib/flick/libflick.a", "runtime for -static"),
        ("lib/flick/libflick-files.a", "files of the card"),
        ("lib/flick/libflick-time.so", "order of threads"),
        ("lib/flick/libflick-time.a", "order of threads for -static"),
        ("lib/flick/flickcrt.o", "start-up code"),
        ("lib/flick/libnxp.a", "C library of the NxP side"),
        ("include/flick.h", "header"),
    ];
    checks.extend(files.map(|(name, purpose)| {
        Check {
            name: name.into(),
            purpose,
            found: root
                .as_ref()
                .map(|r| r.dir().join(name))
                .filter(|file| file.is_file()),
            help: "run `make` (or `make install PREFIX=…`) in Flick's source tree again".into(),
        }
    }));
    checks
}
