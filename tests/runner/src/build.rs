//! Turns a program's steps into commands of one compiler in one mode and runs them.
use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::Invocation;
use crate::kept_objects::KeptObjects;
use crate::mode::{Link, Linker, Mode, Opt};
use crate::program::{Language, Program};
use crate::random::Dice;
use crate::recording::Recording;
use crate::suite::Setup;

/// Who compiles: the C and the C++ driver of one compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    pub cc: String,
    pub cxx: String,
    /// Understands `--flick-place`.
    pub is_flick: bool,
    pub extra: Vec<String>,
}

impl Compiler {
    pub fn clang(extra: &[&str]) -> Self {
        Self::plain("clang-19", "clang++-19", extra)
    }

    pub fn gcc(extra: &[&str]) -> Self {
        Self::plain("gcc", "g++", extra)
    }

    fn plain(cc: &str, cxx: &str, extra: &[&str]) -> Self {
        Self {
            cc: cc.into(),
            cxx: cxx.into(),
            is_flick: false,
            extra: extra.iter().map(|s| (*s).to_owned()).collect(),
        }
    }

    /// `cc` is `flick-cc`; `flick-c++` is beside it.
    pub fn flick(cc: &Path, extra: Vec<String>) -> Self {
        Self {
            cc: cc.display().to_string(),
            cxx: cc.with_file_name("flick-c++").display().to_string(),
            is_flick: true,
            extra,
        }
    }

    fn command(&self, language: Language) -> &str {
        match language {
            Language::C => &self.cc,
            Language::Cxx => &self.cxx,
        }
    }
}

/// The kind of program that the linker makes. The trigger is chosen when the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub link: Link,
    /// `None`: the compiler's own default.
    pub linker: Option<Linker>,
    pub opt: Opt,
    /// The value of `--flick-translate`.
    pub translate: &'static str,
}

impl From<Mode> for Shape {
    fn from(mode: Mode) -> Self {
        Self {
            link: mode.link,
            linker: Some(mode.linker),
            opt: mode.opt,
            translate: mode.engine.translate(),
        }
    }
}

impl Shape {
    /// Both have the same objects; they differ in the link only.
    pub fn same_objects(self, other: Self) -> bool {
        let pie = |shape: Self| shape.link == Link::Pie;
        self.opt == other.opt && pie(self) == pie(other)
    }

    fn compile_words(self, shared: bool) -> Vec<String> {
        let mut words = vec![format!("-{}", self.opt.word())];
        // Debug information must travel through every stage too; one level is enough.
        if self.opt == Opt::O0 {
            words.push("-g".into());
        }
        words.push(
            match (shared, self.link) {
                (true, _) => "-fPIC",
                (false, Link::Pie) => "-fPIE",
                (false, Link::NoPie | Link::Static) => "-fno-pie",
            }
            .into(),
        );
        words
    }

    fn link_words(self, shared: bool) -> Vec<String> {
        let mut words = Vec::new();
        if !shared {
            words.push(
                match self.link {
                    Link::Pie => "-pie",
                    Link::NoPie => "-no-pie",
                    Link::Static => "-static",
                }
                .into(),
            );
        }
        if let Some(linker) = self.linker {
            words.push(format!("-fuse-ld={}", linker.word()));
        }
        words
    }
}

/// A built program and the commands that made it.
#[derive(Clone, Debug)]
pub struct Built {
    pub program: PathBuf,
    pub commands: Vec<String>,
}

/// Builds `program` in `dir`, which it empties first, or takes an earlier build there. The error is
/// a report for a person.
pub fn build(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    setup: &Setup,
    dir: &Path,
) -> Result<Built, String> {
    let there = dir.join("prog");
    if setup.again && there.exists() {
        return Ok(Built {
            program: there,
            commands: Vec::new(),
        });
    }
    let carry_out = |_, step: Invocation, _| finished(step, setup);
    build_by(program, compiler, shape, setup, dir, carry_out)
}

/// The same, with its objects, which are kept in `folder` for [`link_again`].
pub fn keep_objects(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    setup: &Setup,
    dir: &Path,
    folder: &Path,
) -> Result<(Built, KeptObjects), String> {
    empty(folder)?;
    let mut kept = KeptObjects::new(folder);
    let carry_out = |_, mut step: Invocation, by_flick: bool| {
        if !by_flick {
            kept.skip();
            return finished(step, setup);
        }
        kept.listen(&mut step);
        finished(step.clone(), setup)?;
        kept.add(&step)
    };
    let built = build_by(program, compiler, shape, setup, dir, carry_out)?;
    Ok((built, kept))
}

/// Builds it from the objects of a shape that has the same ([`Shape::same_objects`]).
pub fn link_again(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    setup: &Setup,
    dir: &Path,
    kept: &KeptObjects,
) -> Result<Built, String> {
    let carry_out = |number, step: Invocation, _| match kept.rest(number, step)? {
        None => Ok(()),
        Some(rest) => {
            let shell = rest.shell();
            finished(rest, setup).map_err(|e| format!("from its objects: {shell}\n{e}"))
        }
    };
    build_by(program, compiler, shape, setup, dir, carry_out)
}

/// The same, with what builds it again: the IR of its units, in `ir`.
pub fn record(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    setup: &Setup,
    dir: &Path,
    ir: &Path,
) -> Result<(Built, Recording), String> {
    empty(ir)?;
    let mut recording = Recording::default();
    let carry_out = |_, mut step: Invocation, by_flick: bool| {
        if !by_flick {
            recording.skip();
            return finished(step, setup);
        }
        recording.listen(&mut step);
        finished(step.clone(), setup)?;
        recording.add(&step, ir, setup.warm_path().as_ref())
    };
    let built = build_by(program, compiler, shape, setup, dir, carry_out)?;
    Ok((built, recording))
}

/// Builds it from a recording under another throw; `compiler` is the one that would.
pub fn repeat(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    setup: &Setup,
    dir: &Path,
    (recording, dice): (&Recording, Dice),
) -> Result<Built, String> {
    let tools = setup.warm_path();
    let carry_out = |number, step: Invocation, _| {
        if recording.repeat(number, dice, dir, tools.as_ref())? {
            Ok(())
        } else {
            finished(step, setup)
        }
    };
    build_by(program, compiler, shape, setup, dir, carry_out)
}

fn empty(dir: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

/// `carry_out` gets a step's number, the step, and whether it is a command of `compiler`, which is
/// Flick's.
fn build_by(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    setup: &Setup,
    dir: &Path,
    mut carry_out: impl FnMut(usize, Invocation, bool) -> Result<(), String>,
) -> Result<Built, String> {
    empty(dir)?;
    let mut commands = Vec::new();
    for (number, step) in program.steps().iter().enumerate() {
        let argv = command(program, compiler, shape, &setup.include, step)?;
        let by_flick = compiler.is_flick && [&compiler.cc, &compiler.cxx].contains(&&argv[0]);
        let invocation = Invocation::new(argv, dir);
        commands.push(invocation.shell());
        carry_out(number, invocation, by_flick)
            .map_err(|e| format!("build failed\n{}\n{e}", commands.join("\n")))?;
    }
    Ok(Built {
        program: dir.join("prog"),
        commands,
    })
}

/// Runs a step with the tools of builds; a person repeats it with the tools as they are.
fn finished(mut step: Invocation, setup: &Setup) -> Result<(), String> {
    step.env.extend(setup.warm_path());
    step.succeed("step")
}

/// Carries out a step, which is given in words:
///
/// - `link INPUTS…` makes the program.
/// - `cc ARGS…` and `c++ ARGS…` run the compiler (`-c`, `-shared`, `-o` as given).
/// - `host-cc ARGS…` and `host-c++ ARGS…` run a compiler that knows nothing of Flick.
/// - Any other command is run as it is written.
fn command(
    program: &Program,
    compiler: &Compiler,
    shape: Shape,
    include: &Path,
    step: &[String],
) -> Result<Vec<String>, String> {
    let located = step[1..].iter().map(|w| {
        let path = program.dir.join(w);
        if path.is_file() {
            path.display().to_string()
        } else {
            w.clone()
        }
    });
    let d = &program.directives;
    let verb = step[0].as_str();
    let has = |word: &str| step.iter().any(|w| w == word);
    let host = Compiler::clang(&[]);
    let (compiler, language) = match verb {
        "link" => (compiler, program.language),
        "cc" => (compiler, Language::C),
        "c++" => (compiler, Language::Cxx),
        "host-cc" => (&host, Language::C),
        "host-c++" => (&host, Language::Cxx),
        _ => {
            let mut argv = vec![step[0].clone()];
            argv.extend(located);
            return Ok(argv);
        }
    };
    let mut argv = vec![compiler.command(language).to_owned()];
    let shared = has("-shared") || has("-fPIC");
    argv.extend(["-I".into(), include.display().to_string()]);
    argv.extend(shape.compile_words(shared));
    argv.extend(d.cflags.iter().cloned());
    if language == Language::Cxx {
        argv.extend(d.cxxflags.iter().cloned());
    }
    argv.extend(compiler.extra.iter().cloned());
    if compiler.is_flick {
        argv.extend(d.flick_flags.iter().cloned());
        argv.extend(
            d.place
                .iter()
                .map(|p| format!("--flick-place={}", program.dir.join(p).display())),
        );
    }
    if !has("-c") {
        argv.extend(shape.link_words(has("-shared")));
    }
    argv.extend(located);
    if verb == "link" {
        argv.extend(["-o".into(), "prog".into()]);
        argv.extend(d.libs.iter().cloned());
    }
    Ok(argv)
}
