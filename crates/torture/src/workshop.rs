//! One program, built and run both ways.
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flick_diagnostics::{Code, Stage};
use flick_events::Summary;
use flick_image::place_lines::{Placed, Placements, Reason};

use crate::build_options::Options;
use crate::drawn_placement::{self, Placement};
use crate::source::{Compilers, Source};
use flick_exec::{Caps, Finished, Run, Status};

/// What builds and runs, and for how long it may.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// Flick's compilers.
    pub flick: Compilers,
    /// The compilers that make the reference.
    pub plain: Compilers,
    /// Of a build, by either compiler.
    pub build_limit: Duration,
    /// Of a run of Flick's build.
    pub run_limit: Duration,
    /// Of a run of the plain build; longer ones are not used.
    pub plain_limit: Duration,
}

/// How Flick's build is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    pub backend: &'static str,
    pub trigger: &'static str,
    pub engine: &'static str,
    /// With statistics: the runtime counts, on paths of its own.
    pub counted: bool,
}

impl Manner {
    /// Variables of the run, less that of the statistics.
    pub fn environment(&self) -> [(&'static str, &'static str); 4] {
        [
            ("FLICK_BACKEND", self.backend),
            ("FLICK_TRIGGER", self.trigger),
            ("FLICK_OFFLOAD", "require"),
            ("FLICK_ENGINE", self.engine),
        ]
    }

    /// The same for a shell: words in front of a command.
    pub fn words(&self) -> String {
        let words = self
            .environment()
            .map(|(name, value)| format!("{name}={value}"));
        words.join(" ")
    }
}

/// What a program does, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    pub stdout: Vec<u8>,
    pub status: Status,
}

/// What kind of failure it is: while a failure is made smaller it stays one of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Flick does not build what plain clang builds; the code in its message, if any.
    Build(Option<String>),
    Output,
    Status(Status),
    TimedOut,
}

#[derive(Clone, Debug)]
pub struct Difference {
    pub fault: Fault,
    /// For people.
    pub text: String,
}

/// What plain clang's build does.
#[derive(Clone, Debug)]
pub struct Reference {
    pub behaviour: Behaviour,
}

/// What came of a run of Flick's build.
pub struct Compared {
    pub difference: Option<Difference>,
    /// The program ended with this code, which `docs/limits.md` names: no difference.
    pub limit: Option<String>,
    /// Of a counted run.
    pub summaries: Vec<Summary>,
}

/// What a build of Flick's has placed.
#[derive(Clone, Debug, Default)]
pub struct Built {
    pub functions: Vec<Placed>,
}

/// A whole case that can be tried again.
#[derive(Clone, Debug)]
pub struct Case {
    pub source: Source,
    pub options: Options,
    pub placement: Placement,
    pub manner: Manner,
}

/// What came of a build by Flick.
pub enum Build {
    Done(Built),
    /// Refused with this code, as the documentation says.
    Refused(String),
    Failed(Difference),
}

/// What `docs/limits.md` names and a user's program may do: stacks that are switched under NxP
/// frames, an exception out of a signal handler. Generated programs do neither.
const LIMITS: [Code; 2] = [Code::SwitchedStacks, Code::ForeignUnwind];

/// Of processor time: the interpreter takes some hundred times as much, in nine runs.
const CSMITH_LIMIT: Duration = Duration::from_millis(30);

/// What the output's files are named after.
const OUTPUT: &str = "torture";

/// Sub-folders of a case's folder, one for each build.
pub const PLAIN: &str = "plain";
pub const FLICK: &str = "flick";

impl Workshop {
    /// Writes the sources into `dir`.
    pub fn write(&self, source: &Source, dir: &Path) -> io::Result<()> {
        for side in [PLAIN, FLICK] {
            fs::create_dir_all(dir.join(side))?;
        }
        for file in source.files() {
            fs::write(dir.join(file.name), file.text)?;
        }
        Ok(())
    }

    /// The plain build, run twice. `Err`: why the program is of no use.
    pub fn reference(
        &self,
        source: &Source,
        options: &Options,
        dir: &Path,
    ) -> io::Result<Result<Reference, String>> {
        let commands = source.commands(&self.plain, options, None, &prefix(source, dir), PLAIN);
        if let Some(failed) = self.build_all(&commands, source, dir)? {
            return Ok(Err(format!(
                "plain clang does not build it: {}",
                first_lines(&failed.stderr_text())
            )));
        }
        // Some of csmith's never end, and an interpreter takes its time.
        let processor_limit = match source {
            Source::Csmith(_) => Some(CSMITH_LIMIT),
            _ => None,
        };
        let first =
            self.run_within(source, dir, PLAIN, &[], (self.plain_limit, processor_limit))?;
        if first.status == Status::TimedOut {
            return Ok(Err("it runs too long".into()));
        }
        let second = self.run(source, dir, PLAIN, &[], self.plain_limit * 2)?;
        let behaviour = Behaviour {
            stdout: first.stdout,
            status: first.status,
        };
        if (&behaviour.stdout, behaviour.status) != (&second.stdout, second.status) {
            return Ok(Err(
                "two runs of the plain build differ, so that nothing can be compared".into(),
            ));
        }
        Ok(Ok(Reference { behaviour }))
    }

    /// Whether plain clang's build without optimisation does the same.
    pub fn same_unoptimised(
        &self,
        source: &Source,
        options: &Options,
        reference: &Reference,
        dir: &Path,
    ) -> io::Result<bool> {
        let options = Options {
            level: "O0",
            ..options.clone()
        };
        let commands = source.commands(&self.plain, &options, None, &prefix(source, dir), PLAIN);
        if self.build_all(&commands, source, dir)?.is_some() {
            return Ok(false);
        }
        let limits = (self.plain_limit, Some(CSMITH_LIMIT * 100));
        let run = self.run_within(source, dir, PLAIN, &[], limits)?;
        Ok((run.stdout, run.status)
            == (
                reference.behaviour.stdout.clone(),
                reference.behaviour.status,
            ))
    }

    /// Flick's build with this placement.
    pub fn build(
        &self,
        source: &Source,
        options: &Options,
        placement: &Placement,
        dir: &Path,
    ) -> io::Result<Build> {
        if let Some(text) = placement.file() {
            fs::write(dir.join(drawn_placement::FILE), text)?;
        }
        let commands = source.commands(
            &self.flick,
            options,
            Some(placement),
            &prefix(source, dir),
            FLICK,
        );
        if let Some(failed) = self.build_all(&commands, source, dir)? {
            let code = code_of(&failed.stderr_text());
            if failed.status != Status::TimedOut && code.as_deref().is_some_and(is_refusal) {
                return Ok(Build::Refused(code.unwrap_or_default()));
            }
            return Ok(Build::Failed(Difference {
                fault: Fault::Build(code),
                text: format!(
                    "flick-cc does not build it ({}):\n{}",
                    failed.status,
                    failed.stderr_text()
                ),
            }));
        }
        let mut built = Built::default();
        for file in ["prog", "libtorture.so"] {
            let path = dir.join(FLICK).join(file);
            if path.is_file() {
                built.functions.extend(placed(&path)?);
            }
        }
        Ok(Build::Done(built))
    }

    /// Runs Flick's build and compares.
    pub fn compare(
        &self,
        source: &Source,
        manner: &Manner,
        reference: &Reference,
        dir: &Path,
    ) -> io::Result<Compared> {
        let record = dir.join("record");
        let mut env = manner
            .environment()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        if manner.counted {
            env.push(("FLICK_STATS".to_owned(), record.display().to_string()));
        }
        let finished = self.run(source, dir, FLICK, &env, self.run_limit)?;
        let mut difference = differ(&reference.behaviour, &finished);
        let limit = match source {
            Source::User(_) => code_of(&finished.stderr_text()),
            _ => None,
        }
        .filter(|code| Code::of_text(code).is_some_and(|code| LIMITS.contains(&code)));
        if limit.is_some() {
            difference = None;
        }
        let mut summaries = Vec::new();
        if manner.counted && record.is_file() {
            summaries = flick_events::parse(&fs::read_to_string(&record)?).unwrap_or_default();
            fs::remove_file(&record)?;
        }
        Ok(Compared {
            difference,
            limit,
            summaries,
        })
    }

    /// The fault that a case shows, in a folder of its own.
    pub fn fault(&self, case: &Case) -> io::Result<Option<Difference>> {
        let dir = tempfile::Builder::new().prefix("flick-torture").tempdir()?;
        let dir = dir.path();
        self.write(&case.source, dir)?;
        let Ok(reference) = self.reference(&case.source, &case.options, dir)? else {
            return Ok(None);
        };
        match self.build(&case.source, &case.options, &case.placement, dir)? {
            Build::Refused(_) => Ok(None),
            Build::Failed(difference) => Ok(Some(difference)),
            Build::Done(_) => Ok(self
                .compare(&case.source, &case.manner, &reference, dir)?
                .difference),
        }
    }

    /// Runs the commands; the first that fails.
    pub fn build_all(
        &self,
        commands: &[Vec<String>],
        source: &Source,
        dir: &Path,
    ) -> io::Result<Option<Finished>> {
        for argv in commands {
            let finished = Run {
                argv,
                cwd: source.folder(dir),
                scratch: dir,
                tag: OUTPUT,
                env: &[],
                stdin: None,
                limit: self.build_limit,
                processor_limit: None,
                caps: Caps::default(),
            }
            .finish()?;
            if finished.status != Status::Code(0) {
                return Ok(Some(finished));
            }
        }
        Ok(None)
    }

    /// Runs what was built in `dir` for `side`, within `limit`.
    pub fn run(
        &self,
        source: &Source,
        dir: &Path,
        side: &str,
        env: &[(String, String)],
        limit: Duration,
    ) -> io::Result<Finished> {
        self.run_within(source, dir, side, env, (limit, None))
    }

    /// With limits of time and of processor time.
    fn run_within(
        &self,
        source: &Source,
        dir: &Path,
        side: &str,
        env: &[(String, String)],
        (limit, processor_limit): (Duration, Option<Duration>),
    ) -> io::Result<Finished> {
        let program: PathBuf = dir.join(side).join("prog");
        let mut argv = vec![program.display().to_string()];
        let mut stdin = None;
        if let Source::User(user) = source {
            argv.extend(user.arguments.iter().cloned());
            stdin = user.stdin.as_deref();
        }
        Run {
            argv: &argv,
            cwd: source.folder(dir),
            scratch: dir,
            tag: OUTPUT,
            env,
            stdin,
            limit,
            processor_limit,
            caps: Caps::default(),
        }
        .finish()
    }
}

/// How the commands name the case's folder: not at all where they are given in it.
fn prefix(source: &Source, dir: &Path) -> String {
    match source {
        Source::User(_) => format!("{}/", dir.display()),
        _ => String::new(),
    }
}

fn differ(expected: &Behaviour, got: &Finished) -> Option<Difference> {
    let fault = if got.status == Status::TimedOut {
        Fault::TimedOut
    } else if got.status != expected.status
        && (got.stdout == expected.stdout || matches!(got.status, Status::Signal(_)))
    {
        Fault::Status(got.status)
    } else if got.stdout != expected.stdout {
        Fault::Output
    } else {
        return None;
    };
    let mut text = format!("plain: {}; flick: {}\n", expected.status, got.status);
    text += &first_difference(&expected.stdout, &got.stdout);
    if !got.stderr.is_empty() {
        text += &format!("standard error of flick's build:\n{}", got.stderr_text());
    }
    Some(Difference { fault, text })
}

fn first_difference(expected: &[u8], got: &[u8]) -> String {
    let (expected, got) = (
        String::from_utf8_lossy(expected),
        String::from_utf8_lossy(got),
    );
    let (mut left, mut right) = (expected.lines(), got.lines());
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let end = "(end of the output)";
                return format!(
                    "output line {number}:\n  plain: {}\n  flick: {}\n",
                    a.unwrap_or(end),
                    b.unwrap_or(end)
                );
            }
        }
    }
    String::new()
}

/// The first of Flick's codes in a message.
fn code_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("[FLK")?;
    let (digits, _) = rest.split_once(']')?;
    (digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| format!("FLK{digits}"))
}

/// Whether the code says that Flick does not do this, and not that something broke.
fn is_refusal(code: &str) -> bool {
    Code::of_text(code)
        .is_some_and(|code| code == Code::UnhandledOption || code.stage() == Stage::Compile)
}

fn placed(path: &Path) -> io::Result<Vec<Placed>> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let placements = Placements::of_file(&file).map_err(io::Error::other)?;
    Ok(placements.functions)
}

impl Built {
    /// The linker's names of the functions that were asked for and placed.
    pub fn chosen(&self) -> impl Iterator<Item = &Placed> {
        self.functions.iter().filter(|function| {
            function.placement != "host"
                && !matches!(function.reason, Reason::Inline | Reason::Leaf)
        })
    }

    /// Code of each function that was asked for and stays on the host.
    pub fn refused(&self) -> impl Iterator<Item = &str> {
        self.functions
            .iter()
            .filter_map(|function| match &function.reason {
                Reason::Refused(code) => Some(code.as_str()),
                _ => None,
            })
    }
}

pub fn first_lines(text: &str) -> String {
    text.lines().take(3).collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(status: Status, stdout: &str) -> Finished {
        Finished {
            status,
            stdout: stdout.into(),
            cpu: Duration::ZERO,
            stderr: Vec::new(),
        }
    }

    #[test]
    fn distinguishes_faults() {
        let expected = Behaviour {
            stdout: b"1\n2\n".into(),
            status: Status::Code(4),
        };
        let fault = |status, stdout| differ(&expected, &finished(status, stdout)).map(|d| d.fault);
        assert_eq!(fault(Status::Code(4), "1\n2\n"), None);
        assert_eq!(fault(Status::Code(4), "1\n3\n"), Some(Fault::Output));
        assert_eq!(fault(Status::Code(5), "1\n3\n"), Some(Fault::Output));
        assert_eq!(
            fault(Status::Code(5), "1\n2\n"),
            Some(Fault::Status(Status::Code(5)))
        );
        assert_eq!(
            fault(Status::Signal(11), "1\n"),
            Some(Fault::Status(Status::Signal(11)))
        );
        assert_eq!(fault(Status::TimedOut, "1\n2\n"), Some(Fault::TimedOut));
        let text = differ(&expected, &finished(Status::Code(4), "1\n"))
            .unwrap()
            .text;
        assert!(
            text.contains("line 2:\n  plain: 2\n  flick: (end"),
            "{text}"
        );
    }

    #[test]
    fn codes_in_messages() {
        let text = "a.c:3:5: error: [FLK0202] inline assembly in `f`";
        assert_eq!(code_of(text).as_deref(), Some("FLK0202"));
        assert_eq!(code_of("error: [FLKx] y]"), None);
        assert!(is_refusal("FLK0202") && is_refusal("FLK0101"));
        assert!(!is_refusal("FLK0103") && !is_refusal("FLK0305"));
    }
}
