//! Where a program comes from, and the commands that build it.
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build_options::Options;
use crate::drawn_placement::Placement;
use crate::emit::{self, SourceFile};
use crate::generated_program::{Function, Language, Program};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the own generator.
    Own(Box<Program>),
    Csmith(String),
    User(User),
}

/// The program of a user: built and run in the folder where the command was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Sources and words of the compiler.
    pub words: Vec<String>,
    /// The language of the sources.
    pub language: Language,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// The file that is the program's standard input.
    pub stdin: Option<PathBuf>,
    /// The folder where the command was given.
    pub dir: PathBuf,
}

/// The compilers of one side.
#[derive(Clone, Debug)]
pub struct Compilers {
    /// The command of the C compiler.
    pub c: String,
    /// The command of the C++ compiler.
    pub cxx: String,
    /// Before a user's words: where `flick.h` is, for a compiler that does not know.
    pub words: Vec<String>,
}

impl Compilers {
    fn of(&self, language: Language) -> &str {
        match language {
            Language::C => &self.c,
            Language::Cxx => &self.cxx,
        }
    }
}

/// What csmith's programs include.
const CSMITH_INCLUDE: &str = "/usr/include/csmith";

/// One that csmith makes of a seed; `None` where it fails.
pub fn csmith(seed: u64) -> Option<String> {
    // It leaves a `platform.info` where it runs.
    let dir = tempfile::tempdir().ok()?;
    let output = Command::new("csmith")
        .current_dir(dir.path())
        .args(["--seed", &seed.to_string()])
        // Small ones: more of them, and quicker to make smaller.
        .args([
            "--max-funcs",
            "6",
            "--max-block-depth",
            "3",
            "--max-expr-complexity",
            "6",
        ])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether csmith is installed.
pub fn has_csmith() -> bool {
    // It leaves its file for a question, too.
    let Ok(dir) = tempfile::tempdir() else {
        return false;
    };
    Command::new("csmith")
        .current_dir(dir.path())
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

impl Source {
    pub fn language(&self) -> Language {
        match self {
            Self::Own(program) => program.language,
            Self::Csmith(_) => Language::C,
            Self::User(user) => user.language,
        }
    }

    /// For reports.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Own(program) if program.language == Language::Cxx => "own C++",
            Self::Own(_) => "own C",
            Self::Csmith(_) => "csmith",
            Self::User(_) => "yours",
        }
    }

    /// The files to write; a user's are there already.
    pub fn files(&self) -> Vec<SourceFile> {
        match self {
            Self::Own(program) => emit::sources(program),
            Self::Csmith(text) => vec![SourceFile {
                name: "prog.c".into(),
                text: text.clone(),
            }],
            Self::User(_) => Vec::new(),
        }
    }

    /// The functions that a placement file may name.
    pub fn function_names(&self) -> Vec<String> {
        match self {
            Self::Own(program) => {
                let own = program.functions.iter().map(Function::placement_name);
                let helpers = program.functions.iter().filter_map(Function::helper);
                let classes = ["Widget::*", "Left::*", "Right::*", "Tracked::*", "Base::*"];
                let classes = classes.map(String::from).into_iter();
                own.chain(helpers)
                    .chain(emit::names(program))
                    .chain(classes.filter(|_| program.language == Language::Cxx))
                    .chain(["main".into()])
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The commands that make `SIDE/prog` in `dir` (empty, or with a slash at its end), where the
    /// placement file is too.
    pub fn commands(
        &self,
        compilers: &Compilers,
        options: &Options,
        placement: Option<&Placement>,
        dir: &str,
        side: &str,
    ) -> Vec<Vec<String>> {
        let compiler = compilers.of(self.language()).to_owned();
        let place = placement.map(|placement| placement.word(dir));
        let out = format!("{dir}{side}");
        let program = format!("{out}/prog");
        let line = |parts: &[&[String]], output: &str| -> Vec<String> {
            let mut words = vec![compiler.clone()];
            words.extend(parts.iter().flat_map(|part| part.iter().cloned()));
            words.extend(place.clone());
            words.extend(["-o".into(), output.into()]);
            words
        };
        let mut words = match self {
            Self::User(user) => return vec![line(&[&compilers.words, &user.words], &program)],
            Self::Own(_) => vec!["-w".to_owned()],
            Self::Csmith(_) => vec!["-w".into(), format!("-I{CSMITH_INCLUDE}")],
        };
        if self.language() == Language::Cxx {
            words.push("-std=c++17".into());
        }
        let units: Vec<String> = self
            .files()
            .into_iter()
            .map(|file| file.name)
            .filter(|name| !name.ends_with(".h"))
            .collect();
        let (compile, link) = (options.compile_words(), options.link_words());
        if !options.shared || units.len() < 2 {
            return vec![line(&[&compile, &words, &units, &link], &program)];
        }
        // The library calls functions of the program, too.
        let with_library = [
            "-rdynamic".to_owned(),
            format!("-L{out}"),
            "-ltorture".into(),
            "-Wl,-rpath,$ORIGIN".into(),
        ];
        vec![
            line(
                &[&options.library_words(), &words, &units[1..]],
                &format!("{out}/libtorture.so"),
            ),
            line(
                &[&compile, &words, &units[..1], &link, &with_library],
                &program,
            ),
        ]
    }

    /// The folder where the commands are given, `dir` for a program of ours.
    pub fn folder<'a>(&'a self, dir: &'a Path) -> &'a Path {
        match self {
            Self::User(user) => &user.dir,
            _ => dir,
        }
    }
}
