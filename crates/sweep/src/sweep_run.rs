//! A sweep from its file to its results.
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use flick_image::{Error, output};

use crate::point_key::Contents;
use crate::result_files::{Failure, Store, unusable};
use crate::result_table::{Row, Table};
use crate::sweep_builds::{self, Built};
use crate::sweep_file::SweepFile;
use crate::sweep_plan::{Plan, Task};
use crate::sweep_points::{self, Point};
use crate::sweep_progress::Progress;
use crate::{Engine, Installed, Settings};
use crate::{engine_wait, table_parquet};
use crate::{local_workers, ray_tasks, slurm_array, sweep_page, sweep_tasks, sweep_worker};

/// How often an engine gets the points that it has lost.
const ROUNDS: usize = 3;

/// How a sweep has ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub points: usize,
    /// Points whose results were there before.
    pub cached: usize,
    /// Points that have a result of this sweep.
    pub done: usize,
    /// Names of the points that have failed, and why, with the last lines of standard error.
    pub failed: Vec<(String, String, String)>,
    /// Results that another run need not have.
    pub not_exact: usize,
    /// Results without the counts of host code.
    pub not_counted: usize,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Only for a dry run: a line for each point.
    pub listed: Vec<(String, Option<String>, bool)>,
}

/// Does what is missing of the sweep, and writes its results. The errors are all that are found in its
/// file, or the one that has ended it.
pub fn run(settings: &Settings) -> Result<Outcome, Vec<Error>> {
    let sweep = SweepFile::load(&settings.file)?;
    Sweep::of(&sweep, settings)
        .and_then(|mut it| match settings.dry_run {
            true => it.list(),
            false => it.run(),
        })
        .map_err(|error| vec![error])
}

struct Sweep<'a> {
    sweep: &'a SweepFile,
    settings: &'a Settings,
    store: Store,
    installed: Installed,
    contents: Contents,
    built: Vec<Built>,
    points: Vec<Point>,
}

impl<'a> Sweep<'a> {
    fn of(sweep: &'a SweepFile, settings: &'a Settings) -> Result<Self, Error> {
        let dir = match &settings.results {
            Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
            None => sweep.folder.join(format!("{}.results", sweep.stem())),
        };
        let store = Store::at(&dir);
        let mut contents = Contents::default();
        let installed = Installed::of(settings, &mut contents);
        let built = sweep_builds::planned(sweep, &installed, &store, &mut contents)?;
        Ok(Self {
            sweep,
            settings,
            store,
            installed,
            contents,
            built,
            points: sweep_points::all(sweep),
        })
    }

    /// The task of each point whose program is built.
    fn tasks(&mut self) -> Result<Vec<Option<Task>>, Error> {
        sweep_tasks::all(
            self.sweep,
            &self.installed,
            &self.built,
            &self.points,
            &mut self.contents,
        )
    }

    fn name(&self, point: &Point) -> String {
        let axes = self.sweep.axes();
        let all = axes.iter().zip(&point.labels);
        // Axes of one value say nothing, unless all have one.
        let several = axes.iter().any(|axis| axis.values.len() > 1);
        let all = all.filter(|(axis, _)| axis.values.len() > 1 || !several);
        let words: Vec<_> = all
            .map(|(axis, label)| format!("{} {label}", axis.name))
            .collect();
        words.join(", ")
    }

    fn list(&mut self) -> Result<Outcome, Error> {
        let tasks = self.tasks()?;
        let mut outcome = Outcome {
            points: self.points.len(),
            ..Outcome::default()
        };
        for (point, task) in self.points.iter().zip(tasks) {
            let key = task.map(|task| task.key);
            let cached = key
                .as_ref()
                .is_some_and(|key| self.store.result(key).is_some());
            outcome.cached += usize::from(cached);
            outcome.listed.push((self.name(point), key, cached));
        }
        Ok(outcome)
    }

    fn run(&mut self) -> Result<Outcome, Error> {
        self.store.create()?;
        let _lock = self.store.lock()?;
        sweep_builds::make(self.sweep, self.settings, &self.store, &mut self.built)?;
        // Builds have changed files.
        self.contents = Contents::default();
        let tasks = self.tasks()?;
        let (plan, cached) = self.plan(&tasks)?;
        if !plan.points.is_empty() {
            self.distribute(plan)?;
        }
        self.finish(&tasks, cached)
    }

    /// The tasks without a result, each key once, and how many points had results before.
    fn plan(&self, tasks: &[Option<Task>]) -> Result<(Plan, usize), Error> {
        let mut seen = HashSet::new();
        let mut missing = Vec::new();
        let mut cached = 0;
        for task in tasks.iter().flatten() {
            if self.store.result(&task.key).is_some() {
                cached += 1;
            } else if seen.insert(&task.key) {
                self.store.forget_result(&task.key)?;
                self.store.forget_failure(&task.key)?;
                missing.push(task.clone());
            }
        }
        let plan = Plan {
            flick: env!("CARGO_PKG_VERSION").to_owned(),
            results: self.store.dir().to_owned(),
            directory: self.sweep.run.directory.clone(),
            limit_s: self.sweep.run.limit.as_secs_f64(),
            points: missing,
        };
        Ok((plan, cached))
    }

    fn distribute(&self, mut plan: Plan) -> Result<(), Error> {
        let file = self.store.dir().join("plan.json");
        for round in 1..=ROUNDS {
            plan.write(&file)?;
            if round > 1 {
                let count = plan.points.len();
                output::message(format!("sweep: {count} points are lost, and done again"));
            }
            let progress = Progress::of(plan.points.len());
            let (settings, both) = (self.settings, (&plan, &self.store));
            let done = match settings.engine {
                Engine::Local => local_workers::run(settings, &file, both, &progress),
                Engine::Slurm => {
                    let options = &self.sweep.slurm_options;
                    slurm_array::run(settings, &file, both, options, &progress)
                }
                Engine::Ray => ray_tasks::run(settings, &file, both, &self.sweep.ray, &progress),
            };
            progress.end();
            done?;
            engine_wait::for_files(&plan, &self.store);
            plan.points.retain(|task| !self.store.has_ended(&task.key));
            if plan.points.is_empty() {
                return Ok(());
            }
        }
        for task in &plan.points {
            let why = format!("the engine has lost it {ROUNDS} times");
            let failure = sweep_worker::failure(task, why, String::new());
            self.store.put_failure(&failure)?;
        }
        Ok(())
    }

    /// Writes the table and the page.
    fn finish(&self, tasks: &[Option<Task>], cached: usize) -> Result<Outcome, Error> {
        let mut table = Table {
            axes: self.sweep.axes(),
            rows: Vec::new(),
        };
        let mut failures = Vec::new();
        for (point, task) in self.points.iter().zip(tasks) {
            let key = task.as_ref().map(|task| task.key.as_str());
            let measured = key.and_then(|key| self.store.result(key));
            if measured.is_none() {
                let failure = key.and_then(|key| self.store.failure(key));
                let failure = failure.unwrap_or_else(|| self.not_built(point));
                failures.push((self.name(point), failure));
            }
            table.rows.push(Row {
                labels: point.labels.clone(),
                measured,
            });
        }
        let measured = || table.rows.iter().filter_map(|row| row.measured.as_ref());
        let mut outcome = Outcome {
            points: self.points.len(),
            cached,
            done: measured().count().saturating_sub(cached),
            not_exact: measured().filter(|one| !one.exact).count(),
            not_counted: measured().filter(|one| !one.host_counted).count(),
            ..Outcome::default()
        };
        let parquet = table_parquet::of(&table).map_err(|error| {
            let error = std::io::Error::other(error);
            unusable(&self.store.dir().join("results.parquet"), &error)
        })?;
        let page = sweep_page::html(self.sweep, &table, &failures);
        for (name, bytes) in [
            ("results.csv", table.csv().into_bytes()),
            ("results.parquet", parquet),
            ("sweep.html", page.into_bytes()),
        ] {
            let path = self.store.dir().join(name);
            output::write(&path, &bytes).map_err(|error| unusable(&path, &error))?;
            outcome.files.push(shown(&path));
        }
        let _ = fs::remove_file(self.store.dir().join("plan.json"));
        let failed = failures.into_iter();
        outcome.failed = failed
            .map(|(name, failure)| (name, failure.why, failure.stderr))
            .collect();
        Ok(outcome)
    }

    fn not_built(&self, point: &Point) -> Failure {
        let built = &self.built[point.placement];
        let (why, stderr) = match &built.failure {
            Some(known) => known.clone(),
            None => ("it has no result".to_owned(), String::new()),
        };
        Failure {
            key: String::new(),
            platform: String::new(),
            command: Vec::new(),
            why,
            stderr,
        }
    }
}

/// From the current folder, where it is below that.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}
