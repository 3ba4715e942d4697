//! `flick-test`: builds and runs the tiny programs under `tests/` with the real driver and with
//! plain compilers, and compares. `tests/writing.md` says how to write a program.
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use flick_tests::check::Watch;
use flick_tests::coverage::Coverage;
use flick_tests::filter::Filter;
use flick_tests::mode::Mode;
use flick_tests::pool::{self, Outcome, Verdict};
use flick_tests::suite::{self, Oracles, Setup};
use flick_tests::warm::{self, Warm};
use flick_tests::{errors, exec, mistakes, program, random, strangers, transparency};

/// Without a kind of run: `--pairwise`. Several kinds run one after another.
#[derive(Parser)]
#[command(name = "flick-test", version)]
struct Options {
    /// Every pair of {gate, fault} x {translate, interp} x {PIE, no-PIE, static} x {GNU ld, lld} x
    /// {-O0, -O2}.
    #[arg(long)]
    pairwise: bool,
    /// The full product of the same.
    #[arg(long)]
    full: bool,
    /// One mode only: gate, translate, PIE, lld, -O2.
    #[arg(long)]
    quick: bool,
    /// Random placement under this many seeds, marks erased.
    #[arg(long, value_name = "SEEDS")]
    random: Option<u64>,
    /// Shares of functions that random placement asks for, which the seeds take turns with. One
    /// build more asks for all.
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "10,50",
        value_delimiter = ','
    )]
    percent: Vec<u64>,
    /// The same sources under plain gcc and plain clang, warnings as errors.
    #[arg(long)]
    plain: bool,
    /// Under valgrind's memcheck, with gates.
    #[arg(long)]
    valgrind: bool,
    /// With both triggers on a runtime that is built with AddressSanitizer; the folder of that
    /// libflick.so.
    #[arg(long, value_name = "DIR", requires = "sanitizer")]
    asan: Option<PathBuf>,
    /// With --asan: the sanitizer's library (libclang_rt.asan-x86_64.so).
    #[arg(long, value_name = "FILE")]
    sanitizer: Option<PathBuf>,
    /// Bad input, and the mistakes of docs/mistakes.md.
    #[arg(long)]
    errors: bool,
    /// Make docs/mistakes.md again from what the tools print.
    #[arg(long)]
    mistakes_page: bool,
    /// Make docs/transparency.md again from what its tests show in one mode.
    #[arg(long)]
    transparency_page: bool,
    /// With --pairwise or --full: only modes with all of these words (gate, no-pie, lld, O2, ...).
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    mode: Vec<String>,
    /// Only programs whose name contains one of these.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    filter: Vec<String>,
    /// With --filter: whole names.
    #[arg(long, requires = "filter")]
    exact: bool,
    /// Only programs that cover a module of the runtime whose path contains one of these
    /// (tests/coverage.toml).
    #[arg(
        long,
        value_name = "TEXT",
        value_delimiter = ',',
        conflicts_with = "filter"
    )]
    module: Vec<String>,
    /// The C driver under test; the C++ driver is beside it.
    #[arg(long, value_name = "PATH", default_value = "build/bin/flick-cc")]
    flick: PathBuf,
    /// Folder with c/, cpp/ and errors/.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    tests: PathBuf,
    /// Folder with flick.h.
    #[arg(long, value_name = "DIR", default_value = "include")]
    include: PathBuf,
    /// The page of mistakes.
    #[arg(long, value_name = "FILE", default_value = "docs/mistakes.md")]
    page: PathBuf,
    /// The page of what works; docs/limits.md is beside it.
    #[arg(long, value_name = "FILE", default_value = "docs/transparency.md")]
    transparency: PathBuf,
    /// Where programs are built; those that fail stay there.
    #[arg(long, value_name = "DIR", default_value = "build/test/corpus")]
    work: PathBuf,
    /// Keep everything that is built.
    #[arg(long)]
    keep: bool,
    /// Run the programs that an earlier run with --keep has built, in the same folder and mode.
    #[arg(long)]
    again: bool,
    /// Begin no program after one that failed.
    #[arg(long)]
    stop: bool,
    /// Jobs at a time; 0: one per core.
    #[arg(long, short, default_value_t = 0)]
    jobs: usize,
    /// Start clang and lld anew for every command, not from processes that have loaded them.
    #[arg(long)]
    cold: bool,
    /// Programs of others in all ways: GCC's tests, from this folder (scripts/gcc-tests.sh).
    #[arg(long, value_name = "DIR")]
    strangers: Option<PathBuf>,
    /// The same with LLVM's test-suite: a checkout.
    #[arg(long, value_name = "DIR")]
    suite: Option<PathBuf>,
    /// With --strangers or --suite: only these levels (O0, O2, Os).
    #[arg(long, value_name = "LEVELS", value_delimiter = ',')]
    level: Vec<String>,
    /// With --strangers or --suite: so many of the programs and levels, drawn.
    #[arg(long, value_name = "NUMBER")]
    sample: Option<usize>,
    /// With --sample: the seed of the draw.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With the marks in force: build host code with --flick-timed, and time the runs for this
    /// platform
    #[arg(long, value_name = "PLATFORM")]
    timed: Option<String>,
    /// Run programs on this backend (card), and on the machine of FLICK_MACHINE
    #[arg(long, value_name = "BACKEND")]
    backend: Option<String>,
    /// No tests: run this command, the rest of the line, with clang and lld started once for all
    /// commands that it runs.
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true)]
    warm: Vec<String>,
    /// Failures to print in full.
    #[arg(long, default_value_t = 10)]
    show: usize,
    /// List the programs, what they test, and the modules of the runtime that they cover.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    exec::forbid_core_files();
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("flick-test: {message}");
            ExitCode::from(2)
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn run(o: &Options) -> Result<ExitCode, String> {
    if let Some(platform) = &o.timed {
        // SAFETY: no other thread has been started yet.
        unsafe { std::env::set_var("FLICK_PLATFORM", platform) };
    }
    if let Some(backend) = &o.backend {
        let machine = std::env::var("FLICK_MACHINE").unwrap_or_default();
        exec::give_to_all(&[("FLICK_BACKEND", backend), ("FLICK_MACHINE", &machine)]);
    }
    let mut setup = Setup {
        flick_cc: absolute(&o.flick)?,
        include: absolute(&o.include)?,
        tests: absolute(&o.tests)?,
        work: absolute(&o.work)?,
        keep: o.keep || o.again,
        again: o.again,
        timed: o.timed.is_some(),
        warm: None,
    };
    if let [command, words @ ..] = &o.warm[..] {
        return warm::run(Warm::of_tests(&setup.tests).as_ref(), command, words);
    }
    let filter = if o.module.is_empty() {
        Filter {
            words: o.filter.clone(),
            exact: o.exact,
        }
    } else {
        Coverage::read(&setup.tests)?.filter(&o.module)?
    };
    let programs = program::discover(&setup.tests, &filter)?;
    if o.list {
        let coverage = Coverage::read(&setup.tests)?;
        for p in &programs {
            println!("{:24} {}", p.name, p.directives.about);
            let path = format!("{}/{}", p.language.folder(), p.name);
            let modules = coverage.modules_of(&path);
            if !modules.is_empty() {
                println!("{:24} covers {}", "", modules.join(" "));
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mistakes = mistakes::read(&setup, &filter)?;
    if o.mistakes_page {
        let text = mistakes::page(&setup, &mistakes::read(&setup, &Filter::default())?)?;
        std::fs::write(&o.page, text).map_err(|e| format!("{}: {e}", o.page.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !(o.cold || o.again) {
        setup.warm = Warm::of_tests(&setup.tests);
    }
    if o.strangers.is_some() || o.suite.is_some() {
        return strangers(o, &setup, &filter);
    }
    if o.transparency_page {
        return make_transparency_page(o, &setup, programs);
    }
    let others = o.pairwise
        || o.full
        || o.quick
        || o.valgrind
        || o.errors
        || o.random.is_some()
        || o.asan.is_some();
    let pairwise = o.pairwise || !(others || o.plain);
    if (others || pairwise) && !setup.flick_cc.exists() {
        return Err(format!(
            "{} is missing; build it first (make build)",
            o.flick.display()
        ));
    }
    let threads = threads(o);
    let oracles = Oracles::new(&setup, &programs);
    let shares = random::Shares::default();
    let quick =
        |all: &[Mode]| -> Vec<Mode> { all.iter().copied().filter(|&m| m == Mode::QUICK).collect() };
    if let Some(bad) = o.mode.iter().find(|w| !Mode::is_word(w)) {
        return Err(format!("--mode: unknown word '{bad}'"));
    }
    let wanted = |m: &Mode| o.mode.iter().all(|w| m.has_word(w));
    let among = |all: &[Mode]| -> Vec<Mode> { all.iter().copied().filter(wanted).collect() };
    let mut verdicts: Vec<Verdict> = Vec::new();
    let go = |title: &str, (jobs, skipped): (Vec<pool::Job>, Vec<Verdict>)| {
        let mut verdicts = pool::run(&jobs, threads, o.stop, title);
        verdicts.extend(skipped);
        verdicts
    };
    if o.plain {
        verdicts.extend(go("plain", suite::plain(&setup, &oracles)));
    }
    let every_pair = |all: &[Mode]| Mode::pairwise(&among(all));
    // Both triggers on the build of Mode::QUICK.
    let both = |all: &[Mode]| -> Vec<Mode> {
        let shape = |m: &&Mode| {
            Mode {
                trigger: Mode::QUICK.trigger,
                ..**m
            } == Mode::QUICK
        };
        all.iter().filter(shape).copied().collect()
    };
    let memcheck = Watch::Valgrind {
        suppressions: setup.tests.join("memcheck.supp"),
    };
    let asan = match (&o.asan, &o.sanitizer) {
        (Some(runtime), Some(sanitizer)) => Watch::Asan {
            runtime: absolute(runtime)?,
            sanitizer: absolute(sanitizer)?,
        },
        _ => Watch::Nothing,
    };
    let kinds: [(bool, &str, &Watch, suite::Choose); 5] = [
        (o.quick, "quick", &Watch::Nothing, &quick),
        (pairwise, "pairwise", &Watch::Nothing, &every_pair),
        (o.full, "full", &Watch::Nothing, &among),
        (o.valgrind, "valgrind", &memcheck, &quick),
        (o.asan.is_some(), "asan", &asan, &both),
    ];
    let (titles, kinds): (Vec<&str>, Vec<_>) = kinds
        .into_iter()
        .filter(|(asked, ..)| *asked)
        .map(|(_, title, watch, choose)| (title, (watch, choose)))
        .unzip();
    if !kinds.is_empty() {
        verdicts.extend(go(
            &titles.join(" and "),
            suite::linked(&setup, &oracles, &kinds),
        ));
    }
    if let Some(seeds) = o.random {
        verdicts.extend(go(
            "random",
            suite::random(&setup, &oracles, seeds, &o.percent, &shares),
        ));
        verdicts.push(median_verdict(&shares));
    }
    if o.errors {
        let page = std::fs::read_to_string(&o.page).unwrap_or_default();
        let mut jobs = errors::jobs(&setup, &filter)?;
        jobs.extend(mistakes::jobs(&setup, &mistakes, &page, filter.is_empty()));
        verdicts.extend(go("errors", (jobs, Vec::new())));
    }
    if filter.is_empty() && o.mode.is_empty() && o.errors && (pairwise || o.full) {
        let points = transparency::read(&setup.tests)?;
        let page = std::fs::read_to_string(&o.transparency).unwrap_or_default();
        let limits = limits(o)?;
        verdicts.extend(transparency::verdicts(&points, &verdicts, &limits, &page));
    }
    Ok(close(&verdicts, o.show))
}

fn strangers(o: &Options, setup: &Setup, filter: &Filter) -> Result<ExitCode, String> {
    let suite = o.suite.as_deref().map(absolute).transpose()?;
    let gcc = o.strangers.as_deref().map(absolute).transpose()?;
    let part = strangers::Part {
        gcc: gcc.as_deref(),
        suite: suite.as_deref(),
        filter,
        levels: &o.level,
        sample: o.sample,
        seed: o.seed,
        threads: threads(o),
        show: o.show,
        limits: &limits(o)?,
    };
    strangers::run(setup, &part)
}

/// Makes the page from the tests of its rows in one mode. They must show the same in all others.
fn make_transparency_page(
    o: &Options,
    setup: &Setup,
    mut programs: Vec<program::Program>,
) -> Result<ExitCode, String> {
    let points = transparency::read(&setup.tests)?;
    let names: BTreeSet<&str> = transparency::tests(&points).collect();
    programs.retain(|p| names.contains(p.name.as_str()));
    let oracles = Oracles::new(setup, &programs);
    let one_of = |all: &[Mode]| Mode::quickest(all).into_iter().collect();
    let (mut jobs, mut verdicts) = suite::linked(setup, &oracles, &[(&Watch::Nothing, &one_of)]);
    let errors = names.iter().filter_map(|n| n.strip_prefix("errors/"));
    jobs.extend(errors::jobs(setup, &Filter::names(errors))?);
    verdicts.extend(pool::run(&jobs, threads(o), false, "transparency"));
    let made = transparency::page(&points, &verdicts, &limits(o)?);
    let written = made.and_then(|text| {
        std::fs::write(&o.transparency, text)
            .map_err(|e| format!("{}: {e}", o.transparency.display()))
    });
    verdicts.push(Verdict::new("transparency: the page".into(), written));
    Ok(close(&verdicts, o.show))
}

fn limits(o: &Options) -> Result<String, String> {
    let path = o.transparency.with_file_name("limits.md");
    std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
}

fn threads(o: &Options) -> usize {
    match o.jobs {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    }
}

/// Random placement proves little if most of the functions that it chose had to stay on the host.
fn median_verdict(shares: &random::Shares) -> Verdict {
    let name = "random: median share of chosen functions that were placed".to_owned();
    let result = match shares.median() {
        None => Err("no build placed anything".into()),
        Some((builds, median)) => {
            println!(
                "median share placed: {:.0} % of those chosen ({builds} builds)",
                median * 100.0
            );
            if median >= 0.5 {
                Ok(())
            } else {
                Err(format!("{median:.2}, at least 0.5 expected"))
            }
        }
    };
    Verdict::new(name, result)
}

fn close(verdicts: &[Verdict], show: usize) -> ExitCode {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for v in verdicts {
        match &v.outcome {
            Outcome::Passed => passed += 1,
            Outcome::Failed(report) => {
                failed += 1;
                if failed <= show {
                    println!("FAILED {}\n{}\n", v.name, report.trim_end());
                }
            }
            Outcome::Skipped(reason) => {
                skipped += 1;
                println!("skipped {}: {reason}", v.name);
            }
        }
    }
    if failed > show {
        println!("and {} more:", failed - show);
        let names = verdicts
            .iter()
            .filter(|v| matches!(v.outcome, Outcome::Failed(_)));
        names.skip(show).for_each(|v| println!("FAILED {}", v.name));
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 && passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
