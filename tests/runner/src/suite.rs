//! The jobs of each kind of run over the corpus.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::build::{self, Compiler, Shape};
use crate::check::{self, RunAs, Watch};
use crate::kept_objects::KeptObjects;
use crate::mode::{Engine, Link, Linker, Mode, Opt, Trigger};
use crate::pool::{Job, Kind, Verdict};
use crate::program::Program;
use crate::random::{self, Dice, Shares};
use crate::recording::Recording;
use crate::warm::Warm;
use flick_exec::Finished;

/// Where everything is.
pub struct Setup {
    pub flick_cc: PathBuf,
    pub include: PathBuf,
    pub tests: PathBuf,
    pub work: PathBuf,
    pub keep: bool,
    /// Existing builds are run, and only missing builds are made.
    pub again: bool,
    /// Host code is built to be timed.
    pub timed: bool,
    /// Tools that builds use in the place of those in `PATH`.
    pub warm: Option<Warm>,
}

impl Setup {
    /// The environment of builds.
    pub fn warm_path(&self) -> Option<(String, String)> {
        let path = self.warm.as_ref()?.path();
        Some(("PATH".into(), path.to_string_lossy().into_owned()))
    }
}

/// Options under which a compiler without Flick must print nothing.
const STRICT: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

/// Plain clang's output of each program at each level, made when first asked for.
pub struct Oracles<'a> {
    setup: &'a Setup,
    programs: &'a [Program],
    done: Vec<[OnceLock<Result<Finished, String>>; 2]>,
}

impl<'a> Oracles<'a> {
    pub fn new(setup: &'a Setup, programs: &'a [Program]) -> Self {
        let done = programs.iter().map(|_| Default::default()).collect();
        Self {
            setup,
            programs,
            done,
        }
    }

    fn get(&self, index: usize, opt: Opt) -> Result<Option<&Finished>, String> {
        let program = &self.programs[index];
        if program.directives.only_flick {
            return Ok(None);
        }
        let slot = &self.done[index][Opt::ALL.iter().position(|&o| o == opt).unwrap_or(0)];
        let result = slot.get_or_init(|| {
            plain_run(self.setup, program, &Compiler::clang(&STRICT), "clang", opt)
        });
        result
            .as_ref()
            .map(Some)
            .map_err(|e| format!("plain clang: {e}"))
    }
}

/// Builds a program with a compiler that knows nothing of Flick, and runs it.
fn plain_run(
    setup: &Setup,
    program: &Program,
    compiler: &Compiler,
    name: &str,
    opt: Opt,
) -> Result<Finished, String> {
    let dir = setup
        .work
        .join(format!("{}-{name}-{}", program.name, opt.word()));
    let shape = Shape {
        link: Link::Pie,
        linker: None,
        opt,
        translate: "link",
    };
    let built = build::build(program, compiler, shape, setup, &dir)?;
    let done = check::plain(program, &built)?;
    clean(setup, &dir, true);
    Ok(done)
}

fn clean(setup: &Setup, dir: &PathBuf, passed: bool) {
    if passed && !setup.keep {
        // If files stay here, the next run removes them.
        let _ = fs::remove_dir_all(dir);
    }
}

/// Chooses modes among those that a program can run in.
pub type Choose<'a> = &'a dyn Fn(&[Mode]) -> Vec<Mode>;

/// Every program in each of the modes that are chosen for each kind of run. A build serves as many
/// runs as it can.
pub fn linked<'a>(
    setup: &'a Setup,
    oracles: &'a Oracles<'a>,
    kinds: &[(&'a Watch, Choose)],
) -> (Vec<Job<'a>>, Vec<Verdict>) {
    let mut jobs: Vec<Job> = Vec::new();
    let mut skipped: BTreeMap<String, String> = BTreeMap::new();
    for (index, program) in oracles.programs.iter().enumerate() {
        let d = &program.directives;
        let mut shapes: Vec<(Shape, Vec<Run>)> = Vec::new();
        for (watch, choose) in kinds {
            let barred = match watch {
                Watch::Nothing => None,
                Watch::Valgrind { .. } => d.skip_valgrind.as_ref(),
                Watch::Asan { .. } => d.skip_asan.as_ref(),
                Watch::Card => d.skip_card.as_ref(),
            };
            if let (true, Some(reason)) = (setup.timed, &d.skip_timed) {
                skipped.insert(program.name.clone(), reason.clone());
                continue;
            }
            if let Some(reason) = barred {
                skipped.insert(program.name.clone(), reason.clone());
                continue;
            }
            let (barred, allowed): (Vec<Mode>, Vec<Mode>) =
                Mode::all().into_iter().partition(|&m| d.skips(m).is_some());
            if let Some(reason) = barred.first().and_then(|&m| d.skips(m)) {
                let words: Vec<&str> = d
                    .skip_modes
                    .iter()
                    .flat_map(|s| s.words.iter().map(String::as_str))
                    .collect();
                skipped.insert(
                    format!("{} {}", program.name, words.join(",")),
                    reason.into(),
                );
            }
            for mode in choose(&allowed) {
                let shape = Shape::from(mode);
                let run = (mode.trigger, mode.engine, *watch);
                match shapes.iter_mut().find(|(s, _)| *s == shape) {
                    Some((_, runs)) => runs.push(run),
                    None => shapes.push((shape, vec![run])),
                }
            }
        }
        let mut groups: Vec<Vec<(Shape, Vec<Run>)>> = Vec::new();
        for one in shapes {
            match groups.iter_mut().find(|g| g[0].0.same_objects(one.0)) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        for group in groups {
            jobs.push(Box::new(move || {
                with_same_objects(setup, oracles, index, &group)
            }));
        }
    }
    let skipped = skipped
        .into_iter()
        .map(|(n, r)| Verdict::skipped(n, &r))
        .collect();
    (jobs, skipped)
}

type Run<'a> = (Trigger, Engine, &'a Watch);

/// Shapes that differ in the link only. The first is built as a user builds it, and the others begin
/// at its objects.
fn with_same_objects(
    setup: &Setup,
    oracles: &Oracles,
    index: usize,
    group: &[(Shape, Vec<Run>)],
) -> Vec<Verdict> {
    let name = &oracles.programs[index].name;
    let first = group[0].0;
    let folder = setup.work.join(format!(
        "{name}-objects-{}-{}",
        first.link.word(),
        first.opt.word()
    ));
    // The objects come from warm tools.
    let shared = group.len() > 1 && setup.warm.is_some() && !setup.again;
    let mut kept = shared.then(|| (folder.clone(), None));
    let mut verdicts = Vec::new();
    for (shape, runs) in group {
        verdicts.extend(one_shape(
            setup,
            oracles,
            index,
            *shape,
            runs,
            kept.as_mut(),
        ));
    }
    clean(setup, &folder, true);
    verdicts
}

/// `kept`: where to keep the objects of the build, or those that it begins at.
fn one_shape(
    setup: &Setup,
    oracles: &Oracles,
    index: usize,
    shape: Shape,
    runs: &[Run],
    kept: Option<&mut (PathBuf, Option<KeptObjects>)>,
) -> Vec<Verdict> {
    let program = &oracles.programs[index];
    let linker = shape.linker.map_or("default", Linker::word);
    let suffix = format!("{}-{linker}-{}", shape.link.word(), shape.opt.word());
    let folder = format!("{}-{}-{suffix}", program.name, shape.translate);
    let dir = setup.work.join(folder);
    let mut extra = vec![format!("--flick-translate={}", shape.translate)];
    extra.extend(setup.timed.then(|| "--flick-timed".to_owned()));
    let compiler = Compiler::flick(&setup.flick_cc, extra);
    let built = match kept {
        None => build::build(program, &compiler, shape, setup, &dir),
        Some((_, Some(kept))) => build::link_again(program, &compiler, shape, setup, &dir, kept),
        Some((folder, kept)) => build::keep_objects(program, &compiler, shape, setup, &dir, folder)
            .map(|(built, made)| {
                *kept = Some(made);
                built
            }),
    };
    let built = built.and_then(|built| Ok((built, oracles.get(index, shape.opt)?)));
    let mut verdicts = Vec::new();
    let mut all_passed = true;
    for (trigger, engine, watch) in runs {
        let how = RunAs {
            trigger: *trigger,
            engine: *engine,
            watch,
            marked: true,
        };
        let result = match &built {
            Ok((built, oracle)) => check::flick(program, built, *oracle, how),
            Err(e) => Err(e.clone()),
        };
        all_passed &= result.is_ok();
        let watched = match watch {
            Watch::Nothing => "",
            Watch::Valgrind { .. } => " valgrind",
            Watch::Asan { .. } => " asan",
            Watch::Card => " card",
        };
        let name = format!(
            "{} {}-{}-{suffix}{watched}",
            program.name,
            trigger.word(),
            engine.word()
        );
        verdicts.push(Verdict::of(name, Kind::Works, result));
    }
    clean(setup, &dir, all_passed);
    verdicts
}

/// The same sources under compilers that know nothing of Flick, with warnings as errors; their
/// outputs must be equal.
pub fn plain<'a>(setup: &'a Setup, oracles: &'a Oracles<'a>) -> (Vec<Job<'a>>, Vec<Verdict>) {
    let mut jobs: Vec<Job> = Vec::new();
    let mut skipped = Vec::new();
    for (index, program) in oracles.programs.iter().enumerate() {
        if program.directives.only_flick {
            skipped.push(Verdict::skipped(
                program.name.clone(),
                "only Flick can build it",
            ));
            continue;
        }
        for opt in Opt::ALL {
            jobs.push(Box::new(move || {
                let verdict = |compiler: &str, result| {
                    Verdict::new(
                        format!("{} {compiler}-{}", program.name, opt.word()),
                        result,
                    )
                };
                let clang = oracles.get(index, opt);
                let gcc = match &program.directives.skip_gcc {
                    Some(reason) => {
                        let what = format!("{} gcc-{}", program.name, opt.word());
                        Verdict::skipped(what, reason)
                    }
                    None => {
                        let oracle = clang.as_ref().ok().copied().flatten();
                        verdict("gcc", plain_gcc(setup, program, opt, oracle))
                    }
                };
                vec![verdict("clang", clang.map(|_| ())), gcc]
            }));
        }
    }
    (jobs, skipped)
}

fn plain_gcc(
    setup: &Setup,
    program: &Program,
    opt: Opt,
    oracle: Option<&Finished>,
) -> Result<(), String> {
    let done = plain_run(setup, program, &Compiler::gcc(&STRICT), "gcc", opt)?;
    match oracle {
        Some(oracle) if oracle.stdout != done.stdout => Err(format!(
            "gcc and clang differ:\n{}---\n{}",
            done.stdout_text(),
            oracle.stdout_text()
        )),
        _ => Ok(()),
    }
}

/// The dice of a run: seeds 1 to `seeds` take turns with the percentages.
fn throws(seeds: u64, percents: &[u64]) -> Vec<Dice> {
    let turns = percents.iter().copied().cycle();
    (1..=seeds)
        .zip(turns)
        .map(|(seed, percent)| Dice { seed, percent })
        .collect()
}

/// Every program without its marks, placed by `random:SEED:PERCENT`, on one link mode; once more
/// with all functions asked for.
pub fn random<'a>(
    setup: &'a Setup,
    oracles: &'a Oracles<'a>,
    seeds: u64,
    percents: &[u64],
    shares: &'a Shares,
) -> (Vec<Job<'a>>, Vec<Verdict>) {
    let mut jobs: Vec<Job> = Vec::new();
    let mut skipped = Vec::new();
    for (index, program) in oracles.programs.iter().enumerate() {
        let d = &program.directives;
        let reason = if d.only_flick {
            Some("only Flick can build it")
        } else {
            d.skip_random.as_deref()
        };
        if let Some(reason) = reason {
            skipped.push(Verdict::skipped(program.name.clone(), reason));
            continue;
        }
        let throws = throws(seeds, percents);
        jobs.push(Box::new(move || {
            random_program(setup, oracles, index, &throws, shares)
        }));
    }
    (jobs, skipped)
}

/// The build with all functions placed tells their names, and so what each throw of the dice will
/// choose: throws that choose the same are the same build, which is made and run once.
fn random_program(
    setup: &Setup,
    oracles: &Oracles,
    index: usize,
    throws: &[Dice],
    shares: &Shares,
) -> Vec<Verdict> {
    let program = &oracles.programs[index];
    let mut names = None;
    let ir = setup.work.join(format!("{}-ir", program.name));
    let mut recording = None;
    let mut known: BTreeMap<BTreeSet<String>, (Dice, Option<String>)> = BTreeMap::new();
    let mut verdicts = Vec::new();
    for &dice in std::iter::once(&Dice::ALL).chain(throws) {
        let name = format!("{} {dice}", program.name);
        let expected = names.as_ref().map(|names| dice.among(names));
        if let Some((first, output)) = expected.as_ref().and_then(|e| known.get(e)) {
            let again = || format!("places the same functions as {first}");
            let result = output.clone().ok_or_else(again);
            verdicts.push(Verdict::of(name, Kind::Works, result));
            continue;
        }
        let mut chosen = None;
        let result =
            one_throw(setup, oracles, index, dice, &ir, &mut recording).and_then(|(lines, run)| {
                shares.add(&lines);
                let lines = random::chosen(&lines);
                let other = expected.as_ref().filter(|&e| *e != lines).map(|expected| {
                    format!(
                        "the dice of docs/placement.md choose {expected:?}, the compiler {lines:?}"
                    )
                });
                chosen = Some(lines);
                match (run, other) {
                    (run, None) => run,
                    (Ok(_), Some(other)) => Err(other),
                    (Err(run), Some(other)) => Err(format!("{run}\n{other}")),
                }
            });
        if let Some(chosen) = chosen {
            known.insert(chosen.clone(), (dice, result.clone().ok()));
            names.get_or_insert(chosen);
        }
        verdicts.push(Verdict::of(name, Kind::Works, result));
    }
    clean(setup, &ir, true);
    verdicts
}

/// Builds and runs a program under a throw. Returns its placement lines and the result of its run.
/// The first build is recorded, and later throws repeat it.
fn one_throw(
    setup: &Setup,
    oracles: &Oracles,
    index: usize,
    dice: Dice,
    ir: &Path,
    recording: &mut Option<Recording>,
) -> Result<(String, Result<String, String>), String> {
    let program = &oracles.programs[index];
    let dir = setup.work.join(format!(
        "{}-seed{}-{}",
        program.name, dice.seed, dice.percent
    ));
    let erase = setup.tests.join("runner/erase_marks.h");
    let extra = vec![
        "-include".into(),
        erase.display().to_string(),
        format!("--flick-place=random:{}:{}", dice.seed, dice.percent),
    ];
    let compiler = Compiler::flick(&setup.flick_cc, extra);
    let shape = Shape {
        link: Link::Pie,
        linker: Some(Linker::Lld),
        opt: Opt::O2,
        translate: "link",
    };
    let how = RunAs {
        trigger: Trigger::Gate,
        engine: Engine::Ahead,
        watch: &Watch::Nothing,
        marked: false,
    };
    let built = match recording {
        _ if setup.again => build::build(program, &compiler, shape, setup, &dir)?,
        Some(recording) => {
            build::repeat(program, &compiler, shape, setup, &dir, (recording, dice))?
        }
        None => {
            let (built, made) = build::record(program, &compiler, shape, setup, &dir, ir)?;
            *recording = Some(made);
            built
        }
    };
    let lines = random::lines(&built.program)?;
    let oracle = oracles.get(index, Opt::O2)?;
    let run = check::flick(program, &built, oracle, how);
    clean(setup, &dir, run.is_ok());
    Ok((lines, run))
}

#[cfg(test)]
mod tests {
    use super::throws;

    #[test]
    fn seeds_take_turns_with_percentages() {
        let pairs: Vec<(u64, u64)> = throws(3, &[10, 50])
            .iter()
            .map(|d| (d.seed, d.percent))
            .collect();
        assert_eq!(pairs, [(1, 10), (2, 50), (3, 10)]);
    }
}
