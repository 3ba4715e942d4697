//! One program at one level: built by plain clang and by Flick with every placement, run on every engine,
//! compared.
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flick_exec::{Caps, Finished, Status};

use super::exceptions::{Exceptions, Which};
use super::making::{self, Failed, Made};
use super::stranger::{Level, Stranger};
use crate::build::Compiler;
use crate::exec::Invocation;
use crate::random::{self, Dice};
use crate::suite::Setup;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// Every function.
    All,
    /// Half of them, drawn.
    Half,
}

impl Placement {
    pub fn word(self) -> &'static str {
        match self {
            Placement::All => "100",
            Placement::Half => "50",
        }
    }
}

/// `Auto` is what a user gets who asks for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Auto,
    Translate,
    Interp,
}

impl Engine {
    pub const ALL: [Engine; 3] = [Engine::Auto, Engine::Translate, Engine::Interp];

    pub fn word(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Translate => "translate",
            Engine::Interp => "interp",
        }
    }

    /// What takes longer natively does not run on it: that would take minutes, or (`Translate`) show what `Auto`
    /// shows once all is translated.
    fn patience(self) -> Duration {
        match self {
            Engine::Auto => Duration::MAX,
            Engine::Translate => Duration::from_secs(2),
            Engine::Interp => Duration::from_millis(500),
        }
    }

    /// How many times as long as natively a run may take.
    fn factor(self) -> u64 {
        match self {
            Engine::Auto | Engine::Translate => 20,
            Engine::Interp => 150,
        }
    }
}

/// Processor time that a native run may take.
const NATIVE: u64 = 10;
const MEMORY: u64 = 4 << 30;
const FILE: u64 = 256 << 20;

/// What came of a program at a level.
pub struct Cell {
    pub program: String,
    pub level: Level,
    pub outcome: Outcome,
}

pub enum Outcome {
    /// Plain clang fails with the same options: why.
    Excluded(String),
    Compared(Compared),
}

/// Runs, or a build, that differ in the same way.
pub struct Difference {
    pub name: String,
    pub runs: usize,
    /// Not only its output differs.
    pub ends_otherwise: bool,
    /// For a person, with the commands that repeat it.
    pub report: String,
}

impl Difference {
    fn new(which: Which, report: String) -> Self {
        Self {
            name: name_of(which),
            runs: 1,
            ends_otherwise: true,
            report,
        }
    }
}

#[derive(Default)]
pub struct Compared {
    pub runs: usize,
    pub differences: Vec<Difference>,
    /// Runs that differ by a rule.
    pub excused: Vec<(String, String)>,
    /// Builds that were refused with a code that docs/limits.md names.
    pub refused: Vec<String>,
    /// Functions that the dice chose, and those that stayed on the host, by code; with everything placed.
    pub chosen: usize,
    pub kept: BTreeMap<String, usize>,
    /// Not half of it was placed: it has one function only.
    pub one_function: bool,
    /// Too long natively for the interpreter.
    pub not_interpreted: bool,
    /// Processor time of plain clang's build, and of Flick's with everything placed.
    pub times: Option<(Duration, Duration)>,
}

/// What a cell needs beside its program.
pub struct Bench<'a> {
    pub setup: &'a Setup,
    pub exceptions: &'a Exceptions,
    /// The codes that docs/limits.md names.
    pub codes: Vec<String>,
}

impl Bench<'_> {
    /// Builds, runs and compares; what differs stays in the folder of the cell.
    pub fn measure(&self, stranger: &Stranger, level: Level) -> Cell {
        let name = stranger.name.replace('/', ".");
        let dir = self.setup.work.join(format!("{name}-{}", level.word()));
        let outcome = match self.plain(stranger, level, &dir) {
            Err(why) => Outcome::Excluded(why),
            Ok(plain) => {
                let mut compared = self.compared(stranger, level, &dir, &plain);
                if self.is_steady(stranger, &dir, &plain, &compared) {
                    Outcome::Compared(compared)
                } else {
                    // How it ends can be compared all the same.
                    compared.differences.retain(|d| d.ends_otherwise);
                    match compared.differences.is_empty() {
                        true => Outcome::Excluded("it prints something else each time".into()),
                        false => Outcome::Compared(compared),
                    }
                }
            }
        };
        let differs = matches!(&outcome, Outcome::Compared(c) if !c.differences.is_empty());
        if !(differs || self.setup.keep) {
            let _ = fs::remove_dir_all(&dir);
        }
        if let Outcome::Compared(_) = outcome {
            self.exceptions.was_run(&stranger.name, level);
        }
        Cell {
            program: stranger.name.clone(),
            level,
            outcome,
        }
    }

    fn plain(&self, stranger: &Stranger, level: Level, dir: &Path) -> Result<Plain, String> {
        let clang = Compiler::clang(&[]);
        let build = |without: &[String]| {
            making::make(
                stranger,
                level,
                &clang,
                without,
                &dir.join("plain"),
                self.setup,
            )
        };
        let mut without = Vec::new();
        let mut made = build(&without);
        if let Err(failed) = &made {
            without = making::unknown_options(&failed.text);
            if !without.is_empty() {
                made = build(&without);
            }
        }
        let made = made.map_err(|failed| format!("plain clang: {}", first_error(&failed.text)))?;
        let done = run(stranger, &made, &dir.join("run"), &[], NATIVE)?;
        match done.finished.status {
            Status::Code(0) => {}
            Status::Code(_) if !stranger.succeeds => {}
            status => return Err(format!("natively: {status}")),
        }
        Ok(Plain {
            made,
            without,
            done: done.finished,
            shell: done.shell,
        })
    }

    /// Whether plain clang's build does the same again; asked only where something differs.
    fn is_steady(
        &self,
        stranger: &Stranger,
        dir: &Path,
        plain: &Plain,
        compared: &Compared,
    ) -> bool {
        if compared.differences.is_empty() && compared.excused.is_empty() {
            return true;
        }
        (0..2).all(|_| {
            let again = run(stranger, &plain.made, &dir.join("run"), &[], NATIVE);
            again.is_ok_and(|again| same(&again.finished, &plain.done))
        })
    }

    fn compared(&self, stranger: &Stranger, level: Level, dir: &Path, plain: &Plain) -> Compared {
        let mut compared = Compared::default();
        let mut chosen = None;
        let all = Dice::ALL;
        if let Some(made) = self.build(
            stranger,
            level,
            dir,
            plain,
            (Placement::All, all),
            &mut compared,
        ) {
            match random::lines(&made.program) {
                Ok(lines) => {
                    let names = random::chosen(&lines);
                    compared.chosen = names.len();
                    for (_, code) in random::refused(&lines) {
                        *compared.kept.entry(code.to_owned()).or_default() += 1;
                    }
                    chosen = Some(names);
                }
                Err(why) => {
                    let which = Which {
                        program: &stranger.name,
                        level,
                        placement: Placement::All,
                        engine: None,
                    };
                    compared.differences.push(Difference::new(which, why));
                }
            }
            self.runs(
                stranger,
                level,
                dir,
                plain,
                Placement::All,
                &made,
                &mut compared,
            );
        }
        let Some(names) = chosen else {
            return compared;
        };
        // The first throw that leaves functions on both sides.
        let dice = (1..=64)
            .map(|seed| Dice { seed, percent: 50 })
            .find(|dice| {
                let half = dice.among(&names).len();
                0 < half && half < names.len()
            });
        let Some(dice) = dice else {
            compared.one_function = true;
            return compared;
        };
        if let Some(made) = self.build(
            stranger,
            level,
            dir,
            plain,
            (Placement::Half, dice),
            &mut compared,
        ) {
            self.runs(
                stranger,
                level,
                dir,
                plain,
                Placement::Half,
                &made,
                &mut compared,
            );
        }
        compared
    }

    fn build(
        &self,
        stranger: &Stranger,
        level: Level,
        dir: &Path,
        plain: &Plain,
        (placement, dice): (Placement, Dice),
        compared: &mut Compared,
    ) -> Option<Made> {
        let place = format!("--flick-place=random:{}:{}", dice.seed, dice.percent);
        let flick = Compiler::flick(&self.setup.flick_cc, vec![place]);
        let dir = dir.join(placement.word());
        let Failed { commands, text } =
            match making::make(stranger, level, &flick, &plain.without, &dir, self.setup) {
                Ok(made) => return Some(made),
                Err(failed) => failed,
            };
        let which = Which {
            program: &stranger.name,
            level,
            placement,
            engine: None,
        };
        compared.runs += 1;
        let code = code_in(&text);
        match code {
            Some(code) if self.codes.iter().any(|c| c == code) => {
                compared.refused.push(code.into());
            }
            _ => match self.exceptions.excuse(which, code) {
                Some(reason) => compared.excused.push((name_of(which), reason.into())),
                None => {
                    let report = format!("does not build\n{}\n{text}", commands.join("\n"));
                    compared.differences.push(Difference::new(which, report));
                }
            },
        }
        None
    }

    #[allow(clippy::too_many_arguments)]
    fn runs(
        &self,
        stranger: &Stranger,
        level: Level,
        dir: &Path,
        plain: &Plain,
        placement: Placement,
        made: &Made,
        compared: &mut Compared,
    ) {
        let mut differing: Vec<(Finished, Difference)> = Vec::new();
        for engine in Engine::ALL {
            if plain.done.cpu > engine.patience() {
                compared.not_interpreted = true;
                continue;
            }
            let which = Which {
                program: &stranger.name,
                level,
                placement,
                engine: Some(engine),
            };
            let mut env = vec![("FLICK_OFFLOAD".to_owned(), "require".to_owned())];
            if engine != Engine::Auto {
                env.push(("FLICK_ENGINE".into(), engine.word().into()));
            }
            let limit = NATIVE + plain.done.cpu.as_secs_f64().ceil() as u64 * engine.factor();
            let done = match run(stranger, made, &dir.join("run"), &env, limit) {
                Ok(done) => done,
                Err(why) => {
                    compared.differences.push(Difference::new(which, why));
                    continue;
                }
            };
            compared.runs += 1;
            if same(&done.finished, &plain.done) {
                if engine == Engine::Auto && placement == Placement::All {
                    compared.times = Some((plain.done.cpu, done.finished.cpu));
                }
                continue;
            }
            match self.exceptions.excuse(which, None) {
                Some(reason) => compared.excused.push((name_of(which), reason.into())),
                None => match differing
                    .iter_mut()
                    .find(|(one, _)| same(one, &done.finished))
                {
                    Some((_, difference)) => {
                        difference.runs += 1;
                        difference.name.push_str(", ");
                        difference.name.push_str(engine.word());
                    }
                    None => {
                        let report = report(plain, made, &done);
                        let difference = Difference {
                            ends_otherwise: done.finished.status != plain.done.status,
                            ..Difference::new(which, report)
                        };
                        differing.push((done.finished, difference));
                    }
                },
            }
        }
        let differences = differing.into_iter().map(|(_, difference)| difference);
        compared.differences.extend(differences);
    }
}

/// Plain clang's build and what it did.
struct Plain {
    made: Made,
    /// Options that clang does not know.
    without: Vec<String>,
    done: Finished,
    shell: String,
}

struct Done {
    finished: Finished,
    /// As a person repeats it.
    shell: String,
}

fn name_of(which: Which) -> String {
    let engine = which.engine.map_or("", Engine::word);
    let (program, level, placement) = (which.program, which.level, which.placement.word());
    format!("{program} {level} {placement} % {engine}")
        .trim_end()
        .to_owned()
}

fn same(one: &Finished, other: &Finished) -> bool {
    one.status == other.status && one.stdout == other.stdout
}

/// Runs the program in an empty folder, with its data. `limit`: seconds of processor time.
fn run(
    stranger: &Stranger,
    made: &Made,
    dir: &Path,
    env: &[(String, String)],
    limit: u64,
) -> Result<Done, String> {
    let _ = fs::remove_dir_all(dir);
    lay_out(stranger, made, dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut argv = vec!["./prog".to_owned()];
    argv.extend(stranger.args.iter().cloned());
    let mut run = Invocation::new(argv, dir);
    run.env = env.to_vec();
    run.input = stranger.stdin.as_ref().map(|file| dir.join(file));
    // It may sleep, and others may use the machine.
    run.timeout = 4 * limit + 30;
    run.caps = Caps {
        data: Some(MEMORY),
        file: Some(FILE),
        cpu: Some(limit),
    };
    let finished = run
        .run("stranger")
        .map_err(|e| format!("cannot run it: {e}"))?;
    Ok(Done {
        finished,
        shell: repeated(made, &run),
    })
}

/// The run in the folder of the build.
fn repeated(made: &Made, run: &Invocation) -> String {
    let mut run = run.clone();
    run.cwd = made
        .program
        .parent()
        .map_or_else(PathBuf::new, PathBuf::from);
    run.input = run
        .input
        .and_then(|file| Some(PathBuf::from(file.file_name()?)));
    run.shell()
}

fn lay_out(stranger: &Stranger, made: &Made, dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    fs::hard_link(&made.program, dir.join("prog"))?;
    for data in &stranger.data {
        let to = dir.join(&data.to);
        if let Some(above) = to.parent() {
            fs::create_dir_all(above)?;
        }
        if !data.from.exists() || to.exists() {
            // What the program misses it misses natively, too.
        } else if data.copied {
            let from = if data.from.is_dir() {
                data.from.join(".")
            } else {
                data.from.clone()
            };
            Command::new("cp").arg("-r").arg(from).arg(&to).status()?;
        } else {
            symlink(&data.from, &to)?;
        }
    }
    Ok(())
}

fn report(plain: &Plain, made: &Made, done: &Done) -> String {
    let (want, have) = (&plain.done, &done.finished);
    let mut text = format!("natively {}, here {}\n", want.status, have.status);
    if want.stdout != have.stdout {
        text.push_str(&first_difference(&want.stdout_text(), &have.stdout_text()));
    }
    for line in plain.made.commands.iter().chain([&plain.shell]) {
        text.push_str(&format!("{line}\n"));
    }
    for line in made.commands.iter().chain([&done.shell]) {
        text.push_str(&format!("{line}\n"));
    }
    let errors = have.stderr_text();
    for line in errors.lines().take(20) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

fn first_difference(want: &str, have: &str) -> String {
    let at = want
        .lines()
        .zip(have.lines())
        .take_while(|(w, h)| w == h)
        .count();
    let line = |text: &str| {
        text.lines()
            .nth(at)
            .unwrap_or("(nothing)")
            .chars()
            .take(200)
            .collect::<String>()
    };
    format!(
        "line {}:\n  natively {}\n  here     {}\n",
        at + 1,
        line(want),
        line(have)
    )
}

/// The first line that says what is wrong.
fn first_error(text: &str) -> String {
    let error = text
        .lines()
        .find(|l| l.contains("error:") || l.contains("undefined symbol"));
    let line = error.or(text.lines().next()).unwrap_or("no message");
    // Without the place.
    let short = line.split_once("error: ").map_or(line, |(_, what)| what);
    short.chars().take(160).collect()
}

/// The first code of ours in a message.
fn code_in(text: &str) -> Option<&str> {
    let at = text.find("FLK")?;
    let code = text.get(at..at + 7)?;
    code[3..]
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_short() {
        let text = "In file included from x\n/a/b.c:3:1: error: unknown type name 'q'\n";
        assert_eq!(first_error(text), "unknown type name 'q'");
        assert_eq!(code_in("x: error: no [FLK0204]"), Some("FLK0204"));
        assert_eq!(code_in("FLK"), None);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let shown = first_difference("a\nb\n", "a\nc\n");
        assert_eq!(shown, "line 2:\n  natively b\n  here     c\n");
    }
}
