//! `cargo test NAME`: each program of the corpus, each bad input and each mistake is a test, named
//! after its place under `tests/` (`c/hello`, `errors/null_call`). It runs in one mode
//! (`flick-test --quick`).
//!
//! Without a name none of them runs, because `scripts/test.sh` runs all of them, in all modes, by
//! `flick-test`. `cargo test -p flick-tests --test corpus -- --ignored` runs all in one mode.
use std::fs;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use flick_support::tree;
use flick_tests::check::Watch;
use flick_tests::filter::Filter;
use flick_tests::mode::Mode;
use flick_tests::names::{self, Kind, Test};
use flick_tests::pool::{Job, Outcome, Verdict};
use flick_tests::suite::{self, Oracles, Setup};
use flick_tests::warm::Warm;
use flick_tests::{errors, exec, mistakes, program};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() -> ExitCode {
    exec::forbid_core_files();
    let arguments = Arguments::from_args();
    let asked = arguments.filter.is_some()
        || arguments.ignored
        || arguments.include_ignored
        || arguments.list;
    // Tests run if a name selects them, or an option such as `--ignored`.
    match trials(arguments.filter.is_none()) {
        Ok(trials) if !asked => {
            println!(
                "\n{} tests run when they are named: cargo test NAME",
                trials.len()
            );
            libtest_mimic::run(&arguments, Vec::new()).exit_code()
        }
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(why) => {
            eprintln!("corpus: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The settings of all trials. They are made when the first trial runs, because most runs of this
/// test run no trial.
type Shared = Arc<OnceLock<Result<Setup, String>>>;

fn trials(ignored: bool) -> Result<Vec<Trial>, String> {
    let tests = tree::repository().join("tests");
    let shared = Shared::default();
    let trials = names::all(&tests)?.into_iter().map(|test| {
        let shared = shared.clone();
        let name = test.path();
        let trial = move || {
            let setup = shared.get_or_init(setup).as_ref().map_err(Clone::clone)?;
            carry_out(setup, &test)
        };
        Trial::ignorable_test(name, trial).with_ignored_flag(ignored)
    });
    Ok(trials.collect())
}

fn setup() -> Result<Setup, String> {
    tree::is_current()?;
    let repository = tree::repository();
    let tests = repository.join("tests");
    Ok(Setup {
        flick_cc: tree::tool("flick-cc"),
        include: repository.join("include"),
        work: repository.join("build/test/trials"),
        keep: false,
        again: false,
        timed: false,
        warm: Warm::of_tests(&tests),
        tests,
    })
}

fn carry_out(setup: &Setup, test: &Test) -> Result<Completion, Failed> {
    let name = &test.name;
    let filter = Filter::names([name]);
    let alone = format!("--exact --filter {name}");
    let (verdicts, command) = match test.kind {
        Kind::Program => {
            let programs = program::discover(&setup.tests, &filter)?;
            let oracles = Oracles::new(setup, &programs);
            let one_mode = |all: &[Mode]| Mode::quickest(all).into_iter().collect();
            let (jobs, _) = suite::linked(setup, &oracles, &[(&Watch::Nothing, &one_mode)]);
            let all = Mode::all().into_iter();
            let allowed: Vec<Mode> = all
                .filter(|&mode| programs[0].directives.skips(mode).is_none())
                .collect();
            let mode = match Mode::quickest(&allowed) {
                Some(Mode::QUICK) => "--quick".to_owned(),
                Some(mode) => format!("--full --mode {}", mode.words().join(",")),
                None => {
                    return Ok(Completion::ignored_with(
                        "its SKIP-MODE lines leave no mode",
                    ));
                }
            };
            (verdicts(&jobs), format!("{mode} {alone}"))
        }
        Kind::Error => {
            let jobs = errors::jobs(setup, &filter)?;
            (verdicts(&jobs), format!("--errors {alone}"))
        }
        Kind::Mistake => {
            let page = setup.tests.join("../docs/mistakes.md");
            let page = fs::read_to_string(&page).map_err(|e| format!("{}: {e}", page.display()))?;
            let mistakes = mistakes::read(setup, &filter)?;
            let jobs = mistakes::jobs(setup, &mistakes, &page, false);
            (verdicts(&jobs), format!("--errors {alone}"))
        }
    };
    let mut faults = String::new();
    let mut completion = Completion::Completed;
    for verdict in verdicts {
        match verdict.outcome {
            Outcome::Passed => {}
            Outcome::Skipped(why) => completion = Completion::ignored_with(why),
            Outcome::Failed(report) => {
                faults += &format!("{}\n{}\n\n", verdict.name, report.trim_end());
            }
        }
    }
    if faults.is_empty() {
        return Ok(completion);
    }
    Err(format!(
        "{faults}This test alone, then the same by flick-test (--keep leaves its files):\n  \
         cargo test -p flick-tests --test corpus -- --exact {}\n  \
         cargo run -p flick-tests -- {command}\n",
        test.path()
    )
    .into())
}

fn verdicts(jobs: &[Job]) -> Vec<Verdict> {
    jobs.iter().flat_map(|job| job()).collect()
}
