//! `flick sweep`: runs a program on platforms × placements × inputs, and makes a table and a page of the
//! predictions (docs/sweep.md).
//!
//! | file | step |
//! |---|---|
//! | `sweep_file.rs`, `file_sections.rs`, `file_checks.rs` | read `sweep.toml`, and name all mistakes at once |
//! | `sweep_builds.rs` | builds the program for each placement |
//! | `sweep_points.rs`, `sweep_tasks.rs`, `point_key.rs` | the points, each with its command and its key |
//! | `sweep_plan.rs` | the points that have no result yet, for workers |
//! | `local_workers.rs`, `slurm_array.rs`, `ray_tasks.rs` | distribute the points of the plan |
//! | `sweep_worker.rs` | runs a point, and writes its file (`result_files.rs`) |
//! | `result_table.rs`, `table_parquet.rs`, `sweep_page.rs` | make the results of the files |
mod axis_values;
mod break_even_map;
mod engine_wait;
mod file_checks;
mod file_sections;
mod local_workers;
mod page_plots;
mod pareto_front;
mod point_key;
mod ray_tasks;
mod result_files;
mod result_table;
mod sensitivity;
mod slurm_array;
mod sweep_builds;
mod sweep_file;
mod sweep_page;
mod sweep_plan;
mod sweep_points;
mod sweep_progress;
mod sweep_reader;
mod sweep_run;
mod sweep_tasks;
mod sweep_worker;
mod table_parquet;
mod words_in_braces;

use std::path::{Path, PathBuf};

pub use sweep_run::{Outcome, run};
pub use sweep_worker::{Which, run as work};

/// Who distributes the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Processes on this machine.
    #[default]
    Local,
    /// The nodes of Ray.
    Ray,
    /// An array of jobs of Slurm.
    Slurm,
}

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub file: PathBuf,
    /// The folder of the results; by default `NAME.results` beside the file.
    pub results: Option<PathBuf>,
    pub engine: Engine,
    /// Workers and builds at a time on this machine.
    pub jobs: usize,
    /// Tasks of Slurm's array.
    pub tasks: Option<usize>,
    /// Only list the points.
    pub dry_run: bool,
    /// This `flick`, for workers.
    pub executable: PathBuf,
    /// Files of the runtime that programs load. Their contents are a part of each key.
    pub runtime: Vec<PathBuf>,
}

/// What results depend on beside the sweep itself.
struct Installed {
    runtime: Vec<String>,
}

impl Installed {
    fn of(settings: &Settings, contents: &mut point_key::Contents) -> Self {
        let present = settings.runtime.iter();
        let present = present.filter_map(|path: &PathBuf| contents.of(Path::new(path)).ok());
        Self {
            runtime: present.collect(),
        }
    }

    fn put(&self, key: &mut point_key::Key) {
        key.put("flick", env!("CARGO_PKG_VERSION").as_bytes());
        key.put_all("runtime", &self.runtime);
    }
}
