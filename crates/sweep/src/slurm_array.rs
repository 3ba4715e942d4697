//! Workers of Slurm: a script for `sbatch`, whose array of tasks shares the points. The files of the
//! results say which points are done; Slurm's accounting is not needed.
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use flick_diagnostics::Code;
use flick_image::{Error, output};

use crate::Settings;
use crate::engine_wait;
use crate::result_files::{self, Store};
use crate::sweep_plan::Plan;
use crate::sweep_progress::Progress;

/// Slurm's own limit of an array is 1001 tasks where the site has none of its own (`MaxArraySize`).
const MOST_TASKS: usize = 1000;

/// The script of the array.
pub fn script(settings: &Settings, file: &Path, tasks: usize, options: &[String]) -> String {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut text = format!(
        "#!/bin/sh\n\
         #SBATCH --job-name=flick-sweep\n\
         #SBATCH --array=0-{}\n\
         #SBATCH --requeue\n\
         #SBATCH --output={}\n",
        tasks - 1,
        flick_exec::quote(&folder.join("slurm-%a.log").to_string_lossy())
    );
    for option in options {
        text += &format!("#SBATCH {option}\n");
    }
    text += &format!(
        "exec {} sweep --worker {} --share \"$SLURM_ARRAY_TASK_ID/{tasks}\"\n",
        flick_exec::quote(&settings.executable.to_string_lossy()),
        flick_exec::quote(&file.to_string_lossy()),
    );
    text
}

/// Submits the array and waits for its end. Tasks that were lost leave points without results.
pub fn run(
    settings: &Settings,
    file: &Path,
    (plan, store): (&Plan, &Store),
    options: &[String],
    progress: &Progress,
) -> Result<(), Error> {
    let tasks = settings.tasks.unwrap_or(100);
    let tasks = tasks.clamp(1, MOST_TASKS).min(plan.points.len().max(1));
    let place = file.with_file_name("slurm.sh");
    fs::write(&place, script(settings, file, tasks, options))
        .map_err(|error| result_files::unusable(&place, &error))?;
    let child = Command::new("sbatch")
        .args(["--wait", "--parsable"])
        .arg(&place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let child = child.map_err(|error| missing(&error))?;
    let status = engine_wait::for_end(child, (plan, store), progress)
        .map_err(|error| result_files::unusable(&place, &error))?;
    if !status.success() {
        output::message(format!(
            "sweep: sbatch has ended with {status}; {}/slurm-*.log have the output of its tasks",
            store.dir().display()
        ));
    }
    Ok(())
}

fn missing(error: &io::Error) -> Error {
    Error::new(
        Code::MissingTool,
        "a required tool is missing",
        "sbatch",
        format!("it cannot be started: {error}"),
        "start the sweep where jobs of Slurm are submitted; or leave --engine out",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_options_in_front_of_its_command() {
        let settings = Settings {
            executable: "/opt/my flick/bin/flick".into(),
            ..Settings::default()
        };
        let options = ["--partition=long".to_owned()];
        let text = script(&settings, Path::new("/r/plan.json"), 3, &options);
        let (head, command) = text.split_once("exec ").unwrap();
        assert!(head.contains("#SBATCH --array=0-2\n"), "{text}");
        assert!(head.contains("#SBATCH --partition=long\n"), "{text}");
        assert_eq!(
            command,
            "'/opt/my flick/bin/flick' sweep --worker /r/plan.json --share \"$SLURM_ARRAY_TASK_ID/3\"\n"
        );
    }
}
