//! Workers of Ray: a program in Python hands the points to its nodes (`ray_driver.py`).
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use flick_diagnostics::Code;
use flick_image::{Error, output};

use crate::Settings;
use crate::engine_wait;
use crate::result_files::{self, Store};
use crate::sweep_file::Ray;
use crate::sweep_plan::Plan;
use crate::sweep_progress::Progress;

const DRIVER: &str = include_str!("ray_driver.py");
/// The driver's status where the package is not there.
const NO_PACKAGE: i32 = 77;

/// Runs the driver. Tasks that were lost leave points without results.
pub fn run(
    settings: &Settings,
    file: &Path,
    (plan, store): (&Plan, &Store),
    ray: &Ray,
    progress: &Progress,
) -> Result<(), Error> {
    let place = file.with_file_name("ray_driver.py");
    fs::write(&place, DRIVER).map_err(|error| result_files::unusable(&place, &error))?;
    let missing = |why: String| {
        Error::new(
            Code::MissingTool,
            "a required tool is missing",
            "ray",
            why,
            "pip install ray; then name the interpreter: [ray] python = \"/path/venv/bin/python\"",
        )
    };
    let child = Command::new(&ray.python)
        .arg(&place)
        .arg(file)
        .arg(&settings.executable)
        .arg(ray.address.as_deref().unwrap_or_default())
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| missing(format!("{} cannot be started: {error}", ray.python)))?;
    let status = engine_wait::for_end(child, (plan, store), progress)
        .map_err(|error| result_files::unusable(&place, &error))?;
    match status.code() {
        Some(0) => {}
        Some(NO_PACKAGE) => {
            return Err(missing(format!("{} lacks the package", ray.python)));
        }
        _ => output::message(format!("sweep: the driver of Ray has ended with {status}")),
    }
    Ok(())
}
