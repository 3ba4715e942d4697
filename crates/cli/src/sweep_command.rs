//! `flick sweep`: what was asked for, for the crate of that name, and what it prints.
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use flick_diagnostics::Code;
use flick_driver::{Error, Root};
use flick_image::output;
use flick_sweep::{Outcome, Settings, Which};
use serde_json::json;

use crate::print;

/// More failures than that are in the page.
const MOST_FAILURES: usize = 10;

#[derive(Args)]
pub struct Sweep {
    /// The file of the sweep (docs/sweep.md)
    #[arg(required_unless_present = "worker")]
    file: Option<PathBuf>,
    /// Who runs the points
    #[arg(long, value_enum, default_value = "local")]
    engine: Engine,
    /// Points and builds at a time on this machine [default: the number of processors]
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    /// Tasks of the array of Slurm, 1000 at most [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    tasks: Option<u32>,
    /// Where results are kept [default: NAME.results beside the file]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// List the points and say which have results; build and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Print a summary for programs (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Run points of this plan
    #[arg(long, hide = true, value_name = "PLAN")]
    worker: Option<PathBuf>,
    /// Points of the plan by their numbers
    #[arg(long, hide = true, requires = "worker", conflicts_with = "share")]
    points: Option<String>,
    /// A share I/N of the plan's points
    #[arg(long, hide = true, requires = "worker")]
    share: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Engine {
    /// Processes on this machine
    Local,
    /// The nodes of Ray
    Ray,
    /// An array of jobs of Slurm
    Slurm,
}

impl Sweep {
    pub fn run(&self) -> Result<ExitCode, Error> {
        if let Some(plan) = &self.worker {
            let which = match (&self.points, &self.share) {
                (Some(points), _) => Which::Points(points.clone()),
                (None, Some(share)) => Which::Share(share.clone()),
                (None, None) => Which::Asked,
            };
            return flick_sweep::work(plan, &which);
        }
        let settings = self.settings()?;
        let outcome = match flick_sweep::run(&settings) {
            Ok(outcome) => outcome,
            Err(errors) => {
                errors.into_iter().for_each(output::message);
                return Ok(ExitCode::FAILURE);
            }
        };
        match (self.json, self.dry_run) {
            (true, _) => print(&document(&outcome, self.dry_run))?,
            (false, true) => print(&list(&outcome))?,
            (false, false) => {
                print(&summary(&outcome))?;
                notes(&outcome);
            }
        }
        if outcome.failed.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        failures(&outcome);
        Ok(ExitCode::FAILURE)
    }

    fn settings(&self) -> Result<Settings, Error> {
        let executable = std::env::current_exe().map_err(|error| {
            Error::new(
                Code::FileAccess,
                "a file cannot be read or written",
                "/proc/self/exe",
                error.to_string(),
                "mount /proc",
            )
        })?;
        // Without a tree there is no compiler, but a program may be there.
        let root = Root::find().ok();
        let runtime = root.map(|root| vec![root.runtime_shared(), root.time_shared()]);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Settings {
            file: self.file.clone().unwrap_or_default(),
            results: self.results.clone(),
            engine: match self.engine {
                Engine::Local => flick_sweep::Engine::Local,
                Engine::Ray => flick_sweep::Engine::Ray,
                Engine::Slurm => flick_sweep::Engine::Slurm,
            },
            jobs: self.jobs.map_or(cores, |jobs| jobs as usize),
            tasks: self.tasks.map(|tasks| tasks as usize),
            dry_run: self.dry_run,
            executable,
            runtime: runtime.unwrap_or_default(),
        })
    }
}

fn list(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (name, key, cached) in &outcome.listed {
        let state = match (key, cached) {
            (_, true) => "has a result",
            (Some(_), false) => "to do",
            (None, false) => "to build",
        };
        text += &format!("{state:12}  {name}\n");
    }
    text + &format!(
        "{} points, {} with results\n",
        outcome.points, outcome.cached
    )
}

fn summary(outcome: &Outcome) -> String {
    let files = outcome.files.iter();
    let files: Vec<_> = files.map(|file| file.display().to_string()).collect();
    format!(
        "{} points: {} done, {} with results of before, {} failed\n{}\n",
        outcome.points,
        outcome.done,
        outcome.cached,
        outcome.failed.len(),
        files.join("\n")
    )
}

/// What a reader of the table must know.
fn notes(outcome: &Outcome) {
    if outcome.not_counted > 0 {
        output::message(format!(
            "sweep: {} results are without host code: build with flick-cc --flick-timed",
            outcome.not_counted
        ));
    }
    if outcome.not_exact > 0 {
        output::message(format!(
            "sweep: {} results need not be those of another run; the column `exact` says which",
            outcome.not_exact
        ));
    }
}

fn failures(outcome: &Outcome) {
    for (name, why, stderr) in outcome.failed.iter().take(MOST_FAILURES) {
        output::message(format!("sweep: {name}: {why}"));
        for line in stderr.lines() {
            output::message(format!("    {line}"));
        }
    }
    let page = outcome.files.last().map_or(Path::new(""), |page| page);
    output::message(Error::new(
        Code::SweepPoints,
        Code::SweepPoints.title(),
        page.display().to_string(),
        format!("{} of {}", outcome.failed.len(), outcome.points),
        "correct their cause and start the sweep again: it does only what is missing",
    ));
}

fn document(outcome: &Outcome, dry_run: bool) -> String {
    let failed = outcome.failed.iter();
    let failed =
        failed.map(|(point, why, stderr)| json!({ "point": point, "why": why, "stderr": stderr }));
    let listed = outcome.listed.iter();
    let listed =
        listed.map(|(point, key, cached)| json!({ "point": point, "key": key, "cached": cached }));
    let files = outcome.files.iter().map(|file| file.display().to_string());
    flick_report::json::document(
        "sweep",
        json!({
            "dry_run": dry_run,
            "points": outcome.points,
            "cached": outcome.cached,
            "done": outcome.done,
            "failed": failed.collect::<Vec<_>>(),
            "not_exact": outcome.not_exact,
            "not_counted": outcome.not_counted,
            "files": files.collect::<Vec<_>>(),
            "listed": listed.collect::<Vec<_>>(),
        }),
    )
}
